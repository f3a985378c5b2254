"""What questions look like beside their passages: how long they are, and how many of their words stand there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from ragmeter.documents.testset import Texts
from ragmeter.testsets.cutting import size_of
from ragmeter.testsets.words import content_words


def texts_of(questions: Iterable[tuple[str, Sequence[str]]], language: str) -> Texts:
    """The figures of questions, each with the passages that answer it, of which there may be none."""
    lengths, shares = [], []
    for question, passages in questions:
        lengths.append(size_of(question))
        own = set(content_words(question, language))
        if own and passages:
            shares.append(max(len(own & set(content_words(text, language))) / len(own) for text in passages))
    return Texts(len(lengths), median(lengths) if lengths else None, median(shares) if shares else None)

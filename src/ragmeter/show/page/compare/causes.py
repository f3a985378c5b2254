"""Why? What happened to the answers of both runs, and whose work the remaining errors are."""

from __future__ import annotations

from collections.abc import Mapping

from ragmeter.analysis.comparing.causes import CauseChanges
from ragmeter.metrics.causes import FAILED, OF_GENERATOR, OF_RETRIEVER
from ragmeter.show.page.charts.shares import Part, stacked
from ragmeter.show.page.compare.view import CompareView
from ragmeter.show.page.elements import Markup, element, joined
from ragmeter.wording.answer_causes import cause_words, remaining_errors

WHY = "Why?"


def why(view: CompareView) -> Markup:
    """A bar for each run, parted by what happened to its answers, and a sentence on what is still wrong."""
    causes = view.pair.causes
    if causes is None:
        return Markup()
    letters = view.letters
    rows = [
        (view.lettered(view.pair.a), _parts(view, letters[view.pair.a], causes.a)),
        (view.lettered(view.pair.b), _parts(view, letters[view.pair.b], causes.b)),
    ]
    sentences = [_first_letter(causes.sentence), _remaining(letters[view.pair.b], causes)]
    return joined(
        stacked(rows, f"{WHY} {about(view)}"),
        [element("p", sentence, class_="soft") for sentence in sentences if sentence],
    )


def about(view: CompareView) -> str:
    """What the bars show, beside the title."""
    causes = view.pair.causes
    return f"what happened to {sum(causes.b.values()) if causes else 0:,} answers"


def _parts(view: CompareView, letter: str, counts: Mapping[str, int]) -> list[Part]:
    return [
        Part(
            "failed-part" if cause == FAILED else cause,
            cause_words(cause),
            count,
            view.addresses.caused(letter, cause),
        )
        for cause, count in counts.items()
    ]


def _remaining(letter: str, causes: CauseChanges) -> str:
    by_retriever, by_generator = (
        sum(causes.b.get(cause, 0) for cause in of_whom) for of_whom in (OF_RETRIEVER, OF_GENERATOR)
    )
    return remaining_errors(letter, by_retriever, by_generator)


def _first_letter(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""

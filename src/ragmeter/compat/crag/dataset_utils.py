"""Reads conversations from a file, a list of dicts, or a Hugging Face `Dataset`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import regex

from ragmeter.errors import InputError, UsageError
from ragmeter.io.normal_form import normalized
from ragmeter.io.source import open_source

_FRAMES = frozenset({"pandas", "polars", "pyarrow"})
FEATURES = ("domain", "query_category", "dynamism", "image_quality")
_SPECIAL = regex.compile(r"[^\p{L}\p{M}\p{N}\s]")


@dataclass(frozen=True, slots=True)
class Question:
    """One turn without an answer."""

    interaction_id: str
    query: str
    ground_truth: str | None
    image_quality: Any
    query_category: Any
    domain: Any
    dynamism: Any


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session: an image, or the address of one, and the questions about it, in their order."""

    session_id: str
    questions: tuple[Question, ...]
    image: Any
    image_url: str | None

    @property
    def is_ego(self) -> bool:
        """Whether the image is the wearer's own view, and none of the web."""
        return self.image_url is None


def conversations(dataset: Any, limit: int | None = None) -> Iterator[Conversation]:
    """The dataset's conversations, read one by one: an image is not loaded before its conversation is used."""
    session_ids: set[str] = set()
    for name, number, record in islice(records(dataset), limit):
        conversation = _conversation(record, name, number)
        if conversation.session_id in session_ids:
            raise InputError(f"the session {conversation.session_id!r} occurs twice", file=name, line=number)
        session_ids.add(conversation.session_id)
        yield conversation


def one_split(dataset: Any) -> Any:
    """The dataset itself, or the only split of a dictionary of splits."""
    if isinstance(dataset, Mapping):
        if len(dataset) != 1:
            raise UsageError(
                f"the dataset has {len(dataset)} splits: {', '.join(map(str, dataset))}",
                hint="choose one, for example dataset['validation']",
            )
        return next(iter(dataset.values()))
    return list(dataset) if isinstance(dataset, Iterator) else dataset  # it is read more than once


def prepare_feature_vocabularies(dataset: Any) -> dict[str, list[str]]:
    """The names behind the numbers of domain, query_category, dynamism and image_quality.

    A Hugging Face dataset declares them as class labels. In other datasets a feature's names are its texts, sorted; a
    feature without class labels and texts has no names.
    """
    dataset = one_split(dataset)
    declared = getattr(dataset, "features", None)
    if declared is not None:
        turns = _inner(declared.get("turns", {}))
        labels = {name: _inner(turns.get(name, declared.get(name))) for name in FEATURES}
        return {name: list(label.names) for name, label in labels.items() if getattr(label, "names", None)}
    texts: dict[str, set[str]] = {name: set() for name in FEATURES}
    for conversation in conversations(dataset):
        for question in conversation.questions:
            for name in FEATURES:
                value = getattr(question, name)
                texts[name].update([value] if isinstance(value, str) else ())
    return {name: sorted(values) for name, values in texts.items() if values}


def _inner(feature: Any) -> Any:
    """The feature inside a list feature, which the datasets library has written in three ways over the years."""
    if isinstance(feature, list):
        return feature[0]
    return getattr(feature, "feature", feature)


def convert_domain_indices_to_names(
    domain_indices: Iterable[Any], feature_vocabularies: Mapping[str, Any]
) -> list[str]:
    """The names of domains. A name stays as it is; a number outside the vocabulary, or anything else, is `other`."""
    vocabulary = feature_vocabularies.get("domain", ())
    if not isinstance(vocabulary, list):
        vocabulary = list(getattr(_inner(vocabulary), "names", vocabulary) or ())
    names = []
    for value in domain_indices:
        index = value[0] if isinstance(value, list | tuple) and value else value
        inside = isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(vocabulary)
        names.append(vocabulary[index] if inside else index if isinstance(index, str) else "other")
    return names


def clean_text(text: str) -> str:
    """The text in lower case, with only letters (of any alphabet), digits and white space."""
    return _SPECIAL.sub("", normalized("NFC", text).lower())


def records(dataset: Any) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """The raw conversations, each with the name of its source and its line there."""
    if isinstance(dataset, str | Path) or type(dataset).__module__.partition(".")[0] in _FRAMES:
        source = open_source(dataset, what="dataset")
        for line, record in source.records():
            yield source.name, line, record
        return
    for number, record in enumerate(one_split(dataset), 1):
        if not isinstance(record, Mapping):
            raise InputError(f"a conversation must be a dict, got {type(record).__name__}", file="dataset", line=number)
        yield "dataset", number, record


def count_conversations(dataset: Any, limit: int | None) -> int:
    """The number of conversations of the dataset that are used."""
    in_memory = isinstance(dataset, Sized) and not isinstance(dataset, str | Path)
    size = len(dataset) if in_memory else sum(1 for _ in records(dataset))
    return size if limit is None else min(limit, size)


def _conversation(record: Mapping[str, Any], name: str, number: int) -> Conversation:
    session = record.get("session_id")
    if session is None or session == "":
        raise InputError("a conversation has no session_id", file=name, line=number)
    turns = _rows(record.get("turns"), "turns", name, number)
    answers = {
        str(row.get("interaction_id")): row.get("ans_full")
        for row in _rows(record.get("answers") or [], "answers", name, number)
    }
    if not turns:
        raise InputError(f"the conversation {session!r} has no turns", file=name, line=number)
    questions = tuple(_question(turn, answers, record, name, number) for turn in turns)
    if len({question.interaction_id for question in questions}) < len(questions):
        raise InputError(f"two turns of {session!r} have the same interaction_id", file=name, line=number)
    url = record.get("image_url") or None
    return Conversation(str(session), questions, record.get("image"), None if url is None else str(url))


def _question(
    turn: Mapping[str, Any], answers: Mapping[str, Any], record: Mapping[str, Any], name: str, number: int
) -> Question:
    identity, query = turn.get("interaction_id"), turn.get("query")
    if identity is None or not isinstance(query, str):
        missing = "interaction_id" if identity is None else "query"
        raise InputError(f"a turn of {record.get('session_id')!r} has no {missing}", file=name, line=number)
    answer = answers.get(str(identity), turn.get("ans_full"))
    return Question(
        interaction_id=str(identity),
        query=query,
        ground_truth=None if answer is None else str(answer),
        **{feature: turn.get(feature, record.get(feature)) for feature in FEATURES},
    )


def _rows(value: Any, field: str, name: str, number: int) -> list[Mapping[str, Any]]:
    """A list of dicts; a dict of lists is converted."""
    if isinstance(value, Mapping):
        columns = {
            key: column for key, column in value.items() if isinstance(column, Sequence) and not isinstance(column, str)
        }
        if len({len(column) for column in columns.values()}) > 1:
            raise InputError(f"the lists in {field!r} must have the same length", file=name, line=number)
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(row, Mapping) for row in value):
        return list(value)
    raise InputError(
        f"{field!r} must be a list of objects, or an object of lists",
        file=name,
        line=number,
        hint="with interaction_id and query in turns, interaction_id and ans_full in answers",
    )

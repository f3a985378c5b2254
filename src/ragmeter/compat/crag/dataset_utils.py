"""Conversations out of a dataset, whatever form it has: a file, a list of dicts, or a Hugging Face `Dataset`."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import regex

from ragmeter.errors import InputError, UsageError
from ragmeter.io.source import open_source

_FRAMES = frozenset({"pandas", "polars", "pyarrow"})
FEATURES = ("domain", "query_category", "dynamism", "image_quality")
_SPECIAL = regex.compile(r"[^\p{L}\p{M}\p{N}\s]")


@dataclass(frozen=True, slots=True)
class Question:
    """One turn before it is answered."""

    interaction_id: str
    query: str
    ground_truth: str | None
    image_quality: Any
    query_category: Any
    domain: Any
    dynamism: Any


@dataclass(frozen=True, slots=True)
class Conversation:
    """A session: an image and the questions about it, in their order."""

    session_id: str
    questions: tuple[Question, ...]
    image: Any
    is_ego: bool


def conversations(
    dataset: Any, limit: int | None = None, load_image: Callable[[str], Any] | None = None
) -> Iterator[Conversation]:
    """The dataset's conversations, one after another: images stay on the disk until their turn comes.

    An image that is only named by its URL is handed on as that URL, or as what `load_image` makes of it.
    """
    seen: set[str] = set()
    for name, number, record in islice(records(dataset), limit):
        found = _conversation(record, name, number, load_image)
        if found.session_id in seen:
            raise InputError(f"the session {found.session_id!r} is there twice", file=name, line=number)
        seen.add(found.session_id)
        yield found


def one_split(dataset: Any) -> Any:
    """The dataset itself, or the only split of a dictionary of splits."""
    if isinstance(dataset, Mapping):
        if len(dataset) != 1:
            raise UsageError(
                f"the dataset has {len(dataset)} splits: {', '.join(map(str, dataset))}",
                hint="choose one, for example dataset['validation']",
            )
        return next(iter(dataset.values()))
    return list(dataset) if isinstance(dataset, Iterator) else dataset  # it is walked through more than once


def prepare_feature_vocabularies(dataset: Any) -> dict[str, list[str]]:
    """The names behind the numbers of domain, query_category, dynamism and image_quality.

    A Hugging Face dataset declares them as class labels. Elsewhere a feature's own texts are its names, in alphabetical
    order; a feature that has neither has no names.
    """
    dataset = one_split(dataset)
    declared = getattr(dataset, "features", None)
    if declared is not None:
        turns = _inner(declared.get("turns", {}))
        labels = {name: _inner(turns.get(name, declared.get(name))) for name in FEATURES}
        return {name: list(label.names) for name, label in labels.items() if getattr(label, "names", None)}
    texts: dict[str, set[str]] = {name: set() for name in FEATURES}
    for each in conversations(dataset):
        for question in each.questions:
            for name in FEATURES:
                value = getattr(question, name)
                texts[name].update([value] if isinstance(value, str) else ())
    return {name: sorted(values) for name, values in texts.items() if values}


def _inner(feature: Any) -> Any:
    """What a list of a feature holds: datasets has written that in three ways over the years."""
    if isinstance(feature, list):
        return feature[0]
    return getattr(feature, "feature", feature)


def convert_domain_indices_to_names(
    domain_indices: Iterable[Any], feature_vocabularies: Mapping[str, Any]
) -> list[str]:
    """The names of domains. A name stays as it is; a number outside the vocabulary, or none at all, is `other`."""
    names = feature_vocabularies.get("domain", ())
    held = list(getattr(_inner(names), "names", names) or ()) if not isinstance(names, list) else names
    found = []
    for given in domain_indices:
        index = given[0] if isinstance(given, list | tuple) and given else given
        inside = isinstance(index, int) and not isinstance(index, bool) and 0 <= index < len(held)
        found.append(held[index] if inside else index if isinstance(index, str) else "other")
    return found


def clean_text(text: str) -> str:
    """The text in lower case, with letters, digits and white space alone; letters of all alphabets are letters."""
    return _SPECIAL.sub("", unicodedata.normalize("NFC", text).lower())


def records(dataset: Any) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """The raw conversations, each with the name and the line of where it comes from."""
    if isinstance(dataset, str | Path) or type(dataset).__module__.partition(".")[0] in _FRAMES:
        source = open_source(dataset, what="dataset")
        for line, record in source.records():
            yield source.name, line, record
        return
    for number, record in enumerate(one_split(dataset), 1):
        if not isinstance(record, Mapping):
            raise InputError(
                f"a conversation is a dict, and this is {type(record).__name__}", file="dataset", line=number
            )
        yield "dataset", number, record


def _conversation(
    record: Mapping[str, Any], name: str, number: int, load_image: Callable[[str], Any] | None
) -> Conversation:
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
        raise InputError(f"two turns of {session!r} have one interaction_id", file=name, line=number)
    image, url = record.get("image"), record.get("image_url") or None
    if image is None and url is not None:
        image = url if load_image is None else load_image(str(url))
    return Conversation(str(session), questions, image, url is None)


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
        **{each: turn.get(each, record.get(each)) for each in FEATURES},
    )


def _rows(given: Any, what: str, name: str, number: int) -> list[Mapping[str, Any]]:
    """A list of dicts, also where it is written as a dict of lists."""
    if isinstance(given, Mapping):
        columns = {
            key: value for key, value in given.items() if isinstance(value, Sequence) and not isinstance(value, str)
        }
        if len({len(column) for column in columns.values()}) > 1:
            raise InputError(f"the lists in {what!r} are not equally long", file=name, line=number)
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if isinstance(given, Sequence) and not isinstance(given, str) and all(isinstance(row, Mapping) for row in given):
        return list(given)
    raise InputError(
        f"{what!r} should be a list of objects, or an object of lists",
        file=name,
        line=number,
        hint="with interaction_id and query in turns, interaction_id and ans_full in answers",
    )

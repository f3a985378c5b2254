"""Reads conversations from a file, a list of dicts, or a Hugging Face `Dataset`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import regex

from ragmeter.compat.crag.turns import TURN_COLUMNS
from ragmeter.effects.limits.caller import Failure
from ragmeter.errors import InputError, UsageError
from ragmeter.io.normal_form import normalized
from ragmeter.io.source import open_source

_FRAMES = frozenset({"pandas", "polars", "pyarrow"})
FEATURES = ("image_quality", "query_category", "domain", "dynamism")
_SPECIAL = regex.compile(r"[^\p{L}\p{M}\p{N}\s]")


@dataclass(slots=True)
class Conversation:
    """A session: its turns as rows of turn data, answered one after another, and its image, or the address of one.

    `image_key` tells images apart. A session whose turn has no answer has failed.
    """

    session_id: str
    turns: list[dict[str, Any]]
    image: Any
    image_url: str | None
    image_key: str = ""
    is_loaded: bool = False
    n_answered: int = 0
    failure: Failure | None = None

    @property
    def is_ego(self) -> bool:
        """Whether the image is the wearer's own view, and none of the web."""
        return self.image_url is None

    def history(self) -> list[dict[str, str]]:
        """The messages so far."""
        return [
            {"role": role, "content": turn[name]}
            for turn in self.turns[: self.n_answered]
            for role, name in (("user", "query"), ("assistant", "agent_response"))
        ]

    def answer(self, text: str) -> None:
        """The next turn is answered."""
        self.turns[self.n_answered]["agent_response"] = text
        self.n_answered += 1

    def fail(self, failure: Failure) -> list[str]:
        """The other turns have no answer; returns their queries."""
        self.failure = failure
        for turn in self.turns[self.n_answered :]:
            turn |= {"error": "an earlier turn of the conversation has no answer", "outcome": failure.outcome}
        self.turns[self.n_answered]["error"] = failure.cause
        return [turn["query"] for turn in self.turns[self.n_answered :]]


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
        for turn in conversation.turns:
            for name in FEATURES:
                texts[name].update([turn[name]] if isinstance(turn[name], str) else ())
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
    url = record.get("image_url") or None
    rows: list[dict[str, Any]] = []
    for index, turn in enumerate(turns):
        identity, query = turn.get("interaction_id"), turn.get("query")
        if identity is None or not isinstance(query, str):
            missing = "interaction_id" if identity is None else "query"
            raise InputError(f"a turn of {session!r} has no {missing}", file=name, line=number)
        answer = answers.get(str(identity), turn.get("ans_full"))
        values = (
            str(session), str(identity), index, url is None,
            *(turn.get(feature, record.get(feature)) for feature in FEATURES),
            query, None if answer is None else str(answer), None, len(turns), [row["interaction_id"] for row in rows],
        )  # fmt: skip
        rows.append(dict(zip(TURN_COLUMNS, values, strict=True)))
    if len({row["interaction_id"] for row in rows}) < len(rows):
        raise InputError(f"two turns of {session!r} have the same interaction_id", file=name, line=number)
    return Conversation(str(session), rows, record.get("image"), None if url is None else str(url))


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

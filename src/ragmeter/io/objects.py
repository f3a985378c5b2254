"""Cells with objects in them: passages with an id, a score and metadata, and documents with grades."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragmeter.io.cells import CellError, NotAListError, as_text, is_clean, is_missing, items_of, shown, texts_of
from ragmeter.passages import graded_documents, is_object, passage_details, passage_id


@dataclass(frozen=True)
class Passages:
    """The passages of a row: their texts and, if one of them is an object, what else they have."""

    texts: list[str]
    details: str | None = None
    ids: list[str] | None = None


@dataclass(frozen=True)
class Documents:
    """Ids of documents and, where they were given, their grades."""

    ids: list[str]
    grades: str | None = None


def read_passages(value: Any) -> Passages | None:
    """A cell of passages: texts or objects, in a list or alone, also as JSON."""
    if type(value) is list and is_clean(value):
        return Passages(value)
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _object(value)
    items = items_of(value, strict=False)
    if items is None:
        return None
    # A missing passage keeps its place, as an empty text: citations count the passages.
    texts = texts_of(["" if is_missing(item) else item for item in items], strict=False)
    if not any(map(is_object, items)):
        return Passages(texts)
    details = [passage_details(item) for item in items]
    ids = [detail.get("id") for item, detail in zip(items, details, strict=True) if not is_missing(item)]
    return Passages(
        texts, as_text(details) if any(details) else None, [str(name) for name in ids] if None not in ids else None
    )


def read_ids(value: Any) -> list[str] | None:
    """A cell of ids of documents."""
    items = items_of(value)
    return None if items is None else texts_of(items if is_clean(items) else [_whole(item) for item in items])


def read_documents(value: Any) -> Documents | None:
    """A cell of documents: a list of ids, or of objects that have one."""
    items = items_of(value)
    if items is None:
        return None
    return Documents(texts_of([_id(item) if is_object(item) else _whole(item) for item in items]))


def read_gold_documents(value: Any) -> Documents | None:
    """A cell of gold documents: as `read_documents` takes it, or an object of ids and grades: `{"d1": 2, "d2": 0}`."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _object(value)
    if isinstance(value, Mapping):
        try:
            ids, grades = graded_documents(value)
        except (TypeError, ValueError):
            raise CellError(f"{shown(value)} is not an object of documents and grades") from None
        return Documents(ids, json.dumps(grades, ensure_ascii=False))
    return read_documents(value)


def _whole(item: Any) -> Any:
    """A number as an id: 7.0, as data frames write it where a cell is missing, is 7."""
    return int(item) if isinstance(item, float) and item.is_integer() else item


def _id(item: Any) -> str:
    name = passage_id(item)
    if name is None:
        raise NotAListError(f"{shown(item)} inside the list has no id")
    return name


def _object(text: str) -> Any:
    """A text that is a JSON object as that object, any other as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text

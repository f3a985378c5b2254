"""What stands for a passage or a document: a text, or an object with a text, an id, a score and metadata.

Objects are dicts, or those of LangChain, LlamaIndex and Haystack: whatever has the names below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, TypedDict
from uuid import UUID

#: Under these names an object that stands for a passage has its text, its id and its score.
TEXT_KEYS = ("text", "content", "page_content", "snippet", "document.content")
ID_KEYS = ("id", "doc_id", "document_id", "chunk_id", "node_id", "id_", "_id", "docid", "doc_uri", "document.id")
SCORE_KEYS = ("score", "relevance_score", "similarity", "document.score")
METADATA_KEYS = ("metadata", "meta", "document.metadata")
#: Under these names an object has another one that is the passage: LlamaIndex's NodeWithScore has a node.
_INNER_KEYS = ("node", "document")
_KNOWN = frozenset({*TEXT_KEYS, *ID_KEYS, *SCORE_KEYS, *METADATA_KEYS, *_INNER_KEYS})
_ID_TYPES = str | int | UUID
#: What has no attributes that could be those of a passage.
_PLAIN = (str, bytes, int, float, bool, list, tuple, type(None))


def passage_text(item: Any) -> str | None:
    """The text of a passage; None if it has none under a known name."""
    if isinstance(item, str):
        return item
    text: str | None = _first(item, TEXT_KEYS, str)
    if text is None:
        text = _first(_inner(item), TEXT_KEYS, str)
    return text


def passage_id(item: Any) -> str | None:
    """The id of a passage or document; a text is an id by itself."""
    if isinstance(item, str):
        return item
    known = _first(item, ID_KEYS, _ID_TYPES)
    known = _first(_inner(item), ID_KEYS, _ID_TYPES) if known is None else known
    return None if known is None or isinstance(known, bool) else str(known)


def passage_score(item: Any) -> float | None:
    """The score of a passage, its own or in its metadata; None if it has none."""
    parts = (item, _inner(item))
    holders = (holder for part in parts for holder in (part, _first(part, METADATA_KEYS, Mapping)))
    scores = (_first(holder, SCORE_KEYS, Real) for holder in holders)
    score = next((score for score in scores if score is not None and not isinstance(score, bool)), None)
    return score if score is None or isinstance(score, int | float) else float(score)


class PassageDetails(TypedDict, total=False):
    """What a passage has besides its text; metadata are as its owner wrote them."""

    id: str
    score: float
    metadata: dict[str, object]


def passage_details(item: Any) -> PassageDetails:
    """All of a passage but its text: `id`, `score` and `metadata`, those that it has."""
    if isinstance(item, str):
        return {}
    details: PassageDetails = {}
    metadata: dict[str, object] = {}
    if (name := passage_id(item)) is not None:
        details["id"] = name
    if (score := passage_score(item)) is not None:
        details["score"] = score
    for part in (_inner(item), item):  # an object may only add a score to a passage inside it
        metadata |= _first(part, METADATA_KEYS, Mapping) or {}
        if isinstance(part, Mapping):
            metadata |= {str(key): value for key, value in part.items() if key not in _KNOWN}
    return {**details, "metadata": metadata} if metadata else details


def is_object(item: Any) -> bool:
    """Whether this is an object that may stand for a passage: a dict, or one of a framework's."""
    return isinstance(item, Mapping) or (not isinstance(item, _PLAIN) and passage_text(item) is not None)


def graded_documents(grades: Mapping[Any, Any]) -> tuple[list[str], dict[str, float]]:
    """The relevant documents of an object of documents and grades, and all of its grades."""
    given = {str(document): 1 if grade is True else grade for document, grade in grades.items()}
    return [document for document, grade in given.items() if grade is not None and float(grade) > 0], given


def passage_texts(row: Any) -> list[Any]:
    """The texts of a row's passages, where a single one may stand without a list. One without a text stays as it is.

    A missing one is an empty text.
    """
    items = [row] if isinstance(row, str) or is_object(row) else row
    texts = ((item, passage_text(item)) for item in items)
    return ["" if item is None else item if text is None else text for item, text in texts]


def _first(item: Any, names: Sequence[str], kind: Any) -> Any:
    if isinstance(item, _PLAIN):
        return None
    is_object = not isinstance(item, dict | Mapping)  # most are dicts, and are known as such at once
    for name in names:
        value = attribute(item, name) if is_object else item.get(name)
        if value is not None and isinstance(value, kind):
            return value
    return None


def attribute(item: Any, name: str) -> Any:
    """An attribute; None if there is none, or if it is a property that raises an error."""
    try:
        return getattr(item, name, None)
    except Exception:  # LlamaIndex raises ValueError for a node without a text
        return None


def _inner(item: Any) -> Any:
    """The passage inside an object that only adds a score to it."""
    for name in _INNER_KEYS:
        inner = _first(item, (name,), object)
        if inner is not None and not isinstance(inner, _PLAIN):
            return inner
    return None

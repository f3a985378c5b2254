"""The answer in what a Python system returned: texts, dicts, messages, responses, documents.

The classes of LangChain, LlamaIndex and Haystack are known by their attributes; none of the libraries is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ragmeter.io.cells import CellError, as_number, as_text, whole
from ragmeter.io.write import dumps
from ragmeter.passages import METADATA_KEYS, attribute, passage_id, passage_score, passage_text
from ragmeter.targets.agents import agent_columns, hops_of, retrieved_by
from ragmeter.targets.port import Answer, failed

#: Keys of metadata that hold an id. A user's own id goes before the one that a library made up.
_OWN_IDS = ("id", "doc_id", "document_id", "_id")
#: What tells documents without an id apart.
_SOURCES = ("title", "source", "file_path", "file_name")
#: Keys and attributes that hold the answer, and those that hold what was retrieved.
_ANSWERS = (
    "answer", "final_output", "result", "output", "output_text", "response", "replies", "answers", "data", "content",
    "messages", "message",
)  # fmt: skip
_RETRIEVED = (
    "retrieved", "events", "source_nodes", "source_documents", "documents", "context", "docs", "sources", "chunks",
)  # fmt: skip
#: Keys that a dict has beside its answer or its documents, and that say nothing of what it is: the question again, the
#: conversation before it. They are no columns of the run.
_ECHOES = ("question", "input", "query", "user_input", "prompt", "text", "chat_history", "history", "session_id")
#: Keys with texts that a retriever's dict may have: none of them is the answer under another name.
_NO_ANSWERS = frozenset(
    {*_ECHOES, "model", "id", "qid", "index", "retriever", "language", "status", "trace_id", "type"}
)
#: The longest cell that is made of a key that is not known, and the deepest list or dict.
_LONGEST_CELL, _DEEPEST = 100_000, 10
#: Attributes of a message that hold its text.
_MESSAGE = ("content", "text", "data", "response", "answer", "message")


def read_answer(returned: Any, latency_ms: float) -> Answer:
    """The answer, and what was retrieved, in what a Python target returned."""
    if isinstance(returned, str):
        return Answer(whole(returned), latency_ms=latency_ms)
    if isinstance(returned, tuple) and isinstance(next(iter(returned), None), str) and _has_list(returned):
        raise failed("the target returned a tuple, and should return a dict with answer and contexts")
    if isinstance(returned, Sequence) and not isinstance(returned, bytes | bytearray):
        returned = {"retrieved": list(returned)}
    if returned is None or isinstance(returned, bool | int | float | complex | bytes | bytearray | set | frozenset):
        kind = type(returned).__name__
        raise failed(f"the target returned {kind}, and should return a text or a dict with an answer")
    hops = hops_of(returned)
    events = _documents(returned)
    contexts = _contexts(returned)
    if events is None and contexts is None and hops:
        events, contexts = retrieved_by(hops)
    text = _answer_text(returned, has_documents=events is not None or contexts is not None)
    return Answer(
        text or "",
        None if events is None else ids_of(events),
        texts_of(events) if contexts is None else contexts_of(contexts),
        _latency(returned, latency_ms),
        retrieved_scores=scores_of(events),
        only_retrieved=text is None,
        columns={**agent_columns(returned, hops), **other_columns(returned)},
    )


def _has_list(returned: Sequence[Any]) -> bool:
    """Whether there are passages among the items, so that the first is an answer, and no retriever's text."""
    return any(isinstance(item, list | tuple) for item in returned)


def _contexts(returned: Any) -> Any:
    """The passages; under `chunks` may be texts, or documents with ids and texts."""
    contexts, chunks = _value(returned, "contexts"), _value(returned, "chunks")
    are_texts = isinstance(chunks, list | tuple) and bool(chunks) and all(isinstance(item, str) for item in chunks)
    return chunks if contexts is None and are_texts else contexts


def other_columns(returned: Any) -> dict[str, str | float]:
    """What else a dict says of its answer (`tokens`, `cost_usd`, `tool_calls`), as cells of columns of the run."""
    if not isinstance(returned, Mapping):
        return {}
    known = {*_ANSWERS, *_RETRIEVED, *_ECHOES, "contexts", "latency_ms"}
    columns: dict[str, str | float] = {}
    for key, value in returned.items():
        if isinstance(key, str) and key.strip() and key not in known and _is_plain(value):
            with suppress(CellError):  # a whole number of thousands of digits
                text = as_text(value)
                if text is not None and len(text) <= _LONGEST_CELL:
                    number = None if isinstance(value, bool) else _number(value)
                    columns["cost_usd" if key == "cost" else whole(key)] = text if number is None else value
    return columns


def _is_plain(value: Any, depth: int = 0) -> bool:
    """Whether this is a text, a number, or lists and dicts of such: no object of a library."""
    if isinstance(value, Mapping | list | tuple):
        items = value.values() if isinstance(value, Mapping) else value
        return depth < _DEEPEST and all(_is_plain(item, depth + 1) for item in items)
    return value is None or isinstance(value, str | int | float)


def _documents(returned: Any) -> Any:
    documents = ((name, _value(returned, name)) for name in _RETRIEVED)
    # `context` may be all texts in one piece, and `chunks` texts: no documents
    given = ((name, value) for name, value in documents if value is not None)
    contexts = _contexts(returned)
    return next(
        (
            value
            for name, value in given
            if not (name == "context" and isinstance(value, str)) and not (name == "chunks" and value is contexts)
        ),
        None,
    )


def _answer_text(returned: Any, *, has_documents: bool) -> str | None:
    """The answer; None for a retriever, which returned documents only."""
    if isinstance(returned, Mapping) and "answer" in returned:
        text = text_of(returned["answer"])
    else:
        text = text_of(_first(returned, _ANSWERS))
    if text is None and not isinstance(returned, Mapping):
        text = _message_text(returned)
    if text is not None:
        return whole(text)
    if not isinstance(returned, Mapping):
        if has_documents:
            return None
        kind = type(returned).__name__
        raise failed(f"the target returned {kind}, and should return a text or a dict with an answer")
    if "answer" not in returned and has_documents and not _may_hold_answer(returned):
        return None
    what = f"{type(returned['answer']).__name__} as its `answer`" if "answer" in returned else "no `answer`"
    keys = f"the keys are {', '.join(map(str, returned))}" if returned else "it is empty"
    raise failed(f"the target returned a dict with {what}; {keys}")


def _may_hold_answer(returned: Mapping[Any, Any]) -> bool:
    """Whether a dict has a text under another name than `answer`: then it is no retriever's."""
    known = {*_RETRIEVED, *_NO_ANSWERS}
    return any(isinstance(value, str) and value.strip() and key not in known for key, value in returned.items())


def text_of(value: Any) -> str | None:
    """A text, a message's text, or the text of the last message or first reply in a list; None if there is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _message_text(value)
    if isinstance(value, list | tuple):
        return _text_of_list(value)
    if value is None or isinstance(value, bool | int | float | bytes) or callable(value):
        return None
    text = _message_text(value)
    if text is None and callable(written := getattr(value, "model_dump_json", None)):  # an answer in a form
        return str(written())
    return text


def _message_text(message: Any) -> str | None:
    return next((text for name in _MESSAGE if (text := text_of(_value(message, name))) is not None), None)


def _text_of_list(values: Sequence[Any]) -> str | None:
    """Blocks of one message are joined; of a conversation's messages the last is the answer, of replies the first."""
    if not values:
        return None
    kinds = [value.get("type") for value in values if isinstance(value, Mapping)]
    if len(kinds) == len(values) and all(isinstance(kind, str) for kind in kinds):
        return "".join(value["text"] for value in values if isinstance(value.get("text"), str))
    is_conversation = any(_value(value, "role") is not None or _value(value, "type") is not None for value in values)
    return text_of(values[-1] if is_conversation else values[0])


def _latency(returned: Any, measured: float) -> float:
    given = returned.get("latency_ms") if isinstance(returned, Mapping) else None
    try:
        latency = as_number(given)
    except ValueError:
        raise failed(f"latency_ms is {given!r}, and should be a number") from None
    if latency is not None and latency < 0:
        raise failed(f"latency_ms is {latency:g}, and can't be below 0")
    return measured if latency is None else latency


def ids_of(retrieved: Any) -> list[str]:
    """The ids of retrieved documents: a text is its own id, an object has an id or title, or is written as JSON."""
    return [_id_of(_document(item)) or dumps(item, default=str) for item in _as_list(retrieved)]


def _id_of(document: Any) -> str:
    if not isinstance(document, Mapping) and not _is_object(document):
        return "" if isinstance(document, list | tuple) else as_text(document) or ""
    known = passage_id(document) or _text_under(document, "title")
    own, source = (_of_metadata(document, keys) for keys in (_OWN_IDS, _SOURCES))
    if isinstance(document, Mapping):
        return known or own or source
    return own or known or source or passage_text(document) or ""  # without any id, the text stands for the document


def _of_metadata(document: Any, keys: Sequence[str]) -> str:
    metadata = _first(document, METADATA_KEYS)
    texts = (_text_under(metadata, key) for key in keys) if isinstance(metadata, Mapping) else ()
    return next(filter(None, texts), "")


def _text_under(holder: Any, name: str) -> str:
    """The value of a key or an attribute as a text; empty if it has none."""
    value = _value(holder, name)
    if value is None or callable(value) or isinstance(value, Mapping | list | tuple):
        return ""
    return as_text(value) or ""


def texts_of(retrieved: Any) -> list[str] | None:
    """The texts of retrieved documents, where they have any."""
    if not isinstance(retrieved, Sequence) or isinstance(retrieved, str):
        return None
    documents = (_document(item) for item in retrieved)
    texts = (passage_text(document) for document in documents if not isinstance(document, str))
    return list(filter(None, texts)) or None


def contexts_of(contexts: Any) -> list[str]:
    """The texts of retrieved documents, given as texts or as objects that have one.

    A missing one keeps its place, as an empty text: citations count the passages.
    """
    return [_passage(item) for item in _as_list(contexts)]


def _passage(item: Any) -> str:
    text = passage_text(_document(item))
    if text is None:
        return "" if item is None or item is False else dumps(item, default=str)
    return text


def scores_of(retrieved: Any) -> list[float | None] | None:
    """The scores of retrieved documents, None where one has none; None if none has any."""
    scores = [_number(item[1]) if _is_pair(item) else passage_score(item) for item in _as_list(retrieved)]
    return scores if any(score is not None for score in scores) else None


def _number(value: Any) -> float | None:
    try:
        return None if isinstance(value, str) else as_number(value)
    except (TypeError, ValueError):
        return None


def _document(item: Any) -> Any:
    """The document itself: inside a pair with its score, or inside a node with its score."""
    if _is_pair(item):
        return item[0]
    node = _value(item, "node")
    return item if node is None or isinstance(node, str) else node


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and _number(item[1]) is not None


def _as_list(value: Any) -> list[Any]:
    if value is None or value is False or (isinstance(value, str | Mapping) and not value):
        return []  # all of these mean that nothing was retrieved
    if isinstance(value, str | Mapping) or not hasattr(value, "__iter__") or hasattr(value, "model_fields"):
        return [value]
    return list(value)


def _is_object(value: Any) -> bool:
    return not isinstance(value, str | Mapping) and hasattr(value, "__dict__")


def _value(holder: Any, name: str) -> Any:
    """The value of a key or an attribute; None if there is none, or it can't be read."""
    if isinstance(holder, Mapping):
        return holder.get(name)
    return attribute(holder, name) if _is_object(holder) else None


def _first(holder: Any, names: Sequence[str]) -> Any:
    return next((value for name in names if (value := _value(holder, name)) is not None), None)

"""The objects that evaluators take and return: a system's result, a question with its gold answer, an evaluation.

They have the names and fields of the tools that they come from. Other fields of such a tool's data go into `metadata`,
and can be read as attributes too: `pair.question_categories`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from ragmeter.compat.rows import ResultRows
from ragmeter.errors import UsageError
from ragmeter.io.cells import NotAListError, as_list, is_missing
from ragmeter.io.decoding import JsonObject
from ragmeter.table import NewRow, Row

#: Columns of a reference file that begin like this name a category of the question or of the user.
_QUESTION, _USER = "question_", "user_"
_NO_CATEGORIES = frozenset({"question_categories", "question_length", "question_words_count", "user_categories"})
#: The columns of a row file that are not metrics.
_ROW_COLUMNS = ("qid", "evaluator_name", "is_aggregated")

#: What an object of another tool has besides the fields that are known here.
Metadata: TypeAlias = Mapping[str, Any]
#: An evaluator's figures, by their names: numbers, or whatever an evaluator of the user's own returns.
Figures: TypeAlias = dict[str, Any]


class _WithMetadata:
    """An object with other values in `metadata`, which are attributes too; with from_dict() and to_dict()."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and name != "metadata" and name in self.metadata:
                return self.metadata[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @classmethod
    def from_dict(cls, data: Row) -> Self:
        """The object with these values; keys that are not fields go into its metadata."""
        values = {str(key): value for key, value in data.items() if not is_missing(value)}
        if "query" in values:  # the name in an earlier version
            values.setdefault("question", values.pop("query"))
        field_names = {item.name for item in fields(cls)} - {"metadata"}  # type: ignore[arg-type]
        metadata = values.pop("metadata", {})
        other_values = {key: value for key, value in values.items() if key not in field_names}
        extra = dict(metadata) if isinstance(metadata, Mapping) else {"metadata": metadata}
        own_values = {key: value for key, value in values.items() if key in field_names}
        return cls(**own_values, metadata={**extra, **other_values})  # type: ignore[call-arg]

    def to_dict(self) -> NewRow:
        """The fields and the metadata in one dict; `from_dict` makes an equal object of it."""
        own_values = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "metadata"}  # type: ignore[arg-type]
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in own_values.items()}
        return {**values, **{key: value for key, value in self._metadata().items() if key not in values}}

    def _metadata(self) -> Metadata:
        metadata: Metadata = self.metadata  # type: ignore[attr-defined]
        return metadata


@dataclass(slots=True, init=False)
class RAGResult(_WithMetadata):
    """The result of a RAG system for one question.

    `doc_ids` are the retrieved documents or chunks, best first; `error` is the reason if there is no answer. Any other
    keyword goes into `metadata`.
    """

    question: str | None
    answer: str | None
    context: Sequence[str]
    doc_ids: Sequence[str] | None
    total_time_ms: float | None
    qid: str | None
    system_name: str | None
    metadata: Metadata
    error: str | None

    def __init__(
        self,
        question: str | None = None,
        answer: str | None = None,
        context: Sequence[str] = (),
        doc_ids: Sequence[str] | None = None,
        total_time_ms: float | None = None,
        qid: str | None = None,
        system_name: str | None = None,
        metadata: Metadata | None = None,
        error: str | None = None,
        **other_values: Any,
    ) -> None:
        self.question = question
        self.answer = answer
        self.context = context
        self.doc_ids = doc_ids
        self.total_time_ms = total_time_ms
        self.qid = qid
        self.system_name = system_name
        self.metadata = {**(metadata or {}), **other_values}
        self.error = error

    @property
    def question_words_count(self) -> int:
        """The number of words in the question, unless the metadata have it."""
        return _count(self.metadata.get("question_words_count"), self.question)

    @property
    def answer_words_count(self) -> int:
        """The number of words in the answer, unless the metadata have it."""
        return _count(self.metadata.get("answer_words_count"), self.answer)

    @property
    def timestamp(self) -> datetime | None:
        """When the question was answered, if the metadata have it."""
        return _moment(self.metadata.get("timestamp"))

    @property
    def generated_queries(self) -> list[str] | None:
        """The queries that the system made of the question, if the metadata have them."""
        return _list_of(self.metadata.get("generated_queries"))

    @property
    def rewritten_docs(self) -> list[str] | None:
        """The documents as the system rewrote them, if the metadata have them."""
        return _list_of(self.metadata.get("rewritten_docs"))


@dataclass(slots=True, init=False)
class QAPair(_WithMetadata):
    """A question with its gold answer, or several acceptable ones, and its gold documents.

    By position its values have the order of the tool that it comes from. Any other keyword goes into `metadata`, and so
    do the categories.
    """

    question: str | None
    answer: str | Sequence[str] | None
    context: Sequence[str]
    document_ids: Sequence[str] | None
    qid: str | None
    metadata: Metadata

    def __init__(
        self,
        question: str | None = None,
        answer: str | Sequence[str] | None = None,
        context: Sequence[str] = (),
        question_categories: Any = None,
        user_categories: Any = None,
        document_ids: Sequence[str] | None = None,
        qid: str | None = None,
        metadata: Metadata | None = None,
        **other_values: Any,
    ) -> None:
        categories = {"question_categories": question_categories, "user_categories": user_categories}
        given = {name: value for name, value in categories.items() if value is not None}
        self.question = question
        self.answer = answer
        self.context = context
        self.document_ids = document_ids
        self.qid = qid
        self.metadata = {**(metadata or {}), **given, **other_values}

    @property
    def question_categories(self) -> list[JsonObject]:
        """The question's categories: given, or from columns like `question_factuality` of a reference file."""
        return _categories(self.metadata, "question_categories", _QUESTION)

    @property
    def user_categories(self) -> list[JsonObject]:
        """The user's categories: given, or from columns like `user_expertise` of a reference file."""
        return _categories(self.metadata, "user_categories", _USER)


@dataclass(slots=True)
class EvaluationResultRow:
    """The scores of one question, as an earlier tool has them; an EvaluationResult takes them as rows."""

    qid: str
    metrics: Figures
    evaluator_name: str

    @classmethod
    def from_dict(cls, data: Row) -> EvaluationResultRow:
        """The row with these values."""
        return cls(data.get("qid", ""), dict(data.get("metrics") or {}), data.get("evaluator_name", ""))

    def to_dict(self) -> NewRow:
        """The values in a dict; `from_dict` makes an equal object of it."""
        return {"qid": self.qid, "metrics": dict(self.metrics), "evaluator_name": self.evaluator_name}


@dataclass(slots=True)
class EvaluationResult:
    """An evaluator's result: aggregated `metrics`, a dict for each row, and counts of rows with no score.

    A row may also be an object with `qid`, `metrics` and `evaluator_name`; it becomes a dict.
    """

    evaluator_name: str
    metrics: Figures
    rows: list[NewRow] | ResultRows = field(default_factory=list)
    sample_count: int | None = None
    system_name: str = ""
    timestamp: str = field(default_factory=lambda: datetime.now().isoformat())
    not_scored: dict[str, int] = field(default_factory=dict)
    total_time_ms: float | None = None
    total_cost: float | None = None
    system_analysis: Any = None

    def __post_init__(self) -> None:
        self.metrics = dict(self.metrics)
        if not isinstance(self.rows, ResultRows):
            self.rows = [_row(row) for row in self.rows or ()]
        self.system_name = self.system_name or ""
        moment = self.timestamp or datetime.now()
        self.timestamp = moment.isoformat() if isinstance(moment, datetime) else str(moment)
        self.not_scored = dict(self.not_scored or {})

    @classmethod
    def of(cls, result: Any, evaluator: str) -> EvaluationResult:
        """The result itself, or one made from an object with the same fields. `evaluator` is its evaluator's class."""
        if isinstance(result, cls):
            return result
        if not isinstance(getattr(result, "metrics", None), Mapping) or not hasattr(result, "evaluator_name"):
            raise UsageError(
                f"{evaluator}.evaluate() returned {type(result).__name__}, not EvaluationResult",
                hint="`from ragmeter import EvaluationResult`, or a class with `evaluator_name` and `metrics`, a dict",
            )
        values = {item.name: getattr(result, item.name, None) for item in fields(cls)}
        return cls.from_dict({**values, "evaluator_name": values["evaluator_name"] or evaluator})

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EvaluationResult:
        """The result with these values, as `to_dict` returns them."""
        field_names = {item.name for item in fields(cls)}
        values = {key: value for key, value in data.items() if key in field_names and value is not None}
        return cls(**{"evaluator_name": "", "metrics": {}, **values})

    def to_dict(self, *, with_rows: bool = True) -> JsonObject:
        """Everything as plain values, for `from_dict`. A question's row has its scores under `metrics`."""
        result: JsonObject = {
            "metrics": dict(self.metrics),
            "evaluator_name": self.evaluator_name,
            "sample_count": self._count(),
            "system_name": self.system_name,
            "timestamp": self.timestamp,
            **({"rows": [_nested(row) for row in self.rows]} if with_rows else {}),
            "not_scored": dict(self.not_scored),
        }
        analysis = self.system_analysis
        return result | self._others(analysis.to_dict() if hasattr(analysis, "to_dict") else analysis)

    def as_records(self) -> tuple[JsonObject, Iterator[NewRow]]:
        """The lines of the two files of JSON: the result without its rows, and the rows, their scores in `metrics`."""
        return self.to_dict(with_rows=False), (_nested(row) for row in self.rows)

    def aggregated(self) -> NewRow:
        """The row of the aggregated file."""
        return {
            "evaluator_name": self.evaluator_name,
            "sample_count": self._count(),
            "system_name": self.system_name,
            "timestamp": self.timestamp,
            "is_aggregated": True,
            **self._others(getattr(self.system_analysis, "analysis", self.system_analysis)),
            **self.metrics,
        }

    def _count(self) -> int:
        return len(self.rows) if self.sample_count is None else self.sample_count

    def _others(self, analysis: Any) -> dict[str, object]:
        values = {"total_time_ms": self.total_time_ms, "total_cost": self.total_cost, "system_analysis": analysis}
        return {name: value for name, value in values.items() if value is not None}


def _row(row: Any) -> NewRow:
    """A row as a dict for the row file."""
    if not isinstance(row, Mapping):
        values = (getattr(row, name, None) for name in ("qid", "evaluator_name", "metrics"))
        row = dict(zip(("qid", "evaluator_name", "metrics"), values, strict=True))
        if not isinstance(row["metrics"], Mapping):
            raise UsageError("a row of an EvaluationResult must be a dict, or have `qid` and a dict `metrics`")
    if set(row) == {"qid", "evaluator_name", "metrics"} and isinstance(row["metrics"], Mapping):
        start = {"qid": row["qid"], "evaluator_name": row["evaluator_name"], "is_aggregated": False}
        return {**start, **row["metrics"]}
    return dict(row)


def _nested(row: Row) -> NewRow:
    """A row with its scores under `metrics`; a row without the usual columns is not changed."""
    if tuple(row)[:3] != _ROW_COLUMNS:
        return dict(row)
    scores = {name: value for name, value in row.items() if name not in _ROW_COLUMNS}
    return {"qid": row["qid"], "metrics": scores, "evaluator_name": row["evaluator_name"]}


def _categories(metadata: Metadata, name: str, beginning: str) -> list[JsonObject]:
    categories = metadata.get(name)
    if isinstance(categories, str):  # in a file the list is written as JSON
        with suppress(ValueError):
            categories = json.loads(categories)
    if isinstance(categories, list | tuple):
        return list(categories)
    return [
        {"categorization_name": title.removeprefix(beginning), "category_name": value}
        for title, value in metadata.items()
        if title.startswith(beginning) and title not in _NO_CATEGORIES and not is_missing(value) and value != ""
    ]


def _count(count: Any, text: str | None) -> int:
    return len((text or "").split()) if is_missing(count) or count == "" else int(float(count))


def _moment(value: Any) -> datetime | None:
    if isinstance(value, datetime):
        return value
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None


def _list_of(value: Any) -> list[str] | None:
    if is_missing(value) or value == "":
        return None
    try:
        return as_list(value, strict=False)
    except NotAListError:
        return [str(value)]

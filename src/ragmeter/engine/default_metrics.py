"""What is measured where nobody names metrics: one table, of metrics and the columns that each of them needs.

`evaluate`, `ask`, `web`, `run` and `init` choose by it. A metric of meaning is measured where an embedding model is
named, one that a language model judges where a judge is; the others need neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragmeter import naming
from ragmeter.definition import Metric
from ragmeter.documents.hops import HOPS
from ragmeter.errors import ColumnError
from ragmeter.hints import by_caller, columns_option, option
from ragmeter.io.columns import proposed_titles
from ragmeter.io.data import Data
from ragmeter.io.titles import likely_titles
from ragmeter.metrics.abstention import MARKS
from ragmeter.metrics.sentences import count_long
from ragmeter.table import Batch, Column

Model = Literal["judge", "embedding"]
References = Literal["short", "long"]


@dataclass(frozen=True)
class DefaultMetric:
    """A metric, and what there must be for it: each of these columns, one of `marks`, such references, such a model."""

    name: str
    needs: tuple[str, ...]
    references: References | None = None
    marks: tuple[str, ...] = ()
    model: Model | None = None

    @property
    def is_rare(self) -> bool:
        """Whether most tables lack what it needs, and nobody misses it."""
        return not _RARE.isdisjoint((*self.needs, *self.marks))

    def missing(self, columns: Collection[str]) -> tuple[str, ...]:
        """The columns that it needs and that are not there."""
        marked = not self.marks or any(mark in columns for mark in self.marks)
        return (*(name for name in self.needs if name not in columns), *(() if marked else self.marks[:1]))


_TEXTS, _DOCUMENTS, _PASSAGES = ("reference", "answer"), ("relevant", "retrieved"), ("answer", "contexts")
#: The metrics in the order in which they are shown: the first is the headline.
DEFAULT_METRICS = (
    DefaultMetric("llm_correct", _TEXTS, model="judge"),
    DefaultMetric("offline_correct", ("question", *_TEXTS), references="short"),
    DefaultMetric("offline_quality", _TEXTS, references="long"),
    DefaultMetric("token_f1", _TEXTS),
    DefaultMetric("semantic_similarity", _TEXTS, model="embedding"),
    DefaultMetric("offline_hallucinated", _PASSAGES),
    DefaultMetric("abstention_correct", ("answer",), marks=tuple(MARKS)),
    DefaultMetric("recall@5", _DOCUMENTS),
    DefaultMetric("ndcg@10", _DOCUMENTS),
    DefaultMetric("hop_recall", ("relevant", HOPS)),
    DefaultMetric("first_hit_hop", ("relevant", HOPS)),
    DefaultMetric("tool_calls_match", ("expected_tool_calls",), marks=(HOPS, "tool_calls")),
    DefaultMetric("step_count", (HOPS,)),
)
#: What a system that is asked may return, until its answers are there; and what every rule of a gate may rely on.
RETURNED = ("answer", "contexts", "retrieved", HOPS)
USUALLY_RETURNED = RETURNED[:3]
#: Columns that are rarely there: what a question must be marked with, and what agents do.
_RARE = frozenset({*MARKS, HOPS, "expected_tool_calls"})
#: The columns that are empty in the first rows are looked for in so many.
_LOOKED_AT = 262_144


@dataclass(frozen=True)
class MetricChoice:
    """The metrics that were chosen, and those that were not, each with the columns that it lacks."""

    metrics: tuple[str, ...]
    lacking: Mapping[str, tuple[str, ...]]
    empty: frozenset[str] = frozenset()
    looked_at: int | None = None  # so many rows say what is empty; None: all
    no_causes: str = ""  # why nothing says where answers failed

    @classmethod
    def of(
        cls,
        columns: Collection[str],
        *,
        long_references: bool = False,
        models: Collection[Model] = (),
        empty: Collection[str] = (),
        looked_at: int | None = None,
    ) -> MetricChoice:
        """The choice for a table that has something in these columns, with these models; `empty` ones exist."""
        references = "long" if long_references else "short"
        usable = [
            metric
            for metric in DEFAULT_METRICS
            if metric.references in (None, references) and (metric.model is None or metric.model in models)
        ]
        missing = {metric.name: metric.missing(columns) for metric in usable}
        metrics = tuple(name for name, lacks in missing.items() if not lacks)
        return cls(
            metrics,
            {
                metric.name: missing[metric.name]
                for metric in usable
                if missing[metric.name]
                and not _RARE.intersection(metric.needs)
                and not _RARE.intersection(metric.marks)
            },
            frozenset(empty),
            looked_at,
            _no_causes(metrics, columns) if {"reference", "answer"} <= set(columns) else "",
        )

    @classmethod
    def before_asking(
        cls, batches: Sequence[Batch], models: Collection[Model] = (), *, returned: Collection[str] = RETURNED
    ) -> MetricChoice:
        """The choice for questions, as if the system returned all of these columns."""
        columns = {name for batch in batches for name in filled_columns(batch.columns)} | set(returned)
        return cls.of(columns, long_references=has_long_references(batches[0].columns), models=models)

    def with_returned(self, columns: Collection[str]) -> MetricChoice:
        """The choice once it is known which of these the system has returned; as it was, if nothing is left."""
        needs = {metric.name: metric.needs for metric in DEFAULT_METRICS}
        gone = {name: [need for need in needs[name] if need in RETURNED and need not in columns] for name in needs}
        metrics = tuple(name for name in self.metrics if not gone[name])
        if not metrics:
            return self
        lacking = {
            name: tuple(gone[name]) for name in self.metrics if gone[name] and not _RARE.intersection(gone[name])
        }
        no_causes = self.no_causes or _no_causes(metrics, {*columns, "relevant"})
        return MetricChoice(metrics, {**lacking, **self.lacking}, self.empty, self.looked_at, no_causes)

    def remaining(self, metrics: Sequence[Metric], asked: MetricChoice) -> list[Metric]:
        """These metrics without those that were chosen before asking, and are not any more."""
        gone = {naming.base_of(name) for name in asked.metrics if name not in self.metrics}
        return [metric for metric in metrics if metric.base not in gone]

    def sentence(self) -> str:
        """What was chosen, and what was left out for lack of which column."""
        columns: dict[tuple[str, ...], list[str]] = {}
        for name, lacks in self.lacking.items():
            columns.setdefault(lacks, []).append(name)
        parts = [f"{' and '.join(names)} ({self._lack(lacks)})" for lacks, names in columns.items()]
        parts += [f"where answers failed ({self.no_causes})"] if self.no_causes else []
        left_out = f"; left out: {'; '.join(parts)}" if parts else ""
        return f"chosen by its columns: {', '.join(self.metrics)}{left_out}; name `metrics` to choose others"

    def _lack(self, columns: Sequence[str]) -> str:
        """What is missing, or there with nothing in it."""
        empty = [name for name in columns if name in self.empty]
        missing = [f"no {' or '.join(absent)}"] if (absent := [name for name in columns if name not in empty]) else []
        verb = "is" if len(empty) == 1 else "are"
        where = "" if self.looked_at is None else f" in the first {self.looked_at:,} rows"
        return ", ".join([*missing, *([f"{' and '.join(empty)} {verb} empty{where}"] if empty else [])])


def _no_causes(metrics: Collection[str], columns: Collection[str]) -> str:
    """Why a run with these metrics and columns has no causes; an empty text where it has some."""
    if not {"llm_correct", "offline_correct"}.intersection(metrics):
        return "no metric says which answers are right"
    has_evidence = "contexts" in columns or {"relevant", "retrieved"} <= set(columns)
    return "" if has_evidence else "no contexts"


def models_of(judge: object, embedding_model: str | None) -> list[Model]:
    """The models that were named."""
    judges: list[Model] = [] if judge is None else ["judge"]
    return judges if embedding_model is None else [*judges, "embedding"]


def choose_by_columns(data: Data, models: Collection[Model] = ()) -> MetricChoice:
    """The choice for results and their reference; a note of the results says it.

    A column that is empty in the first rows is looked for in more. Answers that are all missing have no scores, and
    the metrics of answers say so; beside ids that were retrieved without an error they are those of a retriever.
    """
    columns = data.head()
    needed = {name for metric in DEFAULT_METRICS for name in (*metric.needs, *metric.marks)}
    empty = {name for name in needed if name in columns and not any(columns[name])}
    begin_late, is_whole = data.late_columns(empty, _LOOKED_AT)
    columns |= begin_late
    names = filled_columns(columns)
    if "retrieved" in names and data.reference is not None and data.reference.passages is not None:
        names.add("contexts")  # the texts of what was retrieved
    if "answer" in columns and ("retrieved" not in names or "error" in names):
        names.add("answer")
    choice = MetricChoice.of(
        names,
        long_references=has_long_references(columns),
        models=models,
        empty=empty - names,
        looked_at=None if is_whole else _LOOKED_AT,
    )
    if not choice.metrics:
        raise _nothing_to_measure(names, list(columns), data)
    lacking = {name for lacks in choice.lacking.values() for name in lacks} - empty
    meant = f"; {proposed_titles((), list(columns))}" if lacking.intersection(likely_titles(list(columns))) else ""
    data.results.say(f"{choice.sentence()}{meant}")
    return choice


def filled_columns(columns: Mapping[str, Column]) -> set[str]:
    """The columns that have something in them."""
    return {name for name, column in columns.items() if any(column)}


def has_long_references(columns: Mapping[str, Column]) -> bool:
    """Whether most references are longer than a sentence."""
    references: Sequence[Sequence[str]] = [cell for cell in columns.get("reference", ()) if cell]
    return 2 * count_long(references) > len(references)


def _nothing_to_measure(names: Collection[str], titles: Sequence[str], data: Data) -> ColumnError:
    lacks_answers = "answer" not in names and "retrieved" not in names
    hint = (
        "the system's answers (answer), or the ids of what it retrieved (retrieved), are missing: "
        + by_caller("`ragmeter ask` asks a live system", "ask() asks a live system")
        if lacks_answers
        else "add gold answers (reference), passages (contexts), or gold documents (relevant) beside retrieved ones"
    )
    elsewhere = "" if lacks_answers else f"; if another file has them, name it with {option('reference')}"
    judged = "" if "answer" not in names or "question" not in names else (
        "; " + by_caller("--metrics answer_relevance --judge-model MODEL", 'metrics="answer_relevance", judge=...')
        + " needs the question and the answer alone"
    )  # fmt: skip
    likely = likely_titles(titles)
    wanted = [name for name in ("question", *_TEXTS) if name not in names]
    if likely:
        wanted = ["answer"] if lacks_answers and "answer" not in likely else []
    proposal = proposed_titles(wanted, titles, _command(data))
    return ColumnError(
        f"nothing can be measured by the columns {', '.join(titles)}",
        file=data.results.name,
        hint=f"{proposal}; or else {hint}{elsewhere}{judged}" if likely else f"{hint}{elsewhere}; {proposal}{judged}",
    )


def _command(data: Data) -> str:
    """The command line that evaluates these files, for flags that are added to it."""
    from shlex import quote  # for an error alone

    files = " ".join(quote(source.name) for source in (data.results, data.reference) if source is not None)
    mapped = f"{columns_option(data.mapping)} " if data.mapping else ""
    return f"ragmeter evaluate {files} {mapped}"

"""What an evaluation gives back: a mapping from metrics to their summaries, and the run behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ragmeter import naming
from ragmeter.documents.manifest import EmbeddingUse, Manifest
from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.summary import Summary
from ragmeter.documents.usage import Calls
from ragmeter.errors import UsageError
from ragmeter.hints import for_python, option
from ragmeter.io.tabular import Tabular, arrow_table, html_lines, summaries_html, summary_records
from ragmeter.runs.run import Run
from ragmeter.runs.temporary_run import TemporaryRun
from ragmeter.wording.causes import answers_sentence
from ragmeter.wording.ids import id_lines, never_match_lines
from ragmeter.wording.metrics import bracketed, headline_sentence, result_unit, within, without_score
from ragmeter.wording.numbers import scored

#: What an evaluation is called that was not kept, and whose data come from no file.
UNNAMED = "this evaluation"


@dataclass(frozen=True, eq=False)
class Evaluation(Tabular, Mapping[str, MetricSummary]):
    """What `evaluate()` returns: a mapping from metrics to their summaries, the rows, and the folder if it was kept.

    `len()` and iteration are over metrics; `rows` and `to_pandas()` have the rows. `embeddings` says for each
    embedding model that was used how many texts it got, and how many it had to cut; `manifest` is the signature.
    `judging` has the `usage` and the `effort` of the calls to a judge, None if it was not asked for this.
    """

    TABLES: ClassVar[tuple[str, ...]] = ("rows", "metrics")

    run: Run
    embeddings: Sequence[EmbeddingUse] = ()
    judging: Calls | None = None
    summary: Summary = field(init=False)
    manifest: Manifest = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "summary", self.run.summary())
        object.__setattr__(self, "manifest", self.run.manifest())

    @property
    def metrics(self) -> dict[str, MetricSummary]:
        """Each metric's summary."""
        return self.summary.metrics

    @property
    def folder(self) -> Run | None:
        """The run's folder, if it was kept."""
        return None if isinstance(self.run, TemporaryRun) else self.run

    @property
    def name(self) -> str:
        """The run's; one that was not kept goes by the name of its file."""
        return str(self.manifest.run or UNNAMED) if self.folder is None else self.folder.name

    @property
    def rows(self) -> Any:
        """Every row with its scores and outcomes, as an Arrow table; read from the folder if the run was kept."""
        return self.run_folder().rows()

    def run_folder(self) -> Run:
        """The run; of one that was not kept, the folder is a temporary one that is there as long as it is used."""
        self.run.check()
        metrics = self.run.metrics()
        same = self.run.manifest().created == self.manifest.created
        if not same or any(metrics.get(name) != summary for name, summary in self.metrics.items()):
            raise UsageError(
                f"the run {self.run.name} was replaced by a later one of the same name, so these results are gone",
                hint=f"give each run a name of its own with {option('run')}",
            )
        return self.run

    def __getitem__(self, metric: str) -> MetricSummary:
        """A metric's summary by its name; what `language` and the like added to it may be left out."""
        return self.metrics[naming.one_of(metric, self.metrics, "this evaluation")]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        """How many metrics there are; `summary.n_rows` says how many rows."""
        return len(self.metrics)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        lines = [*map(for_python, never_match_lines(self.summary)), *self._first_lines()]
        lines += [f"{name}: {_short(summary)}" for name, summary in self.metrics.items()]
        lines += map(for_python, id_lines(self.summary))
        return "\n".join([f"<{type(self).__name__}, rows: {self.summary.n_rows}>", *lines])

    def _repr_html_(self) -> str:
        never_match, others = (map(for_python, lines(self.summary)) for lines in (never_match_lines, id_lines))
        first = html_lines(f"{self.name}, rows: {self.summary.n_rows:,}", *never_match, *self._first_lines())
        return first + summaries_html(self.metrics) + html_lines(*others)

    def _first_lines(self) -> list[str]:
        """How many answers there are, where some are missing or empty, and the result in a sentence."""
        unit = result_unit(self.manifest)
        answers = answers_sentence(self.summary.answers, self.summary.n_rows, unit)
        headline = headline_sentence(self.metrics, unit, self.summary.rightly_declined)
        return [line for line in (answers, headline) if line]

    def _table(self, name: str) -> Any:
        return self.rows if name == "rows" else arrow_table(summary_records(self.metrics))


def _short(summary: MetricSummary) -> str:
    if summary.mean is None:
        return f"none of {summary.n_total} rows has a score"
    n = scored(summary.n_scored, summary.n_total)
    if (bounds := summary.bounds_of_mean) is not None:
        return f"{within(bounds)}: {without_score(summary)}, n = {n}"
    return bracketed(summary.mean, summary.interval, n)

"""`summary.json`: the results. Nothing in it depends on when the run was made, or how fast."""

from __future__ import annotations

from typing import Any

from msgspec import field

from ragmeter.documents.judging import JudgeCheck, JudgeSummary
from ragmeter.documents.manifest import Limit
from ragmeter.documents.metrics import MetricSummary, Percentiles, Statistics
from ragmeter.documents.record import UNSET, Count, Record, UnsetType
from ragmeter.documents.testset import TestSetCard
from ragmeter.documents.usage import Usage

#: The shares of causes make 1 but for this.
_ROUNDING = 1e-6


class Abstained(Record, frozen=True):
    """The answers that decline to answer; right and wrong are those of questions that are marked as (un)answerable."""

    n: Count
    right: Count
    wrong: Count


class Answers(Record, frozen=True):
    """How many rows have an answer with something in it, and how many answers are empty texts."""

    given: Count
    empty: Count


class AnswerCauses(Record, frozen=True):
    """Where the answers failed: the share of each cause, and of those that occur what said so on how many rows."""

    shares: dict[str, MetricSummary]
    evidence: dict[str, dict[str, Count]]
    #: Of a run with hops: how many answers with a cause failed at which hop, as `FailedAt` counts them.
    hops: dict[str, dict[str, Count]] | UnsetType = UNSET

    def __post_init__(self) -> None:
        means = [summary.mean or 0.0 for summary in self.shares.values()]
        if not all(-_ROUNDING <= mean <= 1 + _ROUNDING for mean in means):
            raise ValueError("a cause has a share that is not between 0 and 1")
        if abs(sum(means) - 1) > _ROUNDING:
            raise ValueError(f"the shares of causes make {sum(means):g}, not 1: one is missing or wrong")
        if without := sorted(self.evidence.keys() - self.shares.keys()):
            raise ValueError(f"there is no share of {', '.join(without)}, and evidence")


class Unmatched(Record, frozen=True):
    """Rows of one side of a join that have no partner on the other: their number, and the first few ids."""

    count: Count
    qids: list[str]


class Join(Record, frozen=True):
    """How the rows of the results and of the reference were joined; nothing where there is no reference."""

    matched: Count | UnsetType = UNSET
    results_only: Unmatched | UnsetType = UNSET
    reference_only: Unmatched | UnsetType = UNSET


#: A retriever may miss every gold document on fewer rows than these; on more, the ids are of two kinds.
_TELLING = 10


class NeverMatch(Record, frozen=True):
    """No retrieved id is a gold id in any of the rows that have both; with an example of each."""

    rows: Count
    retrieved: str
    gold: str


class Chunks(Record, frozen=True):
    """Ids that were read as chunks of documents."""

    ids: Count
    documents: Count


class MissingResults(Record, frozen=True):
    """Questions with gold documents that no result answers, and the means that there would be if they scored 0."""

    questions: Count
    means_as_zero: dict[str, float]


class DocumentIds(Record, frozen=True, omit_defaults=True):
    """What is to be said of the ids of documents, where they are not plain ids that match."""

    never_match: NeverMatch | None = None
    chunks: Chunks | None = None
    missing: MissingResults | None = None

    @property
    def tells_no_causes(self) -> bool:
        """Whether ids that never match would make the retriever answer for every row."""
        return self.never_match is not None and self.never_match.rows >= _TELLING


class QuestionSet(Record, frozen=True):
    """Which questions the rows are about: the same for all runs that can be compared row by row."""

    fingerprint: str  # of qids, questions and references, in any order
    n: Count  # different ones


def _empty() -> dict[str, Any]:
    """A dict that is written even if it is empty."""
    return {}


class Summary(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The results of a run. What does not apply to it is not written, and None or empty here."""

    run: str = ""
    ragmeter: str | None = None  # its version
    n_rows: Count
    questions: QuestionSet | None = None
    system: str | None = None  # its name, where all rows that say one say the same
    statistics: Statistics | None = None
    metrics: dict[str, MetricSummary]
    numbers: dict[str, Percentiles] = field(default_factory=_empty)  # columns of numbers that are no metrics
    answers: Answers | None = None  # where rows have none, or an empty one
    abstained: Abstained | None = None
    rightly_declined: Count = 0  # that the share of right answers does not count as right
    cause: AnswerCauses | None = None  # where answers are judged, and there are passages or gold documents
    columns_left_out: dict[str, Count] = field(default_factory=_empty)  # that appear late: how many rows had them
    long_references: Count | None = None  # where a metric is for short ones
    unknown_languages: Count | None = None  # rows that say a language which is not known
    document_ids: DocumentIds | None = None
    join: Join | None = None
    usage: Usage | None = None  # of the system that was asked
    causes: dict[str, Count] | None = None  # why questions have no answer
    reused_answers: str | UnsetType | None = UNSET  # how many answers are from when, if some were there before
    limit: Limit | None = None
    notes: list[str] = []  # how the data were understood, where that could be otherwise
    judges: dict[str, JudgeSummary] = {}  # by the name of the column that a judge has filled
    judge_usage: Usage | None = None  # of all of them
    judge_check: JudgeCheck | None = None
    parts_skipped: list[str] = []  # the reasons why parts could not be read
    test_set: TestSetCard | None = None  # of a run that is a test set

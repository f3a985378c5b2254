"""`manifest.json`: what was run. With this and the same inputs, anyone gets the same numbers."""

from __future__ import annotations

from ragmeter.documents.metrics import Direction, Statistics
from ragmeter.documents.record import UNSET, Count, Record, UnsetType
from ragmeter.documents.testset import TestSetSettings
from ragmeter.documents.usage import Effort
from ragmeter.naming import Settings, Signature


class MetricEntry(Record, frozen=True):
    """A metric that was scored: its name has the settings that are not the usual ones, `settings` has all."""

    name: str
    settings: Settings
    direction: Direction
    source: str  # where it is declared: module and name


class FilledColumns(Record, frozen=True):
    """The columns of the table that a judgement without a language model has filled, and the support model, if any."""

    columns: list[str]  # the judgement's value first
    support_model: str | UnsetType = UNSET  # a local classifier of pairs of texts
    backend: str | UnsetType = UNSET
    revision: str | UnsetType | None = UNSET
    labels: list[str] | UnsetType = UNSET  # in the order of the model
    supported_by: list[str] | UnsetType = UNSET  # those that say "supported"
    cascade: Signature | UnsetType = UNSET  # of verdicts by the offline judge

    def __post_init__(self) -> None:
        if not self.columns:
            raise ValueError("columns should be a list of one text or more")


class EmbeddingUse(Record, frozen=True):
    """An embedding model that a run has used: everything that its vectors depend on, and how many texts it got."""

    model: str
    backend: str
    revision: str | None  # the hub's commit, or a hash of the model's files
    endpoint: str | None
    prefix: str  # what stood in front of each text
    dimensions: Count
    texts: Count  # distinct ones
    embedded: Count  # by this command
    from_cache: Count
    truncated: Count  # too long for the model, so that their beginning alone was compared


class PartFile(Record, frozen=True):
    """A file of the table of a run in parts, and its number of rows."""

    file: str
    rows: Count


class Limit(Record, frozen=True):
    """How many of a data set's questions were asked."""

    asked: Count
    of: Count


class Manifest(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What was run. What does not apply to a run is not written, and None or empty here."""

    run: str = ""
    created: str | None = None  # when, as ISO 8601 in UTC
    ragmeter: str | None = None  # its version
    metrics: list[MetricEntry] = []
    offline: dict[str, FilledColumns] = {}  # by the name of the judgement
    inputs: dict[str, Signature] = {}  # by role: results, reference, dataset, turns
    columns: dict[str, str] | None = None  # those that were given: our names, and the files' own
    missing: str | None = None  # "zero" where questions without a result count as 0
    target: Signature | None = None  # the system that was asked
    effort: Effort | None = None  # of asking it
    repeats: Count | None = None  # how often each question was asked, where not once
    limit: Limit | None = None
    judged_columns: dict[str, Signature] = {}  # what each column that a judge has filled depends on, by its name
    judging: Effort | None = None  # of filling them
    statistics: Statistics | None = None
    embeddings: list[EmbeddingUse] = []
    versions: dict[str, str] = {}  # of what numbers depend on
    test_set: TestSetSettings | None = None  # of a run that is one
    parts: list[PartFile] = []  # of a table that is in several files
    files_in: str | None = None  # the folder of the run's other files, in a store: written last, it makes them the run

    def __post_init__(self) -> None:
        for name, signature in self.judged_columns.items():
            columns = signature.get("columns", [name])
            if not isinstance(columns, list) or not columns or not all(isinstance(column, str) for column in columns):
                raise ValueError(f"judged_columns.{name}.columns should be a list of one text or more")

    @property
    def judge_model(self) -> str:
        """The judge's model, or an empty text."""
        return next(
            (str(signature["model"]) for signature in self.judged_columns.values() if signature.get("model")), ""
        )

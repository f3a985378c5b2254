"""The inputs of an evaluation: results, perhaps a reference, and their join."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from msgspec import structs

from ragmeter.definition import Metric
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Join
from ragmeter.errors import ColumnError, RagmeterWarning, did_you_mean
from ragmeter.hints import column_option
from ragmeter.io.columns import Typed, check_mapping, missing_column
from ragmeter.io.formats.beir import with_contexts
from ragmeter.io.formats.datasets import listing_signature
from ragmeter.io.join import JoinCounts, Reference, joined, require_qid, rows_of
from ragmeter.io.locations import StorePath, on_disk, same_place
from ragmeter.io.paths import keys_of, split_path
from ragmeter.io.reading import Reading
from ragmeter.io.source import Source, open_source
from ragmeter.io.titles import Role
from ragmeter.io.tools.fields import leads_to_value
from ragmeter.naming import Signature
from ragmeter.table import GOLD_COLUMNS, NUMBER_COLUMNS, QID, Batch, Column, outcome_column

_Result = TypeVar("_Result")
_CONTEXTS, _RETRIEVED = "contexts", "retrieved"
#: Columns that are read for any metric: a row's name, why it failed, its conversation, how long it took.
_OF_EVERY_RUN = (QID, "error", "session_id", *NUMBER_COLUMNS)


@dataclass
class Data:
    """The results and perhaps a reference: their sources and the mapping of their columns.

    `repeated`: several results may have one qid. `keep` are the columns of a data set that are read beside those that
    the metrics need; None reads all. `missing_as_zero`: a question that no result answers counts as one for which
    nothing was retrieved. `rereads`: several passes are to come, so that the reference stays in memory between them.
    """

    results: Source
    reference: Source | None
    mapping: dict[str, str]
    counts: JoinCounts
    repeated: bool = False
    keep: frozenset[str] | None = None
    missing_as_zero: bool = False
    rereads: bool = False
    reading: Reading = Reading()  # noqa: RUF009 - frozen
    kept: dict[str, tuple[object, Any]] = field(default_factory=dict)  # with the state of the files that it is from
    mapping_is_checked: bool = False

    @classmethod
    def open(
        cls,
        results: Any,
        reference: Any = None,
        *,
        columns: Mapping[str, str] | None = None,
        reading: Reading = Reading(),  # noqa: B008 - frozen
        repeated: bool = False,
        keep: frozenset[str] | None = None,
        missing_as_zero: bool = False,
        rereads: bool = False,
    ) -> Data:
        """Open both sources; raises if one is missing."""
        mapping = dict(columns or {})
        check_mapping(mapping)
        gold = None if reference is None else open_source(reference, reading, what="reference")
        how = (repeated, keep, missing_as_zero, rereads, reading)
        data = cls(open_source(results, reading), gold, mapping, JoinCounts(), *how)
        if reference is results or data._is_one_file():
            warnings.warn(
                f"the results and the reference are the same ({data.results.name}): answers that are compared with "
                "themselves are always right; one file that has both is given as the results alone",
                RagmeterWarning,
                stacklevel=3,
            )
        return data

    def join_counts(self) -> Join:
        """How many rows were matched and unmatched; nothing without a reference."""
        return Join() if self.reference is None else self.counts.kept()

    def notes(self) -> list[str]:
        """How the data was understood, where that could be otherwise; known when it was read."""
        return notes_of(*(source for source in (self.results, self.reference) if source is not None))

    def _is_one_file(self) -> bool:
        """Whether results and reference are one file, or two with the same content."""
        results, reference = self.results.path, None if self.reference is None else self.reference.path
        if results is None or reference is None:
            return False
        if same_place(results, reference):
            return True
        if isinstance(results, StorePath) or isinstance(reference, StorePath):
            return False
        if not (results.is_file() and reference.is_file()):  # a pipe can be read only once
            return False
        if results.stat().st_size != reference.stat().st_size:
            return False
        return bool(file_signature(results)["sha256"] == file_signature(reference)["sha256"])

    def batches(self, metrics: Sequence[Metric] = (), more: Mapping[str, str] | None = None) -> Iterator[Batch]:
        """The joined rows; raises before the first if a column that a metric needs is missing.

        `more` are other columns that are needed, each with the metric that needs it.
        """
        self.counts = JoinCounts()
        wanted = self.wanted(metrics)
        if self.reference is None:
            rows = rows_of(Typed(self.results, "both", self.mapping, wanted), repeated=self.repeated)
        else:
            results = Typed(self.results, "results", self.mapping, wanted)
            reference = Typed(self.reference, "reference", self.mapping, wanted)
            how = {"repeated": self.repeated, "missing_as_zero": self.missing_as_zero}
            rows = joined(results, reference, self._gold(reference, results), self.counts, **how)
            if _CONTEXTS in {*(name for metric in metrics for name in metric.needs_of_table), *(more or {})}:
                rows = self._with_contexts(rows, results, self.reference)
        first = True
        for batch in rows:
            if first:
                self._check(batch, metrics, more or {})
                first = False
            yield batch

    def _once(self, name: str, state: Callable[[], object], read: Callable[[], _Result]) -> _Result:
        """What every pass has in memory: read again for a later one only if the files that it is from have changed."""
        if not self.rereads:
            return read()
        now = state()
        if name not in self.kept or self.kept[name][0] != now:
            self.kept[name] = now, read()
        result: _Result = self.kept[name][1]
        return result

    def _gold(self, reference: Typed, results: Typed) -> Reference:
        """The reference by qid."""

        def state() -> object:
            return reference.wanted, _state(reference.source)

        return self._once("reference", state, lambda: Reference(reference, results)).for_part()

    def _with_contexts(self, rows: Iterator[Batch], results: Typed, reference: Source) -> Iterator[Batch]:
        """The rows with the texts of what was retrieved, where the reference has them and the results don't."""
        if reference.passages is None:
            return rows
        texts = self._once(
            "texts", lambda: (_state(results.source), _state(reference)), lambda: _retrieved_texts(results, reference)
        )
        return rows if texts is None else with_contexts(rows, texts)

    def head(self, wanted: frozenset[str] | None = None) -> dict[str, Column]:
        """The columns of the joined table with their first cells; the rows of the two files are not joined."""
        results = Typed(self.results, "both" if self.reference is None else "results", self.mapping, wanted)
        columns = dict(next(results.batches()).columns)
        if self.reference is not None:
            reference = Typed(self.reference, "reference", self.mapping, wanted)
            gold = next(reference.batches())
            require_qid(Batch(columns), results, reference)
            require_qid(gold, reference, results)
            own = {name for name, column in columns.items() if name not in GOLD_COLUMNS and any(column)}
            columns |= {name: column for name, column in gold.columns.items() if name not in own}
        return columns

    def late_columns(self, names: Collection[str], limit: int) -> tuple[dict[str, Column], bool]:
        """Those of these columns that begin after the first rows, each as the batch in which it begins has it.

        So many rows of each file are looked at; returned is also whether that was all that could matter.
        """
        columns: dict[str, Column] = {}
        is_whole = True
        role: Role = "both" if self.reference is None else "results"
        parts: list[tuple[Source | None, Role]] = [(self.results, role), (self.reference, "reference")]
        for source, part in parts:
            empty = {name for name in names if name not in columns}
            n_rows = 0
            for batch in () if source is None or not empty else Typed(source, part, self.mapping).batches():
                empty &= set(batch.columns)
                columns |= {name: batch.columns[name] for name in empty if any(batch.columns[name])}
                empty -= set(columns)
                n_rows += len(batch)
                if not empty or n_rows >= limit:
                    is_whole = is_whole and not empty
                    break
        return columns, is_whole

    def first_columns(self, metrics: Sequence[Metric]) -> list[str]:
        """The columns of the joined table, as its first rows have them; raises if one is missing."""
        columns = self.head(self.wanted(metrics))
        self._check(Batch(columns), metrics, {})
        return list(columns)

    def wanted(self, metrics: Sequence[Metric]) -> frozenset[str] | None:
        """The columns to be read of a data set: what the metrics need, what every run has, and what is to be kept."""
        if self.keep is None:
            return None
        needs = {name for metric in metrics for name in (*metric.needs, *map(outcome_column, metric.needs))}
        for column in (column for metric in metrics for column in metric.offline):
            needs |= {column.name, outcome_column(column.name), *map(column.input_name, column.declaration.needs)}
        if self.reference is not None and self.reference.passages is not None:
            needs.add(_RETRIEVED)  # it leads to contexts
        return frozenset({*_OF_EVERY_RUN, *needs, *self.keep})

    def _check(self, batch: Batch, metrics: Sequence[Metric], more: Mapping[str, str]) -> None:
        """Check that the columns in the mapping exist, and those that the metrics need."""
        sources = [source for source in (self.results, self.reference) if source is not None]
        if self.mapping and not self.mapping_is_checked:
            self._check_mapping(sources)
            self.mapping_is_checked = True
        needs = [(needed, metric.name) for metric in metrics for needed in metric.needs_of_table]
        missing = [(needed, by) for needed, by in [*needs, *more.items()] if needed not in batch.columns]
        for needed, wanted_by in missing[:1]:
            gold = needed in GOLD_COLUMNS
            source = sources[-1] if gold else sources[0]
            titles = list(next(source.batches()).columns)
            elsewhere = gold and self.reference is None
            others = [name for name, _ in missing if self.reference is None or (name in GOLD_COLUMNS) is gold]
            raise missing_column(needed, wanted_by, titles, source.name, other_file=elsewhere, missing=others)

    def _check_mapping(self, sources: Sequence[Source]) -> None:
        firsts = [next(source.batches()) for source in sources]
        titles = [title for first in firsts for title in first.columns]
        for name, title in self.mapping.items():
            if title in titles or any(leads_to_value(first, title, "contexts") for first in firsts):
                continue
            within = [first.columns[parts[0]] for first in firsts if (parts := split_path(title, list(first.columns)))]
            reason = f"there is no column {title!r}{did_you_mean(title, titles)}"
            hint = f"the columns are {', '.join(titles)}"
            if within:
                keys = keys_of(within[0])
                reason, hint = f"no row has {title!r}", f"there are {', '.join(keys)}" if keys else "it has no objects"
            raise ColumnError(f"{column_option(name, title)}: {reason}", file=sources[0].name, hint=hint)

    def in_manifest(self, manifest: Manifest, inputs: dict[str, Signature] | None = None) -> Manifest:
        """A manifest that says which inputs there are, and how they were understood. `inputs`: their signature."""
        missing = "zero" if self.missing_as_zero else None
        return structs.replace(manifest, inputs=inputs or self.signature(), columns=self.mapping, missing=missing)

    def signature(self) -> dict[str, Signature]:
        """The signature of the inputs, by their content."""
        sources = {"results": self.results, "reference": self.reference}
        return {role: source_signature(source) for role, source in sources.items() if source is not None}


def _retrieved_texts(results: Typed, reference: Source) -> dict[str, str] | None:
    """The texts of all documents that were retrieved, by their ids; None where the results have contexts, or no ids."""
    assert reference.passages is not None  # noqa: S101 - the caller has looked
    columns = next(results.batches()).columns
    if _CONTEXTS in columns or _RETRIEVED not in columns:
        return None
    ids = {
        document
        for batch in results.batches()
        for documents in batch.columns[_RETRIEVED]
        for document in documents or ()
    }
    texts = reference.passages(ids)
    lacking = f", which lacks {len(ids) - len(texts):,} of them" if len(texts) < len(ids) else ""
    reference.say(f"the contexts are the texts of {len(ids):,} retrieved documents in the corpus{lacking}")
    return texts


def _state(source: Source) -> list[tuple[str, int, int]]:
    """What tells whether a source's files on this machine have been written to since: their sizes and times."""
    if not isinstance(source.path, Path):
        return []
    files = [file.location for file in source.files if isinstance(file.location, Path)]
    if not files:
        files = sorted(source.path.rglob("*")) if source.path.is_dir() else [source.path]
    states = []
    for file in files:
        with suppress(OSError):  # whoever reads it says what is wrong with it
            status = file.stat()
            states.append((str(file), status.st_size, status.st_mtime_ns))
    return states


def notes_of(*sources: Source) -> list[str]:
    """The notes of sources, for a summary."""
    return [note for source in sources for note in source.notes]


def source_signature(source: Source) -> Signature:
    """What identifies a source: the content of a file, the listing of a data set."""
    if source.path is None:
        return {"object": source.name}
    if source.files:
        return listing_signature(source.name, source.files, source.path)
    return file_signature(on_disk(source.path, "a signature"))


def file_signature(path: Path) -> Signature:
    """What identifies an input file: its name, size and content."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"file": path.name, "bytes": path.stat().st_size, "sha256": digest}

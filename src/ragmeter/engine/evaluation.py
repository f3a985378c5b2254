"""What a notebook calls, and what the command line is made of."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace as with_changes
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow.parquet as pq
from msgspec import structs

from ragmeter.definition import Metric
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary
from ragmeter.documents.usage import Calls
from ragmeter.embedders.embedder import Embedders
from ragmeter.engine.added_metrics import Addition, extend
from ragmeter.engine.default_metrics import choose_by_columns, models_of
from ragmeter.engine.executors import Auto, Executor, Threads, executor_of, opened
from ragmeter.engine.judging.parts import judge_and_score, judged_columns
from ragmeter.engine.judging.setup import JudgeResult, JudgeSetup, journals_of
from ragmeter.engine.kept_run import check_scores, described, keep_run, score_into, signature
from ragmeter.engine.metric_choice import Embedding, MetricLike, choose_metrics
from ragmeter.engine.parts.counts import Counted
from ragmeter.engine.parts.driver import (
    PartsPlan,
    join_summary,
    keep_parts,
    score_in_parts,
    skipped_parts,
)
from ragmeter.engine.parts.sources import is_many, is_slow, only_parts
from ragmeter.engine.plan import Plan, Workers, read_missing
from ragmeter.engine.results import UNNAMED, Evaluation
from ragmeter.engine.row_reader import RowReader
from ragmeter.engine.scoring import watched
from ragmeter.errors import InputError, Interrupted, UnknownNameError, UsageError
from ragmeter.hints import option
from ragmeter.io.data import Data
from ragmeter.io.limits import MAX_FIELD
from ragmeter.io.locations import Location, location
from ragmeter.io.progress import Progress, progress_bar, show_notice
from ragmeter.io.reading import Reading
from ragmeter.io.source import stem
from ragmeter.io.write import RUNS, check_writable
from ragmeter.naming import Signature
from ragmeter.runs.layout import MANIFEST, PARTS, ROWS
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.paid_replies import hold_for_new_run
from ragmeter.runs.parts import RowsParts
from ragmeter.runs.places import hold
from ragmeter.runs.run_place import RunPlace
from ragmeter.runs.table_summary import summarise_table
from ragmeter.runs.temporary_run import TemporaryRun
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.table import Batch

if TYPE_CHECKING:
    from ragmeter.judges.asking.judge import Judge

#: What a process is told that waits for the place of a run.
EVALUATES = "evaluates results"


def evaluate(
    results: Any,
    reference: Any = None,
    *,
    metrics: str | Iterable[MetricLike] | None = None,
    language: str | None = None,
    doc_id_pattern: str | None = None,
    embedding_model: str | None = None,
    embedding_base_url: str | None = None,
    embedding_prefix: str | None = None,
    support_model: str | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    quotes: bool = True,
    delimiter: str | None = None,
    decimal: str | None = None,
    max_field: float = MAX_FIELD,
    split: str | None = None,
    missing: Literal["zero"] | None = None,
    interval: str = AUTO,
    cluster: str | None = AUTO,
    level: float = 0.95,
    seed: int = 0,
    judge: Judge | None = None,
    retry_failed: bool = False,
    run: str | None = None,
    output_dir: str | Location = RUNS,
    replace: bool = False,
    keep_columns: str | Iterable[str] = (),
    engine: Any = "auto",
    skip_bad_parts: bool = False,
    progress: Progress = None,
) -> Evaluation:
    """Score results against references and summarise the scores.

    Args:
        results: the answers: a path or an address (`s3://`, `gs://`, `https://`), a list of dicts, or a pandas, polars
            or Arrow frame. A path may be a folder's, or a pattern.
        reference: the references, of the same kinds, joined by `qid`. One of the two alone may hold both.
        metrics: names, separated by commas or in a list, dotted paths, or scorers of your own. Without it, what the
            columns allow is measured, and a note of the summary says what that is.
        language: the texts' language, by code or name, for metrics that stem words.
        doc_id_pattern: a regular expression whose first group is the document's id in a chunk's id.
        embedding_model: the model of metrics of meaning, see `semantic_similarity`.
        embedding_base_url: the endpoint of an `openai:NAME` embedding model.
        embedding_prefix: a text that is put before each text that is embedded.
        support_model: the folder or the hub's name of the classifier behind metrics with `judge=encoder`.
        columns: the table's names and yours: `{"answer": "generated_answer"}`.
        encoding: the encoding of text files; by default UTF-8.
        quotes: whether quotation marks in delimited files quote.
        delimiter: the character between cells; by default the file's ending says which.
        decimal: the decimal mark of numbers in files, "." or ",".
        max_field: the most that one row of a file may take, in MiB.
        split: a part of a BEIR folder or of a `DatasetDict`.
        missing: "zero" counts a question of the reference that no result answers as one for which nothing was
            retrieved, as trec_eval's -c does; by default it is in no mean.
        interval: "auto" (Student's, Wilson's for scores of 0 and 1), "t", "wilson", "bootstrap", "bca"
            or "anytime" (which holds however often one looks).
        cluster: the column whose values tell which rows belong together; None: all are apart; "auto": conversations
            of several turns, and questions that were asked several times.
        level: the confidence level of intervals.
        seed: the seed of the bootstrap.
        judge: the language model behind metrics such as `llm_correct`: `Judge(model="gpt-4o")`. Its replies are kept
            in `output_dir/judge.journal.sqlite`, so that the same answer is paid for once.
        retry_failed: ask the judge again about rows with no score.
        run: a name to keep the run under, as `output_dir/run`; {n} in it is the next free number, {date} and {time}
            say when. An older run of that name is replaced; one with a judge's replies only if this judge gives them
            again from the journal, or `replace` is true.
        output_dir: the folder of runs.
        replace: replace an older run even if a judge's replies in it are lost.
        keep_columns: columns of a folder, a pattern or a store to keep besides those that the metrics need; "all".
        engine: who computes: "auto" (threads, or where there is much to do, a process for each core), "threads",
            "local" (processes; also for metrics of yours in Python code), "local:3" (three of them), a Dask cluster
            ("tcp://host:8786") or a Dask client. The numbers are the same.
        skip_bad_parts: leave out parts that can't be read; the summary names them.
        progress: True shows a bar in a notebook or a terminal; a function is called with each number of rows read.
    """
    workers = Workers(executor_of(engine), skip_bad_parts)
    confidence = Confidence(interval, cluster, level, seed)
    if workers.needs_parts and run is None:
        raise UsageError("a cluster and skip_bad_parts write a run in parts", hint=f"name it with {option('run')}")
    embedding = Embedding(embedding_model, embedding_base_url, embedding_prefix)
    named = {"language": language, "support_model": support_model, "doc_id": doc_id_pattern}
    data = Data.open(
        results,
        reference,
        columns=columns,
        reading=Reading(encoding, quotes, delimiter, max_field, split, decimal),
        missing_as_zero=read_missing(missing, reference),
    )
    if metrics is None:
        metrics = choose_by_columns(data, models_of(judge, embedding_model)).metrics
    chosen = choose_metrics(metrics, embedding=embedding, jurors=list(getattr(judge, "jurors", ())), **named)
    folder = location(output_dir)
    setup = JudgeSetup(judge, journals_of(folder), retry_failed, progress)
    plan = Plan.of(data, chosen, setup, confidence, workers, keep_columns=keep_columns)
    if run is None:
        return carry_out(plan)
    with RunPlace.named(run, folder, EVALUATES, asks=judge is not None, replace=replace) as place:
        return carry_out(plan.at(place))


def carry_out(plan: Plan) -> Evaluation:
    """Do what was planned; without a place, the run is not kept."""
    if plan.place is None:
        return _evaluate(plan)
    path = plan.place.path
    if isinstance(path, Path):
        check_writable(path.parent)
    with hold_for_new_run(plan.place, plan.keeps_verdicts):
        if plan.workers.needs_parts or (is_many(plan.data, plan.metrics) and not plan.columns):
            return _evaluate_in_parts(plan, path)
        return _evaluate(plan)


def _evaluate(plan: Plan) -> Evaluation:
    """Judge and score what was read, into a run's folder or into memory."""
    filled = plan.judging.fill_columns(plan.columns, plan.rows) if plan.columns else JudgeResult()
    progress = plan.judging.progress
    is_heard = callable(progress) and filled.batches is not None  # a function hears of each row once
    with progress_bar(None if is_heard else progress, "scoring", total=plan.rows.n_rows) as advance:
        rows = watched(filled.joined(plan.rows()), advance)
        how: dict[str, Any] = {
            "manifest": lambda signed: filled.in_manifest(plan.data.in_manifest(signed)),
            "summary": lambda scored: filled.in_summary(_of_data(plan.data, scored)),
            "confidence": plan.confidence,
            "executor": plan.workers.executor,
            "judging": filled.calls,
        }
        if plan.place is not None:
            return keep_run(plan.place.path, rows, plan.metrics, **how)
        path = plan.data.results.path
        return score_in_memory(UNNAMED if path is None else stem(path), rows, plan.metrics, **how)


def _evaluate_in_parts(plan: Plan, path: Location) -> Evaluation:
    """Have workers score the parts of the results; where a judge is asked, it is this process that asks."""
    assert plan.place is not None  # noqa: S101 - parts are files of a run
    skips, lasts = plan.workers.skip_bad_parts, plan.place.lasts
    judged = judged_columns(plan.judging, plan.columns)
    first_columns = plan.readable.first_columns(plan.metrics)
    parts = PartsPlan.of(plan.data, plan.metrics, path, first_columns, judged, lasts=lasts)
    try:
        with ThreadPoolExecutor(1) as beside, opened(_executor(plan)) as executor:
            inputs = beside.submit(plan.data.signature)
            parts.prepare(executor, skip_bad_parts=skips)
            if len(parts.parts) == 1 and not plan.workers.needs_parts:
                return _evaluate(plan)
            if plan.columns:
                rows = _rows_of_parts(plan, parts)
                counted, filled = judge_and_score(parts, executor, plan.judging, plan.columns, rows)
            else:
                counted = score_in_parts(parts, executor, plan.judging.progress, skip_bad_parts=skips)
                filled = JudgeResult()
        return _keep_parts(plan, parts, counted, filled, path, inputs.result())
    except KeyboardInterrupt:
        if not lasts:
            raise
        raise Interrupted(what_stays="parts that are done are kept") from None
    finally:
        if not lasts:
            parts.remove()


def _executor(plan: Plan) -> Executor:
    """Who scores the parts. Metrics of the user's stay in this process, unless processes were asked for."""
    executor = plan.workers.executor
    if not isinstance(executor, Auto):
        return executor
    chosen = executor.for_many(holds_lock=is_slow(plan.metrics))
    own = [metric.name for metric in plan.metrics if not metric.is_builtin]
    if own and not isinstance(chosen, Threads):
        if plan.judging.progress is True:
            show_notice(
                f"{own[0]} is a metric of yours: threads compute it; {option('engine', 'local')} uses all cores"
            )
        return Threads()
    return chosen


def _rows_of_parts(plan: Plan, parts: PartsPlan) -> RowReader:
    """The rows of the parts that can be read, for the judge."""
    data = only_parts(plan.data, parts.readable, parts.job.reading) if parts.skipped else plan.data
    read = partial(data.batches, plan.metrics, plan.judging.needs(plan.metrics))
    return RowReader(read, sum(parts.counts.values()))


def _keep_parts(
    plan: Plan, done: PartsPlan, counted: Counted, filled: JudgeResult, path: Location, inputs: dict[str, Signature]
) -> Evaluation:
    """Summarise what workers have scored, and make it a run."""
    data, metrics = plan.data, done.job.metrics
    with closing(RowsParts(done.job.folder / PARTS, counted.files())) as rows:
        scored = summarise_table(
            rows,
            metrics,
            counted.not_scored,
            plan.confidence,
            left_out=counted.left_out(),
            qids_differ=True,
            counts=counted.of_rows(done.job),
        )
    check_scores(path, scored)
    of_parts = structs.replace(
        scored,
        run=path.name,
        join=join_summary(done, counted),
        notes=data.notes(),
        parts_skipped=skipped_parts(counted),
        **counted.cautions(),
    )
    manifest = filled.in_manifest(data.in_manifest(signature(metrics, path.name, scored.statistics), inputs))
    run = keep_parts(done, counted, path, manifest, filled.in_summary(of_parts))
    return Evaluation(run, judging=filled.calls)


def _of_data(data: Data, scored: Summary) -> Summary:
    """The summary of scores with what is known of the data once all rows have been read."""
    return structs.replace(scored, join=data.join_counts(), notes=data.notes())


def score_in_memory(
    name: str,
    batches: Iterable[Batch],
    metrics: Sequence[Metric],
    *,
    manifest: Callable[[Manifest], Manifest],
    summary: Callable[[Summary], Summary],
    confidence: Confidence = Confidence(),  # noqa: B008 - it can't be changed
    executor: Executor | None = None,
    judging: Calls | None = None,
) -> Evaluation:
    """Score batches that nobody wants to keep; what a run folder would say of them is known all the same."""
    with tempfile.TemporaryDirectory(prefix="ragmeter-") as scratch:
        path = Path(scratch) / ROWS
        with Embedders() as embedders:
            scored = score_into(batches, metrics, path, confidence, embedders, executor)
        table = pq.read_table(path)
    signed = manifest(signature(metrics, name, scored.statistics))
    return Evaluation(TemporaryRun(name, table, signed, summary(scored)), embedders.used(), judging)


def add_metrics(
    run: RunLike,
    metrics: str | Iterable[MetricLike],
    *,
    language: str | None = None,
    doc_id_pattern: str | None = None,
    embedding_model: str | None = None,
    embedding_base_url: str | None = None,
    embedding_prefix: str | None = None,
    support_model: str | None = None,
    judge: Judge | None = None,
    retry_failed: bool = False,
    output_dir: str | Location = RUNS,
    engine: Any = "auto",
    progress: Progress = None,
    **settings: Any,
) -> Evaluation:
    """Add metrics to a run; of those that it has already, only metrics of your own code are computed again.

    A run that was kept is extended where it is. One that was not stays as it is, and the evaluation that comes back has
    the new metrics. What a judge has filled is in the run: another metric over it asks nothing.

    Args:
        run: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        metrics: the metrics to add.
        retry_failed: ask the judge again about rows with no score.
        settings: any setting that one of the metrics has.

    The other keywords are those of `evaluate()`.
    """
    embedding = Embedding(embedding_model, embedding_base_url, embedding_prefix)
    named = {"language": language, "support_model": support_model, "doc_id": doc_id_pattern}
    chosen = choose_metrics(
        metrics, embedding=embedding, jurors=list(getattr(judge, "jurors", ())), **(named | settings)
    )
    for name in settings:
        if not any(name in metric.defaults for metric in chosen):
            known = sorted({setting for metric in chosen for setting in metric.defaults})
            raise UnknownNameError("keyword", name, known, hint="it is no setting of any of these metrics")
    setup = JudgeSetup(judge, None, retry_failed, progress)
    return add(Addition.of(find_run(run, output_dir), chosen, setup, executor_of(engine), output_dir))


def add(addition: Addition) -> Evaluation:
    """Add the metrics to their run; to a copy of it, if it was not kept."""
    run = addition.run
    is_kept = not isinstance(run, TemporaryRun)
    if not is_kept:
        addition = with_changes(addition, run=TemporaryRun.copy(run))
    path = addition.run.location
    with (
        hold(path, "adds metrics", asks=addition.judging.judge is not None),
        Embedders() as embedders,
    ):
        if not (path / MANIFEST).is_file():
            raise InputError("the run was removed while this waited for it", file=str(path))
        extended, judging = extend(addition, embedders, described(addition.metrics), path if is_kept else None)
        return Evaluation(extended if is_kept else TemporaryRun.copy(extended), embedders.used(), judging)

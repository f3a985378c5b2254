"""What a notebook calls, and what the command line is made of."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow.parquet as pq

from ragmeter import registry
from ragmeter.definition import Metric
from ragmeter.embedders.embedder import Embedders
from ragmeter.embedders.port import default_model
from ragmeter.engine.executors import Executor, ExecutorLike, executor_of
from ragmeter.engine.extending import extend, journal_folder
from ragmeter.engine.judging.columns import Asking, Batches, Filled, journals_of
from ragmeter.engine.judging.parts import judge_and_score, judged_columns
from ragmeter.engine.keeping import check_scores, described, keep_run, results_of, score_into, signature
from ragmeter.engine.parts.counts import Counted
from ragmeter.engine.parts.driver import (
    Plan,
    check_engine,
    join_summary,
    keep_parts,
    score_in_parts,
    skipped_summary,
)
from ragmeter.engine.parts.pools import pool_of
from ragmeter.engine.parts.sources import only_parts, without_bad_files
from ragmeter.engine.results import UNNAMED, Evaluation
from ragmeter.engine.scoring import watched
from ragmeter.errors import InputError, Interrupted, UnknownNameError, UsageError
from ragmeter.hints import option
from ragmeter.io.data import Data
from ragmeter.io.limits import MAX_FIELD
from ragmeter.io.locations import Location, location
from ragmeter.io.source import Reading, checked, stem
from ragmeter.io.write import RUNS, check_writable
from ragmeter.metrics.abstention import MARKS
from ragmeter.metrics.normalize import Language
from ragmeter.registry import BaseScorer
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.runs.layout import MANIFEST, PARTS, ROWS
from ragmeter.runs.numbering import hold_name
from ragmeter.runs.part_summaries import PartSummaries
from ragmeter.runs.places import hold
from ragmeter.runs.replacing import hold_for_new_run
from ragmeter.runs.run import Run
from ragmeter.runs.temporary import TemporaryRun
from ragmeter.show.progress import Progress, progress_bar
from ragmeter.stats.confidence import AUTO, Confidence
from ragmeter.table import Batch

if TYPE_CHECKING:
    from ragmeter.judges.judge import Judge

MetricLike = str | Metric | type[BaseScorer] | BaseScorer


def evaluate(
    results: Any,
    reference: Any = None,
    *,
    metrics: str | Iterable[MetricLike],
    language: str | None = None,
    doc_id_pattern: str | None = None,
    embedding_model: str | None = None,
    embedding_base_url: str | None = None,
    embedding_prefix: str | None = None,
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
    executor: ExecutorLike = "threads",
    engine: Any = None,
    skip_bad_parts: bool = False,
    progress: Progress = None,
) -> Evaluation:
    """Score results against references and summarise the scores.

    `results` and `reference` are paths or addresses (`s3://`, `gs://`, `https://`), lists of dicts, or pandas, polars
    or Arrow frames, joined by `qid`; one of them alone may hold both the answers and the references. A path may be a
    folder's, or a pattern: of such a data set, and of what is in a store, the columns that the metrics need are read,
    and those in `keep_columns`, "all" of them if it says so. `columns` maps the table's names to yours: `{"answer":
    "generated_answer"}`. `max_field` is the most that one row of a file may take, in MiB; `split` names a
    part of a BEIR folder or of a `DatasetDict`. With `missing="zero"`, a question of the reference that no result
    answers counts as one for which nothing was retrieved, as with trec_eval's -c; else it is in no mean.
    `embedding_model`, `embedding_base_url` and `embedding_prefix` are for metrics of meaning, see
    `semantic_similarity`. `interval` is "auto" (Student's, Wilson's for scores of 0 and 1), "t", "wilson", "bootstrap"
    or "bca"; `cluster` names the column whose values tell which rows belong together, None says that all are apart, and
    "auto" takes conversations of several turns and questions that were asked several times. `judge` is the language
    model behind metrics such as `llm_correct`: `Judge(model="gpt-4o")`; its replies are kept in
    `output_dir/judge.journal.sqlite`, so that the same answer is paid for once, and `retry_failed` asks again about
    rows that got no verdict. With `run`, the run is kept as `output_dir/run`; {n} in its name is the next free number,
    {date} and {time} say when. An older run of that name
    is replaced; one with a judge's replies only if this judge gives them again from the journal, or `replace` is true.
    `executor` says who computes: "threads", "processes" (for metrics of yours in Python code), "auto" (the command's:
    processes for `offline_...` and many rows, else threads), or an object with `submit()` as those of
    concurrent.futures; the numbers are the same. `engine` has the results scored in parts, by "threads", by processes
    of this machine ("local:3"), by a Dask cluster ("tcp://host:8786") or by a Dask client; the numbers are the same,
    and the same call goes on after a crash. `skip_bad_parts` leaves out those that can't be read, and the summary names
    them. `progress=True` shows a bar in a notebook or a terminal; a function is called with each number of rows read.
    """
    workers = executor_of(executor)
    confidence = Confidence(interval, cluster, level, seed)
    if engine is not None:
        check_engine(run)
    chosen = with_models(
        choose_metrics(
            metrics,
            language=language,
            doc_id=doc_id_pattern,
            model=embedding_model,
            base_url=embedding_base_url,
            prefix=embedding_prefix,
        )
    )
    reading = Reading(encoding, quotes, delimiter, max_field, split, decimal)
    keep = None if judge is not None else columns_to_keep(keep_columns, confidence)
    data = Data.open(
        results,
        reference,
        columns=columns,
        reading=reading,
        keep=keep,
        missing_as_zero=read_missing(missing, reference),
    )
    folder = location(output_dir)
    asking = Asking(judge, journals_of(folder), retry_failed, progress)
    if run is None:
        return _evaluate(data, chosen, asking, None, confidence, workers)
    if isinstance(folder, Path):
        check_writable(folder)
    judged = without_bad_files(data, checked(reading)) if skip_bad_parts else data
    again = _judged_again(asking, chosen, partial(judged.batches, chosen, asking.needs(chosen)))
    how: dict[str, Any] = {"doing": "evaluates results", "asks": judge is not None}
    with hold_name(run, folder, **how) as name:
        path = folder / name
        with hold_for_new_run(path, **how, replace=replace, judged_again=again):
            if engine is not None:
                scored = _evaluate_in_parts(data, chosen, asking, checked(reading), path, engine, skip_bad_parts)
                return _keep_parts(data, *scored, path, confidence)
            return _evaluate(data, chosen, asking, path, confidence, workers)


def read_missing(missing: str | None, reference: Any) -> bool:
    """Whether questions without a result count as 0."""
    if missing is None:
        return False
    if missing != "zero":
        raise UnknownNameError("value of missing", str(missing), ["zero"])
    if reference is None:
        raise UsageError(f"{option('missing', missing)} has no effect without a reference", hint="leave it out")
    return True


def _judged_again(asking: Asking, metrics: Sequence[Metric], batches: Batches) -> Callable[[Run], bool]:
    """Whether judging these batches gives all that a judge was paid for in an older run."""

    def is_again(run: Run) -> bool:
        from ragmeter.engine.judging.reuse import is_judged_again  # needed only where there is such a run

        return is_judged_again(run, metrics, asking, batches)

    return is_again


def _evaluate_in_parts(
    data: Data,
    metrics: Sequence[Metric],
    asking: Asking,
    reading: Reading,
    path: Location,
    engine: Any,
    skip_bad_parts: bool,
) -> tuple[Plan, Counted, Filled]:
    """Have workers score the parts of the results; where a judge is asked, it is this process that asks."""
    needs = asking.needs(metrics)
    first = without_bad_files(data, reading) if skip_bad_parts else data
    columns = asking.missing(metrics, partial(first.batches, metrics, needs))
    judged = judged_columns(asking, columns)
    plan = Plan.of(data, metrics, reading, path, first.first_columns(metrics), judged)
    try:
        with pool_of(engine) as pool:
            plan.prepare(pool, skip_bad_parts=skip_bad_parts)
            if columns:
                readable = only_parts(data, plan.readable, reading) if plan.skipped else data
                batches = partial(readable.batches, metrics, needs)
                return plan, *judge_and_score(plan, pool, asking.of(path), columns, batches)
            return plan, score_in_parts(plan, pool, asking.progress, skip_bad_parts=skip_bad_parts), Filled()
    except KeyboardInterrupt:
        raise Interrupted(what_stays="parts that are done are kept") from None


def columns_to_keep(names: str | Iterable[str], confidence: Confidence) -> frozenset[str] | None:
    """The columns of a data set that are read whatever the metrics need; None for all of them."""
    given = names.split(",") if isinstance(names, str) else list(names)
    if given == ["all"]:
        return None
    cluster = confidence.cluster if confidence.cluster != AUTO else None
    return frozenset(name.strip() for name in (*given, *MARKS, cluster or "") if name.strip())


def _evaluate(
    data: Data,
    metrics: Sequence[Metric],
    asking: Asking,
    path: Location | None,
    confidence: Confidence,
    executor: Executor,
) -> Evaluation:
    """Judge and score what was read, into a run's folder or into memory."""
    batches = partial(data.batches, metrics, asking.needs(metrics))
    filled = asking.of(path).fill(metrics, batches, data.results.n_rows)
    is_heard = callable(asking.progress) and filled.batches is not None  # a function hears of each row once
    with progress_bar(None if is_heard else asking.progress, "scoring", total=data.results.n_rows) as advance:
        rows = watched(filled.joined(batches()), advance)
        if path is None:
            return _score_in_memory(data, rows, metrics, confidence, filled, executor)
        return keep_run(
            path,
            rows,
            metrics,
            manifest=lambda: {**data.described(), **filled.manifest},
            summary=lambda: {"join": data.join_counts(), **data.noted(), **filled.summary},
            confidence=confidence,
            executor=executor,
            judging=filled.judging,
        )


def _keep_parts(
    data: Data, plan: Plan, counted: Counted, filled: Filled, path: Location, confidence: Confidence
) -> Evaluation:
    """Summarise what workers have scored, and make it a run."""
    metrics = plan.job.metrics
    summaries = PartSummaries(plan.job.folder / PARTS, counted.files())
    how, scores, numbers = summaries.compute(metrics, counted.not_scored, confidence)
    cautions = {**counted.cautions(), **summaries.document_ids(metrics, scores)}
    results = results_of(how, scores, numbers, counted.left_out(), summaries.abstained, cautions)
    check_scores(path, results)
    more = {**data.described(), "statistics": results["statistics"]}
    documents = {"join": join_summary(plan, counted), **data.noted(), **filled.summary, **skipped_summary(counted)}
    summary = {"run": path.name, **results, **documents}
    run = keep_parts(plan, counted, path, signature(metrics, path.name, more | filled.manifest), summary)
    return Evaluation(run, judging=filled.judging)


def _score_in_memory(
    data: Data,
    batches: Iterable[Batch],
    metrics: Sequence[Metric],
    confidence: Confidence,
    filled: Filled,
    executor: Executor,
) -> Evaluation:
    """Score batches that nobody wants to keep; what a run folder would say of them is known all the same."""
    with tempfile.TemporaryDirectory(prefix="ragmeter-") as scratch:
        path = Path(scratch) / ROWS
        with Embedders() as embedders:
            summary = score_into(batches, metrics, path, confidence, embedders, executor)
        table = pq.read_table(path)
    name = UNNAMED if data.results.path is None else stem(data.results.path)
    more = {**data.described(), "statistics": summary["statistics"], **filled.manifest}
    manifest = signature(metrics, name, more)
    run = TemporaryRun(name, table, manifest, {**summary, "join": data.join_counts(), **data.noted(), **filled.summary})
    return Evaluation(run, embedders.used(), filled.judging)


def add_metrics(
    run: RunLike,
    metrics: str | Iterable[MetricLike],
    *,
    language: str | None = None,
    doc_id_pattern: str | None = None,
    embedding_model: str | None = None,
    embedding_base_url: str | None = None,
    embedding_prefix: str | None = None,
    judge: Judge | None = None,
    retry_failed: bool = False,
    output_dir: str | Location = RUNS,
    executor: ExecutorLike = "threads",
    progress: Progress = None,
    **settings: Any,
) -> Evaluation:
    """Add metrics to a run; of those that it has already, only metrics of your own code are computed again.

    `run` is what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`. A run that was kept is extended
    where it is; one that was not stays as it is, and the evaluation that comes back has the new metrics. What a judge
    has filled is in the run: another metric over it asks nothing. `retry_failed` asks again about rows that got no
    verdict. The other keywords are those of `evaluate()`; `settings` are any that one of the metrics has.
    """
    named = {
        "doc_id": doc_id_pattern,
        "model": embedding_model,
        "base_url": embedding_base_url,
        "prefix": embedding_prefix,
    }
    chosen = choose_metrics(metrics, language=language, **(named | settings))
    for name in settings:
        if not any(name in metric.defaults for metric in chosen):
            known = sorted({setting for metric in chosen for setting in metric.defaults})
            raise UnknownNameError("keyword", name, known, hint="it is no setting of any of these metrics")
    folder = find_run(run, output_dir)
    chosen = with_models(chosen, folder.summary()["metrics"])
    is_kept = not isinstance(folder, TemporaryRun)
    if not is_kept:
        folder = TemporaryRun.copy(folder)
    with (
        hold(folder.place, "adds metrics", asks=judge is not None),
        Embedders() as embedders,
    ):
        if not (folder.place / MANIFEST).is_file():
            raise InputError("the run was removed while this waited for it", file=str(folder.place))
        journals = journal_folder(folder, output_dir)
        asking = Asking(judge, journals, retry_failed, progress, folder.place if is_kept else None)
        extended, judging = extend(folder, chosen, described(chosen), embedders, asking, executor_of(executor))
        return Evaluation(extended if is_kept else TemporaryRun.copy(extended), embedders.used(), judging)


def choose_metrics(
    metrics: str | Iterable[MetricLike] | None, *, language: str | None = None, **settings: Any
) -> list[Metric]:
    """The metrics of these names, with the settings that they have and don't say otherwise themselves."""
    language = None if language in (None, "none") else Language.parse(language)
    return registry.get_all(metrics, language=language, **settings)


def with_models(metrics: Sequence[Metric], present: Collection[str] = ()) -> list[Metric]:
    """The metrics with the default embedding model where none was named, except those that a run has already."""
    unnamed = [metric for metric in metrics if _lacks_model(metric) and metric.name not in present]
    if not unnamed:
        return list(metrics)
    model = default_model()
    return list(dict.fromkeys(metric.with_settings(model=model) if metric in unnamed else metric for metric in metrics))


def _lacks_model(metric: Metric) -> bool:
    return any(settings.get("model", "") is None for _, settings in metric.embedded.values())

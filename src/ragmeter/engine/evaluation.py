"""What a notebook calls, and what the command line is made of."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pyarrow.parquet as pq
from msgspec import structs

from ragmeter import registry
from ragmeter.definition import Metric
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary
from ragmeter.embedders.embedder import Embedders
from ragmeter.embedders.port import default_model
from ragmeter.engine.added_metrics import extend, journal_folder
from ragmeter.engine.executors import Executor, ExecutorLike, executor_of
from ragmeter.engine.judging.offline import check_support_models
from ragmeter.engine.judging.parts import judge_and_score, judged_columns
from ragmeter.engine.judging.setup import Batches, JudgeResult, JudgeSetup, journals_of
from ragmeter.engine.kept_run import check_scores, described, keep_run, results_of, score_into, signature
from ragmeter.engine.parts.counts import Counted
from ragmeter.engine.parts.driver import (
    PartsPlan,
    check_engine,
    join_summary,
    keep_parts,
    score_in_parts,
    skipped_parts,
)
from ragmeter.engine.parts.pools import pool_of
from ragmeter.engine.parts.sources import only_parts, without_bad_files
from ragmeter.engine.results import UNNAMED, Evaluation
from ragmeter.engine.scoring import watched, whole_sessions
from ragmeter.errors import InputError, Interrupted, UnknownNameError, UsageError
from ragmeter.hints import option
from ragmeter.io.data import Data
from ragmeter.io.limits import MAX_FIELD
from ragmeter.io.locations import Location, location
from ragmeter.io.reading import Reading, checked
from ragmeter.io.source import stem
from ragmeter.io.write import RUNS, check_writable
from ragmeter.judge_columns import ENCODER, SUPPORT_MODEL
from ragmeter.metrics.abstention import MARKS
from ragmeter.metrics.normalize import Language
from ragmeter.registry import BaseScorer
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.runs.layout import MANIFEST, PARTS, ROWS
from ragmeter.runs.numbering import hold_name
from ragmeter.runs.part_summaries import summarise_parts
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
    executor: ExecutorLike = "threads",
    engine: Any = None,
    skip_bad_parts: bool = False,
    progress: Progress = None,
) -> Evaluation:
    """Score results against references and summarise the scores.

    Args:
        results: the answers: a path or an address (`s3://`, `gs://`, `https://`), a list of dicts, or a pandas, polars
            or Arrow frame. A path may be a folder's, or a pattern.
        reference: the references, of the same kinds, joined by `qid`. One of the two alone may hold both.
        metrics: names, separated by commas or in a list, dotted paths, or scorers of your own.
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
        interval: "auto" (Student's, Wilson's for scores of 0 and 1), "t", "wilson", "bootstrap" or "bca".
        cluster: the column whose values tell which rows belong together; None: all are apart; "auto": conversations
            of several turns, and questions that were asked several times.
        level: the confidence level of intervals.
        seed: the seed of the bootstrap.
        judge: the language model behind metrics such as `llm_correct`: `Judge(model="gpt-4o")`. Its replies are kept
            in `output_dir/judge.journal.sqlite`, so that the same answer is paid for once.
        retry_failed: ask the judge again about rows that got no verdict.
        run: a name to keep the run under, as `output_dir/run`; {n} in it is the next free number, {date} and {time}
            say when. An older run of that name is replaced; one with a judge's replies only if this judge gives them
            again from the journal, or `replace` is true.
        output_dir: the folder of runs.
        replace: replace an older run even if a judge's replies in it are lost.
        keep_columns: columns of a folder, a pattern or a store to keep besides those that the metrics need; "all".
        executor: who computes: "threads", "processes" (for metrics of yours in Python code), "auto" (processes for
            `offline_...` and many rows, else threads), or an object with `submit()` as those of concurrent.futures.
            The numbers are the same.
        engine: score the results in parts, by "threads", by processes of this machine ("local:3"), by a Dask cluster
            ("tcp://host:8786") or a Dask client. The numbers are the same; the same call goes on after a crash.
        skip_bad_parts: leave out parts that can't be read; the summary names them.
        progress: True shows a bar in a notebook or a terminal; a function is called with each number of rows read.
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
            support_model=support_model,
        )
    )
    if engine is not None and (whole := [metric.name for metric in chosen if metric.by_session]):
        raise UsageError(
            f"{whole[0]} is scored over whole conversations, and {option('engine', engine)} scores a table in parts",
            hint="leave one of the two out",
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
    setup = JudgeSetup(judge, journals_of(folder), retry_failed, progress)
    if run is None:
        return _evaluate(data, chosen, setup, None, confidence, workers)
    if isinstance(folder, Path):
        check_writable(folder)
    judged = without_bad_files(data, checked(reading)) if skip_bad_parts else data
    again = _judged_again(setup, chosen, partial(judged.batches, chosen, setup.needs(chosen)))
    doing, asks = "evaluates results", judge is not None
    with hold_name(run, folder, doing, asks=asks) as name:
        path = folder / name
        with hold_for_new_run(path, doing, asks=asks, replace=replace, judged_again=again):
            if engine is not None:
                scored = _evaluate_in_parts(data, chosen, setup, checked(reading), path, engine, skip_bad_parts)
                return _keep_parts(data, *scored, path, confidence)
            return _evaluate(data, chosen, setup, path, confidence, workers)


def read_missing(missing: str | None, reference: Any) -> bool:
    """Whether questions without a result count as 0."""
    if missing is None:
        return False
    if missing != "zero":
        raise UnknownNameError("value of missing", str(missing), ["zero"])
    if reference is None:
        raise UsageError(f"{option('missing', missing)} has no effect without a reference", hint="leave it out")
    return True


def _judged_again(setup: JudgeSetup, metrics: Sequence[Metric], batches: Batches) -> Callable[[Run], bool]:
    """Whether judging these batches gives all that a judge was paid for in an older run."""

    def is_again(run: Run) -> bool:
        from ragmeter.engine.judging.reuse import is_judged_again  # needed only where there is such a run

        return is_judged_again(run, metrics, setup, batches)

    return is_again


def _evaluate_in_parts(
    data: Data,
    metrics: Sequence[Metric],
    setup: JudgeSetup,
    reading: Reading,
    path: Location,
    engine: Any,
    skip_bad_parts: bool,
) -> tuple[PartsPlan, Counted, JudgeResult]:
    """Have workers score the parts of the results; where a judge is asked, it is this process that asks."""
    needs = setup.needs(metrics)
    first = without_bad_files(data, reading) if skip_bad_parts else data
    columns = setup.missing(metrics, partial(first.batches, metrics, needs))
    judged = judged_columns(setup, columns)
    plan = PartsPlan.of(data, metrics, reading, path, first.first_columns(metrics), judged)
    try:
        with pool_of(engine) as pool:
            plan.prepare(pool, skip_bad_parts=skip_bad_parts)
            if columns:
                readable = only_parts(data, plan.readable, reading) if plan.skipped else data
                batches = partial(readable.batches, metrics, needs)
                return plan, *judge_and_score(plan, pool, setup.of(path), columns, batches)
            return plan, score_in_parts(plan, pool, setup.progress, skip_bad_parts=skip_bad_parts), JudgeResult()
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
    setup: JudgeSetup,
    path: Location | None,
    confidence: Confidence,
    executor: Executor,
) -> Evaluation:
    """Judge and score what was read, into a run's folder or into memory."""
    batches = _batches_for(data, metrics, setup)
    filled = setup.of(path).fill(metrics, batches, data.results.n_rows)
    is_heard = callable(setup.progress) and filled.batches is not None  # a function hears of each row once
    with progress_bar(None if is_heard else setup.progress, "scoring", total=data.results.n_rows) as advance:
        rows = watched(filled.joined(batches()), advance)
        if path is None:
            name = UNNAMED if data.results.path is None else stem(data.results.path)
            inputs = Inputs(name, data.in_manifest, partial(_of_data, data))
            return score_in_memory(rows, metrics, inputs, filled=filled, confidence=confidence, executor=executor)
        return keep_run(
            path,
            rows,
            metrics,
            manifest=lambda signed: filled.in_manifest(data.in_manifest(signed)),
            summary=lambda scored: filled.in_summary(_of_data(data, scored)),
            confidence=confidence,
            executor=executor,
            judging=filled.calls,
        )


def _batches_for(data: Data, metrics: Sequence[Metric], setup: JudgeSetup) -> Batches:
    """The batches that these metrics are computed on."""

    def batches() -> Iterable[Batch]:
        return whole_sessions(data.batches(metrics, setup.needs(metrics)), metrics)

    return batches


def _keep_parts(
    data: Data, plan: PartsPlan, counted: Counted, filled: JudgeResult, path: Location, confidence: Confidence
) -> Evaluation:
    """Summarise what workers have scored, and make it a run."""
    metrics = plan.job.metrics
    parts = summarise_parts(plan.job.folder / PARTS, counted.files(), metrics, counted.not_scored, confidence)
    scored = results_of(parts.confidence, parts.metrics, parts.numbers, counted.left_out())
    check_scores(path, scored)
    of_parts = structs.replace(
        scored,
        run=path.name,
        abstained=parts.abstained,
        document_ids=parts.document_ids,
        join=join_summary(plan, counted),
        notes=data.notes(),
        parts_skipped=skipped_parts(counted),
        **counted.cautions(),
    )
    manifest = filled.in_manifest(data.in_manifest(signature(metrics, path.name, scored.statistics)))
    run = keep_parts(plan, counted, path, manifest, filled.in_summary(of_parts))
    return Evaluation(run, judging=filled.calls)


def _of_data(data: Data, scored: Summary) -> Summary:
    """The summary of scores with what is known of the data once all rows have been read."""
    return structs.replace(scored, join=data.join_counts(), notes=data.notes())


@dataclass(frozen=True)
class Inputs:
    """What a run that is not kept is called, and what its manifest and its summary say of its inputs.

    The latter is known when all is read.
    """

    name: str
    manifest: Callable[[Manifest], Manifest]
    summary: Callable[[Summary], Summary] = lambda scored: scored


def score_in_memory(
    batches: Iterable[Batch],
    metrics: Sequence[Metric],
    inputs: Inputs,
    *,
    filled: JudgeResult,
    confidence: Confidence = Confidence(),  # noqa: B008 - it can't be changed
    executor: Executor | None = None,
) -> Evaluation:
    """Score batches that nobody wants to keep; what a run folder would say of them is known all the same."""
    with tempfile.TemporaryDirectory(prefix="ragmeter-") as scratch:
        path = Path(scratch) / ROWS
        with Embedders() as embedders:
            scored = score_into(batches, metrics, path, confidence, embedders, executor)
        table = pq.read_table(path)
    manifest = filled.in_manifest(inputs.manifest(signature(metrics, inputs.name, scored.statistics)))
    summary = filled.in_summary(inputs.summary(scored))
    return Evaluation(TemporaryRun(inputs.name, table, manifest, summary), embedders.used(), filled.calls)


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
    executor: ExecutorLike = "threads",
    progress: Progress = None,
    **settings: Any,
) -> Evaluation:
    """Add metrics to a run; of those that it has already, only metrics of your own code are computed again.

    A run that was kept is extended where it is. One that was not stays as it is, and the evaluation that comes back has
    the new metrics. What a judge has filled is in the run: another metric over it asks nothing.

    Args:
        run: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        metrics: the metrics to add.
        retry_failed: ask the judge again about rows that got no verdict.
        settings: any setting that one of the metrics has.

    The other keywords are those of `evaluate()`.
    """
    named = {
        "doc_id": doc_id_pattern,
        "model": embedding_model,
        "base_url": embedding_base_url,
        "prefix": embedding_prefix,
    }
    chosen = choose_metrics(metrics, language=language, support_model=support_model, **(named | settings))
    for name in settings:
        if not any(name in metric.defaults for metric in chosen):
            known = sorted({setting for metric in chosen for setting in metric.defaults})
            raise UnknownNameError("keyword", name, known, hint="it is no setting of any of these metrics")
    folder = find_run(run, output_dir)
    chosen = with_models(chosen, folder.metrics())
    is_kept = not isinstance(folder, TemporaryRun)
    if not is_kept:
        folder = TemporaryRun.copy(folder)
    with (
        hold(folder.location, "adds metrics", asks=judge is not None),
        Embedders() as embedders,
    ):
        if not (folder.location / MANIFEST).is_file():
            raise InputError("the run was removed while this waited for it", file=str(folder.location))
        journals = journal_folder(folder, output_dir)
        setup = JudgeSetup(judge, journals, retry_failed, progress, folder.location if is_kept else None)
        extended, judging = extend(folder, chosen, described(chosen), embedders, setup, executor_of(executor))
        return Evaluation(extended if is_kept else TemporaryRun.copy(extended), embedders.used(), judging)


def choose_metrics(
    metrics: str | Iterable[MetricLike] | None,
    *,
    language: str | None = None,
    support_model: str | None = None,
    **settings: Any,
) -> list[Metric]:
    """The metrics of these names, with the settings that they have and don't say otherwise themselves."""
    language = None if language in (None, "none") else Language.parse(language)
    chosen = registry.get_all(metrics, language=language, **settings)
    return chosen if support_model is None else _with_support_model(chosen, support_model)


def _with_support_model(metrics: Sequence[Metric], model: str) -> list[Metric]:
    """The metrics with this support model, where one judges them and their names say no other."""
    judged = [metric for metric in metrics if metric.settings.get("judge") == ENCODER]
    if not judged:
        able = [metric for metric in metrics if metric.accepts("judge", ENCODER)]
        named = able[0].with_settings(judge=ENCODER).name if able else f"faithfulness[judge={ENCODER}]"
        raise UsageError(
            f"{option(SUPPORT_MODEL, model)} has no effect on {', '.join(metric.name for metric in metrics)}",
            hint=f"it judges metrics such as {named}; write that, or leave it out",
        )
    return list(
        dict.fromkeys(
            metric.with_settings(support_model=model)
            if metric in judged and metric.settings[SUPPORT_MODEL] is None
            else metric
            for metric in metrics
        )
    )


def with_models(metrics: Sequence[Metric], present: Collection[str] = ()) -> list[Metric]:
    """The metrics with the default embedding model where none was named, except those that a run has already.

    A support model that was not named, or is none, is an error.
    """
    check_support_models([metric for metric in metrics if metric.name not in present])
    unnamed = [metric for metric in metrics if _lacks_model(metric) and metric.name not in present]
    if not unnamed:
        return list(metrics)
    model = default_model()
    return list(dict.fromkeys(metric.with_settings(model=model) if metric in unnamed else metric for metric in metrics))


def _lacks_model(metric: Metric) -> bool:
    return any(settings.get("model", "") is None for _, settings in metric.embedded.values())

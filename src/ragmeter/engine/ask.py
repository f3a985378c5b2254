"""Ask a live system the questions of a dataset, and score its answers: `ragmeter ask`."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from msgspec import structs

from ragmeter.definition import Metric
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary
from ragmeter.effects.caller import Failure
from ragmeter.effects.calls import Limits
from ragmeter.effects.patience import GIVE_UP_AFTER
from ragmeter.effects.rounds import Reuse
from ragmeter.effects.signals import signal_of
from ragmeter.engine.evaluation import MetricLike, choose_metrics, with_models
from ragmeter.engine.judging.offline import with_offline
from ragmeter.engine.judging.setup import JudgeSetup
from ragmeter.engine.kept_run import keep_run
from ragmeter.engine.questions import Dataset
from ragmeter.engine.results import Evaluation
from ragmeter.engine.results_file import write_results
from ragmeter.engine.scoring import fill_embedded, score_batch, whole_sessions
from ragmeter.errors import AllFailedError, InputError, Interrupted, RagmeterWarning, UsageError
from ragmeter.hints import by_caller, option, parameter
from ragmeter.io.cells import as_text
from ragmeter.io.columns import missing_column
from ragmeter.io.data import notes_of, source_signature
from ragmeter.io.limits import MAX_FIELD
from ragmeter.io.locations import location, on_disk
from ragmeter.io.names import limited_name, plain_name
from ragmeter.io.reading import Reading
from ragmeter.io.source import Source, stem
from ragmeter.io.write import RUNS, check_writable, dumps
from ragmeter.runs.numbering import hold_name
from ragmeter.runs.replacing import hold_for_new_run, refuse_failed
from ragmeter.runs.run import Run
from ragmeter.runs.status import Status
from ragmeter.runs.writer import NewRun
from ragmeter.show.progress import Progress, both, progress_bar, show_notice
from ragmeter.show.tabular import html_lines
from ragmeter.table import NUMBER_COLUMNS, PARTIAL_ANSWER, RETRIEVED_SCORES, SKIPPED_BUDGET, Batch
from ragmeter.targets.opening import open_target
from ragmeter.targets.port import Answer, Question, Target
from ragmeter.targets.replies import Answers, Replies, failures, number_columns, own_columns
from ragmeter.targets.replies import ask as ask_all

if TYPE_CHECKING:
    from ragmeter.judges.judge import Judge

_ANSWERED = ("answer", "retrieved", "contexts", RETRIEVED_SCORES, *NUMBER_COLUMNS, PARTIAL_ANSWER)


@dataclass(frozen=True, eq=False, repr=False)
class Service(Evaluation):
    """What `ask` returns: an evaluation, and what asking took."""

    replies: Replies = field(kw_only=True)

    @classmethod
    def of(cls, evaluation: Evaluation, replies: Replies) -> Self:
        """An evaluation of answers that were just asked for."""
        return cls(evaluation.run, evaluation.embeddings, evaluation.judging, replies=replies)

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation, which this object is."""
        return self

    def _repr_html_(self) -> str:
        failed = sum(self.replies.causes().values())
        unanswered = f", without an answer: {failed:,}" if failed else ""
        return super()._repr_html_() + html_lines(f"questions: {len(self.replies.in_order):,}{unanswered}")


def ask(
    dataset: Any,
    target: Target | Callable[..., Any] | object,
    *,
    metrics: str | Iterable[MetricLike] | None = None,
    columns: Mapping[str, str] | None = None,
    encoding: str | None = None,
    quotes: bool = True,
    delimiter: str | None = None,
    decimal: str | None = None,
    max_field: float = MAX_FIELD,
    split: str | None = None,
    run: str | None = None,
    output_dir: str | Path = RUNS,
    output: str | Path | None = None,
    workers: int = 4,
    timeout: float = 60.0,
    limit: int | None = None,
    repeats: int = 1,
    retries: int = 3,
    give_up_after: float = GIVE_UP_AFTER,
    max_calls: int | None = None,
    budget: float | None = None,
    allow_failures: bool = False,
    replace: bool = False,
    resume: bool = False,
    retry_failed: bool = False,
    language: str | None = None,
    doc_id_pattern: str | None = None,
    fallback: str | None = None,
    embedding_model: str | None = None,
    embedding_base_url: str | None = None,
    embedding_prefix: str | None = None,
    support_model: str | None = None,
    judge: Judge | None = None,
    progress: Progress = None,
) -> Service:
    """Ask every question of the dataset, score the answers, and keep the run as `output_dir/run`.

    A run that was interrupted goes on where it was, if its target is still the same; a run that is complete is asked
    again from the beginning. How many answers are from when is printed. Where questions fail, a warning says how many
    and why. Where all do, it is an error, and nothing is written.

    Args:
        dataset: the questions: a path, a list of dicts, or a frame.
        target: a function or a generator of the question, a runnable, an engine, a retriever or a pipeline of
            LangChain, LlamaIndex or Haystack, an object with `query(question)`, an address (`http://...`), a model
            (`openai:NAME`), a dotted path (`mypkg.rag:pipeline`), or what `open_target()` made of one of these.
        split: the part of a dataset that has several: of a BEIR folder, or of a `DatasetDict`.
        run: the run's name; by default it is made of the names of dataset and target.
        output: a `results.json` to write as well.
        workers: how many questions are under way at once.
        timeout: seconds for each question.
        limit: ask only the first questions; such a run says so, and replaces a whole one only with `replace`.
        repeats: how often each question is asked; `ragmeter.repeats()` says how much the answers vary.
        retries: how often a question that failed is asked again.
        give_up_after: seconds without any answer after which the run stops; the same call goes on with it.
        max_calls: the most calls to make, retries included.
        budget: the most dollars that answers of a model may cost.
        allow_failures: keep a run in which all questions failed, and don't warn; it replaces no run with answers.
        replace: ask a complete run again even if a judge's replies in it are lost.
        resume: use the answers of a complete run again, and ask what is missing.
        retry_failed: ask only for rows of a complete run that failed.
        fallback: phrases that say nothing was found, separated by `|`, for metrics that look for them.
        judge: the language model behind metrics such as `llm_correct`.
        progress: True shows a bar in a notebook or a terminal; a function is called with each number of questions.

    The other keywords are those of `evaluate()`.
    """
    chosen = with_models(
        choose_metrics(
            metrics,
            language=language,
            doc_id=doc_id_pattern,
            fallback=fallback,
            model=embedding_model,
            base_url=embedding_base_url,
            prefix=embedding_prefix,
            support_model=support_model,
        )
    )
    output_dir = on_disk(location(output_dir), "asking a system")
    system = open_target(target, timeout=timeout)
    _check_budget(budget, system)
    reading = Reading(encoding, quotes, delimiter, max_field, split, decimal)
    data = Dataset.read(dataset, reading, columns or {}, repeats, limit)
    setup = JudgeSetup(judge, Path(output_dir), retry_failed, progress)
    _check_needs(data.batches[0], chosen, setup.needs(chosen), data.source)
    reuse = Reuse(resume, retry_failed)
    wanted_name = default_name(data.source, system, limit) if run is None else run
    limits = Limits(workers, retries, max_calls, budget, give_up_after)
    with ExitStack() as stack:
        doing = "asks questions"
        name = stack.enter_context(hold_name(wanted_name, Path(output_dir), doing, asks=True, latest=reuse.wanted))
        path = Path(output_dir) / name
        _check_places(data.source, path, None if output is None else Path(output))
        _rehearse(data.batches[0], chosen)
        shown = setup.check(chosen, lambda: data.batches, [*data.batches[0].columns, *_ANSWERED])
        stack.enter_context(
            hold_for_new_run(
                path,
                doing,
                asks=True,
                replace=replace,
                limited=data.is_limited and not replace,
                judged_again=lambda run: reuse.wanted and _is_judged_again(run, chosen, setup, data),
                instead="" if reuse.wanted else f"; {by_caller('--resume', 'resume=True')} uses its answers",
            )
        )
        journal = Path(output_dir) / f"{name}.journal.sqlite"
        answers = stack.enter_context(Answers(journal, name, system, data.questions, reuse))
        replies = _asked(system, data, path, answers, limits, progress)
        _check_answers(replies, path, allow_failures=allow_failures)
        _warn_of_retriever(replies, chosen)

        def complete(evaluation: Evaluation) -> None:
            if output is not None:
                write_results(Path(output), evaluation)
            answers.finish()

        try:
            evaluation = _scored(path, data, replies, system, chosen, setup, shown, complete)
        except KeyboardInterrupt as stop:
            if answers.finished:
                raise
            raise Interrupted(signal_of(stop)) from None
    return Service.of(evaluation, replies)


def _is_judged_again(run: Run, metrics: Sequence[Metric], setup: JudgeSetup, data: Dataset) -> bool:
    """Whether judging the answers of a run once more gives all that its judge was paid for."""
    from ragmeter.engine.judging.reuse import is_judged_again  # needed only where there is such a run

    return is_judged_again(run, metrics, setup, lambda: data.batches, _ANSWERED)


def _asked(target: Target, data: Dataset, path: Path, answers: Answers, limits: Limits, progress: Progress) -> Replies:
    """Ask all questions, and print how the answers and the dataset are to be understood."""
    with (
        progress_bar(progress, "asking", "questions", len(data.questions)) as advance,
        Status(path, "asking questions", len(data.questions), answers.spent) as status,
    ):
        replies = ask_all(target, data.questions, limits, answers, both(advance, status.advance), watched_by(status))
    if replies.notice:
        show_notice(f"{path.name}: {replies.notice}")
    for note in data.source.notes:
        show_notice(note)
    return replies


def _scored(
    path: Path,
    data: Dataset,
    replies: Replies,
    target: Target,
    metrics: Sequence[Metric],
    setup: JudgeSetup,
    shown: Collection[str],
    complete: Callable[[Evaluation], None],
) -> Evaluation:
    """Judge and score the answers, and keep the run; `complete` ends what belongs to it.

    `shown` are the columns that the judge is shown.
    """
    needed = {*shown, *(need for metric in metrics for need in (*metric.needs, *metric.needs_of_table))}
    own = own_columns(replies.in_order, data.batches[0].columns)
    numbers = number_columns(replies.in_order, own)

    def answered() -> Iterable[Batch]:
        return whole_sessions(_answered(data.batches, replies.in_order, needed, own, numbers), metrics)

    filled = setup.of(path).fill(metrics, answered, len(data.questions))

    def manifest(signed: Manifest) -> Manifest:
        asked = structs.replace(
            signed,
            inputs={"dataset": source_signature(data.source)},
            target=target.signature(),
            effort=replies.effort,
            repeats=data.repeats if data.repeats > 1 else None,
            limit=data.limit(),
        )
        return filled.in_manifest(asked)

    def summary(scored: Summary) -> Summary:
        asked = structs.replace(
            scored,
            usage=replies.usage,
            causes=replies.causes(),
            reused_answers=replies.notice,
            limit=data.limit(),
            notes=notes_of(data.source),
        )
        return filled.in_summary(asked)

    return keep_run(
        path,
        filled.joined(answered()),
        metrics,
        manifest=manifest,
        summary=summary,
        judging=filled.calls,
        numbers=[own[key] for key in sorted(numbers)],
        complete=complete,
    )


def watched_by(status: Status) -> Callable[[Question, Answer | Failure], None]:
    """Tells a run's status what came of each question."""

    def heard(question: Question, reply: Answer | Failure) -> None:
        status.heard(question.text, reply if isinstance(reply, Failure) else reply.answer)

    return heard


def default_name(source: Source, target: Target, limit: int | None = None) -> str:
    """A name that the same dataset and the same target have again, so that the same command goes on after a crash."""
    beginning = stem(source.path) if source.path else source.name
    return limited_name(f"{plain_name(beginning)}-{hashlib.sha256(target.name.encode()).hexdigest()[:8]}", limit)


def _check_budget(budget: float | None, target: Target) -> None:
    if budget is not None and target.price is None:
        raise UsageError(
            "the target's price is not known, so a budget can't be kept",
            hint=f"give it with {by_caller('--prices', 'open_target(..., prices=...)')}, or limit the calls with "
            f"{option('max_calls')}",
        )


def _check_needs(batch: Batch, metrics: Sequence[Metric], more: Mapping[str, str], source: Source) -> None:
    """What a metric needs and the target does not bring must be in the dataset: said before anything is asked.

    `more` are the columns that a judge is shown, each with the metric that it judges for.
    """
    needs = [(needed, metric.name) for metric in metrics for needed in metric.needs_of_table]
    for needed, wanted_by in [*needs, *more.items()]:
        if needed not in _ANSWERED and needed not in batch.columns:
            raise missing_column(needed, wanted_by, list(batch.columns), source.name)


def _check_places(source: Source, run: Path, output: Path | None) -> None:
    """Refuse places that can't be written to before anybody is asked, and an output that would replace the dataset."""
    check_writable(run.parent)
    with NewRun(run):
        pass  # it would refuse a folder that is no run
    if output is None:
        return
    check_writable(output.parent, option("output"))
    if output.is_dir():
        raise UsageError(f"{parameter('output')} {output} is a folder", hint="name a file, for example results.json")
    if isinstance(source.path, Path) and output.exists() and output.samefile(source.path):
        raise UsageError(
            f"{parameter('output')} is the dataset itself, which it would replace", hint="choose another name"
        )


def _rehearse(batch: Batch, metrics: Sequence[Metric]) -> None:
    """Score the first row as if it had been answered: what a metric lacks, a model for one, is better known before."""
    row = {name: column[:1] for name, column in batch.columns.items()}
    gold = (row.get("reference") or [[]])[0] or ["x"]
    answered = {"answer": [gold[0]], "retrieved": [[]], "contexts": [[]], **{name: [0.0] for name in NUMBER_COLUMNS}}
    batch = Batch({**row, **answered})
    pure = [metric for metric in metrics if not metric.judge_columns]
    [filled] = with_offline([batch], pure)
    score_batch(fill_embedded(filled, pure, None), pure)


def _answered(
    batches: Iterable[Batch],
    replies: Sequence[Answer | Failure],
    needed: Collection[str],
    own: Mapping[str, str],
    numbers: Collection[str],
) -> Iterator[Batch]:
    """The dataset's rows with what the target answered. A column that a metric needs is there, if need be empty.

    `own` are the target's own keys, each with its column's name; those in `numbers` are numbers.
    """
    names = [
        name
        for name in _ANSWERED
        if name == "answer" or name in needed or any(getattr(row, name, None) is not None for row in replies)
    ]
    left = iter(replies)
    for batch in batches:
        rows = [next(left) for _ in range(len(batch))]
        answered = {name: [_cell(row, name) for row in rows] for name in names}
        for key, name in own.items():
            answered[name] = [_own_cell(row, key, is_number=key in numbers) for row in rows]
        errors = [row.cause if isinstance(row, Failure) else None for row in rows]
        causes = [row.outcome if isinstance(row, Failure) else None for row in rows]
        yield Batch(
            {**batch.columns, **answered, "error": errors}, batch.lines, causes, numbers={own[key] for key in numbers}
        )


def _own_cell(reply: Answer | Failure, key: str, *, is_number: bool) -> str | float | None:
    value = reply.columns.get(key) if isinstance(reply, Answer) else None
    return value if value is None or is_number else as_text(value)


def _cell(reply: Answer | Failure, name: str) -> Any:
    value = getattr(reply, name, None)
    if name == "answer" and getattr(reply, "only_retrieved", False):
        return None
    return dumps(value) if name == RETRIEVED_SCORES and value is not None else value


def _check_answers(replies: Replies, path: Path, *, allow_failures: bool) -> None:
    """Say how many questions failed, and why most of them did. Where all did, there is nothing to score."""
    causes = {why: n for why, n in replies.causes(spell=str).items() if not why.startswith(SKIPPED_BUDGET)}
    if not causes:
        return
    problem = failures(causes, len(replies.in_order), "questions")
    if any(isinstance(reply, Answer) for reply in replies.in_order):
        if not allow_failures:
            warnings.warn(problem, RagmeterWarning, stacklevel=3)
        return
    refuse_failed(path, problem)
    if not allow_failures:
        keep = option("allow_failures", True)
        raise AllFailedError(problem, hint=f"nothing was written; {keep} keeps a run of failures")


def _warn_of_retriever(replies: Replies, metrics: Sequence[Metric]) -> None:
    """A retriever gives no answers: say why metrics of answers have no score."""
    names = [metric.name for metric in metrics if "answer" in metric.needs_of_table]
    if names and replies.only_retrieved():
        warnings.warn(
            f"the system is a retriever: it returned documents and no answers, so {', '.join(names)} can't be scored; "
            "choose metrics of what was retrieved, for example ndcg@10 and recall@5",
            RagmeterWarning,
            stacklevel=3,
        )


def read_fallback(path: str | Path) -> str:
    """Fallback phrases from a file: one a line, or in TOML a list for each language. All of them count."""
    import tomllib

    name = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        if Path(path).suffix.lower() == ".toml":
            table = tomllib.loads(text)
            phrases = [phrase for value in table.values() for phrase in ([value] if isinstance(value, str) else value)]
        else:
            phrases = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=name) from None
    except (ValueError, TypeError) as error:
        raise InputError(f"can't be read: {error}", file=name) from None
    if not phrases or not all(isinstance(phrase, str) and phrase.strip() for phrase in phrases):
        raise InputError("there should be phrases in it", file=name, hint='one a line, or in TOML: en = ["no results"]')
    if any("|" in phrase for phrase in phrases):
        raise UsageError("a fallback phrase can't hold a |")
    return "|".join(phrase.strip() for phrase in phrases)

"""Ask a live system the questions of a dataset, and score its answers: `ragmeter ask`."""

from __future__ import annotations

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
from ragmeter.effects.limits.caller import Failure
from ragmeter.effects.limits.calls import Limits
from ragmeter.effects.limits.patience import GIVE_UP_AFTER
from ragmeter.effects.process.signals import signal_of
from ragmeter.effects.replies.rounds import Reuse
from ragmeter.engine.ask_plan import ANSWERED, ASKS, MAY_RETURN, AskPlan, default_name
from ragmeter.engine.default_metrics import MetricChoice, models_of
from ragmeter.engine.judging.setup import JudgeSetup
from ragmeter.engine.kept_run import keep_run
from ragmeter.engine.metric_choice import Embedding, MetricLike, choose_metrics
from ragmeter.engine.questions import Dataset
from ragmeter.engine.results import Evaluation
from ragmeter.engine.results_file import write_results
from ragmeter.engine.row_reader import RowReader
from ragmeter.engine.scoring import whole_sessions
from ragmeter.errors import AllFailedError, Interrupted, RagmeterWarning
from ragmeter.hints import by_caller, option
from ragmeter.io.cells import as_text
from ragmeter.io.data import notes_of, source_signature
from ragmeter.io.limits import MAX_FIELD
from ragmeter.io.locations import location, on_disk
from ragmeter.io.progress import Progress, both, progress_bar, show_notice
from ragmeter.io.reading import Reading
from ragmeter.io.source import open_source
from ragmeter.io.tabular import html_lines
from ragmeter.io.write import RUNS, dumps
from ragmeter.runs.paid_replies import hold_for_new_run, refuse_failed
from ragmeter.runs.run_place import RunPlace
from ragmeter.runs.status import Status
from ragmeter.table import RETRIEVED_SCORES, SKIPPED_BUDGET, Batch
from ragmeter.targets.opening import open_target
from ragmeter.targets.port import Answer, Question, Target
from ragmeter.targets.replies import Answers, Replies, failures, number_columns, own_columns
from ragmeter.targets.replies import ask as ask_all

if TYPE_CHECKING:
    from ragmeter.judges.asking.judge import Judge


@dataclass(frozen=True, eq=False, repr=False)
class AskedEvaluation(Evaluation):
    """What `ask` returns: an evaluation, and what asking took."""

    replies: Replies = field(kw_only=True)

    @classmethod
    def of(cls, evaluation: Evaluation, replies: Replies) -> Self:
        """An evaluation of answers that were just asked for."""
        return cls(evaluation.run, evaluation.embeddings, evaluation.judging, replies=replies)

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
) -> AskedEvaluation:
    """Ask every question of the dataset, score the answers, and keep the run as `output_dir/run`.

    A run that was interrupted goes on where it was, if its target is still the same; a run that is complete is asked
    again from the beginning. How many answers are from when is printed. Where questions fail, a warning says how many
    and why. Where all do, it is an error, and nothing is written.

    Args:
        dataset: the questions: a path, a list of dicts, or a frame.
        target: a function or a generator of the question, a runnable, an engine, a retriever or a pipeline of
            LangChain, LlamaIndex or Haystack, an object with `query(question)`, an address (`http://...`), a model
            (`openai:NAME`), a dotted path (`mypkg.rag:pipeline`), or what `open_target()` made of one of these.
        metrics: names or metrics, as of `evaluate()`; without it, what the questions and the answers allow is measured.
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
    embedding = Embedding(embedding_model, embedding_base_url, embedding_prefix)
    settings = {"doc_id": doc_id_pattern, "fallback": fallback}
    jurors = list(getattr(judge, "jurors", ()))
    folder = on_disk(location(output_dir), "asking a system")
    system = open_target(target, timeout=timeout)
    source = open_source(dataset, Reading(encoding, quotes, delimiter, max_field, split, decimal), what="dataset")
    questions = Dataset.read(source, columns or {}, repeats, limit)
    choice = None
    if metrics is None:
        choice = MetricChoice.before_asking(questions.batches, models_of(judge, embedding_model))
        metrics = choice.metrics
    named = {"language": language, "support_model": support_model, **settings}
    chosen = choose_metrics(metrics, embedding=embedding, jurors=jurors, **named)
    reuse = Reuse(resume, retry_failed)
    plan = AskPlan.of(
        questions,
        system,
        chosen,
        JudgeSetup(judge, folder, retry_failed, progress),
        Limits(workers, retries, max_calls, budget, give_up_after),
        reuse,
        output=None if output is None else Path(output),
        allow_failures=allow_failures,
        choice=choice,
    )
    name = default_name(source, system, limit) if run is None else run
    with RunPlace.named(name, folder, ASKS, asks=True, replace=replace, latest=reuse.wanted) as place:
        return carry_out(plan.at(place))


def carry_out(plan: AskPlan) -> AskedEvaluation:
    """Ask, score, and keep the run at the plan's place."""
    assert plan.place is not None  # noqa: S101 - who asks a system keeps the run
    path = on_disk(plan.place.path, ASKS)
    shown = plan.check(path)
    with ExitStack() as stack:
        instead = "" if plan.reuse.wanted else f"; {by_caller('--resume', 'resume=True')} uses its answers"
        limited = plan.dataset.is_limited
        stack.enter_context(hold_for_new_run(plan.place, plan.keeps_verdicts, limited=limited, instead=instead))
        journal = path.parent / f"{path.name}.journal.sqlite"
        answers = stack.enter_context(Answers(journal, path.name, plan.target, plan.dataset.questions, plan.reuse))
        replies = _asked(plan, path, answers)
        _check_answers(replies, path, allow_failures=plan.allow_failures)
        plan = plan.after_asking(replies)
        for note in plan.dataset.source.notes:
            show_notice(note)
        _warn_of_retriever(replies, plan.metrics)

        def complete(evaluation: Evaluation) -> None:
            if plan.output is not None:
                write_results(plan.output, evaluation)
            answers.finish()

        try:
            evaluation = _scored(plan, path, replies, shown, complete)
        except KeyboardInterrupt as stop:
            if answers.finished:
                raise
            raise Interrupted(signal_of(stop)) from None
    return AskedEvaluation.of(evaluation, replies)


def _asked(plan: AskPlan, path: Path, answers: Answers) -> Replies:
    """Ask all questions, and print how the answers are to be understood."""
    questions = plan.dataset.questions
    with (
        progress_bar(plan.judging.progress, "asking", "questions", len(questions)) as advance,
        Status(path, "asking questions", len(questions), answers.spent) as status,
    ):
        heard = both(advance, status.advance), watched_by(status)
        replies = ask_all(plan.target, questions, plan.limits, answers, *heard)
    if replies.notice:
        show_notice(f"{path.name}: {replies.notice}")
    return replies


def _scored(
    plan: AskPlan,
    path: Path,
    replies: Replies,
    shown: Collection[str],
    complete: Callable[[Evaluation], None],
) -> Evaluation:
    """Judge and score the answers, and keep the run; `complete` ends what belongs to it.

    `shown` are the columns that the judge is shown.
    """
    data, metrics = plan.dataset, plan.metrics
    needed = {*shown, *(need for metric in metrics for need in (*metric.needs, *metric.needs_of_table))}
    own = own_columns(replies.in_order, data.batches[0].columns)
    numbers = number_columns(replies.in_order, own)

    def read() -> Iterable[Batch]:
        return whole_sessions(_answered(data.batches, replies.in_order, needed, own, numbers), metrics)

    answered = RowReader(read, len(data.questions))
    filled = plan.judging.of(path).fill(metrics, answered)

    def manifest(signed: Manifest) -> Manifest:
        asked = structs.replace(
            signed,
            inputs={"dataset": source_signature(data.source)},
            target=plan.target.signature(),
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
        for name in ANSWERED
        if name == "answer" or name in needed or any(getattr(row, name, None) is not None for row in replies)
    ]
    left = iter(replies)
    for batch in batches:
        rows = [next(left) for _ in range(len(batch))]
        answered = {name: [_cell(row, name) for row in rows] for name in names}
        for key, name in own.items():
            answered[name] = [_own_cell(row, key, is_number=key in numbers) for row in rows]
        absent = [name for name in MAY_RETURN if name in needed and not (name in answered or name in batch.columns)]
        answered |= {name: [None] * len(rows) for name in absent}
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
            warnings.warn(problem, RagmeterWarning, stacklevel=4)
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
            stacklevel=4,
        )

"""Carrying out the plan of a test set: the questions, their card, and the run that has both."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import structs

from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary
from ragmeter.documents.testset import TestSetCard, TestSetSettings, Texts
from ragmeter.documents.usage import Calls, Usage
from ragmeter.effects.limits.caller import Caller
from ragmeter.effects.process.signals import signal_of
from ragmeter.engine.judging.observers import JudgingWatch
from ragmeter.engine.kept_run import keep_run
from ragmeter.engine.results import Evaluation
from ragmeter.engine.testsets.drafts import Draft, Drafts
from ragmeter.engine.testsets.plan import WRITES, TestSetPlan
from ragmeter.engine.testsets.rows import rows_of
from ragmeter.engine.testsets.writing import Asker, Writing, add_other
from ragmeter.errors import AllFailedError, Interrupted
from ragmeter.hints import by_caller
from ragmeter.io.locations import on_disk
from ragmeter.io.progress import both, progress_bar
from ragmeter.judges.questions import writing_column, writing_texts
from ragmeter.models.port import ChatProvider
from ragmeter.runs.paid_replies import hold_for_new_run
from ragmeter.runs.run import Run
from ragmeter.runs.run_place import RunPlace
from ragmeter.table import Batch
from ragmeter.testsets import filters
from ragmeter.testsets.offline import write_offline
from ragmeter.testsets.questions import Question
from ragmeter.testsets.texts import texts_of
from ragmeter.wording.testsets import cause_words
from ragmeter.wording.texts import one_line, shortened, visible

#: So many queries about a passage are written without a model, at most.
_EACH = 3
#: So much is shown of an example.
_SHOWN = 200
BUDGET, NO_PASSAGES, IN_VAIN = "budget", "no_passages_left", "nothing_taken"


@dataclass(frozen=True)
class NewTestSet:
    """The run of a test set, and its card."""

    evaluation: Evaluation
    card: TestSetCard

    @property
    def run(self) -> Run:
        """The run."""
        assert self.evaluation.folder is not None  # noqa: S101 - a test set is always kept
        return self.evaluation.folder


def carry_out(plan: TestSetPlan, place: RunPlace, like: Texts | None = None) -> NewTestSet:
    """Write the questions, and keep them at a place; an error if there is not a single one."""
    path = on_disk(place.path, WRITES)
    with ExitStack() as stack:
        stack.enter_context(hold_for_new_run(place, plan.keeps_replies))
        if plan.judge is not None:
            plan.judge.chat_model.check()
            plan.judging.judge_run([]).check_journal()
        drafts = Drafts(plan.plans, plan.wanted)
        try:
            calls = None
            if plan.judge is None:
                _write_offline(plan, drafts)
            else:
                calls = _written(plan, drafts, path)
        except KeyboardInterrupt as stop:
            kept = "nothing was written" if plan.judge is None else "replies so far are kept"
            raise Interrupted(signal_of(stop), kept) from None
        if not drafts.taken:
            raise _nothing_written(drafts)
        card = _card(plan, drafts, like)
        return NewTestSet(_kept(plan, path, rows_of(drafts.taken, plan.wish.turns), card, calls), card)


def _written(plan: TestSetPlan, drafts: Drafts, path: Path) -> Calls:
    """Have the model write them."""
    judge, watch = plan.judge, JudgingWatch()
    assert judge is not None  # noqa: S101 - the caller has seen to it
    total = plan.wish.drafts * plan.wish.turns
    held_out = frozenset(plan.sample.held_out_sources)
    with progress_bar(plan.progress, "writing", "questions", total) as advance, watch.over(path, total):

        async def work(caller: Caller, client: ChatProvider) -> None:
            watch.begin(caller)
            writing = Writing(
                Asker(judge, caller, client), drafts, plan.documents.passages, held_out, turns=plan.wish.turns,
                closed=plan.closed_book,
            )  # fmt: skip
            await writing.write(both(advance, watch.advance))

        _, usage, effort = plan.calls().make(work, plan.scope, watch)
    return Calls(usage, effort)


def _write_offline(plan: TestSetPlan, drafts: Drafts) -> None:
    """Write them without a model: one about each passage, then others, until there are enough."""
    planned = [planned for plans in plan.plans.values() for planned in plans] * _EACH
    results = write_offline(plan.documents.passages(), planned, plan.wish.seed)
    written = [
        Draft(wanted, [result]) if isinstance(result, Question) else Draft(wanted, cause=result)
        for wanted, result in zip(planned, results, strict=True)
    ]
    size = 2 * drafts.missing + 1  # mostly, the first of these are enough
    for begin in range(0, len(written), size):
        some = written[begin : begin + size]
        drafts.reject_twins(some)
        left = [draft for draft in some if not draft.cause]
        others = filters.elsewhere([draft.questions[0] for draft in left], plan.documents.passages(), frozenset())
        for draft, found in zip(left, others, strict=True):
            for other in found:
                if other.chance >= filters.SURE:
                    add_other(draft, other)
        drafts.settle(some)
        drafts.in_vain = 0  # nobody was asked in vain
        if not drafts.missing:
            return


def _nothing_written(drafts: Drafts) -> AllFailedError:
    causes = "; ".join(f"{cause_words(cause)} ({count:,})" for cause, count in drafts.rejected.most_common(3))
    example = next((text for cause, _ in drafts.rejected.most_common(1) if (text := drafts.examples.get(cause))), "")
    shown = f": {shortened(visible(one_line(example)), _SHOWN)}" if example else ""
    again = by_caller("run the same command again with a higher limit", "call it again with a higher limit")
    hint = f"nothing was written; {again}" if drafts.is_over_budget else "nothing was written"
    return AllFailedError(f"no question was written: {causes or 'there was nothing to ask'}{shown}", hint=hint)


def _stopped_by(drafts: Drafts) -> str:
    if not drafts.missing:
        return ""
    return BUDGET if drafts.is_over_budget else IN_VAIN if drafts.is_in_vain else NO_PASSAGES


def _card(plan: TestSetPlan, drafts: Drafts, like: Texts | None) -> TestSetCard:
    """What the set is and what it is good for."""
    taken = drafts.taken
    groups: dict[str, Counter[str]] = {}
    for draft in taken:
        for category in (*draft.planned.user_categories, *draft.planned.question_categories):
            groups.setdefault(category.group, Counter())[category.name] += 1
    questions = [
        (question.text, [passage.text for passage in draft.planned.passages])
        for draft in taken
        for question in draft.questions
    ]
    language = Counter(draft.planned.passages[0].language for draft in taken).most_common(1)[0][0]
    return TestSetCard(
        wanted=plan.wish.drafts * plan.wish.turns,
        written=len(questions),
        kinds=dict(Counter(draft.planned.kind for draft in taken).most_common()),
        categories={name: dict(counts.most_common()) for name, counts in groups.items()},
        writer=None if plan.judge is None else plan.judge.model,
        documents=len(plan.survey.sources),
        passages=plan.survey.passages,
        left_out=dict(plan.left_out.most_common()),
        drafts=len(taken) + drafts.rejected.total(),
        rejected=dict(drafts.rejected.most_common()),
        examples={cause: shortened(visible(one_line(text)), _SHOWN) for cause, text in drafts.examples.items() if text},
        second_golds=sum(bool(draft.relevant) for draft in taken),
        texts=texts_of(questions, language),
        like=like,
        stopped_by=_stopped_by(drafts),
    )


def _kept(plan: TestSetPlan, path: Path, rows: Batch, card: TestSetCard, calls: Calls | None) -> Evaluation:
    """Keep the rows as a run without metrics."""
    made = TestSetSettings(
        wanted=card.wanted,
        shares=dict(plan.wish.shares),
        seed=plan.wish.seed,
        turns=plan.wish.turns,
        language=plan.documents.language,
        closed_book=plan.closed_book,
        categories={
            group.name: [category.name for category in group.categories] for group in plan.wish.categories.groups
        },
        held_out=list(plan.sample.held_out_sources),
        plan=plan.scope,
    )

    def manifest(signed: Manifest) -> Manifest:
        made_of = structs.replace(signed, inputs={"documents": plan.signature}, test_set=made)
        if calls is None or plan.judge is None:
            return made_of
        columns = {"question": _signature(plan)}
        return structs.replace(made_of, judged_columns=columns, judging=calls.effort)

    def summary(scored: Summary) -> Summary:
        usage: Usage | None = None if calls is None else calls.usage
        return structs.replace(scored, test_set=card, judge_usage=usage)

    return keep_run(path, [rows], [], manifest=manifest, summary=summary, judging=calls)


def _signature(plan: TestSetPlan) -> dict[str, Any]:
    """What the questions depend on besides the documents: the model, its settings, and its words."""
    judge = plan.judge
    assert judge is not None  # noqa: S101 - the caller has seen to it
    first = next(planned for plans in plan.plans.values() for planned in plans)
    column = writing_column(first, writing_texts(first))
    return {**judge.signature(column), "columns": ["question", "reference", "evidence"]}

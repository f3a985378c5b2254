"""What making a test set is going to do. It is made once, without asking anybody, and then carried out or estimated."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ragmeter.effects.replies.journal import Journal
from ragmeter.engine.judging.judge_run import JudgeCalls
from ragmeter.engine.judging.setup import JudgeSetup
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import by_caller, option
from ragmeter.io.progress import Progress
from ragmeter.judges.asking.judge import Judge
from ragmeter.judges.questions import answered, answered_texts, closed_book, writing_column, writing_texts
from ragmeter.naming import Signature
from ragmeter.runs.run import Run
from ragmeter.testsets.documents import Documents
from ragmeter.testsets.planning import Wish, planned_questions
from ragmeter.testsets.questions import KEYWORDS, UNANSWERABLE, PlannedQuestion, Question
from ragmeter.testsets.sampling import Sample, Survey, draw, survey
from ragmeter.wording.testsets import CAUSES, counts

#: What a process is told that waits for the place of a run.
WRITES = "writes questions"
#: Of the drafts, about so many are checked by the model, because the offline support model is not sure.
_IN_DOUBT = 0.5


@dataclass(frozen=True, eq=False)
class TestSetPlan:
    """A test set before its first question: the documents, what is wanted, and who writes it. Nobody: offline."""

    __test__ = False  # pytest would take it for tests

    documents: Documents
    wish: Wish
    judging: JudgeSetup
    closed_book: bool = False

    @property
    def judge(self) -> Judge | None:
        """The model that writes, if there is one."""
        return self.judging.judge

    @property
    def progress(self) -> Progress:
        """Who is shown how far it is."""
        return self.judging.progress

    @cached_property
    def survey(self) -> Survey:
        """What there is to ask about; an error if that is nothing."""
        seen = survey(self.documents.passages(), self.wish.seed)
        if not seen.usable:
            causes = counts(self.documents.left_out + seen.dropped, CAUSES) or "there is no text"
            hint = "a passage needs a dozen words or more"
            raise InputError(f"no passage can be asked about ({causes})", file=str(self.documents.files[0]), hint=hint)
        return seen

    @cached_property
    def sample(self) -> Sample:
        """The passages that are asked about."""
        share = self.wish.shares.get(UNANSWERABLE, 0) / sum(self.wish.shares.values())
        n_held_out = min(self.wish.spare, 3 * round(share * self.wish.drafts) + 3) if share else 0
        return draw(self.documents.passages, self.survey, self.wish.spare, n_held_out)

    @cached_property
    def plans(self) -> dict[str, list[PlannedQuestion]]:
        """What is to be written of each kind."""
        plans = planned_questions(self.wish, self.sample)
        if not plans:
            raise UsageError("none of the kinds of questions can be asked about these documents",
                             hint=f"name others with {option('kinds', 'fact,how_why')}")  # fmt: skip
        return plans

    @cached_property
    def wanted(self) -> dict[str, int]:
        """How many drafts of each kind are wanted."""
        return self.wish.counts(list(self.plans))

    @property
    def lacking(self) -> list[str]:
        """The kinds that were asked for, and that these documents don't allow."""
        return [kind for kind, share in self.wish.shares.items() if share and kind not in self.plans]

    @cached_property
    def signature(self) -> Signature:
        """The documents."""
        return self.documents.signature()

    @cached_property
    def scope(self) -> str:
        """A name for all that decides what is asked: a budget is kept for it, and so are replies that were paid for."""
        asked = "" if self.judge is None else self.judge.call_key(answered)
        wish = repr((self.wish, self.documents.language, self.closed_book, sorted(self.documents.columns.items())))
        return hashlib.sha256(f"{asked}\0{wish}\0{self.signature['sha256']}".encode()).hexdigest()

    def keeps_replies(self, run: Run) -> bool:
        """Whether this plan's questions are those of an older run, so that no reply of it is lost."""
        made = run.manifest().test_set
        return made is not None and made.plan == self.scope

    def calls(self) -> JudgeCalls:
        """The calls to the model, and the journal that has them."""
        judge = self.judging.with_judge().judge
        assert judge is not None  # noqa: S101 - `with_judge` has seen to it
        journal = self.judging.judge_run([]).journal
        return JudgeCalls(judge, judge.limits, journal, None, None, lambda: False)

    def estimate(self) -> dict[str, Any]:
        """About how many calls, tokens and dollars the questions take. Asks nothing."""
        return {**self.described(), **self.calls().estimate(self._count, self.scope)}

    def described(self) -> dict[str, Any]:
        """What there is to ask about, and what is to be asked."""
        return {
            "questions": self.wish.drafts * self.wish.turns,
            "kinds": self.wanted,
            "kinds_without_passages": self.lacking,
            "documents": len(self.survey.sources),
            "passages": self.survey.passages,
            "usable_passages": self.survey.usable,
            "left_out": dict(self.left_out),
            "held_out": list(self.sample.held_out_sources),
        }

    @property
    def left_out(self) -> Counter[str]:
        """What of the documents is not asked about, by cause."""
        return +(self.documents.left_out + self.survey.dropped)

    def _count(self, journal: Journal) -> Mapping[str, int]:
        """The first drafts' calls; what the model is asked in doubt is an addition."""
        judge = self.judging.judge
        assert judge is not None  # noqa: S101 - see `calls`
        total: Counter[str] = Counter(calls=0, recorded=0, prompt_tokens=0, completion_tokens=0)
        for planned in self._first():
            texts = writing_texts(planned)
            column = judge.on(writing_column(planned, texts))
            total.update(column.estimate_all([texts], journal))
            prompt, completion = column.estimate(texts)
            later = self.wish.turns - 1
            total.update(calls=later, prompt_tokens=later * prompt, completion_tokens=later * completion)
            guess = Question(planned, "x" * 80, "x" * 40, ())
            checks = [(answered, answered_texts(planned.passages[0], guess), _IN_DOUBT * self.wish.turns)]
            checks += [(closed_book, {"question": guess.text}, 1.0)] if self.closed_book else []
            for declaration, shown, share in checks:
                prompt, completion = judge.on(declaration).estimate(shown)
                total.update(
                    if_in_doubt=round(10 * share), prompt_tokens_if_in_doubt=round(share * prompt),
                    completion_tokens_if_in_doubt=round(share * completion),
                )  # fmt: skip
        total["if_in_doubt"] = -(-total["if_in_doubt"] // 10)
        return total

    def _first(self) -> Sequence[PlannedQuestion]:
        return [planned for kind, plan in self.plans.items() for planned in plan[: self.wanted[kind]]]


def check_wish(wish: Wish, judge: Judge | None, *, offline: bool) -> None:
    """Refuse what can't be wanted, before the documents are read."""
    if wish.n < 1 or wish.turns < 1:
        raise UsageError(f"{option('n')} and {option('turns')} must be at least 1")
    if judge is None and not offline:
        hint = by_caller("name it with --judge-model, or write questions for retrieval alone with --offline", "")
        raise UsageError("who writes the questions?", hint=hint)
    if judge is not None and offline:
        raise UsageError(f"{option('offline', True)} asks no model", hint="leave one of the two out")
    if not offline:
        return
    if wish.turns > 1:
        raise UsageError("conversations need a model", hint=f"leave {option('turns')} out")
    if impossible := wish.shares.keys() - {KEYWORDS}:
        raise UsageError(f"without a model there are no questions of the kind {min(impossible)}")

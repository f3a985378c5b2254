"""The judge of CRAG-MM, under its name and with its arguments."""

from __future__ import annotations

from typing import Any, Self

from ragmeter.effects.limits.caller import Caller
from ragmeter.effects.limits.calls import Limits, run_calls
from ragmeter.errors import UsageError
from ragmeter.judges.asking.judge import DEFAULT_EVAL_MODEL, Judge
from ragmeter.judges.asking.judgement import Judgement
from ragmeter.judges.verdict import CORRECT, verdict


class TurnJudgement(Judgement):
    """A judgement with the keys that scripts for CRAG-MM's judge read, and those of ragmeter beside them."""

    @classmethod
    def of(cls, judgement: Judgement) -> Self:
        """A judge's result in these keys."""
        return cls(**vars(judgement))

    @property
    def accuracy(self) -> bool | None:
        """Whether the answer is right; None if that is not known."""
        return None if self.verdict is None else self.verdict == CORRECT

    @property
    def eval_result(self) -> str:
        """The model's reply, word for word."""
        return "\n".join(self.replies)

    def __getitem__(self, key: str) -> Any:
        return self.as_dict()[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The value under a key of `as_dict()`, or the default."""
        return self.as_dict().get(key, default)

    def as_dict(self) -> dict[str, Any]:
        """The reply as a dict for the column `api_response`, without anything that differs from run to run."""
        names = ("accuracy", "eval_result", "outcome", "verdict", "reason")
        return {
            **{name: getattr(self, name) for name in names},
            **({"verdicts": list(self.verdicts)} if len(self.verdicts) > 1 else {}),
            **({"cause": self.cause} if self.cause else {}),
            "replies": list(self.replies),
        }


class LLMJudge(Judge):
    """Asks a chat model whether an answer says the same as the expected one.

    The keywords are those of `Judge`. It is not tried on built-in cases first unless `check` is given.
    """

    def __init__(
        self,
        api_key: str | None = None,
        model_name: str = DEFAULT_EVAL_MODEL,
        base_url: str | None = None,
        *,
        check: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, check=check, **settings)

    def evaluate(self, query: str, ground_truth: str, agent_response: str) -> TurnJudgement:
        """Judge one answer now. Nothing is kept of it; for many answers use `evaluate(..., judge=...)`."""
        if not all(isinstance(text, str) for text in (query, ground_truth, agent_response)):
            raise UsageError("a query, a ground truth and an answer are texts")
        self.client().check()
        values = {"question": query, "reference": ground_truth, "answer": agent_response}

        async def work(caller: Caller) -> TurnJudgement:
            async with self.client() as client:
                return TurnJudgement.of(await self.on(verdict).ask(caller, client, values))

        return run_calls(work, Limits(self.calls_per_verdict, self.retries, give_up_after=self.give_up_after))

"""The judge of CRAG-MM, under its name and with its arguments."""

from __future__ import annotations

from typing import Any

from ragmeter.effects.caller import Caller
from ragmeter.effects.calls import Limits, run_calls
from ragmeter.errors import UsageError
from ragmeter.judges.judge import DEFAULT_EVAL_MODEL, Judge
from ragmeter.judges.judgement import Judgement
from ragmeter.judges.verdict import verdict


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

    def evaluate(self, query: str, ground_truth: str, agent_response: str) -> Judgement:
        """Judge one answer now. Nothing is kept of it; for many answers use `evaluate(..., judge=...)`."""
        if not all(isinstance(text, str) for text in (query, ground_truth, agent_response)):
            raise UsageError("a query, a ground truth and an answer are texts")
        self.client().check()
        values = {"question": query, "reference": ground_truth, "answer": agent_response}

        async def work(caller: Caller) -> Judgement:
            async with self.client() as client:
                return await self.on(verdict).ask(caller, client, values)

        return run_calls(work, Limits(self.calls_per_verdict, self.retries, give_up_after=self.give_up_after))

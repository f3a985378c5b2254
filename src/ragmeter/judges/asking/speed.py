"""How fast a model's server judges, alone and with several calls at once: what its time limit and workers should be."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass

from ragmeter.effects.limits.caller import Caller
from ragmeter.effects.limits.calls import Limits, run_calls
from ragmeter.errors import EndpointError
from ragmeter.judges.asking.judge import Judge
from ragmeter.judges.asking.probes import PROBES, Probe
from ragmeter.judges.verdict import verdict
from ragmeter.table import JUDGE_ERROR, TIMEOUT

#: So many calls are made at once: as many as a judge makes unless somebody says otherwise.
AT_ONCE = 8
#: If they take hardly longer than one alone, none of them has waited.
_NEARLY_ALL = 0.75
#: Seconds for each of them.
LONGEST = 600.0


@dataclass(frozen=True)
class Speed:
    """Seconds of a call that was alone, and of the slowest of `n` that were made at once."""

    alone: float
    slowest: float
    n: int = AT_ONCE

    @property
    def slots(self) -> int:
        """About how many calls the server works on at the same time; the others wait in its queue."""
        share = self.alone / self.slowest
        return self.n if share > _NEARLY_ALL else max(1, round(self.n * share))

    @property
    def timeout(self) -> int:
        """A time limit that calls keep which are made at once, with as much again for longer texts."""
        return max(60, 10 * math.ceil(2 * self.slowest / 10))


def measure_speed(model: str, base_url: str) -> Speed:
    """Judge built-in cases, the first one to wake the model up, one alone and the others at once."""
    judge = Judge(model, base_url, check=False, wordings=1, tries=1, retries=0, timeout=LONGEST)
    judge.chat_model.check()

    async def work(caller: Caller) -> Speed:
        async with judge.client() as client:
            column_judge = judge.on(verdict)

            async def seconds(probe: Probe) -> float:
                texts = {name: text for name, text in probe._asdict().items() if name in column_judge.declaration.needs}
                begun = time.perf_counter()
                judgement = await column_judge.ask(caller, client, texts)
                if judgement.outcome in (JUDGE_ERROR, TIMEOUT):
                    raise EndpointError(judgement.cause)
                return time.perf_counter() - begun

            await seconds(PROBES[0])
            alone = await seconds(PROBES[1])
            together = await asyncio.gather(*map(seconds, PROBES[2 : 2 + AT_ONCE]))
            return Speed(alone, max(together))

    return run_calls(work, Limits(AT_ONCE, 0))

"""Judges all turns in one go, each time it is told to: `python judge_engines.py ENGINE URL CASES`.

A process of its own for each engine, because some of the peers can't be installed beside one another. It loads nothing
but its engine, says which versions it has or what is missing, and answers each line, a number of turns, a folder and
how many calls may be under way, with what it took and the verdicts.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

WORKERS = 64
MODEL = "bench-model"
KEY = "no-key"
RETRIES = 3

#: What does the work, of which the versions are told.
PACKAGES = {
    "ragmeter": ("ragmeter", "aiohttp"),
    "openai": ("openai",),
    "ragas": ("ragas", "openai"),
    "deepeval": ("deepeval", "openai"),
}
#: Turns as ragmeter takes them, and the request that the peers make of each, which is not on their bill.
Cases = dict[str, list[dict[str, Any]]]
#: From the first so many cases, a folder and the number of calls at once to whether each was judged right.
Call = Callable[[int, Path, int], list[bool]]


def ragmeter(url: str, cases: Cases) -> Call:
    """All that a user gets: the prompt, the pace, every verdict on the disk, the scores."""
    from ragmeter import CRAGEvaluator

    def call(count: int, folder: Path, workers: int) -> list[bool]:
        evaluator = CRAGEvaluator(
            None, None, MODEL, KEY, num_workers=workers, base_url=url, journal=folder / "journal.sqlite"
        )
        rows, _ = evaluator.evaluate_agent_responses(cases["turns"][:count])
        return [row["is_semantically_correct"] for row in rows["all"]]

    return call


def openai(url: str, cases: Cases) -> Call:
    """The official client, which threads share."""
    from openai import OpenAI

    def call(count: int, folder: Path, workers: int) -> list[bool]:
        with OpenAI(base_url=url, api_key=KEY, max_retries=RETRIES) as client, ThreadPoolExecutor(workers) as pool:
            return list(
                pool.map(lambda request: _right(client.chat.completions.create(**request)), cases["requests"][:count])
            )

    return call


def ragas(url: str, cases: Cases) -> Call:
    """What runs ragas's metrics, given the call alone."""
    from openai import AsyncOpenAI
    from ragas.executor import Executor
    from ragas.run_config import RunConfig

    async def judge_all(count: int, workers: int) -> list[bool]:
        async with AsyncOpenAI(base_url=url, api_key=KEY, max_retries=RETRIES) as client:

            async def judge(request: dict[str, Any]) -> bool:
                return _right(await client.chat.completions.create(**request))

            executor = Executor(show_progress=False, raise_exceptions=True, run_config=RunConfig(max_workers=workers))
            for request in cases["requests"][:count]:
                executor.submit(judge, request)
            return list(await executor.aresults())

    return lambda count, folder, workers: asyncio.run(judge_all(count, workers))


def deepeval(url: str, cases: Cases) -> Call:
    """Its evaluate() with a metric that makes the call and nothing else; it prints and keeps as little as it can."""
    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
    from deepeval.metrics import BaseMetric
    from deepeval.test_case import LLMTestCase
    from openai import AsyncOpenAI

    class Verdict(BaseMetric):  # type: ignore[misc]
        """One is made of it for each test case, by copying what `__init__` is given."""

        def __init__(self, client: Any, threshold: float = 0.5) -> None:
            self.client, self.threshold = client, threshold

        async def a_measure(self, case: Any, *args: Any, **kwargs: Any) -> float:
            request = cases["requests"][int(case.name)]
            self.score = float(_right(await self.client.chat.completions.create(**request)))
            self.success = self.score >= self.threshold
            return self.score

        def is_successful(self) -> bool:
            return bool(self.success)

        @property
        def __name__(self) -> str:
            return "verdict"

    def call(count: int, folder: Path, workers: int) -> list[bool]:
        turns = cases["turns"][:count]
        client = AsyncOpenAI(base_url=url, api_key=KEY, max_retries=RETRIES)
        evaluation = evaluate(
            [
                LLMTestCase(
                    name=str(number),
                    input=turn["query"],
                    actual_output=turn["agent_response"],
                    expected_output=turn["ground_truth"],
                )
                for number, turn in enumerate(turns)
            ],
            [Verdict(client)],
            async_config=AsyncConfig(max_concurrent=workers),
            display_config=DisplayConfig(show_indicator=False, print_results=False, inspect_after_run=False),
            cache_config=CacheConfig(write_cache=False),
        )
        asyncio.get_event_loop().run_until_complete(client.close())  # the loop that evaluate() leaves behind
        verdicts = {int(test_result.name): bool(test_result.success) for test_result in evaluation.test_results}
        return [verdicts[number] for number in range(count)]

    return call


def _right(completion: Any) -> bool:
    return bool(json.loads(completion.choices[0].message.content)["verdict"] == "CORRECT")


def main(engine: str, url: str, file: str) -> None:
    """Serve until standard input ends. Peers may print what they like: it goes where errors go."""
    with os.fdopen(os.dup(1), "w", buffering=1) as answers:
        os.dup2(2, 1)
        try:
            prepare: Callable[[str, Cases], Call] = globals()[engine]
            call = prepare(url, json.loads(Path(file).read_text(encoding="utf-8")))
            versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES[engine])
        except ImportError as error:
            print(json.dumps({"missing": str(error)}), file=answers)
            return
        print(json.dumps({"versions": versions}), file=answers)
        for line in sys.stdin:
            count, folder, workers = json.loads(line)
            begin, cpu_begin = time.perf_counter(), time.process_time()
            verdicts = call(count, Path(folder), workers)
            taken = {"seconds": time.perf_counter() - begin, "cpu_seconds": time.process_time() - cpu_begin}
            print(json.dumps({**taken, "verdicts": verdicts}), file=answers)


if __name__ == "__main__":
    main(*sys.argv[1:])

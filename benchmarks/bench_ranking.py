"""NDCG@10 and recall@10 from the same Python lists, beside the libraries of the field."""

from __future__ import annotations

import gc
import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from common import BenchmarkError, Values, check, progress, table, timed

Lists = list[list[str]]

QUERIES, DEPTH, DOCUMENTS = 100_000, 10, 200_000
_TRIAL = 2_000
_ONE_BY_ONE = ", a call each"
_SECONDS = 8.0  # what one repetition of a peer may take; a slower one gets fewer queries


@dataclass(frozen=True)
class Queries:
    """For each query the gold documents, and the retrieved ones in their order."""

    relevant: Lists
    retrieved: Lists

    def __len__(self) -> int:
        return len(self.relevant)

    def first(self, count: int) -> Queries:
        """The first so many."""
        return self if count >= len(self) else Queries(self.relevant[:count], self.retrieved[:count])


@dataclass
class Engine:
    """Something that scores lists: a call from lists to its own kind of result, and how to read NDCG and recall there.

    The reading is not timed. `call` is None where the library is not installed.
    """

    name: str
    prepare: Callable[[], Callable[[Queries], Any]]
    read: Callable[[Any], tuple[Values, Values]]
    call: Callable[[Queries], Any] | None = None
    queries: int = 0
    first_call: float = 0.0
    seconds: list[float] = field(default_factory=list)


def ranking(folder: Path, *, quick: bool) -> None:
    """Every engine in turn, several times; values are held to pytrec_eval's, or to whichever peer there is."""
    repetitions = 2 if quick else 5
    data = make_queries(QUERIES // 10 if quick else QUERIES)
    engines = _engines()
    for engine in engines:
        _start(engine, data)
    ready = [engine for engine in engines if engine.call is not None]
    for place in range(repetitions):
        progress(f"ranking: repetition {place + 1} of {repetitions}")
        for engine in ready:
            call, part = engine.call, data.first(engine.queries)
            assert call is not None
            gc.collect()
            engine.seconds.append(timed(partial(call, part))[0].seconds)
    differences = _check(ready, data)
    _print(ready, differences, len(data), repetitions)


def make_queries(count: int) -> Queries:
    """Queries with 1 to 4 gold documents, of which about half are among the ten retrieved ones."""
    choose = random.Random(20)
    relevant, retrieved = [], []
    for _ in range(count):
        documents = [f"doc{number}" for number in choose.sample(range(DOCUMENTS), DEPTH)]
        gold = {
            choose.choice(documents) if choose.random() < 0.5 else f"doc{choose.randrange(DOCUMENTS)}"
            for _ in range(choose.randint(1, 4))
        }
        relevant.append(sorted(gold))
        retrieved.append(documents)
    return Queries(relevant, retrieved)


def _engines() -> list[Engine]:
    return [
        Engine("ragmeter, both at once", _ragmeter_block, lambda result: result),
        Engine(f"ragmeter{_ONE_BY_ONE}", _ragmeter_calls, lambda result: result),
        Engine("pytrec_eval", _pytrec_eval, _read_pytrec_eval),
        Engine(f"pytrec_eval{_ONE_BY_ONE}", _pytrec_eval_calls, _read_pytrec_eval),
        Engine("trectools", _trectools, lambda result: result),
        Engine("ranx", _ranx, lambda result: (result[f"ndcg@{DEPTH}"], result[f"recall@{DEPTH}"])),
    ]


def _start(engine: Engine, data: Queries) -> None:
    """Load a library, let it compile what it compiles, and see how many queries it gets."""
    progress(f"ranking: starting {engine.name}")
    trial = data.first(_TRIAL)

    def first_call() -> None:
        engine.call = engine.prepare()
        engine.call(trial)

    try:
        engine.first_call = timed(first_call)[0].seconds
    except ImportError as error:
        engine.call = None
        print(f"ranking: {engine.name} is left out ({error}); python -m pip install --group bench")
        return
    call = engine.call
    assert call is not None
    usage, _ = timed(lambda: call(trial))
    engine.queries = min(len(data), max(_TRIAL, int(_SECONDS / usage.seconds * len(trial))))


def _check(engines: list[Engine], data: Queries) -> dict[str, float]:
    """Hold each of ours to each of the peers, on all the queries that the peer got."""
    ours = [engine for engine in engines if engine.name.startswith("ragmeter")]
    peers = [engine for engine in engines if engine not in ours]
    if not peers:
        raise BenchmarkError("ranking: there is no peer to hold the values to; python -m pip install --group bench")
    differences: dict[str, float] = {}
    for peer in peers:
        expected = _values(peer, data.first(peer.queries))
        for mine in ours:
            values = _values(mine, data.first(peer.queries))
            for name, a, b in zip(("ndcg@10", "recall@10"), values, expected, strict=True):
                apart = check(f"{name} of {mine.name} and {peer.name}", a, b)
                differences[peer.name] = max(apart, differences.get(peer.name, 0.0))
    return differences


def _values(engine: Engine, data: Queries) -> tuple[Values, Values]:
    assert engine.call is not None
    return engine.read(engine.call(data))


def _print(engines: list[Engine], differences: dict[str, float], count: int, repetitions: int) -> None:
    together, one_by_one = engines[:2]
    lines = []
    for engine in engines:
        rate = engine.queries / median(engine.seconds)
        ours = one_by_one if engine.name.endswith(_ONE_BY_ONE) else together
        ratios = [(ours.queries / a) / (engine.queries / b) for a, b in zip(ours.seconds, engine.seconds, strict=True)]
        lines.append(
            (
                engine.name,
                f"{engine.queries:,}",
                f"{engine.first_call:.1f}",
                f"{median(engine.seconds):.2f}",
                f"{rate:,.0f}",
                "" if engine is ours else f"{median(ratios):.1f}x",
                "" if engine is ours else f"{min(ratios):.1f}-{max(ratios):.1f}",
                f"{differences[engine.name]:.0e}" if engine.name in differences else "",
            )
        )
    table(
        f"RANKING  NDCG@10 and recall@10, {count:,} queries x {DEPTH} documents, from lists to scores;\n"
        f"         median of {repetitions}; ratio: how many times as fast ragmeter is, called in the same way",
        ("engine", "queries", "first call", "seconds", "queries/s", "ratio", "(range)", "off by"),
        lines,
    )


def _ragmeter_block() -> Callable[[Queries], Any]:
    from ragmeter import get_metric
    from ragmeter.table import RELEVANCE_GRADES, Block

    metrics = get_metric(f"ndcg@{DEPTH}"), get_metric(f"recall@{DEPTH}")

    def call(data: Queries) -> Any:
        grades = [None] * len(data)  # as the engine has it for a table without grades
        block = Block({"relevant": data.relevant, "retrieved": data.retrieved, RELEVANCE_GRADES: grades})
        return tuple(metric.score(block)[0] for metric in metrics)

    return call


def _ragmeter_calls() -> Callable[[Queries], Any]:
    from ragmeter import get_metric

    metrics = get_metric(f"ndcg@{DEPTH}"), get_metric(f"recall@{DEPTH}")
    return lambda data: tuple(metric(data.relevant, data.retrieved) for metric in metrics)


def _dicts(data: Queries) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """The form that pytrec_eval and ranx take. They sort by score, so scores fall with the rank."""
    names = _names(len(data))
    scores = [float(DEPTH - rank) for rank in range(DEPTH)]
    gold = {name: dict.fromkeys(documents, 1) for name, documents in zip(names, data.relevant, strict=True)}
    run = {
        name: dict(zip(documents, scores, strict=True)) for name, documents in zip(names, data.retrieved, strict=True)
    }
    return gold, run


def _names(count: int) -> list[str]:
    """Ids of queries that sort in their order."""
    return [f"q{number:07d}" for number in range(count)]


def _pytrec_eval() -> Callable[[Queries], Any]:
    import pytrec_eval

    def call(data: Queries) -> Any:
        gold, run = _dicts(data)
        return pytrec_eval.RelevanceEvaluator(gold, {f"ndcg_cut.{DEPTH}", f"recall.{DEPTH}"}).evaluate(run)

    return call


def _pytrec_eval_calls() -> Callable[[Queries], Any]:
    import pytrec_eval

    def call(data: Queries) -> Any:
        values: dict[str, dict[str, float]] = {}
        for measure in (f"ndcg_cut.{DEPTH}", f"recall.{DEPTH}"):
            gold, run = _dicts(data)
            for name, by_measure in pytrec_eval.RelevanceEvaluator(gold, {measure}).evaluate(run).items():
                values.setdefault(name, {}).update(by_measure)
        return values

    return call


def _read_pytrec_eval(result: dict[str, dict[str, float]]) -> tuple[Values, Values]:
    names = _names(len(result))
    ndcg, recall = ([result[name][f"{key}_{DEPTH}"] for name in names] for key in ("ndcg_cut", "recall"))
    return np.array(ndcg), np.array(recall)


def _ranx() -> Callable[[Queries], Any]:
    import ranx

    warnings.filterwarnings("ignore", module="ranx")  # numba's doubts about ranx's own casts

    def call(data: Queries) -> Any:
        gold, run = _dicts(data)
        metrics = [f"ndcg@{DEPTH}", f"recall@{DEPTH}"]
        return ranx.evaluate(ranx.Qrels(gold), ranx.Run(run), metrics, return_mean=False, save_results_in_run=False)

    return call


def _trectools() -> Callable[[Queries], Any]:
    import pandas as pd
    from trectools import TrecEval, TrecQrel, TrecRun

    def frame(lists: Lists, names: list[str]) -> Any:
        counts = [len(items) for items in lists]
        return pd.DataFrame({"query": np.repeat(names, counts), "docid": [item for items in lists for item in items]})

    def call(data: Queries) -> Any:
        names = _names(len(data))
        run, gold = TrecRun(), TrecQrel()
        run.run_data = frame(data.retrieved, names).assign(score=np.tile(np.arange(DEPTH, 0, -1), len(names)))
        gold.qrels_data = frame(data.relevant, names).assign(rel=1)
        judged = TrecEval(run, gold)
        measures = judged.get_ndcg(DEPTH, per_query=True), judged.get_recall(DEPTH, per_query=True)
        return tuple(frame.reindex(names).fillna(0.0).to_numpy(dtype=np.float64)[:, 0] for frame in measures)

    return call

"""Metrics of what an agent does on its way to an answer: its retrievals, its calls of tools, its steps and their cost.

They read the column `hops` (`documents/hops.py`), which traces have and which `ask` fills for agents, and `tool_calls`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal

import numpy as np

from ragmeter.definition import column, metric
from ragmeter.documents.hops import RETRIEVAL, Hop, read_hops
from ragmeter.metrics.chunks import Pattern, documents
from ragmeter.metrics.tokens import text_array
from ragmeter.table import IDS_AS_WRITTEN, NEVER_FOUND, NO_CALLS, NO_HOP_IDS, NO_NUMBER, NOT_HOPS, Failed

Checked = list[float | Failed]
#: Under these names a call has its arguments; `input_parameters` are DeepEval's.
_ARGUMENTS = ("arguments", "args", "input_parameters", "input")


@dataclass(frozen=True)
class Finds:
    """What the retrievals of a row found: gold documents, and the documents of each retrieval, as numbers.

    `problem` is why nobody can tell.
    """

    gold: frozenset[int]
    hops: Sequence[frozenset[int]] = ()
    problem: str | None = None

    def by_hop(self) -> list[int]:
        """How many gold documents were found by the end of each retrieval."""
        together: Iterable[frozenset[int]] = accumulate(self.hops, lambda before, hop: before | hop)
        return [len(found & self.gold) for found in together]


@column
def hop_list(hops: Sequence[str]) -> list[tuple[Hop, ...] | None]:
    """The hops of each row; None where its cell can't be read."""
    return [read_hops(cell) for cell in hops]


@column(may_lack=(IDS_AS_WRITTEN,))
def hop_finds(
    hop_list: Sequence[tuple[Hop, ...] | None],
    relevant: Sequence[Sequence[str]],
    ids_as_written: Sequence[str | None],
    *,
    doc_id: str | None,
) -> list[Finds]:
    """What the retrievals of each row found."""
    lists: list[Sequence[str]] = []
    for of_row, gold in zip(hop_list, relevant, strict=True):
        lists += [gold, *(hop.ids or () for hop in of_row or () if hop.kind == RETRIEVAL)]
    names = text_array([name for ids in lists for name in ids])
    numbers = documents(names, doc_id, as_written=any(ids_as_written)).tolist()
    starts = [0, *accumulate(map(len, lists))]
    sets = iter(frozenset(numbers[begin:end]) for begin, end in pairwise(starts))
    finds = []
    for of_row in hop_list:
        gold_numbers = next(sets)
        retrievals = [hop for hop in of_row or () if hop.kind == RETRIEVAL]
        finds.append(Finds(gold_numbers, [next(sets) for _ in retrievals], _problem(of_row, retrievals)))
    return finds


def _problem(hops: tuple[Hop, ...] | None, retrievals: Sequence[Hop]) -> str | None:
    """Why it can't be told which documents were retrieved: a tool that returns a text may have searched."""
    if hops is None:
        return NOT_HOPS
    texts_alone = [hop for hop in hops if hop.texts and hop.ids is None]
    has_ids = any(hop.ids is not None for hop in retrievals)
    return NO_HOP_IDS if texts_alone and not has_ids else None


@metric(direction="higher")
def hop_recall(hop_finds: Sequence[Finds], *, k: int | None = None, doc_id: Pattern | None = None) -> Checked:
    """Share of the gold documents that an agent's first k retrievals found, together.

    **Formula.** `|found by retrieval 1 to k ∩ gold| / |gold|`, over distinct documents; without `k`, over all
    retrievals. `hop_recall@1,hop_recall@2` show what the second one adds.

    **Edge cases.** No retrieval at all: 0. No gold documents: no score (`no_relevant`). Texts without ids, be they a
    tool's: no score (`no_hop_ids`).

    **Use it** for agents that search several times. **Not** for the order within one retrieval: see `ndcg@k`.
    """
    return [
        Failed(row.problem) if row.problem else ([0, *row.by_hop()][: None if k is None else k + 1])[-1] / len(row.gold)
        for row in hop_finds
    ]


@metric(direction="lower", bounds=(1.0, float("inf")))
def first_hit_hop(
    hop_finds: Sequence[Finds], *, gold: Literal["any", "all"] = "any", doc_id: Pattern | None = None
) -> Checked:
    """The number of the retrieval that was the first to find a gold document: 1 is the best.

    **Formula.** The least k for which `hop_recall@k` is above 0; with `gold=all`, for which it is 1.

    **Edge cases.** Never found: no score (`never_found`); how many these are stands beside the mean. Otherwise as
    `hop_recall`.

    **Use it** for how long an agent searches before it finds. **Not** without `hop_recall`: a system that rarely finds
    anything may find it early.
    """
    scores: Checked = []
    for row in hop_finds:
        wanted = len(row.gold) if gold == "all" else 1
        hop = next((hop for hop, found in enumerate(row.by_hop(), 1) if found >= wanted), None)
        scores.append(Failed(row.problem) if row.problem else Failed(NEVER_FOUND) if hop is None else float(hop))
    return scores


@metric(direction="lower", bounds=(0.0, float("inf")))
def wasted_hops(hop_finds: Sequence[Finds], *, doc_id: Pattern | None = None) -> Checked:
    """How many of an agent's retrievals found no gold document that an earlier one had not found.

    **Formula.** The number of retrievals that add nothing to `hop_recall`.

    **Edge cases.** No retrieval: 0. Otherwise as `hop_recall`.

    **Use it** for what searching costs in vain. **Not** where other documents than the gold ones
    would have helped, too.
    """
    return [
        Failed(row.problem)
        if row.problem
        else float(sum(before == found for before, found in pairwise([0, *row.by_hop()])))
        for row in hop_finds
    ]


@metric(direction="lower", bounds=(0.0, float("inf")))
def step_count(
    hop_list: Sequence[tuple[Hop, ...] | None], *, kind: Literal["all", "llm", "retrieval", "tool"] = "all"
) -> Checked:
    """How many steps the system took: calls of models, calls of tools and retrievals.

    **Formula.** The number of hops, of one `kind` or of all; a retrieval by a tool is one hop, and of both kinds.

    **Edge cases.** No hop: 0. A row without hops, or with other things in that column, has no score.

    **Use it** beside a metric of answers: the same quality in fewer steps is better. **Not** by itself.
    """

    def counts(hop: Hop) -> bool:
        return kind in ("all", hop.kind) or (kind == "tool" and hop.tool is not None)

    return [Failed(NOT_HOPS) if hops is None else float(sum(map(counts, hops))) for hops in hop_list]


@metric(direction="lower", bounds=(0.0, float("inf")))
def cost_per_question(cost_usd: Sequence[Any]) -> Checked:
    """What an answer has cost, in US dollars.

    **Formula.** The column `cost_usd`: the sum over a trace's calls of models, or what a system returned as `cost` or
    `cost_usd` beside its answer.

    **Edge cases.** A row without a cost, or with one that is no number, has no score.

    **Use it** to compare systems at their price. **Not** for a bound on single questions: see `max_cost`.
    """
    return [_dollars(cost) for cost in cost_usd]


def _dollars(cost: Any) -> float | Failed:
    try:
        dollars = float(cost)
    except (TypeError, ValueError):
        return Failed(NO_NUMBER)
    return dollars if np.isfinite(dollars) and dollars >= 0 else Failed(NO_NUMBER)


@dataclass(frozen=True)
class Call:
    """A call of a tool; `arguments` are None where none are expected in particular."""

    name: str
    arguments: Hashable = None


@dataclass(frozen=True)
class Calls:
    """The calls that were made in a row and those that were expected; None where nobody knows."""

    made: Sequence[Call] | None
    expected: Sequence[Call] | None


@column(may_lack=("hops", "tool_calls"))
def call_lists(
    expected_tool_calls: Sequence[str], hops: Sequence[str | None], tool_calls: Sequence[str | None]
) -> list[Calls]:
    """The expected calls of tools and those that were made: by `tool_calls`, else by the hops."""
    return [
        Calls(_calls_in(own) if own is not None else _calls_of(cell), _calls_in(expected))
        for expected, cell, own in zip(expected_tool_calls, hops, tool_calls, strict=True)
    ]


@metric(direction="higher", binary=True)
def tool_calls_match(call_lists: Sequence[Calls], *, arguments: bool = True, order: bool = False) -> Checked:
    """Whether the system called the expected tools, with the expected arguments, and no others.

    **Formula.** 1 if the calls that were made are those of the column `expected_tool_calls`, each as often. It is a
    JSON list of names, or of objects with `name` and `arguments`; the calls that were made are in `tool_calls`, in the
    same form, or in the hops. `arguments=no` compares names alone, `order=yes` wants the same order.

    **Edge cases.** An expected call without arguments may have any. `[]` expects that nothing is called. A row without
    expected calls has no score (`no_expected_tool_calls`), nor one whose calls nobody knows (`no_calls`).

    **Use it** where the way matters: what is booked, written, sent. **Not** where several ways lead there: see
    `tool_call_f1`.
    """

    def score(made: Sequence[Call], expected: Sequence[Call]) -> float:
        if len(made) != len(expected):
            return 0.0
        if order:
            return float(all(map(_fits, made, expected)))
        return float(_n_matched(made, expected) == len(expected))

    return _scored(call_lists, score, arguments=arguments)


@metric(direction="higher")
def tool_call_f1(call_lists: Sequence[Calls], *, arguments: bool = True) -> Checked:
    """Harmonic mean of precision and recall over calls of tools.

    **Formula.** `2 · matched / (made + expected)`; each expected call is matched by at most one that was made.

    **Edge cases.** Nothing expected and nothing called: 1. Otherwise as `tool_calls_match`.

    **Use it** where a call too many or too few is half right. **Not** where the order matters.
    """

    def score(made: Sequence[Call], expected: Sequence[Call]) -> float:
        total = len(made) + len(expected)
        return 2 * _n_matched(made, expected) / total if total else 1.0

    return _scored(call_lists, score, arguments=arguments)


def _scored(rows: Sequence[Calls], score: Any, *, arguments: bool) -> Checked:
    scores: Checked = []
    for row in rows:
        if row.made is None or row.expected is None:
            scores.append(Failed(NO_CALLS))
        elif arguments:
            scores.append(score(row.made, row.expected))
        else:
            scores.append(score([Call(call.name) for call in row.made], [Call(call.name) for call in row.expected]))
    return scores


def _fits(made: Call, expected: Call) -> bool:
    return made.name == expected.name and expected.arguments in (None, made.arguments)


def _n_matched(made: Sequence[Call], expected: Sequence[Call]) -> int:
    """How many expected calls were made; those with arguments choose first."""
    exact = Counter(made) & Counter(call for call in expected if call.arguments is not None)
    left = Counter(made) - exact
    names = Counter(call.name for call in left.elements())
    free = Counter(call.name for call in expected if call.arguments is None)
    return exact.total() + (names & free).total()


def _calls_of(cell: str | None) -> list[Call] | None:
    hops = None if cell is None else read_hops(cell)
    try:
        return None if hops is None else [Call(hop.tool, _frozen(hop.arguments)) for hop in hops if hop.tool]
    except RecursionError:
        return None


def _calls_in(cell: Any) -> list[Call] | None:
    """The calls in a cell; None if a part of it is none."""
    listed = _json(cell)
    try:
        calls = [_call(item) for item in listed] if isinstance(listed, list) else [None]
    except RecursionError:
        return None
    return [call for call in calls if call is not None] if None not in calls else None


def _call(item: Any) -> Call | None:
    if isinstance(item, str):
        return Call(item)
    if not isinstance(item, Mapping):
        return None
    inner = item["function"] if isinstance(item.get("function"), Mapping) else item
    name = inner.get("name", inner.get("tool_name"))
    arguments = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), None)
    return Call(name, None if arguments is None else _frozen(_json(arguments))) if isinstance(name, str) else None


def _json(cell: Any) -> Any:
    """What a text is in JSON; anything else, and a text that is none, as it is."""
    try:
        return json.loads(cell) if isinstance(cell, str) else cell
    except (ValueError, RecursionError):
        return cell


def _frozen(value: Any) -> Hashable:
    """A value of JSON that can be compared and counted: 1 and 1.0 are equal, 1 and true are not."""
    if isinstance(value, Mapping):
        return frozenset((str(key), _frozen(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return (type(value).__name__, value) if isinstance(value, bool | str) or value is None else value

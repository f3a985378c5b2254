"""Explains a verdict in words: each piece of evidence with its weight in log-odds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ragmeter.metrics.normalize import AUTO
from ragmeter.metrics.offline import RIGHT
from ragmeter.metrics.offline.features import FEATURES, NAMES, evidence_lines
from ragmeter.metrics.offline.guards import guard_of
from ragmeter.metrics.offline.matching.comparison import Compared, compared_pairs
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import Bools, Floats, Texts
from ragmeter.metrics.offline.trees import trees

CAP = "cap"
_AT_ONCE = 256  # rows
_MOST = 8  # words that are named; the others are counted
_FIGURE = Mark.NUMBER | Mark.MONTH


@dataclass(frozen=True)
class Evidence:
    """A piece of evidence: its topic, the finding in words, and its contribution to the log-odds of being right."""

    about: str
    says: str
    weight: float


@dataclass(frozen=True)
class RunVerdict:
    """What a run has on a row by its own judge: the value of a column, who decided (`by`, `model`), and why.

    Without a value, `outcome` says what went wrong. `probability` is that of the better value.
    """

    column: str
    value: str | None
    outcome: str | None
    by: str | None
    model: str | None
    reason: str | None
    probability: float | None


@dataclass(frozen=True)
class Explanation:
    """A verdict of the offline judge with its evidence.

    The weights of `evidence` and `prior` add up to the log-odds of `probability`, or of `uncalibrated` if a
    `calibration` was applied. `judged` is what the run itself says of the row, where it has a judge's columns: that is
    what its scores come from, also where the offline judge is of another opinion.
    """

    probability: float
    correct: bool
    reference: str
    language: str
    prior: float
    evidence: tuple[Evidence, ...]
    calibration: str | None = None
    uncalibrated: float | None = None
    judged: tuple[RunVerdict, ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The evidence as a dict for JSON."""
        return asdict(self)


def explain_answer(question: str, references: Sequence[str], answer: str, language: str | None = None) -> Explanation:
    """Judge one answer and explain the verdict. The reference with the highest probability is the one explained."""
    return explain_answers([question], [references], [answer], language)[0]


def explain_answers(
    questions: Sequence[str],
    references: Sequence[Sequence[str]],
    answers: Sequence[str],
    language: str | None = None,
) -> list[Explanation]:
    """Judge answers and explain each verdict. `references` has the gold answers of each row."""
    if not all(references):
        raise ValueError("there is no reference to compare the answer with")
    rows = list(zip(questions, references, answers, strict=True))
    code = None if language == AUTO else language
    blocks = (rows[begin : begin + _AT_ONCE] for begin in range(0, len(rows), _AT_ONCE))
    return [explanation for block in blocks for explanation in _explain(block, code)]


def _explain(rows: Sequence[tuple[str, Sequence[str], str]], language: str | None) -> list[Explanation]:
    pairs = [(row, asked, gold, answer) for row, (asked, golds, answer) in enumerate(rows) for gold in golds]
    questions, references, answers = ([str(pair[side]) for pair in pairs] for side in (1, 2, 3))
    best: dict[int, tuple[float, str, Compared, int, Floats]] = {}  # by row
    for compared in compared_pairs(questions, references, answers, language):
        lines = evidence_lines(compared)
        chances = trees().probabilities(lines).tolist()
        for place, number in enumerate(compared.rows.tolist()):
            row = pairs[number][0]
            if row not in best or chances[place] > best[row][0]:
                best[row] = chances[place], references[number], compared, place, lines[place]
    chosen = [best[row] for row in range(len(rows))]
    contributions = trees().contributions(np.array([line for *_, line in chosen]))
    return [_explanation(*own, weights) for own, weights in zip(chosen, contributions.tolist(), strict=True)]


def _explanation(
    probability: float, reference: str, compared: Compared, place: int, line: Floats, weights: Sequence[float]
) -> Explanation:
    weight_of = dict.fromkeys((feature.topic for feature in FEATURES), 0.0)
    for feature, weight in zip(FEATURES, weights, strict=True):
        weight_of[feature.topic] += weight
    says = _findings(compared, place, dict(zip(NAMES, line.tolist(), strict=False)))
    pieces = [Evidence(about, says[about], weight) for about, weight in weight_of.items()]
    lowered = _log_odds(probability) - (trees().prior + sum(weight_of.values()))
    guard = guard_of(float(line[-1]))
    if guard is not None and abs(lowered) > 1e-9:
        limit = f"capped at {guard.cap:g}" if lowered < 0 else f"at least {guard.floor:g}"
        pieces.append(Evidence(CAP, f"the chance is {limit} because {guard.because}", lowered))
    pieces.sort(key=lambda piece: -abs(piece.weight))
    return Explanation(probability, probability >= RIGHT, reference, compared.language, trees().prior, tuple(pieces))


def _log_odds(chance: float) -> float:
    return math.log(chance / (1 - chance)) if 0 < chance < 1 else math.copysign(math.inf, chance - RIGHT)


def _findings(compared: Compared, place: int, features: Mapping[str, float]) -> dict[str, str]:
    """What each topic of the evidence found in one of the pairs, in words."""
    pairs, gold, answer = compared.pairs, compared.pairs.gold, compared.pairs.answer
    figure = gold.has(_FIGURE)
    word = pairs.content & ~figure
    word |= pairs.content & (gold.per_text(word) == 0)[gold.text]  # numbers too where there is nothing else
    other_word, capital = pairs.other & pairs.answer_content, answer.has(Mark.CAPITAL)

    def listed(otherwise: str, *findings: tuple[str, Texts, Bools]) -> str:
        """The words that are evidence, with a title each; or what to say if there are none."""
        words = ((title, _words(compared, side, place, flags)) for title, side, flags in findings)
        return "; ".join(f"{title}: {named}" for title, named in words if named) or otherwise

    n_parts, n_words = int(pairs.parts.number[place]), int(np.diff(answer.starts)[place])
    first = f"the first gold word is word {round(math.expm1(features['position'])) + 1}"
    return {
        "gold words": listed(
            "the gold answer has none that say anything",
            ("found", gold, word & pairs.exact),
            ("found in another spelling or form", gold, word & ~pairs.exact & (pairs.credit > 0)),
            ("missing", gold, word & (pairs.credit == 0)),
        ),
        "list": f"{n_parts} parts, of the least found {features['parts_found']:.0%}"
        if n_parts > 1
        else "the gold answer has one part",
        "other candidates": listed(
            "the answer says nothing else",
            ("names", answer, other_word & capital),
            ("other words", answer, other_word & ~capital),
        ),
        "length": f"the answer has {n_words:,} word{'s' if n_words != 1 else ''}",
        "position": first if features["recall_new"] else "no gold word stands in the answer",
        "question": listed("it has no gold word", ("it has gold words itself", gold, pairs.content & pairs.gold_asked)),
        "numbers": listed(
            "neither side has numbers of its own",
            ("found", gold, figure & pairs.exact),
            ("found roughly", gold, figure & pairs.rough),
            ("missing", gold, figure & ~pairs.exact & ~pairs.rough),
            ("the answer has", answer, pairs.other & (answer.marks & (_FIGURE | Mark.WEAK) == Mark.NUMBER)),
        )
        + ("; they contradict each other" if features["numbers_contradicted"] else ""),
        "negation": listed("nothing is negated", ("in the answer", answer, pairs.other & answer.has(Mark.NEGATION))),
        "refusal": ("the answer declines to answer" if n_words else "the answer is empty")
        if features["refusal"]
        else "no refusal",
        "alternatives": listed(
            "the answer gives one candidate",
            ("joined by", answer, answer.has(Mark.EITHER) & ~pairs.answer_asked),
            ("hedged by", answer, answer.has(Mark.HEDGE) & ~pairs.answer_gold),
        ),
    }


def _words(compared: Compared, side: Texts, place: int, flags: Bools) -> str:
    """The flagged words of one pair's text on a side, without repetitions."""
    span = slice(int(side.starts[place]), int(side.starts[place + 1]))
    words = list(dict.fromkeys(compared.vocabulary.properties.words[side.ids[span][flags[span]]].tolist()))
    return ", ".join(words[:_MOST]) + (f" and {len(words) - _MOST} more" if len(words) > _MOST else "")

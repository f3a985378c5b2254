"""Explains a verdict in words: each piece of evidence with its weight in log-odds."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragmeter.metrics.normalize import AUTO
from ragmeter.metrics.offline.comparing import Compared, matches
from ragmeter.metrics.offline.features import FEATURES, NAMES, evidence_lines
from ragmeter.metrics.offline.guards import guard_of
from ragmeter.metrics.offline.matching import Match
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.trees import trees
from ragmeter.metrics.offline.vocabulary import Bools, Floats, Texts

RIGHT = 0.5
CAP = "cap"
_AT_ONCE = 256  # rows
_MOST = 8  # words that are named; the others are counted


@dataclass(frozen=True)
class Evidence:
    """A piece of evidence: its topic, the finding in words, and its contribution to the log-odds of being right."""

    about: str
    says: str
    weight: float


@dataclass(frozen=True)
class Explanation:
    """A verdict of the offline judge with its evidence.

    The weights of `evidence` and `prior` add up to the log-odds of `probability`, or of `uncalibrated` if a
    `calibration` was applied.
    """

    probability: float
    correct: bool
    reference: str
    language: str
    prior: float
    evidence: tuple[Evidence, ...]
    calibration: str | None = None
    uncalibrated: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
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
    row_of = [row for row, *_ in pairs]
    questions, references, answers = ([str(pair[side]) for pair in pairs] for side in (1, 2, 3))
    best: dict[int, tuple[float, str, _Pair]] = {}
    for compared in matches(questions, references, answers, language):
        lines = evidence_lines(compared)
        chances = trees().probabilities(lines).tolist()
        for place, number in enumerate(compared.rows.tolist()):
            row = row_of[number]
            if row not in best or chances[place] > best[row][0]:
                best[row] = chances[place], references[number], _Pair(compared, place, lines[place])
    chosen = [best[row] for row in range(len(rows))]
    contributions = trees().contributions(np.array([pair.line for *_, pair in chosen]))
    return [_explanation(*own, weights) for own, weights in zip(chosen, contributions.tolist(), strict=True)]


def _explanation(probability: float, reference: str, pair: _Pair, weights: Sequence[float]) -> Explanation:
    weight_of = dict.fromkeys((piece.evidence for piece in FEATURES), 0.0)
    for feature, weight in zip(FEATURES, weights, strict=True):
        weight_of[feature.evidence] += weight
    pieces = [Evidence(about, _SAYS[about](pair), weight) for about, weight in weight_of.items()]
    lowered = _log_odds(probability) - (trees().prior + sum(weight_of.values()))
    guard = guard_of(float(pair.line[-1]))
    if guard is not None and abs(lowered) > 1e-9:
        limit = f"capped at {guard.cap:g}" if lowered < 0 else f"at least {guard.floor:g}"
        pieces.append(Evidence(CAP, f"the chance is {limit} because {guard.because}", lowered))
    pieces.sort(key=lambda piece: -abs(piece.weight))
    language = pair.compared.language
    return Explanation(probability, probability >= RIGHT, reference, language, trees().prior, tuple(pieces))


def _log_odds(chance: float) -> float:
    return math.log(chance / (1 - chance)) if 0 < chance < 1 else math.copysign(math.inf, chance - RIGHT)


class _Pair:
    """One pair of a match, with its features by name."""

    def __init__(self, compared: Compared, place: int, line: Floats) -> None:
        self.compared, self.match, self.line, self.place = compared, compared.pairs, line, place
        self.features = dict(zip(NAMES, line.tolist(), strict=False))

    def words(self, side: Texts, flags: Bools) -> str:
        """The flagged words of this pair's text on a side, without repetitions."""
        span = slice(int(side.starts[self.place]), int(side.starts[self.place + 1]))
        words = list(dict.fromkeys(self.compared.vocabulary.properties.words[side.ids[span][flags[span]]].tolist()))
        return ", ".join(words[:_MOST]) + (f" and {len(words) - _MOST} more" if len(words) > _MOST else "")

    def finding(self, about: str, otherwise: str) -> str:
        """The words that are evidence, with a title each; or what to say if there are none."""
        listed = (
            (title, self.words(getattr(self.match, side), flags(self.match))) for title, side, flags in _FINDINGS[about]
        )
        return "; ".join(f"{title}: {words}" for title, words in listed if words) or otherwise


def _word(match: Match) -> Bools:
    """The gold answer's content words that are no numbers; numbers too where it has nothing else."""
    word = match.content & ~match.gold.has(_FIGURE)
    return np.asarray(word | (match.content & (match.gold.per_text(word) == 0)[match.gold.text]))


def _figure(match: Match) -> Bools:
    return match.gold.has(_FIGURE)


def _other(match: Match) -> Bools:
    """The answer's words that are neither gold nor the question's."""
    return np.asarray(~match.answer_gold & ~match.answer_asked)


_FIGURE = Mark.NUMBER | Mark.MONTH
#: For each kind of evidence titles, and the words that stand after each: of which side, and which.
_FINDINGS: dict[str, tuple[tuple[str, str, Callable[[Match], Bools]], ...]] = {
    "gold words": (
        ("found", "gold", lambda pair: _word(pair) & pair.exact),
        ("found in another spelling or form", "gold", lambda pair: _word(pair) & ~pair.exact & (pair.credit > 0)),
        ("missing", "gold", lambda pair: _word(pair) & (pair.credit == 0)),
    ),
    "numbers": (
        ("found", "gold", lambda pair: _figure(pair) & pair.exact),
        ("found roughly", "gold", lambda pair: _figure(pair) & pair.rough),
        ("missing", "gold", lambda pair: _figure(pair) & ~pair.exact & ~pair.rough),
        (
            "the answer has",
            "answer",
            lambda pair: _other(pair) & (pair.answer.marks & (_FIGURE | Mark.WEAK) == Mark.NUMBER),
        ),
    ),
    "question": (("it has gold words itself", "gold", lambda pair: pair.content & pair.gold_asked),),
    "negation": (("in the answer", "answer", lambda pair: _other(pair) & pair.answer.has(Mark.NEGATION)),),
    "alternatives": (
        ("joined by", "answer", lambda pair: pair.answer.has(Mark.EITHER) & ~pair.answer_asked),
        ("hedged by", "answer", lambda pair: pair.answer.has(Mark.HEDGE) & ~pair.answer_gold),
    ),
    "other candidates": (
        ("names", "answer", lambda pair: _other(pair) & pair.answer_content & pair.answer.has(Mark.CAPITAL)),
        ("other words", "answer", lambda pair: _other(pair) & pair.answer_content & ~pair.answer.has(Mark.CAPITAL)),
    ),
}


def _position(pair: _Pair) -> str:
    if not pair.features["recall_new"]:
        return "no gold word stands in the answer"
    return f"the first gold word is word {round(math.expm1(pair.features['position'])) + 1}"


def _numbers(pair: _Pair) -> str:
    contradict = "; they contradict each other" if pair.features["numbers_contradicted"] else ""
    return pair.finding("numbers", "neither side has numbers of its own") + contradict


def _list(pair: _Pair) -> str:
    number = int(pair.match.parts.number[pair.place])
    found = f"{number} parts, of the least found {pair.features['parts_found']:.0%}"
    return found if number > 1 else "the gold answer has one part"


def _length(pair: _Pair) -> str:
    number = int(np.diff(pair.match.answer.starts)[pair.place])
    return f"the answer has {number:,} word{'s' if number != 1 else ''}"


_SAYS: dict[str, Callable[[_Pair], str]] = {
    "gold words": lambda pair: pair.finding("gold words", "the gold answer has none that say anything"),
    "list": _list,
    "other candidates": lambda pair: pair.finding("other candidates", "the answer says nothing else"),
    "length": _length,
    "position": _position,
    "question": lambda pair: pair.finding("question", "it has no gold word"),
    "numbers": _numbers,
    "negation": lambda pair: pair.finding("negation", "nothing is negated"),
    "refusal": lambda pair: "the answer declines to answer" if pair.features["refusal"] else "no refusal",
    "alternatives": lambda pair: pair.finding("alternatives", "the answer gives one candidate"),
}

"""What decided, in words: each piece of evidence with its weight in log-odds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragmeter.metrics.normalize import AUTO
from ragmeter.metrics.offline.comparing import Compared, matches
from ragmeter.metrics.offline.features import FEATURES, NAMES, evidence_lines, new_gold
from ragmeter.metrics.offline.guards import guard_of
from ragmeter.metrics.offline.tables import QUESTIONS, Mark
from ragmeter.metrics.offline.trees import trees
from ragmeter.metrics.offline.vocabulary import Bools, Floats, Texts

RIGHT = 0.5
CAP = "cap"
_AT_ONCE = 256  # rows
_MOST = 8  # words that are named; the others are counted


@dataclass(frozen=True)
class Evidence:
    """One piece: what it is about, what was found, and by how much it moved the log-odds of being right."""

    about: str
    says: str
    weight: float


@dataclass(frozen=True)
class Explanation:
    """A verdict of the offline judge, and what led to it.

    The weights of `evidence` and `prior` add up to the log-odds of `probability`; of `uncalibrated` where a
    `calibration` of one's own has bent that.
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
    """Judge one answer, and say why. The reference that speaks for it most is the one that is compared."""
    return explain_answers([question], [references], [answer], language)[0]


def explain_answers(
    questions: Sequence[str],
    references: Sequence[Sequence[str]],
    answers: Sequence[str],
    language: str | None = None,
) -> list[Explanation]:
    """Judge answers, and say why of each. `references` has the gold answers of each row."""
    if not all(references):
        raise ValueError("there is no reference to compare the answer with")
    rows = list(zip(questions, references, answers, strict=True))
    code = None if language == AUTO else language
    return [each for begin in range(0, len(rows), _AT_ONCE) for each in _explain(rows[begin : begin + _AT_ONCE], code)]


def _explain(rows: Sequence[tuple[str, Sequence[str], str]], language: str | None) -> list[Explanation]:
    asked, wanted, told, row_of = [], [], [], []
    for row, (question, references, answer) in enumerate(rows):
        for reference in references:
            asked.append(question)
            wanted.append(reference)
            told.append(answer)
            row_of.append(row)
    best: dict[int, tuple[float, int, _Pair]] = {}
    for found in matches(asked, wanted, told, language):
        lines = evidence_lines(found)
        chances = trees().probabilities(lines).tolist()
        for place, number in enumerate(found.rows.tolist()):
            row = row_of[number]
            if row not in best or chances[place] > best[row][0]:
                best[row] = chances[place], number, _Pair(found, place, lines[place])
    chosen = [best[row] for row in range(len(rows))]
    moved = trees().contributions(np.array([pair.line for *_, pair in chosen]))
    return [
        _explanation(probability, wanted[number], pair, weights)
        for (probability, number, pair), weights in zip(chosen, moved.tolist(), strict=True)
    ]


def _explanation(probability: float, reference: str, pair: _Pair, weights: Sequence[float]) -> Explanation:
    moved = dict.fromkeys((each.evidence for each in FEATURES), 0.0)
    for feature, weight in zip(FEATURES, weights, strict=True):
        moved[feature.evidence] += weight
    pieces = [Evidence(about, _SAYS[about](pair), weight) for about, weight in moved.items()]
    lowered = _log_odds(probability) - (trees().prior + sum(moved.values()))
    guard = guard_of(float(pair.line[-1]))
    if guard is not None and lowered < -1e-9:
        pieces.append(Evidence(CAP, f"the chance is capped at {guard.cap:g} because {guard.because}", lowered))
    pieces.sort(key=lambda each: -abs(each.weight))
    return Explanation(probability, probability >= RIGHT, reference, pair.language, trees().prior, tuple(pieces))


def _log_odds(chance: float) -> float:
    return math.log(chance / (1 - chance)) if 0 < chance < 1 else math.copysign(math.inf, chance - RIGHT)


class _Pair:
    """One pair of a match, with its features by name."""

    def __init__(self, found: Compared, place: int, line: Floats) -> None:
        self.match, self.language, self.line = found.pairs, found.language, line
        self._words = found.words
        self.features = dict(zip(NAMES, line.tolist(), strict=False))
        self._place = place

    def of(self, side: Texts) -> slice:
        """Where this pair's text is among the items of a side."""
        return slice(int(side.starts[self._place]), int(side.starts[self._place + 1]))

    def words(self, side: Texts, which: Bools) -> str:
        """The words of this pair's text that are chosen, each once."""
        here = self.of(side)
        return _listed(self._words[side.ids[here][which[here]]].tolist())


def _listed(words: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(words))
    more = f" and {len(distinct) - _MOST} more" if len(distinct) > _MOST else ""
    return ", ".join(distinct[:_MOST]) + more


def _counted(number: int) -> str:
    return "1 word" if number == 1 else f"{number:,} words"


def _parts(*parts: tuple[str, str]) -> str:
    return "; ".join(f"{what}: {words}" for what, words in parts if words)


def _gold_words(pair: _Pair) -> str:
    match = pair.match
    word = match.content & ~match.gold.has(Mark.NUMBER | Mark.MONTH)
    if not pair.words(match.gold, word):  # nothing but numbers
        word = match.content
    return (
        _parts(
            ("found", pair.words(match.gold, word & match.exact)),
            ("found in another form", pair.words(match.gold, word & ~match.exact & (match.credit > 0))),
            ("missing", pair.words(match.gold, word & (match.credit == 0))),
        )
        or "the gold answer has none that say anything"
    )


def _spelling(pair: _Pair) -> str:
    match = pair.match
    near = match.content & ~match.exact & (match.credit > 0)
    inside = pair.features["squashed"] or pair.features["inside"]
    return (
        _parts(
            ("found in another spelling or form", pair.words(match.gold, near)),
            ("run together or apart", pair.words(match.gold, match.content) if inside else ""),
            ("abbreviated", pair.words(match.gold, match.content) if pair.features["acronym"] else ""),
        )
        or "no word is spelled otherwise"
    )


def _numbers(pair: _Pair) -> str:
    match = pair.match
    number = match.gold.has(Mark.NUMBER | Mark.MONTH)
    other = match.answer.has(Mark.NUMBER | Mark.MONTH) & ~match.answer_gold & ~match.answer_asked
    said = _parts(
        ("found", pair.words(match.gold, number & match.exact)),
        ("found roughly", pair.words(match.gold, number & match.rough)),
        ("missing", pair.words(match.gold, number & ~match.exact & ~match.rough)),
        ("the answer has", pair.words(match.answer, other & ~match.answer.has(Mark.WEAK))),
    )
    if pair.features["numbers_contradicted"]:
        said += "; they contradict each other"
    return said or "neither side has numbers of its own"


def _negation(pair: _Pair) -> str:
    match = pair.match
    words = pair.words(match.answer, match.answer.has(Mark.NEGATION) & ~match.answer_gold & ~match.answer_asked)
    if pair.features["polarity"]:
        return "both say the same of yes and no" if pair.features["polarity"] > 0 else "one says yes, the other no"
    if pair.features["negated"]:
        return f"beside the gold words: {words}"
    return f"elsewhere in the answer: {words}" if words else "nothing is negated"


def _alternatives(pair: _Pair) -> str:
    match = pair.match
    beside = "beside the gold words" if pair.features["either_near"] else "joins other words"
    return (
        _parts(
            (beside, pair.words(match.answer, match.answer.has(Mark.EITHER) & ~match.answer_asked)),
            ("hedged by", pair.words(match.answer, match.answer.has(Mark.HEDGE) & ~match.answer_gold)),
        )
        or "the answer gives one candidate"
    )


def _others(pair: _Pair) -> str:
    match = pair.match
    extra = match.answer_content & ~match.answer_asked & ~match.answer_gold
    name = match.answer.has(Mark.CAPITAL) & ~match.answer.has(Mark.EITHER | Mark.NEGATION | Mark.HEDGE)
    return (
        _parts(
            ("names that are neither gold nor asked", pair.words(match.answer, extra & name)),
            ("words that are neither, in all", str(int(extra[pair.of(match.answer)].sum()) or "")),
        )
        or "the answer says nothing else"
    )


def _position(pair: _Pair) -> str:
    place = round(float(np.expm1(pair.features["position"])))
    if not pair.features["recall_new"]:
        return "no gold word stands in the answer"
    where = "in the first sentence" if pair.features["first_sentence"] else "after the first sentence"
    return f"the first gold word is word {place + 1}, {where}"


def _question(pair: _Pair) -> str:
    kind = next((kind for kind in QUESTIONS[:-1] if pair.features[f"asks_{kind}"]), QUESTIONS[-1])
    asked = pair.words(pair.match.gold, pair.match.content & pair.match.gold_asked)
    asks = "how many" if kind == "count" else kind
    said = f"asks: {asks}; the answer takes up {pair.features['question_told']:.0%} of its words"
    return said + (f"; gold words that it has itself: {asked}" if asked else "")


def _list(pair: _Pair) -> str:
    if pair.features["parts"] < 2:
        return "the gold answer has one part"
    return f"{pair.features['parts']:.0f} parts, of the least found {pair.features['parts_found']:.0%}"


_SAYS: dict[str, Callable[[_Pair], str]] = {
    "gold words": _gold_words,
    "list": _list,
    "spelling": _spelling,
    "other candidates": _others,
    "length": lambda pair: f"the answer has {_counted(len(pair.match.answer.ids[pair.of(pair.match.answer)]))}",
    "position": _position,
    "question": _question,
    "numbers": _numbers,
    "negation": _negation,
    "refusal": lambda pair: "the answer declines to answer" if pair.features["refusal"] else "no refusal",
    "alternatives": _alternatives,
    "gold answer": lambda pair: f"{_counted(int(new_gold(pair.match)[pair.of(pair.match.gold)].sum()))} to find",
}

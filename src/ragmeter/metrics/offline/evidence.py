"""What decided, in words: each piece of evidence with its weight in log-odds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragmeter.metrics.normalize import AUTO
from ragmeter.metrics.offline.comparing import matches
from ragmeter.metrics.offline.features import FEATURES, NAMES, columns, new_gold
from ragmeter.metrics.offline.matching import Match
from ragmeter.metrics.offline.tables import QUESTIONS, Mark
from ragmeter.metrics.offline.trees import trees
from ragmeter.metrics.offline.values import Item
from ragmeter.metrics.offline.vocabulary import Bools, Texts

RIGHT = 0.5
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
    count = len(references)
    code = None if language == AUTO else language
    best: tuple[float, int, _Pair] | None = None
    for found in matches([question] * count, list(references), [answer] * count, code):
        features = columns(found.pairs, found.kinds, found.refusal)
        lines = np.stack([features[name] for name in NAMES], axis=1)
        chances = trees().probabilities(lines)
        for place, row in enumerate(found.rows.tolist()):
            if best is None or chances[place] > best[0]:
                values = dict(zip(NAMES, lines[place].tolist(), strict=True))
                pair = _Pair(found.pairs, place, found.items, values, found.language, lines[place])
                best = float(chances[place]), row, pair
    if best is None:
        raise ValueError("there is no reference to compare the answer with")
    probability, row, pair = best
    moved = dict.fromkeys((each.evidence for each in FEATURES), 0.0)
    for feature, weight in zip(FEATURES, trees().contributions(pair.line).tolist(), strict=True):
        moved[feature.evidence] += weight
    pieces = [Evidence(about, _SAYS[about](pair), weight) for about, weight in moved.items()]
    pieces.sort(key=lambda each: -abs(each.weight))
    return Explanation(probability, probability >= RIGHT, references[row], pair.language, trees().prior, tuple(pieces))


@dataclass(frozen=True)
class _Pair:
    """One pair of a match, with its features by name."""

    match: Match
    place: int
    items: Sequence[Item]
    features: dict[str, float]
    language: str
    line: Any

    def words(self, side: Texts, which: Bools) -> str:
        """The words of this pair's text that are chosen, each once."""
        chosen = side.ids[which & (side.text == self.place)].tolist()
        return _listed(self.items[each].word for each in chosen)


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
        ("missing", pair.words(match.gold, number & ~match.exact)),
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
            ("words that are neither, in all", str(int((extra & (match.answer.text == pair.place)).sum()) or "")),
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
    kind = next((kind for kind in QUESTIONS if pair.features[f"asks_{kind}"]), "what")
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
    "length": lambda pair: f"the answer has {_counted(int((pair.match.answer.text == pair.place).sum()))}",
    "position": _position,
    "question": _question,
    "numbers": _numbers,
    "negation": _negation,
    "refusal": lambda pair: "the answer declines to answer" if pair.features["refusal"] else "no refusal",
    "alternatives": _alternatives,
    "gold answer": lambda pair: (
        f"{_counted(int(new_gold(pair.match)[pair.match.gold.text == pair.place].sum()))} to find"
    ),
}

"""Explains a verdict in words: each piece of evidence with its weight in log-odds."""

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
    pair_questions, pair_references, pair_answers, row_of = [], [], [], []
    for row, (question, references, answer) in enumerate(rows):
        for reference in references:
            pair_questions.append(question)
            pair_references.append(reference)
            pair_answers.append(answer)
            row_of.append(row)
    best: dict[int, tuple[float, int, _Pair]] = {}
    for compared in matches(pair_questions, pair_references, pair_answers, language):
        lines = evidence_lines(compared)
        chances = trees().probabilities(lines).tolist()
        for place, number in enumerate(compared.rows.tolist()):
            row = row_of[number]
            if row not in best or chances[place] > best[row][0]:
                best[row] = chances[place], number, _Pair(compared, place, lines[place])
    chosen = [best[row] for row in range(len(rows))]
    contributions = trees().contributions(np.array([pair.line for *_, pair in chosen]))
    return [
        _explanation(probability, pair_references[number], pair, weights)
        for (probability, number, pair), weights in zip(chosen, contributions.tolist(), strict=True)
    ]


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

    def of(self, side: Texts) -> slice:
        """The items of this pair's text on a side."""
        return slice(int(side.starts[self.place]), int(side.starts[self.place + 1]))

    def words(self, side: Texts, chosen: Bools) -> str:
        """The chosen words of this pair's text, without repetitions."""
        span = self.of(side)
        return _listed(self.compared.words[side.ids[span][chosen[span]]].tolist())


def _listed(words: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(words))
    not_named = f" and {len(distinct) - _MOST} more" if len(distinct) > _MOST else ""
    return ", ".join(distinct[:_MOST]) + not_named


def _counted(number: int) -> str:
    return "1 word" if number == 1 else f"{number:,} words"


def _parts(*parts: tuple[str, str]) -> str:
    return "; ".join(f"{title}: {words}" for title, words in parts if words)


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
    inside = match.squashed[pair.place] or match.inside[pair.place]
    return (
        _parts(
            ("found in another spelling or form", pair.words(match.gold, near)),
            ("run together or apart", pair.words(match.gold, match.content) if inside else ""),
            ("abbreviated", pair.words(match.gold, match.content) if match.acronym[pair.place] else ""),
        )
        or "no word is spelled otherwise"
    )


def _numbers(pair: _Pair) -> str:
    match = pair.match
    number = match.gold.has(Mark.NUMBER | Mark.MONTH)
    is_other = match.answer.has(Mark.NUMBER | Mark.MONTH) & ~match.answer_gold & ~match.answer_asked
    text = _parts(
        ("found", pair.words(match.gold, number & match.exact)),
        ("found roughly", pair.words(match.gold, number & match.rough)),
        ("missing", pair.words(match.gold, number & ~match.exact & ~match.rough)),
        ("the answer has", pair.words(match.answer, is_other & ~match.answer.has(Mark.WEAK))),
    )
    if pair.features["numbers_contradicted"]:
        text += "; they contradict each other"
    return text or "neither side has numbers of its own"


def _negation(pair: _Pair) -> str:
    match = pair.match
    own = match.answer.has(Mark.NEGATION) & ~match.answer_gold & ~match.answer_asked
    return _parts(("in the answer", pair.words(match.answer, own))) or "nothing is negated"


def _alternatives(pair: _Pair) -> str:
    match = pair.match
    return (
        _parts(
            ("joined by", pair.words(match.answer, match.answer.has(Mark.EITHER) & ~match.answer_asked)),
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
    sentence = "in the first sentence" if pair.features["first_sentence"] else "after the first sentence"
    return f"the first gold word is word {place + 1}, {sentence}"


def _question(pair: _Pair) -> str:
    kind = QUESTIONS[int(pair.compared.kinds[pair.place])]
    asked = pair.words(pair.match.gold, pair.match.content & pair.match.gold_asked)
    asks = "how many" if kind == "count" else kind
    taken_up = float(pair.compared.case.question_share[pair.place])
    text = f"asks: {asks}; the answer takes up {taken_up:.0%} of its words"
    return text + (f"; gold words that it has itself: {asked}" if asked else "")


def _list(pair: _Pair) -> str:
    number = int(pair.compared.parts.number[pair.place])
    if number < 2:
        return "the gold answer has one part"
    return f"{number} parts, of the least found {pair.features['parts_found']:.0%}"


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

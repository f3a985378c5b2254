"""Scores of conversations: rows with the same `session_id` are its turns, in the order of `turn_idx`.

A turn is correct, missed (the answer declines) or a hallucination. Two incorrect turns in a row, missed ones included,
end a conversation: all later turns count as missed. A turn that could not be scored is unknown; it does not count as
incorrect, and its conversation has no score unless the turn is after the end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal

from ragmeter.definition import column, metric
from ragmeter.metrics.normalize import fold
from ragmeter.metrics.refusals import ends_not_knowing, is_miss
from ragmeter.table import OTHER_TURN, TURN_NOT_SCORED, UNPARSABLE, Failed

#: The values of the column `verdict`.
CORRECT, WRONG = "CORRECT", "WRONG"
#: So many incorrect turns in a row end a conversation.
WRONG_AT_END = 2

Judges = Literal["llm", "cascade"]


@dataclass(frozen=True, slots=True)
class Turn:
    """The result of one turn. `correct` is None if it is not known."""

    correct: bool | None
    miss: bool = False
    exact: bool = False

    @property
    def hallucination(self) -> bool:
        """Neither correct nor missed."""
        return self.correct is False and not self.miss


MISSED = Turn(correct=False, miss=True)


def is_correct(verdict: str | None) -> bool | None:
    """Whether a verdict says that a turn is correct; None without a verdict."""
    return {CORRECT: True, WRONG: False}.get(verdict or "")


def is_end(correct: Sequence[bool | None]) -> bool:
    """Whether a conversation ends after these turns: the last ones are incorrect."""
    return [*correct[-WRONG_AT_END:]] == [False] * WRONG_AT_END


def ended_at(correct: Sequence[bool | None]) -> int:
    """The index of the first turn after the end of a conversation; the number of turns if it has no such end."""
    ends = range(WRONG_AT_END, len(correct))
    return next((end for end in ends if is_end(correct[end - WRONG_AT_END : end])), len(correct))


def counted(turns: Sequence[Turn]) -> list[Turn]:
    """The turns of a conversation, with those after its end counted as missed."""
    end = ended_at([turn.correct for turn in turns])
    return [*turns[:end], *([MISSED] * (len(turns) - end))]


def conversation_score(turns: Sequence[Turn]) -> float | None:
    """Share of correct turns less share of hallucinations, after the rule above; None if a turn is unknown."""
    verdicts = [turn.correct for turn in turns]
    if None in verdicts:
        return None
    wrong = sum([turn.hallucination for turn in turns])
    return verdicts.count(True) / len(turns) - wrong / len(turns)


def accuracy_bounds(conversations: Sequence[Sequence[Turn]]) -> tuple[float, float] | None:
    """Accuracy if every unknown turn is wrong, and if every one is right, after the rule above."""
    if not any(conversations):
        return None
    is_known = all(turn.correct is not None for turns in conversations for turn in turns)
    ends = []
    for truth in (True,) if is_known else (False, True):
        settled = [
            [replace(turn, correct=truth) if turn.correct is None else turn for turn in turns]
            for turns in conversations
        ]
        after = [turn for turns in settled for turn in counted(turns)]
        ends.append(fmean(turn.correct is True for turn in after))
    return ends[0], ends[-1]


def is_same_answer(answer: str, expected: str) -> bool:
    """Whether the two texts are the same, but for case, kinds of quotes, white space and a full stop."""
    return _bare(answer) == _bare(expected)


def _bare(text: str) -> str:
    return " ".join(fold(text).split()).removesuffix(".")


def turn_of(answer: str | None, references: Collection[str] | None, verdict: str | None, error: str | None) -> Turn:
    """The result of one row, before the rule that ends conversations.

    An answer that declines, or that is a reference word for word, needs no verdict. One that ends with "I don't know"
    is missed too, whatever stands before it: CRAG counts every answer that says so.
    """
    if answer is None or error:
        return Turn(None)
    if is_miss(answer) or ends_not_knowing(answer):
        return MISSED
    texts = [text for text in references or () if text.strip()]
    if any(is_same_answer(answer, text) for text in texts):
        return Turn(True, exact=True)
    return Turn(is_correct(verdict) if texts else None)


def sessions_of(session_ids: Sequence[Any], turns: Sequence[Any]) -> list[list[int]]:
    """The places of the rows of each conversation, in the order of their turns. A row without a session is alone."""
    sessions: dict[Any, list[int]] = {}
    for place, session in enumerate(session_ids):
        sessions.setdefault(session or (place,), []).append(place)
    return [sorted(places, key=lambda place: turn_number(turns[place])) for places in sessions.values()]


def turn_number(value: Any) -> float:
    """The number of a turn; 0 where there is none, so that turns keep the order of the table."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0


@dataclass(frozen=True)
class Turns:
    """The results of all rows, and the places of each conversation's rows, in the order of its turns."""

    before: Sequence[Turn]
    sessions: Sequence[Sequence[int]]

    def after(self) -> list[Turn]:
        """The results by the rule that ends conversations."""
        after = list(self.before)
        for places in self.sessions:
            for place, turn in zip(places, counted([self.before[place] for place in places]), strict=True):
                after[place] = turn
        return after

    def scores(self, score: Callable[[Turn], float]) -> list[float | Failed]:
        """The score of each row, by its result."""
        return [Failed(UNPARSABLE) if turn.correct is None else float(score(turn)) for turn in self.after()]


@column(may_lack=("error", "session_id", "turn_idx"))
def judged_turns(
    answer: Sequence[str | None],
    reference: Sequence[Sequence[str] | None],
    verdict: Sequence[str | None],
    error: Sequence[str | None],
    session_id: Sequence[str | None],
    turn_idx: Sequence[Any],
    *,
    judge: str = "llm",
) -> Turns:
    """The rows as turns of conversations."""
    turns = list(map(turn_of, answer, reference, verdict, error))
    return Turns(turns, sessions_of(session_id, turn_idx))


@metric(direction="higher", binary=True, by_session=True, is_verdict=True)
def accuracy(judged_turns: Turns, *, judge: Judges = "llm") -> list[float | Failed]:
    """Share of turns that were answered correctly.

    **Formula.** 1 for a turn whose answer is the reference word for word (but for case, quotes, white space and a full
    stop), or whose `verdict` is CORRECT; else 0. An answer that declines ("I don't know", in 16 languages) is never
    correct. Two incorrect turns in a row end a conversation: all its later turns count 0, and no judge is asked about
    them. Rows with the same `session_id` are a conversation, in the order of `turn_idx`.

    **Settings.** With `judge=cascade` the offline judge decides where it is sure, and the model judges the rest.

    **Edge cases.** A turn without a verdict, an answer or a reference has no score, unless its conversation had ended.
    A row without a `session_id` is a conversation of its own.

    **Use it** for conversations that are judged turn by turn. **Not** for single questions: `llm_correct` does that.
    """
    return judged_turns.scores(lambda turn: turn.correct is True)


@metric(direction="higher", binary=True, by_session=True, also=("exact_match",))
def exact_answer(judged_turns: Turns, *, judge: Judges = "llm") -> list[float | Failed]:
    """Share of turns whose answer is the expected one, word for word.

    **Formula.** 1 if the answer is a reference, but for case, quotes, white space and a full stop; else 0. A turn after
    the end of its conversation counts 0, as in `accuracy`.

    **Edge cases.** Those of `accuracy`.

    **Use it** beside `accuracy`, to see how much of it needed no judge. **Not** alone: `exact_match` needs no judge.
    """
    return judged_turns.scores(lambda turn: turn.exact)


@metric(direction="lower", binary=True, by_session=True)
def missing(judged_turns: Turns, *, judge: Judges = "llm") -> list[float | Failed]:
    """Share of turns that the system declined to answer, or that came after a conversation had ended.

    **Formula.** 1 if the answer declines or is empty, or the turn is after the end of its conversation (as in
    `accuracy`); else 0.

    **Edge cases.** Those of `accuracy`.

    **Use it** beside `hallucination_rate`, to see which of the two went wrong. **Not** for single questions:
    `abstention_correct` says whether declining was right.
    """
    return judged_turns.scores(lambda turn: turn.miss)


@metric(direction="lower", binary=True, by_session=True)
def hallucination_rate(judged_turns: Turns, *, judge: Judges = "llm") -> list[float | Failed]:
    """Share of turns that were answered, and wrongly.

    **Formula.** 1 for a turn that is neither correct (`accuracy`) nor missed (`missing`); else 0.

    **Edge cases.** Those of `accuracy`.

    **Use it** where a wrong answer is worse than none. **Not** for claims that the passages don't support:
    `faithfulness` does that.
    """
    return judged_turns.scores(lambda turn: turn.hallucination)


@metric(direction="higher", bounds=(-1.0, 1.0), by_session=True)
def truthfulness_score(judged_turns: Turns, *, judge: Judges = "llm") -> list[float | Failed]:
    """Mean over turns: a right answer counts 1, none 0, a wrong one -1.

    **Formula.** `accuracy - hallucination_rate`, turn by turn.

    **Edge cases.** Those of `accuracy`.

    **Use it** as one number that rewards right answers and honesty. **Not** where declining is as bad as being wrong.
    """
    return judged_turns.scores(lambda turn: float(turn.correct is True) - float(turn.hallucination))


@metric(
    direction="higher",
    bounds=(-1.0, 1.0),
    by_session=True,
    per_session=True,
    also=("mean_multi_turn_conversation_score",),
)
def multi_turn_conversation_score(judged_turns: Turns, *, judge: Judges = "llm") -> list[float | Failed]:
    """Mean over conversations: a right answer counts 1, none 0, a wrong one -1.

    **Formula.** For each conversation, the mean of `truthfulness_score` over its turns. It stands in the row of the
    last turn; n counts conversations.

    **Edge cases.** A conversation with a turn that has no score has none itself (`turn_not_scored`).

    **Use it** where long conversations should not count more than short ones. **Not** for single questions.
    """
    after = judged_turns.after()
    scores: list[float | Failed] = [Failed(OTHER_TURN)] * len(after)
    for places in judged_turns.sessions:
        score = conversation_score([after[place] for place in places])
        scores[places[-1]] = Failed(TURN_NOT_SCORED) if score is None else score
    return scores

"""Scores of conversations.

A turn is correct, missed (the agent declined to answer) or a hallucination. Two incorrect turns in a row, missed ones
included, end a conversation: all later turns count as missed. A turn that could not be scored is unknown; it does not
count as incorrect, and its conversation has no score unless the turn is after the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

#: The keys of a dictionary of scores, in their order.
SCORES = (
    "total", "correct_exact", "correct", "miss", "hallucination", "exact_match", "accuracy", "missing",
    "hallucination_rate", "truthfulness_score", "mean_multi_turn_conversation_score",
)  # fmt: skip


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


def ended_at(correct: Sequence[bool | None]) -> int:
    """The index of the first turn after two incorrect ones in a row; the number of turns if there is none."""
    for index in range(1, len(correct)):
        if correct[index - 1] is False and correct[index] is False:
            return index + 1
    return len(correct)


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


def scores(conversations: Sequence[Sequence[Turn]]) -> dict[str, float | None]:
    """The dictionary of scores, over the scored turns. Rates are None if there are none."""
    after = [counted(turns) for turns in conversations]
    scored = [turn for turns in after for turn in turns if turn.correct is not None]
    of_conversations = [score for turns in after if turns and (score := conversation_score(turns)) is not None]
    total, correct = len(scored), sum(turn.correct is True for turn in scored)
    exact, miss = sum(turn.exact for turn in scored), sum(turn.miss for turn in scored)
    counts = {"total": total, "correct_exact": exact, "correct": correct, "miss": miss}
    counts["hallucination"] = total - correct - miss
    rates = {
        "exact_match": exact,
        "accuracy": correct,
        "missing": miss,
        "hallucination_rate": counts["hallucination"],
        "truthfulness_score": 2 * correct + miss - total,
    }
    return {
        **{name: float(count) for name, count in counts.items()},
        **{name: count / total if total else None for name, count in rates.items()},
        "mean_multi_turn_conversation_score": fmean(of_conversations) if of_conversations else None,
    }


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

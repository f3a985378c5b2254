"""The judgement on one row, and one judgement from several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragmeter.table import SCORED, TIED

_TIE = "as many for as against; the same judge with more repeats breaks the tie"


@dataclass(frozen=True)
class Judgement:
    """A judge's result for one answer. Only a `scored` one has a verdict.

    `verdicts` holds one for each repeat and wording, None where it could not be read; `replies` are the model's own
    words; `probability` is that of the higher value, where the server gives log-probabilities. The verdict is what the
    model says: at a temperature above 0 it may say the less probable word, and repeats would be of no use otherwise.
    `unread` is the beginning of a reply that could not be read. `is_half`: a limit left no call for a second wording.
    """

    outcome: str
    verdict: str | None = None
    reason: str = ""
    verdicts: tuple[str | None, ...] = ()
    replies: tuple[str, ...] = ()
    cause: str = ""
    probability: float | None = None
    unread: str = ""
    is_half: bool = False

    @property
    def explained(self) -> str:
        """Why there is no verdict, with the beginning of the reply that is none."""
        return f'{self.cause}: "{self.unread}"' if self.unread else self.cause

    @property
    def flipped(self) -> bool:
        """Whether the repeats, or the wordings, disagree."""
        return len({verdict for verdict in self.verdicts if verdict}) > 1

    @property
    def is_repeated(self) -> bool:
        """Whether there is more than one verdict."""
        return sum(verdict is not None for verdict in self.verdicts) > 1


def joined(judgements: Sequence[Judgement], join: Callable[[list[str]], str]) -> Judgement:
    """One judgement of a row from those of its parts. If a part has none, the row has none."""
    replies = tuple(reply for judgement in judgements for reply in judgement.replies)
    failed = next((judgement for judgement in judgements if judgement.verdict is None), None)
    if failed is not None:
        return Judgement(failed.outcome, None, "", (None,), replies, failed.cause, unread=failed.unread)
    value = join([judgement.verdict for judgement in judgements if judgement.verdict is not None])
    reason = next((judgement.reason for judgement in judgements if judgement.reason), "")
    return Judgement(SCORED, value, reason, (value,), replies)


def of_two_wordings(first: Judgement, second: Judgement, in_doubt: str) -> Judgement:
    """One judgement from those in two wordings. If one of them has no verdict, the row has none.

    What both say is the verdict, as with repeats. Where they differ, the mean of their probabilities decides. If one
    has none, or the mean is even, the verdict is the one `in_doubt`.
    """
    both = (first, second)
    verdicts, replies = first.verdicts + second.verdicts, first.replies + second.replies
    failed = next((judgement for judgement in both if judgement.verdict is None), None)
    if failed is not None:
        return Judgement(failed.outcome, None, "", verdicts, replies, failed.cause, unread=failed.unread)
    chances = [judgement.probability for judgement in both if judgement.probability is not None]
    chance = sum(chances) / len(chances) if chances else None
    if first.verdict == second.verdict:
        decided = first
    else:
        chance = chance if len(chances) == len(both) else None
        is_doubtful = chance is None or chance <= 0.5
        decided = first if (first.verdict == in_doubt) == is_doubtful else second
    return Judgement(SCORED, decided.verdict, decided.reason, verdicts, replies, "", chance)


def majority(judgements: Sequence[Judgement], agreed: Callable[[Sequence[str | None]], str | None]) -> Judgement:
    """One judgement from several: what more than half of them say, as `agreed` counts it."""
    verdicts = tuple(judgement.verdict for judgement in judgements)
    replies = tuple(reply for judgement in judgements for reply in judgement.replies)
    winner = agreed([judgement.verdict for judgement in judgements])
    if winner is not None:
        chances = [judgement.probability for judgement in judgements if judgement.probability is not None]
        chance = sum(chances) / len(chances) if chances else None
        reason = next((judgement.reason for judgement in judgements if judgement.verdict == winner), "")
        return Judgement(SCORED, winner, reason, verdicts, replies, "", chance)
    failed = next((judgement for judgement in judgements if judgement.verdict is None), None)
    if failed is None:
        return Judgement(TIED, None, "", verdicts, replies, _TIE)
    return Judgement(failed.outcome, None, "", verdicts, replies, failed.cause, unread=failed.unread)

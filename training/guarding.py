"""What each guard does to verdicts on unseen answers: wrong answers that it catches, right ones that it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from judged import Judged
from learning import Bools, Floats, Rows, calibration

from ragmeter.metrics.offline.comparing import matches
from ragmeter.metrics.offline.guards import GUARDS

_RIGHT = 0.5


def flags(rows: Sequence[Judged]) -> Bools:
    """For each pair and each guard whether it holds, also behind another one."""
    pairs = [(row.question, gold, row.answer) for row in rows for gold in row.golds]
    holds = np.zeros((len(pairs), len(GUARDS)), bool)
    questions, golds, answers = ([pair[side] for pair in pairs] for side in range(3))
    for compared in matches(questions, golds, answers, None):
        for place, guard in enumerate(GUARDS.values()):
            holds[compared.rows, place] = guard.holds(compared)
    return holds


def effects(pairs: Rows, holds: Bools, scores: Mapping[str, Floats]) -> dict[str, list[tuple[int, int]]]:
    """For each guard and each kind of scores: how many verdicts it makes right, and how many it makes wrong."""
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in GUARDS}
    for log_odds in scores.values():
        slope, intercept = calibration(pairs.best(log_odds), pairs.right)
        chances = 1 / (1 + np.exp(-(slope * log_odds + intercept)))
        with_all = _said(pairs, chances, holds)
        for place, name in enumerate(GUARDS):
            others = holds.copy()
            others[:, place] = False
            changed = with_all != _said(pairs, chances, others)
            mended = changed & (with_all == pairs.right)
            found[name].append((int(mended.sum()), int((changed & ~mended).sum())))
    return found


def _said(pairs: Rows, chances: Floats, holds: Bools) -> Bools:
    """The verdicts where the first guard that holds limits the chance."""
    first = np.where(holds.any(axis=1), holds.argmax(axis=1), len(GUARDS))
    caps = np.array([*(guard.cap for guard in GUARDS.values()), 1.0])[first]
    floors = np.array([*(guard.floor for guard in GUARDS.values()), 0.0])[first]
    return np.asarray(pairs.best(np.clip(chances, floors, caps)) >= _RIGHT)

"""What each guard does to verdicts on unseen answers: wrong answers that it catches, right ones that it costs.

`python training/guarding.py` prints it in half a minute, with how many pairs of a gold answer and an answer each one
holds for, also behind another guard. `make train` writes the same into the card.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from judged import Judged, fold, judged, made_up
from learning import Bools, Floats, Rows, calibration, cross_validated

from ragmeter.metrics.offline.guards import GUARDS
from ragmeter.metrics.offline.matching.comparison import compared_pairs

_RIGHT = 0.5


def flags(rows: Sequence[Judged]) -> Bools:
    """For each pair and each guard whether it holds, also behind another one."""
    pairs = [(row.question, gold, row.answer) for row in rows for gold in row.golds]
    holds = np.zeros((len(pairs), len(GUARDS)), bool)
    questions, golds, answers = ([pair[side] for pair in pairs] for side in range(3))
    for compared in compared_pairs(questions, golds, answers, None):
        for place, guard in enumerate(GUARDS.values()):
            holds[compared.rows, place] = guard.holds(compared)
    return holds


def effects(pairs: Rows, holds: Bools, scores: Mapping[str, Floats]) -> dict[str, list[tuple[int, int]]]:
    """For each guard and each kind of scores: how many verdicts it makes right, and how many it makes wrong."""
    effects: dict[str, list[tuple[int, int]]] = {name: [] for name in GUARDS}
    for log_odds in scores.values():
        slope, intercept = calibration(pairs.best(log_odds), pairs.right)
        chances = 1 / (1 + np.exp(-(slope * log_odds + intercept)))
        with_all = _said(pairs, chances, holds)
        for place, name in enumerate(GUARDS):
            others = holds.copy()
            others[:, place] = False
            changed = with_all != _said(pairs, chances, others)
            mended = changed & (with_all == pairs.right)
            effects[name].append((int(mended.sum()), int((changed & ~mended).sum())))
    return effects


def _said(pairs: Rows, chances: Floats, holds: Bools) -> Bools:
    """The verdicts where the first guard that holds limits the chance."""
    first = np.where(holds.any(axis=1), holds.argmax(axis=1), len(GUARDS))
    caps = np.array([*(guard.cap for guard in GUARDS.values()), 1.0])[first]
    floors = np.array([*(guard.floor for guard in GUARDS.values()), 0.0])[first]
    return np.asarray(pairs.best(np.clip(chances, floors, caps)) >= _RIGHT)


def main() -> None:
    """Print how many pairs each guard holds for, and what it catches and loses among answers to unseen questions."""
    real = judged()
    every = [*real, *made_up(real)]
    rows, is_real = Rows.of(every), np.arange(len(every)) < len(real)
    scores = cross_validated(rows, np.array([fold(row.question) for row in every]), is_real)[is_real[rows.row]]
    holds = flags(real)
    of_guards = effects(rows.some(is_real), holds, {"questions": scores})
    print("holds  caught  lost  guard")
    for (name, [(caught, lost)]), number in zip(of_guards.items(), holds.sum(axis=0).tolist(), strict=True):
        print(f"{number:5}  {caught:6}  {lost:4}  {name}")


if __name__ == "__main__":
    main()

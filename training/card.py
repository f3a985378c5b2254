"""The model card: docs/offline-judge.md, with every figure computed here."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from adversarial import adversarial, negated
from guarding import effects, flags
from judged import Judged, is_held_out
from learning import (
    Bools,
    Floats,
    Ids,
    Rows,
    agreement,
    best_threshold,
    calibration,
    calibration_error,
    kappa,
    promised,
)

from ragmeter import get_metric
from ragmeter.metrics.normalize import words
from ragmeter.metrics.offline.features import FEATURES
from ragmeter.metrics.offline.guards import GUARDS
from ragmeter.metrics.offline.reading.tables import plain, table
from ragmeter.metrics.offline.trees import trees

CONTROLLED = Path(__file__).parent.parent / "tests" / "data" / "controlled.jsonl.gz"
TEXT = Path(__file__).with_name("card.md")
_MEASURES = ("agreement", "kappa", "ECE")
_SYSTEMS = {"fid": "FiD", "gpt35": "GPT-3.5", "chatgpt": "ChatGPT", "gpt4": "GPT-4", "newbing": "New Bing"}


@dataclass(frozen=True)
class Figures:
    """What the training found: cross-validated log-odds of all judged answers' pairs, and those without each system."""

    rows: Sequence[Judged]
    pairs: Rows
    scores: Floats
    folds: Ids
    unseen: dict[str, Floats]
    unseen_kind: Floats  # by trees that saw no question of this kind

    @property
    def right(self) -> Bools:
        """People's verdicts."""
        return self.pairs.right

    def probabilities(self) -> Floats:
        """Calibrated on the other folds, so that no row has a part in its own, and capped by the guards."""
        best = self.pairs.best(self.scores)
        values = np.zeros(len(self.right))
        for number in np.unique(self.folds).tolist():
            slope, intercept = calibration(best[self.folds != number], self.right[self.folds != number])
            inside = self.folds == number
            values[inside] = self.pairs.chances(self.scores, slope, intercept)[inside]
        return values


def write_card(figures: Figures) -> str:
    """The card's text with its tables filled in."""
    probability = figures.probabilities()
    held_out = np.array([is_held_out(row.question) for row in figures.rows])
    filled = {
        "rows": f"{len(figures.rows):,}",
        "questions": f"{len({row.number for row in figures.rows}):,}",
        "features": str(len(FEATURES)),
        "trees": f"{len(trees().feature):,}",
        "depth": str(trees().depth),
        "overall": _overall(figures, probability),
        "systems": _systems(figures, probability),
        "questions_table": _questions(figures, probability),
        "calibration": _calibration(probability, figures.right),
        "error": f"{calibration_error(probability, figures.right):.3f}",
        "coverage": _coverage(probability, figures.right),
        "cascade": _cascade(figures, probability),
        "adversarial": _adversarial(figures.rows),
        "guards": _guards(figures),
        "unseen": _unseen(figures),
        "held": _held_out([row for row, is_out in zip(figures.rows, held_out, strict=True) if is_out]),
        "languages": _languages(),
    }
    text = TEXT.read_text(encoding="utf-8")
    for name, value in filled.items():
        text = text.replace("{{" + name + "}}", value)
    return text


def as_table(titles: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; all columns but the first have figures."""
    rows = [titles, ["---", *["---:"] * (len(titles) - 1)], *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _of(probability: Floats, right: Bools) -> list[str]:
    said = probability >= 0.5
    return [f"{len(right):,}", f"{right.mean():.3f}", f"{agreement(said, right):.3f}", f"{kappa(said, right):.3f}"]


def baselines(rows: Sequence[Judged]) -> dict[str, Floats]:
    """What people use today, on the same answers: exact match, token F1, and whether the gold answer is contained."""
    references, answers = [list(row.golds) for row in rows], [row.answer for row in rows]
    contained = [any(f" {_spaced(gold)} " in f" {_spaced(row.answer)} " for gold in row.golds) for row in rows]
    return {
        "exact match": get_metric("exact_match")(references, answers),
        "token F1": get_metric("token_f1")(references, answers),
        "token recall": get_metric("token_recall")(references, answers),
        "gold answer contained": np.array(contained, np.float64),
    }


def _spaced(text: str) -> str:
    return " ".join(words(plain(text)))


def _guards(figures: Figures) -> str:
    """Each guard with its limit, and what it does to verdicts of trees that have not seen the answers."""
    of_system = np.array([row.system for row in figures.rows])[figures.pairs.row]
    by_system = np.zeros(len(figures.scores))
    for name, scores in figures.unseen.items():
        by_system[of_system == name] = scores
    kinds = {"questions": figures.scores, "systems": by_system, "kinds": figures.unseen_kind}
    of_guards = effects(figures.pairs, flags(figures.rows), kinds)
    lines = [
        [guard.because, f"{guard.floor:.2f} – {guard.cap:.2f}" if guard.floor else f"≤ {guard.cap:.2f}"]
        + [f"{caught} / {lost}" for caught, lost in of_guards[name]]
        for name, guard in GUARDS.items()
    ]
    return as_table(("where", "limit", "unseen questions", "unseen systems", "unseen kinds of questions"), lines)


def _unseen(figures: Figures) -> str:
    """Agreement over all answers, by trees that saw neither the kind of question nor the system."""
    pairs, right = figures.pairs, figures.right
    system = np.array([row.system for row in figures.rows])
    slope, intercept = calibration(pairs.best(figures.scores), right)
    by_system = np.zeros(len(right))
    for name, scores in figures.unseen.items():
        by_system[system == name] = pairs.some(system == name).chances(scores, 1.0, 0.0)
    by_kind = pairs.chances(figures.unseen_kind, slope, intercept)
    lines = [
        [shown, *_of(chances, right), f"{calibration_error(chances, right):.3f}"]
        for shown, chances in (("a system", by_system), ("a kind of question", by_kind))
    ]
    return as_table(("left out", "answers", "right", "agreement", "kappa", "ECE"), lines)


def _overall(figures: Figures, probability: Floats) -> str:
    lines = [["offline judge, cross-validated", *_of(probability, figures.right)]]
    for name, scores in baselines(figures.rows).items():
        plain_verdict = set(np.unique(scores).tolist()) <= {0.0, 1.0}
        threshold = 1.0 if plain_verdict else best_threshold(scores, figures.right)
        said = scores >= threshold
        shown = f"{name} ≥ {threshold:.2f}, the best threshold" if 0 < threshold < 1 else name
        lines.append(
            [shown, f"{len(said):,}", f"{figures.right.mean():.3f}", f"{agreement(said, figures.right):.3f}",
             f"{kappa(said, figures.right):.3f}"]
        )  # fmt: skip
    return as_table(("judge", "answers", "right by people", "agreement", "kappa"), lines)


def _systems(figures: Figures, probability: Floats) -> str:
    lines = []
    system = np.array([row.system for row in figures.rows])
    for name, scores in figures.unseen.items():
        own = system == name
        right = figures.right[own]
        unseen = figures.pairs.some(own).chances(scores, 1.0, 0.0)
        again = _of(unseen, right)
        lines.append(
            [
                _SYSTEMS[name],
                *_of(probability[own], right),
                f"{calibration_error(probability[own], right):.3f}",
                *again[2:],
                f"{calibration_error(unseen, right):.3f}",
            ]
        )
    titles = ("system", "answers", "right", "agreement", "kappa", "ECE", *(f"{name}, unseen" for name in _MEASURES))
    return as_table(titles, lines)


def _questions(figures: Figures, probability: Floats) -> str:
    kinds = np.array([table("en").kind_of_question(words(plain(row.question))) for row in figures.rows])
    names = {"who": "who", "when": "when", "where": "where", "count": "how many, how long …", "why": "why, how"}
    names |= {"what": "what, which, other"}
    return as_table(
        ("question", "answers", "right", "agreement", "kappa"),
        [[shown, *_of(probability[kinds == kind], figures.right[kinds == kind])] for kind, shown in names.items()],
    )


def _calibration(probability: Floats, right: Bools) -> str:
    lines = []
    for low in np.arange(10) / 10:
        inside = (probability >= low) & (probability < low + 0.1 + (low == 0.9))
        if inside.any():
            mean, share = probability[inside].mean(), right[inside].mean()
            lines.append([f"{low:.1f} – {low + 0.1:.1f}", f"{inside.sum():,}", f"{mean:.3f}", f"{share:.3f}"])
    return as_table(("probability", "answers", "its mean", "right by people"), lines)


def _coverage(probability: Floats, right: Bools) -> str:
    order = np.argsort(-np.abs(probability - 0.5), kind="stable")
    same = ((probability >= 0.5) == right)[order]
    lines = []
    for share in (0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0):
        count = round(share * len(right))
        decided = same[:count].mean()
        lines.append([f"{share:.0%}", f"{count:,}", f"{decided:.3f}", f"{1 - share * (1 - decided):.4f}"])
    return as_table(("the surest", "answers", "agreement", "with people's word on the rest"), lines)


def _cascade(figures: Figures, probability: Floats) -> str:
    """Thresholds chosen on resampled questions, with people in the place of the slower judge."""
    number = np.array([row.number for row in figures.rows])
    chance = np.random.default_rng(1)
    lines = []
    for target in (0.95, 0.97, 0.98):
        kept, asked = promised(probability, figures.right, number, target, chance)
        n_kept = sum(value >= target for value in kept)
        lines.append([f"{target:.2f}", f"{np.mean(kept):.4f}", f"{np.mean(asked):.1%}", f"{n_kept} of {len(kept)}"])
    return as_table(("promised", "agreement", "share asked", "promise held"), lines)


def _held_out(rows: Sequence[Judged]) -> str:
    metric = get_metric("offline_correct_probability")
    scores = metric([row.question for row in rows], [list(row.golds) for row in rows], [row.answer for row in rows])
    right = np.array([row.right for row in rows])
    return as_table(
        ("answers", "right", "agreement", "kappa", "ECE"),
        [[*_of(scores, right), f"{calibration_error(scores, right, 10):.3f}"]],
    )


def _adversarial(rows: Sequence[Judged]) -> str:
    """The packaged model on answers that are made to fool it, to all questions and in Spanish to those of XQuAD."""
    english = [(row.question, list(row.golds)) for row in {row.number: row for row in rows}.values()]
    spanish = [(row["question"], [row["gold"]]) for row in controlled()["es"] if row["kind"] == "gold alone"]
    lines = []
    for language, questions in (("en", english), ("es", spanish)):
        made_up = adversarial(questions, language)
        chances = get_metric("offline_correct_probability")(*([case[part] for case in made_up] for part in (1, 2, 3)))
        kinds = np.array([case[0] for case in made_up])
        lines += [[f"{language}: {kind}", *_fooled(chances[kinds == kind])] for kind in dict.fromkeys(kinds.tolist())]
    right = [(row.question, list(row.golds), row.answer) for row in rows if row.right]
    for name, cases in negated(right).items():
        chances = get_metric("offline_correct_probability")(*([case[part] for case in cases] for part in range(3)))
        lines.append([f"en, real: {name}", *_fooled(chances)])
    return as_table(("answers", "n", "mean", "≥ 0.5", "≥ 0.9", "highest"), lines)


def _fooled(chances: Floats) -> list[str]:
    shares = [f"{(chances >= 0.5).mean():.3f}", f"{(chances >= 0.9).mean():.3f}"]
    return [f"{len(chances):,}", f"{chances.mean():.3f}", *shares, f"{chances.max():.2f}"]


def controlled() -> dict[str, list[dict[str, str]]]:
    """The right and wrong answers made of XQuAD, by language."""
    by_language: dict[str, list[dict[str, str]]] = {}
    with gzip.open(CONTROLLED, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            by_language.setdefault(row["language"], []).append(row)
    return by_language


def _languages() -> str:
    lines = []
    for language, rows in controlled().items():
        questions, golds, answers = ([row[name] for row in rows] for name in ("question", "gold", "answer"))
        right = np.array([bool(row["right"]) for row in rows])
        chance = get_metric("offline_correct_probability")(questions, golds, answers)
        f1 = get_metric("token_f1")(golds, answers)
        threshold = best_threshold(f1, right)
        kinds = np.array([row["kind"] for row in rows])
        worst = min(
            np.unique(kinds).tolist(), key=lambda kind: agreement(chance[kinds == kind] >= 0.5, right[kinds == kind])
        )
        share = agreement(chance[kinds == worst] >= 0.5, right[kinds == worst])
        lines.append(
            [language, *_of(chance, right), f"{agreement(f1 >= threshold, right):.3f} (≥ {threshold:.2f})",
             f"{worst} ({share:.2f})"]
        )  # fmt: skip
    return as_table(
        ("language", "answers", "right", "agreement", "kappa", "token F1, best threshold", "worst at"), lines
    )

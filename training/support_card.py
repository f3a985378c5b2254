"""The card of the support model: docs/offline-support.md, with every figure computed here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from card import as_table
from claimed import Bools, Claimed, Floats, controlled, weights
from learning import calibration

from ragmeter.metrics.offline.support.features import FEATURES, NAMES
from ragmeter.metrics.offline.support.model import SUPPORTED, supported_of_rows, unsupported_words

TEXT = Path(__file__).with_name("support_card.md")
BLIND = Path(__file__).with_name("support_blind.jsonl")
SECOND = Path(__file__).with_name("support_second.jsonl")
_TITLES = {
    "wice_claims": "WiCE, claims",
    "wice_words": "WiCE, claims with marked words, and without these words",
    "factcheck": "Factcheck-GPT",
    "mtrag": "MTRAG, claims of faithful and of unfaithful answers",
}
_KINDS = ("supported", "another answer", "another passage")


@dataclass(frozen=True)
class Figures:
    """What the training found. Scores are log-odds; those of answers are that something is not supported."""

    claims: Sequence[Claimed]
    lines: Floats
    cross_validated: Floats
    unseen: Floats  # by trees that saw no set of this kind
    answers: Sequence[Claimed]
    answer_odds: Floats  # by trees that saw no answer of the conversation
    answer_unseen: Floats  # by trees that saw no answer of MTRAG
    words_covered: Floats  # of each answer: the share of its words that the passages have
    cited: Sequence[Claimed]  # claims that are calibrated with the answers, as answers of one claim
    cited_odds: Floats
    controlled_odds: Floats
    n_trees: int


def write_card(figures: Figures) -> str:
    """The card's text with its tables filled in."""
    odds = answer_log_odds(figures)
    filled = {
        "claims": f"{len(figures.claims):,}",
        "answers": f"{len(figures.answers):,}",
        "trees": str(figures.n_trees),
        "features": str(len(FEATURES)),
        "data": _data(figures.claims),
        "cross_validated": _claims(figures),
        "calibration": _calibration(figures),
        "answer_figures": _answers(figures, odds),
        "systems": _systems(figures, odds),
        "words": _words(figures.claims),
        "blind": _blind(pairs_of(BLIND)),
        "second_seen": _blind(pairs_of(SECOND)[::2]),
        "second_unseen": _blind(pairs_of(SECOND)[1::2]),
        "languages": _languages(figures.controlled_odds),
    }
    text = TEXT.read_text(encoding="utf-8")
    for name, value in filled.items():
        text = text.replace("{{" + name + "}}", value)
    return text


def area(scores: Floats, positive: Bools) -> float:
    """The area under the ROC curve: how often a positive row has the higher score; ties count half."""
    order = np.sort(scores[~positive])
    below = np.searchsorted(order, scores[positive]) + np.searchsorted(order, scores[positive], side="right")
    return float(below.mean() / 2 / len(order))


def balanced(predicted: Bools, positive: Bools) -> float:
    """Balanced accuracy: the mean of the shares of both classes that are recognised."""
    return float((predicted[positive].mean() + (~predicted[~positive]).mean()) / 2)


def f1(predicted: Bools, positive: Bools) -> float:
    """The harmonic mean of precision and recall."""
    return float(2 * (predicted & positive).sum() / max(predicted.sum() + positive.sum(), 1))


def _best(measure: Callable[[Bools, Bools], float], scores: Floats, positive: Bools) -> float:
    """The greatest value that any threshold on these scores gives, chosen on the very rows."""
    candidates = np.unique(np.quantile(scores, np.linspace(0, 1, 201)))
    return max(measure(scores >= threshold, positive) for threshold in candidates.tolist())


def _flags(rows: Sequence[Claimed]) -> Bools:
    return np.array([row.supported for row in rows])


def _data(rows: Sequence[Claimed]) -> str:
    lines = []
    for source, title in _TITLES.items():
        some = [row for row in rows if row.source == source]
        documents = len({row.document for row in some})
        lines.append([title, f"{len(some):,}", f"{documents:,}", f"{_flags(some).mean():.2f}"])
    return as_table(("set", "claims", "documents", "supported"), lines)


def _claims(figures: Figures) -> str:
    covered = figures.lines[:, NAMES.index("covered")]
    lines = []
    for source, title in _TITLES.items():
        some = np.array([row.source == source for row in figures.claims])
        right = _flags(figures.claims)[some]
        for what, scores in (("cross-validated", figures.cross_validated), ("set left out", figures.unseen)):
            own = scores[some]
            lines.append([f"{title}: {what}", f"{area(own, right):.3f}", f"{balanced(own >= 0, right):.3f}"])
        share = covered[some]
        lines.append([f"{title}: share of words", f"{area(share, right):.3f}", f"{_best(balanced, share, right):.3f}"])
    return as_table(("", "area under the curve", "balanced accuracy"), lines)


def _calibration(figures: Figures) -> str:
    weight, right = weights(figures.claims), _flags(figures.claims)
    chances = 1 / (1 + np.exp(-figures.cross_validated))
    bounds = np.linspace(0, 1, 6)
    lines = []
    for low, high in pairwise(bounds.tolist()):
        some = (chances >= low) & (chances < high)
        mean, share = np.average(chances[some], weights=weight[some]), np.average(right[some], weights=weight[some])
        lines.append([f"{low:.1f} – {high:.1f}", f"{some.sum():,}", f"{mean:.2f}", f"{share:.2f}"])
    return as_table(("probability", "claims", "mean", "supported"), lines)


def answer_log_odds(figures: Figures) -> Floats:
    """The log-odds of each answer, calibrated on the claims and on the other folds' conversations."""
    folds = np.array([row.fold for row in figures.answers])
    odds = np.zeros(len(folds))
    for number in np.unique(folds).tolist():
        others = folds != number
        rows = [row for row, is_other in zip(figures.answers, others.tolist(), strict=True) if is_other]
        rows += figures.cited
        seen = np.concatenate([figures.answer_odds[others], figures.cited_odds])
        slope, intercept = calibration(seen, ~_flags(rows), weights(rows))
        odds[~others] = slope * figures.answer_odds[~others] + intercept
    return odds


def _answers(figures: Figures, odds: Floats) -> str:
    wrong = ~_flags(figures.answers)
    lines = []
    missing = 1 - figures.words_covered
    ways = (("`offline_hallucination`, cross-validated", odds), ("MTRAG left out", figures.answer_unseen))
    for title, scores in ways:
        flagged = scores >= 0
        precision, recall = (flagged & wrong).sum() / flagged.sum(), (flagged & wrong).sum() / wrong.sum()
        figures_of = (area(scores, wrong), balanced(flagged, wrong), f1(flagged, wrong), precision, recall)
        lines.append([title, *(f"{value:.3f}" for value in figures_of)])
    best = (_best(balanced, missing, wrong), _best(f1, missing, wrong))
    baseline = [f"{value:.3f}" for value in (area(missing, wrong), *best)]
    lines.append(["share of words missing, best threshold", *baseline, "", ""])
    always = np.ones(len(wrong), bool)
    lines.append(["every answer", "0.500", "0.500", f"{f1(always, wrong):.3f}", f"{wrong.mean():.3f}", "1.000"])
    return as_table(("", "area", "balanced accuracy", "F1", "precision", "recall"), lines)


def _systems(figures: Figures, odds: Floats) -> str:
    wrong, system = ~_flags(figures.answers), np.array([row.kind for row in figures.answers])
    lines = []
    for name in np.unique(system).tolist():
        own = system == name
        flagged = odds[own] >= 0
        values = (wrong[own].mean(), flagged.mean(), area(odds[own], wrong[own]), f1(flagged, wrong[own]))
        lines.append([name, f"{own.sum():,}", *(f"{value:.3f}" for value in values)])
    return as_table(("answers of", "answers", "people: unfaithful", "flagged", "area", "F1"), lines)


def _words(rows: Sequence[Claimed]) -> str:
    """How well the words that no passage has are those that people marked: of all words with letters or figures."""
    marked, flagged = [], []
    for row in rows:
        if not row.words:
            continue
        spans = unsupported_words(" ".join(row.words), row.passages)
        begin = 0
        for word, mark in zip(row.words, row.unsupported, strict=True):
            end = begin + len(word)
            if any(map(str.isalnum, word)):
                marked.append(mark)
                flagged.append(any(first < end and begin < last for first, last in spans))
            begin = end + 1
    people, model = np.array(marked), np.array(flagged)
    hits = (people & model).sum()
    values = (hits / model.sum(), hits / people.sum(), f1(model, people))
    line = [f"{len(people):,}", f"{people.mean():.2f}", f"{model.mean():.2f}", *(f"{value:.3f}" for value in values)]
    return as_table(("words", "marked by people", "shown", "precision", "recall", "F1"), [line])


def pairs_of(file: Path) -> list[dict[str, Any]]:
    """Passages with a true or a false claim."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _blind(rows: Sequence[dict[str, Any]]) -> str:
    """How many of the pairs the packaged model gets right, by topic, language and wording."""
    chances = supported_of_rows([[row["claim"]] for row in rows], [[row["passage"]] for row in rows])
    is_supported = np.concatenate(chances) >= SUPPORTED
    right = np.array([row["supported"] for row in rows])
    groups: dict[str, Bools] = {"all": np.ones(len(rows), bool)}
    for name in ("topic", "language"):
        values = np.array([row[name] for row in rows])
        groups |= {value: values == value for value in np.unique(values).tolist()}
    is_paraphrased = np.array([row["paraphrased"] for row in rows])
    groups |= {"paraphrased": is_paraphrased, "close to the sentence": ~is_paraphrased}
    lines = []
    for name, some in groups.items():
        kept, caught = is_supported[some & right], ~is_supported[some & ~right]
        lines.append([name, *(f"{flags.sum()} of {len(flags)}" for flags in (kept, caught))])
    return as_table(("", "true, kept", "false, caught"), lines)


def _languages(odds: Floats) -> str:
    rows = controlled()
    language, kind = np.array([row.source for row in rows]), np.array([row.kind for row in rows])
    lines = []
    for code in np.unique(language).tolist():
        shares = [odds[(language == code) & (kind == name)] >= 0 for name in _KINDS]
        right = np.array([row.supported for row in rows])[language == code]
        values = [*(share.mean() for share in shares), balanced(odds[language == code] >= 0, right)]
        lines.append([code, *(f"{value:.2f}" for value in values)])
    return as_table(("language", *_KINDS, "balanced accuracy"), lines)

"""Learns the model of answers that decline: `python training/train_refusals.py` writes the package's weights.

From whole answers it learns two logistic regressions over clauses together: which decline, and which answer. `--check`
prints first how it does on writers and languages that it has not seen, slowly.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from ragmeter.metrics.refusals import detector
from ragmeter.metrics.refusals.model import BIAS, features
from ragmeter.metrics.sentences import sentences

Floats = npt.NDArray[np.float64]
HERE = Path(__file__).parent
TESTS = HERE.parent / "tests" / "data"
WEIGHTS = HERE.parent / "src" / "ragmeter" / "metrics" / "refusals" / "weights.json"
_REAL = "real"
_JOINED = "joined"
#: What may stand around a short answer.
_FRAMES = (
    "The answer is {}", "So, my final answer is: {}", "Final answer: ({})",
    "Based on the documents that I was given, {}",
    "According to the text, it is {}.", "I don't know about you, but I would say {}.", "{}. I'm not sure, though.",
    "As an AI I have no opinions, but to answer your question: {}.", "Added:\n- {}\nRemoved:\n- N/A",
    "A) {}\nB) I don't know\nAnswer: A", "I can tell you that it was {}, though I don't have access to live data.",
    "La respuesta es {}", "Según los documentos, {}", "No sé si lo sabías, pero es {}.", "La réponse est {}",
    "D'après le texte, {}", "Je ne sais pas si vous le saviez, mais c'est {}.", "Die Antwort lautet: {}",
    "Laut den Unterlagen {}", "Ich weiß nicht, ob du es wusstest, aber es ist {}.", "La risposta è {}",
    "Secondo i documenti, {}", "Non so se lo sapevi, ma è {}.", "A resposta é {}", "Segundo os documentos, {}",
    "Não sei se você sabia, mas é {}.",
)  # fmt: skip
_SHORT = 30  # characters of a short answer
_WEIGHT_OF_REAL = 0.2  # of a real answer beside a written one: there are more of them, and most are easy
_WEIGHT_OF_JOINED = 0.3
_HARD = 0.1  # the probability from which a real answer is worth learning from
_PENALTY = 1.5
_RAREST = 3  # the answers in which a feature must be
_STEPS = 120
_LEAST = 3  # hundredths: features with smaller weights are left out


@dataclass(frozen=True)
class Answer:
    """An answer, who wrote it, and whether it declines."""

    text: str
    declines: bool
    writer: str
    language: str = "en"
    kind: str = ""


def written() -> list[Answer]:
    """The answers that were written for this purpose."""
    with gzip.open(HERE / "refusals.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [{**json.loads(line), "writer": "parts"} for line in lines]
    for name in ("refusals", "refusals_more"):
        lines_of = (TESTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        rows += [{**json.loads(line), "writer": name} for line in lines_of]
    return [
        Answer(
            row["answer"],
            row["declines"],
            f"{row['writer']}{row.get('part', '')}",
            row["language"],
            row.get("kind", ""),
        )
        for row in rows
    ]


def real() -> list[Answer]:
    """Answers of systems that people call right, texts of two other languages, long references: none declines."""
    chance = np.random.default_rng(0)
    texts = [text for row in _rows("evouna_nq") for text, is_right in row["answers"].values() if is_right]
    short = sorted({text for text in texts if len(text) < _SHORT})
    texts += [frame.format(short[index]) for frame in _FRAMES for index in chance.choice(len(short), 20, replace=False)]
    texts += [text for row in _rows("preferences") for text in (row["reference"], *row["answers"])]
    passages = sorted(
        {row["passages"][0] for row in _rows("support_controlled_claims") if row["language"] in ("de", "es")}
    )
    for passage in passages:
        texts.append(" ".join(sentences(passage)[: int(chance.integers(1, 4))]))
    texts = sorted({text for text in texts if len(text) <= detector.LONGEST_LEARNT})
    return [Answer(text, False, _REAL) for text in texts if not detector.is_read_as_refusal(text)]


def joined(answers: Sequence[Answer]) -> list[Answer]:
    """Two written answers of a language, one after the other: a refusal before an answer is an answer."""
    chance = np.random.default_rng(1)
    pairs = []
    for first in answers:
        seconds = [answer for answer in answers if answer.language == first.language and answer.writer == first.writer]
        second = seconds[int(chance.integers(len(seconds)))]
        declines = first.declines and second.declines
        pairs.append(replace(first, text=f"{first.text} {second.text}", declines=declines, kind=_JOINED))
    return [pair for pair in pairs if len(pair.text) <= detector.LONGEST_LEARNT]


def chosen(answers: Sequence[Answer], others: Sequence[Answer]) -> list[Answer]:
    """Of the other answers one in ten, and those that a model of the first and of these takes for refusals."""
    sample = list(others[::10])
    known = [*answers, *sample]
    model = Model(known, names_of(known))
    likely = model.probabilities(names_of(others))
    return sorted(
        {*sample, *(other for other, p in zip(others, likely, strict=True) if p > _HARD)}, key=lambda a: a.text
    )


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(HERE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _weight(answer: Answer) -> float:
    return _WEIGHT_OF_REAL if answer.writer == _REAL else _WEIGHT_OF_JOINED if answer.kind == _JOINED else 1.0


class Model:
    """The features' names and their two weights."""

    def __init__(self, answers: Sequence[Answer], names: Sequence[Sequence[set[str]]]) -> None:
        counts = Counter(name for clauses in names for name in set().union(*clauses))
        self.index = {name: i for i, name in enumerate(sorted(n for n, count in counts.items() if count >= _RAREST))}
        self.weights = self._fitted(answers, *self._matrix(names))

    def _matrix(self, names: Sequence[Sequence[set[str]]]) -> tuple[Any, npt.NDArray[np.int64]]:
        columns: list[int] = []
        ends, owners = [0], []
        for owner, clauses in enumerate(names):
            for clause in clauses:
                columns += sorted(self.index[name] for name in clause if name in self.index)
                ends.append(len(columns))
                owners.append(owner)
        shape = (len(owners), len(self.index))
        return csr_matrix((np.ones(len(columns)), columns, ends), shape=shape), np.array(owners)

    def _fitted(self, answers: Sequence[Answer], matrix: Any, owners: npt.NDArray[np.int64]) -> Floats:
        """The weights with the highest penalised likelihood of the answers' labels."""
        labels = np.array([float(answer.declines) for answer in answers])
        shares = np.array([_weight(answer) for answer in answers])
        penalty = np.full((len(self.index), 1), _PENALTY)
        penalty[self.index[BIAS]] = 0.01 * _PENALTY
        transposed = matrix.T.tocsr()

        def loss(flat: Floats) -> tuple[float, Floats]:
            weights = flat.reshape(-1, 2)
            odds = 1 / (1 + np.exp(-np.clip(matrix @ weights, -30, 30)))
            logs = np.stack([np.bincount(owners, np.log1p(-odds[:, k]), len(answers)) for k in (0, 1)], axis=1)
            none_declines = np.exp(logs[:, 0])
            some_declines = np.clip(1 - none_declines, 1e-9, 1)
            likely = np.clip(some_declines * np.exp(logs[:, 1]), 1e-9, 1 - 1e-9)
            slope = shares * (labels - (1 - labels) * likely / (1 - likely))  # of the likelihood, by log(likely)
            slopes = np.stack([(slope * none_declines / some_declines)[owners], -slope[owners]], axis=1) * odds
            value = -shares @ (labels * np.log(likely) + (1 - labels) * np.log1p(-likely))
            gradient = penalty * weights - transposed @ slopes
            return float(value + 0.5 * (penalty * weights**2).sum()), np.asarray(gradient).ravel()

        start = np.zeros((len(self.index), 2))
        start[self.index[BIAS]] = -1
        result = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
        return np.asarray(result.x).reshape(-1, 2)

    def probabilities(self, names: Sequence[Sequence[set[str]]]) -> Floats:
        """How likely each answer declines."""
        matrix, owners = self._matrix(names)
        odds = 1 / (1 + np.exp(-np.clip(matrix @ self.weights, -30, 30)))
        none = [np.exp(np.bincount(owners, np.log1p(-odds[:, k]), len(names))) for k in (0, 1)]
        return np.asarray((1 - none[0]) * none[1])

    def table(self) -> dict[str, list[int]]:
        """The weights in hundredths, without those that are next to nothing."""
        rounded = np.rint(100 * self.weights).astype(int).tolist()
        return {name: rounded[i] for name, i in self.index.items() if max(map(abs, rounded[i])) >= _LEAST}


def names_of(answers: Sequence[Answer]) -> list[list[set[str]]]:
    """The features of each answer's clauses."""
    return [list(features(detector.clauses_to_learn(answer.text))) or [{BIAS}] for answer in answers]


def checked(answers: Sequence[Answer], names: Sequence[Sequence[set[str]]]) -> None:
    """Prints how many answers of each writer, or language, a model judges right that has not seen any of them."""
    for by in ("writer", "language"):
        verdicts: list[tuple[Answer, bool, bool]] = []
        for group in sorted({getattr(answer, by) for answer in answers if answer.writer != _REAL}):
            is_out = [answer.writer != _REAL and getattr(answer, by) == group for answer in answers]
            rest = [i for i, out in enumerate(is_out) if not out]
            left = [i for i, out in enumerate(is_out) if out]
            model = Model([answers[i] for i in rest], [names[i] for i in rest])
            likely = model.probabilities([names[i] for i in left])
            for i, probability in zip(left, likely.tolist(), strict=True):
                if answers[i].kind == _JOINED:
                    continue
                is_read = detector.is_read_as_refusal(answers[i].text)
                is_seen = probability > detector.model_threshold(answers[i].text)
                verdicts.append((answers[i], is_read, is_read or is_seen))
        print(f"\neach {by} judged without having been seen: n, tables alone, with the model (missed, false alarms)")
        for key in ("writer", "language", "kind"):
            for value, rows in _grouped([v for v in verdicts if key == by or v[0].writer.startswith("parts")], key):
                print(f"  {key:9} {value:20} {_figures(rows)}")


def _grouped(
    verdicts: list[tuple[Answer, bool, bool]], key: str
) -> Iterable[tuple[str, list[tuple[Answer, bool, bool]]]]:
    ordered = sorted(verdicts, key=lambda verdict: str(getattr(verdict[0], key)))
    for value, rows in groupby(ordered, key=lambda verdict: str(getattr(verdict[0], key))):
        yield value, list(rows)


def _figures(rows: Sequence[tuple[Answer, bool, bool]]) -> str:
    tables = sum(answer.declines == is_read for answer, is_read, _ in rows)
    model = sum(answer.declines == verdict for answer, _, verdict in rows)
    missed = sum(answer.declines and not verdict for answer, _, verdict in rows)
    return f"{len(rows):4} {tables:4} {model:4} ({missed}, {len(rows) - model - missed})"


def main() -> None:
    """Learns and writes the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="print figures on unseen writers and languages first")
    own = [*written(), *joined(written())]
    answers = [*own, *chosen(own, real())]
    print(f"{len(own)} written and joined answers, {len(answers) - len(own)} real ones")
    names = names_of(answers)
    if parser.parse_args().check:
        checked(answers, names)
    table = Model(answers, names).table()
    lines = ",\n".join(f"{json.dumps(name, ensure_ascii=False)}: {pair}" for name, pair in sorted(table.items()))
    WEIGHTS.write_text("{\n" + lines + "\n}\n", encoding="utf-8")
    print(f"{len(table)} features, {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()

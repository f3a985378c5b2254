"""Do made-up questions rank retrievers as people's questions do? `python training/rank_retrievers.py xquad.en.json …`.

Fourteen retrievers search the paragraphs of each file. People's questions are split in halves; each half ranks the
retrievers, and Kendall's tau says how far the other half's ranking agrees, and that of as many made-up questions. The
same is drawn anew many times: the mean is printed, and the range of 95 of 100 draws, the made-up ones resampled.
`--questions` are sets that `ragmeter questions` has made, in the order of the files: their `relevant` are the
paragraphs' numbers, d0, d1 …
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from retrievers import Embed, ranks, settings

from ragmeter.analysis.testsets import tau
from ragmeter.embedders import port
from ragmeter.embedders.cache import Cache
from ragmeter.testsets.offline import write_offline
from ragmeter.testsets.questions import KEYWORDS, Passage, PlannedQuestion, Question

Values: TypeAlias = npt.NDArray[np.float64]  # settings by questions
Ranks: TypeAlias = npt.NDArray[np.float32]

METRICS: dict[str, Callable[[Ranks], Values]] = {
    "recall@1": lambda rank: (rank <= 1).astype(np.float64),
    "mrr": lambda rank: (1 / rank).astype(np.float64),
    "ndcg@10": lambda rank: np.where(rank <= 10, 1 / np.log2(1 + rank), 0).astype(np.float64),
}
#: So many questions about each paragraph are planned offline.
_EACH = 3
_DRAWS = 500


@dataclass(frozen=True)
class Asked:
    """Questions, and the numbers of the documents that answer them."""

    texts: list[str]
    gold: npt.NDArray[np.int64]


def main() -> None:
    """Print a table for each file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", help="XQuAD, such as xquad.en.json: the language is in the name")
    parser.add_argument("--questions", type=Path, nargs="*", default=[], help="JSONL: question and relevant")
    parser.add_argument("--transformer", default="wordllama", help="a folder with an ONNX model; see docs/semantic.md")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        static, transformer = (_embedder(name, cache) for name in ("wordllama", chosen.transformer))
        for number, file in enumerate(chosen.files):
            language = file.name.split(".")[-2]
            documents, people = _read(file)
            rank = partial(_ranked, language, documents, static, transformer)
            sets = {"offline": _offline(documents, language, chosen.seed)}
            if number < len(chosen.questions):
                sets["the given set"] = _given(chosen.questions[number])
            _print(file.name, rank(people), {name: rank(asked) for name, asked in sets.items()}, chosen.seed)
        cache.close()


def _print(title: str, people: Ranks, sets: dict[str, Ranks], seed: int) -> None:
    print(f"\n{title}: people's questions {people.shape[1]:,}")
    print(f"{'':32} {'questions':>9}  " + "  ".join(f"{name:^20}" for name in METRICS))
    for name, ranked in sets.items():
        size = min(ranked.shape[1], people.shape[1] // 2)
        for label, candidates in ((name, ranked), ("  as many of people's", None)):
            cells = []
            for metric in METRICS.values():
                own = None if candidates is None else metric(candidates)
                agreement = _agreement(metric(people), own, size, seed)
                low, high = np.percentile(_agreement(metric(people), own, size, seed, resampled=True), [2.5, 97.5])
                cells.append(f"{agreement.mean():.2f} ({low:.2f} to {high:.2f})")
            print(f"{label:32} {size:>9}  " + "  ".join(f"{cell:^20}" for cell in cells))


def _agreement(people: Values, made: Values | None, size: int, seed: int, *, resampled: bool = False) -> Values:
    """Tau between one half of people's questions and as many made-up ones, or some of the other half; for each draw.

    `resampled`: the made-up ones are drawn with replacement, for an interval that also holds for others like them.
    """
    rng = np.random.default_rng(seed)
    half = people.shape[1] // 2
    agreement = []
    for _ in range(_DRAWS):
        order = rng.permutation(people.shape[1])
        target = people[:, order[:half]].mean(axis=1)
        if made is None:
            means = people[:, order[half : half + size]].mean(axis=1)
        else:
            means = made[:, rng.choice(made.shape[1], size, replace=resampled)].mean(axis=1)
        agreement.append(tau(target, means))
    return np.array(agreement)


def _offline(documents: Sequence[str], language: str, seed: int) -> Asked:
    passages = [Passage(f"d{number}", text, f"d{number}", "", language) for number, text in enumerate(documents)]
    plan = [PlannedQuestion(KEYWORDS, (passage,)) for passage in passages for _ in range(_EACH)]
    results = write_offline(passages, plan, seed)
    written = [
        (result.text, int(result.planned.passages[0].id[1:])) for result in results if isinstance(result, Question)
    ]
    return Asked([text for text, _ in written], np.array([number for _, number in written]))


def _read(file: Path) -> tuple[list[str], Asked]:
    """The paragraphs of a file in SQuAD's form, and people's questions about them."""
    articles = json.loads(file.read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for article in articles for paragraph in article["paragraphs"]]
    asked = [(pair["question"], number) for number, paragraph in enumerate(paragraphs) for pair in paragraph["qas"]]
    texts, gold = [text for text, _ in asked], np.array([number for _, number in asked])
    return [paragraph["context"] for paragraph in paragraphs], Asked(texts, gold)


def _given(file: Path) -> Asked:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows = [row for row in rows if row["relevant"]]
    return Asked([row["question"] for row in rows], np.array([int(row["relevant"][0][1:]) for row in rows]))


def _ranked(language: str, documents: list[str], static: Embed, transformer: Embed, asked: Asked) -> Ranks:
    of_settings = settings(language, static, transformer)
    return np.stack([ranks(setting, documents, asked.texts, asked.gold) for setting in of_settings])


def _embedder(name: str, cache: Cache) -> Embed:
    """A model whose vectors of a text are computed once."""
    model = port.choose(name, None, None, cache)
    known: dict[str, npt.NDArray[np.float32]] = {}

    def embed(texts: list[str]) -> npt.NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, model.embed(new)[0], strict=True))
        return np.stack([known[text] for text in texts])

    return embed


if __name__ == "__main__":
    main()

"""Makes the data of the support model from the originals: `python training/make_support.py FOLDER`.

One line a claim or an answer: its document, by which it is split, its text, its passages, and people's label. The same
originals always give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_LANGUAGES = ("ar", "de", "en", "es", "ru", "th", "tr", "zh")
_QUESTIONS = 100  # of each language
_NEAR = 15  # characters by which a swapped answer may be longer or shorter


def main() -> None:
    """Write one file for each data set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    _write("wice_claims", _wice(folder / "wice_claims.dev.jsonl"))
    _write("wice_words", _wice(folder / "wice_tokens.train.jsonl"))
    _write("factcheck", _factcheck(folder / "factcheck_stance.jsonl"))
    _write("mtrag", _mtrag(folder / "mtrag_human.json"))
    controlled = (row for language in _LANGUAGES for row in _controlled(folder / f"xquad.{language}.json", language))
    _write("controlled_claims", controlled)


def _write(name: str, rows: Iterable[dict[str, Any]]) -> None:
    path = HERE / f"support_{name}.jsonl.gz"
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    print(f"{path.name}: {len(lines):,} lines, {path.stat().st_size:,} bytes")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _wice(path: Path) -> Iterator[dict[str, Any]]:
    """Claims with the cited page; where people marked words that it does not support, the claim's words and marks."""
    for row in sorted(_lines(path), key=lambda row: row["meta"]["claim_title"]):  # the same pages beside each other
        made = {"document": row["meta"]["claim_title"], "claim": row["claim"], "label": row["label"]}
        if "claim_tokens" in row:
            marks = "".join(str(int(lacks)) for lacks in row["non_supported_spans"])
            made |= {"words": row["claim_tokens"], "unsupported": marks}
        yield made | {"passages": ["\n".join(row["evidence"])]}


def _factcheck(path: Path) -> Iterator[dict[str, Any]]:
    for row in _lines(path):
        label, claim = row["stance"], row["claim"]
        yield {"document": claim, "claim": claim, "label": label, "passages": [row["evidence"]]}


def _mtrag(path: Path) -> Iterator[dict[str, Any]]:
    """Answers with the passages that they were to be made of, and each person's mark for faithfulness, 1 to 4."""
    original = json.loads(path.read_text(encoding="utf-8"))
    texts = {document["document_id"]: document["text"] for document in original["documents"]}
    tasks = {task["task_id"]: task for task in original["tasks"]}
    for row in sorted(original["evaluations"], key=lambda row: row["task_id"]):
        task = tasks[row["task_id"]]
        passages = [texts[context["document_id"]] for context in task["contexts"]]
        if passages:
            yield {
                "document": row["task_id"].partition("<")[0], "system": row["model_id"],
                "question": task["input"][-1]["text"], "answer": row["model_response"],
                "marks": [int(mark["value"]) for mark in row["annotations"]["faithfulness"].values()],
                "passages": passages,
            }  # fmt: skip


def _controlled(path: Path, language: str) -> Iterator[dict[str, Any]]:
    """A question followed by its answer, by another answer, and both with another passage of the same article."""
    chance = random.Random(language)
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    asked = [
        (article, paragraph["context"], qa["question"].strip("?¿؟？ "), qa["answers"][0]["text"])
        for article in articles
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    ]
    for place in range(_QUESTIONS):
        article, passage, question, answer = asked[place * len(asked) // _QUESTIONS]
        others = [text for *_, text in asked if _is_alike(text, answer) and text not in passage]
        elsewhere = [other["context"] for other in article["paragraphs"] if other["context"] != passage]
        row = {"language": language, "document": passage[:40]}
        yield row | {"kind": "supported", "claim": f"{question} {answer}", "passages": [passage]}
        if others:
            yield row | {
                "kind": "another answer",
                "claim": f"{question} {chance.choice(others)}",
                "passages": [passage],
            }
        if elsewhere:
            other_passage = chance.choice(elsewhere)
            yield row | {"kind": "another passage", "claim": f"{question} {answer}", "passages": [other_passage]}


def _is_alike(text: str, answer: str) -> bool:
    has_figures = [any(map(str.isdigit, side)) for side in (text, answer)]
    return has_figures[0] == has_figures[1] and abs(len(text) - len(answer)) < _NEAR


if __name__ == "__main__":
    main()

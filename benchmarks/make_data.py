"""Makes the samples in `benchmarks/data/` from the originals: `python benchmarks/make_data.py FOLDER`.

FOLDER holds `evouna_nq.json`, `ragchecker_human_labeled.json` and `xquad.es.json` as their authors publish them. The
same originals always give the same bytes. `data/README.md` says where they come from and under which licence.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

Row = dict[str, str]
Item = TypeVar("Item")

DATA = Path(__file__).parent / "data"
_LONG = 80  # words that a long text has at least
_EVOUNA_SYSTEMS = ("fid", "gpt35", "chatgpt", "gpt4", "newbing")
_AROUND = 9  # words of the sentence that a Spanish reference keeps on either side of the gold answer
_BEYOND = 1  # and those that an answer keeps


def main() -> None:
    """Write the three samples."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder with the originals")
    folder: Path = parser.parse_args().folder
    _write("evouna", evouna(_load(folder / "evouna_nq.json"), 1000))
    _write("ragchecker", ragchecker(_load(folder / "ragchecker_human_labeled.json"), 120))
    _write("xquad_es", xquad(_load(folder / "xquad.es.json"), 1000))


def evouna(questions: Sequence[dict[str, Any]], count: int) -> Iterator[Row]:
    """Five rows a question, one for each system; the reference is the first of the gold answers."""
    whole = [question for question in questions if not question["improper"] and all(_evouna_texts(question))]
    for row in _spread(whole, count):
        reference, *answers = _evouna_texts(row)
        for answer in answers:
            yield {"question": row["question"], "reference": reference, "answer": answer}


def _evouna_texts(question: dict[str, Any]) -> list[str]:
    answers = [(question[f"answer_{system}"] or "").strip() for system in _EVOUNA_SYSTEMS]
    return [question["golden_answer"].split("/")[0].strip(), *answers]


def ragchecker(questions: Sequence[dict[str, Any]], count: int) -> Iterator[Row]:
    """Two rows a question, one for each system, of the questions whose three texts are all long; each question once."""
    long = {
        question["query"]: question
        for question in questions
        if min(len(text.split()) for text in _ragchecker_texts(question)) >= _LONG
    }
    for question in _spread(list(long.values()), count):
        reference, *answers = _ragchecker_texts(question)
        for answer in answers:
            yield {"question": question["query"], "reference": reference, "answer": answer}


def _ragchecker_texts(question: dict[str, Any]) -> list[str]:
    return [question["gt_answer"], question["model1"]["response"], question["model2"]["response"]]


def xquad(original: dict[str, Any], count: int) -> Iterator[Row]:
    """One row a question: the words around the gold answer, against the question's words and the gold answer."""
    return iter(_spread(list(_xquad_rows(original)), count))


def _xquad_rows(original: dict[str, Any]) -> Iterator[Row]:
    for paragraph in (paragraph for article in original["data"] for paragraph in article["paragraphs"]):
        context = paragraph["context"]
        for qa in paragraph["qas"]:
            gold = qa["answers"][0]
            start, end = gold["answer_start"], gold["answer_start"] + len(gold["text"])
            if context[start:end] != gold["text"]:
                continue
            before = re.split(r"(?<=[.!?])\s+|\ufeff", context[:start])[-1]
            after = re.split(r"(?<=[.!?])\s", context[end:])[0]
            said = qa["question"].strip(" ¿?")
            yield {
                "question": qa["question"],
                "reference": _window(before, gold["text"], after, _AROUND),
                "answer": f"{said}: {_window(before, gold['text'], after, _BEYOND)}",
            }


def _window(before: str, text: str, after: str, words: int) -> str:
    """The text with at most so many words on either side; half words that touch it stay whole."""
    left = re.search(rf"(?:\S+\s+){{0,{words}}}\S*$", before)
    right = re.match(rf"\S*(?:\s+\S+){{0,{words}}}", after)
    return f"{left[0] if left else ''}{text}{right[0] if right else ''}".strip()


def _spread(items: Sequence[Item], count: int) -> list[Item]:
    """So many of the items, evenly spaced."""
    count = min(count, len(items))
    return [items[place * len(items) // count] for place in range(count)]


def _load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _write(name: str, rows: Iterable[Row]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    path = DATA / f"{name}.jsonl.gz"
    path.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
    print(f"{path.name}: {len(lines)} rows, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

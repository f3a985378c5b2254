"""Makes `tests/data/controlled.jsonl.gz` from XQuAD: `python training/make_controlled.py FOLDER`.

XQuAD has no systems' answers, so right and wrong ones are made of each question, its paragraph and its gold answer. The
kinds are told in tests/data/README.md. The same originals always give the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "tests" / "data" / "controlled.jsonl.gz"
_QUESTIONS = 120  # of each language; the test holds Spanish to more
_SPANISH = 400
_NEGATED = {
    "en": "It is not {}.", "es": "No es {}.", "de": "Es ist nicht {}.", "ru": "Это не {}.", "tr": "{} değil.",
    "ar": "ليس {}.", "zh": "不是{}。", "th": "ไม่ใช่ {}",
}  # fmt: skip
_OR = {"en": "or", "es": "o", "de": "oder", "ru": "или", "tr": "veya", "ar": "أو", "zh": "或", "th": "หรือ"}


def main() -> None:
    """Write the answers of every language that the folder has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    lines = []
    for language in _NEGATED:
        original = json.loads((folder / f"xquad.{language}.json").read_text(encoding="utf-8"))
        count = _SPANISH if language == "es" else _QUESTIONS
        lines += [json.dumps(row, ensure_ascii=False) + "\n" for row in _rows(original, language, count)]
    TARGET.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
    print(f"{TARGET.name}: {len(lines):,} rows, {TARGET.stat().st_size:,} bytes")


def _rows(original: dict[str, Any], language: str, count: int) -> Iterator[dict[str, Any]]:
    chance = random.Random(f"{language} 1")
    paragraphs = [paragraph for article in original["data"] for paragraph in article["paragraphs"]]
    asked = [(paragraph, qa) for paragraph in paragraphs for qa in paragraph["qas"]]
    for place in range(count):
        paragraph, qa = asked[place * len(asked) // count]
        for kind, answer, right in _answers(paragraph, qa, language, chance):
            yield {
                "language": language, "kind": kind, "question": qa["question"], "gold": qa["answers"][0]["text"],
                "answer": answer, "right": right,
            }  # fmt: skip


def _answers(
    paragraph: dict[str, Any], qa: dict[str, Any], language: str, chance: random.Random
) -> Iterator[tuple[str, str, bool]]:
    gold: str = qa["answers"][0]["text"]
    sentences = [sentence for sentence in re.split(r"(?<=[.!?。！？])\s*", paragraph["context"]) if sentence.strip()]
    within = next((sentence for sentence in sentences if gold in sentence), None)
    others = [question["answers"][0]["text"] for question in paragraph["qas"]]
    others = [other for other in others if other not in gold and gold not in other]
    yield "gold alone", gold, True
    yield "question and gold", f"{qa['question'].strip(' ¿?？')}: {gold}", True
    if within is not None:
        yield "gold in its sentence", within, True
    figures = re.search(r"\d{1,3}(?:[.,]\d{3})+", gold)
    if figures:
        plain = re.sub(r"\D", "", figures[0])
        other_way = figures[0].translate(str.maketrans(".,", ",."))
        yield "number written otherwise", gold.replace(figures[0], chance.choice((plain, other_way))), True
    if re.fullmatch(r"[^\W\d_]+ [^\W\d_]+", gold) and gold.istitle():
        yield "names the other way round", ", ".join(reversed(gold.split())), True
    yield "question repeated", qa["question"], False
    yield "negated", _NEGATED[language].format(gold), False
    if others:
        number = any(c.isdigit() for c in gold)
        alike = [other for other in others if any(c.isdigit() for c in other) == number] or others
        other = chance.choice(alike)
        yield "another answer of the paragraph", other, False
        yield "two candidates", f"{other} {_OR[language]} {gold}", False
        if within is not None:
            yield "another answer in the sentence", within.replace(gold, other), False
    elsewhere = [sentence for sentence in sentences if gold not in sentence]
    if elsewhere:
        yield "another sentence", chance.choice(elsewhere), False
    digits = re.search(r"\d+", gold)
    if digits and within is not None:
        wrong = str(int(digits[0]) + chance.choice((-3, -2, -1, 1, 2, 3, 10)))
        yield "another number", within.replace(gold, gold.replace(digits[0], wrong)), False


if __name__ == "__main__":
    main()

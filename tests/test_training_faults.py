"""The script that breaks right answers in known ways, on a small file of its form."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLACES = {
    "Norland": ("Vik", "the Alna", "1841", "shipbuilding"),
    "Sudland": ("Torre", "the Miro", "1725", "glass"),
    "Ostland": ("Breda", "the Olza", "1912", "amber"),
    "Westland": ("Penn", "the Tavy", "1650", "slate"),
}


def _article(name: str) -> dict[str, object]:
    capital, river, year, trade = PLACES[name]
    texts = [
        f"The capital of {name} is {capital}. It was founded in {year} by fishermen from the coast.",
        f"The longest river of {name} is {river}. Barges go up to the mountains on it in summer.",
        f"Most people in {name} live on {trade}. The winters are long, and the harvests are small.",
    ]
    asked = [
        [(f"What is the capital of {name}?", capital), (f"When was the capital of {name} founded?", year)],
        [(f"What is the longest river of {name}?", river)],
        [(f"What do most people in {name} live on?", trade)],
    ]
    return {
        "paragraphs": [
            {"context": text, "qas": [{"id": q, "question": q, "answers": [{"text": a}]} for q, a in questions]}
            for text, questions in zip(texts, asked, strict=True)
        ]
    }


def test_the_faults_are_made_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "xquad.en.json"
    file.write_text(json.dumps({"data": [_article(name) for name in PLACES]}))
    monkeypatch.syspath_prepend(str(ROOT / "training"))
    monkeypatch.setattr(sys, "argv", ["faults.py", str(file), "--rows", "12", "--wrong"])
    import faults

    faults.main()
    shown = capsys.readouterr().out
    assert "right rows: 12" in shown
    by_ids, by_texts = (part.splitlines() for part in shown.split("**by the texts alone, all**")[:2])
    shares = [float(line.split("|")[4].strip(" %")) for line in (by_ids + by_texts) if line.startswith("| all faults")]
    assert len(shares) == 4
    assert shares[0] > 80
    lines = {line.split("|")[1].strip(): line for line in by_ids if line.startswith("|")}
    assert "| retriever broken | not_retrieved | 12 | 100.0% |  |" in lines["retriever broken"]
    assert "declined_though_retrieved | 12 | 100.0%" in lines["forced refusal"]

"""How many claims a second the offline support model judges, each with five passages: the whole command."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

from common import cores, measure, progress, ragmeter_command, table

TRAINING = Path(__file__).parent.parent / "training" / "support_factcheck.jsonl.gz"
_LEAST = 3_000  # claims a second
_PASSAGES = 5
_CLAIMS = 30_000


def support(folder: Path, *, quick: bool) -> None:
    """Answers of one claim, each with passages of its own, and answers of six claims that share theirs."""
    with gzip.open(TRAINING, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    count = _CLAIMS // 10 if quick else _CLAIMS
    lines_of_table = []
    for claims in (1, 6):
        file = folder / f"support-{claims}.jsonl"
        _write(file, rows, count // claims, claims)
        progress(f"support: the command on {count // claims:,} answers of {claims} claims")
        usage = measure(
            ragmeter_command(
                "evaluate", "--metrics", "offline_supported,offline_hallucination", "--results", str(file), "--run",
                f"support-{claims}", "--output-dir", str(folder),
            )
        )  # fmt: skip
        lines_of_table.append(
            (
                f"{count:,}", str(claims), f"{usage.seconds:.1f}", f"{usage.cpu_seconds:.1f}",
                f"{count / usage.seconds:,.0f}", f"{usage.peak_bytes / 1e6:,.0f} MB",
            )
        )  # fmt: skip
    table(
        f"SUPPORT  claims with {_PASSAGES} passages each, whole command on {cores()} cores; target {_LEAST:,} claims/s",
        ("claims", "claims an answer", "seconds", "CPU s", "claims/s", "peak memory"),
        lines_of_table,
    )


def _write(file: Path, rows: list[dict[str, str]], answers: int, claims: int) -> None:
    """Answers of some claims with five passages of about 90 words. No two have the same passage."""
    chance = random.Random(claims)
    with file.open("w", encoding="utf-8") as out:
        for number in range(answers):
            chosen = [rows[(number * claims + place) % len(rows)] for place in range(claims)]
            passages = [row["passages"][0] for row in [*chosen, *chance.sample(rows, _PASSAGES)][:_PASSAGES]]
            row = {
                "qid": str(number),
                "answer": " ".join(claim["claim"] for claim in chosen),
                "contexts": [f"{passage} {number}" for passage in passages],
            }
            out.write(json.dumps(row, ensure_ascii=False) + "\n")

"""Runs for the tests of reports: small ones worked out by hand, and one with a payload in every field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import ragmeter
from ragmeter import FakeProvider, Judge
from ragmeter.judges.asking.probes import PROBES
from ragmeter.runs.run import Run
from ragmeter.show.report.report import load_runs

METRICS = "token_f1,exact_match,recall@2"
#: Would run in a page that takes a text for markup, a script for data, or a place in the template for its own.
PAYLOADS = (
    "<img src=x onerror=window.hit=1>",
    "</script><script>window.hit=1</script>",
    "<!--<script>window.hit=1",
    "\"><svg onload='window.hit=1'>",
    "javascript:window.hit=1",
    "{{script}} {{data}} $& $1 \\u003cb\\u003e",
    "\u202egnp.tac \u2028 \x1b[31m \ufeff",
    "<a href=https://example.invalid/x><link rel=stylesheet href=//example.invalid/y>",
)
PAYLOAD = " ".join(PAYLOADS)


def rows(count: int = 8) -> list[dict[str, Any]]:
    """Questions in two halves: the first answered rightly, the second wrongly, the last one not at all."""
    rows = []
    for i in range(count):
        right = i < count // 2
        rows.append(
            {
                "qid": f"q{i}",
                "question": f"Question number {i}?",
                "reference": [f"gold answer {i}"],
                "answer": None if i == count - 1 else f"gold answer {i}" if right else "something else entirely",
                "contexts": [f"passage one of {i}", f"passage two of {i}"],
                "relevant": [f"d{i}"],
                "retrieved": [f"d{i}::chunk-2" if right else "d99", "d98"],
                "domain": "music" if i % 2 else "sport",
                "note": f"a note {i}",
            }
        )
    return rows


def keep(folder: Path, name: str = "small", data: list[dict[str, Any]] | None = None, metrics: str = METRICS) -> Path:
    """A run in `folder`."""
    ragmeter.evaluate(data or rows(), metrics=metrics, run=name, output_dir=folder)
    return folder / name


def judge_of_rows(reference: str, answer: str) -> str:
    """Knows the built-in cases but one, can't read one row, and says yes to the others."""
    verdicts = {(probe.reference, probe.answer): probe.verdict for probe in PROBES}
    verdicts[PROBES[12].reference, PROBES[12].answer] = "CORRECT"
    if answer == "nonsense":
        return "well"
    right = verdicts.get((reference, answer), "CORRECT") == "CORRECT"
    return json.dumps({"verdict": "Yes" if right else "No", "reason": f"it says {reference.replace(' ', '-')}!"})


def keep_judged(folder: Path, name: str = "judged", metrics: str = "llm_correct,token_f1") -> Path:
    """A run of 30 rows with a judge: 5 exact matches, 24 that it says yes to, and one reply that is no verdict."""
    data = [
        {**row, "answer": row["reference"][0] if i < 5 else f"a different text {i}"} for i, row in enumerate(rows(30))
    ]
    data[-1]["answer"] = "nonsense"
    judge = Judge(provider=FakeProvider(judge_of_rows, model="judge-7"), reasons=True)
    ragmeter.evaluate(data, metrics=metrics, judge=judge, run=name, output_dir=folder)
    return folder / name


def loaded(folder: Path, *names: str) -> list[Run]:
    """Runs of that folder, as a report reads them."""
    return load_runs(names, folder)


def keep_hostile(folder: Path, name: str = PAYLOADS[0], seed: int = 0) -> Path:
    """A run with payloads everywhere: in the name, texts, ids, columns, values, metrics, causes and the manifest."""
    data: list[dict[str, Any]] = []
    for i, payload in enumerate((*PAYLOADS, PAYLOAD, "plain")):
        data.append(
            {
                "qid": f"{i} {payload}",
                "question": payload,
                "reference": [payload, f"{payload} {seed}"],
                "answer": payload if (i + seed) % 3 else f"other {payload}",
                "contexts": [payload, f"{payload} again"],
                "relevant": [payload],
                "retrieved": [payload, "x"] if i % 2 else ["x"],
                "session_id": f"{payload}" if i < 4 else f"{i // 2} {PAYLOADS[0]}",
                "turn_idx": str(i % 2),
                "error": payload if i == 2 else None,
                f"slice {PAYLOAD}": PAYLOADS[i % 2],
                f"note {PAYLOADS[1]}": f"{i} {payload}",
            }
        )
    path = keep(folder, "hostile", data, "token_f1,recall@2")
    target = folder / name
    path.rename(target)
    table = pq.read_table(target.joinpath("rows.parquet"))
    named = f"token {PAYLOAD}"
    titles = [name.replace("token_f1", named) for name in table.column_names]
    table = table.rename_columns(titles)
    for column in ("verdict", "reason"):
        table = table.append_column(column, pa.array([PAYLOAD] * table.num_rows, pa.large_string()))
    with (target / "rows.parquet").open("wb") as file:
        pq.write_table(table, file)
    summary = json.loads((target / "summary.json").read_text(encoding="utf-8"))
    summary["metrics"] = {name.replace("token_f1", named): metric for name, metric in summary["metrics"].items()}
    for metric in summary["metrics"].values():
        metric["n_not_scored"] = {**metric["n_not_scored"], PAYLOAD: 1}
    summary["causes"] = {PAYLOAD: 3}
    (target / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    manifest = json.loads((target / "manifest.json").read_text(encoding="utf-8"))
    manifest[PAYLOAD] = {PAYLOAD: [PAYLOAD]}
    manifest["created"] = PAYLOAD
    (target / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return target

"""`ragmeter compare`, `power` and `summary`, as a person or a script calls them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import Run
from tests.runs import make_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    random = np.random.default_rng(1)
    old = random.random(300)
    kinds = ["x" if row % 3 else "y" for row in range(300)]
    texts = {"question": [f"q{row}" for row in range(300)], "answer": ["\x1b[31mred"] * 300, "kind": kinds}
    make_run(tmp_path / "runs" / "old", {"score": old, "right": (old > 0.5).astype(float)}, texts)
    new = old + random.normal(0.08, 0.2, 300)
    make_run(tmp_path / "runs" / "new", {"score": new, "right": (new > 0.5).astype(float)}, texts)
    return tmp_path


def test_compare(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("compare", "old", "new")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("new is better than old on score by ")
    assert "A: old, B: new" in done.stdout
    assert "test: randomisation" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines()[:8])) <= 80


def test_compare_for_a_script(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("compare", "runs/old", "runs/new", "--metrics", "score", "--test", "t", "--json")
    found = json.loads(done.stdout)
    (pair,) = found["pairs"]
    assert (found["runs"], found["test"], list(pair["metrics"])) == (["old", "new"], "t", ["score"])
    assert {each["column"] for each in pair["slices"]} == {"kind"}
    assert pair["metrics"]["score"]["movers"][0]["question"].startswith("q")


def test_compare_says_what_is_wrong(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("compare", "old", "knew")
    assert done.returncode == 2
    assert "unknown run 'knew': did you mean new?" in done.stderr
    assert ragmeter("compare", "old").returncode == 2
    assert "--alpha" in ragmeter("compare", "--help").stdout


def test_power(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("power", "--variance", str(1 / 9), "--difference", "0.03")
    assert done.returncode == 0, done.stderr
    assert "969" in done.stdout
    done = ragmeter("power", "old", "new", "--metric", "score", "--n", "1000", "--json")
    found = json.loads(done.stdout)
    assert found["smallest"]["1000"] == pytest.approx(2.8016 * (found["variances"]["between"] / 1000) ** 0.5, rel=1e-4)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "a pilot run, or --variance"),
        (("old",), "--metric is missing"),
        (("old", "--variance", "1", "--metric", "score"), "leave one of them out"),
        (("old", "new", "old", "--metric", "score"), "one run or two"),
        (("old", "--metric", "scor"), "did you mean score"),
    ],
)
def test_power_says_what_is_wrong(ragmeter: Run, runs: Path, arguments: tuple[str, ...], said: str) -> None:
    done = ragmeter("power", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_summary(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("summary", "old", "--slice", "kind", "--level", "0.9")
    assert done.returncode == 0, done.stderr
    assert "90% interval" in done.stdout
    assert "kind" in done.stdout
    found = json.loads(ragmeter("summary", "old", "--slice", "kind", "--json").stdout)
    assert [(each["value"], each["n_rows"]) for each in found["slices"]] == [("y", 100), ("x", 200)]


def test_evaluate_takes_other_intervals(ragmeter: Run, tmp_path: Path) -> None:
    rows = [{"qid": str(i), "session_id": str(i // 2), "reference": "a b", "answer": "a" * (i % 3)} for i in range(12)]
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    plain = ("evaluate", "--metrics", "token_f1", "--results", "rows.jsonl", "--run", "r", "--json")
    found = json.loads(ragmeter(*plain).stdout)
    assert found["statistics"] == {"method": "auto", "cluster": "session_id", "level": 0.95}
    assert found["metrics"]["token_f1"]["n_clusters"] == 6
    found = json.loads(ragmeter(*plain, "--interval", "bca", "--cluster", "none", "--seed", "5").stdout)
    assert found["metrics"]["token_f1"]["interval_method"] == "bca"
    manifest = json.loads((tmp_path / "runs" / "r" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["statistics"]["seed"] == 5
    added = ragmeter("evaluate", "--run", "r", "--metrics", "exact_match", "--json")
    assert json.loads(added.stdout)["metrics"]["exact_match"]["interval_method"] == "bca"


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("rows.parquet", None),
        ("rows.parquet", b""),
        ("rows.parquet", b"PAR1 and no more"),
        ("summary.json", None),
        ("summary.json", b"{"),
        ("summary.json", b"[]"),
        ("summary.json", b'{"metrics": 3}'),
    ],
)
def test_a_damaged_run_is_named(ragmeter: Run, runs: Path, file: str, content: bytes | None) -> None:
    """One error with the file, and never exit code 1, which says that a gate failed."""
    place = runs / "runs" / "new" / file
    place.unlink()
    if content is not None:
        place.write_bytes(content)
    for call in (
        ["compare", "old", "new"],
        ["summary", "new"],
        ["power", "new", "--metric", "score"],
        ["gate", "new", "--fail-under", "score=0.1"],
        ["gate", "old", "--no-worse-than", "new:score:0.1"],
        ["report", "new"],
    ):
        done = ragmeter(*call)
        assert done.returncode == 2, call
        assert file in done.stderr or "the run has no metrics" in done.stderr, done.stderr
        assert len(done.stderr.splitlines()) <= 2, done.stderr


def test_a_level_is_shown_as_it_is(ragmeter: Run, runs: Path) -> None:
    assert "99.9% interval" in ragmeter("summary", "old", "--level", "0.999").stdout
    assert "(99.5%: " in ragmeter("compare", "old", "new", "--level", "0.995").stdout


def test_a_seed_that_is_none(ragmeter: Run, runs: Path) -> None:
    done = ragmeter("summary", "old", "--interval", "bootstrap", "--seed", "-1")
    assert (done.returncode, done.stderr) == (2, "ragmeter: a seed is 0 or more, and not -1\n")


def test_a_long_name_is_broken_where_its_settings_begin(ragmeter: Run, tmp_path: Path) -> None:
    for name, value in (("a", 0.1), ("b", 0.2)):
        make_run(tmp_path / "runs" / name, {"rouge_l_score[language=en]": [value, 0.3, 0.4]})
    lines = ragmeter("compare", "a", "b", "--alpha", "0.01").stdout.splitlines()
    (place,) = (number for number, line in enumerate(lines) if line.startswith(" rouge_l_score ↑ "))
    assert lines[place + 1].rstrip() == "   [language=en]"
    assert lines[-1].endswith("* alone below 0.01")


def test_a_summary_of_another_version(ragmeter: Run, runs: Path) -> None:
    """More than is known is left alone, less than is needed is said."""
    place = runs / "runs" / "new" / "summary.json"
    found = json.loads(place.read_text(encoding="utf-8"))
    found["metrics"]["score"]["of_the_future"] = 1
    place.write_text(json.dumps(found), encoding="utf-8")
    assert ragmeter("gate", "new", "--fail-under", "score=0.1").returncode == 0
    del found["metrics"]["score"]["range"]
    place.write_text(json.dumps(found), encoding="utf-8")
    for call in (["gate", "new", "--fail-under", "score=0.1"], ["compare", "old", "new"], ["summary", "new"]):
        done = ragmeter(*call)
        assert done.returncode == 2
        assert "summary.json: score is not all there" in done.stderr

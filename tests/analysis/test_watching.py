"""A metric over time: runs beside the first one, and logs of answers beside a mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter.analysis.watching import watch
from ragmeter.cli.main import main
from ragmeter.errors import InputError, RagmeterError, UsageError
from ragmeter.runs.layout import MANIFEST
from ragmeter.stats.anytime import anytime_interval, level_of_look
from ragmeter.stats.clusters import Clustered
from tests.make_runs import make_run

RANDOM = np.random.default_rng(5)
RIGHT = (RANDOM.random(300) < 0.8).astype(float)
WORSE = np.where(RANDOM.random(300) < 0.4, 0.0, RIGHT)
DAYS = ("2026-11-01", "2026-11-02", "2026-11-03")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, scores in (("c", WORSE), ("a", RIGHT), ("b", RIGHT[::1])):
        run = make_run(tmp_path / "runs" / name, {"right": scores, "slow_seconds": 1 - scores})
        manifest = {**json.loads((run.path / MANIFEST).read_text()), "created": f"{DAYS['abc'.index(name)]}T03:00:00"}
        (run.path / MANIFEST).write_text(json.dumps(manifest))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


def write_log(path: Path, wrong: tuple[float, ...] = (0.05, 0.05, 0.6), each: int = 60) -> Path:
    random = np.random.default_rng(6)
    rows: list[dict[str, Any]] = [
        {
            "question": f"What is the capital of land {row}?",
            "answer": "I don't know." if random.random() < share else f"It is Paris {row}.",
            "contexts": [f"Paris {row} is the capital."],
            "cost_usd": 0.5 if random.random() < share else 0.01,
            "date": f"{day}T0{row % 9}:00:00",
        }
        for day, share in zip(DAYS, wrong, strict=True)
        for row in range(each)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_runs_are_compared_with_the_first_one_named(folder: Path) -> None:
    watched = watch(["a", "c", "b"], margin=0.05)
    assert (watched.metric, watched.baseline, watched.target, watched.is_dated) == ("right", "a", None, True)
    assert [look.name for look in watched.looks] == ["b", "c"]
    same, worse = watched.looks
    assert (same.value, same.beyond, worse.beyond, watched.passed) == (0, False, True, False)
    units = Clustered.of(WORSE - RIGHT, None)
    assert worse.interval == anytime_interval(units, (-1.0, 1.0), level_of_look(2, 0.95))
    assert worse.mean == WORSE.mean()
    assert watched.as_dict()["passed"] is False
    assert watch(["a", "c", "b"], margin=0.6).passed, "that much is allowed"


def test_less_is_better_of_some(folder: Path) -> None:
    assert [look.beyond for look in watch(["a", "b", "c"], metric="slow_seconds").looks] == [False, True]
    assert watch(["c", "b"], metric="slow_seconds", target=0.9).passed, "lower than the target is better"
    assert not watch(["c", "b"], metric="slow_seconds", target=0.05).passed


def test_a_run_without_a_date_stays_where_it_was_named(folder: Path) -> None:
    make_run(folder / "runs" / "undated", {"right": RIGHT})
    watched = watch(["c", "undated", "a"], metric="right")
    assert (watched.baseline, watched.is_dated) == ("c", False)
    assert [look.name for look in watched.looks] == ["undated", "a"]


def test_a_run_of_some_of_the_questions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_run(folder / "runs" / "part", {"right": RIGHT[:20]})
    assert main(["watch", "a", "part"]) == 1
    assert "right has scores for too few of the baseline's questions: part (20 of 300)." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ((10, 9, 1), ["1", "9", "10"]),
        (("v2", "v10", "v1"), ["v1", "v10", "v2"]),
        ((1767225600, 1767225601, 1767398400), ["2026-01-01", "2026-01-03"]),
        (("2026-01-02 10:00", "2026-01-02T23:30:00-05:00", "2026-01-01"), ["2026-01-01", "2026-01-02"]),
    ],
)
def test_values_in_order(values: tuple[object, ...], names: list[str], tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps({"when": value, "stars": 1}) + "\n" for value in values))
    looks = watch([log], metric="stars", by="when", target=0.5, bounds=(0, 1)).looks
    assert [look.name for look in looks] == names


@pytest.mark.parametrize("value", ["yesterday", "13/02/2026", "10/1/2026", "13.02.2026"])
def test_no_date(value: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps({"when": when, "stars": 1}) + "\n" for when in ("2026-01-01", value)))
    with pytest.raises(InputError, match=rf"log\.jsonl, line 2: when is no date: {value}"):
        watch([log], metric="stars", by="when", target=0.5, bounds=(0, 1))


def test_rows_of_a_run_without_scores(folder: Path) -> None:
    make_run(folder / "runs" / "failed", {"right": np.full(300, np.nan)})
    watched = watch(["a", "failed"], metric="right")
    assert [(look.n, look.n_total, look.mean, look.interval) for look in watched.looks] == [(0, 300, None, None)]
    assert not watched.passed


def test_a_log_by_days(folder: Path) -> None:
    log = write_log(folder / "log.jsonl")
    watched = watch([log], metric="declined", by="date", target=0.05, margin=0.05)
    assert [(look.name, look.n, look.beyond) for look in watched.looks] == [
        (DAYS[0], 60, False), (DAYS[1], 60, False), (DAYS[2], 60, True)
    ]  # fmt: skip
    costs = watch([log], metric="cost_usd", by="date", target=0.05, bounds=(0, 0.4))
    n_dear = log.read_text(encoding="utf-8").count('"cost_usd": 0.5')
    assert (costs.direction, costs.n_clipped) == ("lower", n_dear)
    assert costs.looks[-1].beyond
    assert watch([log], target=0.1).metric == "offline_hallucinated"


def test_a_sample_is_seeded(folder: Path) -> None:
    log = write_log(folder / "log.jsonl", each=200)

    def costs(seed: int) -> list[float | None]:
        of = watch([log], metric="cost_usd", by="date", target=0.1, bounds=(0, 1), sample=50, seed=seed)
        assert [look.n for look in of.looks] == [50, 50, 50]
        return [look.mean for look in of.looks]

    assert costs(1) == costs(1)
    assert costs(1) != costs(2)
    whole = watch([log], metric="cost_usd", target=0.1, bounds=(0, 1), sample=5_000)
    assert whole.looks[0].n == 600


def test_conversations_of_a_log_belong_together(folder: Path) -> None:
    rows = [{"session_id": f"s{row // 10}", "stars": float(row // 10 % 2)} for row in range(200)]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (look,) = watch([folder / "log.jsonl"], metric="stars", target=0.5, bounds=(0, 1)).looks
    independent = anytime_interval(Clustered.of(np.array([row["stars"] for row in rows]), None), (0, 1), 0.975)
    assert look.interval is not None
    assert independent is not None
    assert look.interval[0] < independent[0] - 0.1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a"], "there is no run on the same questions to compare a with"),
        (["a", "b", "--margin", "-1"], "--margin must be between 0 and 1"),
        (["a", "b", "--margin", "nan"], "--margin must be between 0 and 1"),
        (["a", "--target", "70"], "--target: right lies between 0 and 1"),
        (["a", "b", "--bounds", "0", "1"], "--bounds needs --target"),
        (["a", "b", "a"], "a is named twice"),
        (["a", "--target", "0.5", "--bounds", "1", "0"], "the lower one first"),
        (["log.jsonl", "--target", "0.5", "--bounds", "0", "inf"], "has no bounds"),
        (["log.jsonl"], "there is no run on the same questions to compare log.jsonl with"),
        (["a", "b", "--sample", "10"], "--sample is for files"),
        (["a", "b", "--by", "date"], "--by is for files"),
        (["log.jsonl", "--sample", "0", "--target", "1"], "--sample must be at least 1"),
        (["log.jsonl", "--metric", "cost_usd", "--target", "1"], "cost_usd has no bounds"),
        (["log.jsonl", "--metric", "answer", "--target", "1"], "log.jsonl, line 1: answer is no number"),
        (["log.jsonl", "--by", "day", "--target", "1"], "log.jsonl, line 1: there is no day"),
        (["log.jsonl", "a"], "several metrics"),
        (["a", "elsewhere"], "no qid in common"),
        (["a", "b", "--level", "2"], "level must be between 0 and 1"),
    ],
)
def test_bad_input(arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(folder / "log.jsonl")
    make_run(folder / "runs" / "elsewhere", {"right": RIGHT}, {"qid": [f"x{row}" for row in range(300)]})
    assert main(["watch", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_other_questions_under_the_same_id(folder: Path) -> None:
    for name in ("first", "second"):
        columns = {"question": [f"{name} {row}?" for row in range(300)]}
        make_run(folder / "runs" / name, {"right": RIGHT}, columns)
    with pytest.raises(UsageError, match="300 of 300 questions under the same qid are worded otherwise"):
        watch(["first", "second"])


def test_nothing_to_look_at() -> None:
    with pytest.raises(UsageError, match="there is nothing to look at"):
        watch([])


def test_a_row_without_its_day(folder: Path) -> None:
    log = folder / "log.jsonl"
    log.write_text('{"answer": "a", "date": "2026-01-01"}\n{"answer": "b", "date": null}\n')
    with pytest.raises(InputError, match=r"log\.jsonl, line 2: there is no date"):
        watch([log], metric="declined", by="date", target=0.1)
    with pytest.raises(RagmeterError):
        watch([log], metric="token_f1", target=0.1)


def test_in_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "a", "b", "c", "--margin", "0.05"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("right got worse than the baseline a by more than 0.05: c (-0.3")
    assert "3 Nov 2026" in shown
    assert "├" in shown
    assert "┊ the margin of 0.05" in shown
    assert "that were ever made together hold at 95%" in shown
    assert main(["watch", "a", "b"]) == 0
    assert "right is not seen to get worse than the baseline a: 1 look." in capsys.readouterr().out
    assert main(["watch", "a", "b", "c", "--json"]) == 1
    assert [look["name"] for look in json.loads(capsys.readouterr().out)["looks"]] == ["b", "c"]

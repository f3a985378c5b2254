"""`ragmeter compare --preference`: a judge between two runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ragmeter import FakeProvider, Run, evaluate, prefer
from ragmeter.cli.main import main
from ragmeter.errors import UsageError
from ragmeter.runs.baselines import set_baseline
from ragmeter.runs.catalogue import catalogue
from tests.conftest import Run as Command
from tests.judge_rows import judge

ROWS = [("1", "Paris", "In Paris, I think."), ("2", "Rome", "Rome"), ("3", "Oslo", None), ("4", "A", "It is a B.")]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, place in (("before", 1), ("after", 2)):
        rows = [{"qid": row[0], "question": "q", "reference": "x", "answer": row[place]} for row in ROWS]
        evaluate(rows, metrics="token_f1", run=name, output_dir=tmp_path)
    return tmp_path


def shorter(first: str, second: str) -> str:
    return "First" if len(first) < len(second) else "Second"


def test_the_win_rate_is_that_of_the_later_run(runs: Path) -> None:
    provider = FakeProvider(shorter)
    result = prefer("before", "after", judge=judge(provider), output_dir=runs)
    assert result.rows["preference"].to_pylist()[:2] == [0.0, 0.5]
    assert result["preference"].mean == pytest.approx(0.5 / 3)
    assert result["preference"].n_not_scored == {"no_answer": 1}
    assert len(provider.prompts) == 4


def test_the_command_shows_it(runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    provider = FakeProvider(shorter)

    def fake_judge(chosen: Any) -> Any:
        return judge(provider)

    monkeypatch.setattr("ragmeter.cli.compare.read_judge", fake_judge)
    command = ["compare", "before", "after", "--output-dir", str(runs), "--preference", "--judge-model", "m"]
    assert main(command) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "the judge prefers after to before in 0.1667 of the questions" in out
    assert "a tie counts one half: won 0, lost 2, tied 1" in out
    assert re.search(r"in 0\.1667 of the questions \([^)]+\), not significant \(p = ", out)
    assert "n = 3 of 4);" in out
    assert main([*command, "--json"]) == 0
    preference = json.loads(capsys.readouterr().out)["preference"]
    assert (preference["won"], preference["lost"], preference["tied"]) == (0, 2, 1)
    assert main([*command, "--dry-run"]) == 0
    assert "calls: about 0, and 4 recorded before" in capsys.readouterr().out
    assert len(provider.prompts) == 4


def test_a_judge_that_fails_shows_in_the_exit_code_with_the_cause_and_the_calls(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ragmeter.cli.compare.read_judge", lambda chosen: judge(FakeProvider("Perhaps"), tries=1))
    command = ["compare", "before", "after", "--output-dir", str(runs), "--preference", "--judge-model", "m"]
    assert main(command) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "2 unparsable: not in the form of preferred" in out
    assert "calls: 4 (0 recorded before, 4 made now); tokens:" in out
    assert main([*command, "--json"]) == 3
    preference = json.loads(capsys.readouterr().out)["preference"]
    assert preference["judges"]["preferred"]["causes"] == {"unparsable: not in the form of preferred": 2}
    assert preference["judge_usage"]["calls"] == 4
    assert main([*command, "--max-unscored", "1"]) == 0


def test_a_judge_that_goes_by_the_place_is_named(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ragmeter.cli.compare.read_judge", lambda chosen: judge(FakeProvider("First")))
    command = ["compare", "before", "after", "--output-dir", str(runs), "--preference", "--judge-model", "m"]
    assert main(command) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "won 0, lost 0, tied 3; tied because the judge contradicted itself when the order was" in out
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["preference"]["inconsistent"] == 2


def test_conversations_stay_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three conversations of 20 turns: as rows, 0.54 to 0.79, and significant."""
    talks = [("a", "short", "a longer answer", 20), ("b", "short", "a longer answer", 20), ("c", "longer", "brief", 20)]
    for name, place in (("before", 1), ("after", 2)):
        rows = [
            {"qid": f"{talk[0]}{turn}", "question": "q", "reference": "x", "answer": talk[place], "session_id": talk[0]}
            for talk in talks
            for turn in range(talk[3])
        ]
        evaluate(rows, metrics="token_f1,token_precision", run=name, output_dir=tmp_path)
    provider = FakeProvider(lambda first, second: "First" if len(first) > len(second) else "Second")
    result = prefer("before", "after", judge=judge(provider), output_dir=tmp_path)
    assert result["preference"].n_clusters == 3
    assert result["preference"].interval is not None
    assert result["preference"].interval[0] < 0.3
    assert result.p == 1.0, "of the eight ways to flip three equal conversations, all reach a sum of one"
    alone = prefer("before", "after", judge=judge(provider), cluster=None, output_dir=tmp_path)
    assert (alone["preference"].n_clusters, alone.test and alone.test.n_clusters) == (None, None)
    assert (alone.p or 1) < 0.02
    monkeypatch.setattr("ragmeter.cli.compare.read_judge", lambda chosen: judge(provider))
    command = ["compare", "before", "after", "--output-dir", str(tmp_path), "--preference", "--judge-model", "m"]
    assert main(command) == 0
    assert "n = 60 of 60 in 3 clusters)" in " ".join(capsys.readouterr().out.split())
    assert main([*command, "--cluster", "none", "--metrics", "token_f1", "--json"]) == 0
    comparison = json.loads(capsys.readouterr().out)
    assert comparison["tests"] == {"headline": 1, "others": 1}, "the comparison's metric, and the preference"
    assert comparison["preference"]["p_holm"] == comparison["preference"]["p"]
    assert main([*command, "--cluster", "none", "--metrics", "token_f1,token_precision", "--json"]) == 0
    comparison = json.loads(capsys.readouterr().out)
    assert comparison["tests"] == {"headline": 1, "others": 2}
    p_values = [comparison["pairs"][0]["metrics"]["token_precision"]["p"], comparison["preference"]["p"]]
    assert comparison["preference"]["p_holm"] == min(1.0, 2 * min(p_values))


def test_the_baseline_that_was_set_in_the_app(runs: Path, ragmeter: Command) -> None:
    entry = next(entry for entry in catalogue(runs) if entry.name == "after")
    set_baseline(runs, entry.questions, "after")
    shown = ragmeter("compare", "before", "after", "--output-dir", runs).stdout
    assert "baseline: after, candidate: before" in shown
    assert "after was set as baseline in the app; --baseline RUN takes another run" in shown
    named = ragmeter("compare", "before", "after", "--baseline", "before", "--output-dir", runs).stdout
    assert "baseline: before, candidate: after" in named
    assert "was set" not in named


def test_a_column_that_only_one_run_has_clusters_too(tmp_path: Path) -> None:
    for name, columns in (("before", {"user": "u"}), ("after", {})):
        rows = [
            {"qid": str(row), "question": "q", "reference": "x", "answer": name * (row + 1)}
            | {column: f"{value}{row // 4}" for column, value in columns.items()}
            for row in range(12)
        ]
        evaluate(rows, metrics="token_f1", run=name, cluster="user" if columns else None, output_dir=tmp_path)
    result = prefer("before", "after", judge=judge(FakeProvider("Tie")), output_dir=tmp_path)
    assert result["preference"].n_clusters == (result.test and result.test.n_clusters) == 3
    assert result.p == 1.0


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, FakeProvider]:
    """`good` has the longer answer on each of 40 questions; `one` and `two` on every second one of the others."""
    for name, lengths in (("one", (3, 1)), ("two", (1, 3)), ("good", (9, 9))):
        rows = [
            {"qid": str(row), "question": f"q{row}?", "reference": "x", "answer": "word " * lengths[row % 2] + str(row)}
            for row in range(40)
        ]
        evaluate(rows, metrics="token_f1", run=name, output_dir=tmp_path)
    provider = FakeProvider(lambda first, second: "First" if len(first) > len(second) else "Second")
    monkeypatch.setattr("ragmeter.cli.compare.read_judge", lambda chosen: judge(provider))
    return tmp_path, provider


def test_several_runs_are_rated(three: tuple[Path, FakeProvider], capsys: pytest.CaptureFixture[str]) -> None:
    folder, provider = three
    command = ["compare", "one", "two", "good", "--baseline", "one", "--output-dir", str(folder)]
    command += ["--preference", "--judge-model", "m"]
    assert main([*command, "--dry-run"]) == 0
    assert "calls: about 160" in capsys.readouterr().out, "two orders of 40 questions, for each of two pairs"
    assert main(command) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert len(provider.prompts) == 160
    assert "By the judge's preference: The best is good; one and two can't be told apart." in out
    assert "a tie is half a win each: 100 points more win 64% of the questions" in out
    assert "What would make the order clearer: more questions about one and two." in out
    assert main([*command, "--all-pairs", "--json"]) == 0
    assert len(provider.prompts) == 240, "only the third pair is asked about"
    preference = json.loads(capsys.readouterr().out)["preference"]
    assert preference["ranking"]["ranks"][0]["run"] == "good"
    assert preference["ranking"]["best"] == ["good"]
    assert preference["next_pair"] == ["one", "two"]
    assert len(preference["pairs_asked"]) == 3
    assert preference["judge_usage"]["calls"] == 240
    ratings = {rank["run"]: rank["mean"] for rank in preference["ranking"]["ranks"]}
    assert ratings["one"] == pytest.approx(ratings["two"])
    assert sum(ratings.values()) == pytest.approx(3_000)
    assert main([*command, "--markdown"]) == 0
    assert "By the judge's preference" in capsys.readouterr().out


def test_conversations_are_drawn_as_a_whole(three: tuple[Path, FakeProvider]) -> None:
    folder, provider = three
    apart = prefer("one", "two", "good", judge=judge(provider), output_dir=folder, all_pairs=True)
    for name in ("one", "two", "good"):
        records = Run(folder / name).records(range(40), ["qid", "question", "reference", "answer"])
        talks = [{**row, "session_id": f"s{place // 20}"} for place, row in enumerate(records)]
        evaluate(talks, metrics="token_f1", run=f"{name}-talks", output_dir=folder)
    names = ["one-talks", "two-talks", "good-talks"]
    together = prefer(*names, judge=judge(provider), output_dir=folder, all_pairs=True)
    assert together["preference"].n_clusters == 2
    assert together.order is not None
    assert apart.order is not None
    low, high = together.order.intervals["good-talks"]
    assert high - low > 2 * (apart.order.intervals["good"][1] - apart.order.intervals["good"][0])
    assert (together.p, together.test) == (None, None)


def test_pairs_that_are_not_linked(three: tuple[Path, FakeProvider]) -> None:
    """Two pairs of four runs have verdicts, and nothing says how the pairs compare."""
    folder, _ = three
    rows = [{"qid": str(row), "question": "q", "reference": "x", "answer": f"other {row}"} for row in range(40)]
    evaluate(rows, metrics="token_f1", run="other", output_dir=folder)

    def reply(first: str, second: str) -> str:
        kinds = {"good" if len(text) > 40 else "other" if "other" in text else "short" for text in (first, second)}
        return "First" if kinds in ({"short"}, {"good", "other"}) else "Perhaps"

    with pytest.raises(UsageError, match="no verdict on the answers of some run"):
        prefer(
            "one", "two", "good", "other", judge=judge(FakeProvider(reply), tries=1), all_pairs=True, output_dir=folder
        )


def test_a_clear_order_has_no_next_pair(three: tuple[Path, FakeProvider], capsys: pytest.CaptureFixture[str]) -> None:
    folder, _ = three
    for name, words in (("worst", 1), ("middle", 20), ("best", 40)):
        rows = [{"qid": str(row), "question": "q", "reference": "x", "answer": "w " * words} for row in range(40)]
        evaluate(rows, metrics="token_f1", run=name, output_dir=folder)
    command = ["compare", "worst", "middle", "best", "--output-dir", str(folder), "--preference", "--all-pairs"]
    assert main([*command, "--judge-model", "m"]) == 0
    out = capsys.readouterr().out
    assert "By the judge's preference: The best is best." in out
    assert "clearer" not in out


def test_a_judge_that_says_nothing_of_some_run(three: tuple[Path, FakeProvider]) -> None:
    folder, _ = three
    with pytest.raises(UsageError, match="no verdict on the answers of some run"):
        prefer("one", "two", "good", judge=judge(FakeProvider("Perhaps"), tries=1), output_dir=folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge-model", "m"], "no effect without --preference"),
        (["--preference"], "needs a judge"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    runs: Path, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "before", "after", *options, "--output-dir", str(runs)]) == 2
    assert message in capsys.readouterr().err

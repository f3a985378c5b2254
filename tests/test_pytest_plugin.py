"""The pytest plugin, run as pytest runs it: from its entry point, in a folder of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

pytest_plugins = ["pytester"]

ROWS = 'ROWS = [{"qid": str(n), "reference": "yes", "answer": "yes" if n < 16 else "no"} for n in range(20)]\n'


def outcome(pytester: pytest.Pytester, code: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile("import pytest\nimport ragmeter\n" + ROWS + code)
    return pytester.runpytest("--strict-markers", "-p", "no:cacheprovider", *options)


def test_the_fixture_evaluates_and_shows_the_figures(pytester: pytest.Pytester) -> None:
    result = outcome(
        pytester,
        """
def test_answers(ragmeter):
    found = ragmeter.evaluate(ROWS, metrics="exact_match,token_f1")
    assert found["token_f1"].mean == 0.8
    ragmeter.check(found, fail_under={"token_f1": 0.8})
    assert ragmeter.get_metric("token_f1").name == "token_f1"
    assert ragmeter.__version__

def test_the_package_is_still_there():
    assert ragmeter.evaluate(ROWS, metrics="exact_match")["exact_match"].mean == 0.8
""",
        "--junitxml=out.xml",
    )
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "*= ragmeter =*",
            "*::test_answers",
            "  exact_match: 0.80 (95%: 0.58 to 0.92), n = 20 (few)",
            "  token_f1: 0.80 (95%: 0.58 to 0.92), n = 20 (few)",
        ]
    )
    properties = Xml.parse(pytester.path / "out.xml").getroot().iter("property")  # noqa: S314 - pytest's own file
    assert [property_name.get("name") for property_name in properties] == ["ragmeter.exact_match", "ragmeter.token_f1"]


def test_a_check_takes_a_run_in_every_form(pytester: pytest.Pytester) -> None:
    result = outcome(
        pytester,
        """
def test_runs(ragmeter):
    questions = [{"qid": str(n), "question": f"{n}?", "reference": "a"} for n in range(5)]
    asked = ragmeter.ask(questions, lambda question: "a", metrics="token_f1", run="asked", output_dir="runs")
    kept = ragmeter.evaluate(ROWS, metrics="token_f1", run="kept")
    for run in (asked, kept, kept.folder, "kept", "runs/kept", ragmeter.evaluate(ROWS, metrics="token_f1")):
        assert ragmeter.check(run, fail_under={"token_f1": 0.5}).passed
""",
    )
    result.assert_outcomes(passed=1)


def test_a_check_that_fails_is_an_assertion_with_the_reason(pytester: pytest.Pytester) -> None:
    result = outcome(
        pytester,
        """
def test_answers(ragmeter):
    ragmeter.check(ragmeter.evaluate(ROWS, metrics="token_f1"), fail_under={"token_f1": 0.9})

def test_it_is_an_assertion_error(ragmeter):
    with pytest.raises(AssertionError, match="at least 0.9 is asked for"):
        ragmeter.check(ragmeter.evaluate(ROWS, metrics="token_f1"), fail_under={"token_f1": 0.9})

def test_a_rule_that_makes_no_sense(ragmeter):
    ragmeter.check(ragmeter.evaluate(ROWS, metrics="token_f1"), fail_over={"token_f1": 0.9})
""",
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(['E*UsageError: fail_over={"token_f1": 0.9}: for token_f1 higher is better'])
    result.stdout.no_fnmatch_line("*rules.py*")
    result.stdout.fnmatch_lines(
        [
            ">*ragmeter.check(ragmeter.evaluate(ROWS, metrics=*",
            "E*AssertionError: this evaluation does not pass the gate:",
            'E*fail_under={"token_f1": 0.9}',
            "E*token_f1 is 0.80 (95%: 0.58 to 0.92), n = 20 (few): at least 0.9 is asked for",
        ]
    )
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_the_mark_applies_to_whatever_was_evaluated(pytester: pytest.Pytester) -> None:
    result = outcome(
        pytester,
        """
@pytest.mark.ragmeter(fail_under={"token_f1": 0.8}, max_failed=0)
def test_good(ragmeter):
    ragmeter.evaluate(ROWS, metrics="token_f1")

@pytest.mark.ragmeter(fail_under={"token_f1": 0.8}, gate_on="interval")
def test_not_sure(ragmeter):
    ragmeter.evaluate(ROWS, metrics="token_f1")

@pytest.mark.ragmeter(fail_under={"token_f1": 0.8})
def test_the_second_is_bad(ragmeter):
    ragmeter.evaluate(ROWS, metrics="token_f1")
    ragmeter.evaluate(ROWS[10:], metrics="token_f1")

@pytest.mark.ragmeter(fail_under={"token_f1": 0.5})
class TestBoth:
    @pytest.mark.ragmeter(fail_over={"edit_distance": 0.1})
    def test_two_marks(self, ragmeter):
        ragmeter.evaluate(ROWS, metrics="token_f1,edit_distance")

@pytest.mark.ragmeter(fail_under={"token_f1": 0.8})
def test_its_own_failure_comes_first(ragmeter):
    assert 1 == 2
""",
    )
    result.assert_outcomes(passed=1, failed=4)
    text = result.stdout.str()
    assert "by the whole interval" in text
    assert "token_f1 is 0.60 (95%" in text
    assert "  2.token_f1: 0.60" in text
    assert 'fail_over={"edit_distance": 0.1}' in text
    assert "assert 1 == 2" in text
    assert "has evaluated nothing" not in text


def test_a_marked_test_that_evaluates_nothing_fails(pytester: pytest.Pytester) -> None:
    result = outcome(
        pytester,
        """
@pytest.mark.ragmeter(fail_under={"token_f1": 0.6})
def test_without_the_fixture():
    ragmeter.evaluate(ROWS, metrics="token_f1")

@pytest.mark.ragmeter(fail_under={"token_f1": 0.6})
def test_idle(ragmeter):
    pass

@pytest.mark.ragmeter(fail_under={"token_f1": 0.6})
def test_skipped(ragmeter):
    pytest.skip("not today")
""",
    )
    result.assert_outcomes(failed=2, skipped=1)
    assert result.stdout.str().count("has evaluated nothing with the fixture `ragmeter`") >= 2


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("0.6", "does not take 0.6: it takes fail_under"),
        ("fail_above={'token_f1': 0.6}", "does not take fail_above"),
        ("", "nothing to check"),
        ("fail_under={'token_f1': 'high'}", "METRIC=VALUE"),
        ("no_worse_than={'main': 0.02}", "main"),
    ],
)
def test_a_mark_that_makes_no_sense_is_said_before_any_work(pytester: pytest.Pytester, mark: str, said: str) -> None:
    code = f"@pytest.mark.ragmeter({mark})\ndef test_it(ragmeter):\n    open('worked', 'w').close()\n"
    result = outcome(pytester, code)
    result.assert_outcomes(errors=1)
    assert said in result.stdout.str()
    assert not (pytester.path / "worked").exists()


def test_a_mark_that_the_run_has_no_metric_for(pytester: pytest.Pytester) -> None:
    code = """
@pytest.mark.ragmeter(fail_under={"ndcg@10": 0.6})
def test_it(ragmeter):
    ragmeter.evaluate(ROWS, metrics="token_f1")
"""
    result = outcome(pytester, code)
    result.assert_outcomes(failed=1)
    assert "@pytest.mark.ragmeter: unknown metric 'ndcg@10'" in result.stdout.str()


def test_no_worse_than_a_run_that_was_kept(pytester: pytest.Pytester) -> None:
    code = """
@pytest.fixture(scope="session", autouse=True)
def main():
    ragmeter.evaluate(ROWS, metrics="token_f1", run="main")

@pytest.mark.ragmeter(no_worse_than={"main": {"token_f1": 0.3}})
def test_the_same(ragmeter):
    ragmeter.evaluate(ROWS, metrics="token_f1")

@pytest.mark.ragmeter(no_worse_than={"main": {"token_f1": 0.02}})
def test_worse(ragmeter):
    ragmeter.evaluate([{**row, "answer": "no"} for row in ROWS], metrics="token_f1")
"""
    result = outcome(pytester, code)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*this evaluation is 0.8000 lower than main*the whole interval is a loss of more than 0.02; few rows*"]
    )


def test_a_system_is_asked(pytester: pytest.Pytester) -> None:
    code = """
@pytest.mark.ragmeter(fail_under={"exact_match": 0.9}, fail_over={"latency_ms": 5000})
def test_it(ragmeter, tmp_path):
    questions = [{"qid": row["qid"], "question": "q", "reference": "yes"} for row in ROWS]
    service = ragmeter.ask(questions, lambda question: "yes", metrics="exact_match", run="r", output_dir=tmp_path)
    assert service["exact_match"].mean == 1
"""
    result = outcome(pytester, code)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  exact_match: 1.000 (95%: 0.839 to 1.000), n = 20 (few)"])


def test_others_see_nothing_of_it(pytester: pytest.Pytester) -> None:
    result = outcome(pytester, "def test_it():\n    pass\n")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*= ragmeter =*")
    shown = pytester.runpytest("--markers")
    shown.stdout.fnmatch_lines(["@pytest.mark.ragmeter(fail_under=*"])
    assert "Evaluate as the package does" in pytester.runpytest("--fixtures").stdout.str()


def test_a_project_s_own_fixture_of_that_name_wins(pytester: pytest.Pytester) -> None:
    result = outcome(
        pytester, "@pytest.fixture\ndef ragmeter():\n    return 1\n\ndef test_it(ragmeter):\n    assert ragmeter == 1\n"
    )
    result.assert_outcomes(passed=1)


def test_loading_it_costs_nothing() -> None:
    heavy = {"numpy", "pyarrow", "rapidfuzz", "rich", "regex", "Stemmer", "asyncio", "sqlite3", "ragmeter.engine"}
    code = (
        "import sys, pytest\nbefore = set(sys.modules)\nimport ragmeter.pytest_plugin\n"
        f"print(sorted({heavy!r} & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_example_of_the_documents(pytester: pytest.Pytester) -> None:
    document = (Path(__file__).parent.parent / "docs" / "ci.md").read_text(encoding="utf-8")
    example = re.search(r"```python\n(.*?)```", document, re.DOTALL)
    assert example is not None
    for folder in ("eval", "mypkg"):
        pytester.mkdir(folder)
    (pytester.path / "mypkg" / "rag.py").write_text(
        "def pipeline(question):\n    return 'no' if question in ('q0', 'q1') else 'yes'\n"
    )
    questions = [{"qid": str(number), "question": f"q{number}", "ground_truth": "yes"} for number in range(20)]
    answers = [{**row, "answer": "no" if row["qid"] in "01" else "yes"} for row in questions]
    for name, rows in (("questions", questions), ("answers", answers)):
        (pytester.path / "eval" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pytester.makepyfile(test_rag=example[1])
    result = pytester.runpytest_subprocess("--strict-markers", "-p", "no:cacheprovider", "-o", "pythonpath=.")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["test_rag.py::test_answers", "  token_f1: 0.90 (95%: 0.70 to 0.97), n = 20 (few)"])

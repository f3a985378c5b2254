"""What an error names: keywords in Python, flags on the command line."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import ragmeter
from ragmeter import calibrate, choose_sample, compare, evaluate, gate, get_metric
from ragmeter.cli.commands import COMMANDS
from ragmeter.cli.main import main
from ragmeter.effects.limits.caller import Failure
from ragmeter.errors import Interrupted, MissingExtraError, RagmeterError, UsageError
from ragmeter.hints import by_caller, column_option, for_command_line, for_python, option, parameter

PACKAGE = Path(ragmeter.__file__).parent
#: A whole command, or a browser's own switch.
COMMAND = re.compile(
    r"`?(ragmeter [a-z]+|pip install|optimum-cli export) [^`]*`?"
    r"|^--(no-sandbox|site-per-process|[a-z-]+=.*)$"
)

#: A flag in a text; what ends in a hyphen is the beginning of one.
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z](?![a-z-])")
#: Flags of other programs, and keywords that the command line never names, since it gives them itself.
OTHERS = {
    "compat/crag/evaluator.py": {"--allow-failures"},
    "embedders/pairs.py": {"--model", "--task"},
    "embedders/static.py": {"--force-reinstall"},
    "engine/ask.py": {"--allow-failures"},
    "hints.py": {"--editable"},
    "pytest_plugin.py": {"--strict-markers"},
    "targets/web/browser.py": {
        "--autofill-server-url",
        "--force-webrtc-ip-handling-policy",
        "--host-resolver-rules",
        "--no-sandbox",
        "--site-per-process",
        "--webrtc-ip-handling-policy",
    },
}


@pytest.mark.parametrize(
    ("text", "flags", "keywords"),
    [
        (option("output_dir"), "--output-dir", "output_dir=..."),
        (option("encoding", "utf-16"), "--encoding utf-16", 'encoding="utf-16"'),
        (option("cluster", None), "--cluster none", "cluster=None"),
        (option("threshold", 0.5), "--threshold 0.5", "threshold=0.5"),
        (parameter("max_failed"), "--max-failed", "max_failed"),
        (column_option("qid", 'my "id"'), """--column 'qid=my "id"'""", r'columns={"qid": "my \"id\""}'),
        (f"say {by_caller('this', 'that')}, or {by_caller('one', 'two')}", "say this, or one", "say that, or two"),
        ("{output_dir} and --output-dir as they stand", *["{output_dir} and --output-dir as they stand"] * 2),
    ],
)
def test_both_spellings(text: str, flags: str, keywords: str) -> None:
    assert for_command_line(text) == flags
    assert for_python(text) == keywords


@pytest.mark.parametrize("hostile", ["\x02--a\x1fb\x03", "\x02", "\x03\x1f", "a\x1fb"])
def test_what_users_write_can_not_break_a_hint(hostile: str) -> None:
    text = f"{option('encoding', hostile)} or {column_option('qid', hostile)}"
    for shown in (for_python(text), for_command_line(text)):
        assert not set("\x02\x03\x1f") & set(shown)


def test_an_error_speaks_to_its_caller() -> None:
    error = UsageError(f"{parameter('n')} is 0", hint=f"give more with {option('n', 5)}")
    assert str(error) == "n is 0\n  give more with n=5"
    assert (error.message, error.hint, error.args) == ("n is 0", "give more with n=5", ("n is 0",))
    assert error.for_command_line() == "--n is 0\n  give more with --n 5"
    assert "call again" in str(Interrupted())
    assert "command again" in Interrupted().for_command_line()


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (None, "pip install 'ragmeter-eval[http]'"),
        ({"url": "https://example.com/ragmeter.whl"}, "pip install 'ragmeter-eval[http]'"),
        ({"url": "file:///no/such/folder", "dir_info": {}}, "pip install 'ragmeter-eval[http]'"),
        ({"url": "CLONE", "dir_info": {}}, "pip install 'CLONE[http]'"),
        ({"url": "CLONE", "dir_info": {"editable": True}}, "pip install --editable 'CLONE[http]'"),
    ],
)
def test_a_missing_extra_is_installed_from_where_ragmeter_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: dict[str, object] | None, expected: str
) -> None:
    if origin is not None and origin["url"] == "CLONE":
        origin = {**origin, "url": tmp_path.as_uri()}
    installed = SimpleNamespace(read_text=lambda name: None if origin is None else json.dumps(origin))
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: installed)
    assert str(MissingExtraError("asking", "http")).endswith(expected.replace("CLONE", str(tmp_path)))


def test_a_package_that_is_missing_names_its_command() -> None:
    assert "[http]'" in str(MissingExtraError("asking", "http"))
    assert str(MissingExtraError("a frame", package="pandas")).endswith("install it: pip install pandas")


def test_what_is_kept_in_a_run_has_no_marks() -> None:
    assert (
        Failure("timeout", f"{parameter('submit_selector')} '#x' is hidden").cause == "submit_selector '#x' is hidden"
    )


def test_both_sides_of_the_same_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("results.csv").write_text("qid,answer,gold\n1,a,a\n2,b,c\n", encoding="utf-8")
    Path("halves.csv").write_text("qid,answer,reference\n1,a b,a c\n", encoding="utf-8")
    Path("latin.csv").write_bytes("qid,answer,reference\n1,año,año\n".encode("latin-1"))
    Path("tabs.csv").write_text("qid\tanswer\n1\ta\n", encoding="utf-8")
    rows = [{"qid": str(i), "answer": "a", "reference": "a"} for i in range(4)]
    for name in ("a", "b"):
        evaluate(rows, metrics="token_f1", run=name)
    score = ["evaluate", "--metrics", "token_f1", "--results"]
    mistakes: list[tuple[Callable[[], object], list[str], str, str]] = [
        (
            lambda: evaluate("results.csv", metrics="token_f1"),
            [*score, "results.csv"],
            'columns={"reference": "gold"}',
            "--column reference=gold",
        ),
        (
            lambda: evaluate("latin.csv", metrics="token_f1"),
            [*score, "latin.csv"],
            'encoding="latin-1"',
            "--encoding latin-1",
        ),
        (lambda: evaluate("tabs.csv", metrics="token_f1"), [*score, "tabs.csv"], r"delimiter='\t'", "--delimiter TAB"),
        (lambda: get_metric("tokn_f1"), ["metrics", "tokn_f1"], "ragmeter.list_metrics()", "`ragmeter metrics`"),
        (lambda: compare("a"), ["compare", "a"], "compare([a, b])", "ragmeter compare RUN_A RUN_B"),
        (
            lambda: gate("a", fail_over={"token_f1": 0.5}),
            ["gate", "a", "--fail-over", "token_f1=0.5"],
            'fail_under={"token_f1": 0.5}',
            "--fail-under token_f1=0.5",
        ),
        (
            lambda: gate("a", max_failed=2),
            ["gate", "a", "--max-failed", "2"],
            "max_failed must be",
            "--max-failed must be",
        ),
        (
            lambda: calibrate("a", [{"qid": "1", "label": "correct"}], level=2),
            ["calibrate", "a", "--labels", "results.csv", "--level", "2"],
            "level must be between",
            "--level must be between",
        ),
        (
            lambda: choose_sample("a", by="disagreement"),
            ["label", "a", "--by", "disagreement", "--blank"],
            'metrics=["ONE", "OTHER"]',
            "--metric ONE --metric OTHER",
        ),
        (
            lambda: evaluate("halves.csv", metrics="token_f1", interval="wilson"),
            [*score, "halves.csv", "--interval", "wilson"],
            'interval="auto"',
            "--interval auto",
        ),
    ]
    for call, command, keyword, flag in mistakes:
        with pytest.raises(RagmeterError) as caught:
            call()
        assert keyword in str(caught.value)
        assert "--" not in str(caught.value)
        assert main(command) == 2
        said = capsys.readouterr().err
        assert flag in said
        assert not set("\x02\x03\x1f") & set(said)


def test_no_message_below_the_command_line_names_a_flag_alone() -> None:
    """Every text outside the commands and the app, which shows them: flags are in `by_caller` or a whole command."""
    results = [
        f"{path.relative_to(PACKAGE)}:{line}: {text!r}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in ("app", "cli", "hints.py", "pytest_plugin.py")
        and "terminal" not in path.parts
        for line, text in _texts(ast.parse(path.read_text(encoding="utf-8")))
        if re.search(r"(?<![\w-])--[a-z]", COMMAND.sub("", text))
    ]
    assert results == []


def test_a_flag_in_a_message_is_an_option_of_a_command() -> None:
    known = {
        flag for command in COMMANDS.values() for action in command.parser()._actions for flag in action.option_strings
    }
    known |= {"--version", "--completion"}
    unknown = []
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = [(line, flag) for line, text in _texts(tree) for flag in FLAG.findall(text)]
        named += [(line, for_command_line(parameter(name, of=of))) for line, name, of in _parameters(tree)]
        unknown += [f"{module}:{line}: {flag}" for line, flag in named if flag not in {*known, *OTHERS.get(module, ())}]
    assert unknown == []


def _parameters(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """The parameters that a module names by `option(...)` and `parameter(...)`, and whose they are."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
            continue
        name = node.args[0]
        if node.func.id in ("option", "parameter") and isinstance(name, ast.Constant):
            of = next((keyword.value for keyword in node.keywords if keyword.arg == "of"), ast.Constant(""))
            yield node.lineno, str(name.value), str(of.value) if isinstance(of, ast.Constant) else ""


def _texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every text of a module but its docstrings and what is given to `by_caller`."""
    passed_over: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed_over.add(id(node.value))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "by_caller":
            passed_over.update(id(inner) for argument in node.args for inner in ast.walk(argument))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed_over:
            yield node.lineno, node.value

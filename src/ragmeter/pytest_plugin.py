"""The pytest plugin: the fixture `ragmeter`, the mark `@pytest.mark.ragmeter(fail_under={...})`, and a summary.

pytest imports this wherever ragmeter is installed, so nothing heavy is imported before a test needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ragmeter.analysis.gating import Gate, Verdict
    from ragmeter.engine.ask import AskedEvaluation
    from ragmeter.engine.results import Evaluation
    from ragmeter.runs.lookup import RunLike

_MARK = (
    "ragmeter(fail_under={'token_f1': 0.6}, fail_over={'latency_ms': 2000}, "
    "no_worse_than={'main': {'token_f1': 0.02}}, same_as=..., max_failed=0.05, gate_on='mean', sequential=False, "
    "output_dir='runs'): what the test evaluates with the fixture `ragmeter` has to pass this gate"
)
_KEYWORDS = ("fail_under", "fail_over", "no_worse_than", "same_as", "max_failed", "gate_on", "sequential", "output_dir")
#: The evaluations of a test, stored with it.
_EVALUATED = pytest.StashKey[list["Evaluation"]]()
#: The prefix of a test report's user properties: they reach the summary, pytest's JUnit file and pytest-xdist.
_PROPERTY = "ragmeter."


class Ragmeter:
    """The fixture: `evaluate`, `ask` and `check`; everything else comes from the package."""

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._evaluated = item.stash.setdefault(_EVALUATED, [])

    def evaluate(self, *arguments: Any, **keywords: Any) -> Evaluation:
        """`ragmeter.evaluate`; the gate of the test's mark applies to the result."""
        import ragmeter

        return self._note(ragmeter.evaluate(*arguments, **keywords))

    def ask(self, *arguments: Any, **keywords: Any) -> AskedEvaluation:
        """`ragmeter.ask`; the gate of the test's mark applies to the result."""
        import ragmeter

        service = ragmeter.ask(*arguments, **keywords)
        self._note(service)
        return service

    def check(self, run: RunLike, **rules: Any) -> Verdict:
        """`ragmeter.gate`, with an AssertionError that gives the reasons if the run does not pass."""
        import ragmeter
        from ragmeter.errors import RagmeterError

        __tracebackhide__ = True
        try:
            verdict = ragmeter.gate(run, **rules)
        except RagmeterError as error:  # the test's call is wrong: hide our own frames
            raise error.with_traceback(None) from None
        if not verdict.passed:
            raise AssertionError(_reasons(verdict))
        return verdict

    def _note(self, evaluation: Evaluation) -> Evaluation:
        from ragmeter.wording.metrics import brief

        self._evaluated.append(evaluation)
        number = f"{len(self._evaluated)}." if len(self._evaluated) > 1 else ""
        for name, summary in evaluation.metrics.items():
            self._item.user_properties.append((f"{_PROPERTY}{number}{name}", brief(summary)))
        return evaluation

    def __getattr__(self, name: str) -> Any:
        """Names of the package, as attributes: in a test that takes the fixture, `ragmeter` is the fixture."""
        import ragmeter

        return getattr(ragmeter, name)


@pytest.fixture
def ragmeter(request: pytest.FixtureRequest) -> Ragmeter:
    """Evaluate as the package does, check the results, and show them at the end of the run."""
    return Ragmeter(request.node)


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark, for `--strict-markers`."""
    config.addinivalue_line("markers", _MARK)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse an invalid mark before the test does any work."""
    _gates(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """After a test without an error, check its evaluations against the gates of its marks."""
    yield
    gates = _gates(item)
    if not gates:
        return
    from ragmeter.analysis.gating import decide
    from ragmeter.errors import RagmeterError

    evaluated = item.stash.get(_EVALUATED, [])
    if not evaluated:
        pytest.fail(
            "the test is marked with ragmeter, but has evaluated nothing with the fixture `ragmeter`", pytrace=False
        )
    try:
        verdicts = [decide(gate, evaluation) for evaluation in evaluated for gate in gates]
    except RagmeterError as error:
        raise pytest.fail.Exception(f"@pytest.mark.ragmeter: {error}", pytrace=False) from None
    failed = [_reasons(verdict) for verdict in verdicts if not verdict.passed]
    if failed:
        pytest.fail("\n".join(failed), pytrace=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the metrics of every test that evaluated something."""
    reports = [
        report
        for category in terminalreporter.stats.values()
        for report in category
        if isinstance(report, pytest.TestReport) and report.when == "call"
    ]
    lines = []
    for report in sorted(reports, key=lambda report: report.nodeid):
        metrics = [(name, value) for name, value in report.user_properties if name.startswith(_PROPERTY)]
        if metrics:
            lines += [report.nodeid, *(f"  {name.removeprefix(_PROPERTY)}: {value}" for name, value in metrics)]
    if lines:
        from ragmeter.wording.texts import printable

        terminalreporter.section("ragmeter")
        for line in lines:
            terminalreporter.line(printable(line))


def _gates(item: pytest.Item) -> list[Gate]:
    """The gates of a test's marks, its own and those of its class and module."""
    marks = list(item.iter_markers("ragmeter"))
    if not marks:
        return []
    from ragmeter.analysis.gating import Gate
    from ragmeter.errors import RagmeterError

    gates = []
    for mark in marks:
        unknown = [*map(repr, mark.args), *(name for name in mark.kwargs if name not in _KEYWORDS)]
        if unknown:
            pytest.fail(
                f"@pytest.mark.ragmeter does not take {', '.join(unknown)}: it takes {', '.join(_KEYWORDS)}",
                pytrace=False,
            )
        keywords = {"on" if name == "gate_on" else name: value for name, value in mark.kwargs.items()}
        try:
            gates.append(Gate.of(**keywords))
        except RagmeterError as error:
            raise pytest.fail.Exception(f"@pytest.mark.ragmeter: {error}", pytrace=False) from None
    return gates


def _reasons(verdict: Verdict) -> str:
    reasons = [f"  {check.asked}\n    {check.reason}" for check in verdict.failed]
    return "\n".join([f"{verdict.run} does not pass the gate:", *reasons])

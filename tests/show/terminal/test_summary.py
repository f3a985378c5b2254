"""What the terminal says of a run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ragmeter import evaluate
from ragmeter.documents.manifest import Manifest
from ragmeter.documents.summary import Summary
from ragmeter.effects.limits.caller import Failure
from ragmeter.effects.replies.usage import EffortCounts, UsageCounter
from ragmeter.hints import option
from ragmeter.show import terminal
from ragmeter.show.terminal.summary import asks_again
from ragmeter.targets.replies import Replies


def test_causes_name_flags_on_the_command_line_and_keywords_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    result = Replies(
        [Failure("timeout", f"no answer; {option('answer_selector')} may help")],
        EffortCounts(made=1).with_latency(None),
        UsageCounter().total(),
    )
    evaluation: Any = SimpleNamespace(
        summary=Summary(n_rows=1, metrics={}), manifest=Manifest(), embeddings={}, folder=None
    )
    terminal.asked(evaluation, result, None)
    assert "not answered: 1 timeout: no answer; --answer-selector may help" in capsys.readouterr().out
    assert list(result.causes()) == ["timeout: no answer; answer_selector=... may help"]


def test_how_to_ask_again_for_what_failed_and_for_what_a_limit_skipped() -> None:
    alone = "the same command with --retry-failed asks again for these alone"
    higher = "a higher limit (--max-calls, --budget)"
    limits = ["--max-calls", "--budget"]
    assert asks_again(3, 0, limits) == alone
    assert asks_again(3, 1, limits) == f"{alone}; 1 was skipped, and needs {higher}"
    assert asks_again(3, 2, []) == f"{alone}; 2 were skipped, and need a higher limit"
    assert asks_again(3, 3, limits) == f"the same command with --retry-failed and {higher} goes on with these alone"
    assert (asks_again(3, 3, [], retries=False), asks_again(3, 0, [], retries=False)) == (
        "the same command with a higher limit goes on",
        "",
    )


def test_red_is_for_what_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[tuple[str, str]] = []
    output = SimpleNamespace(sentence=lambda text, style: lines.append((text, style)))
    monkeypatch.setattr("ragmeter.show.terminal.summary.console", lambda: output)
    row = {"question": "Where?", "contexts": ["The tower is in Paris."]}
    answers = ["The tower is in Paris.", "I don't know.", "I don't know.", None]
    metrics = evaluate([{**row, "answer": answer} for answer in answers], metrics="offline_hallucinated").metrics
    terminal.show_not_scored(metrics)
    assert lines == [
        ("no score, declined: 2 (all metrics)", "yellow"),
        ("no score, no_answer: 1 (all metrics)", "red"),
    ]

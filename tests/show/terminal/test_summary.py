"""What the terminal says of a run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ragmeter.effects.caller import Failure
from ragmeter.hints import option
from ragmeter.show import terminal
from ragmeter.targets.asking import Asked


def test_causes_name_flags_on_the_command_line_and_keywords_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    result = Asked(
        [Failure("timeout", f"no answer; {option('answer_selector')} may help")],
        {"from_journal": 0, "made": 1, "retried": 0},
    )
    evaluation: Any = SimpleNamespace(summary={"metrics": {}, "numbers": {}}, embeddings={}, folder=None)
    terminal.asked(evaluation, result, None)
    assert "not answered: 1 timeout: no answer; --answer-selector may help" in capsys.readouterr().out
    assert list(result.causes()) == ["timeout: no answer; answer_selector=... may help"]

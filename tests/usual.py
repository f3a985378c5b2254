"""Which cases of a long table are among the usual tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_slow(cases: Iterable[Any]) -> list[Any]:
    """Parameters of which every third one is among the usual tests, and all of them are in `make test-slow`."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[pytest.mark.slow] * (place % 3 > 0))
        for place, case in enumerate(cases)
    ]

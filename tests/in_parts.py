"""An evaluation of few rows in parts, as one of many rows is done."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from ragmeter import Evaluation, evaluate
from ragmeter.engine.plan import Workers


def in_parts(*arguments: Any, engine: Any = "threads", **keywords: Any) -> Evaluation:
    """`evaluate()`, in parts however few rows there are."""
    with patch.object(Workers, "needs_parts", True):
        return evaluate(*arguments, engine=engine, **keywords)

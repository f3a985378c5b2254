"""Keep Arrow from importing pandas, which takes longer than most commands.

If pandas is installed, Arrow imports it on its first conversion of a list, to check whether that is a Series. Commands
have none. Arrow checks only once, so we trigger the check while pandas is hidden. A plugin of the user's can
still import pandas later, and Arrow still converts to frames for it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _NoPandas:
    """An import finder that hides pandas."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def avoid_pandas() -> None:
    """Make Arrow check for pandas now, and not find it; Arrow does not check again in this process."""
    if "pandas" in sys.modules:
        return
    import pyarrow

    no_pandas = _NoPandas()
    sys.meta_path.insert(0, no_pandas)
    try:
        pyarrow.array([])
    finally:
        sys.meta_path.remove(no_pandas)

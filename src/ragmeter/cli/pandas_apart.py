"""Keep Arrow from importing pandas, which takes longer than most commands.

Where pandas is installed, Arrow imports it as soon as it is handed a list, to ask whether that is a Series. No command
has one. Arrow looks once: so it looks now, while there is none to be found. Whoever wants pandas later, a plugin or an
agent of the user's, gets it, and Arrow makes frames for them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class _NoPandas:
    """Says of pandas that it is not installed."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def keep_pandas_apart() -> None:
    """Have Arrow look for pandas and find none. In this process it will not look again for our lists."""
    if "pandas" in sys.modules:
        return
    import pyarrow

    no_pandas = _NoPandas()
    sys.meta_path.insert(0, no_pandas)
    try:
        pyarrow.array([])
    finally:
        sys.meta_path.remove(no_pandas)

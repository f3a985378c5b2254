"""Keep Arrow from importing pandas, which takes longer than most commands.

Where pandas is installed, Arrow imports it as soon as it is handed a list, to ask whether that is a Series. No command
has one. Whoever else wants pandas, a plugin or an agent of the user's, gets it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_OURS = ("ragmeter", "pyarrow")


class _Finder:
    """Says that there is no pandas to imports that come from Arrow; its own code has no frames, so from our calls."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "pandas":
            frame = sys._getframe(1)
            while frame is not None and frame.f_globals.get("__name__", "").startswith("importlib"):
                frame = frame.f_back  # type: ignore[assignment]
            if frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def keep_pandas_apart() -> None:
    """From now on, in this process."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())

"""The compiled kernel: words, and what pairs of texts have in common, in C.

It is used where it is there, and everything that it does has a plain twin in Python, which is its oracle. The library
is one for all versions of Python: `ctypes` calls it, without Python's lock, so that threads work side by side. A wheel
for a platform has it, `tools/build_kernel.py` makes it in a clone, and `RAGMETER_PLAIN=1` turns it off.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
#: Turns the kernel off.
PLAIN = "RAGMETER_PLAIN"


def library_name(platform: str = sys.platform) -> str:
    """The name of the library's file on a platform."""
    return "_kernel" + {"win32": ".dll", "darwin": ".dylib"}.get(platform, ".so")


def sources() -> list[Path]:
    """The files that the library is made of, the header first."""
    return [FOLDER / "kernel.h", *sorted(FOLDER.glob("*.c"))]


def digest() -> str:
    """What tells a library of these sources from one of others."""
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in sources())).hexdigest()[:16]


def library() -> Any:
    """The library, or None where the plain path is taken."""
    return _loaded()[0]


def state() -> str:
    """The path that is taken, and why if it is the plain one."""
    return _loaded()[1]


@cache
def _loaded() -> tuple[Any | None, str]:
    if os.environ.get(PLAIN, "0") not in ("", "0"):
        return None, f"plain Python: {PLAIN} is set"
    path = FOLDER / library_name()
    if not path.is_file():
        return None, "plain Python: this install has no library for its platform"
    try:
        loaded = ctypes.CDLL(str(path))
        loaded.kernel_sources.restype = ctypes.c_char_p
        made_of = loaded.kernel_sources().decode()
    except (OSError, AttributeError) as error:
        return None, f"plain Python: {path.name} can't be loaded: {error}"
    if made_of != digest():
        return None, f"plain Python: {path.name} was made of other sources; python tools/build_kernel.py"
    return _declared(loaded), f"compiled, {path.name}"


def _declared(loaded: Any) -> Any:
    """The library with the types of what its functions take and return: pointers, seeds and counts."""
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    signatures: dict[str, tuple[Any, ...]] = {
        "vocabulary_new": (pointer, ctypes.c_uint64),
        "vocabulary_free": (None, pointer),
        "vocabulary_size": (count, pointer),
        "vocabulary_ends": (pointer, pointer),
        "vocabulary_bytes": (pointer, pointer),
        "vocabulary_add": (count, pointer, pointer, pointer, count, pointer),
        "split_texts": (count, pointer, pointer, pointer, count, pointer, pointer, pointer, pointer),
        "spread_pieces": (None, pointer, pointer, count, pointer, pointer, pointer, pointer, pointer),
        "pairs_may_be_same": (None, pointer, pointer, pointer, pointer, pointer, count, pointer),
        "may_change_in_nfc": (None, pointer, pointer, count, pointer),
        "pair_overlaps": (count, pointer, pointer, count, count, pointer),
        "pair_terms": (count, pointer, pointer, count, count, pointer),
        "pair_alignments": (count, pointer, pointer, pointer, count, count, count, pointer, pointer),
        "pair_subsequences": (count, pointer, pointer, count, count, pointer),
        "pair_distances": (count, pointer, pointer, pointer, pointer, count, pointer),
    }
    for name, (returned, *taken) in signatures.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = returned, taken
    return loaded

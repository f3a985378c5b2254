"""Which models of the hub are on this machine, by the folders of its cache alone."""

from __future__ import annotations

import os
from pathlib import Path

_PREFIX = "models--"


def hub_cache() -> Path:
    """The folder of the hub's cache, by the same variables as the hub's library."""
    if given := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(given).expanduser()
    home = os.environ.get("HF_HOME")
    shared = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return (Path(home) if home else Path(shared) / "huggingface").expanduser() / "hub"


def cached_models(cache: Path | None = None) -> dict[str, int]:
    """The names of models in the cache, and how many bytes of each are there."""
    folder = hub_cache() if cache is None else cache
    try:
        models = sorted(path for path in folder.iterdir() if path.name.startswith(_PREFIX))
    except OSError:  # there is no cache
        return {}
    sizes = {path.name.removeprefix(_PREFIX).replace("--", "/"): _size(path / "blobs") for path in models}
    return {name: size for name, size in sizes.items() if size}


def _size(folder: Path) -> int:
    try:
        return sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    except OSError:
        return 0

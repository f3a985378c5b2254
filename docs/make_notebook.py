"""Runs examples/notebook.ipynb in a kernel of its own and stores what its cells show: `make docs`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

TARGET = Path(__file__).parent.parent / "examples" / "notebook.ipynb"
#: Seconds that a cell, and the kernel's start, may take; on an idle machine all of it takes a few.
LIMIT = 600


def run(notebook: Path = TARGET) -> Any:
    """The notebook with the outputs of all its cells, run in a copy of its folder so that nothing is left behind."""
    document = nbformat.read(notebook, as_version=4)
    metadata = dict(document.metadata)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / notebook.parent.name
        shutil.copytree(notebook.parent, folder, ignore=shutil.ignore_patterns("runs", "__pycache__"))
        resources = {"metadata": {"path": str(folder)}}
        client = NotebookClient(document, timeout=LIMIT, startup_timeout=LIMIT, resources=resources)
        client.record_timing = False
        client.execute()
    document.metadata.clear()
    document.metadata.update(metadata)  # without the version of this Python
    return document


if __name__ == "__main__":
    nbformat.write(run(), TARGET)

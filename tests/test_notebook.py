"""The notebook in examples/, run in a real kernel."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The notebook with what its cells show now; the kernel leaves nothing in the user's folders."""
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
            patch.setenv(variable, str(tmp_path_factory.mktemp(variable)))
        return runpy.run_path(str(ROOT / "docs" / "make_notebook.py"))["run"](NOTEBOOK)


def outputs(notebook: Any) -> list[list[Any]]:
    """What each cell shows, without how long it took."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [[_timeless(output) for output in cell["outputs"]] for cell in cells]


def _timeless(output: Any) -> Any:
    text = json.dumps({key: output[key] for key in ("name", "text", "data") if key in output})
    return json.loads(re.sub(r"\d+\.\d s\b", "some s", text))


def stored() -> Any:
    import nbformat

    return nbformat.read(NOTEBOOK, as_version=4)


def test_it_runs_and_shows_what_is_stored(executed: Any) -> None:
    assert outputs(executed) == outputs(stored()), "run `make docs`"


def test_it_shows_every_part(executed: Any) -> None:
    shown = [output for cell in outputs(executed) for output in cell]
    assert [output for output in shown if "data" not in output and output.get("name") != "stdout"] == []  # no warnings
    pages = " ".join(output["data"].get("text/html", "") for output in shown if "data" in output)
    code = " ".join(cell["source"] for cell in stored()["cells"] if cell["cell_type"] == "code")
    for call in ("evaluate(", "ask(", "compare(", "gate(", "report(", "list_metrics(", ".to_pandas()", "progress=True"):
        assert call in code
    for part in ("scoring done: 8 rows, some s", "asking done: 17 of 17 questions, some s", "token_f1 ↑"):
        assert part in pages
    assert pages.count("<table") == 8


def test_it_names_no_place_on_a_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert not re.search(r"(?<![<\w.:/])/\w+/\w", text)
    assert str(Path.home()) not in text

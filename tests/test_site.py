"""The site: what `make site` adds to docs/, and that it can be built."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ragmeter
from ragmeter.registry import known

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "make_site.py"))


def test_each_document_is_in_the_navigation(site: dict[str, Any]) -> None:
    nav: list[dict[str, Any]] = [{"How-to": ["ask.md"]}, {"Metrics": []}, {"Reference": [{"Python names": []}]}]
    site["on_config"](SimpleNamespace(nav=nav))
    assert {"ask.md", "web.md", "tutorials/ci.md"} <= set(nav[0]["How-to"])
    assert nav[0]["How-to"].count("ask.md") == 1
    assert {"ndcg@k": "metrics/ndcg.md"} in nav[1]["Metrics"]
    assert {"Scoring": "reference/scoring.md"} in nav[2]["Reference"][0]["Python names"]


def test_each_metric_has_a_page(site: dict[str, Any]) -> None:
    pages = site["metric_pages"]()
    assert set(pages) == {f"metrics/{metric.base}.md" for metric in known() if metric.is_builtin}
    name, text = pages["metrics/ndcg.md"]
    assert name == "ndcg@k"
    assert "**Formula.**" in text
    assert "ragmeter metrics ndcg@10" in text


def test_each_public_name_is_in_the_reference(site: dict[str, Any]) -> None:
    names = [name for _, names in site["GROUPS"].values() for name in names.split()]
    assert sorted(names) == ragmeter.__all__
    page = site["reference_page"]("scoring")
    assert "## `evaluate`" in page
    assert "    *,\n" in page, "a long signature has a line for each parameter"
    assert "### `Run.manifest`" in page


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("README.md", "[a](docs/ci.md#files)", "[a](ci.md#files)"),
        ("docs/python.md", "[a](../examples/notebook.ipynb)", "[a](examples/notebook.ipynb)"),
        ("docs/tutorials/ci.md", "[a](../ci.md)", "[a](../ci.md)"),
        ("docs/tutorials/ci.md", "[a](../../CONTRIBUTING.md)", "[a](../CONTRIBUTING.md)"),
        ("docs/ci.md", "[a](https://example.com/)", "[a](https://example.com/)"),
        ("docs/ci.md", "`[a](../x)`", "`[a](../x)`"),
    ],
)
def test_links_lead_to_where_the_site_has_them(site: dict[str, Any], source: str, text: str, expected: str) -> None:
    assert site["site_links"](text, source) == expected


def test_what_would_be_fetched_from_other_hosts_is_seen(site: dict[str, Any]) -> None:
    seen = site["fetched_from_elsewhere"]
    assert seen('<script src="https://example.com/a.js"></script>') == ["https://example.com/a.js"]
    assert seen('<link rel="stylesheet" href="//example.com/a.css">') == ["//example.com/a.css"]
    assert seen('<a href="https://example.com/">a</a><script src="assets/a.js"></script><img src="a.png">') == []


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    for page in ("index", "tutorials/ci", "metrics/ndcg", "reference/scoring", "limits", "CONTRIBUTING"):
        assert (tmp_path / "site" / f"{page}.html").is_file()
    assert (tmp_path / "site" / "examples" / "notebook.ipynb").is_file()

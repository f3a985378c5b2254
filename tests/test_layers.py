"""Imports point down only, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import ragmeter

PACKAGE = Path(ragmeter.__file__).parent

#: The rooms, from the top down. A module may import from its own room and from those below.
LAYERS = [
    "__main__", "pytest_plugin", "cli", "app", "show", "analysis", "compat", "engine", "runs", "targets", "judges",
    "testsets", "models", "stats", "metrics", "embedders", "effects", "io", "wording", "registry", "definition",
    "documents", "naming", "table", "passages", "errors", "hints", "kernel",
]  # fmt: skip
#: The package's own module holds the version and forwards the public names.
ROOT = "__init__"


def layer(module: str) -> str:
    return (module.split(".")[1:] or [ROOT])[0]


def test_every_module_has_its_layer() -> None:
    results = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir() if path.suffix in ("", ".py")}
    assert results - {"__pycache__"} == {*LAYERS, ROOT}


def test_the_map_for_contributors_has_the_same_rooms_in_the_same_order() -> None:
    text = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = text[text.index("```\nsrc/ragmeter/") :]
    rooms = re.findall(r"^  (\w+)(?:/|\.py) ", drawn[: drawn.index("```", 3)], re.MULTILINE)
    assert rooms == LAYERS


def test_what_contributors_are_sent_to_is_there() -> None:
    root = Path(__file__).parent.parent
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text[text.index("## Where to find") : text.index("## Habits")]
    named = set(re.findall(r"`([a-z_/]+\.(?:py|md))`", table))
    assert len(named) > 40
    assert not [path for path in named if not any((base / path).exists() for base in (PACKAGE, root))]


def test_imports_point_down_only() -> None:
    upward = []
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(("ragmeter", *path.relative_to(PACKAGE).with_suffix("").parts))
        own = layer(module)
        if own == ROOT:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
                if node.module == "ragmeter":
                    names = [f"ragmeter.{alias.name}" for alias in node.names]
            upward += [
                f"{module} imports {name}"
                for name in names
                if name.startswith("ragmeter.") and LAYERS.index(layer(name)) < LAYERS.index(own)
            ]
    assert upward == []


def test_help_and_import_load_nothing_heavy() -> None:
    heavy = {"numpy", "pyarrow", "rapidfuzz", "rich", "regex", "Stemmer", "lingua", "aiohttp", "asyncio", "sqlite3"}
    heavy |= {"ctypes", "msgspec", "ragmeter.kernel"}
    for statement in ("import ragmeter", "from ragmeter.cli.main import main; main([])"):
        code = f"import sys\n{statement}\nprint(sorted({heavy!r} & set(sys.modules)), file=sys.stderr)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stderr.strip() == "[]"

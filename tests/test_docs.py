"""The documents say what is there."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ragmeter
from ragmeter import definition
from ragmeter.io.titles import _ALIASES
from ragmeter.registry import known

ROOT = Path(__file__).parent.parent


def test_the_page_of_metrics_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_metrics.py"))["render"]()
    assert (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8") == made, "run `make docs`"
    for metric in known():
        if not metric.source.startswith("ragmeter."):
            continue  # of another test in this process
        assert f"### `{metric.base}" in made


def test_every_title_that_is_recognised_is_listed() -> None:
    listed = (ROOT / "docs" / "input.md").read_text(encoding="utf-8")
    for aliases in _ALIASES.values():
        for name, titles in aliases.items():
            for spelling in (name, *titles):
                assert f"`{spelling}`" in listed, spelling


def test_links_between_the_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text(encoding="utf-8")):
            if not target.startswith("http"):
                assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_the_python_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    for block in blocks:
        exec(block, {"__name__": "__main__"})  # noqa: S102 - our own document
    shown = capsys.readouterr().out
    assert len(blocks) == 1
    assert shown.startswith("0.5 ")
    assert re.findall(r"\((-?[\d.]+), (-?[\d.]+)\)", shown) == [("0.0", "1.0")], "an interval within the metric's range"


def test_the_metric_shown_to_contributors_works() -> None:
    """The code of CONTRIBUTING.md, run as it stands there."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)
    namespace: dict[str, object] = {}
    for block in blocks[:2]:
        exec(block, namespace)  # noqa: S102 - our own document
    cases = namespace["CASES"]
    assert isinstance(cases, list)
    metric = namespace["token_jaccard"]
    for name, reference, answer, expected in cases:
        assert name == "token_jaccard"
        assert metric([reference], [answer])[0] == expected  # type: ignore[operator]
    definition.METRICS.pop("token_jaccard")


def test_the_judgement_shown_to_contributors_works(tmp_path: Path) -> None:
    """Its two files, as they stand in CONTRIBUTING.md, put into a copy of the package: nothing else changes."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    files = re.findall(r"[Ii]n\s`(\S+politeness.py)`:\n\n```python\n(.*?)```", text, re.DOTALL)
    for name, content in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    judgement, tests = (name for name, _ in files)
    assert (ROOT / judgement).parent.is_dir()
    assert (ROOT / tests).parent.is_dir()
    (tmp_path / "pytest.ini").write_text("[pytest]", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": "src"}, capture_output=True, text=True, check=False
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr


def test_the_files_named_to_contributors_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text[text.index("## Where to find") :]
    rows = re.findall(r"^\| .*", section[: section.index("## Habits")], re.MULTILINE)
    paths = [path for row in rows for path in re.findall(r"`([\w/]+\.(?:py|md))`", row)]
    assert len(paths) > 20
    for path in paths:
        folder = ROOT if path.startswith(("tests/", "docs/")) else ROOT / "src" / "ragmeter"
        assert (folder / path).is_file(), path


def test_the_page_of_python_names_what_is_there_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    functions = re.findall(r"^\| `(\w+)\(", page, re.MULTILINE)
    assert {"evaluate", "ask", "compare", "list_metrics"} <= set(functions)
    assert set(functions) <= set(ragmeter.__all__)
    monkeypatch.chdir(tmp_path)
    for name in ("before", "after"):
        rows = [{"qid": n, "answer": f"it is {n}", "retrieved": ["d"]} for n in range(200)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    gold = [{"qid": n, "reference": f"it is {n}", "relevant": ["d"]} for n in range(200)]
    (tmp_path / "reference.jsonl").write_text("\n".join(map(json.dumps, gold)), encoding="utf-8")
    block = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    exec(block, {"__name__": "__main__"})  # noqa: S102 - our own document
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["after"]


def test_the_readme_says_on_what_the_offline_judge_s_figures_are() -> None:
    card = (ROOT / "docs" / "offline-judge.md").read_text(encoding="utf-8")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    crossed = re.search(r"\| offline judge, cross-validated \| ([\d,]+) \| [\d.]+ \| ([\d.]+) \|", card)
    held_out = re.search(r"Held-out questions.*?\n\| ([\d,]+) \| [\d.]+ \| ([\d.]+) \|", card, re.DOTALL)
    assert crossed is not None
    assert held_out is not None
    for answers, agreement in (crossed.groups(), held_out.groups()):
        assert f"{answers} answers" in readme
        assert f"{float(agreement):.1%}" in readme
    assert "short factual questions" in readme
    assert "cross-validated by question" in readme


def test_the_readme_has_the_card_s_figures_of_long_answers() -> None:
    card = (ROOT / "docs" / "offline-quality.md").read_text(encoding="utf-8")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    titles = (r"\*\*offline_quality\*\*, ten folds", "`token_f1`", "the other person")
    figures = [re.search(rf"^\| {title} \|.*\| \**([\d.]+) / [\d.]+\** \|$", card, re.MULTILINE) for title in titles]
    quality, token_f1, person = (figure[1] for figure in figures if figure is not None)
    assert (
        f"it correlates {quality} (Pearson) with them where token F1 has {token_f1} and the other person {person}"
        in readme
    )


def test_the_documents_have_no_words_that_are_gone() -> None:
    for document in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = document.read_text(encoding="utf-8")
        assert not re.search(r"no evidence|points (above|below)|have a star|marked with `\*`", text), document.name


def test_the_list_for_assistants_has_all_pages() -> None:
    listed = (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", listed)
    assert [link for link in links if not (ROOT / "docs" / link).is_file()] == []
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert pages <= set(links)


def test_the_commands_for_who_works_on_the_project() -> None:
    text = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)
    assert len(named) > 5
    assert set(named) <= targets
    [collected] = re.findall(r"^\.venv/bin/python (-m pytest .+)$", text, re.MULTILINE)
    command = [sys.executable, *collected.split(), "--collect-only"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests/io/test_xlsx.py" in done.stdout
    assert all((ROOT / link).is_file() for link in re.findall(r"\]\(([^)]+)\)", text))


def test_the_skill_stands_alone() -> None:
    text = (ROOT / "skills" / "ragmeter" / "SKILL.md").read_text(encoding="utf-8")
    front = re.match(r"---\nname: ragmeter\ndescription: (.+)\n---\n", text)
    assert front is not None
    assert len(front[1]) <= 1024
    assert "](" not in text, "no links: the file is copied elsewhere"
    assert len(text.split()) < 1000

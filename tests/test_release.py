"""What `make release` checks, and the workflows that test and publish."""

from __future__ import annotations

import io
import re
import runpy
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

import ragmeter

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CHANGELOG = "# Changelog\n\n## 0.2.0 (unreleased)\n\n### Added\n- Something.\n\n## 0.1.0 (2026-01-31)\n\n- The first.\n"


@pytest.fixture(scope="module")
def release() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "release.py"))


def test_the_version_is_the_package_s(release: dict[str, Any]) -> None:
    assert release["package_version"]() == ragmeter.__version__
    assert f"## {ragmeter.__version__} (" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_section_of_a_release_gets_its_date(release: dict[str, Any]) -> None:
    dated = release["with_date"](CHANGELOG, "0.2.0", "2026-11-16")
    assert dated == CHANGELOG.replace("0.2.0 (unreleased)", "0.2.0 (2026-11-16)")
    assert release["section"](dated, "0.2.0") == "### Added\n- Something.\n"
    with pytest.raises(SystemExit, match="has no date"):
        release["section"](CHANGELOG, "0.2.0")
    with pytest.raises(SystemExit, match=r"must be that of 0\.3\.0"):
        release["section"](dated, "0.3.0")


def in_wheel(name: str) -> str:
    return f"ragmeter/{name}" if name.startswith("examples/") else name.removeprefix("src/")


def test_a_wheel_without_a_file_of_the_package_is_refused(release: dict[str, Any], tmp_path: Path) -> None:
    command = ["git", "ls-files", "src/ragmeter", "examples/nq"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not listed:
        pytest.skip("no clone")
    source = tmp_path / "ragmeter.tar.gz"
    with tarfile.open(source, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("ragmeter-0.1.0/README.md"), io.BytesIO())
    for names in (listed, listed[1:], [*listed, "src/other.py"]):
        with zipfile.ZipFile(tmp_path / "ragmeter.whl", "w") as wheel:
            for name in names:
                wheel.writestr(in_wheel(name), "")
        if names is listed:
            release["check_files"](tmp_path / "ragmeter.whl", source)
        else:
            with pytest.raises(SystemExit, match="the wheel lacks"):
                release["check_files"](tmp_path / "ragmeter.whl", source)
    with tarfile.open(source, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("ragmeter-0.1.0/tests/data/a.jsonl"), io.BytesIO())
    with zipfile.ZipFile(tmp_path / "ragmeter.whl", "w") as wheel:
        for name in listed:
            wheel.writestr(in_wheel(name), "")
    with pytest.raises(SystemExit, match="should not have"):
        release["check_files"](tmp_path / "ragmeter.whl", source)


def test_the_wheel_of_a_platform_has_the_library_of_these_sources(release: dict[str, Any], tmp_path: Path) -> None:
    names = {name: Path(release["library_of"](name)).suffix for name in release["BUILDING"]["PLATFORMS"]}
    assert {name.split("-")[0]: suffix for name, suffix in names.items()} == {
        "linux": ".so", "musl": ".so", "macos": ".dylib", "windows": ".dll",
    }  # fmt: skip
    library = release["library_of"]("linux-x86_64")
    with zipfile.ZipFile(tmp_path / "ragmeter.whl", "w") as wheel:
        wheel.writestr(library, "of other sources")
    with pytest.raises(SystemExit, match="was made of other sources"):
        release["check_files"](tmp_path / "ragmeter.whl", tmp_path / "ragmeter.tar.gz", library)


def test_a_python_that_is_not_here_is_not_tried(release: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert release["try_wheels"]({"any": Path("no.whl")}, "3.99") is False
    assert "Python 3.99 is not here: not tried" in capsys.readouterr().out


def test_the_page_on_pypi_has_links_that_work_there() -> None:
    page = runpy.run_path(str(ROOT / "tools" / "package_page.py"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "owner/name"}
    published = page["readme_for"](readme, page["repository_of"](named), "v1.0")
    assert "](https://github.com/owner/name/raw/v1.0/docs/pictures/terminal.svg)" in published
    assert "](https://github.com/owner/name/blob/v1.0/docs/limits.md)" in published
    assert page["repository_of"]({}) is None
    for text in (published, page["readme_for"](readme, None, "v1.0")):
        assert not re.search(r"\]\((?!https?:)", text), "a link that leads nowhere"
    assert "![" not in page["readme_for"](readme, None, "v1.0")


def test_the_workflows_test_three_systems_and_publish_without_a_token() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in WORKFLOWS}
    assert "os: [ubuntu-latest, macos-latest, windows-latest]" in texts["test.yml"]
    assert "id-token: write" in texts["release.yml"]
    assert "uses: pypa/gh-action-pypi-publish@" in texts["release.yml"]
    assert "uses: ./.github/workflows/test.yml" in texts["release.yml"]
    for text in texts.values():
        assert not re.search(r"https?://|secrets\.|password", text), "no host is named, and there is no token"
        actions = {action.split("/")[0] for action in re.findall(r"uses: (\S+)", text)}
        assert actions <= {"actions", "pypa", "."}, "official actions alone"

"""What the package's page on PyPI shows: README.md, with links that work there.

PyPI shows no file of the repository, so that pictures and pages need an address. It is known where the package is
published from: GitHub's workflows name the repository in their environment. Elsewhere pictures are left out, and links
to files are only text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # the tests need no hatchling
    MetadataHookInterface = object

_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


def readme_for(text: str, repository: str | None, tag: str) -> str:
    """The text with absolute links to the files of a repository at a tag; without one, without pictures and links."""

    def absolute(match: re.Match[str]) -> str:
        mark, words, path = match.groups()
        if repository is None:
            return "" if mark else words
        kind = "raw" if mark else "tree" if path.endswith("/") else "blob"
        return f"{mark}[{words}]({repository}/{kind}/{tag}/{path})"

    return _LINK.sub(absolute, text)


def repository_of(environment: Mapping[str, str]) -> str | None:
    """The address of the repository that a workflow of GitHub's runs in; None elsewhere."""
    server, name = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY")
    return f"{server}/{name}" if server and name else None


class PackagePage(MetadataHookInterface):  # type: ignore[misc, unused-ignore]  # hatchling may be missing
    """Sets `readme` and `urls` when a package is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling."""
        repository = repository_of(os.environ)
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        page = readme_for(text, repository, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": page}
        metadata["urls"] = {} if repository is None else {"Source": repository}

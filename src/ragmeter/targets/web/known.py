"""Profiles of known chat applications, recognised by the page's own marks."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ragmeter.targets.web.profile import Profile, parse_profile

_FOLDER = Path(__file__).with_name("known")


@cache
def known_profiles() -> dict[str, tuple[str, Profile]]:
    """The profiles by the names of their applications, each with the mark: a selector of what only its pages have.

    The mark stands in the file's first line, `# mark: SELECTOR`.
    """
    profiles = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        mark = text.partition("\n")[0].removeprefix("# mark:").strip()
        profiles[path.stem] = (mark, parse_profile(text, path.name))
    return profiles

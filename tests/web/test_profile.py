"""The file of a profile: written with comments, read strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragmeter.errors import InputError
from ragmeter.targets.web.known import known_profiles
from ragmeter.targets.web.profile import Answer, End, Profile, parse_profile, read_profile, shown, write_profile

WHOLE = Profile(
    Answer(
        ".a > [data-x='1']",
        ("Bot", "# tokens"),
        (".no", '[title="\\"x"]'),
        ("Bot:",),
        ("Yes No",),
        (".think",),
        "a.source",
        (".more",),
    ),
    "#box",
    "Enter",
    "http://localhost/",
    ("#open",),
    End(("#stop",), ("#go",), request=True, still=0.3),
    (".error",),
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write_profile(tmp_path / "page.toml", WHOLE, ["In doubt: two\nlines"])
    text = (tmp_path / "page.toml").read_text()
    assert read_profile(tmp_path / "page.toml") == WHOLE
    assert "# In doubt: two lines" in text
    assert text.count("\n# ") >= 15  # a comment at each key
    assert parse_profile(shown(Profile(Answer("p"))), "x") == Profile(Answer("p"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[answer]\nselector = 5", "page.toml, line 2: answer.selector: Expected `str`, got `int`"),
        ("box = '#b'\nboks = 1\n[answer]\nselector = 'p'", "page.toml, line 2: boks: there is no such key"),
        ("[answer]\nignore = ['.a']", "page.toml: answer.selector: it is missing"),
        ("[answer]\nselector = 'p'\n[end]\nstill = -1", "page.toml, line 4: end.still is -1"),
        ("[answer]\nselector = ' '", "page.toml, line 2: answer.selector has an empty selector"),
        ("[answer\n", "page.toml is not TOML: .*line 1"),
        ("[answer]\nselector = 'p'\nignore = [1]", "line 3: answer.ignore.*: Expected `str`, got `int`"),
    ],
)
def test_a_file_that_is_wrong_is_an_error_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "page.toml").write_text(text)
    with pytest.raises(InputError, match=message):
        read_profile(tmp_path / "page.toml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--learn page\.toml"):
        read_profile(tmp_path / "page.toml")


def test_known_applications_have_a_mark_and_a_place_of_answers() -> None:
    profiles = known_profiles()
    assert {"chainlit", "gradio", "streamlit", "nicegui", "open_webui", "web_chat"} <= profiles.keys()
    assert all(mark and not mark.startswith("#  ") and profile.answer.selector for mark, profile in profiles.values())

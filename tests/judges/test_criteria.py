"""Criteria of the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragmeter import FakeProvider, evaluate
from ragmeter.errors import InputError, UsageError
from ragmeter.judges.criteria import Ratings
from ragmeter.models.fake import fenced_texts
from tests.judge_rows import judge

ROW: dict[str, Any] = {"qid": "1", "question": "Where?", "answer": "In Paris, dear.", "contexts": ["Paris"]}


def write(tmp_path: Path, text: str) -> str:
    file = tmp_path / "tone.md"
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_one_question(tmp_path: Path) -> None:
    file = write(tmp_path, "Is the answer polite?")
    provider = FakeProvider("Yes")
    metric = f'criteria[file="{file}"]'
    result = evaluate([ROW], metrics=metric, judge=judge(provider), output_dir=tmp_path)
    assert [summary.mean for summary in result.values()] == [1.0]
    assert fenced_texts(provider.prompts[0])["answer"] == "In Paris, dear."
    assert provider.prompts[0].endswith("Is the answer polite? Reply with nothing but Yes or No.")


def test_several_criteria_in_one_call_with_a_scale(tmp_path: Path) -> None:
    file = write(tmp_path, "scale: 1-5\n\n{answer}\n{contexts}\n\n## tone\nPolite?\n\n## brevity\nShort?\n")
    provider = FakeProvider("tone: 5\nbrevity: 2")
    metrics = [
        f'criteria[file="{file}"]',
        f'criteria[file="{file}",only=tone]',
        f'criteria[file="{file}",only=brevity]',
    ]
    result = evaluate([ROW], metrics=metrics, judge=judge(provider), output_dir=tmp_path)
    assert [summary.mean for summary in result.values()] == [0.625, 1.0, 0.25]
    assert len(provider.prompts) == 1
    assert fenced_texts(provider.prompts[0])["contexts"] == "[1] Paris"


def test_a_changed_file_asks_again(tmp_path: Path) -> None:
    file = write(tmp_path, "Is it polite?")
    provider = FakeProvider("Yes")
    for text in ("Is it polite?", "Is it polite?", "Is it rude?"):
        write(tmp_path, text)
        evaluate([ROW], metrics=f'criteria[file="{file}"]', judge=judge(provider), output_dir=tmp_path)
    assert len(provider.prompts) == 2


@pytest.mark.parametrize(
    ("names", "scale", "reply", "value"),
    [
        (("rating",), None, "No.", '{"rating":0.0}'),
        (("rating",), (0, 10), "**10**", '{"rating":1.0}'),
        (("rating",), (1, 5), "6", None),
        (("rating",), None, "Yes, because", None),
        (("a", "b"), None, "a: Yes\nb: No", '{"a":1.0,"b":0.0}'),
        (("a", "b"), None, "b: Yes\na: No", None),
        (("a", "b"), None, "a: Yes", None),
        (("a", "b"), None, "Yes\nNo", None),
        (("tone of voice", "b"), None, "- Tone of voice: yes\n- B: no", '{"tone of voice":1.0,"b":0.0}'),
    ],
)
def test_replies(names: tuple[str, ...], scale: tuple[int, int] | None, reply: str, value: str | None) -> None:
    read = Ratings(names, scale).read(reply, {})
    assert (None if read is None else read["value"].replace(" ", "")) == (value and value.replace(" ", ""))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no criteria"),
        ("scale: 5-1\nPolite?", "a scale is two numbers"),
        ("## a\nx\n## A\ny", "the same name"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(InputError, match=message):
        evaluate([ROW], metrics=f'criteria[file="{file}"]', judge=judge(FakeProvider("Yes")), output_dir=tmp_path)


def test_no_file_and_a_missing_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="criteria needs a file"):
        evaluate([ROW], metrics="criteria", judge=judge(FakeProvider("Yes")), output_dir=tmp_path)
    with pytest.raises(InputError, match="can't be read"):
        evaluate([ROW], metrics="criteria[file=none.md]", judge=judge(FakeProvider("Yes")), output_dir=tmp_path)

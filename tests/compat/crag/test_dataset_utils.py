"""Conversations out of datasets of every form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragmeter import clean_text, convert_domain_indices_to_names, prepare_feature_vocabularies
from ragmeter.compat.crag.dataset_utils import conversations, one_split
from ragmeter.errors import InputError, UsageError
from tests.compat.crag.helpers import conversation

TWO = [conversation("a", ("q0", "g0"), ("q1", "g1")), conversation("b", ("q2", "g2"), url="http://x/y.png")]


class LikeHuggingFace:
    """A dataset that can be counted and walked through, and declares its features."""

    def __init__(self, rows: list[dict[str, Any]], features: Any) -> None:
        self.rows = rows
        self.features = features

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)


def test_lists_of_dicts_and_dicts_of_lists_are_one() -> None:
    lists = [conversation("a", ("q0", "g0"), ("q1", "g1"), as_lists=True)]
    assert list(conversations(TWO[:1])) == list(conversations(lists))
    (found,) = conversations(lists)
    assert [(each["query"], each["ground_truth"]) for each in found.turns] == [("q0", "g0"), ("q1", "g1")]


def test_ego_is_what_has_no_url() -> None:
    first, second = conversations(TWO)
    assert (first.is_ego, first.image) == (True, "pixels of a")
    assert (second.is_ego, second.image, second.image_url) == (False, None, "http://x/y.png")


def test_answers_are_found_by_their_id_not_their_place() -> None:
    mixed = conversation("a", ("q0", "g0"), ("q1", "g1"))
    mixed["answers"].reverse()
    (found,) = conversations([mixed])
    assert [each["ground_truth"] for each in found.turns] == ["g0", "g1"]
    del mixed["answers"]
    (found,) = conversations([mixed])
    assert [each["ground_truth"] for each in found.turns] == [None, None]


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_files(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"conversations.{ending}"
    if ending == "jsonl":
        path.write_text("".join(json.dumps(each) + "\n" for each in TWO))
    elif ending == "json":
        path.write_text(json.dumps(TWO))
    else:
        pq.write_table(pa.Table.from_pylist(TWO), path)
    assert list(conversations(path)) == list(conversations(TWO))
    assert [each.session_id for each in conversations(path, 1)] == ["a"]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"turns": []}, "no session_id"),
        ({"session_id": "a"}, "'turns' must be a list"),
        ({"session_id": "a", "turns": []}, "has no turns"),
        ({"session_id": "a", "turns": "q"}, "'turns' must be a list"),
        ({"session_id": "a", "turns": [{"query": "q"}]}, "no interaction_id"),
        ({"session_id": "a", "turns": [{"interaction_id": "1"}]}, "no query"),
        ({"session_id": "a", "turns": {"interaction_id": ["1", "2"], "query": ["q"]}}, "must have the same length"),
        ({"session_id": "a", "turns": [{"interaction_id": "1", "query": "q"}] * 2}, "the same interaction_id"),
        ({"session_id": "a", "turns": [{"interaction_id": "1", "query": "q"}], "answers": 7}, "'answers' must be"),
    ],
)
def test_conversations_that_are_none(tmp_path: Path, record: dict[str, Any], message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(TWO[0]) + "\n" + json.dumps({**record}) + "\n")
    with pytest.raises(InputError, match=rf"bad\.jsonl, line 2: .*{message}"):
        list(conversations(path))


def test_a_session_that_is_there_twice() -> None:
    with pytest.raises(InputError, match="twice"):
        list(conversations([TWO[0], TWO[0]]))


def test_splits() -> None:
    assert one_split({"validation": TWO}) is TWO
    with pytest.raises(UsageError, match="2 splits: train, test"):
        one_split({"train": TWO, "test": TWO})


@pytest.mark.parametrize("form", ["feature", "list", "plain"])
def test_vocabularies_that_are_declared(form: str) -> None:
    label = SimpleNamespace(names=["animal", "book", "food"])
    held = {"domain": label, "query": SimpleNamespace(dtype="string")}
    turns: Any = {"feature": SimpleNamespace(feature=held), "list": [held], "plain": held}[form]
    found = prepare_feature_vocabularies(LikeHuggingFace(TWO, {"turns": turns}))
    assert found == {"domain": ["animal", "book", "food"]}
    assert convert_domain_indices_to_names([2, 0, [1], 9, None, "own"], found) == [
        "food",
        "animal",
        "book",
        "other",
        "other",
        "own",
    ]


def test_vocabularies_that_are_texts() -> None:
    rows = [conversation("a", ("q", "g")), conversation("b", ("q", "g"))]
    rows[0]["turns"][0]["domain"] = "food"
    rows[1]["turns"][0]["domain"] = "book"
    assert prepare_feature_vocabularies(rows) == {"domain": ["book", "food"]}
    assert prepare_feature_vocabularies(TWO) == {}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Hello, World!", "hello world"),
        ("I don't know", "i dont know"),
        ("¿Qué CANCIÓN es?", "qué canción es"),
        ("3.5 %", "35 "),
        ("", ""),
    ],
)
def test_clean_text(text: str, clean: str) -> None:
    assert clean_text(text) == clean

"""A real small model behind a real server labels 200 claims, English and Spanish: it can be read, and makes sense.

200 calls of a second or two each. `make test-slow` installs the model.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from ragmeter import Evaluation, Judge, evaluate
from tests.conftest import DATA
from tests.model_server import qwen

pytestmark = pytest.mark.slow

CLAIMS = 200


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with qwen(tmp_path_factory.mktemp("model")) as address:
        yield address


def rows(language: str, count: int) -> list[dict[str, Any]]:
    """A passage of two sentences, and a claim: every other time its first sentence, else one of another passage."""
    passages: dict[str, dict[str, str]] = {}
    with gzip.open(DATA / "controlled.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["language"] == language and line["kind"] in ("gold in its sentence", "another sentence"):
                passages.setdefault(line["question"], {})[line["kind"]] = line["answer"].strip("\ufeff")
    both = [pair for pair in passages.values() if len(pair) == 2]
    step = len(both) // count
    made = []
    for number in range(count):
        first, second = both[number * step].values()
        is_supported = number % 2 == 0
        other = both[(number * step + len(both) // 2) % len(both)]["gold in its sentence"]
        made.append(
            {
                "qid": f"{language}{number}",
                "answer": "It is as follows.",
                "contexts": [f"{first} {second}"],
                "claims": [first if is_supported else other],
                "is_supported": is_supported,
            }
        )
    return made


@pytest.fixture(scope="module")
def labelled(url: str, tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    table = [*rows("en", CLAIMS // 2), *rows("es", CLAIMS // 2)]
    judge = Judge("qwen", url, "no-key", claims_per_call=1, tries=1, workers=1, check=False, timeout=600)
    return evaluate(table, metrics="faithfulness", judge=judge, output_dir=tmp_path_factory.mktemp("runs"))


def test_at_most_two_in_a_hundred_labels_are_unreadable(labelled: Evaluation) -> None:
    result = labelled["faithfulness"]
    assert result.n_total == CLAIMS
    assert set(result.n_not_scored) <= {"unparsable"}
    assert result.n_not_scored.get("unparsable", 0) <= 0.02 * CLAIMS


@pytest.mark.parametrize("language", ["en", "es"])
def test_it_tells_what_is_there_from_what_is_not(labelled: Evaluation, language: str) -> None:
    frame = labelled.to_pandas()
    own = frame[frame["qid"].str.startswith(language) & frame["faithfulness"].notna()]
    agreed = (own["faithfulness"] == 1) == (own["is_supported"] == "true")
    assert agreed.mean() >= 0.75

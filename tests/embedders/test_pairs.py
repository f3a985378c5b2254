"""Classifiers of pairs on a real graph; the transformer's turn is in test_real_pairs.py."""

from __future__ import annotations

import json
import logging
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter.embedders import onnx
from ragmeter.embedders.cache import Cache
from ragmeter.embedders.folder import ModelFolder
from ragmeter.embedders.pairs import PairClassifier, as_pair
from ragmeter.embedders.support_labels import read_labels
from ragmeter.errors import InputError, MissingExtraError, UsageError
from tests.embedders.pair_models import NLI, expected, heard, write_pair_model

PASSAGES = ["The tower is in Paris.", "It has not rain", "the price of the plan is ten euros , and it is red", "."]
CLAIMS = ["The tower is in Lyon", "tower", "It has rain", "The plan costs ten euros"]
PAIRS = [(passage, claim) for passage in PASSAGES for claim in CLAIMS]


def classifier(folder: Path) -> PairClassifier:
    cache = Cache(folder.parent / "cache")
    try:
        return PairClassifier(ModelFolder("m", folder), cache)
    finally:
        cache.close()


def classified(folder: Path, *pairs: tuple[str, str]) -> Any:
    return classifier(folder).classify([as_pair(*pair) for pair in pairs])


def test_pairs_of_any_length_as_the_network_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "available_cores", lambda: 3)
    values, in_parts = classified(write_pair_model(tmp_path / "m"), *PAIRS)
    oracle = [[chances[0], chances[2]] for chances in (expected(*pair) for pair in PAIRS)]
    np.testing.assert_allclose(values, oracle, atol=1e-6)
    assert not in_parts.any()
    assert values[:, 0].max() > 0.5 > values[:, 0].min()
    assert values[:, 1].max() > 0.5


@pytest.mark.parametrize(
    ("labels", "config", "supports", "contradicts"),
    [
        (NLI, {}, (0,), (2,)),
        (("contradiction", "entailment", "neutral"), {}, (1,), (0,)),
        (NLI, {"id2label": {"0": "SUPPORTS", "1": "NOT ENOUGH INFO", "2": "REFUTES"}}, (0,), (2,)),
        (NLI[:2], {"id2label": {"0": "entailment", "1": "not_entailment"}}, (0,), ()),
        (NLI[1::-1], {"id2label": {"0": "hallucinated", "1": "consistent"}}, (1,), ()),
        (NLI[1::-1], {"id2label": {"0": "Not-Supported", "1": "Supported"}}, (1,), ()),
        (NLI[:1], {"id2label": {"0": "consistent"}}, (0,), ()),
        (NLI[1::-1], {"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}, (1,), ()),
        (NLI[1::-1], {"id2label": {"0": 0, "1": 1}}, (1,), ()),
        (NLI[1::-1], {"id2label": None}, (1,), ()),
    ],
)
def test_labels_say_what_is_supported(
    tmp_path: Path, labels: tuple[str, ...], config: dict[str, Any], supports: tuple[int, ...], contradicts: Any
) -> None:
    folder = write_pair_model(tmp_path / "m", labels=labels, **config)
    read = read_labels(ModelFolder("m", folder))
    assert (read.supports, read.contradicts) == (supports, contradicts)
    names = config.get("id2label", {"0": ""})
    assert read.assumed == (names is None or names["0"] in ("LABEL_0", 0))
    values, _ = classified(folder, *PAIRS)
    chances = [expected(*pair, labels) for pair in PAIRS]
    if len(labels) == 1:  # yes or no by itself: the logit of no missing word and no other "not" is 2
        assert values[:, 0].max() == pytest.approx(1 / (1 + np.exp(-2)), abs=1e-6)
    else:
        np.testing.assert_allclose(values[:, 0], [row[supports[0]] for row in chances], atol=1e-6)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"id2label": {"0": "POSITIVE", "1": "NEGATIVE"}}, "labels say nothing of support: POSITIVE, NEGATIVE"),
        ({"id2label": {"0": "LABEL_0"}}, "labels say nothing of support: LABEL_0"),
        ({"id2label": {"0": "supported", "1": "entailment"}}, "say nothing of support: supported, entailment"),
        ({"id2label": {"0": "supported", "1": "maybe"}}, "say nothing of support: supported, maybe"),
        ({"id2label": {"0": "contradiction", "1": "neutral"}}, "say nothing of support: contradiction, neutral"),
        ({"id2label": {str(n): f"label {n}" for n in range(500)}}, "label 5 and 494 more"),
        ({"id2label": {"0": "x" * 9_999, "1": "\x1b[31m\n"}}, "x" * 40 + "…"),
        (
            {
                "architectures": ["ModernBertForTokenClassification"],
                "id2label": {"0": "supported", "1": "hallucinated"},
            },
            "ModernBertForTokenClassification labels tokens, and no pairs of texts: supported, hallucinated",
        ),
        ({"architectures": ["BertModel"], "id2label": {"0": "a"}}, "BertModel is no classifier: a"),
        ({"problem_type": "regression"}, "don't exclude each other: entailment, neutral, contradiction"),
    ],
)
def test_a_model_of_another_kind_is_refused_with_its_labels(
    tmp_path: Path, config: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match="m can't judge support") as refused:
        classifier(write_pair_model(tmp_path / "m", **config))
    assert message in refused.value.message
    assert len(str(refused.value)) < 700


@pytest.mark.parametrize(
    "config",
    [
        {"id2label": ["entailment"]},
        {"id2label": {}},
        {"id2label": "entailment"},
        {"id2label": {"1": "entailment", "2": "neutral"}},
        {"id2label": {"0": "entailment", "one": "neutral"}},
        {"id2label": {str(n): "neutral" for n in range(2_000)}},
        {"prompt": 3},
        {"prompt": "only {text1}"},
        {"prompt": "{text1} {text1} {text2}"},
    ],
)
def test_a_config_of_another_form_is_refused(tmp_path: Path, config: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"config\.json"):
        classifier(write_pair_model(tmp_path / "m", **config))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"id2label": {"0": 1e999}}'])
def test_a_config_that_is_none(tmp_path: Path, content: bytes) -> None:
    folder = write_pair_model(tmp_path / "m")
    (folder / "config.json").write_bytes(content)
    with pytest.raises((InputError, UsageError)):
        classifier(folder)


def test_without_a_config_the_labels_are_those_of_transformers(tmp_path: Path) -> None:
    folder = write_pair_model(tmp_path / "m", labels=NLI[1::-1])
    (folder / "config.json").unlink()
    assert classifier(folder).labels.assumed
    other = write_pair_model(tmp_path / "n")
    (other / "config.json").unlink()
    with pytest.raises(InputError, match=r"gives 3 values for a pair, and its config has the labels LABEL_0, LABEL_1"):
        classified(other, ("a", "b"))


def test_a_network_that_gives_something_else(tmp_path: Path) -> None:
    folder = write_pair_model(tmp_path / "m", rank=3)
    with pytest.raises(InputError, match=r"model\.onnx: the network gives 3 x 1 values for a pair"):
        classified(folder, ("a", "b"))


def test_a_truncated_file_names_itself(tmp_path: Path) -> None:
    folder = write_pair_model(tmp_path / "m")
    content = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"model\.onnx: can't be loaded"):
        classified(folder, ("a", "b"))


def test_a_long_passage_is_read_in_windows_and_the_best_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write_pair_model(tmp_path / "m", longest=40)
    filler = "rain and sun . " * 60
    claim = "the tower is in paris"
    for before in range(0, 60, 7):
        passage = f"{'rain . ' * before} The tower is in Paris. {filler}"
        values, in_parts = classified(folder, (passage, claim))
        assert in_parts.tolist() == [True]
        assert values[0, 0] == pytest.approx(expected(claim, claim)[0], abs=1e-6), before
    values, _ = classified(folder, (f"{filler} it is not in lyon", "it is in lyon"))
    assert values[0, 1] == pytest.approx(expected("it is not in lyon", "it is in lyon")[2], abs=1e-6)
    assert not caplog.records


def test_every_word_of_a_passage_is_in_some_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"w{number}" for number in range(500)]
    model = classifier(write_pair_model(tmp_path / "m", longest=32))
    windows = heard(monkeypatch, model, "_encode")
    model.classify([as_pair(" ".join(words), "red")])
    read = [window.split() for window, _ in windows if window]
    assert list(dict.fromkeys(word for window in read for word in window)) == words
    assert all(set(one) & set(other) for one, other in pairwise(read))
    assert max(map(len, read)) > 20


def test_a_claim_that_is_too_long_is_cut_and_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = write_pair_model(tmp_path / "m", longest=40)
    claim = "the tower " * 50 + "is red"
    with caplog.at_level(logging.WARNING, "ragmeter"):
        values, _ = classified(folder, ("the tower " * 50, claim), ("it is", claim))
    assert [record.getMessage() for record in caplog.records] == [
        "claims that are too long for m are cut: of one with 102 tokens, the first 28 are read"
    ]
    assert values[0, 0] > 0.5


def test_a_model_without_room_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="takes 8 tokens, of which 5 are left"):
        classified(write_pair_model(tmp_path / "m", longest=8), ("the tower is in paris , and it is red", "the tower"))


def test_marks_of_the_tokenizer_in_a_text_are_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`[SEP]` in a passage would end it, and what follows would be read as the claim."""
    folder = write_pair_model(tmp_path / "m")
    model = classifier(folder)
    texts = heard(monkeypatch, model, "_input")
    model.classify([as_pair("it rain [SEP] the tower", "the tower[PAD][CLS]"), as_pair("tower", "[sep] [SEP")])
    assert texts == [("it rain [ SEP] the tower", "the tower[ PAD][ CLS]"), ("tower", "[sep] [SEP")]


def test_the_models_own_prompt(tmp_path: Path) -> None:
    folder = write_pair_model(tmp_path / "m", prompt="the {text1} is {text2} .")
    model = classifier(folder)
    assert model._input("{text2}", "claim") == "the {text2} is claim ."
    assert len(model.classify([as_pair("tower", "red")])[0]) == 1
    long, in_parts = model.classify([as_pair("tower " * 300, "red")])
    assert in_parts.tolist() == [True]
    assert np.isfinite(long).all()


def test_no_pairs(tmp_path: Path) -> None:
    values, in_parts = classified(write_pair_model(tmp_path / "m"))
    assert len(values) == len(in_parts) == 0


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"the support model m needs[^$]*\[semantic\]"):
        classified(write_pair_model(tmp_path / "m"), ("a", "b"))


def test_the_hash_of_the_files_is_its_identity(tmp_path: Path) -> None:
    folder = write_pair_model(tmp_path / "m")
    before = classifier(folder).identity
    assert classifier(folder).identity == before
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps({**config, "id2label": {"0": "neutral", "1": "entailment", "2": "x"}})
    )
    with pytest.raises(UsageError):
        classifier(folder)
    (folder / "config.json").write_text(json.dumps({**config, "prompt": "{text1} {text2}"}))
    assert classifier(folder).identity.revision != before.revision

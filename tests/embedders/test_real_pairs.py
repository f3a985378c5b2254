"""A small transformer for pairs, made here, beside PyTorch's own numbers. `make test-slow` installs what this needs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragmeter.embedders.cache import Cache
from ragmeter.embedders.folder import ModelFolder
from ragmeter.embedders.pairs import PairClassifier, as_pair
from tests.embedders.pair_models import NLI, heard, tokenizer

# What PyTorch and its friends warn of is theirs.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

_NAMES = ["input_ids", "attention_mask", "token_type_ids"]
_LONGEST = 64
PAIRS = [
    ("The tower is in Paris.", "The tower is in Lyon"),
    ("rain", "the sun is red and it was built in Berlin , the price of the plan is ten euros a month"),
    ("It has not rain of the nine rivers, and on one day it was blue." * 2, "it has rain"),
    *((f"the price is {number} euros " * 3, f"{number} dollars") for number in ("one", "two", "three", "four")),
]


@pytest.fixture(scope="module")
def network() -> Any:
    """A BERT with random weights: large ones, so that its labels differ."""
    if find_spec("transformers") is None or find_spec("torch") is None or find_spec("onnxscript") is None:
        pytest.skip("PyTorch is not installed: make test-slow installs it")
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(7)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    labels = {"id2label": dict(enumerate(NLI)), "label2id": {name: number for number, name in enumerate(NLI)}}
    config = BertConfig(
        vocab_size=tokenizer().get_vocab_size(),
        max_position_embeddings=_LONGEST,
        initializer_range=0.5,
        **sizes,
        **labels,
    )
    return BertForSequenceClassification(config).eval()


@pytest.fixture(scope="module")
def folder(network: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    path = tmp_path_factory.mktemp("pairs") / "bert"
    network.config.save_pretrained(path)
    tokenizer().save(str(path / "tokenizer.json"))

    class Logits(torch.nn.Module):  # type: ignore[misc]
        """The logits alone, by the names that exporters use."""

        def __init__(self) -> None:
            super().__init__()
            self.network = network

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            given = {"attention_mask": attention_mask, "token_type_ids": token_type_ids}
            return self.network(input_ids, **given).logits

    sample = torch.arange(4, 20).reshape(2, 8)
    axes = {0: torch.export.Dim("batch", min=1, max=4096), 1: torch.export.Dim("tokens", min=2, max=_LONGEST)}
    torch.onnx.export(
        Logits(),
        (sample, torch.ones_like(sample), torch.zeros_like(sample)),
        path / "model.onnx",
        input_names=_NAMES,
        output_names=["logits"],
        dynamic_shapes=dict.fromkeys(_NAMES, axes),
        dynamo=True,
        verbose=False,
    )
    return path


def oracle(network: Any, passage: str, claim: str) -> tuple[float, float]:
    """PyTorch's probabilities of entailment and contradiction for one pair by itself."""
    import torch

    encoded = tokenizer().encode(passage, claim)
    values = (encoded.ids, encoded.attention_mask, encoded.type_ids)
    with torch.no_grad():
        given = {name: torch.tensor([value]) for name, value in zip(_NAMES, values, strict=True)}
        chances = torch.softmax(network(**given).logits, dim=-1)[0].tolist()
    return chances[0], chances[2]


def classifier(folder: Path, tmp_path: Path) -> PairClassifier:
    return PairClassifier(ModelFolder("bert", folder), Cache(tmp_path))


def test_onnx_gives_the_probabilities_of_pytorch(network: Any, folder: Path, tmp_path: Path) -> None:
    values, in_parts = classifier(folder, tmp_path).classify([as_pair(*pair) for pair in PAIRS])
    assert not in_parts.any()
    np.testing.assert_allclose(values, [oracle(network, *pair) for pair in PAIRS], atol=1e-4)
    assert np.ptp(values[:, 0]) > 0.1  # it tells them apart


def test_a_long_passage_has_the_best_of_its_windows(
    network: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = classifier(folder, tmp_path)
    windows = heard(monkeypatch, model, "_encode")
    passage = " ".join(text for pair in PAIRS for text in pair)
    values, in_parts = model.classify([as_pair(passage, "the tower is red"), as_pair("rain", "the tower is red")])
    assert in_parts.tolist() == [True, False]
    chances = [oracle(network, window, "the tower is red") for window, _ in windows if window]
    assert len(chances) > 2
    np.testing.assert_allclose(values[0], np.max(chances, axis=0), atol=1e-4)

"""A small classifier of pairs in the form of a big one: an ONNX graph that compares the words of two texts.

It says entailment where the passage has all of the claim's words, contradiction where one of the two says "not", and
neutral where a word is missing. `expected` is the same in plain Python.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from ragmeter.embedders.pairs import PairClassifier

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
_WORDS = """
    not the a an is was of and in on it has costs built opened tower paris lyon berlin river rain sun red green blue
    one two three four five six seven eight nine ten euros dollars year month day plan price bananas plants grow . ,
"""
NLI = ("entailment", "neutral", "contradiction")
_VOCABULARY = {word: number for number, word in enumerate([*SPECIAL, *_WORDS.split()])}
_NOT = _VOCABULARY["not"]
#: For each label what it starts from, what each missing word adds, and what a "not" on one side alone adds.
_WEIGHTS = {"entailment": (2.0, -3.0, -6.0), "neutral": (0.5, 1.0, -1.0), "contradiction": (-2.0, -0.5, 7.0)}


def tokenizer() -> Tokenizer:
    """Words in small letters; a pair as [CLS] passage [SEP] claim [SEP]."""
    made = Tokenizer(WordLevel(_VOCABULARY, unk_token=SPECIAL[1]))
    made.normalizer = Lowercase()
    made.pre_tokenizer = Whitespace()
    made.add_special_tokens(list(SPECIAL))
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", _VOCABULARY["[CLS]"]), ("[SEP]", _VOCABULARY["[SEP]"])],
    )
    return made


def _graph(labels: Sequence[str], rank: int) -> Any:
    """The bags of both sides, their difference, and one linear layer over it."""
    size = len(_VOCABULARY)
    one_hot = np.eye(size, dtype=np.float32)
    one_hot[[_VOCABULARY[word] for word in (*SPECIAL, ".", ",")]] = 0
    words = np.ones((size, 1), dtype=np.float32)
    words[_NOT] = 0
    only_not = np.zeros((size, 1), dtype=np.float32)
    only_not[_NOT] = 1
    start, missing, negated = (np.array([[_WEIGHTS[label][i] for label in labels]], np.float32) for i in range(3))
    constants = {
        "one_hot": one_hot, "words": words, "only_not": only_not, "start": start, "missing": missing,
        "negated": negated, "one": np.ones(1, dtype=np.float32), "last": np.array([2], dtype=np.int64),
    }  # fmt: skip
    node = helper.make_node
    nodes = [
        node("Gather", ["one_hot", "input_ids"], ["tokens"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        node("Sub", ["one", "second"], ["first"]),
        *(
            made
            for side in ("first", "second")
            for made in (
                node("Mul", [side, "mask"], [f"{side}_mask"]),
                node("Unsqueeze", [f"{side}_mask", "last"], [f"{side}_wide"]),
                node("Mul", ["tokens", f"{side}_wide"], [f"{side}_tokens"]),
                node("ReduceMax", [f"{side}_tokens"], [f"{side}_bag"], axes=[1], keepdims=0),
            )
        ),
        node("Sub", ["second_bag", "first_bag"], ["difference"]),
        node("Relu", ["difference"], ["lacking"]),
        node("MatMul", ["lacking", "words"], ["n_missing"]),
        node("Abs", ["difference"], ["differing"]),
        node("MatMul", ["differing", "only_not"], ["n_negated"]),
        node("MatMul", ["n_missing", "missing"], ["by_missing"]),
        node("MatMul", ["n_negated", "negated"], ["by_negation"]),
        node("Add", ["by_missing", "by_negation"], ["by_both"]),
        node("Add", ["by_both", "start"], ["logits" if rank == 2 else "flat"]),
    ]
    if rank == 3:
        nodes.append(node("Unsqueeze", ["flat", "last"], ["logits"]))
    names = ("input_ids", "attention_mask", "token_type_ids")
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in names]
    result = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", *[None] * (rank - 1)])
    made = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "compare", given, [result], made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def write_pair_model(
    folder: Path, *, labels: Sequence[str] = NLI, longest: int = 64, rank: int = 2, **config: Any
) -> Path:
    """A whole model in a folder; `labels` are those of the network, and of the config unless it says otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_graph(labels, rank), folder / "model.onnx")
    tokenizer().save(str(folder / "tokenizer.json"))
    content = {
        "architectures": ["BertForSequenceClassification"],
        "id2label": {str(number): label for number, label in enumerate(labels)},
        "max_position_embeddings": longest,
        "pad_token_id": 0,
        **config,
    }
    (folder / "config.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def expected(passage: str, claim: str, labels: Sequence[str] = NLI) -> list[float]:
    """The probability of each label for a pair that fits the network, by the plainest code."""
    first, second = (set(re.findall(r"\w+", text.lower())) for text in (passage, claim))
    n_missing, n_negated = len(second - first - {"not"}), int(("not" in first) != ("not" in second))
    logits = [_WEIGHTS[label][0] + n_missing * _WEIGHTS[label][1] + n_negated * _WEIGHTS[label][2] for label in labels]
    total = sum(map(math.exp, logits))
    return [math.exp(logit) / total for logit in logits]


def heard(monkeypatch: pytest.MonkeyPatch, model: PairClassifier, method: str) -> list[tuple[str, str]]:
    """The pairs that one of a classifier's own methods is called with from now on."""
    pairs: list[tuple[str, str]] = []
    work = getattr(model, method)

    def note(passage: str, claim: str) -> Any:
        pairs.append((passage, claim))
        return work(passage, claim)

    monkeypatch.setattr(model, method, note)
    return pairs

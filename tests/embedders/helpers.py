"""A small real model in the form of a big one: wordllama's vectors as an ONNX graph, in a folder like any other."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from tests.conftest import load_pairs

_SPEC = find_spec("wordllama")
assert _SPEC is not None
PACKAGE = Path(str(_SPEC.origin)).parent
TOKENIZER = PACKAGE / "tokenizers" / "l2_supercat_tokenizer_config.json"
MEAN = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True, "include_prompt": True}
CLS = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}


def texts() -> list[str]:
    """Real texts, short and long, each once."""
    pairs = (load_pairs("evouna.jsonl"), load_pairs("ragchecker.jsonl"), load_pairs("xquad.jsonl"))
    stripped = [text.strip() for sides in pairs for side in sides for text in side[:60]]
    return [text for text in dict.fromkeys(stripped) if text]


def weights() -> npt.NDArray[np.float32]:
    """The vectors of the tokens."""
    vectors: npt.NDArray[Any] = load_file(PACKAGE / "weights" / "l2_supercat_256.safetensors")["embedding.weight"]
    return vectors.astype(np.float32)


def write_model(
    folder: Path,
    *,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    kind: int = TensorProto.INT64,
    output: str = "last_hidden_state",
) -> None:
    """A graph that looks the tokens' vectors up; `sentence_embedding` also takes their plain mean."""
    table = numpy_helper.from_array(weights(), "table")
    given = [helper.make_tensor_value_info(name, kind, ["batch", "tokens"]) for name in inputs]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    shape: list[Any] = ["batch", "tokens", 256]
    if output == "sentence_embedding":
        nodes.append(helper.make_node("ReduceMean", ["last_hidden_state"], [output], axes=[1], keepdims=0))
        shape = ["batch", 256]
    result = helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "lookup", given, [result], [table])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")


def write_folder(
    folder: Path, *, pooling: dict[str, Any] = MEAN, normalize: bool = False, longest: int = 512, **model: Any
) -> Path:
    """A whole model, with the files that say how it is used."""
    write_model(folder / "onnx", **model)
    (folder / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    modules = [("", "Transformer"), ("1_Pooling", "Pooling"), *([("2_Normalize", "Normalize")] if normalize else [])]
    parts = [{"idx": i, "path": path, "type": f"x.models.{name}"} for i, (path, name) in enumerate(modules)]
    (folder / "1_Pooling").mkdir()
    for name, content in (
        ("modules.json", parts),
        ("1_Pooling/config.json", {"word_embedding_dimension": 256, **pooling}),
        ("sentence_bert_config.json", {"max_seq_length": longest, "do_lower_case": False}),
        ("config.json", {"model_type": "bert", "pad_token_id": 2, "max_position_embeddings": 512}),
    ):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def expected(many: list[str], *, longest: int = 512, first: bool = False) -> npt.NDArray[np.float32]:
    """What the folder's model should give: one text at a time, by the plainest code."""
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    table = weights()
    ids = [tokenizer.encode(text).ids[:longest] for text in many]
    return np.stack([table[tokens[0]] if first else table[tokens].mean(axis=0) for tokens in ids])

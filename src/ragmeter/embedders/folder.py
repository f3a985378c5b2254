"""A model's folder: where it is, and how its files say that the model is used."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmeter.errors import InputError, UsageError
from ragmeter.io.decoding import JsonObject

if TYPE_CHECKING:
    from ragmeter.embedders.cache import Cache

TOKENIZER = "tokenizer.json"
DOWNLOAD_AGAIN = "download the model's files again"
#: Configuration files; all of them count for the revision.
CONFIGS = (
    "config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
    "special_tokens_map.json",
    TOKENIZER,
    "tokenizer_config.json",
)
_POOLING = "1_Pooling"
_HUB_NAME = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)?")
_NO_LIMIT = 1_000_000  # tokenizers without a limit give some huge number
_WEIGHTS = ("*.safetensors", "*.bin", "*.model", "*.txt", "*.json")


@dataclass(frozen=True)
class ModelFolder:
    """A folder with a model's files. From the hub it has a `commit`; others are identified by a hash of their files."""

    name: str
    path: Path
    commit: str | None = None

    @cached_property
    def onnx_file(self) -> Path | None:
        """The ONNX file, where exporters put it; with any name if it is the only one."""
        for usual in ("onnx/model.onnx", "model.onnx"):
            if (self.path / usual).is_file():
                return self.path / usual
        others = [*self.path.glob("*.onnx"), *self.path.glob("onnx/*.onnx")]
        return others[0] if len(others) == 1 else None

    def lacks_for_onnx(self) -> str:
        """Which file ONNX Runtime lacks to run this model at all; empty if none."""
        if self.onnx_file is None:
            return "it has no ONNX file (model.onnx or onnx/model.onnx)"
        return "" if (self.path / TOKENIZER).is_file() else f"it has no {TOKENIZER}"

    def unfit_for_onnx(self) -> str:
        """Why ONNX Runtime can't compute this model's vectors; empty if it can."""
        if reason := self.lacks_for_onnx():
            return reason
        kinds = {module.get("type", "").rpartition(".")[2] for module in self._read("modules.json", [])}
        if more := kinds - {"Transformer", "Pooling", "Normalize"}:
            return f"it has layers that an ONNX file leaves out: {', '.join(sorted(more))}"
        if self.pooling is None:
            return "its pooling is neither the mean of the tokens nor the first one"
        return ""

    @cached_property
    def config(self) -> dict[str, Any]:
        """What config.json says of the network; empty where there is none."""
        config: dict[str, Any] = self._read("config.json", {})
        return config

    @cached_property
    def pooling(self) -> str | None:
        """`mean` or `cls`; None for others, which only sentence-transformers supports."""
        config = self._read(f"{self._module('Pooling') or _POOLING}/config.json", {})
        if "pooling_mode" in config:  # a text, or a list of several
            named = config["pooling_mode"]
            modes = {named} if isinstance(named, str) else set(named)
        else:
            flag = "pooling_mode_"
            modes = {key.removeprefix(flag) for key, value in config.items() if value is True and key.startswith(flag)}
        known = {"mean": "mean", "mean_tokens": "mean", "cls": "cls", "cls_token": "cls"}
        return known.get(modes.pop()) if len(modes) == 1 else None if modes else "mean"

    @cached_property
    def normalized(self) -> bool:
        """Whether the model normalizes its vectors to length 1."""
        return self._module("Normalize") is not None

    @cached_property
    def longest(self) -> int | None:
        """The most tokens that the model takes, special tokens included."""
        limits = (
            self._sentence.get("max_seq_length"),
            self._read("tokenizer_config.json", {}).get("model_max_length"),
            self._positions(),
        )
        given = (int(limit) for limit in limits if isinstance(limit, int | float) and 0 < limit < _NO_LIMIT)
        return next(given, None)

    def _positions(self) -> int | None:
        """The model's position embeddings. In RoBERTa models, positions start after the padding token's id."""
        places = self.config.get("max_position_embeddings")
        if isinstance(places, int) and "roberta" in str(self.config.get("model_type")):
            return places - 1 - self.padding
        return places if isinstance(places, int) else None

    @property
    def padding(self) -> int:
        """The id of the padding token."""
        token = self.config.get("pad_token_id")
        return token if isinstance(token, int) else 0

    @property
    def lower_case(self) -> bool:
        """Whether texts are lower-cased first."""
        return self._sentence.get("do_lower_case") is True

    @property
    def prompt(self) -> str:
        """The model's default prompt, which is put before every text."""
        config = self._read("config_sentence_transformers.json", {})
        prompts, chosen = config.get("prompts"), config.get("default_prompt_name")
        return str(prompts.get(chosen) or "") if isinstance(prompts, dict) and chosen else ""

    @property
    def _sentence(self) -> JsonObject:
        config: JsonObject = self._read("sentence_bert_config.json", {})
        return config

    def _module(self, kind: str) -> str | None:
        """The folder of one of the model's modules."""
        for module in self._read("modules.json", []):
            if module.get("type", "").rpartition(".")[2] == kind:
                return str(module.get("path") or "")
        return None

    def _read(self, name: str, default: Any) -> Any:
        """A JSON file of the folder. `default` is for a missing file, and gives the expected type."""
        path = self.path / name
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return default
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"can't be read: {error}", file=str(path), hint=DOWNLOAD_AGAIN) from None
        if not isinstance(content, type(default)) or (isinstance(content, list) and not all(map(_is_object, content))):
            expected = "a list of objects" if isinstance(default, list) else "an object"
            raise InputError(f"{expected} is expected", file=str(path), hint=DOWNLOAD_AGAIN)
        return content

    def revision(self, cache: Cache, *, onnx: bool) -> str:
        """The hub's commit, or a hash of the files that the vectors depend on."""
        if self.commit is not None:
            return self.commit
        files = {path for name in CONFIGS if (path := self.path / name).is_file()}
        files |= set(self.path.glob("*_Pooling/config.json"))
        if onnx and self.onnx_file is not None:  # big models have their weights in a second file
            files |= set(self.onnx_file.parent.glob(f"{self.onnx_file.stem}*"))
        else:
            files |= {path for pattern in _WEIGHTS for path in self.path.rglob(pattern) if path.is_file()}
        return _hash(self.path, sorted(files), cache)


@dataclass(frozen=True)
class ModelKind:
    """A kind of model for messages: its title, the parameter that names one, an example, and what else may be named.

    `lacks` says why a folder is none that ONNX Runtime can run; empty if it can.
    """

    title: str
    option: str
    example: str
    also: str
    lacks: Callable[[ModelFolder], str]


EMBEDDING = ModelKind(
    "embedding model",
    "embedding_model",
    "intfloat/multilingual-e5-base",
    ", openai:NAME for an endpoint, or wordllama",
    ModelFolder.unfit_for_onnx,
)


def find(model: str, kind: ModelKind = EMBEDDING) -> ModelFolder:
    """A model by its folder, or by its name on the hub."""
    path = Path(model).expanduser()
    if model and path.is_dir():
        return ModelFolder(model, path)
    if not _HUB_NAME.fullmatch(model) or path.exists():
        hint = f"give a folder that has one, {'' if kind.also else 'or '}a name on the hub such as {kind.example}"
        raise UsageError(f"there is no {kind.title} {model!r}", hint=hint + kind.also)
    from ragmeter.embedders import hub

    fetched = hub.fetch(model, kind)
    return ModelFolder(model, fetched, fetched.name)


def with_weights(model: ModelFolder) -> ModelFolder:
    """The model with the weights that sentence-transformers needs; those of a hub's model are fetched."""
    if model.commit is None:
        return model
    from ragmeter.embedders import hub

    path = hub.fetch_weights(model.name)
    return ModelFolder(model.name, path, path.name)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _hash(root: Path, files: list[Path], cache: Cache) -> str:
    """A hash of the files' contents; cached as long as sizes and times are the same."""
    states = [(str(path.resolve()), path.stat()) for path in files]
    key = json.dumps([(name, state.st_size, state.st_mtime_ns) for name, state in states])

    def compute() -> str:
        combined = hashlib.sha256()
        for path in files:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            combined.update(f"{path.relative_to(root).as_posix()}\0{digest}\n".encode())
        return f"sha256:{combined.hexdigest()[:32]}"

    return cache.remembered(key, compute)

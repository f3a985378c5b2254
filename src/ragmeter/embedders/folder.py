"""A model's folder: where it is, and what its files say about how the model is to be used."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmeter.errors import InputError, UsageError

if TYPE_CHECKING:
    from ragmeter.embedders.cache import Cache

TOKENIZER = "tokenizer.json"
#: Small files that say how a model is used; all of them count for its revision.
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
_NO_LIMIT = 1_000_000  # what tokenizers say that have no longest text is some huge number
_WEIGHTS = ("*.safetensors", "*.bin", "*.model", "*.txt", "*.json")


@dataclass(frozen=True)
class ModelFolder:
    """A folder with a model's files. From the hub it has a `commit`; another is known by a hash of its files."""

    name: str
    path: Path
    commit: str | None = None

    @cached_property
    def onnx_file(self) -> Path | None:
        """The ONNX file, where the exporters put it. One alone may have any name."""
        for usual in ("onnx/model.onnx", "model.onnx"):
            if (self.path / usual).is_file():
                return self.path / usual
        others = [*self.path.glob("*.onnx"), *self.path.glob("onnx/*.onnx")]
        return others[0] if len(others) == 1 else None

    def unfit_for_onnx(self) -> str:
        """Why ONNX Runtime can't give this model's vectors, or nothing."""
        if self.onnx_file is None:
            return "it has no ONNX file (model.onnx or onnx/model.onnx)"
        if not (self.path / TOKENIZER).is_file():
            return f"it has no {TOKENIZER}"
        kinds = {each.get("type", "").rpartition(".")[2] for each in self._read("modules.json", [])}
        if more := kinds - {"Transformer", "Pooling", "Normalize"}:
            return f"it has layers that an ONNX file leaves out: {', '.join(sorted(more))}"
        if self.pooling is None:
            return "its pooling is neither the mean of the tokens nor the first one"
        return ""

    @cached_property
    def pooling(self) -> str | None:
        """`mean` or `cls`; None for what only sentence-transformers does."""
        found = self._read(f"{self._module('Pooling') or _POOLING}/config.json", {})
        if "pooling_mode" in found:  # one word, or several in a list
            named = found["pooling_mode"]
            modes = {named} if isinstance(named, str) else set(named)
        else:
            flag = "pooling_mode_"
            modes = {key.removeprefix(flag) for key, value in found.items() if value is True and key.startswith(flag)}
        known = {"mean": "mean", "mean_tokens": "mean", "cls": "cls", "cls_token": "cls"}
        return known.get(modes.pop()) if len(modes) == 1 else None if modes else "mean"

    @cached_property
    def normalized(self) -> bool:
        """Whether the model ends with its vectors cut to length 1."""
        return self._module("Normalize") is not None

    @cached_property
    def longest(self) -> int | None:
        """The most tokens that the model takes, its own marks at both ends included."""
        said = (
            self._sentence.get("max_seq_length"),
            self._read("tokenizer_config.json", {}).get("model_max_length"),
            self._positions(),
        )
        limits = [int(each) for each in said if isinstance(each, int | float) and 0 < each < _NO_LIMIT]
        return limits[0] if limits else None

    def _positions(self) -> int | None:
        """The places that the model has for tokens. RoBERTa and its children count theirs from the padding's on."""
        config = self._read("config.json", {})
        places = config.get("max_position_embeddings")
        if isinstance(places, int) and "roberta" in str(config.get("model_type")):
            return places - 1 - self.padding
        return places if isinstance(places, int) else None

    @property
    def padding(self) -> int:
        """The token that fills up the shorter texts of a batch."""
        found = self._read("config.json", {}).get("pad_token_id")
        return found if isinstance(found, int) else 0

    @property
    def lower_case(self) -> bool:
        """Whether texts are put in lower case first."""
        return self._sentence.get("do_lower_case") is True

    @property
    def prompt(self) -> str:
        """What the model says should stand in front of every text."""
        found = self._read("config_sentence_transformers.json", {})
        prompts, chosen = found.get("prompts"), found.get("default_prompt_name")
        return str(prompts.get(chosen) or "") if isinstance(prompts, dict) and chosen else ""

    @property
    def _sentence(self) -> dict[str, Any]:
        found: dict[str, Any] = self._read("sentence_bert_config.json", {})
        return found

    def _module(self, kind: str) -> str | None:
        """The folder of one of the model's parts."""
        for each in self._read("modules.json", []):
            if each.get("type", "").rpartition(".")[2] == kind:
                return str(each.get("path") or "")
        return None

    def _read(self, name: str, default: Any) -> Any:
        """A JSON file of the folder. The default tells its kind, and stands for a file that is not there."""
        path = self.path / name
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return default
        except (OSError, ValueError) as error:
            raise InputError(f"can't be read: {error}", file=str(path), hint="get the model's files anew") from None
        if not isinstance(found, type(default)) or (isinstance(found, list) and not all(map(_is_object, found))):
            raise InputError("is not what such a file should be", file=str(path), hint="get the model's files anew")
        return found

    def revision(self, cache: Cache, *, onnx: bool) -> str:
        """The hub's commit, or a hash of the files that the vectors depend on."""
        if self.commit is not None:
            return self.commit
        files = {path for name in CONFIGS if (path := self.path / name).is_file()}
        files |= set(self.path.glob("*_Pooling/config.json"))
        if onnx and self.onnx_file is not None:  # big models keep their weights in a second file beside the first
            files |= set(self.onnx_file.parent.glob(f"{self.onnx_file.stem}*"))
        else:
            files |= {path for pattern in _WEIGHTS for path in self.path.rglob(pattern) if path.is_file()}
        return _hash(self.path, sorted(files), cache)


def find(model: str) -> ModelFolder:
    """A model by its folder, or by its name on the hub."""
    path = Path(model).expanduser()
    if model and path.is_dir():
        return ModelFolder(model, path)
    if not _HUB_NAME.fullmatch(model) or path.exists():
        raise UsageError(
            f"there is no embedding model {model!r}",
            hint="give a folder that holds one, a name on the hub such as intfloat/multilingual-e5-base, "
            "openai:NAME for an endpoint, or wordllama",
        )
    from ragmeter.embedders import hub

    found = hub.fetch(model)
    return ModelFolder(model, found, found.name)


def with_weights(found: ModelFolder) -> ModelFolder:
    """The same model with what sentence-transformers needs of it."""
    if found.commit is None:
        return found
    from ragmeter.embedders import hub

    path = hub.fetch_weights(found.name)
    return ModelFolder(found.name, path, path.name)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _hash(root: Path, files: list[Path], cache: Cache) -> str:
    """A hash of the files' contents; of files that have not changed since, the one that was found last time."""
    states = [(str(path.resolve()), path.stat()) for path in files]
    seen = json.dumps([(name, state.st_size, state.st_mtime_ns) for name, state in states])

    def compute() -> str:
        whole = hashlib.sha256()
        for path in files:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            whole.update(f"{path.relative_to(root).as_posix()}\0{digest}\n".encode())
        return f"sha256:{whole.hexdigest()[:32]}"

    return cache.remembered(seen, compute)

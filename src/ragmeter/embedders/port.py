"""The port to embedding models, and the registry of their kinds.

wordllama                       static vectors from the package of that name; nothing is downloaded
openai:NAME                     a model behind an OpenAI-compatible endpoint
FOLDER or a name on the hub     ONNX Runtime where there is an ONNX file, else sentence-transformers
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ragmeter.errors import RagmeterWarning, UnknownNameError, UsageError, did_you_mean
from ragmeter.hints import install_command, option, parameter
from ragmeter.naming import Settings
from ragmeter.registry import Kind, find_kind

if TYPE_CHECKING:
    from ragmeter.embedders.cache import Cache
    from ragmeter.embedders.folder import ModelFolder

Vectors = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

_GROUP = "ragmeter.embedders"
STATIC = "wordllama"
SERVER = "openai:"
#: The model of the earlier tools.
SEEDS_MODEL = "intfloat/multilingual-e5-base"
#: The e5 family was trained with a prefix before every text. Here both sides are treated alike: as queries.
_E5 = re.compile(r"(?:^|[-_/\\])e5(?:[-_]|$)(?!.*instruct)", re.IGNORECASE)
_E5_PREFIX = "query: "


@dataclass(frozen=True)
class Identity:
    """Everything that vectors depend on: with the same identity, the same text always has the same vector."""

    backend: str
    model: str
    revision: str | None
    prefix: str
    endpoint: str | None = None


class Backend(Protocol):
    """Embeds texts. The model is loaded at the first text that is not in the cache."""

    @property
    def identity(self) -> Identity:
        """Everything that its vectors depend on."""

    def embed(self, texts: list[str]) -> tuple[Vectors, Flags]:
        """A vector for each text, as the model gives it, and whether the text was too long and was cut."""


def choose(model: str, base_url: str | None, prefix: str | None, cache: Cache) -> Backend:
    """The backend for a model, by its name: built in, or from an entry point in the group `ragmeter.embedders`."""
    kind = find_kind(model, KINDS, _GROUP)
    if base_url is not None and "base_url" not in kind.options:
        raise UsageError(
            f"an embedding endpoint was given, and the model {model!r} does not run behind one",
            hint=f"write the model as {SERVER}NAME, or leave {parameter('embedding_base_url')} out",
        )
    return kind.open(model, {"base_url": base_url, "prefix": prefix, "cache": cache})


def has_default_model() -> bool:
    """Whether there is a model where none is named."""
    from importlib.util import find_spec

    return find_spec(STATIC) is not None


def default_model() -> str:
    """The model that is used where none was named: the one that needs no network. A warning says so."""
    if not has_default_model():
        raise UsageError(
            "no embedding model was named",
            hint=f"name one with {option('embedding_model')}: {SEEDS_MODEL} is fetched from the hub once, a folder and "
            f"{SERVER}NAME are yours; or {install_command('static')} for {STATIC}, which needs no network",
        )
    warnings.warn(
        f"no embedding model was named: {STATIC} is used, which needs no network, and is mostly for English; "
        f"{option('embedding_model', SEEDS_MODEL)} is for many languages, and is fetched from the hub once",
        RagmeterWarning,
        stacklevel=4,
    )
    return STATIC


class _Server(Kind[Backend]):
    """A model behind an OpenAI-compatible endpoint."""

    prefix = SERVER
    options = ("base_url",)

    def open(self, given: Any, settings: Settings) -> Backend:
        from ragmeter.embedders.openai import Server

        return Server(given, settings["base_url"], settings["prefix"] or "")


class _Static(Kind[Backend]):
    """The static vectors of the package wordllama."""

    prefix = STATIC

    def opens(self, given: Any) -> bool:
        return bool(given == STATIC)

    def open(self, given: Any, settings: Settings) -> Backend:
        from ragmeter.embedders.static import WordLlama

        return WordLlama(settings["prefix"] or "")


class _Files(Kind[Backend]):
    """A model in a folder, or on the hub: whatever no other kind opens."""

    def open(self, given: Any, settings: Settings) -> Backend:
        from ragmeter.embedders import folder, sentence
        from ragmeter.embedders.onnx import OnnxModel

        _check_prefix(given)
        files = folder.find(given)
        prefix = _prefix(given, files) if settings["prefix"] is None else settings["prefix"]
        reason = files.unfit_for_onnx()
        if not reason:
            return OnnxModel(files, prefix, settings["cache"])
        if sentence.available():
            return sentence.SentenceModel(folder.with_weights(files), prefix, settings["cache"])
        raise UsageError(
            f"the embedding model {given} can't run on ONNX Runtime: {reason}",
            hint=f"pip install sentence-transformers runs it as it is; {option('embedding_model')} with a model that "
            f"has an ONNX file, or with {STATIC}, needs no PyTorch",
        )


#: The kinds that come with ragmeter; the last one takes what no other and no plugin opens.
KINDS: tuple[Kind[Backend], ...] = (_Server(), _Static(), _Files())


def _check_prefix(model: str) -> None:
    """Refuse `opnai:NAME`: no hub name has a colon, and there is no such folder."""
    prefixes = [kind.prefix for kind in KINDS if kind.prefix]
    if ":" in model and did_you_mean(model.partition(":")[0], prefixes) and not Path(model).exists():
        raise UnknownNameError("kind of embedding model", model.partition(":")[0] + ":", prefixes)


def _prefix(model: str, files: ModelFolder) -> str:
    """What is put before every text: the model's own default, or what its family is known to need."""
    return files.prompt or (_E5_PREFIX if _E5.search(model) else "")

"""The port to embedding models, and which backend a model's name stands for.

wordllama                       static vectors from the package of that name; nothing is downloaded
openai:NAME                     a model behind an OpenAI-compatible endpoint
FOLDER or a name on the hub     ONNX Runtime where there is an ONNX file, else sentence-transformers
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from ragmeter.errors import UsageError
from ragmeter.hints import option, parameter

if TYPE_CHECKING:
    from ragmeter.embedders.cache import Cache
    from ragmeter.embedders.folder import ModelFolder

Vectors = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

STATIC = "wordllama"
SERVER = "openai:"
#: The e5 family was trained with a word in front of every text. Both sides are alike here, so both are a query.
_E5 = re.compile(r"(?:^|[-_/\\])e5(?:[-_]|$)(?!.*instruct)", re.IGNORECASE)
_E5_PREFIX = "query: "


@dataclass(frozen=True)
class Identity:
    """What vectors depend on. Under the same identity the same text has the same vector, today and tomorrow."""

    backend: str
    model: str
    revision: str | None
    prefix: str
    endpoint: str | None = None


class Backend(Protocol):
    """Embeds texts. It is made without being loaded: that is left to the first text that no cache knows."""

    @property
    def identity(self) -> Identity:
        """What its vectors depend on."""

    def embed(self, texts: list[str]) -> tuple[Vectors, Flags]:
        """A vector for each text, as the model gives it, and whether the text was too long and was cut."""


def choose(model: str, base_url: str | None, prefix: str | None, cache: Cache) -> Backend:
    """The backend for a model, by its name."""
    if model.startswith(SERVER):
        from ragmeter.embedders.openai import Server

        return Server(model, base_url, prefix or "")
    if base_url is not None:
        raise UsageError(
            f"an embedding endpoint was named, and the model {model!r} does not run behind one",
            hint=f"write the model as {SERVER}NAME, or leave {parameter('embedding_base_url')} out",
        )
    if model == STATIC:
        from ragmeter.embedders.static import WordLlama

        return WordLlama(prefix or "")
    return _from_files(model, prefix, cache)


def _from_files(model: str, prefix: str | None, cache: Cache) -> Backend:
    from ragmeter.embedders import folder, sentence
    from ragmeter.embedders.onnx import OnnxModel

    found = folder.find(model)
    reason = found.unfit_for_onnx()
    chosen = _prefix(model, found) if prefix is None else prefix
    if not reason:
        return OnnxModel(found, chosen, cache)
    if sentence.available():
        return sentence.SentenceModel(folder.with_weights(found), chosen, cache)
    raise UsageError(
        f"the embedding model {model} can't run on ONNX Runtime: {reason}",
        hint=f"pip install sentence-transformers runs it as it is; {option('embedding_model')} with a model that has "
        f"an ONNX file, or with {STATIC}, needs no PyTorch",
    )


def _prefix(model: str, found: ModelFolder) -> str:
    """What stands in front of every text: the model's own default, or what its family is known to need."""
    return found.prompt or (_E5_PREFIX if _E5.search(model) else "")

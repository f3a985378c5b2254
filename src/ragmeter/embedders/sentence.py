"""Models that sentence-transformers runs. It needs PyTorch, so it is not a dependency."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from ragmeter.embedders.folder import ModelFolder
from ragmeter.embedders.port import Flags, Identity, Vectors
from ragmeter.errors import InputError

if TYPE_CHECKING:
    from ragmeter.embedders.cache import Cache

_BATCH = 64


def available() -> bool:
    """Whether sentence-transformers is installed."""
    return find_spec("sentence_transformers") is not None


class SentenceModel:
    """A model in a folder, as sentence-transformers loads it."""

    def __init__(self, folder: ModelFolder, prefix: str, cache: Cache) -> None:
        self.folder = folder
        revision = folder.revision(cache, onnx=False)
        self.identity = Identity("sentence-transformers", folder.name, revision, prefix)
        self._model: Any = None

    def embed(self, texts: list[str]) -> tuple[Vectors, Flags]:
        """What the model's own `encode` gives."""
        if self._model is None:
            self._load()
        prefixed = [self.identity.prefix + text for text in texts]
        # The prefix is there already; an empty prompt keeps the model's default prompt from being added.
        vectors = self._model.encode(prefixed, batch_size=_BATCH, prompt="", show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32), self._truncated(prefixed)

    def _truncated(self, texts: list[str]) -> Flags:
        longest = self._model.max_seq_length
        if longest is None:
            return np.zeros(len(texts), dtype=np.bool_)
        tokens = self._model.tokenizer(texts, truncation=False, padding=False, verbose=False)["input_ids"]
        return np.asarray([len(ids) > longest for ids in tokens], dtype=np.bool_)

    def _load(self) -> None:
        from sentence_transformers import SentenceTransformer

        try:
            self._model = SentenceTransformer(str(self.folder.path), local_files_only=True)
        except Exception as error:  # whatever the files are
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"sentence-transformers can't load it: {reason}",
                file=str(self.folder.path),
                hint="give a folder or a hub name of a model that it knows",
            ) from error

"""Static vectors: a text's vector is the mean of its tokens' vectors. Small and fast; mainly for English.

Only the files of the package `wordllama` are used, not its code: importing that configures logging for the whole
process, and without a network it looks for its tokenizer in a wrong folder.
"""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ragmeter.embedders.port import STATIC, Flags, Identity, Vectors
from ragmeter.errors import InputError, MissingExtraError

_WEIGHTS, _TENSOR = "weights/l2_supercat_256.safetensors", "embedding.weight"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_MOST_TOKENS = 1 << 16  # vectors of this many tokens are in memory at a time


class WordLlama:
    """The model inside the package of that name: 256 dimensions, no limit on the length of texts."""

    def __init__(self, prefix: str) -> None:
        self._folder = _folder()
        self.identity = Identity("static", STATIC, metadata.version(STATIC), prefix)
        self._tokenizer: Any = None
        self._weights: Vectors

    def embed(self, texts: list[str]) -> tuple[Vectors, Flags]:
        """The mean of the tokens' vectors for each text; zero without tokens."""
        if self._tokenizer is None:
            self._load()
        encoded = self._tokenizer.encode_batch(
            [self.identity.prefix + text for text in texts], add_special_tokens=False
        )
        vectors = np.zeros((len(texts), self._weights.shape[1]), dtype=np.float32)
        last = len(self._weights) - 1
        for place, encoding in enumerate(encoded):
            ids = np.minimum(np.asarray(encoding.ids, dtype=np.int64), last)
            if len(ids):
                parts = range(0, len(ids), _MOST_TOKENS)
                total = sum(self._weights[ids[start : start + _MOST_TOKENS]].sum(axis=0) for start in parts)
                vectors[place] = total / len(ids)
        return vectors, np.zeros(len(texts), dtype=np.bool_)

    def _load(self) -> None:
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError(f"the embedding model {STATIC}", "static") from None
        try:
            self._weights = np.ascontiguousarray(load_file(self._folder / _WEIGHTS)[_TENSOR], dtype=np.float32)
            tokenizer = Tokenizer.from_file(str(self._folder / _TOKENIZER))
        except Exception as error:  # both libraries raise their own types
            raise InputError(
                f"the model in the package {STATIC} can't be read: {error}",
                file=str(self._folder),
                hint=f"pip install --force-reinstall {STATIC}",
            ) from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer


def _folder() -> Path:
    """The package's folder, without importing it."""
    spec = find_spec(STATIC)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(f"the embedding model {STATIC}", "static")
    return Path(next(iter(spec.submodule_search_locations)))

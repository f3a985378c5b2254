"""What metrics ask for vectors: each distinct text is embedded once, whoever wants it, and counted for the run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Self

import numpy as np

from ragmeter.documents.manifest import EmbeddingUse
from ragmeter.embedders.port import Backend, Identity, Vectors, choose, default_model
from ragmeter.errors import InputError, Interrupted, errors_of
from ragmeter.io.normal_form import normalized

if TYPE_CHECKING:
    from ragmeter.embedders.cache import Cache

_CHUNK = 512  # texts that are embedded and then kept; what was kept is not lost if the run is stopped

#: Models that this process has loaded, each with the lock that lets one thread at a time use it.
_loaded: dict[Identity, tuple[Backend, threading.Lock]] = {}


def plain(text: str) -> str:
    """The text as models get it: NFC, without white space at its ends, and without halves of characters."""
    if not text.isascii():
        text = normalized("NFC", text)
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.strip()


class Embedder:
    """One model with its cache, for one run. Threads take turns: the model uses all cores by itself."""

    def __init__(self, model: str, base_url: str | None, prefix: str | None) -> None:
        from ragmeter.embedders.cache import Cache

        self._cache: Cache = Cache()
        self._lock = threading.Lock()
        self._closed = False
        self._cut: dict[bytes, bool] = {}
        self._embedded = 0
        self._dimensions = 0
        try:
            chosen = choose(model, base_url, prefix, self._cache)
        except BaseException:
            self._cache.close()
            raise
        self._backend, self._turn = _loaded.setdefault(chosen.identity, (chosen, threading.Lock()))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector of length 1 for each text; the texts are distinct. A text without meaning to the model is zero."""
        from ragmeter.embedders.cache import keys_of

        keys = keys_of(self._backend.identity, texts)
        with self._lock:
            known = self._cache.get(keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            ordered = sorted(missing, key=lambda key: len(missing[key]))
            for start in range(0, len(ordered), _CHUNK):
                if self._closed:
                    self._cache.close()
                    raise Interrupted
                part = ordered[start : start + _CHUNK]
                with self._turn, errors_of(f"the embedding model {self._backend.identity.model}"):
                    vectors, cut = self._backend.embed([missing[key] for key in part])
                new = dict(zip(part, zip(cut.tolist(), self._unit(vectors), strict=True), strict=True))
                self._cache.put(new)
                known.update(new)
                self._embedded += len(part)
            self._cut.update((key, known[key][0]) for key in keys)
        rows = [known[key][1] for key in keys]
        self._dimensions = len(rows[0]) if rows else self._dimensions
        return np.stack(rows) if rows else np.zeros((0, 1), dtype=np.float32)

    def _unit(self, vectors: Vectors) -> Vectors:
        """The vectors at length 1, in the same directions."""
        if not np.isfinite(vectors).all():
            raise InputError(
                f"the embedding model {self._backend.identity.model} gave vectors that are no numbers",
                hint="it is broken, or was made smaller too far: take another file or another model",
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)

    def used(self) -> EmbeddingUse:
        """The record of this model's use, for the run's manifest."""
        identity = self._backend.identity
        texts = len(self._cut)
        return EmbeddingUse(
            model=identity.model,
            backend=identity.backend,
            revision=identity.revision,
            endpoint=identity.endpoint,
            prefix=identity.prefix,
            dimensions=self._dimensions,
            texts=texts,
            embedded=self._embedded,
            from_cache=texts - self._embedded,
            truncated=sum(self._cut.values()),
        )

    def close(self) -> None:
        """Let go of the cache. A thread that is still embedding ends after its chunk, and does it then."""
        self._closed = True
        if self._lock.acquire(blocking=False):
            try:
                self._cache.close()
            finally:
                self._lock.release()


class Embedders:
    """The models of one run. Use it as a context: at its end their caches are closed."""

    def __init__(self) -> None:
        self._embedders: dict[tuple[str, str | None, str | None], Embedder] = {}
        self._lock = threading.Lock()

    def of(self, model: str, base_url: str | None, prefix: str | None) -> Embedder:
        """The embedder for these settings."""
        settings = model, base_url, prefix
        with self._lock:
            if settings not in self._embedders:
                self._embedders[settings] = Embedder(*settings)
            return self._embedders[settings]

    def used(self) -> list[EmbeddingUse]:
        """The records of each model's use."""
        return [embedder.used() for embedder in self._embedders.values()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        for embedder in self._embedders.values():
            embedder.close()


def embed(
    texts: Sequence[str], model: str | None, base_url: str | None, prefix: str | None, models: Embedders | None = None
) -> Vectors:
    """Vectors of distinct texts: counted for the run whose models these are, or for nobody where there are none."""
    with nullcontext(models) if models is not None else Embedders() as chosen:
        return chosen.of(model or default_model(), base_url, prefix).embed(texts)

"""What metrics ask for vectors: each distinct text is embedded once, whoever wants it, and counted for the run."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import numpy as np

from ragmeter.documents.manifest import EmbeddingUse
from ragmeter.embedders.port import Backend, Flags, Identity, Vectors, choose, default_model
from ragmeter.errors import InputError, Interrupted, errors_of
from ragmeter.io.normal_form import normalized

if TYPE_CHECKING:
    from ragmeter.embedders.cache import Cache
    from ragmeter.embedders.support import SupportModel

_CHUNK = 512  # texts that are embedded and then kept; what was kept is not lost if the run is stopped


class Identified(Protocol):
    """A model that says what its results depend on."""

    @property
    def identity(self) -> Identity:
        """Everything that they depend on besides the text."""


Opened = TypeVar("Opened", bound=Identified)

#: Models that this process has loaded, each with the lock that lets one thread at a time use it.
_loaded: dict[Identity, tuple[Any, threading.Lock]] = {}


def plain(text: str) -> str:
    """The text as models get it: NFC, without white space at its ends, and without halves of characters."""
    if not text.isascii():
        text = normalized("NFC", text)
        try:
            text.encode()
        except UnicodeEncodeError:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.strip()


class CachedModel(ABC, Generic[Opened]):
    """One model with its cache, for one run. Threads take turns: the model uses all cores by itself."""

    title, gives = "model", "vectors"

    def __init__(self, opened: Callable[[Cache], Opened]) -> None:
        from ragmeter.embedders.cache import Cache

        self._cache = Cache()
        self._lock = threading.Lock()
        self._closed = False
        self.computed = 0
        try:
            chosen = opened(self._cache)
        except BaseException:
            self._cache.close()
            raise
        self._backend: Opened
        self._backend, self._turn = _loaded.setdefault(chosen.identity, (chosen, threading.Lock()))

    @abstractmethod
    def _compute(self, texts: list[str]) -> tuple[Vectors, Flags]:
        """What the model gives for texts that are not in the cache."""

    def _kept(self, vectors: Vectors) -> Vectors:
        """What of the model's vectors is kept in the cache."""
        return vectors

    def _known(self, texts: Sequence[str]) -> dict[bytes, tuple[bool, Vectors]]:
        """What the model gives for distinct texts, by their keys in order: whether a text was too long, and its vector.

        What is in the cache is not computed.
        """
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
                with self._turn, errors_of(f"the {self.title} {self._backend.identity.model}"):
                    vectors, cut = self._compute([missing[key] for key in part])
                if not np.isfinite(vectors).all():
                    raise InputError(
                        f"the {self.title} {self._backend.identity.model} gave {self.gives} that are no numbers",
                        hint="it is broken, or was made smaller too far: take another file or another model",
                    )
                new = dict(zip(part, zip(cut.tolist(), self._kept(vectors), strict=True), strict=True))
                self._cache.put(new)
                known.update(new)
                self.computed += len(part)
        return {key: known[key] for key in keys}

    def close(self) -> None:
        """Let go of the cache. A thread that is still computing ends after its chunk, and does it then."""
        self._closed = True
        if self._lock.acquire(blocking=False):
            try:
                self._cache.close()
            finally:
                self._lock.release()


class Embedder(CachedModel[Backend]):
    """An embedding model for one run."""

    title = "embedding model"

    def __init__(self, model: str, base_url: str | None, prefix: str | None) -> None:
        super().__init__(lambda cache: choose(model, base_url, prefix, cache))
        self._cut: dict[bytes, bool] = {}
        self._dimensions = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A vector of length 1 for each text; the texts are distinct. A text without meaning to the model is zero."""
        known = self._known(texts)
        self._cut.update((key, cut) for key, (cut, _) in known.items())
        rows = [vector for _, vector in known.values()]
        self._dimensions = len(rows[0]) if rows else self._dimensions
        return np.stack(rows) if rows else np.zeros((0, 1), dtype=np.float32)

    def _compute(self, texts: list[str]) -> tuple[Vectors, Flags]:
        return self._backend.embed(texts)

    def _kept(self, vectors: Vectors) -> Vectors:
        """The vectors at length 1, in the same directions."""
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
            embedded=self.computed,
            from_cache=texts - self.computed,
            truncated=sum(self._cut.values()),
        )


class Embedders:
    """The models of one run: those that embed, and those that judge support. Use it as a context, which closes them."""

    def __init__(self) -> None:
        self._embedders: dict[tuple[str, str | None, str | None], Embedder] = {}
        self._support: dict[str, SupportModel] = {}
        self._lock = threading.Lock()

    def of(self, model: str, base_url: str | None, prefix: str | None) -> Embedder:
        """The embedder for these settings."""
        settings = model, base_url, prefix
        with self._lock:
            if settings not in self._embedders:
                self._embedders[settings] = Embedder(*settings)
            return self._embedders[settings]

    def support(self, model: str) -> SupportModel:
        """The support model of this name."""
        from ragmeter.embedders.support import SupportModel  # which needs this module

        with self._lock:
            if model not in self._support:
                self._support[model] = SupportModel(model)
            return self._support[model]

    def used(self) -> list[EmbeddingUse]:
        """The records of each embedding model's use."""
        return [embedder.used() for embedder in self._embedders.values()]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        models: list[CachedModel[Any]] = [*self._embedders.values(), *self._support.values()]
        for model in models:
            model.close()


def embed(
    texts: Sequence[str], model: str | None, base_url: str | None, prefix: str | None, models: Embedders | None = None
) -> Vectors:
    """Vectors of distinct texts: counted for the run whose models these are, or for nobody where there are none."""
    with nullcontext(models) if models is not None else Embedders() as chosen:
        return chosen.of(model or default_model(), base_url, prefix).embed(texts)

"""Transformer models on ONNX Runtime: a tokenizer, a session, and the pooling that the model's files specify."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragmeter.effects.process.cores import available_cores
from ragmeter.embedders.folder import DOWNLOAD_AGAIN, TOKENIZER, ModelFolder
from ragmeter.embedders.port import Flags, Identity, Vectors
from ragmeter.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from ragmeter.embedders.cache import Cache

#: The most texts of a batch, and the most tokens with padding: long texts go a few at a time.
_MOST_TEXTS, _MOST_TOKENS = 32, 2048
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_POOLED = "sentence_embedding"  # the exporters' name for an output that is pooled already

Array = npt.NDArray[Any]
Places = npt.NDArray[np.int64]
Masks = npt.NDArray[np.bool_]


class Network:
    """A folder's tokenizer and its ONNX file, which is run in batches on all cores. Both are loaded when one is used.

    `title` is the model in messages; `instead` says what to do where the file's inputs are others.
    """

    def __init__(self, folder: ModelFolder, title: str, instead: str) -> None:
        self.folder, self.title, self.instead = folder, title, instead
        self.outputs: list[str] = []
        self._tokenizer: Any = None
        self._session: Any = None
        self._types: dict[str, str] = {}

    @property
    def tokenizer(self) -> Any:
        """The folder's tokenizer, which neither pads nor, unless its file says so, cuts."""
        if self._tokenizer is None:
            self._load()
        return self._tokenizer

    def run(self, encoded: Sequence[Any], output: str | None = None) -> Iterator[tuple[Places, Array, Masks]]:
        """One of the outputs for all that was encoded, batch by batch: the places of its texts, values, and mask.

        Texts of similar length share a batch, which needs little padding. Each core works on a batch of its own: that
        is faster than all of them on one, where they wait for each other.
        """
        lengths = np.fromiter((len(encoding) for encoding in encoded), np.int64, len(encoded))
        order = np.argsort(-lengths, kind="stable")  # longest first: its memory is enough for the others
        workers = available_cores()
        batches = _batches(order, lengths, most_texts=min(_MOST_TEXTS, -(-len(encoded) // workers)))
        with ThreadPoolExecutor(workers, "ragmeter-embed") as pool:
            of_batches = pool.map(lambda of: self._run([encoded[place] for place in of], lengths[of], output), batches)
            for places, (values, mask) in zip(batches, of_batches, strict=True):
                yield places, values, mask

    def _run(
        self, encoded: Sequence[Any], lengths: npt.NDArray[np.int64], output: str | None
    ) -> tuple[npt.NDArray[np.float32], Masks]:
        """An output of one batch, and which of its tokens are no padding."""
        width = max(1, int(lengths.max()))
        mask = np.arange(width) < lengths[:, None]
        tokens, kinds = np.full(mask.shape, self.folder.padding, dtype=np.int64), np.zeros(mask.shape, dtype=np.int64)
        tokens[mask] = [token for encoding in encoded for token in encoding.ids]
        kinds[mask] = [kind for encoding in encoded for kind in encoding.type_ids]
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": kinds}
        feed = {name: given[name].astype(kind) for name, kind in self._types.items()}
        return np.asarray(self._session.run([output or self.outputs[0]], feed)[0], dtype=np.float32), mask

    def _load(self) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError(self.title, "semantic") from None
        file = self.folder.path / TOKENIZER
        try:
            tokenizer = Tokenizer.from_file(str(file))
            file = self.folder.onnx_file or file
            session = onnxruntime.InferenceSession(str(file), _options(onnxruntime), ["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise their own types
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"can't be loaded: {reason}", file=str(file), hint=DOWNLOAD_AGAIN) from error
        tokenizer.no_padding()
        self._types = {given.name: given.type.removeprefix("tensor(").rstrip(")") for given in session.get_inputs()}
        if unknown := self._types.keys() - _INPUTS:
            raise InputError(
                f"the model needs unknown inputs: {', '.join(sorted(unknown))}",
                file=str(file),
                hint=self.instead,
            )
        self.outputs = [output.name for output in session.get_outputs()]
        self._tokenizer, self._session = tokenizer, session


class OnnxModel:
    """An embedding model in a folder with an ONNX file."""

    def __init__(self, folder: ModelFolder, prefix: str, cache: Cache) -> None:
        self.folder = folder
        self.identity = Identity("onnx", folder.name, folder.revision(cache, onnx=True), prefix)
        self._network = Network(
            folder,
            f"the embedding model {folder.name}",
            "sentence-transformers may run it: rename the ONNX file, and pip install sentence-transformers",
        )
        self._is_ready = False

    def embed(self, texts: list[str]) -> tuple[Vectors, Flags]:
        """A vector for each text."""
        tokenizer = self._network.tokenizer
        if not self._is_ready:
            self._set_limit(tokenizer)
        if self.folder.lower_case:
            texts = [text.lower() for text in texts]
        encoded = tokenizer.encode_batch([self.identity.prefix + text for text in texts])
        output = _POOLED if _POOLED in self._network.outputs else None
        vectors: Vectors | None = None
        for places, values, mask in self._network.run(encoded, output):
            batch = self._pooled(values, mask.astype(np.float32))
            if vectors is None:
                vectors = np.empty((len(texts), batch.shape[1]), dtype=np.float32)
            vectors[places] = batch
        truncated = np.fromiter((bool(encoding.overflowing) for encoding in encoded), np.bool_, len(encoded))
        return np.zeros((0, 0), dtype=np.float32) if vectors is None else vectors, truncated

    def _pooled(self, output: Array, mask: npt.NDArray[np.float32]) -> Vectors:
        if output.ndim == 3:
            if self.folder.pooling == "cls":
                output = output[:, 0]
            else:
                output = (mask[:, None, :] @ output)[:, 0] / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        if self.folder.normalized:
            output = output / np.maximum(np.linalg.norm(output, axis=1, keepdims=True), 1e-12)
        return output

    def _set_limit(self, tokenizer: Any) -> None:
        """Have texts cut where the model ends."""
        if (longest := self.folder.longest) is not None:
            tokenizer.enable_truncation(longest)
        elif tokenizer.truncation is None:
            logging.getLogger("ragmeter").warning(
                "%s does not say how long a text may be: no text is truncated", self.identity.model
            )
        self._is_ready = True


def _batches(
    order: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], most_texts: int
) -> list[npt.NDArray[np.int64]]:
    """Positions of texts, longest first, in batches within the limits."""
    batches = []
    start = 0
    while start < len(order):
        width = max(1, int(lengths[order[start]]))
        end = start + max(1, min(most_texts, _MOST_TOKENS // width))
        batches.append(order[start:end])
        start = end
    return batches


def _options(onnxruntime: Any) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # of each batch
    options.log_severity_level = 3  # errors only; its warnings don't help users
    return options

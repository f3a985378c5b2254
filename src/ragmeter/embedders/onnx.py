"""Transformer models on ONNX Runtime: a tokenizer, a session, and the pooling that the model's files specify."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragmeter.effects.cores import available_cores
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


class OnnxModel:
    """A model in a folder with an ONNX file."""

    def __init__(self, folder: ModelFolder, prefix: str, cache: Cache) -> None:
        self.folder = folder
        self.identity = Identity("onnx", folder.name, folder.revision(cache, onnx=True), prefix)
        self._tokenizer: Any = None
        self._session: Any = None
        self._types: dict[str, str] = {}

    def embed(self, texts: list[str]) -> tuple[Vectors, Flags]:
        """A vector for each text. Texts of similar length share a batch, which needs little padding.

        Each core works on a batch of its own: that is faster than all of them on one, where they wait for each other.
        """
        if self._session is None:
            self._load()
        if self.folder.lower_case:
            texts = [text.lower() for text in texts]
        encoded = self._tokenizer.encode_batch([self.identity.prefix + text for text in texts])
        lengths = np.fromiter((len(encoding) for encoding in encoded), np.int64, len(encoded))
        order = np.argsort(-lengths, kind="stable")  # longest first: its memory is enough for the others
        workers = available_cores()
        batches = _batches(order, lengths, most_texts=min(_MOST_TEXTS, -(-len(texts) // workers)))
        with ThreadPoolExecutor(workers, "ragmeter-embed") as pool:
            of_batches = pool.map(lambda of: self._run([encoded[place].ids for place in of], lengths[of]), batches)
            vectors: Vectors | None = None
            for places, batch in zip(batches, of_batches, strict=True):
                if vectors is None:
                    vectors = np.empty((len(texts), batch.shape[1]), dtype=np.float32)
                vectors[places] = batch
        truncated = np.fromiter((bool(encoding.overflowing) for encoding in encoded), np.bool_, len(encoded))
        return np.zeros((0, 0), dtype=np.float32) if vectors is None else vectors, truncated

    def _run(self, ids: list[list[int]], lengths: npt.NDArray[np.int64]) -> Vectors:
        """The vectors of one batch."""
        width = max(1, int(lengths.max()))
        mask = np.arange(width) < lengths[:, None]
        tokens = np.full(mask.shape, self.folder.padding, dtype=np.int64)
        tokens[mask] = [token for text in ids for token in text]
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        feed = {name: given[name].astype(kind) for name, kind in self._types.items()}
        output = np.asarray(self._session.run([self._output], feed)[0], dtype=np.float32)
        return self._pooled(output, mask.astype(np.float32))

    def _pooled(self, output: Array, mask: npt.NDArray[np.float32]) -> Vectors:
        if output.ndim == 3:
            if self.folder.pooling == "cls":
                output = output[:, 0]
            else:
                output = (mask[:, None, :] @ output)[:, 0] / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        if self.folder.normalized:
            output = output / np.maximum(np.linalg.norm(output, axis=1, keepdims=True), 1e-12)
        return output

    def _load(self) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError(f"the embedding model {self.identity.model}", "semantic") from None
        file = self.folder.path / TOKENIZER
        try:
            tokenizer = Tokenizer.from_file(str(file))
            file = self.folder.onnx_file or file
            session = onnxruntime.InferenceSession(str(file), _options(onnxruntime), ["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise their own types
            reason = " ".join(str(error).split())[:200]
            raise InputError(f"can't be loaded: {reason}", file=str(file), hint=DOWNLOAD_AGAIN) from error
        tokenizer.no_padding()
        if (longest := self.folder.longest) is not None:
            tokenizer.enable_truncation(longest)
        elif tokenizer.truncation is None:
            logging.getLogger("ragmeter").warning(
                "%s does not say how long a text may be: no text is truncated", self.identity.model
            )
        self._types = {given.name: given.type.removeprefix("tensor(").rstrip(")") for given in session.get_inputs()}
        if unknown := self._types.keys() - _INPUTS:
            raise InputError(
                f"the model needs unknown inputs: {', '.join(sorted(unknown))}",
                file=str(file),
                hint="sentence-transformers may run it: rename the ONNX file, and pip install sentence-transformers",
            )
        outputs = [output.name for output in session.get_outputs()]
        self._output = _POOLED if _POOLED in outputs else outputs[0]
        self._tokenizer, self._session = tokenizer, session


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

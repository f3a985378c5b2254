"""Support models: what supports a claim, by a classifier of pairs; each distinct pair is read once, and cached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ragmeter.documents.manifest import FilledColumns
from ragmeter.embedders import folder
from ragmeter.embedders.embedder import CachedModel, plain
from ragmeter.embedders.folder import ModelFolder, ModelKind
from ragmeter.embedders.pairs import LONGEST_PASSAGE, PairClassifier, as_pair, export_command
from ragmeter.embedders.port import Flags, Vectors
from ragmeter.embedders.support_labels import SupportLabels, read_labels
from ragmeter.errors import UsageError

SUPPORT = ModelKind(
    "support model", "support_model", "cross-encoder/nli-deberta-v3-base", "", ModelFolder.lacks_for_onnx
)
_PAIRS_AT_ONCE, _CHARACTERS_AT_ONCE = 4_096, 32_000_000  # in memory

RowsOfTexts = Sequence[Sequence[str]]
#: For each claim and text of a row the probabilities of supported and contradicted.
Probabilities = npt.NDArray[np.float32]


def labels_of(model: str) -> SupportLabels:
    """What the labels of a support model mean, or an error if it is none; the network is not loaded."""
    return read_labels(_folder(model))


def _folder(model: str) -> ModelFolder:
    """The folder of a classifier, or of the hub's copy; an error says what it lacks."""
    files = folder.find(model, SUPPORT)
    if reason := files.lacks_for_onnx():
        raise UsageError(
            f"the support model {model} can't run on ONNX Runtime: {reason}",
            hint=f"weights alone are no network; where PyTorch is, this makes a folder that can be named: "
            f"{export_command(model)}",
        )
    return files


class SupportModel(CachedModel[PairClassifier]):
    """A support model for one run."""

    title, gives = "support model", "probabilities"

    def __init__(self, model: str) -> None:
        super().__init__(lambda cache: PairClassifier(_folder(model), cache))

    def probabilities(self, claims: RowsOfTexts, texts: RowsOfTexts) -> Iterator[Probabilities]:
        """The probabilities of each row: 0 for a text or a claim without words."""
        waiting: list[tuple[list[str], list[str]]] = []
        n_pairs = n_characters = 0
        for claims_of_row, texts_of_row in zip(claims, texts, strict=True):
            cut = (text[:LONGEST_PASSAGE] for text in texts_of_row)
            waiting.append((list(map(plain, claims_of_row)), list(map(plain, cut))))
            n_pairs += len(claims_of_row) * len(texts_of_row)
            n_characters += len(claims_of_row) * sum(map(len, waiting[-1][1]))
            if n_pairs >= _PAIRS_AT_ONCE or n_characters >= _CHARACTERS_AT_ONCE:
                yield from self._rows(waiting)
                waiting, n_pairs, n_characters = [], 0, 0
        yield from self._rows(waiting)

    def _rows(self, rows: Sequence[tuple[list[str], list[str]]]) -> Iterator[Probabilities]:
        pairs = [
            [[as_pair(text, claim) if text and claim else "" for text in texts] for claim in claims]
            for claims, texts in rows
        ]
        distinct = dict.fromkeys(pair for row in pairs for of_claim in row for pair in of_claim if pair)
        by_pair = dict(zip(distinct, (values for _, values in self._known(list(distinct)).values()), strict=True))
        by_pair[""] = np.zeros(2, dtype=np.float32)
        for row, (claims, texts) in zip(pairs, rows, strict=True):
            values = [by_pair[pair] for of_claim in row for pair in of_claim]
            yield np.array(values, dtype=np.float32).reshape(len(claims), len(texts), 2)

    def _compute(self, texts: list[str]) -> tuple[Vectors, Flags]:
        return self._backend.classify(texts)

    def described(self, columns: Sequence[str]) -> FilledColumns:
        """What a run's manifest says of columns that it has filled: what its labels depend on."""
        identity, labels = self._backend.identity, self._backend.labels
        return FilledColumns(
            list(columns),
            support_model=identity.model,
            backend=identity.backend,
            revision=identity.revision,
            labels=list(labels.names),
            supported_by=[labels.names[place] for place in labels.supports],
        )

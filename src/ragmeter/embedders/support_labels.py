"""What the labels of a classifier of pairs mean for support, as its config.json names them in `id2label`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter.embedders.folder import ModelFolder
from ragmeter.errors import InputError, UsageError

_SUPPORTS = frozenset(
    {"entailment", "entail", "entails", "entailed", "support", "supports", "supported"}
    | {"consistent", "faithful", "factual", "grounded", "attributable"}
)
_CONTRADICTS = frozenset(
    {"contradiction", "contradict", "contradicts", "contradicted", "contradictory", "refute", "refutes", "refuted"}
)
_NEITHER = frozenset(
    {"neutral", "neither", "not enough info", "not enough information", "no support", "hallucination"}
    | {"unsupported", "inconsistent", "hallucinated", "unfaithful", "ungrounded", "unattributable", "nonfactual"}
)
_NOT = re.compile(r"(?:not|non|no) (.+)")
#: The labels of a model whose config names none: 1 means supported, as MiniCheck and FactCG have it.
_UNNAMED = (("label 0", "label 1"), ("0", "1"))
_MOST_LABELS = 1_000
_SHOWN_LABELS, _SHOWN_CHARACTERS = 6, 40
_MEANING = '"id2label": {"0": "unsupported", "1": "supported"}'


@dataclass(frozen=True)
class SupportLabels:
    """A classifier's labels, and the places of those that say supported and contradicted.

    `assumed` where the names say nothing, and 1 is taken for supported.
    """

    names: tuple[str, ...]
    supports: tuple[int, ...]
    contradicts: tuple[int, ...]
    assumed: bool = False

    def probabilities(self, logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The probabilities of supported and of contradicted for each row of logits."""
        wide = logits.astype(np.float64)
        if len(self.names) == 1:
            shares = 1 / (1 + np.exp(-np.clip(wide, -700, 700)))
        else:
            powers = np.exp(wide - wide.max(axis=1, keepdims=True))
            shares = powers / powers.sum(axis=1, keepdims=True)
        columns = [shares[:, list(places)].sum(axis=1) for places in (self.supports, self.contradicts)]
        return np.stack(columns, axis=1).astype(np.float32)

    @property
    def shown(self) -> str:
        """The names for a message."""
        return shown_labels(self.names)


def read_labels(folder: ModelFolder) -> SupportLabels:
    """The labels of a model, or an error that names them if they say nothing of support."""
    names = _names(folder)
    kinds = folder.config.get("architectures")
    kinds = [kind for kind in kinds if isinstance(kind, str)] if isinstance(kinds, list) else []
    if kinds and not any("SequenceClassification" in kind for kind in kinds):
        labels = f": {shown_labels(names)}" if "id2label" in folder.config else ""
        what = "labels tokens, and no pairs of texts" if "TokenClassification" in kinds[0] else "is no classifier"
        raise _unfit(folder, f"{_cut(kinds[0])} {what}{labels}")
    if folder.config.get("problem_type") not in (None, "single_label_classification"):
        raise _unfit(folder, f"its labels don't exclude each other: {shown_labels(names)}")
    plain = tuple(" ".join(re.split(r"[\s_-]+", name.casefold().strip())) for name in names)
    if plain in _UNNAMED:
        return SupportLabels(names, supports=(1,), contradicts=(), assumed=True)
    meanings = [_meaning(name) for name in plain]
    supports = tuple(place for place, meaning in enumerate(meanings) if meaning == "supports")
    if not supports or None in meanings or len(supports) == len(names) > 1:
        raise _unfit(folder, f"its labels say nothing of support: {shown_labels(names)}")
    contradicts = tuple(place for place, meaning in enumerate(meanings) if meaning == "contradicts")
    return SupportLabels(names, supports, contradicts)


def _names(folder: ModelFolder) -> tuple[str, ...]:
    """The labels in their order; a config without any has the two that Transformers gives it."""
    labels: Any = folder.config.get("id2label")
    if labels is None:
        return "LABEL_0", "LABEL_1"
    file = folder.path / "config.json"
    if not isinstance(labels, dict) or not 0 < len(labels) <= _MOST_LABELS:
        raise InputError(
            "id2label must be an object from numbers to labels", file=str(file), hint=f"for example {_MEANING}"
        )
    if set(labels) != {str(number) for number in range(len(labels))}:
        raise InputError("id2label must number its labels from 0 on", file=str(file), hint=f"for example {_MEANING}")
    return tuple(str(labels[str(number)]) for number in range(len(labels)))


def _meaning(name: str) -> str | None:
    if name in _SUPPORTS:
        return "supports"
    if name in _CONTRADICTS:
        return "contradicts"
    negated = _NOT.fullmatch(name)
    return "neither" if name in _NEITHER or (negated and negated[1] in _SUPPORTS) else None


def _unfit(folder: ModelFolder, reason: str) -> UsageError:
    return UsageError(
        f"{folder.name} can't judge support: {reason}",
        hint="take a classifier of pairs with labels such as entailment and contradiction, or supported and "
        f"unsupported; where you know what its labels mean, write it into its config.json: {_MEANING}",
    )


def shown_labels(names: tuple[str, ...]) -> str:
    """The first few names, cut where they are long."""
    more = f" and {len(names) - _SHOWN_LABELS:,} more" if len(names) > _SHOWN_LABELS else ""
    return ", ".join(map(_cut, names[:_SHOWN_LABELS])) + more


def _cut(name: str) -> str:
    text = " ".join(name.split())
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"

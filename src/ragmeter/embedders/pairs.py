"""A classifier of pairs on ONNX Runtime: how probable it is that a passage supports, or contradicts, a claim.

A passage that is too long is read in windows that overlap, and the best of them counts.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ragmeter.embedders.folder import ModelFolder
from ragmeter.embedders.onnx import Network
from ragmeter.embedders.port import Flags, Identity, Vectors
from ragmeter.embedders.support_labels import read_labels
from ragmeter.errors import InputError

if TYPE_CHECKING:
    from ragmeter.embedders.cache import Cache

#: Part of the cache's key: a change here of how pairs are read makes it another.
_READING = "pairs 1"
_USUAL_LIMIT = 512  # tokens, where the files don't say
_OVERLAP = 0.25  # what neighbouring windows share, as a part of one
_MARGIN = 0.02  # the share of the tokens that is kept free, since a part of a text may have more than within the whole
_LEAST_PART = 4  # a claim leaves at least one of so many parts of the tokens to the passage
_LEAST_ROOM = 16  # tokens for a passage and a claim, without which no model can judge
_WINDOWS_AT_ONCE = 256
#: Characters of a passage that are read.
LONGEST_PASSAGE = 2_000_000
#: Where a prompt of the model's has the passage and the claim.
_FIELDS = re.compile(r"\{text([12])\}")


def export_command(model: str) -> str:
    """The command that makes a folder with an ONNX file of a classifier's weights, where PyTorch is."""
    command = "`optimum-cli export onnx --model {} --task text-classification FOLDER` (pip install optimum-onnx)"
    return command.format(model)


def as_pair(passage: str, claim: str) -> str:
    """A pair as one text, for the cache."""
    return json.dumps([passage, claim], ensure_ascii=False)


class PairClassifier:
    """A model in a folder with an ONNX file whose labels say whether a text supports a claim."""

    def __init__(self, folder: ModelFolder, cache: Cache) -> None:
        self.folder = folder
        self.labels = read_labels(folder)
        self.prompt = _prompt(folder)
        self.identity = Identity("onnx", folder.name, folder.revision(cache, onnx=True), _READING)
        self._network = Network(
            folder, f"the support model {folder.name}", "export it as a classifier of pairs of texts"
        )
        self._limit = folder.longest or _USUAL_LIMIT
        self._specials: re.Pattern[str] | None = None
        self._has_warned = False

    def classify(self, pairs: list[str]) -> tuple[Vectors, Flags]:
        """For each pair the probabilities of supported and contradicted, and whether it was read in parts."""
        tokenizer = self._network.tokenizer
        tokenizer.no_truncation()
        if self._specials is None:
            self._specials = _special_tokens(tokenizer)
        texts = [tuple(map(self._harmless, json.loads(pair))) for pair in pairs]
        probabilities = np.zeros((len(pairs), 2), dtype=np.float32)
        in_parts = np.zeros(len(pairs), dtype=np.bool_)
        waiting: list[tuple[int, Any]] = []
        for place, encoded in enumerate(tokenizer.encode_batch([self._input(*pair) for pair in texts])):
            windows = [encoded] if len(encoded) <= self._limit else self._windows(*texts[place])
            in_parts[place] = len(encoded) > self._limit
            for window in windows:
                waiting.append((place, window))
                if len(waiting) >= _WINDOWS_AT_ONCE:
                    self._run(waiting, probabilities)
                    waiting = []
        self._run(waiting, probabilities)
        return probabilities, in_parts

    def _run(self, waiting: list[tuple[int, Any]], probabilities: Vectors) -> None:
        """Set the probabilities of these windows' pairs, where they are higher than those of earlier windows."""
        if not waiting:
            return
        of_pairs = np.array([place for place, _ in waiting])
        for places, logits, _ in self._network.run([window for _, window in waiting]):
            if logits.ndim != 2 or logits.shape[1] != len(self.labels.names):
                shape = " x ".join(map(str, logits.shape[1:])) or "one"
                raise InputError(
                    f"the network gives {shape} values for a pair, and its config has the labels {self.labels.shown}",
                    file=str(self.folder.onnx_file),
                    hint=f"export it as a classifier of pairs: {export_command(self.folder.name)}",
                )
            np.maximum.at(probabilities, of_pairs[places], self.labels.probabilities(logits))

    def _input(self, passage: str, claim: str) -> Any:
        """What the tokenizer gets: a pair, or the model's prompt with both."""
        if self.prompt is None:
            return passage, claim
        return _FIELDS.sub(lambda field: passage if field[1] == "1" else claim, self.prompt)

    def _windows(self, passage: str, claim: str) -> Iterator[Any]:
        """The passage's parts, each encoded with the claim. A claim that leaves them no room is cut."""
        tokenizer = self._network.tokenizer
        offsets = tokenizer.encode(claim, add_special_tokens=False).offsets
        around = len(self._encode("", claim)) - len(offsets)
        room = self._limit - around
        if room < _LEAST_ROOM:
            raise InputError(
                f"the model takes {self._limit:,} tokens, of which {max(0, room):,} are left for a passage and a claim",
                file=str(self.folder.path),
                hint="correct model_max_length in tokenizer_config.json, or take another model",
            )
        longest = room - room // _LEAST_PART
        if len(offsets) > longest:
            self._warn(len(offsets), longest)
            claim = claim[: offsets[longest - 1][1]]
        size = max(1, room - min(len(offsets), longest) - int(room * _MARGIN))
        offsets = tokenizer.encode(passage, add_special_tokens=False).offsets
        start = end = 0
        while end < len(offsets) or end == 0:
            encoded, end = self._fitting(passage, claim, offsets[start : start + size], start)
            yield encoded
            if end >= len(offsets):
                return
            start = max(start + 1, end - int(size * _OVERLAP))

    def _fitting(self, passage: str, claim: str, offsets: list[tuple[int, int]], start: int) -> tuple[Any, int]:
        """A part of the passage with the claim, and where the part ends; it has less where that is too much.

        A part may have other tokens than the same text within the whole.
        """
        count = len(offsets)
        while True:
            encoded = self._encode(passage[offsets[0][0] : offsets[count - 1][1]] if count else "", claim)
            if len(encoded) <= self._limit or count <= 1:
                encoded.truncate(self._limit)
                return encoded, start + max(1, count)
            count = max(1, count - (len(encoded) - self._limit))

    def _warn(self, tokens: int, longest: int) -> None:
        """Say once for a model that a claim was cut."""
        if not self._has_warned:
            logging.getLogger("ragmeter").warning(
                "claims that are too long for %s are cut: of one with %s tokens, the first %s are read",
                self.folder.name, f"{tokens:,}", f"{longest:,}",
            )  # fmt: skip
        self._has_warned = True

    def _encode(self, passage: str, claim: str) -> Any:
        given = self._input(passage, claim)
        return self._network.tokenizer.encode(*(given if isinstance(given, tuple) else (given,)))

    def _harmless(self, text: str) -> str:
        """A text in which nothing reads as one of the tokenizer's own marks, such as [SEP]."""
        if self._specials is None:
            return text
        return self._specials.sub(lambda mark: f"{mark[0][0]} {mark[0][1:]}", text)


def _special_tokens(tokenizer: Any) -> re.Pattern[str]:
    """Finds the tokenizer's own marks in a text."""
    marks = [token.content for token in tokenizer.get_added_tokens_decoder().values() if token.special]
    marks = sorted((mark for mark in marks if len(mark) > 1), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, marks)) or r"(?!)")


def _prompt(folder: ModelFolder) -> str | None:
    """The words around passage and claim, for a model that was trained with some: `prompt` in its config.json."""
    prompt = folder.config.get("prompt")
    if prompt is None:
        return None
    if not isinstance(prompt, str) or sorted(_FIELDS.findall(prompt)) != ["1", "2"]:
        raise InputError(
            "prompt must be a text with {text1}, the passage, and {text2}, the claim",
            file=str(folder.path / "config.json"),
            hint="write both into it, or leave it out",
        )
    return prompt

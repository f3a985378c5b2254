"""The claims and answers of which people say whether their passages support them, and how they are split."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from judged import fold

from ragmeter.metrics.offline.support.claims import made_claims
from ragmeter.metrics.sentences import sentences

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ids = npt.NDArray[np.int64]

HERE = Path(__file__).parent
#: The data sets of claims, and what each counts. Of half of the claims of `wice_words` people's words are cut out.
WEIGHTS = {"wice_claims": 1.0, "wice_words": 0.5, "factcheck": 1.0, "mtrag": 1.0, "made up": 0.2, "excerpt": 0.5}
MADE_UP, EXCERPT = "made up", "excerpt"
_MADE_UP = frozenset({"elsewhere", "copied", "changed", "negated", "nothing", EXCERPT})
_EXCERPT = 5  # sentences
_LONG_WORD = re.compile(r"\w{3,}")
#: Sets of the same kind are left out together.
KINDS = {"wice_claims": "wice", "wice_words": "wice", "factcheck": "factcheck", "mtrag": "mtrag"}
_NOT = re.compile(r" (?:not|never)\b|n['’]t\b", re.IGNORECASE)
_VERB = re.compile(r"\b(is|was|are|were|can|will|has|had|have|would|could|should|must|may)\b")
_SUPPORTED = frozenset({"supported", "completely-support"})
_WHOLLY, _HARDLY = 3.6, 2.4  # the marks from which, or up to which, all claims of an answer share its label
_FAITHFUL = 3.0  # the mean mark, of 1 to 4, above which an answer counts as faithful


@dataclass(frozen=True)
class Claimed:
    """A claim or an answer with its passages and people's label."""

    source: str
    document: str
    text: str
    passages: tuple[str, ...]
    supported: bool
    words: tuple[str, ...] = ()
    unsupported: tuple[bool, ...] = ()  # of each word
    kind: str = ""

    @property
    def is_made_up(self) -> bool:
        """Whether nobody has labelled it."""
        return self.kind in _MADE_UP

    @property
    def fold(self) -> int:
        """The fold of the cross-validation, by its document."""
        return fold(self.document)


def rows_of(name: str) -> Iterator[dict[str, Any]]:
    """The lines of a file."""
    with gzip.open(HERE / f"support_{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def claims() -> list[Claimed]:
    """Every claim that people have labelled, and those whose unsupported words are cut out."""
    made = []
    for source in ("wice_claims", "wice_words", "factcheck"):
        for row in rows_of(source):
            passages = tuple(row["passages"])
            marks = tuple(mark == "1" for mark in row.get("unsupported", ""))
            words = tuple(row.get("words", ()))
            is_supported = row["label"] in _SUPPORTED
            made.append(Claimed(source, row["document"], row["claim"], passages, is_supported, words, marks))
            if words:
                made.append(Claimed(source, row["document"], _without(words, marks), passages, True, kind="cut"))
    return [*made, *_of_answers()]


def _of_answers() -> Iterator[Claimed]:
    """The claims of answers that people find wholly faithful, or hardly: they have the label of their answer."""
    for row in rows_of("mtrag"):
        mark = np.mean(row["marks"])
        if _HARDLY < mark < _WHOLLY:
            continue
        for text in made_claims(row["answer"]):
            yield Claimed("mtrag", row["document"], text, tuple(row["passages"]), bool(mark >= _WHOLLY), kind="said")


def _without(words: Sequence[str], marks: Sequence[bool]) -> str:
    """The claim without the words that people marked."""
    text = " ".join(word for word, mark in zip(words, marks, strict=True) if not mark)
    return re.sub(r"\s+([.,;:!?'’)])", r"\1", text)


def made_up(rows: Sequence[Claimed], seed: int = 0) -> list[Claimed]:
    """Claims whose label is plain, which people rarely label: short ones, a passage's own words, another's passage."""
    chance = random.Random(seed)
    made: list[Claimed] = []
    for row in rows:
        if row.kind:
            continue
        other = chance.choice(rows)
        made.append(
            replace(row, text=_short(row.text, chance), passages=other.passages, supported=False, kind="elsewhere")
        )
        text = _sentence(row, chance)
        made.append(replace(row, text=text, supported=True, kind="copied"))
        made.append(replace(row, text=_changed(text, other, chance), supported=False, kind="changed"))
        if (negated := _negated(text)) is not None:
            made.append(replace(row, text=negated, supported=False, kind="negated"))
        if chance.random() < 0.1:
            made.append(replace(row, text=_short(row.text, chance), passages=("",), supported=False, kind="nothing"))
    return made


def excerpts(rows: Sequence[Claimed]) -> list[Claimed]:
    """The claims with the five sentences of a passage that have most of their words, which is as short as a chunk."""
    return [
        replace(row, passages=(_excerpt(row.text, row.passages),), kind=EXCERPT) for row in rows if row.kind != "cut"
    ]


def _excerpt(text: str, passages: Sequence[str]) -> str:
    claim = set(_LONG_WORD.findall(text.lower()))
    best = -1, ""
    for passage in passages:
        parts = sentences(passage)
        words = [claim.intersection(_LONG_WORD.findall(part.lower())) for part in parts]
        for begin in range(max(1, len(parts) - _EXCERPT + 1)):
            size = len(set().union(*words[begin : begin + _EXCERPT]))
            if size > best[0]:
                best = size, " ".join(parts[begin : begin + _EXCERPT])
    return best[1]


def _short(text: str, chance: random.Random) -> str:
    """The claim, or as often its first words."""
    words = text.split()
    return text if chance.random() < 0.5 else " ".join(words[: chance.randrange(2, 8)])


def _sentence(row: Claimed, chance: random.Random) -> str:
    """A sentence of the passage, or its first words."""
    texts = [text for text in sentences(row.passages[0]) if 3 < len(text.split()) < 40] or [row.passages[0]]
    return _short(chance.choice(texts), chance)


def _negated(text: str) -> str | None:
    """The text with a "not" after its verb, or without the one that it has; None where neither can be done."""
    if _NOT.search(text):
        return _NOT.sub("", text, count=1)
    return _VERB.sub(r"\1 not", text, count=1) if _VERB.search(text) else None


def _changed(text: str, other: Claimed, chance: random.Random) -> str:
    """The text with its longest words, one in five, replaced by words of another claim; a number by another number."""
    words = text.split()
    places = sorted(range(len(words)), key=lambda place: (not words[place].isdigit(), -len(words[place])))
    others = sorted(other.text.split(), key=len)[-6:]
    for place in places[: 1 + len(words) // 8]:
        figures = words[place].isdigit()
        words[place] = str(int(words[place][:9]) + chance.randrange(1, 9)) if figures else chance.choice(others)
    return " ".join(words)


def answers() -> list[Claimed]:
    """Every answer whose faithfulness people have marked."""
    return [
        Claimed(
            "mtrag", row["document"], row["answer"], tuple(row["passages"]), bool(np.mean(row["marks"]) > _FAITHFUL),
            kind=row["system"],
        )
        for row in rows_of("mtrag")
    ]  # fmt: skip


def controlled() -> list[Claimed]:
    """Made-up claims in eight languages; `source` is the language."""
    return [
        Claimed(
            row["language"], row["document"], row["claim"], tuple(row["passages"]), row["kind"] == "supported",
            kind=row["kind"],
        )
        for row in rows_of("controlled_claims")
    ]  # fmt: skip


def weights(rows: Sequence[Claimed]) -> Floats:
    """Each data set counts as `WEIGHTS` says, half of it for its supported claims and half for the others."""
    source = np.array([EXCERPT if row.kind == EXCERPT else MADE_UP if row.is_made_up else row.source for row in rows])
    supported = np.array([row.supported for row in rows])
    weight = np.zeros(len(rows))
    for name in np.unique(source).tolist():
        for label in (False, True):
            some = (source == name) & (supported == label)
            weight[some] = WEIGHTS.get(name, 1.0) / max(some.sum(), 1)
    return np.asarray(weight / weight.mean())

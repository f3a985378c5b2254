"""Citations in an answer: `[1]`, `[2, 3]`, `[1-3]`, `(doc 3)`, `[^1]`, `【2】`, and links in Markdown.

A citation belongs to the sentence that it stands in, or to the one before it where it follows the full stop. A number
is the rank of a passage, from 1. A footnote, `[^1]: https://…`, and a link count where a passage has its address.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragmeter.definition import metric
from ragmeter.metrics.sentences import sentences
from ragmeter.metrics.support import NO_CONTEXTS, as_passages
from ragmeter.table import Failed

NO_CITATIONS, NO_SENTENCES = "no_citations", "no_claims"

_NUMBERS = r"\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*"
CITATION = re.compile(
    rf"\[\^?({_NUMBERS})\](?!\()"
    rf"|【({_NUMBERS})(?:[†:][^】]*)?】"
    rf"|[(\[](?:docs?|documents?|documentos?|sources?|fuentes?|passages?|refs?|context)\.?\s*#?({_NUMBERS})[)\]]",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[[^\]\n]{0,300}\]\((https?://[^\s)]{1,2000})\)")
_FOOTNOTE = re.compile(r"^\[\^?(\d{1,3})\]:\s*(\S{1,2000}).*$", re.MULTILINE)
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
#: A citation after the full stop belongs to the sentence before it.
_AFTER_STOP = re.compile(rf"([.!?…。！？])(\s*(?:{CITATION.pattern}\s*)+)", re.IGNORECASE)
_SPACE_BEFORE_STOP = re.compile(r"[^\S\n]+([.,;:!?])")
#: A range of more passages than this is a mistake, or a trap.
_LONGEST_RANGE = 100


@dataclass(frozen=True)
class Cited:
    """A sentence of an answer without its citations, and the passages that it cites, from 1; 0 is an unknown one."""

    sentence: str
    passages: tuple[int, ...]


def cited_sentences(answer: str, contexts: Sequence[str]) -> list[Cited]:
    """The sentences of an answer with what they cite."""
    passages = as_passages(contexts)
    footnotes = {number: _by_address(address, passages) for number, address in _FOOTNOTE.findall(answer)}
    text = _FOOTNOTE.sub("", answer)
    text = _AFTER_STOP.sub(lambda match: f"{match[2].rstrip()}{match[1]} ", text)
    text = _LINK.sub(lambda match: f"{match[0].partition(']')[0][1:]} 【{_by_address(match[1], passages)}】", text)
    cited = []
    for sentence in sentences(text):
        numbers = [number for match in CITATION.finditer(sentence) for number in _numbers(match, footnotes)]
        plain = " ".join(CITATION.sub("", sentence).split())
        if any(character.isalnum() for character in plain):
            cited.append(Cited(_SPACE_BEFORE_STOP.sub(r"\1", plain), tuple(dict.fromkeys(numbers))))
    return cited


def without_citations(text: str) -> str:
    """A text without its citations and footnotes; of a link, its words stay."""
    text = _LINK.sub(lambda match: match[0].partition("]")[0][1:], _FOOTNOTE.sub("", text))
    return _SPACE_BEFORE_STOP.sub(r"\1", CITATION.sub("", text))


def _numbers(match: re.Match[str], footnotes: dict[str, int]) -> list[int]:
    text = next(group for group in match.groups() if group)
    ranks: list[int] = []
    for part in re.split(r"[,;]", text):
        span = _RANGE.search(part)
        if span is not None:
            first, last = int(span[1]), int(span[2])
            ranks += range(first, min(last, first + _LONGEST_RANGE) + 1)
        else:
            ranks.append(footnotes.get(part.strip(), int(part)))
    return ranks


def _by_address(address: str, passages: Sequence[str]) -> int:
    """The first passage that names an address, from 1; 0 if there is none."""
    return next((rank for rank, passage in enumerate(passages, 1) if address.rstrip("/.,") in passage), 0)


@metric(direction="higher")
def valid_citations(answer: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[float | Failed]:
    """The share of the answer's citations that point to a passage which was retrieved.

    **Formula.** Citations (`[1]`, `[2, 3]`, `(doc 3)`, `[^1]`, links) whose number or address is that of a passage,
    over all citations; a passage that a sentence cites twice counts once.

    **Edge cases.** An answer without citations is `no_citations`, a row without passages `no_contexts`: neither is
    scored.

    **Use it** to catch made-up sources, at no cost. **Not** for whether a source says what it is cited for: that is
    `citation_precision`.
    """
    scores: list[float | Failed] = []
    for text, passages in zip(answer, contexts, strict=True):
        known = len(as_passages(passages))
        if not known:
            scores.append(Failed(NO_CONTEXTS))
            continue
        ranks = [rank for cited in cited_sentences(text, passages) for rank in cited.passages]
        valid = sum(1 <= rank <= known for rank in ranks)
        scores.append(valid / len(ranks) if ranks else Failed(NO_CITATIONS))
    return scores

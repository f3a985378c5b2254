"""Citations in an answer: `[1]`, `[2, 3]`, `[1-3]`, `(doc 3)`, `[^1]`, `【2】`, and links.

A citation belongs to the sentence that it stands in, or to the one before it where it follows the full stop. A number
is the rank of a passage, from 1. A link counts where a passage has its address, and so does a number whose footnote or
entry in the list of sources at the end has an address: `[^1]: https://…`, `[1] https://…`. Code has no citations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragmeter.definition import metric
from ragmeter.metrics.sentences import sentences
from ragmeter.metrics.support import NO_CONTEXTS, as_passages, has_text
from ragmeter.table import Failed

NO_CITATIONS, NO_SENTENCES = "no_citations", "no_claims"

_NUMBERS = r"\d{1,3}(?:\s*(?:[,;–&-]|and\b|y\b|und\b|et\b)\s*\d{1,3})*"
CITATION = re.compile(
    rf"\[{{1,2}}\^?({_NUMBERS})\]{{1,2}}(?!\]?\()"
    rf"|[\[【]({_NUMBERS})[†:][^】\]\n]{{0,300}}[】\]]|【({_NUMBERS})】"
    rf"|[(\[](?:docs?|documents?|documentos?|sources?|fuentes?|passages?|refs?|context)\.?\s*[:#]?\s*({_NUMBERS})[)\]]",
    re.IGNORECASE,
)
_ADDRESS = r"https?://[^\s<>()\[\]]{1,2000}(?:\([^\s()]{0,300}\)[^\s<>()\[\]]{0,2000})?(?<![.,;:!?*_\"'])"
_LINK = re.compile(rf"\[{{1,2}}([^\[\]\n]{{0,300}})\]{{1,2}}\(\s*({_ADDRESS})[^()\n]{{0,300}}\)")
_BARE_LINK = re.compile(rf"<?({_ADDRESS})>?")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,300}`", re.DOTALL)
_FOOTNOTE = re.compile(r"^\s{0,8}\[\^?(\d{1,3})\]:.*$", re.MULTILINE)
#: The heading of a list of sources at the end of an answer, and an entry of it.
_SOURCES = re.compile(
    r"[\s#*_]*(?:sources?|references?|citations?|bibliography|fuentes?|referencias|quellen|références)[\s:*_]*",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"\s*(?:[-*•]\s*)?(?:\[\^?(\d{1,3})\]:?|(\d{1,3})[.)])\s+\S.*")
_RANGE = re.compile(r"(\d+)\s*[–-]\s*(\d+)")
#: A citation as it is written before a text is split: the ranks of passages.
_RANKS = re.compile(r"【([\d,]*)】")
#: A citation after the full stop belongs to the sentence before it.
_AFTER_STOP = re.compile(rf"([.!?…。！？])((?:[^\S\n]*{_RANKS.pattern})+)")
_SPACE_BEFORE_STOP = re.compile(r"(?<![^\S\n])[^\S\n]+([.,;:!?])")
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
    text, entries = _without_sources(answer)
    addresses = ((number, _BARE_LINK.search(entry)) for number, entry in entries.items())
    footnotes = {number: _by_address(match[1], passages) for number, match in addresses if match}
    text = _AFTER_STOP.sub(lambda match: f"{match[2]}{match[1]} ", _with_ranks(text, footnotes, passages))
    cited = []
    for sentence in sentences(text):
        numbers = [int(rank) for match in _RANKS.finditer(sentence) for rank in match[1].split(",") if rank]
        plain = " ".join(_RANKS.sub("", sentence).split())
        if any(character.isalnum() for character in plain):
            cited.append(Cited(_SPACE_BEFORE_STOP.sub(r"\1", plain), tuple(dict.fromkeys(numbers))))
    return cited


def citable(contexts: Sequence[str]) -> set[int]:
    """The ranks of the passages that have a text."""
    return {rank for rank, passage in enumerate(as_passages(contexts), 1) if has_text(passage)}


def without_citations(text: str) -> str:
    """A text without its citations, footnotes and list of sources; of a link, its words stay."""
    text = _LINK.sub(lambda match: match[1], _without_sources(text)[0])
    return _SPACE_BEFORE_STOP.sub(r"\1", CITATION.sub("", text))


def _without_sources(answer: str) -> tuple[str, dict[str, str]]:
    """An answer without its footnotes and the list of sources at its end, and these by their numbers.

    Lines at the end are such a list if a heading says so, or if the text before them cites each of their numbers.
    """
    entries = {match[1]: match[0] for match in _FOOTNOTE.finditer(answer)}
    lines = (_FOOTNOTE.sub("", answer) if entries else answer).rstrip().split("\n")
    end = len(lines)
    while end and (not lines[end - 1].strip() or _ENTRY.fullmatch(lines[end - 1])):
        end -= 1
    matches = [match for line in lines[end:] if (match := _ENTRY.fullmatch(line))]
    if matches and end:
        has_heading = bool(_SOURCES.fullmatch(lines[end - 1]))
        text = "\n".join(lines[: end - has_heading])
        if has_heading or all(match[1] and f"[{match[1]}]" in text for match in matches):
            return text, entries | {match[1] or match[2]: match[0] for match in matches}
    return "\n".join(lines), entries


def _with_ranks(text: str, footnotes: Mapping[str, int], passages: Sequence[str]) -> str:
    """A text in which every citation outside of code is written as the ranks of its passages: 【1,3】."""
    pieces, begin = [], 0
    for code in [*_CODE.finditer(text), None]:
        prose = text[begin : code.start() if code else len(text)]
        prose = CITATION.sub(lambda match: f"【{','.join(map(str, _numbers(match, footnotes)))}】", prose)
        prose = _LINK.sub(lambda match: f"{_words(match[1])}【{_by_address(match[2], passages)}】", prose)
        prose = _BARE_LINK.sub(lambda match: f"【{_by_address(match[1], passages)}】", prose)
        pieces += [prose, code[0] if code else ""]
        begin = code.end() if code else begin
    return "".join(pieces)


def _words(label: str) -> str:
    """The words of a link; a number is none."""
    return f"{label} " if any(character.isalpha() for character in label) else ""


def _numbers(match: re.Match[str], footnotes: Mapping[str, int]) -> list[int]:
    text = next(group for group in match.groups() if group)
    ranks: list[int] = []
    for part in re.split(r"[,;&]|[^\W\d]+", text):
        span = _RANGE.search(part)
        if span is not None:
            first, last = int(span[1]), int(span[2])
            ranks += range(first, min(last, first + _LONGEST_RANGE) + 1)
        else:
            ranks.append(footnotes.get(part.strip(), int(part)))
    return ranks


def _by_address(address: str, passages: Sequence[str]) -> int:
    """The first passage that names an address, from 1; 0 if there is none."""
    return next((rank for rank, passage in enumerate(passages, 1) if address.rstrip("/") in passage), 0)


@metric(direction="higher")
def valid_citations(answer: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[float | Failed]:
    """The share of the answer's citations that point to a passage which was retrieved.

    **Formula.** Citations (`[1]`, `[2, 3]`, `(doc 3)`, `[^1]`, links) whose number or address is that of a passage,
    over all citations; a passage that a sentence cites twice counts once.

    **Edge cases.** An answer without citations is `no_citations`, a row without passages `no_contexts`: neither has
    a score. A passage without text, such as a null in the list, keeps its number but can't be cited.

    **Use it** to catch made-up sources, at no cost. **Not** for whether a source says what it is cited for: that is
    `citation_precision`.
    """
    scores: list[float | Failed] = []
    for text, passages in zip(answer, contexts, strict=True):
        known = citable(passages)
        if not known:
            scores.append(Failed(NO_CONTEXTS))
            continue
        ranks = [rank for cited in cited_sentences(text, passages) for rank in cited.passages]
        valid = sum(rank in known for rank in ranks)
        scores.append(valid / len(ranks) if ranks else Failed(NO_CITATIONS))
    return scores

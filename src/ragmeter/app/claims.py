"""The claims of a row with what supports them, where the run has them. A label is a sign, a word and a colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragmeter.analysis.claim_support import ClaimSet, LabelledClaim, claim_sets
from ragmeter.app import wording
from ragmeter.app.elements import Content, Markup, element, joined, text
from ragmeter.app.layout import table
from ragmeter.metrics.support import CONTRADICTED, NOT_MENTIONED, SUPPORTED
from ragmeter.runs.run import Run

Span = tuple[int, int]
_SIGNS = {
    SUPPORTED: ("✓", "yes"),
    "support": ("✓", "yes"),
    "partial support": ("◐", "partly"),
    CONTRADICTED: ("✗", "no"),
    "no such passage": ("✗", "no"),
    "relevant": ("✓", "yes"),
    NOT_MENTIONED: ("○", "unsaid"),
}


def row_claims(run: Run, place: int) -> list[ClaimSet]:
    """The sets of claims of a row."""
    from ragmeter.metrics.offline.support import unsupported_words

    (sets,) = claim_sets(run, [place], unsupported_words=unsupported_words, most_made=1)
    return sets


def claims(sets: Sequence[ClaimSet]) -> Content:
    """A table for each set of claims."""
    return [_table(claim_set) for claim_set in sets]


def unsupported_in_answer(answer: str, passages: Sequence[str], sets: Sequence[ClaimSet]) -> list[Span]:
    """The words of the answer that no passage has, outside of claims that are labelled as supported."""
    from ragmeter.metrics.offline.support import unsupported_words

    of_answer = [claim for claim_set in sets if _is_of_answer(claim_set) for claim in claim_set.claims]
    if not of_answer or not passages:
        return []
    supported = [_place(answer, claim.text) for claim in of_answer if claim.by_passages == SUPPORTED]
    return [
        (begin, end)
        for begin, end in unsupported_words(answer, passages)
        if not any(first <= begin and end <= last for first, last in supported)
    ]


def supported_in_passage(passage: str, sets: Sequence[ClaimSet]) -> list[Span]:
    """The words of a passage that the claims of the answer have."""
    from ragmeter.metrics.offline.unsupported import supported_spans

    texts = [claim.text for claim_set in sets if _is_of_answer(claim_set) for claim in claim_set.claims]
    return supported_spans(passage, texts) if texts else []


def _is_of_answer(claim_set: ClaimSet) -> bool:
    return claim_set.column.partition("[")[0] == "claims"


def _place(answer: str, claim: str) -> Span:
    """Where a claim is in the answer; nowhere if it is in other words."""
    begin = answer.find(claim.rstrip(" ."))
    return (begin, begin + len(claim)) if begin >= 0 else (0, 0)


def _table(claim_set: ClaimSet) -> Markup:
    caption = f"{claim_set.title}, {claim_set.by}"
    columns: dict[str, list[Content]] = {claim_set.title: [_marked(claim) for claim in claim_set.claims]}
    if any(claim.by_passages or claim.passages for claim in claim_set.claims):
        columns[wording.BY_PASSAGES] = [_by_passages(claim) for claim in claim_set.claims]
    if any(claim.by_text for claim in claim_set.claims):
        columns[wording.BY_TEXT.format(text=claim_set.source)] = [_label(claim.by_text) for claim in claim_set.claims]
    titles, rows = list(columns), [list(cells) for cells in zip(*columns.values(), strict=True)]
    return joined(element("h3", text(caption)), table(titles, rows, caption=caption))


def _marked(claim: LabelledClaim) -> Markup:
    """The claim, with the words marked that no passage supports."""
    return marked(claim.text, claim.unsupported, "unsupported")


def marked(text: str, spans: Sequence[Span], kind: str) -> Markup:
    """A text with the characters at some places marked; neighbours are one mark."""

    def pieces() -> Iterator[Content]:
        end = 0
        for begin, stop in _together(text, spans):
            yield text[end:begin]
            yield element("mark", text[begin:stop], class_=kind)
            end = stop
        yield text[end:]

    return element("bdi", pieces())


def _together(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Spans with only white space between them as one."""
    before: Span | None = None
    for begin, end in spans:
        if before is not None and not text[before[1] : begin].strip():
            before = (before[0], end)
            continue
        if before is not None:
            yield before
        before = (begin, end)
    if before is not None:
        yield before


def _by_passages(claim: LabelledClaim) -> Content:
    """The label by all passages together and the ranks of those that have it; or a label for each passage."""
    if claim.by_passages is None:
        return [element("div", _label(label), f" {rank}") for rank, label in claim.passages]
    ranks = ", ".join(str(rank) for rank, label in claim.passages if label == claim.by_passages)
    return [_label(claim.by_passages), f" {ranks}"]


def _label(label: str | None) -> Content:
    if not label:
        return None
    sign, kind = _SIGNS.get(label, ("·", "unsaid"))
    return element("span", element("span", sign, " ", aria_hidden="true"), text(label), class_=f"support {kind}")

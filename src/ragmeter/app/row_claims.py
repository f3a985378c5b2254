"""The claims of a row with what supports them, where the run has them. A label is a sign, a word and a colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragmeter.analysis.claim_support import ClaimSet, LabelledClaim, claim_sets
from ragmeter.app import wording
from ragmeter.app.word_marks import Span, marked
from ragmeter.metrics.support import SUPPORTED
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, element, joined, link, text
from ragmeter.show.page.parts import table
from ragmeter.wording.signs import clash_in_words, sign_of


def row_claims(run: Run, place: int) -> list[ClaimSet]:
    """The sets of claims of a row. What a judge says of each passage is shown beside the passage."""
    from ragmeter.metrics.offline.support.model import unsupported_words

    (sets,) = claim_sets(run, [place], unsupported_words=unsupported_words, most_made=1)
    return [claim_set for claim_set in sets if _base(claim_set) != "passage_relevance"]


def claims(sets: Sequence[ClaimSet]) -> Content:
    """A table for each set of claims."""
    return [_table(claim_set) for claim_set in sets]


def unsupported_in_answer(answer: str, passages: Sequence[str], sets: Sequence[ClaimSet]) -> list[Span]:
    """The words of the answer that no passage has, outside of claims that are labelled as supported."""
    from ragmeter.metrics.offline.support.model import unsupported_words

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
    from ragmeter.metrics.offline.support.gaps import supported_spans

    texts = [claim.text for claim_set in sets if _is_of_answer(claim_set) for claim in claim_set.claims]
    return supported_spans(passage, texts) if texts else []


def _is_of_answer(claim_set: ClaimSet) -> bool:
    return _base(claim_set) == "claims"


def _base(claim_set: ClaimSet) -> str:
    return claim_set.column.partition("[")[0]


def _place(answer: str, claim: str) -> Span:
    """Where a claim is in the answer; nowhere if it is in other words."""
    begin = answer.find(claim.rstrip(" ."))
    return (begin, begin + len(claim)) if begin >= 0 else (0, 0)


def _table(claim_set: ClaimSet) -> Markup:
    """The claims, numbered; those of the answer can be linked to by their number."""
    caption = f"{claim_set.title.capitalize()}, {claim_set.by}"
    kind = "claim" if _is_of_answer(claim_set) else None
    columns: dict[str, list[Content]] = {
        "#": [element("span", str(n), id=kind and f"{kind}-{n}") for n, _ in _numbered(claim_set)],
        wording.CLAIM: [_marked(claim) for claim in claim_set.claims],
    }
    if any(claim.by_passages or claim.passages for claim in claim_set.claims):
        columns[wording.BY_PASSAGES] = [_by_passages(claim) for claim in claim_set.claims]
    if any(claim.by_text for claim in claim_set.claims):
        columns[wording.BY_TEXT.format(text=claim_set.source)] = [_label(claim.by_text) for claim in claim_set.claims]
    titles, rows = list(columns), [list(cells) for cells in zip(*columns.values(), strict=True)]
    return joined(element("h3", text(caption)), table(titles, rows, caption=caption, texts=(1,)))


def _marked(claim: LabelledClaim) -> Markup:
    """The claim, with the words marked that no passage supports."""
    return marked(claim.text, {"unsupported": claim.unsupported})


def _by_passages(claim: LabelledClaim) -> Content:
    """The label by all passages together and those passages that say so; or a label for each passage."""
    if claim.by_passages is None:
        return [element("div", _label(label), " ", _links("passage", [rank])) for rank, label in claim.passages]
    ranks = [rank for rank, label in claim.passages if label == claim.by_passages]
    clash = claim.contradiction
    words = (
        element("div", text(clash_in_words(clash.claim_words, clash.passage_words)), class_="soft") if clash else None
    )
    return [_label(claim.by_passages), " ", _links("passage", ranks), words]


def for_claims(rank: int, sets: Sequence[ClaimSet]) -> Content:
    """Which claims of the answer a passage supports, and which it contradicts."""
    of_answer = [(n, claim) for claim_set in sets if _is_of_answer(claim_set) for n, claim in _numbered(claim_set)]
    lines = []
    for label, verb in wording.FOR_CLAIMS.items():
        claims_so_labelled = [n for n, claim in of_answer if (rank, label) in claim.passages]
        if claims_so_labelled:
            lines.append(element("p", _label(label, verb), " ", _links("claim", claims_so_labelled), class_="soft"))
    return lines


def _numbered(claim_set: ClaimSet) -> Iterator[tuple[int, LabelledClaim]]:
    return enumerate(claim_set.claims, 1)


def _links(kind: str, ranks: Sequence[int]) -> Content:
    """Links to passages or claims of the same page, by their numbers."""
    if not ranks:
        return None
    noun = wording.PARTS[kind][min(len(ranks), 2)]
    links = [joined(", " if at else "", link(str(rank), f"#{kind}-{rank}")) for at, rank in enumerate(ranks)]
    return element("span", noun, " ", links, class_="nowrap")


def _label(label: str | None, words: str = "") -> Content:
    if not label:
        return None
    sign, kind = sign_of(label)
    shown = text(words or label)
    return element("span", element("span", sign, " ", aria_hidden="true"), shown, class_=f"support {kind}")

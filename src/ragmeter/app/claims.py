"""The claims of a row with what supports them, where the run has them. A label is a sign, a word and a colour."""

from __future__ import annotations

from collections.abc import Iterator

from ragmeter.analysis.claim_support import ClaimSet, LabelledClaim, claim_sets
from ragmeter.app import wording
from ragmeter.app.elements import Content, Markup, element, joined, text
from ragmeter.app.layout import table
from ragmeter.metrics.support import CONTRADICTED, NOT_MENTIONED, SUPPORTED
from ragmeter.runs.run import Run

_SIGNS = {
    SUPPORTED: ("✓", "yes"),
    "support": ("✓", "yes"),
    "partial support": ("◐", "partly"),
    CONTRADICTED: ("✗", "no"),
    "no such passage": ("✗", "no"),
    NOT_MENTIONED: ("○", "unsaid"),
}


def claims(run: Run, place: int) -> Content:
    """A table for each set of claims of the row."""
    from ragmeter.metrics.offline.support import unsupported_words

    (sets,) = claim_sets(run, [place], unsupported_words=unsupported_words, most_made=1)
    return [_table(claim_set) for claim_set in sets]


def _table(claim_set: ClaimSet) -> Markup:
    caption = f"{claim_set.title}, {claim_set.by}"
    rows = [[_marked(claim), _by_passages(claim), _label(claim.by_text)] for claim in claim_set.claims]
    titles = [claim_set.title, wording.BY_PASSAGES, wording.BY_TEXT.format(text=claim_set.source)]
    return joined(element("h3", text(caption)), table(titles, rows, caption=caption))


def _marked(claim: LabelledClaim) -> Markup:
    """The claim, with the words marked that no passage supports."""

    def pieces() -> Iterator[Content]:
        end = 0
        for begin, stop in claim.unsupported:
            yield claim.text[end:begin]
            yield element("mark", claim.text[begin:stop], class_="unsupported")
            end = stop
        yield claim.text[end:]

    return element("bdi", pieces())


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

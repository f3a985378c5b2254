"""Shows the claims of a row with what supports them on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from ragmeter.analysis.claim_support import ClaimSet, LabelledClaim
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Column, Figures
from ragmeter.wording.signs import clash_in_words, sign_of
from ragmeter.wording.texts import printable

_COLOURS = {"yes": "green", "partly": "blue", "no": "red", "unsaid": ""}


def show_claims(qid: str, claim_sets: Sequence[ClaimSet]) -> None:
    """A table for each set of claims."""
    out = console()
    for claim_set in claim_sets:
        out.print(printable(f"{qid}: {claim_set.title}, {claim_set.by}"), style="bold")
        has_passages = any(claim.by_passages or claim.passages for claim in claim_set.claims)
        has_text = any(claim.by_text for claim in claim_set.claims)
        titles = [*(["by the passages"] if has_passages else []), *([f"by the {claim_set.source}"] if has_text else [])]
        table = Figures([Column(claim_set.title, figures=False), *(Column(title, figures=False) for title in titles)])
        for claim in claim_set.claims:
            cells = [*([_by_passages(claim)] if has_passages else []), *([_label(claim.by_text)] if has_text else [])]
            table.add(_marked(claim), *cells)
        out.print(table)


def _label(label: str | None) -> Text:
    sign, kind = sign_of(label or "")
    return Text(printable(f"{sign} {label}") if label else "", style=_COLOURS[kind])


def _by_passages(claim: LabelledClaim) -> Text:
    """The label, and the ranks of the passages that have it."""
    if claim.by_passages is None:  # citations: a label for each passage
        return Text("\n").join(_label(label) + Text(f": passage {rank}") for rank, label in claim.passages)
    ranks = [str(rank) for rank, label in claim.passages if label == claim.by_passages]
    shown = _label(claim.by_passages) + Text(f": passage {', '.join(ranks)}" if ranks else "")
    clash = claim.contradiction
    return shown + Text(f"\n{printable(clash_in_words(clash.claim_words, clash.passage_words))}") if clash else shown


def _marked(claim: LabelledClaim) -> Text:
    """The claim, with the words in brackets that no passage supports."""
    marked, end = Text(), 0
    for begin, stop in claim.unsupported:
        marked.append(printable(claim.text[end:begin])).append(f"[{printable(claim.text[begin:stop])}]", style="red")
        end = stop
    return marked.append(printable(claim.text[end:]))

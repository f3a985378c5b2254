"""The claims of the rows of a page, with what supports each."""

from __future__ import annotations

from typing import Any

from ragmeter.analysis.claim_support import ClaimSet, LabelledClaim, claim_sets
from ragmeter.runs.run import Run
from ragmeter.show.report.page_texts import Texts
from ragmeter.wording.signs import clash_in_words

#: The most claims whose unsupported words are looked for, and the longest such claim, in characters.
MOST_CLAIMS, _LONGEST = 2_000, 1_000
#: The most rows whose claims are made for the page, where the run does not keep them.
MOST_ROWS = 500


def claims(run: Run, rows: Any, texts: Texts) -> list[list[Any]]:
    """The sets of claims of each row of the page: title, source, who labelled them, and the claims as lists."""
    from ragmeter.metrics.offline.support.model import unsupported_words  # it takes a while to load

    left = MOST_CLAIMS

    def words(claim: str, passages: Any) -> Any:
        nonlocal left
        left -= 1
        return unsupported_words(claim, passages) if left >= 0 and len(claim) <= _LONGEST else ()

    sets = claim_sets(run, [int(row) for row in rows], unsupported_words=words, most_made=MOST_ROWS)
    return [[_for_page(claim_set, texts) for claim_set in of_row] for of_row in sets]


def _for_page(claim_set: ClaimSet, texts: Texts) -> list[Any]:
    shown = [_claim(claim, texts) for claim in claim_set.claims]
    return [*texts.places([claim_set.title, claim_set.source, claim_set.by]), shown]


def _claim(claim: LabelledClaim, texts: Texts) -> list[Any]:
    return [
        texts.place(claim.text),
        texts.place(claim.by_passages),
        texts.place(claim.by_text),
        [[rank, texts.place(label)] for rank, label in claim.passages],
        [list(span) for span in claim.unsupported],
        texts.place(_clash(claim)),
    ]


def _clash(claim: LabelledClaim) -> str | None:
    clash = claim.contradiction
    return clash_in_words(clash.claim_words, clash.passage_words) if clash else None

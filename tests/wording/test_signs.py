"""Each label that a metric counts has its sign."""

from __future__ import annotations

import pytest

from ragmeter.judges.citing import NO_PASSAGE
from ragmeter.judges.relevance import IRRELEVANT, RELEVANT
from ragmeter.metrics.nuggets import NONE, PARTIAL, SUPPORT
from ragmeter.metrics.support import CONTRADICTED, NOT_MENTIONED, SUPPORTED
from ragmeter.wording.signs import OTHER, SIGNS, sign_of


@pytest.mark.parametrize(
    ("labels", "sign", "kind"),
    [
        ((SUPPORTED, SUPPORT, RELEVANT), "✓", "yes"),
        ((PARTIAL,), "◐", "partly"),
        ((CONTRADICTED, NO_PASSAGE), "✗", "no"),
        ((NOT_MENTIONED, NONE, IRRELEVANT, "", "made up"), "○", "unsaid"),
    ],
)
def test_labels_have_the_sign_of_their_kind(labels: tuple[str, ...], sign: str, kind: str) -> None:
    assert {sign_of(label) for label in labels} == {(sign, kind)}


def test_the_table_has_no_label_that_nothing_gives() -> None:
    given = {SUPPORTED, SUPPORT, RELEVANT, PARTIAL, CONTRADICTED, NOT_MENTIONED, NONE, NO_PASSAGE}
    assert set(SIGNS) == given
    assert SIGNS[NONE] == OTHER

"""Whether passages support a claim."""

import numpy as np

from ragmeter.metrics.offline.support import support, supported, unsupported_words

PASSAGES = ["The Eiffel Tower in Paris was finished in 1889.", "Gustave Eiffel's company built the tower."]


def test_a_claim_in_a_passage_is_supported_and_another_is_not() -> None:
    claims = ["The Eiffel Tower was finished in 1889.", "Mozart composed forty-one symphonies in Vienna."]
    by_passage, together = support(claims, PASSAGES), supported(claims, PASSAGES)
    assert by_passage.shape == (2, 2)
    assert by_passage[0, 0] > 0.5 > by_passage[0, 1]
    assert together[0] > 0.5 > together[1]


def test_nothing_to_compare() -> None:
    assert support([], PASSAGES).shape == (0, 2)
    assert support(["A claim."], []).shape == (1, 0)
    assert supported([], PASSAGES).shape == (0,)
    assert np.all(supported(["A claim about towers."], []) < 0.5)


def test_words_that_no_passage_has() -> None:
    claim = "The Eiffel Tower was finished in 1925, in Lyon."
    spans = unsupported_words(claim, PASSAGES)
    assert [claim[begin:end] for begin, end in spans] == ["1925,", "Lyon."]
    assert unsupported_words("", PASSAGES) == []

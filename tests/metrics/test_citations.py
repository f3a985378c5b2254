"""Citations: what counts as one, and which passage it points to."""

from __future__ import annotations

import numpy as np
import pytest

from ragmeter import get_metric
from ragmeter.metrics.citations import cited_sentences, without_citations

PASSAGES = ["first", "second, see https://example.org/a", "third"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It is red [1]. It is old [2, 3].", [("It is red.", (1,)), ("It is old.", (2, 3))]),
        ("It is red.[1] It is old. [2][3]", [("It is red.", (1,)), ("It is old.", (2, 3))]),
        ("It is red [1-3].", [("It is red.", (1, 2, 3))]),
        ("It is red (doc 3).", [("It is red.", (3,))]),
        ("Es rojo (fuente 2).", [("Es rojo.", (2,))]),
        ("It is red【2†source】.", [("It is red.", (2,))]),
        ("It is red[^1].\n\n[^1]: https://example.org/a", [("It is red.", (2,))]),
        ("It is [red](https://example.org/a).", [("It is red.", (2,))]),
        ("It is [red](https://example.org/other).", [("It is red.", (0,))]),
        ("It is red [7].", [("It is red.", (7,))]),
        ("It is red [1][1].", [("It is red.", (1,))]),
        ("It is red (sources: 1 and 3).", [("It is red.", (1, 3))]),
        ("It is red (doc. 3) [[1]].", [("It is red.", (3, 1))]),
        ("It is red [1†source].", [("It is red.", (1,))]),
        ("It is red [[1]](https://example.org/a).", [("It is red.", (2,))]),
        ("It is red, see https://example.org/a. It is old.", [("It is red, see.", (2,)), ("It is old.", ())]),
        ("It is red[^3].\n\n[^3]: third of all", [("It is red.", (3,))]),  # its number, for it has no address
        ("It is red [1].\n\n**Sources:**\n[1] https://example.org/a\n[2] A book", [("It is red.", (2,))]),
        ("It is red [1].\n\n[1] A book, 1999", [("It is red.", (1,))]),
        ("It is red.\n\n[1] says that it is old.", [("It is red.", ()), ("says that it is old.", (1,))]),
        ("Use `a[1]`, as [2] says.\n```\nb[3]\n```", [("Use `a[1]`, as says.", (2,)), ("``` b[3] ```", ())]),
        ("In [2020] it was red.", [("In [2020] it was red.", ())]),
        ("It is red [a]. See section 1.", [("It is red [a].", ()), ("See section 1.", ())]),
        ("It is red.", [("It is red.", ())]),
        ("[1]", []),
        ("", []),
    ],
)
def test_citations_of_each_sentence(answer: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(cited.sentence, cited.passages) for cited in cited_sentences(answer, PASSAGES)] == expected


def test_a_range_of_many_passages_is_cut() -> None:
    (cited,) = cited_sentences("It is red [1-999].", PASSAGES)
    assert len(cited.passages) == 101


@pytest.mark.parametrize(
    ("answer", "expected"), [("Red [1] and old [4].", 0.5), ("Red [1].", 1.0), ("Red [0].", 0.0), ("Red.", None)]
)
def test_valid_citations(answer: str, expected: float | None) -> None:
    (score,) = get_metric("valid_citations")([answer], [PASSAGES])
    assert np.isnan(score) if expected is None else score == expected


@pytest.mark.parametrize("run", [" ", ".", "؟", "[1, ", "```", "https://a("])
def test_a_long_run_of_one_mark_takes_no_time_worth_telling(run: str) -> None:
    assert len(cited_sentences(f"It is red{run * 100_000}", PASSAGES)) <= 1
    assert without_citations(f"It is red{run * 100_000}").startswith("It is red")

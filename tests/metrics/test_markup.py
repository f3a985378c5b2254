"""Answers without their markup."""

from __future__ import annotations

import pytest

from ragmeter.metrics.markup import bare, without_thoughts


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("  Two   words \r\n\n and a line ", "two words\nand a line"),
        ("It’s **bold**, __bold__ and ~~gone~~", "it's bold, bold and gone"),
        ("*a*, _b_, <em>c</em> and <i>d</i>", "*a*, *b*, *c* and *d*"),
        ("snake_case stays", "snake_case stays"),
        ("```python\nx = 1\n```", "x = 1"),
        ("~~~\nx\n~~~", "x"),
        ("<p>One</p><p>two <b>three</b><br/>four</p>", "one\ntwo three\nfour"),
        ("<|assistant|>Yes<|end|>", "yes"),
        ("a < b and c > d", "a < b and c > d"),
        ("$\\boxed{\\text{Yes}}$", "{{yes}}"),
        ("Yes [1][2, 3] and [^4], not [a]", "yes and, not [a]"),
        ("1. Yes\n2. No", "yes\n2. no"),
        ("(a) Yes", "yes"),
        ("1.5 million", "1.5 million"),
        ("", ""),
    ],
)
def test_bare(answer: str, text: str) -> None:
    assert bare(answer) == text


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("<think>Hm.</think>Yes", "Yes"),
        ("Hm.</think>Yes", "Yes"),
        ("<Thinking>Hm.</Thinking>\nA.\n<thinking>Hm.</thinking>B.", "B."),
        ("<think>Hm.</think> \n", "<think>Hm.</think> \n"),
        ("<think>Hm.", "<think>Hm."),
        ("Yes</b>", "Yes</b>"),
    ],
)
def test_without_thoughts(answer: str, text: str) -> None:
    assert without_thoughts(answer) == text

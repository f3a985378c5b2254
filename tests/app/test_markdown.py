"""Markdown of answers: what is made of it, and that nothing else ever is."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmeter.app.markdown import rendered
from tests.show.report.helpers import PAYLOADS

ALLOWED = {
    "div", "p", "ul", "ol", "li", "blockquote", "em", "strong", "s", "table", "thead", "tbody", "tr", "th", "td", "h4",
    "pre", "code", "br", "hr", "bdi",
}  # fmt: skip


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("**In** _Lisbon_", '<p dir="auto"><strong>In</strong> <em>Lisbon</em></p>'),
        ("- a\n- b", '<ul><li dir="auto"><p dir="auto">a</p></li><li dir="auto"><p dir="auto">b</p></li></ul>'),
        ("# A\n\n> b", '<h4 dir="auto">A</h4><blockquote dir="auto"><p dir="auto">b</p></blockquote>'),
        ("see [the *page*](http://x.invalid/a)", '<p dir="auto">see the <em>page</em> (http://x.invalid/a)</p>'),
        ("![a cat](http://x.invalid/a.png)", '<p dir="auto"><bdi dir="auto">a cat</bdi></p>'),
        ("`a<b`", '<p dir="auto"><code>a&lt;b</code></p>'),
        ("```python\n<b>\n```", "<pre><code>&lt;b&gt;\n</code></pre>"),
        ("<b onclick=x>bold</b>", '<p dir="auto">&lt;b onclick=x&gt;bold&lt;/b&gt;</p>'),
        ("[x](javascript:alert(1))", '<p dir="auto">[x](javascript:alert(1))</p>'),
        ("~~a~~", '<p dir="auto"><s>a</s></p>'),
    ],
)
def test_what_is_made_of_it(written: str, expected: str) -> None:
    assert rendered(written) == f'<div class="markdown">{expected}</div>'


def tags(markup: str) -> set[str]:
    return set(re.findall(r"<\s*/?\s*([^\s/>]+)", markup))


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize(
    "form", ["{}", "[{}]({})", "![{}]({})", "<{}>", "# {}", "```{}\n{}\n```", "|a|\n|-|\n|{}|", "[a]: {}\n\n[a]"]
)
def test_a_payload_is_text(payload: str, form: str) -> None:
    markup = rendered(form.replace("{}", payload))
    assert tags(markup) <= ALLOWED
    assert not re.search(r"<[^>]*\b(href|src|on\w+|style)=", markup)


@given(st.text(st.sampled_from("*_`[]()<>!#-|~ \n\"'=ab&;:/\\"), max_size=80))
def test_any_text_makes_only_these_elements(written: str) -> None:
    markup = rendered(written)
    assert tags(markup) <= ALLOWED
    assert not re.search(r"<[^>]*\s(?!class=|dir=)[\w-]+=", markup)

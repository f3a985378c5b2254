"""Anybody's words, wherever they are shown."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ragmeter.wording.texts import in_html, in_latex, in_markdown, one_line, printable, shortened
from tests.show.report.helpers import PAYLOAD, PAYLOADS

HOSTILE = st.text(st.characters(codec=None) | st.sampled_from("|`<>&*_[]()!#~\\@\n\r\t\0\x1b\ufffe\ud800$:/"))


@given(st.text(max_size=60) | st.sampled_from(PAYLOADS))
def test_markdown_shows_a_text_as_it_is(text: str) -> None:
    shown = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff]+", " ", text).split())
    for before in ("", "- "):
        tokens = MarkdownIt("commonmark").enable("table").parse(f"{before}x {in_markdown(text)}")
        inline = [child for token in tokens for child in token.children or []]
        assert {script.type for script in inline} <= {"text", "text_special"}
        quiet = "".join(script.content for script in inline).replace("\u200b", "")
        assert " ".join(quiet.split()) == f"x {shown}".replace("\u200b", "").strip()


def shown(text: str) -> str:
    """What a reader of Markdown sees, space left aside."""
    rendered = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)
    return re.sub(r"\s+", "", html.unescape(re.sub(r"<[^>]+>", "", rendered)))


@given(HOSTILE)
def test_markdown_shows_every_text_as_it_stands(text: str) -> None:
    table = f"| a | b |\n| --- | --- |\n| {in_markdown(text)} | end |\n"
    rendered = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(table)
    assert set(re.findall(r"<(\w+)", rendered)) == {"table", "thead", "tbody", "tr", "th", "td"}
    assert rendered.count("<td>") == 2
    plain = re.sub(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]", " ", text)
    assert shown(table).replace("\u200b", "") == re.sub(r"\s+", "", f"ab{plain}end").replace("\u200b", "")


def test_markdown_calls_nobody_and_links_nowhere() -> None:
    quiet = in_markdown("@everyone ndcg@10 see https://evil.example or www.evil.example")
    assert quiet == "@\u200beveryone ndcg@10 see https:\u200b//evil.example or www.\u200bevil.example"


@pytest.mark.parametrize("text", ["# a title", "- an item", "+ an item", "---", "===", "> a quote", "  # a title", "#"])
def test_markdown_begins_no_block(text: str) -> None:
    rendered = MarkdownIt("commonmark").render(f"before\n\n{in_markdown(text)}\n")
    assert set(re.findall(r"<(\w+)", rendered)) == {"p"}
    assert html.unescape(rendered.split("<p>")[-1].removesuffix("</p>\n")).strip() == text.strip()


def test_an_option_is_no_list() -> None:
    assert in_markdown("--fail-under token_f1=0.6") == "--fail-under token\\_f1=0.6"


@given(st.text() | st.just(PAYLOAD))
def test_latex_has_no_command_of_a_text(text: str) -> None:
    shown = in_latex(text)
    left = re.sub(r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar)\{\}", "", shown)
    left = re.sub(r"\\[&%$#_{}]|\{[\[\]\"]\}", "", left)
    assert not re.findall(r"[\\&%$#_{}~^\n]", left)


@given(HOSTILE)
def test_nothing_steers_a_terminal_or_leaves_its_element(text: str) -> None:
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", printable(text))
    assert not re.search(r"[<>\"']", in_html(text))
    assert len(one_line(text).splitlines()) <= 1


def test_long_texts_are_cut_with_a_sign() -> None:
    assert shortened("a  b\nc", 5) == "a b c"
    assert shortened("abcdef", 5) == "abcd…"

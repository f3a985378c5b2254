"""What is learnt from the new parts of a page after a few questions: trees made by hand, no browser."""

from __future__ import annotations

from typing import Any

import pytest

from ragmeter.targets.web.learning.doubts import common_lines, common_words, doubt_of, doubts_of
from ragmeter.targets.web.learning.kinds import looks_like_a_label, name_kind
from ragmeter.targets.web.learning.learn import Sample, learn
from ragmeter.targets.web.learning.reading import Reading, of_selectors
from ragmeter.targets.web.looks import LeftOver
from ragmeter.targets.web.profile import Answer, End, Profile

Element = tuple[str, list[Any]]


def element(name: str, *inside: Any, new: bool = True) -> Any:
    """An element: "div.a.b" or "#id", with elements and texts; a text that begins with ? repeats the question."""
    tag, _, rest = name.replace("#", ".#").partition(".")
    tokens = [token if token.startswith("#") else f".{token}" for token in rest.split(".") if token]
    return tag, tokens, "nb" if new else "b", inside


def flat(root: Any) -> list[Any]:
    """As our script reports it."""
    entries: list[Any] = []

    def add(place: int, part: Any) -> None:
        if isinstance(part, str):
            entries.append([place, part.removeprefix("?"), "e" if part.startswith("?") else ""])
            return
        tag, tokens, flags, inside = part
        entries.append([place, tag.upper(), tokens, flags])
        own = len(entries) - 1
        for inner in inside:
            add(own, inner)

    add(-1, root)
    return entries


def page(*messages: Any) -> list[Any]:
    chat = element("div#chat", *messages, new=False)
    return flat(element("html", element("body", chat, new=False), new=False))


def learnt(*pages: list[Any]) -> tuple[Answer, list[str]]:
    result = learn([Sample(f"question {number}", tree) for number, tree in enumerate(pages)])
    assert result.profile is not None, result.doubts
    return result.profile.answer, result.doubts


ANSWERS = ["At nine in the morning.", "Ann Lee did, in 2019.", "Behind the fish market."]


def test_a_name_before_every_answer_is_no_part_of_it() -> None:
    answer, doubts = learnt(
        *(page(element("p.line", "?q"), element("p.line", element("b", "Helper:"), text)) for text in ANSWERS)
    )
    assert (answer.selector, answer.prefixes, doubts) == ("p.line", ("Helper:",), [])


def test_what_is_the_same_but_for_its_numbers_is_left_out() -> None:
    answer, doubts = learnt(
        *(
            page(
                element("div.msg", element("p", "?q"), element("span.st", f"Sent at 4:2{n} AM")),
                element("div.msg", element("p", text), element("span.st", f"Sent at 4:3{n} AM")),
            )
            for n, text in enumerate(ANSWERS)
        )
    )
    assert (answer.selector, answer.ignore, doubts) == ("div.msg", ("span.st",), [])


def test_the_content_of_a_message_is_told_from_its_thoughts_and_sources() -> None:
    answer, doubts = learnt(
        *(
            page(
                element("div.q", "?q"),
                element(
                    "div.a",
                    element("div.thinking", f"I look for {text[:5]}"),
                    element("div.md", element("p", text)),
                    element("div.sources", element("a", f"Document {text[:4]}")),
                ),
            )
            for text in ANSWERS
        )
    )
    assert (answer.selector, answer.beside, doubts) == ("div.md", (), [])
    assert (answer.thinking, answer.ignore, answer.sources) == (("div.thinking",), ("div.sources",), "div.sources")


def test_two_parts_that_nothing_tells_apart_are_a_doubt() -> None:
    pages = [
        page(element("div.q", "?q"), element("div.a", element("div.one", text), element("div.two", text[::-1])))
        for text in ANSWERS
    ]
    _, doubts = learnt(*pages)
    assert doubts
    assert "several parts that change with the question" in doubts[0]


def test_the_same_text_for_different_questions_is_a_doubt() -> None:
    reading = Reading(of_selectors(None, None, None, (), ()))
    for number in range(3):
        reading.add(Sample(str(number), page(element("p.q", "?q"), element("p.a", "I have no answer."))))
    assert reading.final
    assert reading.doubts == ["the page shows the same text for different questions"]


def test_only_labels_are_no_answer_yet() -> None:
    tree = page(element("div.q", "?q"), element("div.a", element("span.name", "Helper"), element("i", "●")))
    result = learn([Sample("q", tree)])
    assert (result.profile, result.has_text) == (None, False)


def test_a_place_that_the_question_s_own_message_has_is_no_answer() -> None:
    def message(who: str, text: str) -> Any:
        return element("div.m", element("i.x", who), element("div.y", text))

    answer, _ = learnt(page(message("Ann Lee", "?q"), message("Mira", "Paris.")))
    assert (answer.selector, answer.ignore) == ("div.y", ("i.x",))
    assert not learn([Sample("q", page(message("Ann Lee", "?q"), message("Mira", "●")))]).has_text


def test_answers_that_differ_in_their_numbers_only() -> None:
    answer, doubts = learnt(*(page(element("p.q", "?q"), element("p.a", f"It costs {n} euros.")) for n in range(3)))
    assert (answer.selector, doubts) == ("p.a", [])


def test_what_is_given_is_not_looked_for() -> None:
    base = of_selectors(".mine", ".done", None, (".no",), ())
    result = learn([Sample("q", page(element("p.q", "?q"), element("p.a", "Yes.")))], base)
    assert result.profile is not None
    assert result.profile.answer == Answer(".mine", ignore=(".no",))
    assert result.profile.end == End(back=(".done",), still=0.1)


def test_an_answer_in_a_place_that_was_there_before() -> None:
    out = element("div#out", "Paris.", new=False)
    root = flat(element("html", element("body", element("p.q", "?q"), out, new=False), new=False))
    answer, _ = learnt(root)
    assert answer.selector == "div#out"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (".msg_timestamp", "label"), (".chat-name", "label"), (".name-tag-list", ""), (".with-avatar", ""),
        ('[data-testid="stChatMessageAvatarUser"]', "label"), (".source-list", "source"), (".reasoning", "thought"),
        (".message-content", ""), (".quick-replies", "tool"),
        (".chat-outer-container-role-ai", ""), (".hover-actions-parent", ""),
    ],
)  # fmt: skip
def test_what_names_say(name: str, kind: str) -> None:
    assert name_kind(name) == kind


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Sent at November 18 at 4:22 AM", "a clock"), ("2 minutes ago", "a clock"), ("Copy", "a label"),
        ("Was this helpful? Yes No", "a label"), ("10:30", ""), ("Yes", ""), ("Paris", ""), ("In 2019.", ""),
    ],
)  # fmt: skip
def test_what_is_hardly_an_answer(text: str, what: str) -> None:
    assert looks_like_a_label(text) == what


def test_words_that_all_answers_share() -> None:
    assert common_words(["Bot: a b end", "Bot: c d end"]) == ("Bot:", "end")
    assert common_words(["the same", "the same"]) == ("", "")
    assert common_lines(["Done in 3 s\na\nb\nBye", "Done in 12 s\nc\nBye"]) == (("Done in # s",), ("Bye",))
    assert common_lines(["a", "b"]) == common_lines(["a\nb", "a\nb"]) == ((), ())
    pairs = [("q", "The bot says a"), ("r", "The bot says b")]
    assert doubts_of(pairs) == ["all answers begin with the same words: 'The bot says'"]
    assert doubts_of([("q", ""), ("r", "b")]) == ["the answer is empty"]
    assert doubts_of([("q", "a"), ("r", "a")]) == ["the same text was read for different questions"]
    assert doubts_of([("q", "Paris."), ("r", "In 2019.")]) == []


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("Read the manual first, then ask again.", ""),
        ("Sorry, please try again later.", "sounds like an error"), ("undefined", "sounds like an error"),
        ("You: Is it so?\nBot: Yes.", "the question is a line"), ("10:30 has passed. Is it so? Yes.", ""),
        ("It is so. " * 30 + "Try again.", ""), ("Just now", "looks like a clock"), ("", "is empty"),
    ],
)  # fmt: skip
def test_what_is_doubtful_about_one_answer(text: str, doubt: str) -> None:
    assert doubt in doubt_of("Is it so?", text)
    assert bool(doubt_of("Is it so?", text)) == bool(doubt)


def test_a_later_answer_that_is_doubtful() -> None:
    reading = Reading(Profile(Answer("p", ("Bot", "# tokens"))), final=True)

    def doubt(text: str, *left: LeftOver, busy: str | None = None) -> str:
        return reading.doubt("q", text, left, busy)

    def beside(text: str) -> LeftOver:
        return {"what": "text", "text": text, "selector": "aside"}

    assert doubt("Paris.") == ""
    assert doubt("Paris.", beside("312 tokens"), beside("Sent at 4:22 AM")) == ""
    assert "'Related: more'" in doubt("Paris.", beside("Related: more"))
    assert "show more of the answer" in doubt("Paris.", {"what": "fold", "text": "More", "selector": "button"})
    assert "still works" in doubt("Paris.", busy="#stop")
    assert "looks like a clock" in doubt("Sent at 4:22 AM")
    for text in ("One.\nSee you soon", "Two.\nSee you soon"):
        assert doubt(text) == ""
    assert doubt("Three.\nSee you soon") == "its last line is that of 2 other answers: 'See you soon'"

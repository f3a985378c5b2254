"""Which? The rows of both runs: question, reference, the candidate's answer; opened, both answers beside each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

from ragmeter.show.page.compare.verdict import sign_of
from ragmeter.show.page.compare.view import CompareView
from ragmeter.show.page.elements import Content, Markup, element, in_own_direction, joined, link, text
from ragmeter.wording.answer_causes import cause_words
from ragmeter.wording.numbers import number, signed
from ragmeter.wording.texts import shortened

WHICH, NO_ROWS, NO_ANSWER, REFERENCE = "Which?", "No row matches.", "no answer", "Reference"
#: Longer answers are cut; the row's own page has all of it.
_LONGEST, _IN_LINE = 1_500, 160
_WORDS = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True)
class OfRun:
    """What one run has of a row: its answer, score and cause, and the address of its page; `lacking` is why not."""

    answer: str | None
    score: float | None
    cause: str | None = None
    href: str | None = None
    lacking: str = ""


@dataclass(frozen=True)
class PairedRow:
    """A row of both runs. `gain` is by how much the candidate is better by the metric that the rows are shown by."""

    qid: str
    question: str
    reference: str
    a: OfRun
    b: OfRun
    gain: float | None


def row_list(view: CompareView, metric: str, rows: Sequence[PairedRow]) -> Markup:
    """The rows; each opens in its place."""
    if not rows:
        return element("p", NO_ROWS, class_="soft")
    return element("div", [_row(view, metric, row) for row in rows], class_="row-list")


def _row(view: CompareView, metric: str, row: PairedRow) -> Markup:
    shade = "even" if not row.gain else "better" if row.gain > 0 else "worse"
    difference = None if row.gain is None else (row.b.score or 0.0) - (row.a.score or 0.0)
    is_binary = view.pair.metrics[metric].binary
    amount = sign_of(shade) if is_binary else f"{sign_of(shade)} {signed(difference, decimals=2)}"
    causes = [cause_words(side.cause) for side in (row.a, row.b) if side.cause]
    moved = " → ".join(dict.fromkeys(causes))
    answer = row.b.answer
    line = element(
        "summary",
        element("span", text(shortened(row.question, _IN_LINE)), class_="row-question"),
        element("span", text(shortened(row.reference, _IN_LINE)), class_="row-reference"),
        element("span", _lacking(row.b) if answer is None else text(shortened(answer, _IN_LINE)), class_="row-answer"),
        element(
            "span",
            element("span", amount, class_=f"change {shade}", title=number(difference)),
            element("span", moved, class_="soft cause") if moved else None,
            class_="moved",
        ),
    )
    sides = [
        _side(view, metric, view.pair.a, row.a, row.b.answer or "", "del"),
        _side(view, metric, view.pair.b, row.b, row.a.answer or "", "ins"),
    ]
    return element(
        "details",
        line,
        element("p", text(row.question), class_="question"),
        element("p", f"{REFERENCE}: ", text(row.reference[:_LONGEST]), class_="soft") if row.reference else None,
        element("div", sides, class_="both"),
        class_="paired",
    )


def _side(view: CompareView, metric: str, name: str, side: OfRun, other: str, mark: str) -> Markup:
    """A run's answer, whole, with the words marked that the other run's answer has not."""
    if side.answer is None:
        shown: Content = _lacking(side)
    else:
        cut = side.answer[:_LONGEST] + (" …" if len(side.answer) > _LONGEST else "")
        shown = in_own_direction(list(marked(cut, other[:_LONGEST], mark))) if other else text(cut)
    about = [f"{metric} {number(side.score)}" if side.score is not None else side.lacking]
    about += [cause_words(side.cause)] if side.cause else []
    named = view.named(name, text(name))
    return element(
        "div",
        element("p", link(named, side.href) if side.href else named, class_="of-run"),
        element("p", " · ".join(part for part in about if part), class_="soft"),
        element("p", shown),
        class_="answer",
    )


def _lacking(side: OfRun) -> Markup:
    return element("span", side.lacking or NO_ANSWER, class_="lacking")


def marked(answer: str, other: str, mark: str) -> Iterator[Markup]:
    """A text, with the words in a `mark` that the other text has not.

    White space between two such words is marked too, so that what differs can be read in one piece.
    """
    words, others = _WORDS.findall(answer), _WORDS.findall(other)
    changed = ""
    for part in Indel.opcodes(words, others):
        piece = "".join(words[part.src_start : part.src_end])
        if part.tag != "equal" or (changed and not piece.strip()):
            changed += piece
            continue
        yield from _marked(changed, mark)
        changed = ""
        yield joined(piece)
    yield from _marked(changed, mark)


def _marked(changed: str, mark: str) -> Iterator[Markup]:
    rest = changed.rstrip()
    if rest:
        yield element(mark, rest)
    if rest != changed:
        yield joined(changed[len(rest) :])

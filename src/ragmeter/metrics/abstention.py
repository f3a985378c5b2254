"""Questions that can't be answered from what there is: an answer that declines is right there, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragmeter.definition import metric
from ragmeter.metrics.refusals import is_miss
from ragmeter.table import NOT_MARKED, NOT_YES_OR_NO, Failed

#: The columns that mark such questions, and whether yes means that there is no answer.
MARKS = {"unanswerable": True, "is_unanswerable": True, "is_impossible": True, "answerable": False}
#: In the languages whose refusals are known; `no` is Spanish and Italian as well.
_YES = frozenset(
    [
        "true",
        "yes",
        "y",
        "1",
        "1.0",
        "1,0",
        "sí",
        "si",
        "sì",
        "verdadero",
        "verdadera",
        "ja",
        "wahr",
        "oui",
        "vrai",
        "sim",
        "verdadeiro",
        "vero",
        "да",
        "tak",
        "evet",
        "はい",
        "是",
        "예",
        "네",
    ]
)
_NO = frozenset(
    [
        "false",
        "no",
        "n",
        "0",
        "0.0",
        "0,0",
        "falso",
        "falsa",
        "nein",
        "falsch",
        "non",
        "faux",
        "não",
        "nao",
        "nee",
        "nej",
        "nei",
        "ne",
        "нет",
        "nie",
        "hayır",
        "いいえ",
        "否",
        "不是",
        "아니요",
    ]
)


def is_unanswerable(marks: Mapping[str, str | None]) -> bool | Failed:
    """Whether a question is marked as unanswerable, by the first of its marks that says anything."""
    for name, means_unanswerable in MARKS.items():
        text = (marks.get(name) or "").strip().casefold()
        if text in _YES or text in _NO:
            return (text in _YES) == means_unanswerable
        if text:
            return Failed(NOT_YES_OR_NO)
    return Failed(NOT_MARKED)


@metric(direction="lower", binary=True)
def declined(answer: Sequence[str]) -> list[float]:
    """Whether the answer declines to answer.

    **Formula.** 1 if the answer declines ("I don't know", in 16 languages), else 0; its mean is the share of questions
    that the system leaves unanswered.

    **Edge cases.** An empty answer declines.

    **Use it** on answers of users' own questions, of which nothing else is known, with `ragmeter watch`. **Not** where
    some questions can't be answered: `abstention_correct` knows which ones should be declined.
    """
    return [float(is_miss(text)) for text in answer]


@metric(direction="higher", binary=True, optional=MARKS)
def abstention_correct(
    answer: Sequence[str],
    unanswerable: Sequence[str | None],
    is_unanswerable: Sequence[str | None],
    is_impossible: Sequence[str | None],
    answerable: Sequence[str | None],
) -> list[float | Failed]:
    """Whether the answer declines exactly where the question can't be answered.

    **Formula.** 1 if the answer declines ("I don't know", in 16 languages) and the question is marked as unanswerable,
    or if it does neither; else 0. The mark is in a column `unanswerable`, `is_unanswerable` or `is_impossible`, or in
    `answerable`, where it means the opposite: yes or no (also `sí`, `ja`, `oui`, `sim` and the like), true or false,
    1 or 0.

    **Edge cases.** An empty answer declines. A question without a mark is `no_unanswerable`, one whose mark is neither
    yes nor no `not_yes_or_no`: neither has a score.

    **Use it** beside `faithfulness`, which does not score answers that decline. **Not** for whether an answer that is
    given is right.
    """
    columns = (unanswerable, is_unanswerable, is_impossible, answerable)
    return [
        mark if isinstance(mark, Failed) else float(is_miss(text) == mark)
        for text, mark in zip(answer, map(_mark, zip(*columns, strict=True)), strict=True)
    ]


def _mark(marks: Sequence[str | None]) -> bool | Failed:
    return is_unanswerable(dict(zip(MARKS, marks, strict=True)))

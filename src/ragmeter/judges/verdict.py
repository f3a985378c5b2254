"""Is this answer right? CORRECT or WRONG, by a language model."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Literal

from ragmeter.definition import metric
from ragmeter.definition.judge_columns import LLM, SUPPORT_MODEL, Support, Wording, judge_column
from ragmeter.judges.asking.forms import Choice
from ragmeter.judges.encoder import LEAST, EncoderSupport
from ragmeter.metrics.conversation import CORRECT as CORRECT
from ragmeter.metrics.conversation import WRONG as WRONG
from ragmeter.metrics.conversation import is_same_answer
from ragmeter.metrics.offline import offline_correct
from ragmeter.metrics.support import has_text
from ragmeter.table import UNDEFINED, UNPARSABLE, Failed, Row

#: Chosen among several wordings by agreement with people: see docs/judge-trust.md.
_WORDS = """\
{question}
{reference}
{answer}

Judging by the correct answer, is the student answer right? Other words, another language and more detail are fine; \
contradictions and several answers are not."""
_LABELS = {"question": "Question", "reference": "Correct answer", "answer": "Student answer"}
#: The other order and other names: a small model is misled by each in its own way.
_REPHRASED = Wording(
    """\
{question}
{answer}
{reference}

Judging by the expected answer, is the given answer right? Other words, another language and more detail are fine; \
a contradiction, a part of the answer or several answers are not.""",
    {"question": "Question", "answer": "Given answer", "reference": "Expected answer"},
    in_doubt=WRONG,
)

_OWN_WORDS = {CORRECT: CORRECT, WRONG: WRONG}
_YES_NO = {"Yes": CORRECT, "No": WRONG}
#: The form of a reply to a user's own words, which speak of CORRECT and WRONG.
OWN_FORM = Choice("verdict", _OWN_WORDS, also=_YES_NO)


def _known(row: Row) -> str | None:
    """An answer that is the expected one, word for word, needs no judge, and an empty one neither."""
    if not has_text(row["answer"]):
        return WRONG
    return CORRECT if any(is_same_answer(row["answer"], expected) for expected in row["reference"]) else None


def _without_model(rows: Sequence[Row], support: Support) -> list[str | Failed]:
    """The offline judge's verdicts; a classifier's: whether the answer says what one of the references says."""
    if not rows:
        return []
    if isinstance(support, EncoderSupport):
        claims = [[f"{row['question'] or ''} {text}".strip() for text in row["reference"]] for row in rows]
        answers = [f"{row['question'] or ''} {row['answer']}".strip() for row in rows]
        chances = [max(each_reference) for each_reference in support.chances(claims, answers)]
        return [CORRECT if chance >= LEAST else WRONG for chance in chances]
    scores = offline_correct(
        [row["question"] for row in rows], *([row[name] for row in rows] for name in ("reference", "answer"))
    )
    return [Failed(UNDEFINED) if isnan(score) else CORRECT if score else WRONG for score in scores]


verdict = judge_column(
    "verdict",
    words=_WORDS,
    form=Choice("verdict", _YES_NO, also=_OWN_WORDS),
    fills=("reason", "judged_by", "verdict_probability"),
    optional=("question",),
    settings={"judge": LLM, "juror": None, SUPPORT_MODEL: None},
    known=_known,
    labels=_LABELS,
    rephrased=_REPHRASED,
    offline=_without_model,
    instead="offline there is offline_correct",
)


@metric(direction="higher", binary=True, is_verdict=True)
def llm_correct(
    verdict: Sequence[str], *, judge: Literal["llm", "cascade"] = "llm", juror: str | None = None
) -> list[float | Failed]:
    """Whether the answer is right in the judgement of a language model.

    **Formula.** 1 if its verdict is CORRECT, 0 if it is WRONG. The column `verdict` is filled by the judge's model, and
    kept in the run with its `reason`; `judged_by` says who decided. An answer that is the reference word for word (but
    for case, quotes, white space and a full stop) is CORRECT without asking, an empty one WRONG.

    **Settings.** With `judge=cascade` the offline judge decides where it is sure, and the model judges the rest.
    `juror` is one of several models that judge: docs/judge.md has a jury.

    **Edge cases.** A reply that can't be read, a refusal and a failed call are not verdicts: the row is counted with
    its cause, and has no score. So is any other value in a table's own column `verdict`.

    **Use it** where answers are phrased freely. **Not** without checking how it agrees with people: `ragmeter label`
    and `ragmeter calibrate`.
    """
    scores = {CORRECT: 1.0, WRONG: 0.0}
    unreadable = Failed(UNPARSABLE)
    return [scores.get(value, unreadable) for value in verdict]

"""How good is this answer, on a scale? By a language model."""

from __future__ import annotations

from collections.abc import Sequence

from ragmeter.definition import metric
from ragmeter.definition.judge_columns import Changes, judge_column
from ragmeter.errors import UsageError
from ragmeter.judges.asking.forms import Scale
from ragmeter.metrics.support import has_text
from ragmeter.table import UNPARSABLE, Failed

_WORDS = """\
{question}
{reference}
{answer}

How good is the answer to grade, measured by the reference answer? The worst grade is for an answer that is wrong or \
says nothing, the best for one that is right and complete."""
_LABELS = {"question": "Question", "reference": "Reference answer", "answer": "Answer to grade"}


class ScaleName(str):
    """The two ends of a scale, as in `1-5`."""

    @classmethod
    def parse(cls, value: object) -> ScaleName:
        """Read `1-5`; the second number must be the higher one."""
        low, dash, high = str(value).partition("-")
        if not (dash and low.isdecimal() and high.isdecimal() and int(low) < int(high) <= 100):
            raise UsageError(f"a scale is two numbers such as 1-5, at most 100, and this is {str(value)!r}")
        return cls(f"{int(low)}-{int(high)}")

    @property
    def ends(self) -> tuple[int, int]:
        """The worst grade and the best."""
        low, _, high = self.partition("-")
        return int(low), int(high)


_USUAL = ScaleName("1-5")


def _on_scale(low: int, high: int) -> Changes:
    """The form of the reply, and the grade of an answer that says nothing: the worst, and nobody is asked."""
    return {"form": Scale("grade", low, high), "known": lambda row: None if has_text(row["answer"]) else str(low)}


grade = judge_column(
    "grade",
    words=_WORDS,
    form=Scale("grade", *_USUAL.ends),
    fills=("grade_reason",),
    optional=("question",),
    settings={"scale": _USUAL},
    instead="offline there is offline_correct, right or wrong",
    labels=_LABELS,
    configure=lambda settings: _on_scale(*ScaleName.parse(settings["scale"]).ends),
)


@metric(direction="higher")
def llm_grade(grade: Sequence[str], *, scale: ScaleName = _USUAL) -> list[float | Failed]:
    """How good the answer is in the judgement of a language model, from 0 (its worst grade) to 1 (its best).

    **Formula.** `(grade − lowest) / (highest − lowest)`. The column `grade` is filled by the judge's model.

    **Settings.** `scale=1-10` asks for grades from 1 to 10; 1-5 unless given.

    **Edge cases.** An empty answer gets the worst grade, without asking the model. A reply that is not a whole number
    on the scale is not a grade: the row is counted, and has no score.

    **Use it** with a prompt of your own, for what comes in degrees: completeness, tone. **Not** for right or wrong:
    `llm_correct` is steadier.
    """
    low, high = scale.ends
    grades = {str(number): (number - low) / (high - low) for number in range(low, high + 1)}
    unreadable = Failed(UNPARSABLE)
    return [grades.get(value, unreadable) for value in grade]

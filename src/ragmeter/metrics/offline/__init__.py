"""The offline judge: whether a person would call an answer right, from the texts alone.

`values.py` and `vocabulary.py` normalise texts, `matching.py` compares them, with `related.py` for near equivalents,
`features.py` turns the result into numbers, `trees.py` weighs them. `guards.py` caps the probability in doubtful cases:
by the context (`scope.py`) of the `mentions.py` of the gold answer, by its `parts.py`, or because the answer has
`another.py` in place of a part. `evidence.py` explains a verdict in words. `training/` in the repository trains the
trees, docs/offline-judge.md says how good they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ragmeter.definition import column, metric
from ragmeter.metrics.normalize import AUTO, Language
from ragmeter.table import Scores

RIGHT = 0.5
Floats = npt.NDArray[np.float64]


@column
def offline_evidence(
    question: Sequence[str], reference: Sequence[str], answer: Sequence[str], *, language: str | None
) -> Floats:
    """The features of each pair."""
    from ragmeter.metrics.offline.features import features  # here, so that other metrics don't wait for its import

    return features(question, reference, answer, None if language == AUTO else language)


@metric(direction="higher")
def offline_correct_probability(
    offline_evidence: Floats, *, language: Language | None = None, calibration: str | None = None
) -> Scores:
    """The probability that a person would call the answer right, judged offline from the texts alone.

    **Formula.** Question, gold answer and answer are normalised (numbers, dates, units, abbreviations, stems),
    compared, and turned into evidence: which gold words are present, missing or spelled differently, which numbers
    agree or contradict, negations, refusals, alternatives, where and beside what else the gold answer occurs. Trees
    trained on people's verdicts weigh it, with a fixed direction for each piece of evidence; the result is calibrated,
    and capped where the gold words occur only negated, among alternatives, in a heap of other words, or where the
    answer says nothing. Without a language, it is detected from the function words. `calibration` is a file that
    `ragmeter calibrate --offline-judge` made of your own labels.

    **Edge cases.** Several references: the best one counts. An empty answer is hardly ever right. Only the first 20,000
    characters of a text are read.

    **Use it** where exact match and token F1 are too coarse and a language model is too slow: short factual questions
    with a gold answer. `ragmeter explain` explains a verdict. **Not** for long free answers, or where a right answer
    shares no word with the gold one.
    """
    from ragmeter.metrics.offline.curves import read_curve
    from ragmeter.metrics.offline.trees import trees

    chances = trees().probabilities(offline_evidence)
    return chances if calibration is None else read_curve(calibration)(chances)


@metric(direction="higher", binary=True)
def offline_correct(
    offline_correct_probability: Scores, *, language: Language | None = None, calibration: str | None = None
) -> Scores:
    """1 if the offline judge calls the answer right, else 0.

    **Formula.** 1 where `offline_correct_probability` is at least 0.5.

    **Edge cases.** Those of `offline_correct_probability`.

    **Use it** as a rate of right answers that agrees with people better than exact match or a threshold on token F1.
    **Not** for long free answers: docs/offline-judge.md says where it is good and where it is not.
    """
    return (offline_correct_probability >= RIGHT).astype(np.float64)

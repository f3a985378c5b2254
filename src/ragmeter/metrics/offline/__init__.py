"""The offline judge: whether an answer is right, as a person would say, from the texts alone.

`values.py` and `vocabulary.py` write texts in one way, `matching.py` compares them, with `related.py` for what is
nearly the same, `features.py` makes numbers of the evidence, `trees.py` weighs them. `guards.py` says where nobody can
be sure: by the `scope.py` that the `mentions.py` of the gold answer stand in, by its `parts.py`, or because there is
`another.py`. `evidence.py` says in words what decided. `training/` in the repository has how the trees were trained,
docs/offline-judge.md how good they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragmeter.definition import column, metric
from ragmeter.metrics.normalize import AUTO, Language
from ragmeter.metrics.offline.curves import read_curve
from ragmeter.metrics.offline.features import features
from ragmeter.metrics.offline.trees import trees
from ragmeter.metrics.offline.vocabulary import Floats
from ragmeter.table import Scores

RIGHT = 0.5


@column
def offline_evidence(
    question: Sequence[str], reference: Sequence[str], answer: Sequence[str], *, language: str | None
) -> Floats:
    """What the offline judge knows of each pair, as numbers."""
    return features(question, reference, answer, None if language == AUTO else language)


@metric(direction="higher")
def offline_correct_probability(
    offline_evidence: Floats, *, language: Language | None = None, calibration: str | None = None
) -> Scores:
    """The probability that a person would call the answer right, judged offline from the texts alone.

    **Formula.** Question, gold answer and answer are written in one way (numbers, dates, units, abbreviations, stems),
    compared, and turned into evidence: which gold words are there, missing or spelled otherwise, which numbers agree
    or contradict, negations, refusals, alternatives, where and among what else the gold answer stands. Trees trained
    on people's verdicts weigh it, with the direction of each piece of evidence fixed; the result is calibrated, and
    capped where the gold words stand only negated, among alternatives, in a heap, or the answer says nothing.
    Without a language, it is told from the function words. `calibration` is a file that `ragmeter calibrate
    --offline-judge` made of your own labels.

    **Edge cases.** Several references: the best one counts. An empty answer is hardly ever right. Of a text beyond
    20,000 characters only the beginning is read.

    **Use it** where exact match and token F1 are too blunt and a language model is too slow: short factual questions
    with a gold answer. `ragmeter explain` says what decided. **Not** for long free answers, or where a right answer
    shares no word with the gold one.
    """
    found = trees().probabilities(offline_evidence)
    return found if calibration is None else read_curve(calibration)(found)


@metric(direction="higher", binary=True)
def offline_correct(
    offline_correct_probability: Scores, *, language: Language | None = None, calibration: str | None = None
) -> Scores:
    """1 if the offline judge holds the answer for right, else 0.

    **Formula.** 1 where `offline_correct_probability` is at least 0.5.

    **Edge cases.** Those of `offline_correct_probability`.

    **Use it** as a rate of right answers that agrees with people better than exact match or a threshold on token F1.
    **Not** for long free answers: docs/offline-judge.md says where it is good and where it is not.
    """
    return (offline_correct_probability >= RIGHT).astype(np.float64)

"""The offline judge: whether a person would call an answer right, from the texts alone.

`reading/` leaves out what says nothing and normalises the rest, `matching/` compares the texts of a pair, `polarity/`
says whether both mean yes or no. `features.py` turns the result into numbers, `trees.py` weighs them, `guards.py` caps
the probability in doubtful cases. `thresholds.py` has every number that was chosen, `evidence.py` explains a verdict in
words, `curves.py` fits it to a user's own labels. `training/` in the repository trains the trees, docs/offline-judge.md
says how good they are.

Long answers have a judge of their own: `shares.py` compares them with the reference, `quality.py` weighs the shares.

The support model, whether passages support a claim or an answer, is in `support/`; it has trees and features of its
own, and shares `reading/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ragmeter.definition import column, metric
from ragmeter.metrics.normalize import AUTO, Language
from ragmeter.metrics.refusals import is_miss
from ragmeter.metrics.support import NO_CONTEXTS, as_passages
from ragmeter.table import ABSTAINED, NO_CLAIMS, Failed, Scores

if TYPE_CHECKING:
    from ragmeter.metrics.offline.support.answers import Claims

RIGHT = 0.5
Floats = npt.NDArray[np.float64]
Aspect = Literal["overall", "correctness", "completeness"]


@column
def offline_evidence(
    question: Sequence[str], reference: Sequence[str], answer: Sequence[str], *, language: str | None
) -> Floats:
    """The features of each pair."""
    from ragmeter.metrics.offline.features import features  # here, so that other metrics don't wait for its import

    return features(question, reference, answer, None if language == AUTO else language)


@metric(direction="higher", needs_short_references=True, holds_lock=True)
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
    with a gold answer. `ragmeter explain` explains a verdict. **Not** for references of more than a sentence, which
    `offline_quality` is for, or where a right answer shares no word with the gold one.
    """
    from ragmeter.metrics.offline.curves import read_curve
    from ragmeter.metrics.offline.trees import trees

    chances = trees().probabilities(offline_evidence)
    return chances if calibration is None else read_curve(calibration)(chances)


@metric(direction="higher", binary=True, needs_short_references=True, holds_lock=True)
def offline_correct(
    offline_correct_probability: Scores, *, language: Language | None = None, calibration: str | None = None
) -> Scores:
    """1 if the offline judge calls the answer right, else 0.

    **Formula.** 1 where `offline_correct_probability` is at least 0.5.

    **Edge cases.** Those of `offline_correct_probability`.

    **Use it** as a rate of right answers that agrees with people better than exact match or a threshold on token F1.
    **Not** for references of more than a sentence: it has learnt from answers of a few words. `offline_quality` is for
    long ones. docs/offline-judge.md says where it is good and where it is not.
    """
    return (offline_correct_probability >= RIGHT).astype(np.float64)


@column
def quality_shares(
    question: Sequence[str | None], reference: Sequence[str], answer: Sequence[str], *, language: str | None
) -> Floats:
    """What the two sides of each pair have in common."""
    from ragmeter.metrics.offline.shares import shares

    return shares(question, reference, answer, None if language == AUTO else language)


@metric(direction="higher", may_lack=("question",), mean_is_rate=False, holds_lock=True)
def offline_quality(quality_shares: Floats, *, aspect: Aspect = "overall", language: Language | None = None) -> Scores:
    """How good a long answer is compared with a long reference, judged offline from the texts alone.

    **Formula.** A weighted mean of eleven shares between 0 and 1: how many of the reference's words, names and numbers
    the answer has, how many of the answer's words the reference has (words of the question are a share of their own,
    with little weight), how well the lengths fit, and whether the answer declines. The weights are learnt from people's
    preferences between two systems' answers; `aspect` says which: `overall`, `correctness` or `completeness`.
    Words are compared by their stems, numbers by their values. Without a language, it is detected from the function
    words.

    **Edge cases.** The reference itself scores 1, an answer without words 0; a refusal scores low, unless the reference
    is one. Without a question, all words count alike, which agrees less with people. Several references: the best one
    counts. Only the first 20,000 characters of a text are read.

    **Use it** to order systems or answers where references are longer than a sentence and a language model is too slow.
    The difference between two answers means something; the number alone is not a probability and has no threshold.
    **Not** for references of a few words (use `offline_correct`), nor as proof that what an answer says is true: a
    wrong sentence made of the right words scores well. docs/offline-quality.md has the results.
    """
    from ragmeter.metrics.offline.quality import weighed, weights

    return weighed(quality_shares, weights(aspect))


@column
def answer_claims(answer: Sequence[str], contexts: Sequence[Any]) -> list[Claims | Failed]:
    """The claims of each answer with their support, or why there are none."""
    from ragmeter.metrics.offline.support.answers import claims_of_answers

    passages = [as_passages(row) for row in contexts]
    claims = claims_of_answers(answer, passages)
    return [_unscorable(*row) or row[1] for row in zip(answer, claims, passages, strict=True)]


def _unscorable(answer: str, claims: Claims, passages: Sequence[str]) -> Failed | None:
    if not passages:
        return Failed(NO_CONTEXTS)
    if not claims.texts:
        return Failed(NO_CLAIMS)
    return Failed(ABSTAINED) if is_miss(answer) or not claims.made else None


@metric(direction="higher", mean_is_rate=False, rate="offline_hallucinated", holds_lock=True)
def offline_supported(answer_claims: Sequence[Claims | Failed]) -> list[float | Failed]:
    """The probability that the passages in `contexts` support the answer, judged offline from the texts alone.

    **Formula.** The words, numbers and names of each claim of the answer (its sentences and clauses) are looked up in
    the passages, in any form and language: which are missing, which stand in one sentence or in two, in which order,
    and what is negated. Trees trained on people's labels turn this into log-odds, with a fixed direction for each piece
    of evidence. Another number, unit, name or role in the same place, or the opposite, caps them. The best passage of
    each claim counts. The mean of the claims' log-odds, weighted by their words, becomes the probability. It is
    calibrated for equal numbers of supported and unsupported answers: 0.5 is the threshold.

    **Edge cases.** An answer that declines is `abstained`, one without words `no_claims`, a row without passages
    `no_contexts`: none has a score. Claims that decline don't count, nor do citations. Of a passage the first two
    million characters are read.

    **Use it** to find answers that go beyond what was retrieved, at no cost. `ragmeter explain` shows the words that no
    passage has, and those that clash. **Not** to judge a claim that only two passages together support.
    """
    return [row if isinstance(row, Failed) else row.supported() for row in answer_claims]


@metric(direction="lower", mean_is_rate=False, rate="offline_hallucinated", holds_lock=True)
def offline_hallucination(answer_claims: Sequence[Claims | Failed]) -> list[float | Failed]:
    """The probability that some claim of the answer is not supported by the passages in `contexts`, judged offline.

    **Formula.** The odds that a claim is not supported (see `offline_supported`) are averaged over the answer's
    claims, weighted by their words, so that the least supported claims decide. They grow with the square root of the
    answer's length beyond thirty content words. People's labels calibrate the probability, for equal numbers of answers
    with and without a hallucination: 0.5 is the threshold.

    **Edge cases.** Those of `offline_supported`.

    **Use it** to sort answers, the most doubtful ones first. **Not** as a rate: the mean of these probabilities is
    neither the share of answers with a hallucination (`offline_hallucinated`) nor that of unsupported claims (1 minus
    `faithfulness`).
    """
    return _hallucination(answer_claims)


@metric(direction="lower", binary=True, holds_lock=True)
def offline_hallucinated(answer_claims: Sequence[Claims | Failed]) -> list[float | Failed]:
    """1 if some claim of the answer is probably not supported by the passages in `contexts`, else 0.

    **Formula.** 1 where `offline_hallucination` is at least 0.5.

    **Edge cases.** Those of `offline_hallucination`.

    **Use it** as the share of answers that say more than their passages. **Not** as a rate to publish without labels:
    the threshold was chosen on as many answers with a hallucination as without.
    """
    from ragmeter.metrics.offline.support.answers import HALLUCINATED

    chances = _hallucination(answer_claims)
    return [chance if isinstance(chance, Failed) else float(chance >= HALLUCINATED) for chance in chances]


def _hallucination(answer_claims: Sequence[Claims | Failed]) -> list[float | Failed]:
    from ragmeter.metrics.offline.support.answers import answer_calibration

    calibration = answer_calibration()
    return [row if isinstance(row, Failed) else row.hallucinated(*calibration) for row in answer_claims]

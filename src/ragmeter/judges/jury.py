"""Several judges of the same answers: each has a verdict of its own, and they have one together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ragmeter.definition import metric
from ragmeter.definition.columns import Several
from ragmeter.definition.judge_columns import ENCODER, LOCAL, OFFLINE, SUPPORT_MODEL, BoundColumn
from ragmeter.definition.metrics import COLUMNS
from ragmeter.errors import UsageError
from ragmeter.hints import by_caller
from ragmeter.judges.verdict import CORRECT, WRONG, verdict
from ragmeter.naming import Settings
from ragmeter.stats.jury import Ballots, has_quorum, joint_verdicts
from ragmeter.table import NO_QUORUM, TIED, Failed, Scores

#: Between the names of jurors, and between their weights.
AND, BETWEEN = "+", "/"

Votes = Mapping[str, Sequence[str | None]]


def is_local(juror: str) -> bool:
    """Whether a juror asks no language model: the offline judge, or a classifier, as `encoder:FOLDER`."""
    return juror.partition(":")[0] in LOCAL


def juror_settings(juror: str) -> Settings:
    """The settings of the column `verdict` that a juror fills."""
    kind, _, model = juror.partition(":")
    if kind == ENCODER:
        return {"judge": ENCODER, SUPPORT_MODEL: model or None}
    return {"judge": OFFLINE} if kind == OFFLINE else {"juror": juror}


def juror_column(juror: str) -> str:
    """The name of the column that has a juror's verdicts."""
    return BoundColumn.of(verdict, {**verdict.settings, **juror_settings(juror)}).name


def _by_juror(settings: Settings) -> Mapping[str, Settings]:
    if not settings["jurors"]:
        return {verdict.name: verdict.settings}  # a jury that is not named yet: what its columns are made of
    names = jurors_in(settings["jurors"])
    return {name: {**verdict.settings, **juror_settings(name)} for name in names}


def jurors_in(jurors: str | None) -> list[str]:
    """The names of the jurors in a setting."""
    names = [name for name in (jurors or "").split(AND) if name]
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError(
            f"a jury has two different judges or more, got {jurors or 'none'}",
            hint=by_caller("name the models: --judge-model A --judge-model B", 'Judge("A", jurors=[Judge("B")])'),
        )
    return names


COLUMNS["votes"] = Several("votes", lambda: None, (), ("jurors",), of=verdict.name, each=_by_juror)


@metric(direction="higher", binary=True, is_verdict=True)
def jury_correct(votes: Votes, *, jurors: str | None = None, weights: str | None = None) -> list[float | Failed]:
    """Whether the answer is right in the judgement of several judges together.

    **Formula.** 1 if most of the jurors with a verdict say CORRECT, 0 if most say WRONG.

    **Settings.** `jurors` are the models, joined by +; `offline` is the offline judge, `encoder:FOLDER` a classifier of
    pairs of texts. `weights` are those that `ragmeter calibrate --jury` learns from people's labels: the log-odds of
    CORRECT before anybody votes, then what each juror's vote adds, or takes away. 1 if the sum is above 0.

    **Edge cases.** As many votes on one side as on the other: `tied`. Fewer than half of the jurors have a verdict:
    `no_quorum`.

    **Use it** where one model is not trusted alone. **Not** as a sign of quality by itself: jurors that are wrong
    together agree.
    """
    ballots = ballots_of(votes)
    verdicts = joint_verdicts(ballots, None if weights is None else read_weights(weights, len(votes)))
    return [
        (Failed(TIED) if enough else Failed(NO_QUORUM)) if math.isnan(verdict) else verdict
        for verdict, enough in zip(verdicts.tolist(), has_quorum(ballots).tolist(), strict=True)
    ]


@metric(direction="higher")
def jury_agreement(votes: Votes, *, jurors: str | None = None) -> list[float | Failed]:
    """The share of pairs of jurors that say the same of an answer.

    **Formula.** Of all pairs of jurors with a verdict, the share with equal ones.

    **Edge cases.** Fewer than two verdicts: `no_quorum`.

    **Use it** to see how often judges differ, and on which answers: `ragmeter power --labels` has people look at these.
    **Not** as a sign that they are right.
    """
    ballots = ballots_of(votes)
    yes, no = ((ballots == sign).sum(axis=0) for sign in (1, -1))
    pairs = (yes + no) * (yes + no - 1) / 2
    same = (yes * (yes - 1) + no * (no - 1)) / 2
    return [float(a / n) if n else Failed(NO_QUORUM) for a, n in zip(same.tolist(), pairs.tolist(), strict=True)]


def ballots_of(votes: Votes) -> Ballots:
    """A line for each juror: 1 for CORRECT, -1 for WRONG, 0 for no verdict."""
    signs = {CORRECT: 1.0, WRONG: -1.0}
    return np.array([[signs.get(value or "", 0.0) for value in column] for column in votes.values()])


def read_weights(text: str, n_jurors: int) -> Scores:
    """Weights from a metric's setting: one, and one for each juror."""
    try:
        weights = np.array([float(part) for part in text.split(BETWEEN)])
    except ValueError:
        weights = np.array([math.nan])
    if len(weights) != 1 + n_jurors or not np.isfinite(weights).all():
        raise UsageError(
            f"weights of {n_jurors} jurors are {1 + n_jurors} numbers with {BETWEEN} between them, got {text!r}",
            hint="`ragmeter calibrate --jury` writes them",
        )
    return weights

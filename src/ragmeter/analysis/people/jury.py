"""A jury beside people's labels: each juror, all together, what they are worth, and the cheapest panel that will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ragmeter import registry
from ragmeter.analysis.people.estimates import AgainstPeople, estimates_of, row_weights
from ragmeter.analysis.people.label_matches import Matched, match
from ragmeter.analysis.people.labels import read_labels
from ragmeter.analysis.people.verdicts import Answers, read_columns
from ragmeter.definition import Metric
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import by_caller, option
from ragmeter.io.reading import Reading
from ragmeter.judges.jury import BETWEEN, ballots_of, is_local, juror_column, jurors_in, jury_correct
from ragmeter.runs.run import Run
from ragmeter.stats.agreement import Estimate, cohens_kappa, confusion
from ragmeter.stats.clusters import Codes
from ragmeter.stats.design import InClusters
from ragmeter.stats.distributions import t_quantile
from ragmeter.stats.jury import Ballots, cross_fitted, folds_of, joint_verdicts, learnt_weights, panels
from ragmeter.table import Scores
from ragmeter.wording.numbers import significant

#: With fewer labels, weights and panels can't be told from chance.
FEWEST = 40


@dataclass(frozen=True)
class Juror:
    """One juror beside people, and what its calls for the run have taken: None for dollars that nobody knows."""

    name: str
    against: AgainstPeople
    cost_usd: float | None
    tokens: int


@dataclass(frozen=True)
class Pair:
    """How two jurors agree with each other, over all rows of the run."""

    first: str
    second: str
    kappa: Estimate


@dataclass(frozen=True)
class PanelChoice:
    """The cheapest panel whose majority reached the agreement on one half of the labels; `reported` is on the other.

    Without such a panel, it is the one that agreed most. Its cost is in dollars, or where a price is not known in
    tokens.
    """

    target: float
    jurors: tuple[str, ...]
    reaches: bool
    cost: float
    in_dollars: bool
    chosen_on: Estimate
    reported: Estimate


@dataclass(frozen=True)
class JuryCalibration:
    """A jury beside people. `weighted` is cross-fitted; its `gain` in agreement over the majority has its interval.

    `weights` are a setting of `jury_correct`: learnt from all labels, for answers that nobody has labelled.
    """

    run: str
    metric: str
    level: float
    n_labels: int
    jurors: tuple[Juror, ...]
    pairs: tuple[Pair, ...]
    majority: AgainstPeople
    weighted: AgainstPeople
    gain: Estimate
    weights: str
    panel: PanelChoice | None = None

    @property
    def weights_help(self) -> bool:
        """Whether the weights agree with people more often than the majority does, by more than the standard error."""
        return self.gain.value is not None and self.gain.value > (self.gain.standard_error or 0.0) > 0

    @property
    def weighted_metric(self) -> str:
        """The name of the metric with these weights."""
        return registry.get(self.metric).with_settings(weights=self.weights).name

    def as_dict(self) -> dict[str, Any]:
        """The result as a dict for JSON."""
        return {**asdict(self), "weights_help": self.weights_help, "weighted_metric": self.weighted_metric}


@dataclass(frozen=True)
class _Labelled:
    """The labelled rows: the jurors' votes on them, people's verdicts, and how they were drawn."""

    ballots: Ballots
    people: Scores
    weights: Scores
    groups: Codes

    def part(self, rows: npt.NDArray[np.bool_]) -> _Labelled:
        """Some of them."""
        return _Labelled(self.ballots[:, rows], self.people[rows], self.weights[rows], self.groups[rows])

    def share(self, is_so: npt.NDArray[np.bool_], level: float) -> Estimate:
        """The share of those for which it is so."""
        everything = np.ones(len(is_so), dtype=np.bool_)
        return InClusters.of(self.weights, self.groups).share(is_so, everything, level, of="labels")


def calibrate_jury(
    run: Run,
    labels: Any,
    *,
    metric: str | None = None,
    panel: float | None = None,
    level: float = 0.95,
    reading: Reading = Reading(),  # noqa: B008 - frozen
) -> JuryCalibration:
    """Compare the jurors of a run with people's labels, one by one and together.

    `panel` is an agreement with people: the cheapest panel that reaches it is named.
    """
    if panel is not None and not 0 < panel <= 1:
        raise UsageError(f"{option('panel', panel)} should be an agreement between 0 and 1", hint="0.95, for example")
    joint = _jury_of(run, metric)
    matched = match(read_labels(labels, reading), read_columns(run, ["qid"])["qid"], Answers(run))
    if matched.counts.labelled < FEWEST:
        raise InputError(
            f"{matched.counts.labelled:,} labels are too few to learn a jury's weights from: at least {FEWEST}",
            hint="`ragmeter power RUN --labels` says which rows to label next",
        )
    names, ballots = _votes(run, joint)
    clusters = run.clusters(run.confidence)[1]
    rows = np.arange(ballots.shape[1]) if clusters is None else clusters
    labelled = _Labelled(
        ballots[:, matched.places], matched.people, row_weights(matched, ballots.shape[1]), rows[matched.places]
    )
    weights = learnt_weights(labelled.ballots, labelled.people, labelled.weights)
    majority, weighted = joint_verdicts(ballots), joint_verdicts(ballots, weights)
    weighted[matched.places] = cross_fitted(labelled.ballots, labelled.people, labelled.weights, labelled.groups)
    jurors = tuple(
        _juror(run, name, _against(matched, np.where(own == 0, np.nan, own > 0), level, clusters))
        for name, own in zip(names, ballots, strict=True)
    )
    return JuryCalibration(
        run.name,
        joint.name,
        level,
        matched.counts.labelled,
        jurors,
        tuple(_pairs(names, ballots, rows, level)),
        _against(matched, majority, level, clusters),
        _against(matched, weighted, level, clusters),
        _gain(labelled, weighted[matched.places], majority[matched.places], level),
        BETWEEN.join(map(significant, weights.tolist())),
        None if panel is None else _panel(jurors, labelled, panel, level),
    )


def jury_votes(run: Run) -> dict[str, Scores]:
    """The vote of each juror on each row of a run: 1 for correct, 0 for wrong, NaN for none. Empty without a jury."""
    if not any(name.partition("[")[0] == jury_correct.base for name in run.row_metrics):
        return {}
    names, ballots = _votes(run, _jury_of(run, None))
    return {name: np.where(own == 0, np.nan, own > 0) for name, own in zip(names, ballots, strict=True)}


def _votes(run: Run, joint: Metric) -> tuple[list[str], Ballots]:
    names = jurors_in(joint.settings["jurors"])
    columns = run.rows([juror_column(name) for name in names])
    return names, ballots_of({name: columns[juror_column(name)].to_pylist() for name in names})


def _jury_of(run: Run, metric: str | None) -> Metric:
    named = [name for name in run.row_metrics if name.partition("[")[0] == jury_correct.base]
    chosen = named[:1] if metric is None else [name for name in named if name == metric]
    if not chosen:
        raise UsageError(
            f"the run has no jury{'' if metric is None else f' {metric}'}",
            hint=f"it has {', '.join(named)}"
            if named
            else by_caller("`ragmeter evaluate --metrics llm_correct --judge-model A --judge-model B` makes one", ""),
        )
    return registry.get(chosen[0]).with_settings(weights=None)


def _against(matched: Matched, verdicts: Scores, level: float, clusters: Codes | None) -> AgainstPeople:
    return estimates_of(matched, verdicts, level, None, clusters)["judge"]


def _juror(run: Run, name: str, against: AgainstPeople) -> Juror:
    summary = run.summary().judges.get(juror_column(name))
    if is_local(name):
        return Juror(name, against, 0.0, 0)
    if summary is None:  # a table has brought its verdicts
        return Juror(name, against, None, 0)
    return Juror(name, against, summary.usage.cost_usd, summary.usage.prompt_tokens + summary.usage.completion_tokens)


def _pairs(names: Sequence[str], ballots: Ballots, groups: Codes, level: float) -> list[Pair]:
    """How the jurors agree with each other; rows that belong together count as one draw."""
    pairs = []
    for (a, first), (b, second) in combinations(zip(names, ballots, strict=True), 2):
        both = (first != 0) & (second != 0)
        own = groups[both]
        if len(np.unique(own)) == len(own):
            kappa = cohens_kappa(confusion(first[both], second[both]), level)
        else:
            a_right, b_right = ((votes[both] > 0).astype(np.float64) for votes in (first, second))
            kappa = InClusters.of(np.ones(len(own)), own).kappa(a_right, b_right, level)
        pairs.append(Pair(a, b, kappa))
    return pairs


def _gain(labelled: _Labelled, weighted: Scores, majority: Scores, level: float) -> Estimate:
    """How much more often the weighted verdict is people's than the majority's; a tie is never people's."""
    gain = (weighted == labelled.people).astype(float) - (majority == labelled.people)
    drawn = InClusters.of(labelled.weights, labelled.groups)
    mean = drawn.mean(gain)
    error = float(np.sqrt(drawn.variance(gain - mean)))
    margin = t_quantile(0.5 + level / 2, drawn.freedom) * error
    return Estimate(mean, (mean - margin, mean + margin), len(gain), error, "cross-fitted")


def _panel(jurors: Sequence[Juror], labelled: _Labelled, target: float, level: float) -> PanelChoice:
    """Choose on one half of the labels, and report on the other."""
    in_dollars = all(juror.cost_usd is not None for juror in jurors)
    costs = [(juror.cost_usd or 0.0) if in_dollars else float(juror.tokens) for juror in jurors]
    halves = folds_of(labelled.groups, 2)
    first, second = labelled.part(halves == 0), labelled.part(halves == 1)

    def agreement(part: _Labelled, panel: tuple[int, ...]) -> Estimate:
        return part.share(joint_verdicts(part.ballots[list(panel)]) == part.people, level)

    agreements = {panel: agreement(first, panel) for panel in panels(len(jurors))}
    cost = {panel: sum(costs[juror] for juror in panel) for panel in agreements}
    reaching = [panel for panel, share in agreements.items() if (share.value or 0.0) >= target]
    if reaching:
        chosen = min(reaching, key=lambda panel: (cost[panel], len(panel), -(agreements[panel].value or 0.0)))
    else:
        chosen = max(agreements, key=lambda panel: (agreements[panel].value or 0.0, -cost[panel]))
    names = tuple(jurors[juror].name for juror in chosen)
    return PanelChoice(
        target, names, bool(reaching), cost[chosen], in_dollars, agreements[chosen], agreement(second, chosen)
    )

"""A jury beside people's labels: each juror, all together, what they are worth, and the cheapest panel that will do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ragmeter import registry
from ragmeter.analysis.people.estimates import AgainstPeople, estimates_of, row_weights
from ragmeter.analysis.people.label_matches import match
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
class PanelChoice:
    """The cheapest panel whose majority reached the agreement on one half of the labels; `reported` is on the other.

    It `reaches` it if it does on both. If none did on the first half, it is the one that agreed most there.
    Its cost is in dollars, or where a price is not known in tokens.
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
    """A jury beside people. `weighted` is cross-fitted; `gain` is its agreement less the majority's.

    `pairs` has kappa of each two jurors over all rows. `weighted_metric` has weights that were learnt from all labels.
    """

    run: str
    level: float
    n_labels: int
    jurors: tuple[Juror, ...]
    pairs: dict[str, Estimate]
    majority: AgainstPeople
    weighted: AgainstPeople
    gain: Estimate
    weights_help: bool
    weighted_metric: str
    panel: PanelChoice | None = None

    def as_dict(self) -> dict[str, Any]:
        """The result as a dict for JSON."""
        return asdict(self)


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
    places, people = matched.places, matched.people
    if len(people) < FEWEST:
        raise InputError(
            f"{len(people):,} labels are too few to learn a jury's weights from: at least {FEWEST}",
            hint="`ragmeter power RUN --labels` says which rows to label next",
        )
    names, ballots = _votes(run, joint)
    clusters = run.clusters(run.confidence)[1]
    groups = np.arange(ballots.shape[1]) if clusters is None else clusters
    drawn = InClusters.of(row_weights(matched, len(groups)), groups[places])
    weights = learnt_weights(ballots[:, places], people, drawn.weights)
    majority, weighted = joint_verdicts(ballots), joint_verdicts(ballots, weights)
    weighted[places] = cross_fitted(ballots[:, places], people, drawn.weights, drawn.clusters)

    def against(verdicts: Scores) -> AgainstPeople:
        return estimates_of(matched, verdicts, level, None, clusters)["judge"]

    own = zip(names, ballots, strict=True)
    jurors = tuple(Juror(name, against(np.where(vote, vote > 0, np.nan)), *_costs(run, name)) for name, vote in own)
    gain = _gain(drawn, 1.0 * (weighted[places] == people) - (majority[places] == people), level)
    return JuryCalibration(
        run.name,
        level,
        len(people),
        jurors,
        {
            f"{names[a]}, {names[b]}": _kappa(ballots[[a, b]], groups, level)
            for a, b in combinations(range(len(names)), 2)
        },
        against(majority),
        against(weighted),
        gain,
        (gain.value or 0.0) > (gain.standard_error or 0.0) > 0,
        joint.with_settings(weights=BETWEEN.join(map(significant, weights.tolist()))).name,
        None if panel is None else _panel(jurors, ballots[:, places], people, drawn, panel, level),
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
        make = by_caller("`ragmeter evaluate --metrics llm_correct --judge-model A --judge-model B` makes one", "")
        hint = f"it has {', '.join(named)}" if named else make
        raise UsageError(f"the run has no jury{'' if metric is None else f' {metric}'}", hint=hint)
    return registry.get(chosen[0]).with_settings(weights=None)


def _costs(run: Run, juror: str) -> tuple[float | None, int]:
    """Dollars and tokens. A table that brought its verdicts does not say."""
    summary = run.summary().judges.get(juror_column(juror))
    if summary is None:
        return (0.0 if is_local(juror) else None), 0
    return summary.usage.cost_usd, summary.usage.prompt_tokens + summary.usage.completion_tokens


def _kappa(ballots: Ballots, groups: Codes, level: float) -> Estimate:
    """How two jurors agree with each other; rows that belong together count as one draw."""
    both = (ballots != 0).all(axis=0)
    first, second = (ballots[:, both] > 0).astype(np.float64)
    if len(np.unique(groups[both])) == both.sum():
        return cohens_kappa(confusion(first, second), level)
    return InClusters.of(np.ones(int(both.sum())), groups[both]).kappa(first, second, level)


def _gain(drawn: InClusters, gains: Scores, level: float) -> Estimate:
    mean = drawn.mean(gains)
    error = float(np.sqrt(drawn.variance(gains - mean)))
    margin = t_quantile(0.5 + level / 2, drawn.freedom) * error
    return Estimate(mean, (mean - margin, mean + margin), len(gains), error, "cross-fitted")


def _panel(
    jurors: tuple[Juror, ...], ballots: Ballots, people: Scores, drawn: InClusters, target: float, level: float
) -> PanelChoice:
    """Choose on one half of the labels, and report on the other."""
    in_dollars = all(juror.cost_usd is not None for juror in jurors)
    costs = [(juror.cost_usd or 0.0) if in_dollars else float(juror.tokens) for juror in jurors]
    halves = folds_of(drawn.clusters, 2)

    def agreement(panel: tuple[int, ...], half: int) -> Estimate:
        agrees = joint_verdicts(ballots[list(panel)]) == people
        return drawn.share(agrees, halves == half, level, of="labels")

    shares = {panel: agreement(panel, 0) for panel in panels(len(jurors))}
    price = {panel: sum(costs[juror] for juror in panel) for panel in shares}
    reaching = [panel for panel, share in shares.items() if (share.value or 0.0) >= target]
    chosen = min(
        reaching or shares,
        key=lambda panel: (price[panel], -(shares[panel].value or 0.0))[:: 1 if reaching else -1],
    )
    names = tuple(jurors[juror].name for juror in chosen)
    reported = agreement(chosen, 1)
    reaches = bool(reaching) and (reported.value or 0.0) >= target
    return PanelChoice(target, names, reaches, price[chosen], in_dollars, shares[chosen], reported)

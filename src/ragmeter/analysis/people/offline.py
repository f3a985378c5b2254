"""Recalibrate the offline judge's probabilities with people's labels of one's own data, if that helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ragmeter import naming, registry
from ragmeter.analysis.people.label_matches import WEIGHTED, Design, match
from ragmeter.analysis.people.labels import read_labels
from ragmeter.analysis.people.verdicts import Answers, read_columns
from ragmeter.definition import Metric
from ragmeter.errors import InputError, OutputError
from ragmeter.io.reading import Reading
from ragmeter.io.write import RUNS, dumps, replacing
from ragmeter.metrics.offline import offline_correct, offline_correct_probability
from ragmeter.metrics.offline.curves import Curve, fit
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.places import hold_for
from ragmeter.runs.run import Run
from ragmeter.stats.clusters import Codes, cluster_codes
from ragmeter.stats.design import Drawn
from ragmeter.stats.recalibration import Gain, cross_validated
from ragmeter.table import Scores

_OFFLINE = {offline_correct_probability.base, offline_correct.base}
#: With fewer labels, a better curve can't be told from chance.
FEWEST = 50


@dataclass(frozen=True)
class Recalibration:
    """A curve for the offline judge's probabilities, and its cross-validated gain."""

    run: str
    metric: str
    curve: Curve
    gain: Gain

    @property
    def helps(self) -> bool:
        """Whether it is significantly better on rows that it was not fitted to."""
        return self.gain.helps

    def verdicts_with(self, path: str | Path) -> str:
        """The name of the metric that uses this calibration from a file."""
        language = registry.get(self.metric).settings["language"]
        return offline_correct.with_settings(language=language, calibration=str(path)).name

    def as_dict(self) -> dict[str, Any]:
        """The result as a dict for JSON."""
        return {
            "run": self.run,
            "metric": self.metric,
            "helps": self.helps,
            "curve": self.curve.as_dict(),
            "gain": asdict(self.gain),
        }

    def write(self, path: str | Path) -> None:
        """Write it, for `calibration=` of the offline metrics; an error if it does not help."""
        if not self.helps:
            raise OutputError(
                "this calibration does not make the offline judge significantly better, so it is not written",
                hint="more labels may help; the judge can be used as it is",
            )
        header = {"created": datetime.now(UTC).isoformat(timespec="seconds")}
        with hold_for(Path(path), "keeps a calibration"), replacing(Path(path)) as (temporary,):
            temporary.write_text(dumps({**header, **self.as_dict()}, indent=2) + "\n", encoding="utf-8")


def recalibrate(
    run: RunLike,
    labels: Any,
    *,
    output_dir: str | Path = RUNS,
    seed: int = 0,
    language: str | None = None,
    reading: Reading = Reading(),  # noqa: B008 - frozen
) -> Recalibration:
    """Fit a curve for the offline judge's probabilities to labels: Platt scaling, or isotonic from 1,000 labels on.

    Labels that stand for different numbers of rows (strata or weights in their file) count as much. `language` is that
    of the metric; by default the one that the run's offline metrics have. `Recalibration.gain` is cross-validated by
    question, and by conversation where there are some.
    """
    run = find_run(run, output_dir)
    columns = read_columns(run, ["qid", "question", "reference", "answer", "session_id"])
    matched = match(read_labels(labels, reading), columns["qid"], Answers(run))
    usable = np.array(
        [columns["answer"][row] is not None and bool(columns["reference"][row]) for row in matched.places]
    )
    places, right = matched.places[usable].tolist(), matched.people[usable]
    if len(places) < FEWEST or right.min() == right.max():
        all_equal = len(places) >= FEWEST
        raise InputError(
            "all labels are the same, so nothing can be fitted to them"
            if all_equal
            else f"{len(places):,} labels of answers with a reference are too few to adapt the offline judge",
            hint="label some of the others as well" if all_equal else f"label at least {FEWEST}: `ragmeter label`",
        )
    inputs: dict[str, list[Any]] = {
        "question": [columns["question"][place] or "" for place in places],
        "reference": [columns["reference"][place] for place in places],
        "answer": [columns["answer"][place] for place in places],
    }
    metric = _metric(run, language)
    probabilities = np.asarray(metric(*(inputs[name] for name in metric.needs)), dtype=np.float64)
    weights = _weights(matched.design, len(usable))[usable]
    clusters = _clusters(inputs["question"], [columns["session_id"][place] for place in places])
    gain = cross_validated(probabilities, right, clusters, seed, weights)
    return Recalibration(run.name, metric.name, fit(probabilities, right, weights), gain)


def _metric(run: Run, language: str | None) -> Metric:
    """The judge in this language, or in the one of the run's offline metrics."""
    if language is None:
        own = [registry.get(name) for name in run.metrics() if naming.base_of(name) in _OFFLINE]
        languages = {metric.settings["language"] for metric in own}
        language = languages.pop() if len(languages) == 1 else None
    return offline_correct_probability.with_settings(language=language)


def _weights(design: Design, n_labels: int) -> Scores:
    """How many rows each label stands for."""
    if design.kind == WEIGHTED:
        return design.weights
    return Drawn.stratified(design.strata, design.sizes).weights if len(design.strata) else np.ones(n_labels)


def _clusters(questions: Sequence[str], sessions: Sequence[str | None]) -> Codes:
    """Answers to one question, and those of conversations with a question in common, are in the same cluster."""
    clusters = cluster_codes(pa.array((text or None for text in questions), pa.string()))
    of_session = cluster_codes(pa.array(sessions, pa.string()))
    for session in np.unique(of_session[[session is not None for session in sessions]]):
        own = np.unique(clusters[of_session == session])
        clusters[np.isin(clusters, own)] = own[0]
    return clusters

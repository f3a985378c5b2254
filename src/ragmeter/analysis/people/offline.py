"""Recalibrate the offline judge's probabilities with people's labels of one's own data, if that helps."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ragmeter import registry
from ragmeter.analysis.people.label_matching import RANDOM, UNKNOWN, match
from ragmeter.analysis.people.labels import read_labels
from ragmeter.analysis.people.verdicts import Answers, read_columns
from ragmeter.errors import InputError, OutputError
from ragmeter.io.source import Reading
from ragmeter.io.write import RUNS, dumps, replacing
from ragmeter.metrics.offline.curves import Curve, fit
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.runs.places import hold_for
from ragmeter.show.sentences.calibration import NOT_RANDOM
from ragmeter.stats.clusters import cluster_codes
from ragmeter.stats.recalibration import Gain, cross_validated

METRIC = "offline_correct_probability"
#: With fewer labels, a better curve can't be told from chance.
FEWEST = 50


@dataclass(frozen=True)
class Recalibration:
    """A curve for the offline judge's probabilities, and its cross-validated gain."""

    run: str
    curve: Curve
    gain: Gain
    warnings: tuple[str, ...] = ()

    @property
    def helps(self) -> bool:
        """Whether it is significantly better on rows that it was not fitted to."""
        return self.gain.helps

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "run": self.run,
            "helps": self.helps,
            "curve": self.curve.as_dict(),
            "gain": asdict(self.gain),
            "warnings": list(self.warnings),
        }

    def write(self, path: str | Path) -> None:
        """Write it, for `calibration=` of the offline metrics; an error if it does not help."""
        if not self.helps:
            raise OutputError(
                "this calibration does not make the offline judge significantly better, so it is not written",
                hint="more labels may help; the judge can be used as it is",
            )
        header = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "metric": METRIC}
        with hold_for(Path(path), "keeps a calibration"), replacing(Path(path)) as (temporary,):
            temporary.write_text(dumps({**header, **self.as_dict()}, indent=2) + "\n", encoding="utf-8")


def recalibrate(
    run: RunLike,
    labels: Any,
    *,
    output_dir: str | Path = RUNS,
    seed: int = 0,
    reading: Reading = Reading(),  # noqa: B008 - frozen
) -> Recalibration:
    """Fit a curve for the offline judge's probabilities to labels: Platt scaling, or isotonic from 1,000 labels on.

    `Recalibration.gain` is cross-validated over questions.
    """
    run = find_run(run, output_dir)
    columns = read_columns(run, ["qid", "question", "reference", "answer"])
    matched = match(read_labels(labels, reading), columns["qid"], Answers(run))
    rows = [
        (place, label)
        for place, label in zip(matched.places.tolist(), matched.people.tolist(), strict=True)
        if columns["answer"][place] is not None and columns["reference"][place]
    ]
    right = np.array([label for _, label in rows])
    if len(rows) < FEWEST or right.min() == right.max():
        all_equal = len(rows) >= FEWEST
        raise InputError(
            "all labels are the same, so nothing can be fitted to them"
            if all_equal
            else f"{len(rows):,} labels of answers with a reference are too few to adapt the offline judge",
            hint="label some of the others as well" if all_equal else f"label at least {FEWEST}: `ragmeter label`",
        )
    inputs: dict[str, list[Any]] = {
        "question": [columns["question"][place] or "" for place, _ in rows],
        "reference": [columns["reference"][place] for place, _ in rows],
        "answer": [columns["answer"][place] for place, _ in rows],
    }
    metric = registry.get(METRIC)
    probabilities = np.asarray(metric(*(inputs[name] for name in metric.needs)), dtype=np.float64)
    questions = pa.array(text or None for text in inputs["question"])  # answers to one question are in the same fold
    gain = cross_validated(probabilities, right, cluster_codes(questions), seed)
    warnings = () if matched.design.kind in (RANDOM, UNKNOWN) else (NOT_RANDOM,)
    return Recalibration(run.name, fit(probabilities, right), gain, warnings)

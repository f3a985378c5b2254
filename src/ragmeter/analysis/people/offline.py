"""The offline judge adapted to one's own data: its chances bent by people's labels, if that helps."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ragmeter import registry
from ragmeter.analysis.people.labels import read_labels
from ragmeter.analysis.people.matching import RANDOM, UNKNOWN, match
from ragmeter.analysis.people.verdicts import Answers, read_columns
from ragmeter.errors import InputError, OutputError
from ragmeter.io.source import Reading
from ragmeter.io.write import RUNS, dumps, replacing
from ragmeter.metrics.offline.curves import Curve, fit
from ragmeter.runs.finding import RunLike, find_run
from ragmeter.show.sentences.calibration import NOT_RANDOM
from ragmeter.stats.clusters import cluster_codes
from ragmeter.stats.recalibration import Gain, cross_validated

METRIC = "offline_correct_probability"
#: Fewer labels than this can't tell a better curve from luck.
FEWEST = 50


@dataclass(frozen=True)
class Recalibration:
    """A curve for the offline judge's chances, and what it does to rows that it has not seen."""

    run: str
    curve: Curve
    gain: Gain
    warnings: tuple[str, ...] = ()

    @property
    def helps(self) -> bool:
        """Whether it is worth keeping: better on rows that had no part in it, by more than luck."""
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
        """Write it, for `calibration=` of the offline metrics; one that makes things worse is refused."""
        if not self.helps:
            raise OutputError(
                "it is not shown that this calibration makes the offline judge better, so it is not written",
                hint="more labels may help; the judge can be used as it is",
            )
        made = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "metric": METRIC}
        with replacing(Path(path)) as (beside,):
            beside.write_text(dumps({**made, **self.as_dict()}, indent=2) + "\n", encoding="utf-8")


def recalibrate(
    run: RunLike,
    labels: Any,
    *,
    output_dir: str | Path = RUNS,
    seed: int = 0,
    reading: Reading = Reading(),  # noqa: B008 - frozen
) -> Recalibration:
    """Bend the offline judge's chances by labels of a run's rows: Platt's curve, or steps from 1,000 labels on.

    `Recalibration.gain` tells, by cross-validation over questions, whether that helps.
    """
    folder = find_run(run, output_dir)
    columns = read_columns(folder, ["qid", "question", "reference", "answer"])
    found = match(read_labels(labels, reading), columns["qid"], Answers(folder))
    rows = [
        (place, label)
        for place, label in zip(found.places.tolist(), found.people.tolist(), strict=True)
        if columns["answer"][place] is not None and columns["reference"][place]
    ]
    right = np.array([label for _, label in rows])
    if len(rows) < FEWEST or right.min() == right.max():
        all_alike = len(rows) >= FEWEST
        raise InputError(
            "all labels are the same, so nothing can be learnt from them"
            if all_alike
            else f"{len(rows):,} labels of answers with a reference are too few to adapt the offline judge",
            hint="label some of the others as well" if all_alike else f"label at least {FEWEST}: `ragmeter label`",
        )
    given: dict[str, list[Any]] = {
        "question": [columns["question"][place] or "" for place, _ in rows],
        "reference": [columns["reference"][place] for place, _ in rows],
        "answer": [columns["answer"][place] for place, _ in rows],
    }
    metric = registry.get(METRIC)
    chances = np.asarray(metric(*(given[name] for name in metric.needs)), dtype=np.float64)
    asked = pa.array(text or None for text in given["question"])  # answers to one question stay together
    gain = cross_validated(chances, right, cluster_codes(asked), seed)
    warnings = () if found.design.kind in (RANDOM, UNKNOWN) else (NOT_RANDOM,)
    return Recalibration(folder.name, fit(chances, right), gain, warnings)

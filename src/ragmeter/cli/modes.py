"""Which options have an effect in which mode of a command, and what is said of an option that would have none.

An option without an effect is a misunderstanding, and better said than passed over. An option that stands in no table
has an effect in every mode.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ragmeter.cli import options
from ragmeter.cli.judge_options import CASCADE, CASCADE_NAMES, ENCODER, JUDGE_NAMES, LLM, LOCAL, OFFLINE, WRITER_NAMES
from ragmeter.cli.parser import destinations
from ragmeter.errors import UsageError

#: Values that ask for what is so anyway: they are no misunderstanding.
_USUAL = {"judge": LLM, "judge_check": True}


@dataclass(frozen=True)
class Mode:
    """A way in which a command is run; `otherwise` ends the sentence "--x has no effect" where it is not."""

    is_chosen: Callable[[argparse.Namespace], bool]
    otherwise: str | Callable[[argparse.Namespace], str]
    hint: str = "leave it out"


#: The options of a command, each with the modes that it needs, all of them. The first option in the table that has no
#: effect is named, with the first mode that it lacks.
Table = Mapping[str, tuple[Mode, ...]]


def refuse_idle(chosen: argparse.Namespace, table: Table) -> None:
    """Raise an error for an option that was given, and has no effect in the mode that was chosen."""
    for name, modes in table.items():
        if (flag := given_flag(chosen, name)) is None:
            continue
        for mode in modes:
            if not mode.is_chosen(chosen):
                words = mode.otherwise if isinstance(mode.otherwise, str) else mode.otherwise(chosen)
                raise UsageError(f"{flag} has no effect {words}", hint=mode.hint)


def given_flag(chosen: argparse.Namespace, name: str) -> str | None:
    """The flag of an option that stands on the command line, unless it asks for what is so anyway."""
    flag: str | None = chosen.given_flags.get(name)
    return None if flag is None or getattr(chosen, name) == _USUAL.get(name, flag) else flag


def _has(name: str) -> Callable[[argparse.Namespace], bool]:
    return lambda chosen: getattr(chosen, name) not in (None, False, [])


def _with_evaluator(chosen: argparse.Namespace) -> str:
    return f"with --evaluator {' '.join(chosen.evaluator[0])}"


def _in_all(names: Iterable[str], *modes: Mode) -> Table:
    return dict.fromkeys(names, modes)


# -- evaluate ----------------------------------------------------------------------------------------------------------

#: Rows are read: not that metrics are added to a run.
_READING = Mode(
    lambda chosen: chosen.results is not None or not (chosen.metrics and chosen.run),
    "without --results: metrics are added",
    "leave it out: the run keeps its rows, and the settings of its intervals",
)
_METRICS = Mode(lambda chosen: bool(chosen.metrics) or not chosen.evaluator, _with_evaluator)
_EVALUATOR = Mode(lambda chosen: bool(chosen.evaluator) or not chosen.metrics, "with --metrics")
_FORMER = Mode(lambda chosen: False, "any more", "--engine says who computes: auto, threads, or local for processes")
_JUDGED = Mode(_has("judge_model"), "without --judge-model", "name the model, or leave it out")


def _taken(name: str) -> Mode:
    """Metrics, or an evaluator that has a keyword of this name."""

    def is_chosen(chosen: argparse.Namespace) -> bool:
        return _METRICS.is_chosen(chosen) or any(name in keywords for keywords in chosen.evaluators.values())

    return Mode(is_chosen, _with_evaluator)


@functools.cache
def evaluate_table() -> Table:
    """The options of `ragmeter evaluate`."""
    reading = destinations(options.reading_options)
    intervals = destinations(options.statistics_options)
    keeping = destinations(options.keeping_options)
    return {
        "skip_bad_parts": (_READING, _METRICS),
        "output_prefix": (_READING, _EVALUATOR),
        "output_format": (_READING, _EVALUATOR),
        "language": (_taken("language"),),
        "doc_id_pattern": (_taken("doc_id_pattern"),),
        **_in_all((*destinations(options.embedding_options), "support_model"), _METRICS),
        "engine": (_METRICS,),
        "executor": (_FORMER,),
        **_in_all((*keeping, "missing", "keep_columns"), _READING, _METRICS),
        "run": (_METRICS,),
        **_in_all(("reference", *reading), _READING),
        "guard": (_READING,),  # in ragmeter.toml it may stand for all systems, of which some write no CSV
        **_in_all(intervals, _READING, _METRICS),
        **_in_all((*JUDGE_NAMES, "dry_run", *CASCADE_NAMES, "offline_calibration", "max_unscored"), _METRICS),
        "retry_failed": (_JUDGED,),
    }


# -- the judge ---------------------------------------------------------------------------------------------------------

_CASCADE = Mode(lambda chosen: chosen.judge == CASCADE, "without --judge cascade")
_NOT_LLM = Mode(lambda chosen: chosen.judge not in (None, LLM), "with --judge llm")
_JUDGED_OR_OFFLINE = Mode(
    lambda chosen: chosen.judge_model is not None or chosen.judge in LOCAL, _JUDGED.otherwise, _JUDGED.hint
)
#: Once it is settled who judges.
JUDGE: Table = {
    **_in_all(CASCADE_NAMES, _CASCADE),
    "offline_calibration": (_NOT_LLM,),
    **_in_all(JUDGE_NAMES, _JUDGED),
    "judge": (_JUDGED_OR_OFFLINE,),
}


def _not(judge: str) -> Mode:
    """The mode in which `judge`, which asks no language model, is not the judge."""
    hint = f"leave it out, or choose metric by metric: --metrics llm_correct,faithfulness[judge={judge}]"
    return Mode(lambda chosen: chosen.judge != judge, f"with --judge {judge}", hint)


#: Where the metrics are chosen by `--judge` and by their names.
METRIC_SETTINGS: Table = {"judge_model": (_not(OFFLINE), _not(ENCODER))}
_CASCADE_CALIBRATED = Mode(
    _CASCADE.is_chosen,
    _CASCADE.otherwise,
    "leave it out; of offline_correct it is a setting: --metrics 'offline_correct[calibration=FILE]'",
)
#: Once the metrics are known.
SETTLED: Table = {"offline_calibration": (_CASCADE_CALIBRATED,)}

# -- others ------------------------------------------------------------------------------------------------------------

_PREFERENCE = Mode(_has("preference"), "without --preference", "add it, or leave the judge out")
COMPARE: Table = _in_all((*JUDGE_NAMES, *CASCADE_NAMES, "offline_calibration", "dry_run"), _PREFERENCE)

_PEOPLE = Mode(lambda chosen: not chosen.offline_judge, "with --offline-judge")
_WITHOUT_JURY = Mode(lambda chosen: not chosen.jury and chosen.panel is None, "with --jury")
_RECALIBRATING = Mode(_has("offline_judge"), "without --offline-judge")
CALIBRATE: Table = {
    "language": (_RECALIBRATING,),
    **_in_all(WRITER_NAMES, Mode(_has("align"), "without --align")),
    **_in_all(("metric", "jury", "panel"), _PEOPLE),
    "threshold": (_PEOPLE, _WITHOUT_JURY),
}

_ENDPOINT = Mode(
    _has("endpoint"),
    "without --endpoint: name the address of its server",
    "`ragmeter doctor --help` shows the options",
)
_OF_LABELS = Mode(lambda chosen: chosen.labels is not None, "without --labels")
_OF_QUESTIONS = Mode(lambda chosen: chosen.labels is None, "with --labels")
POWER: Table = {
    "half_width": (_OF_LABELS,),
    **_in_all(("variance", "within", "design_effect", "cluster", "correlation", "repeats", "tests"), _OF_QUESTIONS),
}
DOCTOR: Table = {"judge_model": (_ENDPOINT,)}

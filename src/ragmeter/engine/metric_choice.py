"""The metrics of a run, by their names and with their settings, and the columns that are kept beside theirs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ragmeter import registry
from ragmeter.definition import Metric
from ragmeter.definition.judge_columns import ENCODER, SUPPORT_MODEL
from ragmeter.embedders.port import default_model
from ragmeter.engine.judging.offline import check_support_models
from ragmeter.errors import InputError, UsageError
from ragmeter.hints import option
from ragmeter.metrics.abstention import MARKS
from ragmeter.metrics.normalize import Language
from ragmeter.registry import BaseScorer
from ragmeter.stats.confidence import AUTO, Confidence

MetricLike = str | Metric | type[BaseScorer] | BaseScorer


@dataclass(frozen=True)
class Embedding:
    """The embedding model of metrics of meaning: its name, its endpoint, and a text put before each text."""

    model: str | None = None
    base_url: str | None = None
    prefix: str | None = None


def choose_metrics(
    metrics: str | Iterable[MetricLike] | None,
    *,
    language: str | None = None,
    embedding: Embedding = Embedding(),  # noqa: B008 - frozen
    support_model: str | None = None,
    jurors: Sequence[str] = (),
    **settings: Any,
) -> list[Metric]:
    """The metrics of these names, with the settings that they have and don't say otherwise themselves.

    With `jurors`, each of them says what `llm_correct` does, and all together.
    """
    language = None if language in (None, "none") else Language.parse(language)
    chosen = registry.get_all(metrics, language=language, **(asdict(embedding) | settings))
    if jurors or any("jurors" in metric.defaults for metric in chosen):
        chosen = _of_jury(chosen, jurors)
    return chosen if support_model is None else _with_support_model(chosen, support_model)


def _of_jury(metrics: Sequence[Metric], jurors: Sequence[str]) -> list[Metric]:
    """What a jury makes of metrics: of `llm_correct` its joint verdict, how it agrees, and what each model says."""
    from ragmeter.judges.jury import AND, is_local, jurors_in, jury_agreement, jury_correct

    names = AND.join(jurors) or None
    chosen: list[Metric] = []
    for metric in metrics:
        if jurors and metric.name == "llm_correct":
            together = [joint.with_settings(jurors=names) for joint in (jury_correct, jury_agreement)]
            of_models = [metric.with_settings(juror=juror) for juror in jurors if not is_local(juror)]
            chosen += [*together, *of_models]
        elif "jurors" in metric.defaults:
            named = metric.settings["jurors"] or names
            jurors_in(named)  # an error where there is no jury
            chosen.append(metric.with_settings(jurors=named))
        elif jurors and metric.judge_columns and metric.settings.get("juror") is None:
            raise UsageError(
                f"a jury judges llm_correct, and {metric.name} is judged by one model, not {len(jurors)}",
                hint=f"name one judge for {metric.name}, in a run or a command of its own",
            )
        else:
            chosen.append(metric)
    return list(dict.fromkeys(chosen))


def _with_support_model(metrics: Sequence[Metric], model: str) -> list[Metric]:
    """The metrics with this support model, where one judges them and their names say no other."""
    judged = [metric for metric in metrics if metric.settings.get("judge") == ENCODER]
    if not judged:
        able = [metric for metric in metrics if metric.accepts("judge", ENCODER)]
        named = able[0].with_settings(judge=ENCODER).name if able else f"faithfulness[judge={ENCODER}]"
        raise UsageError(
            f"{option(SUPPORT_MODEL, model)} has no effect on {', '.join(metric.name for metric in metrics)}",
            hint=f"it judges metrics such as {named}; write that, or leave it out",
        )
    return list(
        dict.fromkeys(
            metric.with_settings(support_model=model)
            if metric in judged and metric.settings[SUPPORT_MODEL] is None
            else metric
            for metric in metrics
        )
    )


def with_models(metrics: Sequence[Metric], present: Collection[str] = ()) -> list[Metric]:
    """The metrics with the default embedding model where none was named, except those that a run has already.

    A support model that was not named, or is none, is an error.
    """
    check_support_models([metric for metric in metrics if metric.name not in present])
    unnamed = [
        metric
        for metric in metrics
        if metric.name not in present and any(given.get("model", "") is None for _, given in metric.embedded.values())
    ]
    if not unnamed:
        return list(metrics)
    model = default_model()
    return list(dict.fromkeys(metric.with_settings(model=model) if metric in unnamed else metric for metric in metrics))


def columns_to_keep(names: str | Iterable[str], confidence: Confidence) -> frozenset[str] | None:
    """The columns of a data set that are read whatever the metrics need; None for all of them."""
    given = names.split(",") if isinstance(names, str) else list(names)
    if given == ["all"]:
        return None
    cluster = confidence.cluster if confidence.cluster != AUTO else None
    return frozenset(name.strip() for name in (*given, *MARKS, cluster or "") if name.strip())


def read_fallback(path: str | Path) -> str:
    """Fallback phrases from a file: one a line, or in TOML a list for each language. All of them count."""
    import tomllib

    name = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        if Path(path).suffix.lower() == ".toml":
            table = tomllib.loads(text)
            phrases = [phrase for value in table.values() for phrase in ([value] if isinstance(value, str) else value)]
        else:
            phrases = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror}", file=name) from None
    except (ValueError, TypeError) as error:
        raise InputError(f"can't be read: {error}", file=name) from None
    if not phrases or not all(isinstance(phrase, str) and phrase.strip() for phrase in phrases):
        raise InputError("there should be phrases in it", file=name, hint='one a line, or in TOML: en = ["no results"]')
    if any("|" in phrase for phrase in phrases):
        raise UsageError("a fallback phrase can't hold a |")
    return "|".join(phrase.strip() for phrase in phrases)

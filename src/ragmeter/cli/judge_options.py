"""The judge's options: one group, the same on every command."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmeter.cli.options import exit_code
from ragmeter.cli.parser import OptionWords
from ragmeter.errors import UsageError
from ragmeter.naming import Settings

if TYPE_CHECKING:
    from ragmeter.definition import Metric
    from ragmeter.documents.manifest import Manifest
    from ragmeter.documents.summary import Summary
    from ragmeter.documents.usage import Calls
    from ragmeter.engine.default_metrics import Model
    from ragmeter.judges.asking.cascade import Cascade
    from ragmeter.judges.asking.judge import Judge
    from ragmeter.runs.run import Run

LLM, CASCADE, OFFLINE, ENCODER = "llm", "cascade", "offline", "encoder"
#: Those who judge without a language model.
LOCAL = (OFFLINE, ENCODER)
#: The keywords of `Judge` that are options, `base_url` as `--judge-base-url`, and how their values are read. Where the
#: command has no option of the shorter name, `--base-url` will do as well.
_SETTINGS: dict[str, OptionWords] = {
    "base_url": {"metavar": "URL", "help": "any OpenAI-compatible endpoint; default: OPENAI_BASE_URL, or the vendor's "
                 "own. The key is OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY"},
    "api_version": {"metavar": "VERSION", "help": "of the endpoint's API, which Azure wants"},
    "prompt": {"metavar": "FILE", "help": "words of your own, with any column of the table as a field: {question}, "
               "{reference}, {answer}, {contexts} ..."},
    "examples": {"metavar": "FILE", "help": "show it labelled answers as examples where a verdict is asked for; "
                 "`ragmeter calibrate --align` writes them, if they help"},
    "images": {"choices": ("local", "fetch"), "help": "show the picture in a row's column `image` to a model that "
               "can see: a file in the current folder or bytes (local), or also what an https address has (fetch)"},
    "repeats": {"metavar": "K", "type": int, "help": "judge each answer K times; the majority counts, and the flip "
                "rate is shown; default: 1"},
    "wordings": {"metavar": "N", "type": int, "help": "ask for each verdict in 1 wording, or in 2, with twice the "
                 "calls; default: in a second one where the first leaves the model in doubt"},
    "tries": {"metavar": "N", "type": int, "help": "how often to ask for a verdict that can be read; default: 3"},
    "claims_per_call": {"metavar": "N", "type": int, "help": "how many claims the model is asked about in one call; "
                        "default: 10"},
    "passages_per_call": {"metavar": "N", "type": int, "help": "how many passages the model is shown together, where "
                          "it says what supports a claim; default: 1, each by itself"},
    "temperature": {"metavar": "T", "type": float, "help": "default: 0"},
    "seed": {"metavar": "N", "type": int, "help": "default: 0"},
    "max_tokens": {"metavar": "N", "type": int, "help": "the longest reply; default: 1024. With 1, a verdict of one "
                   "word is read off the log-probabilities of the first token, where the server gives them"},
    "timeout": {"metavar": "SECONDS", "type": float, "help": "for a reply; default: 60. After one "
                "that did not come in time the next have twice as long, up to four times"},
    "retries": {"metavar": "N", "type": int, "help": "how often a call that failed is made again; default: 3"},
    "give_up_after": {"metavar": "SECONDS", "type": float, "help": "stop when no call has succeeded for so long; the "
                      "same command goes on later; default: 300"},
    "workers": {"metavar": "N", "type": int, "help": "the most calls under way at once; default: 8"},
    "budget": {"metavar": "DOLLARS", "type": float, "help": "the most that the run's judging may cost; the rest is "
               "skipped_budget"},
    "max_calls": {"metavar": "N", "type": int, "help": "make no more calls than this in all, retries included; the "
                  "rest is skipped_budget"},
    "prices": {"metavar": "FILE", "help": 'JSON: {"my-model": {"input": 0.5, "output": 1.5}}, dollars for a million '
               "tokens"},
    "journal": {"metavar": "FILE", "type": Path, "help": "where replies are kept; default: judge.journal.sqlite in the "
                "folder of the runs"},
}  # fmt: skip
_NAMES = (
    "gpt-4o, anthropic:claude-..., gemini:gemini-..., or what your endpoint has; NAME@URL has an endpoint of its own, "
    "and NAME@URL#VARIABLE its key in the environment"
)
_OF_JURY = "; given several times, a jury, in which `offline` and `encoder:FOLDER` ask no language model"
_OF_ENDPOINT = ("base_url", "api_version", "headers")
#: Those of a model that writes questions: its replies are no verdicts.
_WRITER = (
    "base_url", "api_version", "temperature", "max_tokens", "timeout", "retries", "give_up_after", "workers", "budget",
    "max_calls", "prices", "journal",
)  # fmt: skip
#: The keywords of `Cascade` that are options, and how their values are read.
_CASCADE: dict[str, OptionWords] = {
    "target_agreement": {"metavar": "SHARE", "type": float, "help": "of all verdicts with what the model would say; "
                         "default: 0.98, or what the budget pays for"},
    "llm_share": {"metavar": "SHARE", "type": float, "help": "ask the model about this share of what is doubtful"},
    "labels": {"metavar": "FILE", "nargs": "+", "help": "people's verdicts, as `ragmeter label` keeps them: with them "
               "the target is a promise, 95 times of 100"},
    "audit_share": {"metavar": "SHARE", "type": float, "help": "of what the offline judge is sure about, ask the model "
                    "about so much as well; default: 0.05, and 30 at the least"},
    "audit_seed": {"metavar": "N", "type": int, "help": "draws what is audited; default: 0"},
}  # fmt: skip

#: Where the values of the options of a model that judges are kept, the model's name first; of the cascade.
JUDGE_NAMES = (
    "judge_model", *(f"judge_{name}" for name in _SETTINGS), "judge_header", "judge_grammar", "reasons", "judge",
    "judge_check",
)  # fmt: skip
CASCADE_NAMES = tuple(_CASCADE)
WRITER_NAMES = ("judge_model", "judge_header", *(f"judge_{name}" for name in _WRITER))


class _JudgeModel(argparse._AppendAction):
    """Keeps the first language model as `judge_model`, and all that were named as `jurors`."""

    def __call__(
        self, parser: argparse.ArgumentParser, chosen: argparse.Namespace, value: Any, flag: str | None = None
    ) -> None:
        chosen.jurors = [*getattr(chosen, "jurors", ()), str(value)]
        models = [name for name in chosen.jurors if not _is_local(name)]
        setattr(chosen, self.dest, models[0] if len(chosen.jurors) > 1 and models else chosen.jurors[0])


def _is_local(name: str) -> bool:
    return name.partition(":")[0] in LOCAL


def judge_options(
    parser: argparse.ArgumentParser,
    *,
    offline: bool = False,
    encoder: bool = False,
    jury: bool = False,
    default_model: str | None = None,
    dry_run: bool = True,
) -> None:
    """Add the judge's options. `offline`: the offline judge may judge alone, `encoder`: a local classifier.

    `jury`: several models may be named; `dry_run`: there are answers already.
    """
    group = parser.add_argument_group(
        "the judge", "a language model behind metrics such as llm_correct. `--judge-model` is all that it needs"
    )
    add = group.add_argument
    add(
        "--judge",
        choices=(LLM, CASCADE, *([OFFLINE] if offline else []), *([ENCODER] if encoder else [])),
        help="cascade: the offline judge where it is sure, the model for the rest; "
        + ("offline: no model; " if offline else "")
        + ("encoder: the --support-model; " if encoder else "")
        + "default: llm",
    )
    if encoder:
        add(
            "--support-model",
            metavar="FOLDER",
            help="a classifier of pairs of texts as an ONNX file, which judges metrics with judge=encoder, such as "
            "faithfulness[judge=encoder]: a folder, or a name on the hub",
        )
    parser.set_defaults(takes_jury=jury)
    shown = "" if default_model is None else f"; default: {default_model}; none judges by exact match alone"
    add(
        "--judge-model",
        metavar="NAME",
        default=default_model,
        action=_JudgeModel,
        help=f"{_NAMES}{shown}" + (_OF_JURY if jury else ""),
    )
    add("--judge-header", metavar="'NAME: VALUE'", action="append", help="a header; $NAME in it is read from the "
        "environment: 'api-key: $AZURE_KEY'")  # fmt: skip
    add("--judge-grammar", action="store_true", help="have the server allow nothing but the words of a verdict, where "
        "a reply is one word; llama.cpp's server can, others leave it out")  # fmt: skip
    add("--reasons", action="store_true", help="ask for a short reason with each verdict; it costs tokens")
    _add_settings(parser, group, _SETTINGS)
    add(
        "--judge-check",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="try the judge on 24 built-in cases with known verdicts first, and stop if it gets no more right than "
        "chance does (16); a judge that was tried before costs nothing",
    )
    if dry_run:
        what = "say how many calls, tokens and dollars judging takes, and ask nothing"
        add("--dry-run", action="store_true", help=what)
    add = parser.add_argument_group("the cascade").add_argument
    for keyword, reading in _CASCADE.items():
        add(f"--{keyword.replace('_', '-')}", **reading)
    add(
        "--offline-calibration",
        metavar="FILE",
        help="for the offline judge: a file that `ragmeter calibrate --offline-judge` wrote",
    )


def _add_settings(parser: argparse.ArgumentParser, group: argparse._ActionsContainer, settings: Iterable[str]) -> None:
    taken = parser._option_string_actions
    for keyword in settings:
        name = keyword.replace("_", "-")
        names = [f"--judge-{name}", *([f"--{name}"] if f"--{name}" not in taken and name != "prompt" else [])]
        group.add_argument(*names, dest=f"judge_{keyword}", **_SETTINGS[keyword])


def writer_options(parser: argparse.ArgumentParser, title: str, does: str, *, dry_run: bool = True) -> None:
    """Add the options of a model that is asked for something else than a run's verdicts, and within which limits."""
    group = parser.add_argument_group(title, does)
    group.add_argument(
        "--judge-model",
        metavar="NAME",
        action=_JudgeModel,
        help=_NAMES,
    )
    group.add_argument("--judge-header", metavar="'NAME: VALUE'", action="append", help="a header of its requests; "
                       "$NAME in it is read from the environment")  # fmt: skip
    _add_settings(parser, group, _WRITER)
    what = "say how many calls, tokens and dollars the questions take, and ask nothing"
    if dry_run:
        group.add_argument("--dry-run", action="store_true", help=what)


def read_writer(chosen: argparse.Namespace) -> Judge | None:
    """The model that writes questions, if one was named. It is asked once about each passage."""
    if chosen.judge_model is None:
        return None
    _check_jurors(chosen)
    from ragmeter.judges.asking.judge import Judge

    given = {name: value for name in _WRITER if (value := getattr(chosen, f"judge_{name}")) is not None}
    return Judge(chosen.judge_model, headers=chosen.judge_header or (), check=False, **{"tries": 1, **given})


def read_jurors(chosen: argparse.Namespace) -> list[str]:
    """The names of several judges, those that ask a language model first; none where one judges alone."""
    names = [name.partition("@http")[0] for name in getattr(chosen, "jurors", ())]
    return sorted(names, key=_is_local) if len(names) > 1 else []


def read_judge(chosen: argparse.Namespace, **more: Any) -> Judge | None:
    """The judge that was chosen, if one was; an option that would do nothing is refused."""
    from ragmeter.cli.modes import JUDGE, refuse_idle

    refuse_idle(chosen, JUDGE)
    model = chosen.judge_model
    jurors = read_jurors(chosen)
    is_alone = model is None or model.lower() == "none"
    if is_alone and model is not None and chosen.judge == CASCADE:
        raise UsageError("a cascade needs a model for what is doubtful", hint="without one, use --judge offline")
    if is_alone or chosen.judge in LOCAL:
        return None
    _check_jurors(chosen)
    given = {name: value for name in _SETTINGS if (value := getattr(chosen, f"judge_{name}")) is not None}
    from ragmeter.judges.asking.judge import Judge

    flags = {"reasons": chosen.reasons, "grammar": chosen.judge_grammar, "check": chosen.judge_check}
    settings = {**given, "headers": chosen.judge_header or (), **flags, **more}
    return _jury(chosen.jurors, settings) if jurors else Judge(model, **settings)


def _check_jurors(chosen: argparse.Namespace) -> None:
    """Refuse several models where one is asked, and a single one that is no language model."""
    named = getattr(chosen, "jurors", [])
    if named and all(map(_is_local, named)):
        others = "--metrics offline_correct" if named[0] == OFFLINE else "--judge encoder --support-model FOLDER"
        problem = "is no language model" if len(named) == 1 else "ask no language model, and a jury needs one"
        raise UsageError(f"{' and '.join(named)} {problem}", hint=f"without one: {others}")
    if len(named) > 1 and not getattr(chosen, "takes_jury", False):
        raise UsageError(
            f"several models are a jury, which judges llm_correct of a run; here one is asked, not {len(named)}",
            hint="name one --judge-model; a jury is for evaluate, ask and web with --metrics llm_correct",
        )


def _jury(named: Sequence[str], settings: Settings) -> Judge:
    """The first of several judges, which has the others beside it.

    Address, version and headers that they share are not for one with an address of its own.
    """
    from ragmeter.judges.asking.judge import Judge

    alone = {name: value for name, value in settings.items() if name not in _OF_ENDPOINT}
    models = [name for name in named if not _is_local(name)]
    first, *others = ({**(alone if "@http" in name else settings), "model": name} for name in models)
    beside: list[Judge | str] = [*(Judge(**other) for other in others), *filter(_is_local, named)]
    return Judge(**first, jurors=beside)


def read_judge_of_answers(chosen: argparse.Namespace) -> Judge | None:
    """The judge of answers that are still to be given: nobody can have labelled them."""
    if chosen.labels:
        raise UsageError(
            "--labels are of answers that are there already",
            hint="ask first, then judge the run: `ragmeter evaluate --run NAME --metrics llm_correct --judge cascade`",
        )
    cascade = {"cascade": read_cascade(chosen, {})} if chosen.judge == CASCADE else {}
    return read_judge(chosen, **cascade)


def print_judge(summary: Summary, manifest: Manifest, now: Calls | None = None) -> None:
    """Print what a run's documents say of the judge, if one was asked; `now` is what this command's calls took."""
    from ragmeter.show.terminal.judging import print_lines
    from ragmeter.wording.judging import judge_lines

    print_lines(judge_lines(summary, manifest, now))


def judge_code(chosen: argparse.Namespace, run: Run, metrics: Sequence[str]) -> int:
    """The exit code, which is not 0 where the judge gave no verdict on too many rows of one of these metrics.

    Rows are counted, not replies: of a metric that asks in several stages, each may have failed on other rows.
    """
    if chosen.judge_model is None:
        return 0
    from ragmeter.table import SKIPPED_BUDGET, TIED

    unscored = max((_without_verdict(run, name) for name in metrics), key=lambda causes: causes.total(), default=None)
    if unscored is None:
        return 0
    skipped, tied = unscored[SKIPPED_BUDGET], unscored[TIED]
    return exit_code(chosen, unscored.total(), run.n_rows, "rows have no score", skipped=skipped, tied=tied)


def _without_verdict(run: Run, metric: str) -> Counter[str]:
    """The number of rows without a verdict, by cause; rows that the system failed on don't count."""
    from ragmeter.table import OUTCOMES_WITHOUT_VERDICT

    causes = Counter(
        {name: n for name, n in run.metrics()[metric].n_not_scored.items() if name in OUTCOMES_WITHOUT_VERDICT}
    )
    if not causes or "error" not in run.texts:
        return causes
    codes, names = run.outcomes(metric)
    was_answered = [not error for error in run.column("error").to_pylist()]
    counted = Counter(names[code] for code, answered in zip(codes.tolist(), was_answered, strict=True) if answered)
    return Counter({name: counted[name] for name in causes})


def metric_settings(chosen: argparse.Namespace) -> Settings:
    """The settings of metrics that the judge's options are."""
    from ragmeter.cli.modes import METRIC_SETTINGS, refuse_idle

    refuse_idle(chosen, METRIC_SETTINGS)
    return {
        "judge": None if chosen.judge == LLM else chosen.judge,
        "support_model": getattr(chosen, "support_model", None),
        "jurors": read_jurors(chosen),
    }


def settle_judge(chosen: argparse.Namespace, metrics: Sequence[Metric]) -> None:
    """Let `--judge` and the metrics' names say the same: `llm_correct[judge=cascade]` is `--judge cascade`.

    `metrics` have the option's setting, unless their names say otherwise. An option that none of them takes is refused.
    """
    from ragmeter.cli.modes import SETTLED, refuse_idle

    judges = {metric.settings.get("judge", LLM) for metric in metrics if metric.judge_columns or metric.offline}
    if chosen.judge is not None and chosen.judge not in judges:
        for metric in metrics:
            if metric.accepts("judge", chosen.judge):  # its name says otherwise
                raise UsageError(f"--judge {chosen.judge} contradicts {metric.name}", hint="leave one of the two out")
        if chosen.judge == CASCADE:
            names = ", ".join(metric.name for metric in metrics)
            raise UsageError(f"--judge cascade has no effect on {names}", hint="it is for llm_correct; leave it out")
    if CASCADE in judges:
        chosen.judge = CASCADE
    refuse_idle(chosen, SETTLED)


def read_settings(chosen: argparse.Namespace) -> Settings:
    """The settings of metrics that are options of a command, where it has them."""
    from ragmeter.engine.metric_choice import Embedding

    settings = {name: getattr(chosen, f"embedding_{name}", None) for name in ("model", "base_url", "prefix")}
    options = {"language": getattr(chosen, "language", None), "doc_id": getattr(chosen, "doc_id_pattern", None)}
    return {**options, "embedding": Embedding(**settings), **metric_settings(chosen)}


def read_models(chosen: argparse.Namespace) -> list[Model]:
    """The models that were named: what they measure is among the default metrics."""
    from ragmeter.engine.default_metrics import models_of

    judge = None if chosen.judge in LOCAL or str(chosen.judge_model).lower() == "none" else chosen.judge_model
    return models_of(judge, getattr(chosen, "embedding_model", None))


def read_cascade(chosen: argparse.Namespace, labels: dict[str, float]) -> Cascade:
    """The cascade of the options: how the offline judge and the model share the work."""
    from ragmeter.judges.asking.cascade import Cascade

    audit = {} if chosen.audit_share is None else {"audit": chosen.audit_share}
    return Cascade(
        chosen.target_agreement,
        chosen.llm_share,
        labels,
        seed=chosen.audit_seed or 0,
        calibration=chosen.offline_calibration,
        **audit,
    )

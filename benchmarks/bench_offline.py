"""The offline judge beside what people use today: how often each agrees with people, and how many answers a second.

The answers are those to questions that the packaged model was not trained on. Thresholds of the others are chosen on
the very answers that they are measured on.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import BenchmarkError, Values, cores, measure, progress, ragmeter_command, table, timed

TRAINING = Path(__file__).parent.parent / "training" / "evouna_nq.jsonl.gz"
_LEAST = 20_000  # answers a second
_REPEATED = 10
Answer = tuple[str, list[str], str, bool]


def offline(folder: Path, *, quick: bool) -> None:
    """Agreement on held-out answers, and the speed of the whole command."""
    answers = _answers()
    held_out = [answer for answer in answers if _is_held_out(answer[0])]
    progress(f"offline: agreement on {len(held_out):,} answers")
    right = np.array([answer[3] for answer in held_out])
    lines = []
    for name, judge in _judges().items():
        usage, scores = timed(lambda judge=judge: judge(held_out))  # type: ignore[misc]
        threshold = 0.5 if name == "ragmeter offline_correct" else _best_threshold(scores, right)
        said = scores >= threshold
        chance = said.mean() * right.mean() + (1 - said.mean()) * (1 - right.mean())
        agreement = float((said == right).mean())
        kappa = (agreement - chance) / (1 - chance)
        lines.append(
            (name, f"{threshold:.2f}", f"{agreement:.3f}", f"{kappa:.3f}", f"{len(held_out) / usage.seconds:,.0f}")
        )
    table(
        f"OFFLINE  agreement with people on {len(held_out):,} answers, to questions that the model has never seen",
        ("judge", "threshold", "agreement", "kappa", "answers/s"),
        lines,
    )
    if float(lines[0][2]) < 0.9:
        raise BenchmarkError(f"offline_correct agrees with people on {lines[0][2]} of the answers, and should on 0.90")
    _speed(folder, answers, 1 if quick else _REPEATED)


def _speed(folder: Path, answers: list[Answer], times: int) -> None:
    """The whole command, from a file to a run folder. Repeated answers get their row's number as one more word."""
    file = folder / "offline.jsonl"
    with file.open("w", encoding="utf-8") as out:
        for turn in range(times):
            for place, (question, golds, answer, _) in enumerate(answers):
                row = {"qid": f"{turn}-{place}", "question": question, "reference": golds}
                row["answer"] = f"{answer} {turn * len(answers) + place}" if turn else answer
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    count = times * len(answers)
    progress(f"offline: the command on {count:,} answers")
    metrics = "offline_correct,offline_correct_probability"
    usage = measure(
        ragmeter_command(
            "evaluate", "--metrics", metrics, "--results", str(file), "--run", "offline", "--output-dir", str(folder)
        )
    )
    table(
        f"OFFLINE  speed: JSONL file to run folder, whole command on {cores()} cores; target {_LEAST:,} answers/s",
        ("answers", "gold answers", "seconds", "CPU s", "answers/s", "peak memory"),
        [
            (
                f"{count:,}",
                f"{times * sum(len(item[1]) for item in answers):,}",
                f"{usage.seconds:.1f}",
                f"{usage.cpu_seconds:.1f}",
                f"{count / usage.seconds:,.0f}",
                f"{usage.peak_bytes / 1e6:,.0f} MB",
            )
        ],
    )


def _judges() -> dict[str, Callable[[list[Answer]], Values]]:
    from ragmeter import get_metric

    def contained(answers: list[Answer]) -> Values:
        right = [any(gold.casefold() in answer.casefold() for gold in golds) for _, golds, answer, _ in answers]
        return np.array(right, np.float64)

    def of_texts(name: str) -> Callable[[list[Answer]], Values]:
        metric = get_metric(name)
        return lambda answers: metric([answer[1] for answer in answers], [answer[2] for answer in answers])

    judge = get_metric("offline_correct_probability")
    methods: dict[str, Callable[[list[Answer]], Values]] = {
        "ragmeter offline_correct": lambda answers: judge(*([item[part] for item in answers] for part in range(3))),
        "exact match": of_texts("exact_match"),
        "token F1": of_texts("token_f1"),
        "gold answer contained": contained,
    }
    return {**methods, **_qa_metrics()}


def _qa_metrics() -> dict[str, Callable[[list[Answer]], Values]]:
    """The matchers of the package qa-metrics, where it is installed and has its model on this machine."""
    try:
        from qa_metrics.pedant import PEDANT

        pedant = PEDANT()
    except Exception as error:  # not installed, or it can't load what it wants from the network
        progress(f"offline: qa-metrics is left out: {type(error).__name__}: {str(error)[:80]}")
        return {}

    def scores(answers: list[Answer]) -> Values:
        return np.array([max(float(pedant.get_score(gold, answer, question)) for gold in golds)
                         for question, golds, answer, _ in answers])  # fmt: skip

    return {"qa-metrics PEDANT": scores}


def _best_threshold(scores: Values, right: np.ndarray) -> float:
    candidates = np.unique(scores[scores > 0])
    return float(max(candidates, key=lambda threshold: ((scores >= threshold) == right).mean()))


def _answers() -> list[Answer]:
    with gzip.open(TRAINING, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [(row["question"], row["golds"], answer, right) for row in rows for answer, right in row["answers"].values()]


def _is_held_out(question: str) -> bool:
    """As training/judged.py has it."""
    return int.from_bytes(hashlib.sha256(question.encode()).digest()[:8]) % 10 == 0

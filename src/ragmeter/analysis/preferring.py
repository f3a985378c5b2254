"""Which of two runs' answers does a language model prefer, question by question?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragmeter.analysis.comparing.pairing import pair
from ragmeter.engine.evaluation import evaluate
from ragmeter.engine.results import Evaluation
from ragmeter.errors import UsageError
from ragmeter.io.write import RUNS
from ragmeter.runs.finding import RunLike, find_runs
from ragmeter.show.progress import Progress
from ragmeter.table import QID

if TYPE_CHECKING:
    from ragmeter.judges.judge import Judge


def prefer(
    before: RunLike,
    after: RunLike,
    *,
    judge: Judge,
    retry_failed: bool = False,
    run: str | None = None,
    output_dir: str | Path = RUNS,
    progress: Progress = None,
) -> Evaluation:
    """Ask a judge about every question that two runs share which answer is better, in both orders.

    The mean of `preference` is the win rate of `after`, with its interval; a tie counts one half. The replies are kept
    in `output_dir`, and with `run` so is the result, as a run of that name.
    """
    return evaluate(
        paired_answers(before, after, output_dir),
        metrics="preference",
        judge=judge,
        retry_failed=retry_failed,
        run=run,
        output_dir=output_dir,
        progress=progress,
    )


def paired_answers(before: RunLike, after: RunLike, output_dir: str | Path = RUNS) -> list[dict[str, Any]]:
    """The rows that two runs share, with the answer of the later one and, as `other_answer`, that of the earlier."""
    earlier, later = find_runs([before, after], output_dir)
    pairing = pair(earlier, later)
    if not len(pairing):
        raise UsageError(f"{earlier.name} and {later.name} have no question in common", hint="rows are paired by qid")
    names = [name for name in (QID, "question", "reference", "answer") if name in later.columns]
    rows = later.records(pairing.b.tolist(), names)
    others = earlier.records(pairing.a.tolist(), ["answer"])
    return [{**row, "other_answer": other["answer"]} for row, other in zip(rows, others, strict=True)]

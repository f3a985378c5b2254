"""Export a run: its rows, its rankings for trec_eval, its scores for MLflow, its answers as OpenInference spans."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.hints import option, parameter
from ragmeter.io.write import RUNS, check_writable
from ragmeter.runs.inputs import check_no_input
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.run import Run
from ragmeter.show.exports.mlflow import log_to_mlflow
from ragmeter.show.exports.rows import write_csv, write_jsonl, write_parquet, write_xlsx
from ragmeter.show.exports.spans import write_spans
from ragmeter.show.exports.testsets import write_beir, write_deepeval, write_qa_pairs, write_qrels, write_ragas
from ragmeter.show.exports.trec import write_trec

#: The formats that are files: how each is written, and the end of the file's name.
FILES: dict[str, tuple[Callable[[Run, Path, bool], list[Path]], str]] = {
    "csv": (write_csv, ".csv"),
    "xlsx": (write_xlsx, ".xlsx"),
    "parquet": (write_parquet, ".parquet"),
    "jsonl": (write_jsonl, ".jsonl"),
    "trec": (write_trec, ".run"),
    "openinference": (write_spans, ".spans.jsonl"),
    "qa-pairs": (write_qa_pairs, ".qa.tsv"),
    "beir": (write_beir, "-beir"),
    "qrels": (write_qrels, ".qrels"),
    "ragas": (write_ragas, ".ragas.jsonl"),
    "deepeval": (write_deepeval, ".deepeval.json"),
}
MLFLOW = "mlflow"
FORMATS = (*FILES, MLFLOW)


def export(
    run: RunLike,
    to: str | None = None,
    output: str | Path | None = None,
    *,
    tracking_uri: str | None = None,
    experiment: str | None = None,
    guard: bool = True,
    output_dir: str | Path = RUNS,
) -> list[str]:
    """Write a run in another format, and return where it went.

    Args:
        run: what `evaluate()` or `ask()` returned, a folder, or a name in `output_dir`.
        to: csv, xlsx, parquet, jsonl, trec (a ranking, and its qrels), openinference (spans as OTLP JSON) or mlflow;
            of a test set also qa-pairs, beir, qrels, ragas or deepeval. By default the end of `output` says which.
        output: the file; by default the run's name, in the current folder.
        tracking_uri: MLflow's address. It gets the run's scores and settings, no questions and no answers.
        experiment: MLflow's experiment.
        guard: in CSV, put a quote before cells that a spreadsheet would run as a formula; in xlsx, mark them as texts.
        output_dir: the folder of runs.
    """
    if to is None:
        to = _format_of(output)
    if to not in FORMATS:
        raise UnknownNameError("format", to, FORMATS)
    stored = find_run(run, output_dir)
    if to == MLFLOW:
        if output is not None:
            raise UsageError(
                f"{parameter('output')} has no effect on mlflow", hint=f"name the server with {option('tracking_uri')}"
            )
        if tracking_uri is None:
            raise UsageError(
                "where is MLflow? Nothing is sent anywhere that was not named",
                hint=f"give {option('tracking_uri', 'http://127.0.0.1:5000')}, or a database: sqlite:///mlflow.db",
            )
        return [log_to_mlflow(stored, tracking_uri, experiment)]
    for name, value in (("tracking_uri", tracking_uri), ("experiment", experiment)):
        if value is not None:
            raise UsageError(f"{parameter(name)} has no effect on {to}", hint="it is for mlflow alone")
    write, ending = FILES[to]
    path = Path(output) if output is not None else Path(f"{stored.name}{ending}")
    check_writable(path.parent, option("output"))
    if path.is_dir():
        raise UsageError(f"{parameter('output')} {path} is a folder", hint=f"name a file: {path / stored.name}{ending}")
    written = [path, path.with_name(f"{path.stem}.qrels")] if to == "trec" else [path]
    check_no_input(written, [stored], f"name another file with {option('output')}")
    return [str(file) for file in write(stored, path, guard)]


def _format_of(output: str | Path | None) -> str:
    """The format of a file by the end of its name."""
    endings = {ending: name for name, (_, ending) in FILES.items()}
    name = "" if output is None else Path(output).name.lower()
    ending = max((ending for ending in endings if name.endswith(ending)), key=len, default=None)
    if ending is None:
        what = "no format was named" if output is None else f"the name {Path(output).name} says no format"
        raise UsageError(what, hint=f"name it with {option('to')}, or a file that ends with {', '.join(endings)}")
    return endings[ending]

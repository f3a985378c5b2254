"""A test set in the forms of other tools: the seeds' TSV, BEIR, qrels of TREC, Ragas's and DeepEval's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragmeter.errors import UsageError
from ragmeter.io.write import dumps, replacing, write_rows
from ragmeter.runs.run import Run
from ragmeter.show.exports.rows import records
from ragmeter.show.exports.trec import gold_lines
from ragmeter.table import QID, NewRow


def write_qa_pairs(run: Run, path: Path, guard: bool) -> list[Path]:
    """A TSV as `data/generated_qa_pairs` has them: lists are Python's, each group of categories is a column."""
    groups = [name for name in _groups(run) if name in run.columns]
    titles = ["qid", "question", "answer", "context", "document_ids", "question_kind", *groups]
    with replacing(path, private=True) as (temporary,):
        rows = (
            [
                row[QID],
                row["question"],
                (row.get("reference") or [""])[0],
                repr(row.get("evidence") or []),
                repr(row.get("relevant") or []),
                row.get("kind"),
                *(row.get(name) for name in groups),
            ]
            for row in _rows(run)
        )
        write_rows(temporary, titles, rows, "tsv", guard=guard)
    return [path]


def write_beir(run: Run, path: Path, guard: bool) -> list[Path]:
    """A folder with queries and judgements; the corpus is the user's own."""
    queries, qrels = path / "queries.jsonl", path / "qrels" / "test.tsv"
    with replacing(queries, qrels, private=True) as temporary:
        rows = [row for row in _rows(run) if row.get("relevant")]
        lines = [dumps({"_id": row[QID], "text": row["question"]}) + "\n" for row in rows]
        temporary[0].write_text("".join(lines), encoding="utf-8")
        judged = ([row[QID], document, 1] for row in rows for document in row["relevant"])
        write_rows(temporary[1], ["query-id", "corpus-id", "score"], judged, "tsv", guard=False)
    return [queries, qrels]


def write_qrels(run: Run, path: Path, guard: bool) -> list[Path]:
    """The gold documents, as trec_eval reads them."""
    with replacing(path, private=True) as (temporary,):
        lines = (line for row in _rows(run) for line in gold_lines({"relevance_grades": None, **row}))
        temporary.write_text("".join(lines), encoding="utf-8")
    return [path]


def write_ragas(run: Run, path: Path, guard: bool) -> list[Path]:
    """An object a line, as Ragas's `EvaluationDataset.from_jsonl` reads them."""
    with replacing(path, private=True) as (temporary,):
        lines = (
            dumps(
                {
                    "user_input": row["question"],
                    "reference": (row.get("reference") or [""])[0],
                    "reference_contexts": row.get("evidence") or [],
                }
            )
            for row in _rows(run)
        )
        temporary.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [path]


def write_deepeval(run: Run, path: Path, guard: bool) -> list[Path]:
    """A list of goldens, as DeepEval's `add_goldens_from_json_file` reads them with its usual keys."""
    goldens = [
        {
            "input": row["question"],
            "expected_output": (row.get("reference") or [None])[0],
            "context": row.get("evidence") or [],
            "source_file": row.get("source"),
        }
        for row in _rows(run)
    ]
    with replacing(path, private=True) as (temporary,):
        temporary.write_text(dumps(goldens, indent=2) + "\n", encoding="utf-8")
    return [path]


def _rows(run: Run) -> Iterator[NewRow]:
    if run.manifest().test_set is None:
        raise UsageError(
            f"{run.name} is no test set", hint="`ragmeter questions` makes one; other runs go to csv or jsonl"
        )
    return records(run)


def _groups(run: Run) -> list[str]:
    made = run.manifest().test_set
    return [] if made is None else list(made.categories)

"""BEIR's folders: `queries.jsonl`, `qrels/test.tsv` and `corpus.jsonl`, read as a reference."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragmeter.errors import InputError, UsageError, did_you_mean
from ragmeter.hints import option
from ragmeter.table import QID, Batch

if TYPE_CHECKING:
    from ragmeter.io.source import Source

_QUERIES, _CORPUS, _QRELS, _USUAL = "queries.jsonl", "corpus.jsonl", "qrels", "test"


def is_beir(folder: Path) -> bool:
    """Whether this is such a folder."""
    return (folder / _QUERIES).is_file() and (folder / _QRELS).is_dir()


def qrels_of(folder: Path, split: str | None) -> tuple[Path, str]:
    """The file with the judgements of a split, and a note that says which it is."""
    files = {path.stem: path for path in sorted((folder / _QRELS).glob("*.tsv"))}
    if not files:
        raise InputError("this folder of qrels has no .tsv file", file=str(folder / _QRELS))
    if split is None and len(files) > 1 and _USUAL not in files:
        hint = f"say which with {option('split', next(iter(files)))}"
        raise UsageError(f"{folder} has qrels for {', '.join(files)}", hint=hint)
    name = split or (_USUAL if _USUAL in files else next(iter(files)))
    if name not in files:
        hint = f"there are {', '.join(files)}"
        raise UsageError(f"{folder} has no split {name!r}{did_you_mean(name, files)}", hint=hint)
    others = [other for other in files if other != name]
    others_note = f", not {' or '.join(others)}" if others else ""
    return files[name], f"{folder}: read as a BEIR folder, split {name}{others_note}"


def with_questions(qrels: Source, queries: Source, corpus: Source | None, folder: Path, note: str) -> Source:
    """The judgements with the texts of their queries, and a way to the texts of documents."""

    def batches() -> Iterator[Batch]:
        texts = {str(row.get("_id")): row.get("text") for _, row in queries.records()}
        for batch in qrels.batches():
            batch.columns = {**batch.columns, "question": [texts.get(qid) for qid in batch.columns[QID]]}
            yield batch

    qrels.notes.append(note)
    passages = None if corpus is None else partial(_texts, corpus)
    return replace(qrels, name=str(folder), batches=batches, passages=passages)


def _texts(corpus: Source, ids: Collection[str]) -> dict[str, str]:
    """The titles and texts of these documents, of which the corpus may lack some."""
    rows = ((str(row.get("_id")), row) for _, row in corpus.records())
    return {
        document: "\n".join(str(part) for part in (row.get("title"), row.get("text")) if part)
        for document, row in rows
        if document in ids
    }


def with_contexts(rows: Iterable[Batch], texts: Mapping[str, str]) -> Iterator[Batch]:
    """The rows with the texts of what was retrieved; a document that the corpus lacks has an empty text."""
    for batch in rows:
        retrieved = batch.columns["retrieved"]
        contexts = [None if ids is None else [texts.get(document, "") for document in ids] for ids in retrieved]
        batch.columns = {**batch.columns, "contexts": contexts}
        yield batch


def queries_of(folder: Path) -> Path:
    """The file of the queries' texts."""
    return folder / _QUERIES


def corpus_of(folder: Path) -> Path | None:
    """The file of the documents' texts, if there is one."""
    return corpus if (corpus := folder / _CORPUS).is_file() else None

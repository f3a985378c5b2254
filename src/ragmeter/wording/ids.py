"""What is said of a run's ids of documents."""

from __future__ import annotations

from collections.abc import Iterator

from ragmeter.documents.summary import Summary
from ragmeter.hints import option
from ragmeter.wording.numbers import number


def never_match_lines(summary: Summary) -> Iterator[str]:
    """A line if no retrieved id is a gold id, with an example of each: shown before scores that are all 0."""
    if summary.document_ids is not None and (never := summary.document_ids.never_match) is not None:
        rows = never.rows
        where = "in the one row that has both" if rows == 1 else f"in any of the {rows:,} rows that have both"
        yield (
            f"no retrieved id is a gold id {where}: retrieved {never.retrieved!r}, gold {never.gold!r}; if they "
            f"name the same documents, {option('doc_id_pattern')} finds the document's id in an id"
            f"{'; so nothing is said of where answers failed' if summary.document_ids.tells_no_causes else ''}"
        )


def id_lines(summary: Summary) -> Iterator[str]:
    """How many ids were read as chunks, and the means with the questions that no result answers."""
    about = summary.document_ids
    if about is None:
        return
    if (chunks := about.chunks) is not None:
        ids = "1 id" if chunks.ids == 1 else f"{chunks.ids:,} ids"
        documents = "1 document" if chunks.documents == 1 else f"{chunks.documents:,} documents"
        yield f"{ids} read as chunks of {documents}"
    if (missing := about.missing) is not None:
        means = ", ".join(f"{name} {number(mean)}" for name, mean in missing.means_as_zero.items())
        n = missing.questions
        questions = "1 question without a result is" if n == 1 else f"{n:,} questions without a result are"
        yield f"{questions} in no mean; counted as 0 ({option('missing', 'zero')}) the means are: {means}"

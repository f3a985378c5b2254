"""Shows the documents of a run on the terminal."""

from __future__ import annotations

from ragmeter.analysis.document_list import DocumentList
from ragmeter.show.terminal.console import console
from ragmeter.show.terminal.tables import Figures
from ragmeter.wording.document_list import TITLES, document_cells, list_lines
from ragmeter.wording.texts import printable


def show_documents(documents: DocumentList, top: int) -> None:
    """The first documents as a table, and the lists."""
    out = console()
    table = Figures.of(*TITLES)
    top = max(top, 0)
    for document in documents[:top]:
        table.add(*map(printable, document_cells(document)))
    if table.rows:
        out.print(table)
    left = len(documents) - len(table.rows)
    more = f"; {left:,} more with --top, --csv or --json" if left else ""
    out.sentence(f"documents: {len(documents):,}, of {documents.n_questions:,} questions{more}")
    for line in list_lines(documents.useless, top, " with --top or --json"):
        out.sentence(printable(line))

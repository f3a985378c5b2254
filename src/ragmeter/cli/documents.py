"""`ragmeter documents RUN`: which documents are found, which are missed, and which are of no use."""

from __future__ import annotations

import argparse
from pathlib import Path

from ragmeter.cli.options import formula_option, json_option, runs_option
from ragmeter.cli.parser import Parser, command_parser
from ragmeter.io.write import dumps

_DESCRIPTION = """\
Which documents a run's questions found, and which they missed:

  ragmeter documents nightly
  ragmeter documents nightly --corpus docs.jsonl      # and those that no question found
  ragmeter documents nightly --csv documents.csv

A document is counted once a question, at its first rank, and a chunk as its document. `right when retrieved` is the
share of right answers among the questions that it was retrieved for. `useful` counts the questions that it was
retrieved for and is a gold document of; in a run without gold documents, those with a right answer.
"""


def parser() -> Parser:
    """The parser of `ragmeter documents`."""
    parser = command_parser("ragmeter documents", _DESCRIPTION)
    add = parser.add_argument
    add("run", metavar="RUN", help="a run's folder, or its name")
    add("--corpus", metavar="FILE", help="all documents with their ids (_id, id or doc_id), as jsonl, csv or parquet")
    add(
        "--top",
        metavar="N",
        type=int,
        default=20,
        help="how many documents are shown, in the table and in each list; default: %(default)s",
    )
    add("--csv", metavar="FILE", type=Path, help="write all of them to a file; for Excel if its name ends with .xlsx")
    formula_option(parser)
    runs_option(parser)
    json_option(parser)
    return parser


def run(chosen: argparse.Namespace) -> int:
    """Count, and print."""
    from ragmeter.analysis.document_list import list_documents
    from ragmeter.io.write import replacing, table_format, write_rows
    from ragmeter.show.terminal.document_list import show_documents

    file_format = "csv" if chosen.csv is None else table_format(chosen.csv)
    documents = list_documents(chosen.run, corpus=chosen.corpus, output_dir=chosen.output_dir)
    if chosen.csv is not None:
        table = documents.table
        with replacing(chosen.csv, private=True) as (temporary,):
            rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
            write_rows(temporary, table.column_names, rows, file_format, guard=chosen.guard)
    if chosen.json:
        print(dumps(documents.as_dict(), indent=2))
        return 0
    show_documents(documents, chosen.top)
    if chosen.csv is not None:
        print(f"written: {chosen.csv}")
    return 0

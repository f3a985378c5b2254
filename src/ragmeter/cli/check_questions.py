"""`python -m ragmeter.cli.check_questions FILE ...`: duplicate ids, empty questions, empty references, with lines.

For a hook of pre-commit (`.pre-commit-hooks.yaml`), which names the files that are to be committed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from ragmeter.errors import InputError, RagmeterError
from ragmeter.io.progress import show_notice

#: The most problems of one file that are shown.
_SHOWN = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files; the exit code is 1 if one has a problem."""
    parser = argparse.ArgumentParser(prog="python -m ragmeter.cli.check_questions", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    code = 0
    for file in parser.parse_args(arguments).files:
        problems = _problems(file)
        for problem in islice(problems, _SHOWN):
            code = 1
            show_notice(problem.for_command_line())
        if more := sum(1 for _ in problems):
            show_notice(f"{file}: {more:,} more")
    return code


def _problems(file: str) -> Iterator[RagmeterError]:
    """What is wrong with a file, row by row; a file that can't be read has one problem."""
    from ragmeter.io.batches import row_place
    from ragmeter.io.columns import Typed
    from ragmeter.io.source import open_source
    from ragmeter.metrics.abstention import MARKS, is_unanswerable

    lines: dict[str, int] = {}
    try:
        for batch in Typed(open_source(file, what=file), "reference", {}).batches():
            columns = batch.columns
            marks = {name: columns[name] for name in MARKS if name in columns}
            for place, line in enumerate(batch.lines):
                where = row_place(file, line)
                if "qid" in columns:
                    qid = columns["qid"][place]
                    if qid is None or not qid.strip():
                        yield InputError("the qid is missing", **where)
                    elif (first := lines.setdefault(qid, line)) != line:
                        unit = "line" if "line" in where else "row"
                        yield InputError(f"the qid {qid!r} is there already, in {unit} {first}", **where)
                if "question" in columns and not (columns["question"][place] or "").strip():
                    yield InputError("the question is empty", **where)
                needs_reference = is_unanswerable({name: marks[name][place] for name in marks}) is not True
                if "reference" in columns and needs_reference:
                    reference = columns["reference"][place] or ()
                    if not any(text and text.strip() for text in reference):
                        yield InputError("the reference is empty", **where)
    except RagmeterError as error:
        yield error


if __name__ == "__main__":
    sys.exit(main())

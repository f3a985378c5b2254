"""Excel workbooks (`.xlsx`), read and written by openpyxl, an optional package.

A sheet gives what the CSV file would give that a spreadsheet program saves of it: an empty cell is an empty text. Texts
stay texts (`007`), whole numbers have no point, dates are in ISO's form, and of a formula its computed value counts.
"""

from __future__ import annotations

import datetime
import re
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from ragmeter.errors import InputError, MissingExtraError, OutputError, RagmeterError, RagmeterWarning, did_you_mean
from ragmeter.hints import option
from ragmeter.io.batches import batches_of_records, check_columns, repeated
from ragmeter.io.cells import whole
from ragmeter.io.delimited.formulas import guarded
from ragmeter.io.limits import Limit
from ragmeter.table import Batch, Row
from ragmeter.wording.numbers import given

#: What a sheet holds at most, and a cell, in units of UTF-16.
_MAX_ROWS, _MAX_COLUMNS, MAX_CELL = 1_048_576, 16_384, 32_767
_ROWS_AT_ONCE = 1024
_OLE = b"\xd0\xcf\x11\xe0"  # how a workbook begins that has a password, and a file of the format before
_FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")
#: A character that XML can't hold is `_x0001_` in a workbook, and a text that looks so is `_x005F_x0001_`.
_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")
_NOT_XML = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_LARGEST_WHOLE = 2**53  # Excel's numbers are floats


def read(
    name: str,
    opened: Callable[[], BinaryIO],
    limit: Limit = Limit(),  # noqa: B008 - frozen
    *,
    split: str | None = None,
    say: Callable[[str], None] = lambda note: None,
) -> Iterator[Batch]:
    """The rows of the first visible sheet that has any, or of the one that `split` names; lines count its rows."""
    openpyxl = load_openpyxl("reading Excel files")
    try:
        with opened() as stream:
            formulas = _check_archive(stream, name, limit)
            values = _loaded(openpyxl, stream, computed=True)
            title = _chosen_sheet(values, name, split, say)
            texts = _loaded(openpyxl, stream, computed=False)[title] if formulas else None
            yield from batches_of_records(_records(values[title], texts, name), name)
    except RagmeterError:
        raise
    except Exception as error:  # a damaged workbook makes openpyxl raise whatever its parts happen to raise
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"this is not a readable Excel file: {reason}", file=name) from None


def load_openpyxl(feature: str) -> Any:
    """The package; an error that names the extra where it is not installed."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError(feature, "excel") from None
    return openpyxl


def _check_archive(stream: BinaryIO, name: str, limit: Limit) -> bool:
    """Refuse what would fill the memory, and say whether any sheet has formulas."""
    if stream.read(4) == _OLE:
        hint = "save it as .xlsx (Excel workbook), without a password"
        raise InputError("this workbook has a password, or is of the older format .xls", file=name, hint=hint)
    with zipfile.ZipFile(stream) as archive:  # it never unpacks more of a member than the archive says it has
        members = archive.infolist()
        if (size := sum(member.file_size for member in members)) > limit.size:
            more = f"; allow more with {option('max_field')}" if limit.adjustable else ""
            raise InputError(
                f"unpacked, the workbook has {given(round(size / (1 << 20), 1))} MiB, more than {given(limit.mib)} MiB",
                file=name,
                hint=f"save the sheet as CSV, which may be of any size{more}",
            )
        sheets = [member for member in members if member.filename.startswith("xl/worksheets/")]
        return any(_FORMULA.search(archive.read(sheet)) for sheet in sheets)


def _loaded(openpyxl: Any, stream: BinaryIO, *, computed: bool) -> Any:
    """The workbook, with the computed values of formulas or with their texts; sheets are read while they are used."""
    stream.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what it does not keep, such as rules for the input of cells
        return openpyxl.load_workbook(stream, read_only=True, data_only=computed, keep_links=False)


def _chosen_sheet(workbook: Any, name: str, split: str | None, say: Callable[[str], None]) -> str:
    """The title of the sheet to read; a note names others that have rows."""
    sheets = workbook.worksheets
    titles = [sheet.title for sheet in sheets]
    if split is not None:
        if split not in titles:
            hint = f"it has {', '.join(titles)}"
            raise InputError(f"there is no sheet {split!r}{did_you_mean(split, titles)}", file=name, hint=hint)
        return split
    filled = [sheet for sheet in sheets if any(_has_value(row) for _, row in _rows(sheet, name))]
    visible: list[str] = [sheet.title for sheet in filled if sheet.sheet_state == "visible"]
    if not filled:
        raise InputError("the workbook has no rows", file=name)
    if not visible:
        hidden = filled[0].title
        hint = f"show it in your spreadsheet program, or name it: {option('split', hidden)}"
        raise InputError(f"the only rows are in a hidden sheet, {hidden!r}", file=name, hint=hint)
    others = [
        repr(sheet.title) + ("" if sheet.title in visible else " (hidden)")
        for sheet in filled
        if sheet.title != visible[0]
    ]
    if others:
        say(f"the sheet {visible[0]!r} is read, not {' or '.join(others)}; `split` names another")
    return visible[0]


def _rows(sheet: Any, name: str) -> Iterator[tuple[int, Sequence[Any]]]:
    """The rows of a sheet with their numbers; what the file says of the sheet's size is not believed."""
    sheet.reset_dimensions()
    rows = enumerate(sheet.iter_rows(), 1)
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            some = list(islice(rows, _ROWS_AT_ONCE))
        if not some:
            return
        if some[-1][0] > _MAX_ROWS:
            raise InputError(f"more than {_MAX_ROWS:,} rows, which no sheet has", file=name)
        yield from some


def _has_value(row: Sequence[Any]) -> bool:
    return any(cell.value is not None and cell.value != "" for cell in row)


def _records(sheet: Any, formulas: Any, name: str) -> Iterator[tuple[int, int, Row]]:
    """Each row under the titles of the first one that has any value; rows without a value are skipped."""
    titles: list[str] | None = None
    any_rows = False
    texts = None if formulas is None else _rows(formulas, name)
    for number, row in _rows(sheet, name):
        texts_of_row = () if texts is None else next(texts)[1]
        _check_computed(row, texts_of_row, name, number)
        if not _has_value(row):
            continue
        cells = [_value(cell, name, number) for cell in row]
        if titles is None:
            titles = _titles(cells, name, number)
            continue
        any_rows = True
        if beyond := [
            place for place, cell in enumerate(cells) if cell != "" and not "".join(titles[place : place + 1])
        ]:
            reason = f"there is a value in column {_letters(beyond[0])}, which has no title"
            raise InputError(reason, file=name, row=number, hint="give the column a title in the first row")
        padded = [*cells, *[""] * (len(titles) - len(cells))]
        record = {title: cell for title, cell in zip(titles, padded[: len(titles)], strict=True) if title}
        yield number, sum(len(cell) for cell in record.values() if isinstance(cell, str)), record
    if not any_rows:
        raise InputError("the sheet has no rows", file=name, hint="at least one row of data is needed below the titles")


def _titles(cells: Sequence[Any], name: str, number: int) -> list[str]:
    titles = [str(cell).strip() for cell in cells]
    check_columns(len(titles), name)
    if duplicates := repeated([title for title in titles if title]):
        raise InputError(f"the header has {', '.join(map(repr, duplicates))} more than once", file=name, row=number)
    return titles


def _check_computed(row: Sequence[Any], texts: Sequence[Any], name: str, number: int) -> None:
    """A formula that no spreadsheet program has computed has no value, which is not the same as an empty cell."""
    for place, text in enumerate(texts):
        if text.data_type == "f" and (place >= len(row) or row[place].value is None):
            reason = f"the formula in column {_letters(place)} has no computed value"
            hint = "open the file in a spreadsheet program and save it, so that its formulas are computed"
            raise InputError(reason, file=name, row=number, hint=hint)


def _value(cell: Any, name: str, number: int) -> Any:
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "e":
        reason = f"the cell in column {_letters(cell.column - 1)} is an error of the spreadsheet: {value}"
        raise InputError(reason, file=name, row=number, hint="correct or empty the cell")
    if isinstance(value, str):
        return whole(_ESCAPE.sub(lambda match: chr(int(match[1], 16)), value)) if "_x" in value else value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _LARGEST_WHOLE else value
    if isinstance(value, datetime.datetime):
        return (value.date() if value.time() == datetime.time() else value).isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value if isinstance(value, int | bool) else str(value)


def _letters(place: int) -> str:
    """A column as a spreadsheet names it: A, B … Z, AA."""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def write(path: Path, titles: Sequence[str], rows: Iterable[Sequence[Any]], *, guard: bool = True) -> None:
    """One sheet of rows. No text becomes a formula; `guard` marks one that looks so as a text, as a quote does that
    somebody types before it, so that it is none either when its cell is edited. Lists are to be JSON already.
    """
    openpyxl = load_openpyxl("writing Excel files")
    if len(titles) > _MAX_COLUMNS:
        raise OutputError(
            f"a sheet has at most {_MAX_COLUMNS:,} columns, not {len(titles):,}", hint="write csv instead"
        )
    workbook = openpyxl.Workbook(write_only=True)
    workbook.properties.creator = "ragmeter"
    sheet = workbook.create_sheet("rows")
    sheet.freeze_panes = "A2"
    cut: dict[str, int] = {}
    sheet.append([_cell(sheet, title, guard) for title in titles])
    for number, row in enumerate(rows, 2):
        if number > _MAX_ROWS:
            raise OutputError(f"a sheet has at most {_MAX_ROWS:,} rows", hint="write csv or parquet instead")
        for title, value in zip(titles, row, strict=True):
            if isinstance(value, str) and _units(value) > MAX_CELL:
                cut[title] = cut.get(title, 0) + 1
        sheet.append([_cell(sheet, value, guard) for value in row])
    workbook.save(path)
    if cut:
        columns = ", ".join(f"{title} ({count:,})" for title, count in cut.items())
        reason = f"a cell of a sheet holds {MAX_CELL:,} characters, and longer texts are cut: {columns}"
        warnings.warn(f"{reason}; csv, jsonl and parquet have all of them", RagmeterWarning, stacklevel=2)


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _cell(sheet: Any, value: Any, guard: bool) -> Any:
    from openpyxl.cell import WriteOnlyCell

    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) <= _LARGEST_WHOLE:
        return value
    text = whole(str(value))
    if _units(text) > MAX_CELL:
        text = text.encode("utf-16-le")[: 2 * (MAX_CELL - 2)].decode("utf-16-le", "ignore") + " …"
    cell = WriteOnlyCell(sheet)
    # not by its constructor, which would take what begins with "=" for a formula, and refuse control characters
    cell._value, cell.data_type = _NOT_XML.sub(lambda match: f"_x{ord(match[0]):04X}_", text), "s"
    if guard and guarded(text) != text:
        cell.quotePrefix = True
    return cell

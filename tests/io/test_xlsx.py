"""Excel workbooks: what is read of them, what is refused, and what is written."""

from __future__ import annotations

import datetime
import io
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragmeter
from ragmeter import evaluate
from ragmeter.compat.web import write_scored
from ragmeter.errors import InputError, MissingExtraError, OutputError, RagmeterWarning
from ragmeter.io.formats import xlsx
from ragmeter.io.reading import Reading
from ragmeter.io.source import Source, open_source
from tests.conftest import Run

TITLES = ["qid", "answer", "reference"]
Sheets = dict[str, list[list[Any]]]


def workbook(path: Path, sheets: Sheets, hidden: tuple[str, ...] = ()) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        sheet.sheet_state = "hidden" if title in hidden else "visible"
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def changed(path: Path, member: str, change: Any) -> Path:
    """The same workbook with one of its members changed, as another program may have written it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members[member] = change(members[member])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def rows_of(source: Source) -> list[dict[str, Any]]:
    return [row for _, row in source.records()]


def test_cells_are_what_the_csv_of_the_sheet_would_say(tmp_path: Path) -> None:
    day = datetime.datetime(2026, 1, 31)
    cells = ["007", 7.0, 7.25, True, day, day.replace(hour=9), datetime.time(9, 30), None, "_x005F_x0041_ é\n", "NA"]
    path = workbook(tmp_path / "r.xlsx", {"a": [[], [f"c{place}" for place in range(len(cells))], [], cells]})
    [(line, row)] = open_source(path).records()
    assert line == 4
    assert list(row.values()) == [
        "007", 7, 7.25, True, "2026-01-31", "2026-01-31T09:00:00", "09:30:00", "", "_x0041_ é\n", "NA",
    ]  # fmt: skip
    assert type(row["c1"]) is int


def test_a_sheet_has_the_scores_of_the_same_csv(tmp_path: Path) -> None:
    table = [TITLES, ["007", "Paris", "Paris"], ["2", "7", "7"], ["3", "", "Rome"]]
    sheet = workbook(tmp_path / "r.xlsx", {"a": [TITLES, ["007", "Paris", "Paris"], [2, 7.0, 7], ["3", None, "Rome"]]})
    (tmp_path / "r.csv").write_text("".join(",".join(row) + "\n" for row in table))
    evaluations = [ragmeter.evaluate(tmp_path / name, metrics="exact_match") for name in (sheet.name, "r.csv")]
    assert evaluations[0].rows.equals(evaluations[1].rows)
    assert evaluations[0].rows["qid"].to_pylist() == ["007", "2", "3"]


def test_which_sheet_is_read(tmp_path: Path) -> None:
    rows = {name: [TITLES, [name, "a", "a"]] for name in ("old", "first", "second")}
    path = workbook(tmp_path / "r.xlsx", {"notes": [], **rows}, hidden=("old",))
    source = open_source(path)
    assert [row["qid"] for row in rows_of(source)] == ["first"]
    [note] = source.notes
    assert "the sheet 'first' is read, not 'old' (hidden) or 'second'" in note
    for name in ("second", "old"):
        named = open_source(path, Reading(split=name))
        assert [row["qid"] for row in rows_of(named)] == [name]
        assert named.notes == []
    with pytest.raises(InputError, match="no sheet 'frist': did you mean first"):
        rows_of(open_source(path, Reading(split="frist")))


def test_the_only_sheet_with_rows_needs_no_word(tmp_path: Path) -> None:
    path = workbook(tmp_path / "r.xlsx", {"cover": [], "data": [TITLES, ["1", "a", "a"]], "empty": [[None, ""]]})
    source = open_source(path)
    assert len(rows_of(source)) == 1
    assert source.notes == []


def test_a_formula_counts_as_its_computed_value(tmp_path: Path) -> None:
    path = workbook(tmp_path / "r.xlsx", {"a": [TITLES, ["1", "=1+1", "2"]]})
    with pytest.raises(InputError, match=r"row 2: the formula in column B has no computed value") as caught:
        rows_of(open_source(path))
    assert "save it" in caught.value.hint
    changed(path, "xl/worksheets/sheet1.xml", lambda xml: re.sub(rb"(<f>1\+1</f>)<v ?/>", rb"\1<v>2</v>", xml))
    assert rows_of(open_source(path)) == [{"qid": "1", "answer": 2, "reference": "2"}]


@pytest.mark.parametrize(
    ("sheets", "hidden", "parts"),
    [
        ({"a": []}, (), ["no rows"]),
        ({"a": [TITLES]}, (), ["the sheet has no rows", "below the titles"]),
        ({"a": [[None], ["x"]], "b": [TITLES, ["1", "#N/A", "a"]]}, ("a",), ["row 2", "column B", "#N/A"]),
        ({"a": [], "secret": [TITLES, ["1", "a", "a"]]}, ("secret",), ["hidden sheet, 'secret'", "split"]),
        ({"a": [["qid", "answer", "answer"], ["1", "a", "b"]]}, (), ["row 1", "'answer' more than once"]),
        ({"a": [TITLES, ["1", "a", "a"], ["2", "a", "a", "x"]]}, (), ["row 3", "column D", "no title"]),
        ({"a": [["qid", None, "reference"], ["1", "a", "a"]]}, (), ["row 2", "column B", "no title"]),
    ],
)
def test_one_clear_error(sheets: Sheets, hidden: tuple[str, ...], parts: list[str], tmp_path: Path) -> None:
    path = workbook(tmp_path / "r.xlsx", sheets, hidden)
    with pytest.raises(InputError) as caught:
        rows_of(open_source(path))
    for part in ("r.xlsx", *parts):
        assert part in str(caught.value)


def test_a_row_is_named_by_its_number_in_the_sheet(tmp_path: Path, ragmeter: Run) -> None:
    workbook(tmp_path / "r.xlsx", {"a": [TITLES, [], ["1", "a", "a"], ["1", "a", "a"]]})
    done = ragmeter("evaluate", "r.xlsx", "--metrics", "exact_match")
    assert done.returncode == 2
    assert "r.xlsx, row 4: " in done.stderr
    assert "'1'" in done.stderr


def zip_of(members: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"PK", "not a readable Excel file"),
        (b"qid,answer\n1,a\n", "not a readable Excel file"),
        (zip_of({"a.txt": b"x"}), "not a readable Excel file"),
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, "has a password"),
        (zip_of({"xl/worksheets/sheet1.xml": b" " * (300 << 20)}), "unpacked, the workbook has 300 MiB"),
    ],
)
def test_what_is_no_workbook(content: bytes, part: str, tmp_path: Path) -> None:
    (tmp_path / "r.xlsx").write_bytes(content)
    with pytest.raises(InputError, match=part):
        rows_of(open_source(tmp_path / "r.xlsx"))


def test_sizes_that_a_sheet_pretends_to_have(tmp_path: Path) -> None:
    path = workbook(tmp_path / "r.xlsx", {"a": [TITLES, ["1", "a", "a"]]})
    sheet = "xl/worksheets/sheet1.xml"
    changed(path, sheet, lambda xml: re.sub(rb'<dimension ref="[^"]+"', b'<dimension ref="A1:A1"', xml))
    assert rows_of(open_source(path)) == [{"qid": "1", "answer": "a", "reference": "a"}]
    changed(path, sheet, lambda xml: xml.replace(b'<row r="2"', b'<row r="99999999999"'))
    with pytest.raises(InputError, match="more than 1,048,576 rows"):
        rows_of(open_source(path))


def test_entities_are_not_blown_up(tmp_path: Path) -> None:
    path = workbook(tmp_path / "r.xlsx", {"a": [TITLES, ["1", "a", "a"]]})
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    doctype = f'<!DOCTYPE worksheet [<!ENTITY e0 "x">{entities}]>'.encode()

    def with_bomb(xml: bytes) -> bytes:
        declaration, rest = re.fullmatch(rb"(<\?xml[^>]*>)?(.*)", xml, re.DOTALL).groups()
        return (declaration or b"") + doctype + rest.replace(b"<t>a</t>", b"<t>&e11;</t>")

    changed(path, "xl/worksheets/sheet1.xml", with_bomb)
    with pytest.raises(InputError, match="not a readable Excel file"):
        rows_of(open_source(path))


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "r.xlsx").write_bytes(b"PK")
    with pytest.raises(MissingExtraError, match=r"reading Excel files needs an optional package(?s:.*)\[excel\]"):
        rows_of(open_source(tmp_path / "r.xlsx"))
    with pytest.raises(MissingExtraError, match="writing Excel files"):
        xlsx.write(tmp_path / "out.xlsx", ["a"], [["b"]])


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.from_regex(r"[=+@-]?_x[0-9A-F]{4}_")


@given(rows=st.lists(st.tuples(TEXTS, st.integers(-(2**60), 2**60), st.booleans()), min_size=1, max_size=5))
def test_what_is_written_is_read_again(rows: list[tuple[str, int, bool]], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("x") / "r.xlsx"
    xlsx.write(path, ["text", "number", "truth"], rows)
    read = [(row["text"], int(row["number"]), row["truth"]) for row in rows_of(open_source(path))]
    assert read == rows


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    texts = ["=1+1", '=HYPERLINK("http://x")', "@SUM(A1)", "+1+cmd|'/C calc'!A0", "-5", "plain", "#N/A"]
    for guard in (True, False):
        xlsx.write(tmp_path / "r.xlsx", ["=title", "b"], [[text, None] for text in texts], guard=guard)
        cells = [row[0] for row in openpyxl.load_workbook(tmp_path / "r.xlsx").active.iter_rows()]
        assert [cell.value for cell in cells] == ["=title", *texts]
        assert {cell.data_type for cell in cells} == {"s"}
        assert [bool(cell.quotePrefix) for cell in cells] == [
            guard and text in ["=title", *texts[:4]] for text in ["=title", *texts]
        ]


def test_what_no_sheet_holds(tmp_path: Path) -> None:
    with pytest.warns(RagmeterWarning, match=r"32,767 characters, and longer texts are cut: long \(2\)"):
        xlsx.write(tmp_path / "r.xlsx", ["long", "b"], [["x" * 32_768, "y" * 32_767], ["😀" * 16_384, ""]])
    first, second = rows_of(open_source(tmp_path / "r.xlsx"))
    assert (len(first["long"]), first["long"][-2:], len(first["b"])) == (32_767, " …", 32_767)
    assert second["long"] == "😀" * 16_382 + " …"
    with pytest.raises(OutputError, match="at most 16,384 columns"):
        xlsx.write(tmp_path / "wide.xlsx", ["x"] * 16_385, [])


def test_an_export_is_read_again(tmp_path: Path, ragmeter: Run) -> None:
    workbook(tmp_path / "in.xlsx", {"a": [TITLES, ["1", "=a", "=a"], ["2", None, "b"]]})
    changed(
        tmp_path / "in.xlsx",
        "xl/worksheets/sheet1.xml",
        lambda xml: re.sub(rb"<f>a</f><v ?/>", b"<f>a</f><v>5</v>", xml),
    )
    assert ragmeter("evaluate", "in.xlsx", "--metrics", "exact_match,token_f1", "--run", "r").returncode == 0
    done = ragmeter("export", "r", "--output", "out.xlsx")
    assert "written: out.xlsx" in done.stdout, done.stderr
    again = rows_of(open_source(tmp_path / "out.xlsx"))
    assert [(row["qid"], row["answer"], row["exact_match"]) for row in again] == [("1", "5", 1), ("2", "", 0)]
    refused = ragmeter("export", "r", "--output", "in.xlsx")
    assert refused.returncode == 2
    assert "is not overwritten" in refused.stderr


def test_tables_whose_names_end_so(tmp_path: Path, ragmeter: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"qid": "1", "answer": "a", "reference": "a", "retrieved": ["d1"], "relevant": ["d1"]}]
    evaluate(rows, metrics="recall@1", run="r", output_dir=tmp_path / "runs")
    done = ragmeter("documents", "r", "--csv", "documents.xlsx")
    assert done.returncode == 0, done.stderr
    assert rows_of(open_source(tmp_path / "documents.xlsx"))[0]["id"] == "d1"
    (tmp_path / "a.jsonl").write_text('{"qid": "1", "answer": "=a", "reference": "=a"}\n')
    arguments = ("--evaluator", "EditDistanceEvaluator", "--results", "a.jsonl", "--reference", "a.jsonl")
    done = ragmeter("evaluate", *arguments, "--output-format", "xlsx", "--output-dir", "out")
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").glob("*.xlsx"))) == 2
    write_scored(tmp_path / "answers.XLSX", [{"query": "=1", "score": 0.5}])
    assert rows_of(open_source(tmp_path / "answers.XLSX")) == [{"query": "=1", "score": 0.5}]
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    done = ragmeter("documents", "r", "--csv", "again.xlsx")
    assert done.returncode == 2
    assert "[excel]" in done.stderr
    assert not (tmp_path / "again.xlsx").exists()

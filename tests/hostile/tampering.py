"""Run folders, and ways to damage them: a case is drawn by its seed, so that any can be drawn again."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import ragmeter
from ragmeter import CRAGEvaluator, FakeProvider, Judge
from tests.compat.crag.helpers import turn
from tests.show.report.helpers import rows

METRICS = "token_f1,exact_match,recall@2,offline_correct"
#: What is put in the place of any value of a JSON document.
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**63, 10**400, 0.5, -0.5, 1e308, float("nan"), float("inf"), "", "x", "\ud800", "[]",
    "token_f1", "a" * 5000, [], {}, [None], [1, 2], [2, 1], [1, 2, 3], {"": None}, {"a": {"b": 1}}, [[]], ["x"],
]  # fmt: skip
COLUMN_VALUES: list[Any] = [None, float("inf"), float("-inf"), 1e308, -1.0, 2.0, float("nan")]
COLUMN_TYPES = [
    pa.int64(), pa.string(), pa.large_string(), pa.bool_(), pa.binary(), pa.float32(), pa.float16(), pa.null(),
    pa.timestamp("s"), pa.decimal128(30, 5), pa.list_(pa.float64()), pa.list_(pa.string()), pa.date32(), pa.uint8(),
    pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.list_(pa.string())), pa.struct([("x", pa.int8())]),
]  # fmt: skip
TARGET = """
def answer(question):
    return "gold answer " + question.split()[-1].strip("?")
"""


def build(folder: Path) -> None:
    """Runs of every kind, with what the commands need beside them."""
    runs = folder / "runs"
    for name in ("a", "b"):
        data = [{**row, "latency_ms": 10.0 * n} for n, row in enumerate(rows(12))]
        if name == "b":
            data = [{**row, "answer": "gold answer 1"} for row in data]
        ragmeter.evaluate(data, metrics=METRICS, run=name, output_dir=runs)
    ragmeter.compare(["a", "b"], keep=True, output_dir=runs)
    judge = Judge(provider=FakeProvider("Yes"), check=False)
    ragmeter.evaluate(rows(), metrics="llm_correct,token_f1", judge=judge, run="judged", output_dir=runs)
    turns = [turn(f"s{i // 3}", i % 3, f"gold {i}", f"it is {'gold' if i % 2 else 'lead'} {i}") for i in range(9)]
    made = CRAGEvaluator(judge=judge, journal=runs / "talk" / "journal.sqlite")
    made.save_results(*made.evaluate_agent_responses(turns), runs / "talk")
    (folder / "turns.jsonl").write_text("".join(json.dumps(row) + "\n" for row in turns), encoding="utf-8")
    dataset = [{key: row[key] for key in ("qid", "question", "reference")} for row in rows()]
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in dataset), encoding="utf-8")
    (folder / "rag_of_tests.py").write_text(TARGET, encoding="utf-8")
    labels = "".join(f"q{n},{'correct' if n % 3 else 'wrong'}\n" for n in range(8))
    (folder / "labels.csv").write_text(f"qid,label\n{labels}", encoding="utf-8")
    spoken = "".join(f"s{n // 3}-{n % 3},{'correct' if n % 2 else 'wrong'}\n" for n in range(9))
    (folder / "spoken.csv").write_text(f"qid,label\n{spoken}", encoding="utf-8")


ASK = "ask --dataset questions.jsonl --target rag_of_tests:answer --metrics token_f1 --run asked"
#: What is done with the damaged run X.
COMMANDS = {
    "any": (
        "summary X",
        "summary X --slice domain --interval bootstrap --json",
        "compare X b",
        "compare a X --json",
        "compare X judged --keep",
        "report X",
        "report X b --markdown m.md --latex l.tex",
        "report a b",
        "gate X --fail-under token_f1=0.1 --max-failed 0.5 --junit j.xml --markdown s.md",
        "gate b --no-worse-than X:token_f1:0.1",
        "label X --blank --n 4 --output new.csv",
        "label X --blank --n 4 --by disagreement --output new.csv",
        "calibrate X --labels labels.csv",
        "calibrate X --labels labels.csv --metric token_f1 --threshold 0.5",
        "calibrate X --labels labels.csv --offline-judge",
        "explain X q1",
        "evaluate --run X --metrics token_recall,ndcg@10",
        "evaluate --run X --metrics offline_correct_probability --fail-under token_f1=0.1",
        "evaluate --run X --metrics llm_correct --judge-model m --base-url http://127.0.0.1:9/v1 --dry-run",
    ),
    "talk": (
        "crag evaluate --turns turns.jsonl --output-dir runs/talk --judge offline",
        "calibrate talk --labels spoken.csv --metric accuracy",
        "compare talk talk2",
        "explain talk s0-1",
    ),
    "asked": (f"{ASK} --resume", f"{ASK} --retry-failed", ASK),
    "last": (
        "evaluate --results questions.jsonl --column answer=question --metrics token_f1 --run X",
        "evaluate --results questions.jsonl --column answer=question --metrics token_f1 --run X --replace",
        "summary X",
    ),
}


@dataclass(frozen=True)
class Case:
    """A damaged folder: which run, what was done to it, and the commands to try."""

    run: str
    damage: str
    commands: tuple[tuple[str, ...], ...]


def draw(seed: int, corpus: Path, folder: Path, n_commands: int | None = None) -> Case:
    """Copy the corpus into the folder and damage one of its runs. All commands, or some."""
    chance = random.Random(seed)
    shutil.copytree(corpus, folder, dirs_exist_ok=True)
    shutil.copytree(corpus / "runs" / "talk", folder / "runs" / "talk2")
    run = chance.choice(["a", "a", "judged", "talk", "asked"])
    path = folder / "runs" / run
    files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    if run == "asked":
        files.append(folder / "runs" / "asked.journal.sqlite")
    if run == "a":
        files.append(folder / "runs" / "b" / "comparisons" / "a.json")
    weights = [3 if file.suffix in (".json", ".parquet") else 1 for file in files]
    (file,) = chance.choices(files, weights)
    ways: dict[str, tuple[Callable[[Path, random.Random], str], ...]] = {
        ".json": (change_json, change_json, change_json, change_json, damage_file),
        ".parquet": (change_table, change_table, change_table, damage_file),
        ".sqlite": (change_journal, damage_file),
    }
    damage = chance.choice(ways.get(file.suffix, (damage_file,)))(file, chance)
    for _ in range(chance.choice([0, 0, 0, 1])):
        damage += " and " + change_json(path / chance.choice(["manifest.json", "summary.json"]), chance)
    chosen = (*COMMANDS["any"], *COMMANDS.get(run, ()), *COMMANDS["last"])
    commands = [command.replace("X", run) for command in chosen]
    if n_commands is not None:
        commands = chance.sample(commands, n_commands)
    return Case(run, f"{file.relative_to(folder)}: {damage}", tuple(tuple(command.split()) for command in commands))


def change_json(file: Path, chance: random.Random) -> str:
    """Put something else in the place of a value, remove one, or add one."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return "nothing"
    place = chance.choice(list(_places(document)))
    parent = document
    for key in place[:-1]:
        parent = parent[key]
    last, value = place[-1], chance.choice(VALUES)
    kind = chance.choice(["set", "set", "set", "remove", "wrap", "rename"])
    if kind == "remove" or (kind == "rename" and isinstance(parent, list)):
        del parent[last]
    elif kind == "wrap":
        parent[last] = chance.choice([[parent[last]], {"x": parent[last]}, str(parent[last])])
    elif kind == "rename":
        parent[str(value)[:50]] = parent.pop(last)
    else:
        parent[last] = value
    file.write_text(json.dumps(document), encoding="utf-8")
    return f"{kind} {place} {value!r:.40}"


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield (*place, key)
        yield from _places(member, (*place, key))


def change_table(file: Path, chance: random.Random) -> str:
    """Drop, rename, repeat or retype a column, set values, or change the number of rows."""
    with file.open("rb") as opened:
        table = pq.read_table(opened)
    place = chance.randrange(table.num_columns)
    field, column = table.schema.field(place), table.column(place)
    kind = chance.choice(["drop", "rename", "repeat", "type", "type", "type", "values", "values", "values", "rows"])
    detail: Any = ""
    if kind == "drop":
        table = table.remove_column(place)
    elif kind == "rename":
        detail = chance.choice(["", "qid2", "x" * 300, "\x1b[31m", "answer", field.name + "_outcome"])
        table = table.rename_columns([detail if n == place else name for n, name in enumerate(table.column_names)])
    elif kind == "repeat":
        table = table.append_column(field, column)
    elif kind == "type":
        detail = chance.choice(COLUMN_TYPES)
        table = table.set_column(place, pa.field(field.name, detail), _cast(column, detail))
    elif kind == "values":
        detail = chance.choice(COLUMN_VALUES)
        cells = [detail if chance.random() < 0.5 else cell for cell in column.to_pylist()]
        try:
            table = table.set_column(place, field, pa.array(cells, field.type))
        except (pa.ArrowException, TypeError, ValueError):
            table = table.set_column(place, field, pa.array([None] * table.num_rows, field.type))
    else:
        detail = chance.choice([0, 1, table.num_rows - 1, 2 * table.num_rows])
        table = pa.concat_tables([table, table]).slice(0, detail)
    with file.open("wb") as opened:
        pq.write_table(table, opened)
    return f"{kind} {field.name} {detail!s:.40}"


def _cast(column: Any, kind: Any) -> Any:
    """A column of another type, empty where it can't be cast."""
    try:
        return column.cast(kind)
    except (pa.ArrowException, TypeError):
        return pa.nulls(len(column), kind)


def change_journal(file: Path, chance: random.Random) -> str:
    """Change a journal as an SQLite file that is still whole."""
    statement = chance.choice(
        [
            "DELETE FROM replies",
            "DROP TABLE replies",
            "DROP TABLE spending",
            "DROP TABLE rounds",
            "PRAGMA user_version = 99",
            "PRAGMA application_id = 1",
            "UPDATE replies SET body = 'x'",
            "UPDATE replies SET body = '{}'",
            "UPDATE replies SET body = x'ff00'",
            "UPDATE replies SET body = '[]', cost = 'x', attempts = 'y'",
            "UPDATE rounds SET target = 'x', target_after = '[1]', questions = 3",
            "UPDATE rounds SET finished = 7, begun = NULL",
            "UPDATE spending SET calls = 'many', cost = 'x'",
            "ALTER TABLE replies RENAME COLUMN body TO text",
        ]
    )
    database = sqlite3.connect(file)
    try:
        database.execute(statement)
        database.commit()
    except sqlite3.Error:
        pass
    finally:
        database.close()
    return statement


def damage_file(file: Path, chance: random.Random) -> str:
    """Damage a file, whatever is in it."""
    content = file.read_bytes()
    kind = chance.choice(
        ["flip", "flip", "flip", "cut", "empty", "missing", "folder", "garbage", "longer", "deep", "bom"]
    )
    if kind == "flip":
        changed = bytearray(content)
        for _ in range(chance.choice([1, 1, 4, 40])):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        file.write_bytes(changed)
    elif kind in ("missing", "folder"):
        file.unlink()
        if kind == "folder":
            file.mkdir()
    else:
        other = {
            "cut": content[: chance.randrange(len(content) + 1)],
            "empty": b"",
            "garbage": chance.randbytes(chance.choice([1, 100, 5000])),
            "longer": content + chance.randbytes(50),
            "deep": b'{"metrics": ' + b"[" * 100_000,
            "bom": b"\xef\xbb\xbf" + content,
        }
        file.write_bytes(other[kind])
    return kind

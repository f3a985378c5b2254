"""How often inputs are read and a judge's connections are opened: no more than it takes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragmeter import Judge, evaluate
from ragmeter.engine.judging.setup import JudgeSetup
from ragmeter.engine.plan import Plan
from ragmeter.engine.row_reader import RowReader
from ragmeter.errors import InputError
from ragmeter.io import readers, text_stream
from ragmeter.io.data import Data
from ragmeter.models.http import HttpProvider
from ragmeter.registry import get_all
from ragmeter.table import Batch
from tests.judge_rows import fake, judge
from tests.judge_server import JudgeServer
from tests.judges.asking.test_probes import expert


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes in which connections to a model were made, one for each."""
    made: list[int] = []
    make = HttpProvider.__init__

    def noted(self: HttpProvider, *arguments: Any, **keywords: Any) -> None:
        made.append(os.getpid())
        make(self, *arguments, **keywords)

    monkeypatch.setattr(HttpProvider, "__init__", noted)
    return made


def test_a_judge_is_described_without_a_connection(clients: list[int]) -> None:
    judge = Judge("m", "http://127.0.0.1:9/v1", "k")
    assert "'m'" in repr(judge)
    assert judge.call_key() == Judge("m", "http://127.0.0.1:9/v1", "another key").call_key()
    judge.chat_model.check()
    assert not clients


def test_an_evaluation_opens_one_client(tmp_path: Path, clients: list[int]) -> None:
    rows = [{"qid": "1", "answer": "It is Paris.", "reference": "Paris"}]
    with JudgeServer() as server:
        judge = Judge("m", server.url, "k", check=False)
        for calls in (1, 1):  # the second time all replies are in the journal, and it is the run that is looked at
            evaluation = evaluate(rows, metrics="llm_correct", judge=judge, output_dir=tmp_path, run="r")
            assert evaluation["llm_correct"].mean == 1
            assert server.count == calls
    assert len(clients) == 2


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file of text was begun to be read."""
    begun: Counter[str] = Counter()
    read = text_stream.read_text

    def counted(name: str, *arguments: Any, **keywords: Any) -> Iterator[Batch]:
        begun[Path(name).name] += 1
        yield from read(name, *arguments, **keywords)

    monkeypatch.setattr(readers, "read_text", counted)
    return begun


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Results and a reference of 40 rows."""
    results, reference = tmp_path / "results.tsv", tmp_path / "gold.tsv"
    numbers = range(40)
    results.write_text("qid\tanswer\n" + "".join(f"{n}\tIt is {n}.\n" for n in numbers), encoding="utf-8")
    reference.write_text("qid\treference\n" + "".join(f"{n}\tit is {n % 7}\n" for n in numbers), encoding="utf-8")
    return results, reference


def test_files_are_read_once_to_score_them(files: tuple[Path, Path], passes: Counter[str], tmp_path: Path) -> None:
    evaluate(*files, metrics="token_f1", output_dir=tmp_path, run="r")
    assert passes == {"results.tsv": 1, "gold.tsv": 1}


@pytest.mark.parametrize(
    ("metric", "settings", "times"),
    [
        ("llm_correct", {}, 2),  # once to ask, once to score
        ("llm_correct", {"check": True}, 3),  # once more to see whether there is a row to ask about
        ("llm_correct", {"max_calls": 100}, 3),  # once more to know the rows that the limit is kept for
        ("llm_correct[judge=cascade]", {"max_calls": 100}, 4),  # once more for the offline judge
    ],
)
def test_a_reference_is_read_once_to_judge_and_to_score(
    files: tuple[Path, Path], passes: Counter[str], tmp_path: Path, metric: str, settings: dict[str, Any], times: int
) -> None:
    one = judge(expert(), **settings)
    evaluation = evaluate(*files, metrics=metric, judge=one, output_dir=tmp_path, run="r")
    assert passes == {"results.tsv": times, "gold.tsv": 1}
    assert evaluation.summary.join.matched == 40


def test_a_run_that_is_replaced_takes_no_second_look_at_the_reference(
    files: tuple[Path, Path], passes: Counter[str], tmp_path: Path
) -> None:
    one = judge(fake("Yes"))
    for _ in range(2):
        passes.clear()
        evaluate(*files, metrics="llm_correct", judge=one, output_dir=tmp_path, run="r")
    assert passes == {"results.tsv": 3, "gold.tsv": 1}


def test_a_reference_that_changes_while_it_is_judged(files: tuple[Path, Path], tmp_path: Path) -> None:
    results, reference = files

    def reply(prompt: str) -> str:
        reference.write_text("qid\treference\n" + "".join(f"{n}\tmeanwhile {n}\n" for n in range(40)), encoding="utf-8")
        return "Yes"

    with pytest.raises(InputError, match="the rows have changed while the judge was asked"):
        evaluate(results, reference, metrics="llm_correct", judge=judge(fake(reply)), output_dir=tmp_path, run="r")


def test_an_estimate_reads_what_it_estimates_once(
    files: tuple[Path, Path], passes: Counter[str], tmp_path: Path
) -> None:
    plan = Plan.of(Data.open(*files), get_all("llm_correct"), JudgeSetup(judge(fake()), tmp_path))
    assert plan.estimate()["rows"] == 40
    assert passes == {"results.tsv": 1, "gold.tsv": 1}


def test_a_mapping_is_checked_once(files: tuple[Path, Path], passes: Counter[str], tmp_path: Path) -> None:
    columns = {"answer": "answer"}
    one = judge(fake("Yes"))
    evaluate(*files, metrics="llm_correct", columns=columns, judge=one, output_dir=tmp_path, run="r")
    assert passes == {"results.tsv": 3, "gold.tsv": 2}


def batches_of(*sizes: int) -> Iterator[Batch]:
    for size in sizes:
        yield Batch({"qid": ["q"] * size})


def test_a_pass_goes_on_from_the_rows_that_the_columns_were_read_of() -> None:
    begun: list[int] = []

    def read() -> Iterator[Batch]:
        begun.append(len(begun))
        yield from batches_of(2, 3)

    rows = RowReader(read)
    assert list(rows.columns) == ["qid"]
    assert [len(batch) for batch in rows()] == [2, 3]
    assert (rows.n_rows, rows.count(), begun) == (5, 5, [0])
    assert [len(batch) for batch in rows()] == [2, 3]
    assert begun == [0, 1]


def test_a_table_without_rows_has_no_columns() -> None:
    rows = RowReader(batches_of)
    assert (list(rows.columns), list(rows()), rows.count()) == ([], [], 0)


def test_a_pass_that_is_left_early_says_nothing_of_the_number_of_rows() -> None:
    rows = RowReader(lambda: batches_of(2, 3))
    assert len(next(rows())) == 2
    assert rows.n_rows is None
    assert rows.count() == 5

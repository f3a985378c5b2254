"""Whatever is in a file, it is read, or there is one error that names the file and the place."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

from ragmeter import evaluate
from ragmeter.errors import InputError, RagmeterError, UsageError
from ragmeter.io.data import Data
from tests.hostile.bad_files import BadFile, bad_file

#: What was drawn when this was written; any other seed is as good.
SEED = 14
#: Errors of a file as a whole, which have no line.
_OF_THE_FILE = re.compile(
    r"no rows|is damaged|not a readable Parquet file|the file is UTF-16|the file is not|can't be read: |more than once|"
    r"could each be|a list of objects is expected|nested more than|is not JSON\n|more than 16,384 columns|"
    r"can't tell the format"
)


def fault(bad: BadFile, folder: Path, *, scored: bool) -> str | None:
    """What is wrong with how a file is read; None if it is read, or refused as it should be."""
    file = folder / bad.name
    file.write_bytes(bad.content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for batch in Data.open(file, reading=bad.reading).batches():
                assert len(batch.lines) == len(batch)
            if scored:
                evaluate(file, metrics="token_f1", encoding=bad.reading.encoding, delimiter=bad.reading.delimiter)
    except InputError as error:
        if error.file != str(file):
            return f"names another file: {error}"
        of_the_file = _OF_THE_FILE.search(str(error)) or "which is missing" in str(error)
        if error.line is error.row is None and not of_the_file:
            return f"names neither line nor row: {error}"
        return None
    except UsageError as error:
        return None if "a delimiter is" in str(error) else f"UsageError: {error}"
    except RagmeterError as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("part", range(4))
def test_a_small_draw(part: int, tmp_path: Path) -> None:
    faults = {number: fault(bad_file(SEED, number), tmp_path, scored=False) for number in range(part, 200, 4)}
    assert {number: wrong for number, wrong in faults.items() if wrong} == {}


@pytest.mark.parametrize("number", [2960, 4081])  # Parquet files whose row groups name columns that the schema lacks
def test_one_that_failed(number: int, tmp_path: Path) -> None:
    assert fault(bad_file(SEED, number), tmp_path, scored=False) is None


@pytest.mark.slow
def test_six_thousand_files(tmp_path: Path) -> None:
    numbers = range(6000)
    faults = {n: fault(bad_file(SEED, n), tmp_path, scored=n % 5 == 0) for n in numbers}
    assert {number: wrong for number, wrong in faults.items() if wrong} == {}

"""Parquet files and Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragmeter.errors import InputError
from ragmeter.io.batches import ROWS
from ragmeter.table import Batch

__all__ = ["ROWS", "batches_of_arrow", "read"]


def read(path: Path) -> Iterator[Batch]:
    """Batches of a Parquet file."""
    import pyarrow.parquet as pq

    try:
        with path.open("rb") as opened, pq.ParquetFile(opened) as file:
            if file.metadata.num_rows == 0:
                raise InputError("the file has no rows", file=str(path))
            names = file.schema_arrow.names
            duplicates = sorted({name for name in names if names.count(name) > 1})
            if duplicates:
                raise InputError(f"the file has {', '.join(map(repr, duplicates))} more than once", file=str(path))
            yield from batches_of_arrow(file.iter_batches(batch_size=ROWS))
    except (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError, ValueError) as error:
        raise InputError(f"this is not a readable Parquet file: {error}", file=str(path)) from None


def batches_of_arrow(batches: Iterable[Any]) -> Iterator[Batch]:
    """Arrow record batches as table batches. Lines are row numbers from 1."""
    line = 1
    for batch in batches:
        columns = {name: column.to_pylist() for name, column in zip(batch.schema.names, batch.columns, strict=True)}
        yield Batch(columns, range(line, line + batch.num_rows))
        line += batch.num_rows

"""What is read of a run's documents and of its table has the shape that the rest of ragmeter relies on.

A folder may have been edited, damaged or written by another program: all is checked here, once, where it is read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from ragmeter.io.cells import whole
from ragmeter.io.locations import Location
from ragmeter.runs.layout import INCOMPLETE, MANIFEST, SUMMARY, reading, unreadable
from ragmeter.runs.shapes import (
    Shape,
    WrongShape,
    both,
    count,
    flag,
    listed,
    mapped,
    mapping,
    maybe,
    number,
    one_of,
    record,
    share,
    text,
)
from ragmeter.stats.confidence import FEWEST_DRAWS, METHODS
from ragmeter.table import LIST_COLUMNS, NUMBER_COLUMNS, TEXT_COLUMNS, Scores, outcome_column

_LARGEST_SCORE = 1e100
#: More would not end in a day.
_MOST_DRAWS = 100_000_000


def _ordered(value: Any) -> None:
    low, high = value
    if low is not None and high is not None and low > high:
        raise WrongShape("ends before it begins")


def _draws(value: Any) -> None:
    count(value)
    if not FEWEST_DRAWS <= value <= _MOST_DRAWS:
        raise WrongShape(f"should be from {FEWEST_DRAWS:,} to {_MOST_DRAWS:,}")


def _counts(value: Any) -> None:
    """Check that no more rows are scored than there are, and that there is a mean if any was."""
    if value["n_scored"] > value["n_total"]:
        raise WrongShape(f"{value['n_scored']} rows are scored, of {value['n_total']}", joint=": ")
    if (value["mean"] is None) != (value["n_scored"] == 0):
        raise WrongShape(f"the mean does not agree with {value['n_scored']} scored rows", joint=": ")


def _columns(value: Any) -> None:
    listed(text)(value)
    if not value:
        raise WrongShape("is empty")


def _effort(value: Any) -> None:
    if value not in ({}, None):
        _EFFORT(value)


_NUMBER = maybe(number)
_INTERVAL = maybe(both(listed(number, 2), _ordered))
_STATISTICS = record(
    {}, {"method": one_of(*METHODS), "cluster": maybe(text), "level": share, "seed": count, "draws": _draws}
)
_METRIC = both(
    record(
        {
            **dict.fromkeys(("mean", "sd", "min", "max", "median"), _NUMBER),
            "interval": _INTERVAL,
            "interval_method": text,
            "direction": one_of("higher", "lower", "none"),
            "range": both(listed(_NUMBER, 2), _ordered),
            "n_total": count,
            "n_scored": count,
            "n_not_scored": mapped(count),
            "level": share,
            "n_clusters": maybe(count),
            "binary": flag,
        },
    ),
    _counts,
)
_ESTIMATE = {"interval": _INTERVAL, "n": count}
_CASCADE = record(
    {
        "calls_saved": count,
        "saved_usd": _NUMBER,
        "basis": text,
        "threshold": _NUMBER,
        "audited": record({"agreement": _NUMBER, **_ESTIMATE}),
        "accuracy": record({"mean": _NUMBER, **_ESTIMATE}),
        "warnings": listed(text),
    },
    {"tied": record({"n": count, "asked": count})},
)
_JUDGED = {"judged_by": mapped(count), "flip_rate": _NUMBER, "n_judged_repeatedly": count}
_USAGE = record(
    {
        **dict.fromkeys(("calls", "prompt_tokens", "completion_tokens"), count),
        **dict.fromkeys(("calls_without_token_counts", "calls_without_price"), count),
        "cost_usd": _NUMBER,
    },
    {"charged_usd": _NUMBER},
)
_JUDGE = record({**_JUDGED, "causes": mapped(count), "warnings": listed(text), "usage": _USAGE}, {"cascade": _CASCADE})
_PERCENTILES = record({"n": count, "mean": number, "p50": number, "p95": number, "p99": number, "max": number})
_SUMMARY = record(
    {"metrics": mapped(_METRIC), "n_rows": count},
    {
        "statistics": maybe(_STATISTICS),
        "numbers": maybe(mapped(_PERCENTILES)),
        "columns_left_out": mapped(count),
        "parts_skipped": listed(text),
        "notes": listed(text),
        "long_references": count,
        "unknown_languages": count,
        "document_ids": record(
            {},
            {
                "never_match": record({"rows": count, "retrieved": text, "gold": text}),
                "chunks": record({"ids": count, "documents": count}),
                "missing": record({"questions": count, "means_as_zero": mapped(number)}),
            },
        ),
        "causes": maybe(mapped(count)),
        "abstained": maybe(record({"n": count, "right": count, "wrong": count})),
        "usage": maybe(mapping),
        "judges": maybe(mapped(_JUDGE)),
        "judge_usage": maybe(_USAGE),
        "judge_check": maybe(
            record({"right": count, "n": count, "missed": listed(text), "skipped": maybe(text)}, {"model": text})
        ),
        "judge_warnings": maybe(listed(text)),
        "cascade": _CASCADE,
        **_JUDGED,
    },
)
_EFFORT = record(
    {"from_journal": count, "made": count, "retried": count},
    {
        "latency_ms": maybe(record({"p50": number, "p95": number})),
        "parameters_the_server_refused": listed(text),
        "journal_notice": text,
    },
)
_MANIFEST = record(
    {},
    {
        "run": text,
        "created": maybe(text),
        "files_in": text,
        "parts": listed(record({"file": text, "rows": count})),
        "metrics": maybe(listed(record({"name": text}, {"settings": maybe(mapping)}))),
        "statistics": _STATISTICS,
        "embeddings": listed(mapping),
        "asked": maybe(mapped(record({}, {"columns": _columns}))),
        "offline": maybe(mapped(record({}, {"columns": _columns}))),
        "limit": record({"asked": count, "of": count}),
        "judging": _EFFORT,
        "judge": maybe(mapping),
        "effort": _effort,
        "cascade": maybe(record({}, {"calibration": maybe(record({}, {"path": maybe(text)}))})),
    },
)
#: A kept comparison.
_COMPARISON = record(
    {
        "created": text,
        "runs": listed(record({"name": text, "n_rows": count, "means": mapped(maybe(number))})),
        "settings": record(
            {
                "metrics": maybe(listed(text)),
                "test": text,
                "interval": text,
                "cluster": maybe(text),
                "slices": maybe(listed(text)),
                "level": share,
                "alpha": share,
                "seed": count,
                "draws": _draws,
                "movers": count,
                "margin": maybe(mapped(number)),
            }
        ),
        "comparison": record({"pairs": listed(record({"metrics": mapping}))}),
    }
)


def read_document(path: Location) -> dict[str, Any]:
    """A manifest or a summary, checked."""
    return _read(path, _SHAPES[path.name], INCOMPLETE)


def read_comparison(path: Location) -> dict[str, Any]:
    """A kept comparison, checked."""
    return _read(path, _COMPARISON, "compare the runs again, or remove the file")


def _read(path: Location, shape: Shape, hint: str) -> dict[str, Any]:
    """A JSON object of this shape."""
    with reading(path, hint):
        text_of_file = path.read_bytes().decode("utf-8")
        content = json.loads(text_of_file)
        if not isinstance(content, dict):
            raise ValueError("it is not a JSON object")
        if "\\u" in text_of_file:  # half of a surrogate pair can't be written anywhere
            content = _whole(content)
    try:
        shape(content)
    except WrongShape as wrong:
        raise unreadable(path, wrong, hint) from None
    checked: dict[str, Any] = content
    return checked


_SHAPES: dict[str, Shape] = {MANIFEST: _MANIFEST, SUMMARY: _SUMMARY}


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole(key): _whole(member) for key, member in value.items()}
    return [_whole(member) for member in value] if isinstance(value, list) else value


def scores_problem(metric: str, scores: Scores, *, binary: bool) -> str:
    """What is wrong with scores: they are infinite or so large that their squares would be, or are no shares."""
    least, most = (0.0, 1.0) if binary else (-_LARGEST_SCORE, _LARGEST_SCORE)
    wrong = scores[(scores < least) | (scores > most)]
    return f"{metric} has a score of {wrong[0]}, and it should be from {least} to {most}" if len(wrong) else ""


def table_problem(schema: pa.Schema, n_rows: int, summary: Mapping[str, Any]) -> str:
    """What is wrong with a table: its columns have other types than a run's, or it is not the summary's."""
    repeated = [name for name, number_of in Counter(schema.names).items() if number_of > 1]
    if repeated:
        return f"the column {repeated[0]!r} occurs twice"
    if n_rows != summary["n_rows"]:
        return f"it has {n_rows:,} rows, and {SUMMARY} says {summary['n_rows']:,}"
    wanted: dict[str, tuple[str, Any]] = {
        **dict.fromkeys(TEXT_COLUMNS, ("texts", _is_text)),
        **dict.fromkeys(LIST_COLUMNS, ("lists of texts", _is_list)),
        **dict.fromkeys((*NUMBER_COLUMNS, *summary["metrics"]), ("numbers", _is_number)),
        **dict.fromkeys(map(outcome_column, summary["metrics"]), ("texts", _is_text)),
    }
    for field in schema:
        kind, is_right = wanted.get(field.name, ("", None))
        if is_right is not None and not is_right(field.type):
            return f"the column {field.name!r} should have {kind}, and has {field.type}"
    return ""


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool((pa.types.is_list(kind) or pa.types.is_large_list(kind)) and _is_text(kind.value_type))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))

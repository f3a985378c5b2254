"""The passages of a row in the order of their ranks: which are gold, and which claims they support."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ragmeter.analysis.claim_support import ClaimSet
from ragmeter.analysis.passages import doc_id_pattern, passages_of
from ragmeter.app import wording
from ragmeter.app.row_claims import for_claims, supported_in_passage
from ragmeter.app.word_marks import marked
from ragmeter.metrics.chunks import documents
from ragmeter.metrics.support import as_passages
from ragmeter.runs.run import Run
from ragmeter.show.page.elements import Content, Markup, element, joined, text
from ragmeter.table import IDS_AS_WRITTEN, RETRIEVED_SCORES, Row
from ragmeter.wording import numbers
from ragmeter.wording.texts import shortened

#: A text that is longer is cut, and says so; of all passages together, so much is searched for words of claims.
_LONGEST, _MOST_SEARCHED = 20_000, 100_000
_MOST_PASSAGES = 50
_LONGEST_LABEL = 40
#: So many passages are open, and every gold one and every one that says something of a claim.
_OPEN = 1
_HEAD = 90


def passages(run: Run, row: Row, sets: Sequence[ClaimSet]) -> Content:
    """The passages; where the answer's claims are known, with the words that these have too."""
    texts = as_passages(row.get("contexts"))
    ids = list(row.get("retrieved") or [])
    if not texts:
        return _ids_alone(run, row, ids)
    is_searched = sum(map(len, texts)) <= _MOST_SEARCHED
    labels = labels_of_passages(run, row)
    named, scores = passages_of(run, row), _scores(row, len(texts))
    items, any_marked = [], False
    for rank, passage in enumerate(texts[:_MOST_PASSAGES], 1):
        spans = supported_in_passage(passage, sets) if is_searched else []
        spans = [(begin, end) for begin, end in spans if end <= _LONGEST]
        any_marked = any_marked or bool(spans)
        about = for_claims(rank, sets)
        is_gold = bool(named[rank - 1].is_gold)
        head = [
            _named(rank, named[rank - 1].id, is_gold=is_gold, score=scores[rank - 1] if scores else None),
            element("span", text(shortened(passage, _HEAD)), class_="soft begins"),
        ]
        said = [element("p", f"{name}: ", text(of_passages[rank - 1]), class_="soft") for name, of_passages in labels]
        body = element("div", marked(_cut(passage), {"supported": spans} if spans else {}), class_="card")
        is_open = is_gold or bool(joined(about)) or rank <= _OPEN
        items.append(
            element(
                "li",
                element("details", element("summary", head), body, open=is_open),
                about,
                said,
                id=f"passage-{rank}",
            )
        )
    more = len(texts) - _MOST_PASSAGES
    note = None
    if any_marked:
        mark = element("mark", wording.MARKED, class_="supported")
        note = element("p", mark, f": {wording.SUPPORTED}", class_="soft")
    return joined(
        element("ol", items, class_="texts passages"),
        element("p", wording.AND_MORE.format(count=more)) if more > 0 else None,
        _gold_elsewhere(run, row, ids),
        note,
    )


def _named(rank: int, name: Any, *, is_gold: bool, score: float | None = None) -> Markup:
    """A passage's rank, id and score, and whether it is one that has the answer."""
    return element(
        "span",
        f"{rank}. ",
        element("code", text(name)) if name is not None else None,
        f" · {numbers.significant(score, 4)}" if score is not None else None,
        element("span", f" ✓ {wording.GOLD}", class_="gold") if is_gold else None,
    )


def _ids_alone(run: Run, row: Row, ids: Sequence[str]) -> Content:
    """Where the texts are not in the run: what was retrieved, by its ids."""
    if not ids:
        return None
    gold, documents_of_ids = _documents(run, row, ids)
    scores = _scores(row, len(ids))
    items = [
        element(
            "li",
            _named(rank, name, is_gold=documents_of_ids[rank - 1] in gold, score=scores[rank - 1] if scores else None),
        )
        for rank, name in enumerate(ids[:_MOST_PASSAGES], 1)
    ]
    more = len(ids) - _MOST_PASSAGES
    return joined(
        element("ul", items, class_="texts"),
        element("p", wording.AND_MORE.format(count=more)) if more > 0 else None,
        _gold_elsewhere(run, row, ids),
    )


def _gold_elsewhere(run: Run, row: Row, ids: Sequence[str]) -> Content:
    """The gold documents that were not retrieved."""
    gold, retrieved = _documents(run, row, ids)
    names = [name for name, document in zip(row.get("relevant") or [], gold, strict=True) if document not in retrieved]
    if not names or not ids:
        return None
    listed = [joined(element("code", text(name)), " ") for name in names[:_MOST_PASSAGES]]
    return element("p", wording.GOLD_NOT_RETRIEVED, " ", listed, class_="lacking-gold")


def _documents(run: Run, row: Row, ids: Sequence[str]) -> tuple[list[int], list[int]]:
    """A number for the document of each gold id, and of each of these, as the metrics of rankings see them."""
    gold = [str(name) for name in row.get("relevant") or []]
    names = pa.array([*gold, *map(str, ids)], pa.large_string())
    numbers = documents(names, doc_id_pattern(run), as_written=bool(row.get(IDS_AS_WRITTEN))).tolist()
    return numbers[: len(gold)], numbers[len(gold) :]


def _scores(row: Row, count: int) -> list[float]:
    """The system's own scores of what it retrieved; none if they are not one for each."""
    scores = _parsed(row.get(RETRIEVED_SCORES))
    is_one_each = len(scores) == count and all(
        isinstance(score, int | float) and not isinstance(score, bool) for score in scores
    )
    return scores if is_one_each else []


def labels_of_passages(run: Run, row: Row) -> list[tuple[str, list[str]]]:
    """The columns of a judge that have a label for each passage."""
    n_passages = len(as_passages(row.get("contexts")))
    columns = [(name, _labels(row.get(name))) for columns in run.judged_columns.values() for name in columns]
    return [(name, labels) for name, labels in columns if labels and len(labels) == n_passages]


def _labels(value: Any) -> list[str]:
    """A list of short texts, as a judge's column has them; anything else is empty."""
    labels = _parsed(value)
    return labels if all(isinstance(label, str) and len(label) <= _LONGEST_LABEL for label in labels) else []


def _parsed(value: Any) -> list[Any]:
    """A list that is written as JSON; anything else is empty."""
    try:
        values = json.loads(value) if isinstance(value, str) and value.startswith("[") else []
    except (ValueError, RecursionError):
        return []
    return values if isinstance(values, list) else []


def _cut(whole: str) -> str:
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]} … ({len(whole):,} characters)"

"""The claims of a run's rows with what supports each of them, for the report and for `ragmeter explain`."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ragmeter import naming
from ragmeter.definition.judge_columns import ENCODER, OFFLINE, SUPPORT_MODEL
from ragmeter.errors import UnknownNameError, UsageError
from ragmeter.io.write import RUNS
from ragmeter.metrics.citations import cited_sentences
from ragmeter.metrics.nuggets import OKAY, Nugget, as_nuggets
from ragmeter.metrics.offline import offline_hallucinated, offline_hallucination, offline_supported
from ragmeter.metrics.refusals import is_miss
from ragmeter.metrics.support import CONTRADICTED, NOT_MENTIONED, SUPPORTED, as_label, as_passages, claim_texts
from ragmeter.runs.lookup import RunLike, find_run
from ragmeter.runs.run import Run
from ragmeter.table import QID, NewRow, Row

#: For each kind of claims: the column of labels by passage, the column of labels by another text, and that text.
_LABELLED = {
    "claims": ("support_by_passages", "support_by_reference", "reference"),
    "reference_claims": ("reference_support_by_passages", "reference_support_by_answer", "answer"),
    "nugget_support": ("", "nugget_support", "answer"),
    "citation_support": ("", "", ""),
    "passage_relevance": ("", "passage_relevance", "question"),
}
_TITLES = {
    "claims": "claims of the answer",
    "reference_claims": "claims of the reference",
    "nugget_support": "nuggets",
    "citation_support": "citations",
    "passage_relevance": "passages",
}
#: Characters of a passage that are shown beside its label; the whole passage stands elsewhere.
_PASSAGE_HEAD = 160
BY_MODEL, BY_OFFLINE, BY_DATA = "by a model", "offline", "from the data"
#: The columns of a row that are read beside those of its claims.
_TEXTS = ("answer", "contexts")
#: Metrics over claims that the run does not keep: they are made again where they are shown.
_UNKEPT = {metric.base for metric in (offline_supported, offline_hallucination, offline_hallucinated)}


@dataclass(frozen=True)
class Contradiction:
    """The passage that contradicts a claim, counted from 1, and the words of both that clash.

    Where the passage says the opposite, or leaves out what the claim includes, the claim's words are empty.
    """

    passage: int
    claim_words: str
    passage_words: str


@dataclass(frozen=True)
class LabelledClaim:
    """A claim, its label by the passages together, by another text, and the passages that say anything about it.

    `passages` are pairs of a passage's rank, from 1, and its label. `unsupported` are places of characters that no
    passage supports, as the offline support model sees it; `contradiction` has the words that clash.
    """

    text: str
    by_passages: str | None = None
    by_text: str | None = None
    passages: tuple[tuple[int, str], ...] = ()
    unsupported: tuple[tuple[int, int], ...] = ()
    contradiction: Contradiction | None = None


@dataclass(frozen=True)
class ClaimSet:
    """The claims of one column in one row. `source` is the other text that they are compared with.

    `by` says who labelled them: a model, offline, the name of a support model, or the data.
    """

    column: str
    title: str
    source: str
    by: str
    claims: tuple[LabelledClaim, ...]

    def as_dict(self) -> dict[str, Any]:
        """The result as a dict for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Columns:
    """The columns of one set of claims in a run. `texts` has the claims themselves."""

    name: str
    base: str
    texts: str
    by_passages: str
    by_text: str
    by: str

    @classmethod
    def of(cls, name: str, present: Sequence[str], judged: Collection[str]) -> _Columns | None:
        try:
            parsed = naming.parse(name)
        except UsageError:  # a column of the user's
            return None
        if parsed.base not in _LABELLED:
            return None
        labels = [naming.render(column, parsed.settings) if column else "" for column in _LABELLED[parsed.base][:2]]
        by_passages, by_text = (column if column in present else "" for column in labels)
        texts = "nuggets" if parsed.base == "nugget_support" else name
        if any(labels) and not (by_passages or by_text):
            return None
        by = BY_MODEL if {name, by_passages, by_text} & set(judged) else BY_DATA
        by = BY_OFFLINE if parsed.settings.get("judge") == OFFLINE else by
        if parsed.settings.get("judge") == ENCODER:
            by = f"by {parsed.settings.get(SUPPORT_MODEL) or 'a support model'}"
        return cls(name, parsed.base, texts, by_passages, by_text, by)

    @property
    def names(self) -> list[str]:
        return [name for name in (self.texts, self.by_passages, self.by_text) if name]


_CLAIMS, _BY_PASSAGES = "claims[judge=offline]", "support_by_passages[judge=offline]"
_MADE = _Columns(_CLAIMS, "claims", _CLAIMS, _BY_PASSAGES, "", BY_OFFLINE)


def claim_columns(run: Run) -> list[str]:
    """The run's columns that are shown as claims."""
    return [name for columns in _sets(run) for name in columns.names]


def claim_sets(
    run: Run,
    places: Sequence[int],
    *,
    unsupported_words: Callable[[str, Sequence[str]], Any] | None = None,
    most_made: int | None = None,
) -> list[list[ClaimSet]]:
    """The claims of the rows at these places. `unsupported_words` finds those of a claim, for offline columns.

    Claims that the run does not keep are made for the first `most_made` rows.
    """
    sets = _sets(run)
    names = list(dict.fromkeys([*(name for columns in sets for name in columns.names), *_TEXTS]))
    is_made = _MADE.name not in run.columns and any(naming.base_of(name) in _UNKEPT for name in run.columns)
    rows = run.records(places, names) if sets or is_made else [{} for _ in places]
    if is_made:
        sets = [*sets, _MADE]
        _make(rows[:most_made])
    return [[own for columns in sets if (own := _set(columns, row, unsupported_words)).claims] for row in rows]


def explain_claims(run: RunLike, qid: str, *, output_dir: str | Path = RUNS) -> list[list[ClaimSet]]:
    """The claims of each row with this qid, with what supports them: one row, unless the run asks it several times."""
    from ragmeter.metrics.offline.support.model import unsupported_words  # it takes a while to load

    run = find_run(run, output_dir)
    if QID not in run.columns:
        return []
    qids = run.column(QID).to_pylist()
    places = [place for place, row_qid in enumerate(qids) if row_qid == qid]
    if not places:
        raise UnknownNameError(f"qid in the run {run.name}", qid, [text for text in qids if text is not None])
    return claim_sets(run, places, unsupported_words=unsupported_words)


def _make(rows: Sequence[NewRow]) -> None:
    """Fill the columns of these rows' claims as the offline metrics do."""
    from ragmeter.metrics.offline.support.claims import labels_by_passage, made_claims  # they take a while to load

    passages = [as_passages(row.get("contexts")) for row in rows]
    answers = [row.get("answer") or "" for row in rows]
    claims = [
        made_claims(answer) if texts and not is_miss(answer) else []
        for answer, texts in zip(answers, passages, strict=True)
    ]
    labels = labels_by_passage(claims, passages)
    for row, own, by_passages in zip(rows, claims, labels, strict=True):
        row.update({_MADE.texts: own, _MADE.by_passages: by_passages})


def _sets(run: Run) -> list[_Columns]:
    judged_columns = run.manifest().judged_columns
    sets = (_Columns.of(name, run.columns, judged_columns) for name in run.columns)
    return [columns for columns in sets if columns is not None]


def _set(columns: _Columns, row: Row, unsupported_words: Callable[..., Any] | None) -> ClaimSet:
    claims = tuple(_READERS.get(columns.base, _claims)(row, columns))
    passages = as_passages(row.get("contexts"))
    claim_set = ClaimSet(columns.name, _TITLES[columns.base], _LABELLED[columns.base][2], columns.by, claims)
    if columns.base != "claims" or not columns.by_passages or unsupported_words is None or columns.by != BY_OFFLINE:
        return claim_set
    marked = (
        claim
        if claim.by_passages == SUPPORTED
        else replace(
            claim,
            unsupported=tuple(unsupported_words(claim.text, passages)),
            contradiction=_contradiction(claim, passages),
        )
        for claim in claims
    )
    return replace(claim_set, claims=tuple(marked))


def _contradiction(claim: LabelledClaim, passages: Sequence[str]) -> Contradiction | None:
    """What clashes with a claim that is labelled as contradicted."""
    from ragmeter.metrics.offline.support.contradictions import clashing_words  # it takes a while to load

    ranks = [rank for rank, label in claim.passages if label == CONTRADICTED and rank <= len(passages)]
    if claim.by_passages != CONTRADICTED or not ranks:
        return None
    words = clashing_words(claim.text, passages[ranks[0] - 1])
    return Contradiction(ranks[0], *words) if words else None


def _claims(row: Row, columns: _Columns) -> Iterator[LabelledClaim]:
    values = _list(row.get(columns.texts))
    of_nuggets = columns.base == "nugget_support"
    texts = list(map(_nugget, as_nuggets(values) or ())) if of_nuggets else claim_texts(values)
    by_passages, by_text = (_list(row.get(name)) for name in (columns.by_passages, columns.by_text))
    for place, text in enumerate(texts):
        labels = [as_label(label) for label in _list(by_passages[place])] if place < len(by_passages) else []
        whole = next((label for label in (SUPPORTED, CONTRADICTED) if label in labels), NOT_MENTIONED)
        yield LabelledClaim(
            text,
            whole if labels else None,
            None if place >= len(by_text) else str(by_text[place]) if of_nuggets else as_label(by_text[place]),
            tuple((rank, label) for rank, label in enumerate(labels, 1) if label != NOT_MENTIONED),
        )


def _nugget(nugget: Nugget) -> str:
    return nugget.text if nugget.vital else f"{nugget.text} ({OKAY})"


def _citations(row: Row, columns: _Columns) -> Iterator[LabelledClaim]:
    """The sentences that cite anything."""
    sentences = cited_sentences(row.get("answer") or "", as_passages(row.get("contexts")))
    values = _list(row.get(columns.name))
    if len(values) != len(sentences):
        return
    for sentence, citations in zip(sentences, values, strict=True):
        pairs = [pair for pair in _list(citations) if isinstance(pair, list) and len(pair) == 2]
        if pairs and all(isinstance(rank, int) for rank, _ in pairs):
            yield LabelledClaim(sentence.sentence, passages=tuple((rank, str(label)) for rank, label in pairs))


def _relevance(row: Row, columns: _Columns) -> Iterator[LabelledClaim]:
    """The passages, each by its number and its first words, with what it is worth for the question."""
    passages, labels = as_passages(row.get("contexts")), _list(row.get(columns.name))
    if len(passages) != len(labels):
        return
    for rank, (passage, label) in enumerate(zip(passages, labels, strict=True), 1):
        head = " ".join(passage[: 2 * _PASSAGE_HEAD].split())
        shown = head if len(head) <= _PASSAGE_HEAD else f"{head[:_PASSAGE_HEAD]}…"
        yield LabelledClaim(f"{rank}. {shown}", by_text=str(label))


_READERS = {"citation_support": _citations, "passage_relevance": _relevance}


def _list(cell: Any) -> list[Any]:
    """A cell as a list; anything else, which a run that somebody has changed may have, is empty."""
    if isinstance(cell, str):
        try:
            cell = json.loads(cell)
        except (ValueError, RecursionError):
            return []
    return cell if isinstance(cell, list) else []

"""Where answers failed, in words: the causes, what said so, and the sentences about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragmeter.documents.metrics import MetricSummary
from ragmeter.documents.summary import AnswerCauses
from ragmeter.wording.causes import cause_meaning
from ragmeter.wording.numbers import MISSING, percent, rate_with_interval

#: Each cause in words, and what it says of the answer. The order is that of every table.
WORDS = {
    "right": ("right", "the answer is right"),
    "right_not_from_passages": ("right, not from the passages", "right, though no passage says so"),
    "rightly_declined": ("rightly declined", "declined a question that can't be answered"),
    "not_retrieved": ("not retrieved", "the passages don't have the answer"),
    "retrieved_not_used": ("retrieved, not used", "the passages have the answer, and it says something else"),
    "misread": ("retrieved, misread or misled", "a passage says what the wrong answer says; or the reference is wrong"),
    "declined_though_retrieved": ("declined though retrieved", "declined, and the passages have the answer"),
    "failed": ("failed", "there is no answer"),
    "not_known": ("not known", "it can't be told"),
}
#: What a cause rests on, or why it is not known.
EVIDENCE = {
    "gold_documents": "ids of gold documents",
    "judged_claims": "the judge's labels of claims",
    "offline_support": "the texts of the passages, offline",
    "passages_disagree": "a passage contradicts the reference (look at these first)",
    "no_passages": "nothing was retrieved",
    "marked_unanswerable": "the question is marked as unanswerable",
    "reference_declines": "the reference declines, too",
    "not_sure": "the offline judge is not sure whether the answer is right",
    "no_reference": "there is no reference",
    "no_texts": "ids of gold documents; without the passages' texts it may be misread",
    "no_evidence": "there are neither ids of documents nor texts of passages",
    "answered_unanswerable": "the question has no answer (by its mark or its reference), and was answered",
    "jury_correct": "the verdict of most judges",
    "llm_correct": "the judge's verdict",
    "offline_correct": "the offline judge's verdict",
    "exact_match": "exact match",
}
_MOST_HOPS = 5
TITLES = ("cause", "share", "interval", "n", "evidence")


def cause_words(cause: str) -> str:
    """A cause in words."""
    return WORDS[cause][0] if cause in WORDS else cause.replace("_", " ")


def evidence_words(evidence: str) -> str:
    """What a cause rests on, in words; of a failed answer, its outcome."""
    return EVIDENCE.get(evidence) or cause_meaning(evidence) or evidence.replace("_", " ")


def row_sentence(cause: str, evidence: str | None) -> str:
    """The cause of one row, what it means, and what it rests on."""
    meaning = WORDS[cause][1] if cause in WORDS else ""
    because = f" ({evidence_words(evidence)})" if evidence else ""
    return f"cause: {cause_words(cause)}: {meaning}{because}" if meaning else f"cause: {cause_words(cause)}{because}"


def hop_sentence(cause: str, hop: int, of: int, tool: str | None = None, error: str | None = None) -> str:
    """At which hop an answer failed; `hop` and `of` count retrievals, or all hops where one of them had an error."""
    by = f" ({tool})" if tool else ""
    if cause == "failed":
        return f"it failed at hop {hop:,} of {of:,}{by}: {error}"
    if cause == "not_retrieved":
        return f"none of its {of:,} retrievals found it" if of > 1 else "its only retrieval did not find it"
    return f"retrieval {hop:,} of {of:,}{by} found it, and what came after did not use it"


def hops_sentence(hops: Mapping[str, Mapping[str, int]]) -> str:
    """After which retrieval how many answers failed, cause by cause; an empty text where nobody knows."""
    parts = []
    for cause, counts in hops.items():
        what = {"failed": "error at hop", "not_retrieved": "retrievals"}.get(cause, "found by retrieval")
        numbers = sorted(counts, key=int)
        places = [f"{hop}: {counts[hop]:,}" for hop in numbers[:_MOST_HOPS]]
        later = sum(counts[hop] for hop in numbers[_MOST_HOPS:])
        places += [f"later: {later:,}"] if later else []
        parts.append(f"{cause_words(cause)}, {what} {', '.join(places)}")
    return f"By hop: {'; '.join(parts)}." if parts else ""


@dataclass(frozen=True)
class CauseLine:
    """A line of the table of causes: the cause, its share, and on how many rows it rests on what."""

    cause: str
    words: str
    meaning: str
    summary: MetricSummary
    count: int
    by: str

    @property
    def cells(self) -> tuple[str, str, str, str, str]:
        """The cells under `TITLES`."""
        share, ends = rate_with_interval(self.summary.mean, self.summary.interval)
        between = f"{ends.replace(' to ', '% to ')}%" if ends else MISSING
        return self.words, share, between, f"{self.count:,}", self.by


def cause_titles(lines: Sequence[CauseLine]) -> list[str]:
    """The titles of a table of these lines: of how many rows the shares are, and the level of the intervals."""
    summary = lines[0].summary
    particular = {"share": f"of {summary.n_total:,}", "interval": f"{percent(summary.level)} interval"}
    return [particular.get(title, title) for title in TITLES]


def cause_lines(causes: AnswerCauses | None) -> list[CauseLine]:
    """The causes that occur, in their order."""
    if causes is None:
        return []
    return list(_lines(causes.shares, causes.evidence))


def _lines(shares: Mapping[str, MetricSummary], evidence: Mapping[str, Mapping[str, int]]) -> Iterator[CauseLine]:
    for cause, summary in shares.items():
        by = evidence.get(cause, {})
        count = sum(by.values())
        if count:
            said = ", ".join(
                f"{evidence_words(name)}{f': {number:,}' if len(by) > 1 else ''}" for name, number in _most_first(by)
            )
            yield CauseLine(cause, cause_words(cause), WORDS.get(cause, ("", ""))[1], summary, count, said)


def _most_first(counts: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: -item[1])


def moved_counts(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """How many answers have each cause in both runs: `right: 174 → 278; not retrieved: 177 → 56`."""
    causes = [cause for cause in WORDS if cause in before or cause in after]
    counts = [f"{cause_words(cause)}: {before.get(cause, 0):,} → {after.get(cause, 0):,}" for cause in causes]
    return "; ".join(counts)


def causes_by(sources: Mapping[str, str]) -> str:
    """Says by which metric, or which evidence, the causes of each run were told."""
    return f"told by {' and by '.join(f'{source} in {run}' for run, source in sources.items())}"


def moved_sentence(
    by_retrieval: int, by_generation: int, otherwise: int, *, with_declined: bool = False, n_all: int | None = None
) -> str:
    """How many more right answers there are, and whose work that is; an empty text where none moved.

    `with_declined`: some of them rightly decline, which a metric of right answers need not count as right. `n_all` is
    the number of all rows, where those that failed are among them and the verdict is on fewer.
    """
    parts = {"by retrieval": by_retrieval, "by generation": by_generation, "by other causes": otherwise}
    net = sum(parts.values())
    moved = {name: count for name, count in parts.items() if count}
    if not moved:
        return ""
    kind = "right or rightly declined" if with_declined else "right"
    total = f"{abs(net):,} {'more' if net >= 0 else 'fewer'} {kind} {'answer' if abs(net) == 1 else 'answers'}"
    total += "" if n_all is None else f" on all {n_all:,} rows, failed ones included"
    if net and all(count * net > 0 for count in moved.values()):
        return f"of {total}, {', '.join(f'{abs(count):,} {name}' for name, count in moved.items())}"
    said = ", ".join(f"{abs(count):,} {'more' if count > 0 else 'fewer'} {name}" for name, count in moved.items())
    return f"{total}: {said}"


def remaining_errors(run: str, by_retriever: int, by_generator: int) -> str:
    """Whose work the wrong answers of a run are; an empty text where none is known to be of either."""
    counts = {"retriever": by_retriever, "generator": by_generator}
    parts = [f"{count:,} {whose}" for whose, count in counts.items() if count]
    return f"{run}'s remaining errors: {', '.join(parts)}." if parts else ""

"""What moved by cause: where the answers of two runs failed, and whose work it is that more of them are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ragmeter.analysis.comparing.row_pairs import Pairing
from ragmeter.documents.summary import AnswerCauses
from ragmeter.engine.causes import verdicts_by
from ragmeter.metrics.causes import (
    CAUSE,
    CAUSES,
    GOLD_DOCUMENTS,
    GOOD,
    JUDGED_CLAIMS,
    OF_GENERATOR,
    OF_RETRIEVER,
    OFFLINE_SUPPORT,
    RIGHTLY_DECLINED,
    SHARE_OF,
)
from ragmeter.runs.run import Run
from ragmeter.wording.answer_causes import causes_by, evidence_words, moved_counts, moved_sentence

#: The evidence of a row is the best one there is, in this order.
_EVIDENCE = (GOLD_DOCUMENTS, JUDGED_CLAIMS, OFFLINE_SUPPORT)


@dataclass(frozen=True)
class CauseChanges:
    """The number of paired rows with each cause, and how many more answers are right in the second run.

    Only rows that both runs have a cause for are counted. An answer that rightly declines counts as right.

    An answer that became right counts for the part of the system that its cause in the first run is of, and one that
    became wrong against the part that its cause in the second is of. `moved` has the pairs of causes that differ.
    """

    a: dict[str, int]
    b: dict[str, int]
    by_retrieval: int
    by_generation: int
    otherwise: int
    moved: dict[str, dict[str, int]]
    sentence: str

    @property
    def lines(self) -> list[str]:
        """Whose work the difference is, if there is one, and the number of answers by cause."""
        return [text for text in (self.sentence, moved_counts(self.a, self.b)) if text]

    @property
    def net(self) -> int:
        """How many more answers are right."""
        return self.by_retrieval + self.by_generation + self.otherwise


def causes_differ(a: Run, b: Run, labels: tuple[str, str]) -> str:
    """Why the causes of two runs can't be compared; an empty text where they can.

    Other metrics say which answers are right, or other evidence says what was retrieved.
    """
    of_a, of_b = a.summary().cause, b.summary().cause
    if of_a is None or of_b is None:
        return ""
    by_a, by_b = verdicts_by(a.metrics()), verdicts_by(b.metrics())
    if by_a != by_b:
        return causes_by(dict(zip(labels, (by_a, by_b), strict=True)))
    on_a, on_b = _best_evidence(of_a), _best_evidence(of_b)
    if on_a == on_b or not (on_a and on_b):
        return ""
    return causes_by(dict(zip(labels, map(evidence_words, (on_a, on_b)), strict=True)))


def _best_evidence(causes: AnswerCauses) -> str:
    """What says whether the passages have the answer, where it can: the best evidence of a run's rows."""
    kinds = {name for by in causes.evidence.values() for name in by}
    return next((name for name in _EVIDENCE if name in kinds), "")


def judged_metric(name: str, run: Run) -> str:
    """The metric whose judge a score rests on: of `cause:right`, the one that says which answers are right."""
    if not name.startswith(SHARE_OF):
        return name
    by = verdicts_by(run.metrics())
    return next((metric for metric in run.measures if verdicts_by([metric]) == by), name)


def cause_changes(a: Run, b: Run, pairing: Pairing, n_scored: int) -> CauseChanges | None:
    """What moved by cause on the rows that both runs have; None where one has no causes, or they can't be compared.

    The verdict beside it is on the `n_scored` rows that both have a score for.
    """
    if a.summary().cause is None or b.summary().cause is None or causes_differ(a, b, (a.name, b.name)):
        return None
    before = a.column(CAUSE).take(pairing.a).to_pylist()
    after = b.column(CAUSE).take(pairing.b).to_pylist()
    known = [pair for pair in zip(before, after, strict=True) if None not in pair]
    pairs = Counter(known)

    def gained(is_theirs: Callable[[str], bool]) -> int:
        won = sum(n for (old, new), n in pairs.items() if old not in GOOD and new in GOOD and is_theirs(old))
        lost = sum(n for (old, new), n in pairs.items() if old in GOOD and new not in GOOD and is_theirs(new))
        return won - lost

    by_retrieval, by_generation = gained(OF_RETRIEVER.__contains__), gained(OF_GENERATOR.__contains__)
    otherwise = gained(lambda cause: cause not in OF_RETRIEVER | OF_GENERATOR)
    with_declined = any(RIGHTLY_DECLINED in pair and len(GOOD.intersection(pair)) == 1 for pair in pairs)
    moved: dict[str, dict[str, int]] = {}
    for (old, new), count in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
        if old != new:
            moved.setdefault(old, {})[new] = count
    return CauseChanges(
        _counted(old for old, _ in known),
        _counted(new for _, new in known),
        by_retrieval,
        by_generation,
        otherwise,
        moved,
        moved_sentence(
            by_retrieval,
            by_generation,
            otherwise,
            with_declined=with_declined,
            n_all=len(known) if len(known) > n_scored else None,
        ),
    )


def _counted(causes: Iterable[str]) -> dict[str, int]:
    counts = Counter(causes)
    return {cause: counts[cause] for cause in CAUSES if counts[cause]}

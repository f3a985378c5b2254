"""What a run's folder says of a test set: how it was made, and its card, which says what it is good for."""

from __future__ import annotations

from ragmeter.documents.record import UNSET, Count, Interval, Mean, Record, UnsetType


class TestSetSettings(Record, frozen=True, kw_only=True, omit_defaults=True):
    """How a test set was made, in `manifest.json`."""

    __test__ = False  # pytest would take it for tests

    wanted: Count  # questions
    shares: dict[str, float]  # of kinds
    seed: int
    turns: Count = 1
    language: str | None = None  # where it was given
    closed_book: bool = False
    categories: dict[str, list[str]] = {}  # the names in each group
    held_out: list[str] = []  # sources that the system is not to have
    plan: str = ""  # a hash of all that decides what is asked


class Texts(Record, frozen=True):
    """What questions look like: how many, and medians over them."""

    questions: Count
    words: Mean  # of a question
    overlap: Mean  # the share of its words that stand in its passage; None where no passage is known


class RankCheck(Record, frozen=True):
    """How far the set ranks systems as real questions do: Kendall's tau over pairs of runs of the same systems."""

    metric: str
    systems: Count
    tau: Mean
    interval: Interval | None
    split_half: Mean  # tau of two halves of the real questions, each half as large
    like: list[str]  # the runs over real questions
    family: list[str] | UnsetType = UNSET  # runs whose system or judge is of the writer's model family


class Acceptance(Record, frozen=True):
    """What people say of some of the questions."""

    labelled: Count
    accepted: Count
    rate: float
    interval: Interval | None
    no_user: Count  # nobody would ask it
    wrong: Count  # the answer is wrong
    not_in_passage: Count


class TestSetCard(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What a test set is and what it is good for, in `summary.json`."""

    __test__ = False

    wanted: Count
    written: Count
    kinds: dict[str, Count]
    categories: dict[str, dict[str, Count]] = {}
    writer: str | None = None  # the model; None without one
    documents: Count
    passages: Count
    left_out: dict[str, Count] = {}  # of documents and passages, by cause
    drafts: Count  # that were written or tried
    rejected: dict[str, Count] = {}  # of these, by cause
    examples: dict[str, str] = {}  # one for each cause
    second_golds: Count = 0  # questions that another passage answers as well
    texts: Texts
    like: Texts | None = None  # of real questions
    stopped_by: str = ""  # why there are fewer than wanted
    check: RankCheck | None = None
    people: Acceptance | None = None

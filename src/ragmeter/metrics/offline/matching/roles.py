"""Gold answers judged together, and the order of numbers and roles: cheap checks on the few texts that they apply to.

`2006` beside `March 30, 2006`: an answer that says February 14, 2006 is right by the first alone, and wrong by the
other. `1-3` is not `3-1`. "Croatia, who beat France" does not say that France won.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile

import numpy as np
import regex

from ragmeter.metrics.offline.reading.tables import plain, tables
from ragmeter.metrics.offline.reading.vocabulary import Bools, Chunked

_MOST = 4000  # characters of an answer that are read
_MOST_OF_DATE = 80  # characters of a gold answer in which a date is looked for
_LONGEST_YEAR, _LONGEST_SCORE = 20, 20  # characters of a gold answer that is a year or a score
_YEAR = regex.compile(r"(?<!\d)[12]\d{3}(?!\d)")
_ONLY_YEAR = regex.compile(r"\D{0,12}([12]\d{3})\W{0,3}")
_SCORE = regex.compile(r"\W*(\d{1,2})\s*(?:[-–—−:]|to)\s*(\d{1,2})\W*")
_SCORES = regex.compile(r"(?<![\d.,:/–-])(\d{1,2})\s*(?:[-–—−:]|to)\s*(\d{1,2})(?![\d.,:/–-]\d)")
_ARTICLE = r"(?: (?:the|a|an|el|la|los|las|al))?"
_BEFORE = 40  # characters before a name in which a verb like "beat" stands


def contradicted_by_another(questions: Chunked, references: Chunked, answers: Chunked) -> Bools:
    """Pairs with a year alone for gold, where another gold answer has the year's date, and the answer another date."""
    is_contradicted = np.zeros(len(answers.of_row), bool)
    years = [_ONLY_YEAR.fullmatch(text) if len(text) < _LONGEST_YEAR else None for text in references.texts]
    is_year = np.array([year is not None and not _dated(year[0]) for year in years], bool)
    # The pairs of a row follow each other, with the same question and the same answer.
    is_first = np.diff(questions.of_row, prepend=-1) | np.diff(answers.of_row, prepend=-1)
    firsts = np.append(np.flatnonzero(is_first), len(is_first))
    row_of = np.searchsorted(firsts, np.arange(len(is_first)), side="right")
    known: dict[int, frozenset[tuple[str, int]]] = {}  # by row
    for pair in np.flatnonzero(is_year[references.of_row]).tolist():
        row, year = int(row_of[pair]), years[references.of_row[pair]]
        if row not in known:
            others = [gold for gold in references.of_row[firsts[row - 1] : firsts[row]].tolist() if not is_year[gold]]
            known[row] = frozenset().union(*(_dated(references.texts[gold][:_MOST_OF_DATE]) for gold in others))
        if known[row] and year:
            own = {date for date in _dated(answers.text(pair)) if date[0] == year[1]}
            is_known = any((year[1], month) in known[row] for month in range(1, 13))
            is_contradicted[pair] = is_known and bool(own) and known[row].isdisjoint(own)
    return is_contradicted


@lru_cache(maxsize=4096)
def _dated(text: str) -> frozenset[tuple[str, int]]:
    """The years of a text that have a month beside them, and the month: February 14, 2006; 14 de febrero de 2006."""
    if _YEAR.search(text) is None:
        return frozenset()
    words = regex.findall(r"\w+", plain(text[:_MOST]))
    dates = set()
    for place in (place for place, word in enumerate(words) if _YEAR.fullmatch(word)):
        before = takewhile(lambda word: not _YEAR.fullmatch(word), reversed(words[max(0, place - 4) : place]))
        if month := next(filter(None, map(_months().get, before)), None):
            dates.add((words[place], month))
    return frozenset(dates)


@lru_cache(maxsize=1)
def _months() -> dict[str, int]:
    """The names of months in any language that has a table."""
    return {name: month for table in tables().values() for name, month in table.months.items() if len(name) > 2}


def swapped_roles(asks_for_winner: Bools, references: Chunked, answers: Chunked) -> Bools:
    """Pairs with a score the other way round, and those where a winner is asked for and the gold one is beaten."""
    is_swapped = np.zeros(len(answers.of_row), bool)
    scores = [_SCORE.fullmatch(text) if len(text) < _LONGEST_SCORE else None for text in references.texts]
    has_score = np.array([score is not None for score in scores], bool)[references.of_row]
    for row in np.flatnonzero(has_score).tolist():
        score = scores[references.of_row[row]]
        own = set(_SCORES.findall(answers.text(row)[:_MOST]))
        if score is not None and score[1] != score[2]:
            is_swapped[row] = (score[2], score[1]) in own and (score[1], score[2]) not in own
    for row in np.flatnonzero(asks_for_winner).tolist():
        is_swapped[row] |= _is_beaten(references.text(row)[:_MOST], answers.text(row)[:_MOST])
    return is_swapped


@lru_cache(maxsize=4096)
def _is_beaten(gold: str, answer: str) -> bool:
    """Whether the answer mentions the gold answer, and every mention follows a "beat" or stands before a "lost to"."""
    gold, answer = (plain(text).strip(" .").removeprefix("the ") for text in (gold, answer))
    if not gold or gold not in answer:  # most answers
        return False
    mentions = [match.span() for match in regex.finditer(rf"\b{regex.escape(gold)}\b", answer)]
    beats, beaten = _verbs()
    return bool(mentions) and all(
        beats.search(answer[max(0, begin - _BEFORE) : begin]) or beaten.match(answer[end : end + _BEFORE])
        for begin, end in mentions
    )


@lru_cache(maxsize=1)
def _verbs() -> tuple[regex.Pattern[str], regex.Pattern[str]]:
    """What stands before and after one who was beaten, in any language that has a table: "beat", "lost to"."""
    beats = "|".join(verb for table in tables().values() for verb in table.beats)
    beaten = "|".join(verb for table in tables().values() for verb in table.beaten)
    return regex.compile(rf"\b(?:{beats}){_ARTICLE}\s+$"), regex.compile(rf",?\s+(?:{beaten})\b")

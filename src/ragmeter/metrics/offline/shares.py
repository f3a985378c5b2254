"""What a long answer and a long reference have in common, as shares between 0 and 1.

Every share is 1 for the reference itself and 0 for an empty answer, so that a weighted mean of them is a score
(`quality.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragmeter.metrics.bags import Ids, Sides, bags, share
from ragmeter.metrics.offline.matching.comparison import clear_refusals, refusals
from ragmeter.metrics.offline.matching.match import look_up
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.reading.vocabulary import LONGEST, Bools, Floats, Texts, chunked, languages_of, vocabulary

#: Each share, and what it says. The words that the question has already say little: most answers repeat them.
SHARES = {
    "new_words": "F1 of the content words that the question does not have, repetitions counted",
    "new_words_covered": "the same, as a share of the reference's",
    "new_words_supported": "the same, as a share of the answer's",
    "words": "F1 of all words, repetitions counted",
    "words_covered": "the same, as a share of the reference's",
    "words_supported": "the same, as a share of the answer's",
    "names_covered": "the distinct names of the reference that the question does not have: the share in the answer",
    "numbers_covered": "the same of numbers, years and months",
    "long_enough": "the answer's length as a share of the reference's, at most 1",
    "short_enough": "the reference's length as a share of the answer's, at most 1",
    "answers": "1, or 0 where the answer declines to answer and the reference does not",
}

#: Marks of citations and of lists, which are not words of the text.
_MARKS = re.compile(r"\[\d{1,3}(?:[,;–-]\s?\d{1,3})*\]|^[ \t]*\d{1,3}[.)][ \t]", re.MULTILINE)
_SIGNS = frozenset("[.)")
#: So many names or numbers more are taken to be covered as all new words are.
_PRIOR = 2


def shares(
    question: Sequence[str | None], reference: Sequence[str], answer: Sequence[str], language: str | None = None
) -> Floats:
    """A line for each pair, a column for each of SHARES."""
    split = [chunked([_bare(text or "") for text in side]) for side in (question, reference, answer)]
    languages = np.array([language] * len(answer) if language else languages_of(split[1], split[2]))
    lines = np.zeros((len(answer), len(SHARES)))
    for code in np.unique(languages).tolist():
        rows = np.flatnonzero(languages == code)
        vocab = vocabulary(code)
        sides = [side.rows(rows) for side in split]
        asked, gold, answered = (vocab.texts(side) for side in sides)
        declines = refusals(answered, sides[2]) & ~clear_refusals(gold, sides[1])
        has_words = (np.diff(gold.starts) > 0) & (np.diff(answered.starts) > 0)
        by_name = _Pairs.of(asked, gold, answered).shares()
        by_name["answers"] = (has_words & ~declines).astype(np.float64)
        lines[rows] = np.stack([by_name[name] for name in SHARES], axis=1)
    return lines


def _bare(text: str) -> str:
    """The beginning of a text, without the marks of citations and lists."""
    text = text[:LONGEST]
    return text if _SIGNS.isdisjoint(text) else _MARKS.sub(" ", text)


@dataclass(frozen=True)
class _Pairs:
    """The words of some pairs. `new` words are content words that the question does not have."""

    gold: Texts
    answered: Texts
    gold_keys: Ids  # equal where the pair and the root are equal
    answered_keys: Ids
    gold_asked: Bools
    answered_asked: Bools

    @classmethod
    def of(cls, asked: Texts, gold: Texts, answered: Texts) -> _Pairs:
        n_roots = 1 + max((int(side.root.max()) for side in (asked, gold, answered) if len(side.root)), default=0)
        asked_keys, gold_keys, answered_keys = (side.text * n_roots + side.root for side in (asked, gold, answered))
        in_question = np.sort(asked_keys)
        return cls(
            gold,
            answered,
            gold_keys,
            answered_keys,
            look_up(in_question, gold_keys)[0],
            look_up(in_question, answered_keys)[0],
        )

    def shares(self) -> dict[str, Floats]:
        """All shares but `answers`."""
        gold_content, answered_content = (~side.has(Mark.FUNCTION) for side in (self.gold, self.answered))
        # Function words count where the reference has no others, words of the question where it has none but those.
        only_function = self.gold.per_text(gold_content) == 0
        gold_content |= only_function[self.gold.text]
        answered_content |= only_function[self.answered.text]
        none_new = self.gold.per_text(gold_content & ~self.gold_asked) == 0
        new = self._common(
            gold_content & (~self.gold_asked | none_new[self.gold.text]),
            answered_content & (~self.answered_asked | none_new[self.answered.text]),
        )
        words = self._common(np.ones(len(self.gold.ids), bool), np.ones(len(self.answered.ids), bool))
        lengths = [np.diff(side.starts) for side in (self.gold, self.answered)]
        return {
            **dict(zip(("new_words", "new_words_covered", "new_words_supported"), new, strict=True)),
            **dict(zip(("words", "words_covered", "words_supported"), words, strict=True)),
            "names_covered": self._covered(_is_name(self.gold), new[1]),
            "numbers_covered": self._covered(_is_number(self.gold), new[1]),
            "long_enough": np.minimum(share(lengths[1], lengths[0]), 1.0),
            "short_enough": np.minimum(share(lengths[0], lengths[1]), 1.0),
        }

    def _common(self, gold: Bools, answered: Bools) -> tuple[Floats, Floats, Floats]:
        """F1, recall and precision of these items, repetitions counted."""
        ids = np.concatenate([self.gold.root[gold], self.answered.root[answered]])
        counts = np.concatenate([self.gold.per_text(gold), self.answered.per_text(answered)]).astype(np.int64)
        sides = Sides(ids, np.concatenate([[0], np.cumsum(counts)]))
        overlap = bags(sides).overlap
        return (
            share(2 * overlap, sides.pair_lengths),
            share(overlap, sides.reference_lengths),
            share(overlap, sides.answer_lengths),
        )

    def _covered(self, kind: Bools, all_new: Floats) -> Floats:
        """The share of the reference's distinct new items of this kind that the answer has.

        A reference with few of them says little, so that the share of all new words has a part in it.
        """
        wanted = kind & ~self.gold_asked
        distinct, places = np.unique(self.gold_keys[wanted], return_index=True)
        pair = self.gold.text[wanted][places]
        is_present = look_up(np.sort(self.answered_keys), distinct)[0]
        present, every = np.bincount(pair, is_present, self.gold.count), np.bincount(pair, minlength=self.gold.count)
        return np.asarray((present + _PRIOR * all_new) / (every + _PRIOR))


def _is_name(side: Texts) -> Bools:
    """Words with a capital that begin no sentence."""
    begins = np.ones(len(side.ids), bool)
    begins[1:] = side.has(Mark.SENTENCE)[:-1] | (side.text[1:] != side.text[:-1])
    return np.asarray(side.has(Mark.CAPITAL | Mark.ACRONYM) & ~side.has(Mark.FUNCTION) & ~begins)


def _is_number(side: Texts) -> Bools:
    return np.asarray(side.has(Mark.NUMBER | Mark.MONTH) & ~side.has(Mark.WEAK))

"""Whether a mention of the gold answer is in the scope of alternatives, a negation, a question or a "but".

Single words are not enough. What counts is how far they reach, and whether the sentence addresses the question: if it
does, it is mostly meant as an answer.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import regex

from ragmeter.metrics.bags import Ids, ranges, share
from ragmeter.metrics.normalize import words_and_figures
from ragmeter.metrics.offline import thresholds as threshold
from ragmeter.metrics.offline.matching.match import Match
from ragmeter.metrics.offline.matching.mentions import NEVER, Mentions, Places, begins
from ragmeter.metrics.offline.reading.tables import Mark, Table, plain
from ragmeter.metrics.offline.reading.vocabulary import Bools, Texts

_NEGATIONS = Mark.NEGATION | Mark.NO | Mark.DENIAL
_QUOTED = regex.compile(r'("[^"]{8,}")')
#: "Beta-plus decay (or positron emission)" and "the British, or more precisely the RAF" name one thing.
_REPHRASED = regex.compile(
    r"\(or? [^)]*\)|\bor (?:more|rather|simply|better)\b|\bo (?:mejor|mas bien|sea)\b|^[^,]*\d%?, or \d[^,]*$"
)


class Spoiled(NamedTuple):
    """Pairs with something wrong in every mention: clearly, or in a wider sense, which includes the clear ones."""

    clearly: Bools
    widely: Bools


def alternatives(mentions: Mentions, asks_for_several: Bools) -> Spoiled:
    """Where every mention is one of several candidates: by an "or" or the like; or in any way, as in a list."""
    pairs, answer, sentences = mentions.pairs, mentions.pairs.answer, mentions.sentences
    either = _beyond(pairs, Mark.EITHER | Mark.CHOICE)
    near = mentions.near(either, threshold.REACH, before=begins(answer, _turns(mentions, either)), after=sentences)
    # "X, Y or Z": a candidate with a comma after it, and an "or" before the last one.
    to_the_last = np.where(mentions.question_share < threshold.SAYS_NOTHING, NEVER, threshold.TO_THE_LAST)
    listed = mentions.ends_in(answer.has(Mark.CLAUSE)) & mentions.near(either, to_the_last, after=sentences)
    hedge = answer.has(Mark.HEDGE | Mark.DOUBT) & ~pairs.answer_gold
    hedged_twice = mentions.in_sentence(hedge) & (answer.per_text(hedge) > 1)[mentions.text]
    bare = mentions.bare
    several = near | (bare & (_said_to_be_several(mentions) | mentions.in_sentence(either) | hedged_twice))
    wide = several | listed | hedged_twice | _listed_with_others(mentions, asks_for_several)
    return Spoiled(mentions.all_are(several), mentions.all_are(wide))


def _said_to_be_several(mentions: Mentions) -> Bools:
    """Mentions in sentences that say that there are several candidates."""
    pairs, answer = mentions.pairs, mentions.pairs.answer
    is_given = pairs.answer_gold | pairs.answer_asked
    is_repeated = answer.has(Mark.AGAIN) & ~is_given
    is_one_of = answer.has(Mark.SPELLED) & (answer.value == 1) & _following(answer, answer.has(Mark.FUNCTION), by=1)
    several = mentions.in_sentence((answer.has(Mark.SEVERAL) | is_one_of) & ~is_given)
    # "between 18 and 25 years" is a range.
    of_a_range = Mark.SEVERAL | Mark.UNIT | Mark.MONTH | Mark.CENTURY
    several &= mentions.in_sentence(pairs.answer_content & ~is_given & ~answer.has(of_a_range) & np.isnan(answer.value))
    return np.asarray(several | (mentions.in_sentence(is_repeated) & (answer.per_text(is_repeated) > 1)[mentions.text]))


def _listed_with_others(mentions: Mentions, asks_for_several: Bools) -> Bools:
    """Mentions in a list, by commas or an "and", where one thing was asked for."""
    pairs, answer = mentions.pairs, mentions.pairs.answer
    is_listed: Bools = mentions.bare & ~asks_for_several[mentions.text]
    bare = np.flatnonzero(is_listed)  # few, because most answers address the question
    first, end = (side[bare] for side in mentions.sentence)
    n_others = _candidates(mentions, first, end)
    joined = Places.of(answer.has(Mark.ALSO) & pairs.other).between(first, end) > 0
    is_listed[bare] = (n_others >= threshold.CANDIDATES) | (joined & (n_others > 0))
    return is_listed


def _candidates(mentions: Mentions, first: Ids, end: Ids) -> Ids:
    """How many short parts between commas in these sentences have content words, but no gold words."""
    pairs, answer = mentions.pairs, mentions.pairs.answer
    stops = answer.has(Mark.CLAUSE) | mentions.ends | _following(answer, answer.has(Mark.ALSO), by=1)
    parts = begins(answer, stops)
    number = parts.between(first, end)
    part = ranges(np.searchsorted(parts.at, first), number)
    begin, stop = parts.at[part], parts.at[part + 1]
    has_other = Places.of(pairs.answer_content & pairs.other).between(begin, stop) > 0
    has_gold = Places.of(pairs.answer_content & pairs.answer_gold).between(begin, stop) > 0
    candidate = has_other & ~has_gold & (stop - begin <= threshold.CANDIDATE)
    return np.bincount(np.repeat(np.arange(len(first)), number)[candidate], minlength=len(first))


def not_said(mentions: Mentions) -> Bools:
    """Where every mention is in a short answer, and not stated: "Paris? Lyon?", "I thought Paris, but no"."""
    pairs, answer = mentions.pairs, mentions.pairs.answer
    turn = Places.of(answer.has(Mark.TURN) & pairs.other)
    turned = turn.after(mentions.last) < mentions.sentence[1]
    return mentions.all_are((turned | mentions.in_sentence(answer.has(Mark.ASKS))) & mentions.bare)


def negations(mentions: Mentions) -> Spoiled:
    """Where every mention is negated: clearly, by a "not" nearby; or in any way, in its sentence or the next one."""
    pairs, answer, sentences = mentions.pairs, mentions.pairs.answer, mentions.sentences
    negation = _beyond(pairs, _NEGATIONS) & ~_in_a_title(pairs)
    negation &= ~_limited(mentions, negation)
    ahead = negation & _only_ahead(pairs)
    around = negation & ~ahead
    spoken = around & answer.has(Mark.NEGATION | Mark.NO)
    turns = _turns(mentions, negation)
    turned, clauses = begins(answer, turns), begins(answer, turns | answer.has(Mark.CLAUSE))
    bare = mentions.question_share < threshold.SAYS_NOTHING
    far = np.where(bare, NEVER, threshold.FAR)
    is_negated = mentions.near(spoken, far, before=turned, after=sentences) | mentions.near(ahead, far, before=turned)
    is_negated |= mentions.near(_at_beginning(sentences, spoken), NEVER, before=turned)
    # Other denials apply to what is nearby, and to the whole sentence only if it says nothing else.
    denial = around & ~spoken
    is_negated |= bare & mentions.near(denial, NEVER, before=turned, after=sentences)
    is_negated |= mentions.near(denial, threshold.REACH, before=clauses, after=clauses)
    asked = pairs.question.per_text(pairs.question.has(Mark.NEGATION)) > 0  # "which states do not"
    verbal = around & answer.has(Mark.NEGATION) & ~answer.has(Mark.DENIAL)  # of statements, such as "not" and "never"
    plainly = _negated(mentions, verbal, clauses, turned) & ~asked[mentions.text]
    plainly |= _retorted(mentions, negation)
    is_negated |= mentions.near(verbal, NEVER, before=turned)
    return Spoiled(mentions.all_are(plainly), mentions.all_are(is_negated | plainly))


def is_stated_elsewhere(_: str, reference: str, answer: str, table: Table) -> bool:
    """Whether a negated answer states the gold answer without a negation: beside a quotation, or after a semicolon."""
    answer, gold = plain(answer), plain(reference).strip(" .")
    if ";" not in answer and '"' not in answer:
        return False
    beside = [part for part in _QUOTED.split(answer) if not _QUOTED.fullmatch(part) or gold in part]
    return any(gold in part and not _has(_NEGATIONS, part, table) for part in "".join(beside).split(";"))


def is_rephrased(question: str, _: str, answer: str, table: Table) -> bool:
    """Whether alternatives only name one thing in two ways: "known as A or B"."""
    answer = plain(answer)
    rest, n_rephrased = _REPHRASED.subn(" ", answer)
    is_term = not table.words["term"].isdisjoint(
        set(words_and_figures(answer)).difference(words_and_figures(plain(question)))
    )
    return is_term or (n_rephrased > 0 and not _has(Mark.EITHER | Mark.CHOICE, rest, table))


def _has(mark: int, folded: str, table: Table) -> bool:
    return any(table.marks.get(word, 0) & mark for word in words_and_figures(folded))


def _limited(mentions: Mentions, negation: Bools) -> Bools:
    """Negations with an "until" or the like between them and the gold words: "not until 2020" is 2020."""
    pairs, answer = mentions.pairs, mentions.pairs.answer
    is_limited = np.zeros(len(negation), bool)
    places = np.flatnonzero(negation)
    until = Places.of(answer.has(Mark.UNTIL) & ~pairs.answer_gold).after(places)
    gold = Places.of(pairs.answer_gold & pairs.answer_content).after(places)
    is_between = (until < gold) & (gold < mentions.sentences.after(places + 1))
    is_limited[places[is_between & (until <= places + threshold.REACH)]] = True
    return is_limited


def _negated(mentions: Mentions, verbal: Bools, clauses: Places, turned: Places) -> Bools:
    """Mentions with a "not" or "never" before them, or directly after them."""
    answer = mentions.pairs.answer
    untrue = verbal & _following(answer, answer.has(Mark.YES), by=1)  # "it is not true that"
    is_near = mentions.near(verbal, NEVER, before=clauses) | mentions.near(verbal, threshold.AUXILIARY, after=clauses)
    return is_near | mentions.near(verbal, threshold.FAR, before=turned) | mentions.near(untrue, NEVER, before=turned)


def _turns(mentions: Mentions, negation: Bools) -> Bools:
    """After which items the scope of a negation ends: a sentence, or a "but". "Anything but Paris" is an exception."""
    answer = mentions.pairs.answer
    turn = _following(answer, answer.has(Mark.TURN) & ~mentions.pairs.answer_gold, by=1) & ~negation
    return np.asarray(mentions.ends | turn)


def _at_beginning(sentences: Places, flags: Bools) -> Bools:
    """The flagged items that are among the first words of their sentence."""
    places = np.flatnonzero(flags)
    is_first = np.zeros(len(flags), bool)
    is_first[places[places - sentences.before(places) < threshold.FIRST_WORDS]] = True
    return is_first


def _retorted(mentions: Mentions, negation: Bools) -> Bools:
    """Mentions that the next sentence denies: "Paris? No.", "Some say Paris. Wrong.", "Paris? Of course not."."""
    following = mentions.sentence[1]
    end = mentions.sentences.after(following + 1)
    first = Places.of(negation).after(following)
    same_answer = following < mentions.pairs.answer.starts[mentions.text + 1]
    return np.asarray(same_answer & ((first == following) | ((first < end) & (end - following <= threshold.RETORT))))


def _in_a_title(pairs: Match) -> Bools:
    """Negations that are part of a name: also in the question, or capitalised before another capitalised word."""
    answer = pairs.answer
    capital, asked = answer.has(Mark.CAPITAL), pairs.answer_asked & pairs.answer_content
    gold = pairs.answer_gold & pairs.answer_content
    next_is, then_is = (partial(_following, answer, by=step) for step in (1, 2))
    named = (
        capital & ~answer.has(Mark.ACRONYM) & next_is(capital & ~pairs.answer_gold) & ~next_is(gold) & ~then_is(gold)
    )
    is_asked = pairs.answer_asked & answer.has(_NEGATIONS) & (next_is(asked) | then_is(asked))
    no_more_than_asked = answer.per_text(is_asked) <= pairs.question.per_text(pairs.question.has(_NEGATIONS))
    return np.asarray(named | (is_asked & no_more_than_asked[answer.text]))


def _only_ahead(pairs: Match) -> Bools:
    """Negations after a comma or an "and" that apply to what follows: "Paris, not Lyon", "red, not blue."."""
    answer = pairs.answer
    last = answer.has(Mark.CLAUSE | Mark.SENTENCE)
    last[answer.starts[1:][np.diff(answer.starts) > 0] - 1] = True
    word = last & pairs.answer_content & ~answer.has(Mark.YES | Mark.HEDGE | Mark.DOUBT)  # "red, not really."
    is_other = (answer.has(Mark.CAPITAL | Mark.NUMBER) | word) & ~pairs.answer_gold
    joined = answer.has(Mark.CLAUSE | Mark.ALSO)
    return np.asarray(_following(answer, joined, by=-1) & _following(answer, is_other, by=1))


def _following(side: Texts, flags: Bools, by: int) -> Bools:
    """Which items have a flagged item `by` places after them in their text; before them, if `by` is negative."""
    follows = np.zeros(len(flags), bool)
    items, neighbours = (slice(None, -by), slice(by, None)) if by > 0 else (slice(-by, None), slice(None, by))
    follows[items] = flags[neighbours] & (side.text[items] == side.text[neighbours])
    return follows


def _beyond(pairs: Match, mark: int) -> Bools:
    """The answer's items with this mark, where it has more of them than the gold answer and a repeated question."""
    answer, gold, question = pairs.answer, pairs.gold, pairs.question
    said_back = share(question.per_text(pairs.question_answered), np.diff(question.starts)) >= threshold.SAID_BACK
    has_all = gold.per_text(pairs.content & ~pairs.exact) == 0  # "Pangaea or Morocco" is not "Pangaea or Pangea"
    n_given = np.where(has_all, gold.per_text(gold.has(mark)), 0) + np.where(
        said_back, question.per_text(question.has(mark)), 0
    )
    has_mark = answer.has(mark)
    return np.asarray(has_mark & (answer.per_text(has_mark) > n_given)[answer.text])

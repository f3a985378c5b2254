"""What a mention of the gold answer is in the scope of: alternatives, a negation, a question, a "but".

Single words do not tell. What counts is how far they reach, and whether the sentence says anything of what was asked:
an answer that does is mostly meant as one.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np
import regex

from ragmeter.metrics.bags import Ids, ranges, share
from ragmeter.metrics.offline.matching import Match
from ragmeter.metrics.offline.mentions import NEVER, SAYS_NOTHING, Mentions, Places, Stretches
from ragmeter.metrics.offline.parts import Asked
from ragmeter.metrics.offline.tables import Mark
from ragmeter.metrics.offline.vocabulary import Bools, Chunked, Texts

SAID_BACK = 0.7  # of the question's words
_REACH = 5  # words between a negation or an "or" and the mention that it is about
_FAR = 8  # words between a negation and what it may be about, in the same sentence
_FIRST_WORDS = 5  # of a sentence: a negation there is about all that follows
_AUXILIARY = 3  # words between a mention and the "not" of what is said of it: Paris has certainly not been
_RETORT = 4  # words of a sentence that denies the one before it
_TO_THE_LAST = 9  # words between a candidate and the "or" before the last one
_CANDIDATES = 2  # others in a list
_CANDIDATE = 8  # words of one
_PROSE = 0.25  # of the words of an answer in sentences are small words
_NEGATIONS = Mark.NEGATION | Mark.NO | Mark.DENIAL
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]+|\p{Nd}{3,}")  # not the "s" of Mbit/s, nor the 80 of 1979/80
_LINES = regex.compile(r"\S\s*[\n|]\s*\S")


def alternatives(mentions: Mentions, asked: Asked, answers: Chunked, references: Chunked) -> tuple[Bools, Bools]:
    """Where every mention is one candidate of several: by an "or" or the like; and otherwise, in a list for example."""
    pairs, answer, sentences = mentions.pairs, mentions.pairs.answer, mentions.sentences
    either = _beyond(pairs, Mark.EITHER | Mark.CHOICE)
    near = mentions.near(either, _REACH, before=_up_to_turns(mentions, either), after=sentences)
    # "X, Y or Z": a candidate with a comma after it, and an "or" before the last one.
    listed = mentions.ends_in(answer.has(Mark.CLAUSE)) & mentions.near(either, _TO_THE_LAST, after=sentences)
    hedge = answer.has(Mark.HEDGE | Mark.DOUBT) & ~pairs.answer_gold
    hedged_twice = mentions.in_sentence(hedge) & (answer.per_text(hedge) > 1)[mentions.text]
    bare = mentions.bare
    several = near | (bare & (_said_to_be_several(mentions) | mentions.in_sentence(either) | hedged_twice))
    wide = several | listed | hedged_twice | _listed_with_others(mentions, asked, answers)
    return mentions.all_are(several), mentions.all_are(wide) | _slashed(mentions, answers, references)


def _said_to_be_several(mentions: Mentions) -> Bools:
    """Mentions in sentences that speak of several candidates. In a long answer that is natural."""
    pairs, answer = mentions.pairs, mentions.pairs.answer
    own = pairs.answer_gold | pairs.answer_asked
    again = answer.has(Mark.AGAIN) & ~own
    one_of = answer.has(Mark.SPELLED) & (answer.value == 1) & _following(answer, answer.has(Mark.FUNCTION), by=1)
    several = mentions.in_sentence((answer.has(Mark.SEVERAL) | one_of) & ~own)
    # "between 18 and 25 years" is a range.
    plain = Mark.SEVERAL | Mark.UNIT | Mark.MONTH | Mark.CENTURY
    several &= mentions.in_sentence(pairs.answer_content & ~own & ~answer.has(plain) & np.isnan(answer.value))
    return np.asarray(several | (mentions.in_sentence(again) & (answer.per_text(again) > 1)[mentions.text]))


def _listed_with_others(mentions: Mentions, asked: Asked, answers: Chunked) -> Bools:
    """Mentions in a list, by commas, lines or an "and", where one thing was asked for."""
    pairs, answer = mentions.pairs, mentions.pairs.answer
    found: Bools = mentions.bare & ~asked.several[mentions.text]
    here = np.flatnonzero(found)  # few, as most answers take up the question
    prose = is_prose(pairs)
    texts = [answers.texts[each] for each in answers.of_row[mentions.text[here]].tolist()]
    in_lines = np.array([("\n" in each or "|" in each) and _LINES.search(each) is not None for each in texts], bool)
    first, end = (side[here] for side in mentions.sentence)
    others = _candidates(mentions, first, end)
    joined = Places.of(answer.has(Mark.ALSO) & ~pairs.answer_gold & ~pairs.answer_asked).between(first, end) > 0
    found[here] = (others >= _CANDIDATES) | (joined & (others > 0)) | (in_lines & ~prose[mentions.text[here]])
    return found


def _candidates(mentions: Mentions, first: Ids, end: Ids) -> Ids:
    """How many short stretches between commas these sentences have that say something else than the gold answer."""
    pairs, answer = mentions.pairs, mentions.pairs.answer
    stops = answer.has(Mark.CLAUSE) | mentions.ends | _following(answer, answer.has(Mark.ALSO), by=1)
    begins = Stretches(answer, stops).begins.at
    number = np.searchsorted(begins, end) - np.searchsorted(begins, first)
    stretch = ranges(np.searchsorted(begins, first), number)
    begin, stop = begins[stretch], begins[stretch + 1]
    other = Places.of(pairs.answer_content & ~pairs.answer_gold & ~pairs.answer_asked).between(begin, stop) > 0
    gold = Places.of(pairs.answer_content & pairs.answer_gold).between(begin, stop) > 0
    candidate = other & ~gold & (stop - begin <= _CANDIDATE)
    return np.bincount(np.repeat(np.arange(len(first)), number)[candidate], minlength=len(first))


def _slashed(mentions: Mentions, answers: Chunked, references: Chunked) -> Bools:
    """Short answers with a slash between a gold word and another one."""
    short = mentions.short
    found = np.zeros(len(short), bool)
    slash = np.array(["/" in text for text in answers.texts], bool)[answers.of_row]
    for row in np.flatnonzero(slash & short).tolist():
        gold = references.texts[references.of_row[row]]
        own = set(_WORD.findall(gold.casefold()))
        for one, other in pairwise(answers.texts[answers.of_row[row]].casefold().split("/")):
            beside = _WORD.findall(one)[-2:], _WORD.findall(other)[:2]
            known = [own.intersection(words) for words in beside]
            found[row] |= "/" not in gold and any(known) and any(set(words) - own for words in beside)
    return found


def not_said(mentions: Mentions) -> Bools:
    """Where every mention is in a short answer that says something else: "Paris? Lyon?", "I thought Paris, but no"."""
    pairs, answer = mentions.pairs, mentions.pairs.answer
    turn = Places.of(answer.has(Mark.TURN) & ~pairs.answer_gold & ~pairs.answer_asked)
    turned = turn.after(mentions.last) < mentions.sentence[1]
    return mentions.all_are((turned | mentions.in_sentence(answer.has(Mark.ASKS))) & mentions.bare)


def negations(mentions: Mentions) -> tuple[Bools, Bools]:
    """Where every mention is negated: plainly, by a "not" close by; and by anything in its sentence, or after it."""
    pairs, answer, sentences = mentions.pairs, mentions.pairs.answer, mentions.sentences
    negation = _beyond(pairs, _NEGATIONS) & ~_in_a_title(pairs)
    ahead = negation & _only_ahead(pairs)
    around = negation & ~ahead
    plain = around & answer.has(Mark.NEGATION | Mark.NO)
    turned = _up_to_turns(mentions, negation)
    clauses = Stretches(answer, turned.stops | answer.has(Mark.CLAUSE))
    bare = mentions.told < SAYS_NOTHING
    far = np.where(bare, NEVER, _FAR)
    found = mentions.near(plain, far, before=turned, after=sentences) | mentions.near(ahead, far, before=turned)
    found |= mentions.near(_begins(sentences, plain), NEVER, before=turned)
    # Other words than negations are about what is close by, unless there is nothing else that they could be about.
    denial = around & ~plain
    found |= bare & mentions.near(denial, NEVER, before=turned, after=sentences)
    found |= mentions.near(denial, _REACH, before=clauses, after=clauses)
    asked = pairs.question.per_text(pairs.question.has(Mark.NEGATION)) > 0  # "which states do not"
    verbal = _verbal(answer, around)
    plainly = _negated(mentions, verbal, clauses, turned) & ~asked[mentions.text]
    plainly |= _retorted(mentions, negation)
    found |= mentions.near(verbal, NEVER, before=turned)
    return mentions.all_are(plainly), mentions.all_are(found | plainly)


def _verbal(answer: Texts, negation: Bools) -> Bools:
    """Those that negate what is said, as "not" and "never" do; but not in "not until"."""
    verbal = negation & answer.has(Mark.NEGATION) & ~answer.has(Mark.DENIAL)
    places = np.flatnonzero(verbal)
    until = Places.of(answer.has(Mark.UNTIL)).after(places)
    verbal[places[until - places <= _FAR]] = False
    return verbal


def _negated(mentions: Mentions, verbal: Bools, clauses: Stretches, turned: Stretches) -> Bools:
    """Mentions with a "not" or "never" before them, or right after them."""
    answer = mentions.pairs.answer
    untrue = verbal & _following(answer, answer.has(Mark.YES), by=1)  # "it is not true that"
    found = mentions.near(verbal, NEVER, before=clauses) | mentions.near(verbal, _AUXILIARY, after=clauses)
    return found | mentions.near(verbal, _FAR, before=turned) | mentions.near(untrue, NEVER, before=turned)


def _up_to_turns(mentions: Mentions, negation: Bools) -> Stretches:
    """What a negation before a "but" holds for, which is not what follows it; "anything but Paris" has no turn."""
    pairs, answer = mentions.pairs, mentions.pairs.answer
    turn = _following(answer, answer.has(Mark.TURN) & ~pairs.answer_gold, by=1) & ~negation
    return Stretches(answer, mentions.ends | turn)


def _begins(sentences: Stretches, what: Bools) -> Bools:
    """Those of these that are among the first words of their sentence."""
    places = np.flatnonzero(what)
    found = np.zeros(len(what), bool)
    found[places[places - sentences.first(places) < _FIRST_WORDS]] = True
    return found


def _retorted(mentions: Mentions, negation: Bools) -> Bools:
    """Mentions that the next sentence denies: "Paris? No.", "Some say Paris. Wrong.", "Paris? Of course not."."""
    following = mentions.sentence[1]
    end = mentions.sentences.end(following)
    first = Places.of(negation).after(following)
    same_answer = following < mentions.pairs.answer.starts[mentions.text + 1]
    return np.asarray(same_answer & ((first == following) | ((first < end) & (end - following <= _RETORT))))


def _in_a_title(pairs: Match) -> Bools:
    """Negations that a name has: among the question's words, or with a capital before another one."""
    answer = pairs.answer
    capital, asked = answer.has(Mark.CAPITAL), pairs.answer_asked & pairs.answer_content
    gold = pairs.answer_gold & pairs.answer_content
    one, two = (partial(_following, answer, by=step) for step in (1, 2))
    named = capital & ~answer.has(Mark.ACRONYM) & one(capital & ~pairs.answer_gold) & ~one(gold) & ~two(gold)
    said = pairs.answer_asked & answer.has(_NEGATIONS) & (one(asked) | two(asked))
    told = answer.per_text(said) <= pairs.question.per_text(pairs.question.has(_NEGATIONS))
    return np.asarray(named | (said & told[answer.text]))


def _only_ahead(pairs: Match) -> Bools:
    """Negations after a comma or an "and" that another thing follows: "Paris, not Lyon", "red, not blue."."""
    answer = pairs.answer
    last = answer.has(Mark.CLAUSE | Mark.SENTENCE)
    last[answer.starts[1:][np.diff(answer.starts) > 0] - 1] = True
    word = last & pairs.answer_content & ~answer.has(Mark.YES | Mark.HEDGE | Mark.DOUBT)  # "red, not really."
    another = (answer.has(Mark.CAPITAL | Mark.NUMBER) | word) & ~pairs.answer_gold
    joined = answer.has(Mark.CLAUSE | Mark.ALSO)
    return np.asarray(_following(answer, joined, by=-1) & _following(answer, another, by=1))


def _following(side: Texts, what: Bools, by: int) -> Bools:
    """Which items have one of these so many places after them in their text; before them, if it is negative."""
    found = np.zeros(len(what), bool)
    here, there = (slice(None, -by), slice(by, None)) if by > 0 else (slice(-by, None), slice(None, by))
    found[here] = what[there] & (side.text[here] == side.text[there])
    return found


def _beyond(pairs: Match, mark: int) -> Bools:
    """The answer's items that are marked so, where it has more than the gold answer, or the question if said back."""
    answer, gold, question = pairs.answer, pairs.gold, pairs.question
    said_back = share(question.per_text(pairs.question_answered), np.diff(question.starts)) >= SAID_BACK
    cut = gold.has(Mark.EITHER) & (gold.place == 0)  # a gold answer that begins with "or" was cut out of a text
    whole = gold.per_text(pairs.content & ~pairs.exact) == 0  # "Pangaea or Morocco" is not "Pangaea or Pangea"
    own = np.where(whole, gold.per_text(gold.has(mark) & ~cut), 0) + np.where(
        said_back, question.per_text(question.has(mark)), 0
    )
    found = answer.has(mark)
    return np.asarray(found & (answer.per_text(found) > own)[answer.text])


def is_prose(pairs: Match) -> Bools:
    """Answers in sentences, which a heap of names is not."""
    answer = pairs.answer
    return np.asarray(answer.per_text(answer.has(Mark.FUNCTION)) >= _PROSE * np.diff(answer.starts))

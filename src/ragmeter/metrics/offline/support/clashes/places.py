"""Names and words in whose place another one stands, and those that have changed places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.support.clashes.cases import Case, Clash, in_a_row
from ragmeter.metrics.offline.support.clashes.tokens import ENDS, NAME, NUMBER, WORD, Token, TokenList
from ragmeter.metrics.offline.support.clashes.values import are_of_a_kind, measure, rival

_LONGEST = 4  # words that may stand in the place of a name
_DATE = 4  # places between the parts of a date
_NEAR = 3  # content words on each side of a verb that may be its subject or its object
_SPELLED = 6  # letters from which a word with one letter changed is the same word
_LAST_CASED = "\u0530"  # the end of the alphabets in which words have spaces between them and names have capitals


class _Slot(NamedTuple):
    """Words of the claim, and those that stand in their place in the sentence; whether both neighbours are the same."""

    own: tuple[Token, ...]
    theirs: tuple[Token, ...]
    is_between: bool
    is_inside: bool = False  # both neighbours are words, and not the end of the claim or of a sentence


def _slots(case: Case) -> Iterator[_Slot]:
    """For each word of the claim, or name of several words, what stands beside its neighbours in the sentence."""
    theirs = case.sentence.content
    number = {token.place: at for at, token in enumerate(theirs)}
    for own, before, after in _with_neighbours(case.claim.content):
        lefts, rights = (
            [number[t.place] for t in case.like(side) if t.place in number] if side else [] for side in (before, after)
        )
        for left in lefts:
            right = next((at for at in rights if left + 1 < at <= left + 1 + _LONGEST), None)
            is_inside = right is not None
            if right is None and after is None:
                right = next((at + 1 for at in range(left + 1, len(theirs)) if theirs[at].marks & ENDS), len(theirs))
                right = right if right <= left + 1 + _LONGEST else None
            if right is not None:
                yield _Slot(own, theirs[left + 1 : right], True, is_inside)
            elif left + 1 < len(theirs):
                yield _Slot(own, theirs[left + 1 : left + 2], False)
        for right in filter(None, rights):
            is_first = before is None and (right == 1 or theirs[right - 2].segment != theirs[right].segment)
            yield _Slot(own, theirs[right - 1 : right], is_first)


def _with_neighbours(content: Sequence[Token]) -> Iterator[tuple[tuple[Token, ...], Token | None, Token | None]]:
    """Each word, or name of several words, with the word before and the word after it."""
    begin = 0
    while begin < len(content):
        end = begin + 1
        while (
            end < len(content)
            and content[begin].kind == content[end].kind == NAME
            and content[end].place == content[end - 1].place + 1
        ):
            end += 1
        yield (
            tuple(content[begin:end]),
            content[begin - 1] if begin else None,
            content[end] if end < len(content) else None,
        )
        begin = end


def other_in_place(case: Case) -> Iterator[Clash]:
    """A name, number or word in whose place, beside the same neighbours, the sentence has another one."""
    for slot in _slots(case):
        token = slot.own[-1]
        equal = case.like(token)
        if any(_are_alike(own, other) for own in slot.own for other in slot.theirs):
            continue  # the same, or a part of it: the FIRE (Financial Independent, Retire Early) sites
        other = next((own for own in reversed(slot.theirs) if _may_replace(token, own, case)), None)
        if other is None or not _is_whole(slot) or _stands_between(slot.own, case):
            continue
        if token.kind == NUMBER and _leads_alike(token, equal, case):
            continue
        is_name = token.kind != WORD
        if all(map(case.has, slot.theirs)):
            if slot.is_inside and is_name and _names_agent(case.claim, case) == _names_agent(case.sentence, case):
                yield _clash(slot)  # both names are there, the other way round, and not for a passive's sake
            continue
        if is_name and any(own.sentence == other.sentence and abs(own.place - other.place) <= _DATE for own in equal):
            continue  # in 1981 and on August 19, 1981
        if not equal and slot.is_between and is_name:
            yield _clash(slot)
        if not equal or not (is_name or slot.is_between):
            continue
        anchors = [own for own in case.claim.content if own not in slot.own]
        if all(rival(same, [other], anchors, case) for same in equal):
            yield _clash(slot)


def _are_alike(own: Token, other: Token) -> bool:
    """Whether these are forms of one word, or one is a slip of the pen: mortgage and mortage."""
    if own.is_like(other):
        return True
    if (own.marks | other.marks) & (Mark.NUMBER | Mark.MONTH):
        return False
    return len(own.word) >= _SPELLED and Levenshtein.distance(own.word, other.word, score_cutoff=1) <= 1


def _names_agent(text: TokenList, case: Case) -> bool:
    """Whether a word stands there that leads the one who acts, in a passive: was bought by Ann."""
    return bool(text.words & case.table.words["agent"])


def _leads_alike(number: Token, equal: Sequence[Token], case: Case) -> bool:
    """Whether the word after a number of the claim, or after its unit, follows the same number there: 3 m high."""
    led = _led(number, case.claim, case)
    if led is None:
        return False
    there = [_led(token, case.passage, case) for token in equal]
    return any(token is not None and token in case.like(led) for token in there)


def _led(number: Token, text: TokenList, case: Case) -> Token | None:
    """The first word after a number, in its part of the sentence, that is no number or unit."""
    behind = (token for token in text.segments[number.segment].content if token.place > number.place)
    return next((own for own in behind if own.kind != NUMBER and measure(own, case.table) is None), None)


def _is_whole(slot: _Slot) -> bool:
    """Whether all that stands in the place is one thing: a name for a name, one noun for a noun."""
    if slot.own[-1].kind == NAME:
        return all(own.kind == NAME or own.marks & Mark.CAPITAL for own in slot.theirs)
    return slot.own[-1].kind != WORD or len(slot.theirs) == 1 or slot.own[-1].marks & Mark.CAPITAL != 0


def _clash(slot: _Slot) -> Clash:
    return Clash("place", in_a_row(slot.own), in_a_row(slot.theirs))


def _stands_between(own: Sequence[Token], case: Case) -> bool:
    """Whether these words stand between their neighbours somewhere in the passage, as in the claim."""
    content = case.claim.content
    begin, end = content.index(own[0]), content.index(own[-1])
    if not begin or end + 1 == len(content):
        return False
    around, there = content[begin - 1 : end + 2], case.passage.content
    number = {token.place: at for at, token in enumerate(there)}
    firsts = [number[token.place] for token in case.like(around[0])]
    return any(
        all(0 <= first + at < len(there) and there[first + at] in case.like(token) for at, token in enumerate(around))
        for first in firsts
    )


def _may_replace(token: Token, other: Token, case: Case) -> bool:
    """Whether the other word is of the same kind: a name, a number, or a noun."""
    titles = case.table.words["titles"]
    if {token.word, other.word} & titles or (token.marks | other.marks) & Mark.LETTER:
        return False
    if token.kind == other.kind == NUMBER and not are_of_a_kind(token, other):
        return False
    if token.kind == other.kind != WORD:
        return True
    if bool(token.marks & Mark.CAPITAL) != bool(other.marks & Mark.CAPITAL) or {token.kind, other.kind} - {WORD, NAME}:
        return False
    if not (token.word.isalpha() and other.word.isalpha()) or token.word[0] > _LAST_CASED:
        return False
    return token.kind != other.kind or (_is_led(token, case.claim, case) and _is_led(other, case.passage, case))


def _is_led(token: Token, text: TokenList, case: Case) -> bool:
    """Whether an article stands directly before this word, or before its adjective: it is a noun."""
    articles = case.table.words["articles"] | case.table.words["merged"]
    return any(own.word in articles for own in text.tokens[max(token.place - 2, 0) : token.place])


def other_name(case: Case) -> Iterator[Clash]:
    """A name of one statement that is said of another in the same sentence: A went to Lyon; B to Paris."""
    names = [run[-1] for run, _, _ in _with_neighbours(case.claim.content) if run[-1].kind == NAME]
    others = [token for token in case.sentence.content if token.kind == NAME and not case.has(token)]
    others = [token for token in others if measure(token, case.table) is None]
    if not others or not names:
        return
    for own in names:
        equal = case.like(own)
        if not equal or any(same.sentence != case.best for same in equal):
            continue
        anchors = [token for token in case.claim.content if token.kind in (WORD, NAME) and token != own]
        rivals = [rival(same, others, anchors, case) for same in equal]
        if all(rivals):
            yield Clash("name", own.word, rivals[0].word if rivals[0] else "")


def turned(case: Case) -> Iterator[Clash]:
    """Two names or two numbers in a row, the other way round: from Lyon to Paris, 3 to 1."""
    runs = [run for run, _, _ in _with_neighbours(case.claim.content)]
    for one, two in pairwise(runs):
        first, second = one[-1], two[0]
        if first.kind != second.kind or first.kind not in (NAME, NUMBER) or first.root == second.root:
            continue
        between = case.claim.tokens[first.place : second.place]
        if len(between) == 1 or any(own.marks & (Mark.CLAUSE | Mark.ALSO | Mark.EITHER) for own in between):
            continue
        if all(_is_led_alike(run[0], case) for run in (one, two)):
            continue  # sold to Ann by Ben, and by Ben to Ann
        if _are_near(two[-1], one[0], case) and not _are_near(first, second, case):
            yield Clash("order", in_a_row((*one, *two)), in_a_row((*two, *one)))


def _is_led_alike(token: Token, case: Case) -> bool:
    """Whether the same "to" or "by" stands before this name in the claim and there."""
    own = _lead(case.claim, token)
    return bool(own) and any(_lead(case.passage, other) == own for other in case.like(token))


def _lead(text: TokenList, token: Token) -> str:
    before = text.tokens[token.place - 1] if token.place else token
    return before.word if before.marks & Mark.FUNCTION else ""


def _are_near(first: Token, second: Token, case: Case) -> bool:
    """Whether the second word follows the first one there, with no other word between that says something."""
    follows = {one.place: other for one, other in pairwise(case.passage.content)}
    nexts = ((one, follows.get(one.place)) for one in case.like(first))
    return any(
        other is not None
        and other in case.like(second)
        and one.sentence == other.sentence
        and other.place - one.place <= _NEAR
        for one, other in nexts
    )


def swapped(case: Case) -> Iterator[Clash]:
    """A verb with subject and object the other way round: "Ann beat Ben", and "Ben beat Ann"."""
    for verb in case.claim.content:
        if verb.kind != WORD or verb.marks & Mark.CAPITAL or not case.like(verb):
            continue
        if verb.place and case.claim.tokens[verb.place - 1].word in case.table.words["articles"]:
            continue  # a noun
        mine = _sides(case.claim, verb)
        if not mine[0] or not mine[1]:
            continue
        others = case.like(verb)
        relations = [_relation(verb, other, mine, case) for other in others]
        if -1 in relations and 1 not in relations:
            its = _sides(case.passage, others[relations.index(-1)])
            yield Clash("roles", in_a_row(mine[0]), in_a_row(its[0]))


_Sides = tuple[tuple[Token, ...], tuple[Token, ...]]


def _relation(verb: Token, other: Token, mine: _Sides, case: Case) -> int:
    """1 where the words around a verb of the claim stand on the same sides there, -1 on the other sides, 0 unclear."""
    its = _sides(case.passage, other)
    led, its_led = _behind(case.claim, verb, case), _behind(case.passage, other, case)
    is_turned = {led, its_led} == {"agent", ""}
    if led != its_led and not is_turned:
        return 0
    subject = mine[0][-1]
    thing = next((own for own in mine[1] if _is_among(own, its[0], case)), mine[1][0])
    crossed = _is_among(subject, its[1], case) and _is_among(thing, its[0], case)
    crossed &= _is_someone(subject, case.claim, case) and _is_someone(thing, case.claim, case)
    straight = [_is_among(subject, its[0], case), _is_among(thing, its[1], case)]
    if is_turned and straight[0] != straight[1]:
        return 0
    if crossed == any(straight):
        return int(crossed)
    return 1 if crossed == is_turned else -1


def _is_someone(token: Token, text: TokenList, case: Case) -> bool:
    """Whether it is a name or a noun, which can be who does something."""
    return token.kind == NAME or _is_led(token, text, case)


def _sides(text: TokenList, token: Token) -> _Sides:
    """The content words near this one, before and after it, in its part of the sentence."""
    near = text.segments[token.segment].content
    at = near.index(token)
    return near[max(at - _NEAR, 0) : at], near[at + 1 : at + 1 + _NEAR]


def _is_among(token: Token, others: Sequence[Token], case: Case) -> bool:
    return token.kind in (WORD, NAME) and any(other in others for other in case.like(token))


def _behind(text: TokenList, verb: Token, case: Case) -> str:
    """What leads the word after a verb: "agent" for "bought by Ann", the first letter of "to", or nothing."""
    for token in text.tokens[verb.place + 1 : verb.place + 3]:
        if token.is_content or token.marks & ENDS:
            return ""
        if token.word in case.table.words["agent"]:
            return "agent"
        if token.word not in case.table.words["articles"]:
            return token.word[0]
    return ""

"""Where a claim and a passage clash: another value in the same place, another unit, swapped roles, the opposite.

The trees see which words of a claim a passage has, and not what they say of each other. What is found here caps the
probability, and is shown beside the label `contradicted`. Only pairs that share many words are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from ragmeter.metrics.offline.polarity.polarities import related
from ragmeter.metrics.offline.polarity.poles import Poles, poles_of
from ragmeter.metrics.offline.reading.tables import Mark, Table
from ragmeter.metrics.offline.support.tokens import MONTH, NAME, NUMBER, UNIT, WORD, Token, TokenList

_NEGATIONS = Mark.NEGATION | Mark.NO | Mark.DENIAL
_NEAR = 3  # content words on each side of a verb that may be its subject or its object
_MOST = 0.6  # of the claim's words: a part of a sentence that has them is read alone
_PART, _PART_OF_LONG = 0.3, 0.5  # of the sentence's content words must be the claim's: in a long text chance finds more
_LONG = 100  # content words
_REST_OF_QUANTITY = 0.6
_REST = 0.8  # of the claim's words, those that clash apart, must stand in the sentence
_SAME = 0.5  # of the sentence's words, so that a negation that only one of both has makes the difference
_MORE = 2  # times as many words of the claim must stand beside another value
_LAST_CASED = "\u0530"  # the end of the alphabets in which words have spaces between them and names have capitals
_DATE = 4  # places between the parts of a date
_LONGEST = 4  # words that may stand in the place of a name
_ENDS = Mark.CLAUSE | Mark.SENTENCE


class Clash(NamedTuple):
    """The rule that says so, by its name in `RULES`, and the words of the claim and of the passage."""

    rule: str
    claim: str
    passage: str


@dataclass(frozen=True)
class Case:
    """A claim and a passage. `best` is the sentence that has most of the claim."""

    claim: TokenList
    passage: TokenList
    best: int
    table: Table
    language: str

    @cached_property
    def sentence(self) -> tuple[Token, ...]:
        """The content words of the best sentence."""
        return tuple(token for token in self.passage.content if token.sentence == self.best)

    @cached_property
    def n_there(self) -> int:
        """How many content words of the claim the best sentence has."""
        return sum(any(own.is_like(other) for other in self.sentence) for own in self.claim.content)

    @cached_property
    def n_around(self) -> int:
        """How many the best sentence and the ones beside it have, of those that the best one has not only some of."""
        near = [token for token in self.passage.content if abs(token.sentence - self.best) <= 1]
        return sum(any(own.is_like(other) for other in near) for own in self.claim.content)

    def share_without(self, clash: Clash) -> float:
        """The share of the claim's content words there, if those that clash don't count."""
        n_clashing = (
            len(clash.claim.split()) if clash.rule in ("place", "unit") else clash.rule not in ("roles", "order")
        )
        n_words = self.n_around if clash.rule in ("unit", "value", "place") else self.n_there
        return min(n_words / max(len(self.claim.content) - n_clashing, 1), 1.0)

    @cached_property
    def poles(self) -> Poles | None:
        """The words of the language that turn a statement around."""
        return poles_of(self.language)


def first_clash(case: Case) -> Clash | None:
    """The first clash that a rule finds.

    The rest of the claim must stand in the sentence, and be a good part of it: else the two are about something else.
    """
    part = _PART if len(case.passage.content) <= _LONG else _PART_OF_LONG
    if case.n_there < part * len(case.sentence):
        return None
    clashes = (next(iter(rule(case)), None) for rule in RULES.values())
    return next((clash for clash in clashes if clash and case.share_without(clash) >= _rest(clash)), None)


def _rest(clash: Clash) -> float:
    return _REST_OF_QUANTITY if clash.rule == "quantity" else _REST


def _measure(token: Token, table: Table) -> tuple[str, float] | None:
    return table.measures.get(table.units.get(token.word, token.word))


class _Value(NamedTuple):
    """A number, month or weekday with its unit, and its place among the content words of its text."""

    place: int
    token: Token
    unit: tuple[str, float] | None
    unit_word: str

    def equals(self, other: _Value) -> bool:
        if self.unit and other.unit and self.unit[0] == other.unit[0]:
            return abs(self.size - other.size) <= 1e-6 * abs(self.size)
        if self.unit and other.unit:
            return False
        return self.token.root == other.token.root

    @property
    def size(self) -> float:
        return self.token.value * (self.unit[1] if self.unit else 1.0)

    def is_like(self, other: _Value) -> bool:
        """Whether the other one could stand in its place."""
        if self.token.kind != other.token.kind or bool(self.unit) != bool(other.unit):
            return False
        if self.unit and other.unit:
            return self.unit[0] == other.unit[0]
        return _is_year(self.token) == _is_year(other.token)

    @property
    def shown(self) -> str:
        return f"{self.token.word} {self.unit_word}".strip()


def _is_year(token: Token) -> bool:
    return token.kind == NUMBER and 1000 <= token.value <= 2100 and token.value == int(token.value)


def _values(tokens: Sequence[Token], table: Table) -> list[_Value]:
    values = []
    for place, token in enumerate(tokens):
        if token.word in table.weekdays:
            values.append(_Value(place, token._replace(kind=MONTH), ("weekday", 0.0), ""))
        elif token.kind in (NUMBER, MONTH):
            around = [tokens[place + 1 : place + 2], tokens[max(place - 1, 0) : place]]
            units = [
                (measure, beside.word)
                for side in around
                for beside in side
                if beside.sentence == token.sentence and (measure := _measure(beside, table))
                and (side is around[0] or not beside.word.isalpha())
            ]  # fmt: skip
            unit, word = units[0] if units and token.kind == NUMBER else (None, "")
            values.append(_Value(place, token, unit, word))
    return values


def _other_unit(case: Case) -> Iterator[Clash]:
    """A number that the passage has only with another unit: 16 days and 16 hours."""
    theirs = _values(case.passage.content, case.table)
    for value in _values(case.claim.content, case.table):
        if value.token.kind != NUMBER or value.unit is None:
            continue
        same = [other for other in theirs if other.token.root == value.token.root]
        if not same or any(other.equals(value) for other in theirs if other.unit):
            continue
        if all(other.unit for other in same):
            yield Clash("unit", value.shown, same[0].shown)


def _other_value(case: Case) -> Iterator[Clash]:
    """A number, month or weekday that belongs to something else there: another one stands beside the claim's words."""
    own, theirs = (_values(text.content, case.table) for text in (case.claim, case.passage))
    if not own or not theirs:
        return
    anchors = [token for token in case.claim.content if token.kind in (WORD, NAME)]
    anchors = [token for token in anchors if token.word not in case.table.weekdays and not _measure(token, case.table)]
    for value in own:
        if value.token.marks & Mark.WEAK and not value.unit:
            continue
        equal = [other.token for other in theirs if other.equals(value)]
        others = [
            other.token for other in theirs
            if value.is_like(other) and not any(other.equals(mine) for mine in own)
            and bool(other.token.marks & Mark.WEAK) == bool(value.token.marks & Mark.WEAK)
        ]  # fmt: skip
        if not equal or not others:
            continue
        if any(
            _is_beside(near, same, case, in_segment=False)
            and not any(_is_beside(near, other, case, in_segment=False) for other in others)
            for near in _next_to(value.token, case.claim, anchors)
            for same in equal
        ):
            continue
        rival = [_rival(same, others, anchors, case) for same in equal]
        if all(rival):
            yield Clash("value", value.shown, rival[0].word if rival[0] else "")


def _next_to(token: Token, text: TokenList, anchors: Sequence[Token]) -> list[Token]:
    """The words nearest to this one, before and after it."""
    before = [own for own in anchors if own.place < token.place][-1:]
    return [*before, *[own for own in anchors if own.place > token.place][:1]]


def _rival(same: Token, others: Sequence[Token], anchors: Sequence[Token], case: Case) -> Token | None:
    """Of other words one that stands beside all of the claim's words that `same` stands beside, and beside more."""
    for other in others:
        in_sentence = same.sentence == other.sentence
        if in_sentence and same.segment == other.segment:
            continue
        mine, its = (
            {place for place, anchor in enumerate(anchors) if _is_beside(anchor, token, case, in_segment=in_sentence)}
            for token in (same, other)
        )
        if len(its - mine) > _MORE * len(mine - its) and len(its) * 2 >= len(anchors):
            return other
    return None


def _is_beside(anchor: Token, beside: Token, case: Case, *, in_segment: bool) -> bool:
    return any(
        anchor.is_like(token)
        for token in case.passage.content
        if token.sentence == beside.sentence and (not in_segment or token.segment == beside.segment)
    )


class _Slot(NamedTuple):
    """Words of the claim, and those that stand in their place in the sentence; whether both neighbours are the same."""

    own: tuple[Token, ...]
    theirs: tuple[Token, ...]
    is_between: bool


def _slots(case: Case) -> Iterator[_Slot]:
    """For each word of the claim, or name of several words, what stands beside its neighbours in the sentence."""
    own, theirs = case.claim.content, case.sentence
    begin = 0
    while begin < len(own):
        end = begin + 1
        while end < len(own) and own[begin].kind == own[end].kind == NAME and own[end].place == own[end - 1].place + 1:
            end += 1
        before = own[begin - 1] if begin else None
        after = own[end] if end < len(own) else None
        lefts = [at for at, token in enumerate(theirs) if before and before.is_like(token)]
        rights = [at for at, token in enumerate(theirs) if after and after.is_like(token)]
        for left in lefts:
            right = next((at for at in rights if left + 1 < at <= left + 1 + _LONGEST), None)
            if right is None and after is None:
                right = next((at + 1 for at in range(left + 1, len(theirs)) if theirs[at].marks & _ENDS), len(theirs))
                right = right if right <= left + 1 + _LONGEST else None
            if right is not None:
                yield _Slot(own[begin:end], theirs[left + 1 : right], True)
            elif left + 1 < len(theirs):
                yield _Slot(own[begin:end], theirs[left + 1 : left + 2], False)
        for right in rights:
            if right:
                is_first = before is None and (right == 1 or theirs[right - 2].segment != theirs[right].segment)
                yield _Slot(own[begin:end], theirs[right - 1 : right], is_first)
        begin = end


def _other_in_place(case: Case) -> Iterator[Clash]:
    """A name, number or word in whose place, beside the same neighbours, the sentence has another one."""
    for slot in _slots(case):
        token = slot.own[-1]
        other = next((own for own in reversed(slot.theirs) if _may_replace(token, own, case)), None)
        if other is None or any(token.is_like(own) for own in slot.theirs):
            continue
        is_name = token.kind != WORD
        if _is_between(slot.own, case):
            continue
        if all(map(case.claim.has, slot.theirs)):
            if slot.is_between and is_name:
                yield _clash("place", slot)  # both names are there, the other way round
            continue
        equal = [own for own in case.passage.content if token.is_like(own)]
        if token.kind != WORD and any(
            own.sentence == other.sentence and abs(own.place - other.place) <= _DATE for own in equal
        ):
            continue  # in 1981 and on August 19, 1981
        if not equal and slot.is_between and is_name:
            yield _clash("place", slot)
        if not equal or not (is_name or slot.is_between):
            continue
        anchors = [own for own in case.claim.content if own not in slot.own]
        if all(_rival(same, [other], anchors, case) for same in equal):
            yield _clash("place", slot)


def _is_between(own: Sequence[Token], case: Case) -> bool:
    """Whether these words stand between their neighbours somewhere in the passage, as in the claim."""
    content = case.claim.content
    begin, end = content.index(own[0]), content.index(own[-1])
    around = content[max(begin - 1, 0) : end + 2]
    return 0 < begin and end + 1 < len(content) and _is_copied(around, case.passage.content)


def _is_copied(run: Sequence[Token], content: Sequence[Token]) -> bool:
    """Whether words stand in a text one after the other."""
    begins = range(len(content) - len(run) + 1)
    return any(all(token.is_like(content[begin + at]) for at, token in enumerate(run)) for begin in begins)


def _may_replace(token: Token, other: Token, case: Case) -> bool:
    """Whether the other word is of the same kind: a name, a number, or a word behind the same article."""
    titles = case.table.words["titles"]
    if {token.word, other.word} & titles or (token.marks | other.marks) & Mark.LETTER:
        return False
    if token.kind == other.kind != WORD:
        return True
    if bool(token.marks & Mark.CAPITAL) != bool(other.marks & Mark.CAPITAL) or {token.kind, other.kind} - {WORD, NAME}:
        return False
    if not (token.word.isalpha() and other.word.isalpha()) or token.word[0] > _LAST_CASED:
        return False
    articles = case.table.words["articles"]
    return token.kind != other.kind or (_is_led(token, case.claim, articles) and _is_led(other, case.passage, articles))


def _is_led(token: Token, text: TokenList, articles: frozenset[str]) -> bool:
    """Whether an article stands directly before this word, or before its adjective: it is a noun."""
    before = text.tokens[max(token.place - 2, 0) : token.place]
    return any(own.word in articles for own in before)


def _said(rule: str, tokens: Sequence[Token]) -> Clash:
    """A clash with a whole sentence, or a part of it."""
    return Clash(rule, "", " ".join(token.word for token in tokens))


def _clash(rule: str, slot: _Slot) -> Clash:
    return Clash(rule, *(" ".join(token.word for token in side) for side in (slot.own, slot.theirs)))


def _swapped(case: Case) -> Iterator[Clash]:
    """A verb with subject and object the other way round: "Ann beat Ben", and "Ben beat Ann"."""
    own, theirs = case.claim.tokens, case.passage.tokens
    for verb in own:
        if verb.kind != WORD or not verb.is_content or verb.marks & Mark.CAPITAL:
            continue
        if verb.place and own[verb.place - 1].word in case.table.words["articles"]:
            continue  # a noun
        relations = [_relation(verb, other, case) for other in theirs if other.is_content and verb.is_like(other)]
        if -1 in relations and 1 not in relations:
            other = next(o for o in theirs if o.is_content and verb.is_like(o) and _relation(verb, o, case) < 0)
            yield Clash(
                "roles",
                *(
                    " ".join(t.word for t in _sides(side, at)[0])
                    for side, at in ((own, verb.place), (theirs, other.place))
                ),
            )


def _relation(verb: Token, other: Token, case: Case) -> int:
    """1 where the words around a verb of the claim stand on the same sides there, -1 on the other sides, 0 unclear."""
    own, theirs = case.claim.tokens, case.passage.tokens
    mine, its = _sides(own, verb.place), _sides(theirs, other.place)
    led, its_led = _behind(own, verb.place, case), _behind(theirs, other.place, case)
    is_turned = "agent" in (led, its_led) and led != its_led
    if led != its_led and not is_turned:
        return 0
    subject, thing = mine[0][-1:], mine[1][:1]
    crossed = _common(subject, its[1]) and _common(thing, its[0])
    straight = _common(subject, its[0]) or _common(thing, its[1])
    if crossed == straight:
        return int(straight)
    return -1 if straight == is_turned else 1


def _sides(tokens: Sequence[Token], place: int) -> tuple[list[Token], list[Token]]:
    """The content words near this one, before and after it, in its part of the sentence."""
    near = [token for token in tokens if token.is_content and token.segment == tokens[place].segment]
    at = next(number for number, token in enumerate(near) if token.place == tokens[place].place)
    return near[max(at - _NEAR, 0) : at], near[at + 1 : at + 1 + _NEAR]


def _common(some: Sequence[Token], others: Sequence[Token]) -> bool:
    return any(token.is_like(other) for token in some for other in others if token.kind in (WORD, NAME))


def _behind(tokens: Sequence[Token], place: int, case: Case) -> str:
    """What leads the word after a verb: "agent" for "bought by Ann", the first letter of "to", or nothing."""
    for token in tokens[place + 1 : place + 3]:
        if token.is_content or token.marks & _ENDS:
            return ""
        if token.word in case.table.words["agent"]:
            return "agent"
        if token.word not in case.table.words["articles"]:
            return token.word[0]
    return ""


def _excepted(case: Case) -> Iterator[Clash]:
    """What the sentence excepts, and the claim does not: "all rooms but the suites", "parts, but not labour"."""
    for number in _sentences(case):
        tokens = [token for token in case.passage.tokens if token.sentence == number]
        for place, token in enumerate(tokens):
            is_but_not = token.marks & _NEGATIONS and place and tokens[place - 1].marks & Mark.TURN
            if not is_but_not and token.word not in case.table.words["except"]:
                continue
            named = _first_run(tokens[place + 1 :])
            is_negated = any(own.marks & _NEGATIONS for own in tokens[: max(place - 1, 0)])
            if not named or not all(map(case.claim.has, named)) or is_negated != _is_negated(case.claim):
                continue
            rest = [own for own in case.claim.content if not any(own.is_like(other) for other in named)]
            n_there = sum(any(own.is_like(other) for other in tokens) for own in rest)
            if n_there * 2 > len(rest) - 1 and not _words_of(case.claim, case.table.words["except"]):
                yield _said("except", tokens)


def _first_run(tokens: Sequence[Token]) -> list[Token]:
    """The first word that says something, with those directly behind it in its part of the sentence."""
    run: list[Token] = []
    for token in tokens:
        if token.is_content:
            run.append(token)
        elif run:
            break
        if token.marks & _ENDS:
            break
    return run


def _quantified(case: Case) -> Iterator[Clash]:
    """All in the claim and some in the sentence, or only these in the sentence and others in the claim."""
    words = case.table.words
    tokens = [token for token in case.passage.tokens if token.sentence == case.best]
    claim_words, sentence_words = ({token.word for token in text} for text in (case.claim.tokens, tokens))
    part, every, only = (words[name] for name in ("part", "every", "only"))
    restricts = part | words["except"]
    if (
        claim_words & every
        and not claim_words & restricts
        and sentence_words & restricts
        and not sentence_words & every & claim_words
    ):
        yield _said("quantity", tokens)
    is_nearly = any(one.word in part and other.word in every for one, other in pairwise(tokens))
    if claim_words & every and is_nearly and not claim_words & part:
        yield _said("quantity", tokens)
    if claim_words & every and sentence_words & words["except"] and not claim_words & words["except"]:
        yield _said("quantity", tokens)
    if not claim_words & only:
        for place, token in enumerate(tokens):
            begins = not place or tokens[place - 1].marks & (_ENDS | Mark.ALSO | Mark.TURN)
            if token.word in only and begins:
                part_of = [own for own in tokens[place + 1 :] if own.is_content and own.segment == token.segment]
                n_there = sum(map(case.claim.has, part_of[1:]))
                if part_of and not case.claim.has(part_of[0]) and n_there * 2 > len(part_of) - 1 and n_there > 1:
                    yield _said("quantity", tokens)
    elif not sentence_words & (only | words["except"] | words["alone"]):
        yield _said("quantity", tokens)


def _turned(case: Case) -> Iterator[Clash]:
    """Two names or two numbers in a row, the other way round: from Lyon to Paris, 3 to 1."""
    pairs = [
        pair for pair in pairwise(case.passage.content)
        if pair[0].sentence == pair[1].sentence and pair[1].place - pair[0].place <= _NEAR
    ]  # fmt: skip
    for first, second in pairwise(case.claim.content):
        if first.kind != second.kind or first.kind not in (NAME, NUMBER) or first.root == second.root:
            continue
        between = case.claim.tokens[first.place : second.place]
        if second.place == first.place + 1 or any(
            own.marks & (Mark.CLAUSE | Mark.ALSO | Mark.EITHER) for own in between
        ):
            continue
        there = [
            (first.is_like(one) and second.is_like(other), first.is_like(other) and second.is_like(one))
            for one, other in pairs
        ]
        if any(turned for _, turned in there) and not any(same for same, _ in there):
            yield Clash("order", f"{first.word} {second.word}", f"{second.word} {first.word}")


def _sentences(case: Case) -> list[int]:
    """The sentences that have more than half of the claim, the best one first."""
    numbers = {token.sentence for token in case.passage.content} - {case.best}
    content = case.claim.content
    shares = {
        number: sum(
            any(own.is_like(other) for other in case.passage.content if other.sentence == number) for own in content
        )
        for number in numbers
    }
    return [case.best, *(number for number, count in shares.items() if count * 2 > len(content))]


def _n_negations(text: TokenList) -> int:
    return sum(bool(token.marks & (Mark.NEGATION | Mark.NO)) for token in text.tokens)


def _is_negated(text: TokenList) -> bool:
    return any(token.marks & _NEGATIONS for token in text.tokens)


def _words_of(text: TokenList, words: frozenset[str]) -> bool:
    return any(token.word in words for token in text.tokens)


def _opposite(case: Case) -> Iterator[Clash]:
    """A negation that only one of both has, or opposites: open and closed."""
    claim = _spelled(case.claim.tokens)
    for number in _sentences(case):
        tokens = _telling([token for token in case.passage.tokens if token.sentence == number], case)
        text = TokenList(tuple(tokens))
        if _words_of(text, case.table.words["except"]) or (_is_negated(text) and _is_negated(case.claim)):
            continue
        n_there = sum(any(own.is_like(other) for other in text.content) for own in case.claim.content)
        if n_there + 1 < max(_REST * len(case.claim.content), case.n_there) or _is_quoted(case.claim, tokens):
            continue
        relation = related(_spelled(tokens), claim, case.poles) if case.poles else 0
        differs = _n_negations(text) % 2 != _n_negations(case.claim) % 2 and n_there >= _REST * len(case.claim.content)
        differs &= n_there >= _SAME * len(text.content)
        if relation < 0 or (not relation and differs):
            yield _said("opposite", tokens)


def _is_quoted(claim: TokenList, tokens: Sequence[Token]) -> bool:
    """Whether all words of the claim that say something, and no others, stand in a row, with as many negations."""
    content = [token for token in tokens if token.is_content]
    for begin in range(len(content) - len(claim.content) + 1 if claim.content else 0):
        if all(token.is_like(content[begin + at]) for at, token in enumerate(claim.content)):
            segments = {token.segment for token in content[begin : begin + len(claim.content)]}
            around = TokenList(tuple(token for token in tokens if token.segment in segments))
            if _n_negations(around) == _n_negations(claim):
                return True
    return False


def _telling(tokens: list[Token], case: Case) -> list[Token]:
    """The part of a sentence that has most of the claim, or the whole."""
    content = case.claim.content
    for segment in {token.segment for token in tokens}:
        part = [token for token in tokens if token.segment == segment]
        n_there = sum(any(own.is_like(other) for other in part if other.is_content) for own in content)
        if n_there >= _MOST * len(content):
            return part
    return tokens


def _spelled(tokens: Sequence[Token]) -> str:
    """The words as a text, with commas and capitals where they matter."""
    words = []
    for token in tokens:
        word = token.word.capitalize() if token.kind == NAME else token.word
        words.append(word + ("," if token.marks & Mark.CLAUSE else "." if token.marks & Mark.SENTENCE else ""))
    return " ".join(words)


RULES = {
    "unit": _other_unit,
    "value": _other_value,
    "place": _other_in_place,
    "order": _turned,
    "roles": _swapped,
    "except": _excepted,
    "quantity": _quantified,
    "opposite": _opposite,
}

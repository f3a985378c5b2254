"""Whole statements: what is excepted, all and some, and the opposite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ragmeter.metrics.offline.polarity.polarities import related
from ragmeter.metrics.offline.reading.tables import Mark
from ragmeter.metrics.offline.support.clashes.cases import Case, Clash, in_a_row
from ragmeter.metrics.offline.support.clashes.tokens import ENDS, NAME, NEGATIONS, Token, TokenList
from ragmeter.metrics.offline.support.clashes.values import turned_bounds

_MOST = 0.6  # of the claim's words: a part of a sentence that has them is read alone
_OTHER = 1  # word of the claim may be another one there, the opposite
_REST = 0.8  # of the claim's words must stand in a sentence that says the opposite
_SAME = 0.5  # of the sentence's words, so that a negation that only one of both has makes the difference


def _said(rule: str, text: TokenList) -> Clash:
    return Clash(rule, "", in_a_row(text.tokens))


def excepted(case: Case) -> Iterator[Clash]:
    """What the sentence excepts, and the claim does not: "all rooms but the suites", "parts, but not labour"."""
    exceptions = case.table.words["except"]
    if case.claim.words & exceptions:
        return
    for sentence in case.close:
        if not sentence.words & exceptions and not sentence.is_negated:
            continue
        tokens = sentence.tokens
        for place, token in enumerate(tokens):
            is_but_not = token.marks & NEGATIONS and place and tokens[place - 1].marks & Mark.TURN
            if not is_but_not and token.word not in exceptions:
                continue
            named = _first_run(tokens[place + 1 :])
            is_negated = any(own.marks & NEGATIONS for own in tokens[: max(place - 1, 0)])
            if not named or not all(map(case.has, named)) or is_negated != case.claim.is_negated:
                continue
            rest = [own for own in case.claim.content if not any(other in named for other in case.like(own))]
            n_there = sum(any(other in tokens for other in case.like(own)) for own in rest)
            if n_there * 2 > len(rest) - 1 and _relation(sentence, case) >= 0:
                yield _said("except", sentence)


def _first_run(tokens: Sequence[Token]) -> list[Token]:
    """The first word that says something, with those directly behind it in its part of the sentence."""
    run: list[Token] = []
    for token in tokens:
        if token.is_content:
            run.append(token)
        elif run:
            break
        if token.marks & ENDS:
            break
    return run


def quantified(case: Case) -> Iterator[Clash]:
    """All in the claim and some in the sentence, or only these in the sentence and others in the claim."""
    part, every, only, exceptions, alone = (
        case.table.words[name] for name in ("part", "every", "only", "except", "alone")
    )
    text = _telling(case.sentence, case)
    own, theirs = case.claim.words, text.words
    if own & every and not own & part and not own & exceptions:
        is_part = theirs & (part | exceptions | only) and not theirs & every & own
        if is_part or case.sentence.words & exceptions or _is_nearly_all(text, part, every):
            yield _said("quantity", text)
    theirs = case.sentence.words
    if own & only:
        is_known = case.n_in[case.best] >= _REST * len(case.claim.content) and not own & part
        if is_known and not case.passage.words & (only | exceptions | alone):
            yield _said("quantity", case.sentence)
    elif theirs & only and any(_is_for_others(token, case, only) for token in case.sentence.tokens):
        yield _said("quantity", case.sentence)


def _is_nearly_all(sentence: TokenList, part: frozenset[str], every: frozenset[str]) -> bool:
    return any(one.word in part and other.word in every for one, other in pairwise(sentence.tokens))


def _is_for_others(token: Token, case: Case, only: frozenset[str]) -> bool:
    """Whether this "only" begins a statement that has most of the claim, but not what follows the "only"."""
    before = case.passage.tokens[token.place - 1] if token.place else None
    begins = before is None or before.sentence != token.sentence or before.marks & (ENDS | Mark.ALSO | Mark.TURN)
    if token.word not in only or not begins:
        return False
    rest = [own for own in case.passage.segments[token.segment].content if own.place > token.place]
    n_there = sum(map(case.has, rest[1:]))
    return bool(rest) and not case.has(rest[0]) and n_there > 1 and n_there * 2 > len(rest) - 1


def opposite(case: Case) -> Iterator[Clash]:
    """A negation that only one of both has, or opposites: open and closed."""
    n_words = len(case.claim.content)
    for sentence in case.close:
        text = _telling(sentence, case)
        n_there = _n_there(case, text)
        if n_there + 1 < max(_REST * n_words, case.n_in[case.best]):
            continue
        if text.words & case.table.words["except"] or (text.n_negations and case.claim.n_negations):
            continue
        if _is_quoted(case, text) or any(turned_bounds(case)):
            continue
        if _is_turned_back(text, case):
            continue
        relation = _relation(text, case)
        differs = text.n_negations % 2 != case.claim.n_negations % 2 and n_there == n_words
        is_known = n_there + _OTHER >= n_words
        if (relation < 0 and is_known) or (not relation and differs and n_there >= _SAME * len(text.content)):
            yield _said("opposite", text)


def _relation(text: TokenList, case: Case) -> int:
    """-1 where the text and the claim have words that are opposites: closed and open."""
    return related(_spelled(text), _spelled(case.claim), case.poles) if case.poles else 0


def _is_turned_back(text: TokenList, case: Case) -> bool:
    """Whether a negation there says that it is so: "not until 1990", "not only in Madrid"."""
    if text.n_negations and any(own.marks & Mark.UNTIL for own in text.tokens):
        return not any(own.marks & Mark.UNTIL for own in case.claim.tokens)
    only = case.table.words["only"]
    return any(first.marks & NEGATIONS and second.word in only for first, second in pairwise(text.tokens))


def _is_quoted(case: Case, text: TokenList) -> bool:
    """Whether the claim's content words stand there in a row, in statements with as many negations."""
    own, content = case.claim.content, text.content
    for begin in range(len(content) - len(own) + 1 if own else 0):
        run = content[begin : begin + len(own)]
        if all(other in case.like(token) for token, other in zip(own, run, strict=True)):
            segments = {token.segment for token in run}
            around = TokenList(tuple(token for token in text.tokens if token.segment in segments))
            if around.n_negations == case.claim.n_negations:
                return True
    return False


def _telling(sentence: TokenList, case: Case) -> TokenList:
    """The part of a sentence that has most of the claim: what a "but" begins or ends, or what stands between commas."""
    turns = [at for at, token in enumerate(sentence.tokens) if token.marks & Mark.TURN]
    halves = [sentence.tokens[begin:end] for begin, end in pairwise([0, *turns, len(sentence.tokens)])] if turns else []
    numbers = dict.fromkeys(token.segment for token in sentence.tokens)
    parts = [*(case.passage.segments[number] for number in numbers), *map(TokenList, halves)]
    least = _MOST * len(case.claim.content)
    return next((part for part in parts if _n_there(case, part) >= least), sentence)


def _n_there(case: Case, text: TokenList) -> int:
    """How many content words of the claim this part of the passage has."""
    places = {token.place for token in text.tokens}
    return sum(any(other.place in places for other in case.like(own)) for own in case.claim.content)


def _spelled(text: TokenList) -> str:
    """The words as a text, with commas and capitals where they matter."""
    words = []
    for token in text.tokens:
        word = token.word.capitalize() if token.kind == NAME else token.word
        words.append(word + ("," if token.marks & Mark.CLAUSE else "." if token.marks & Mark.SENTENCE else ""))
    return " ".join(words)

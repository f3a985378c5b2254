"""Detects answers that decline: "I don't know", "the documents don't say", "I can't give legal advice", "Which model?".

An answer is read sentence by sentence and clause by clause, in all languages at once. A clause declines, says something
of what was asked, or is filler: thanks, apologies, offers, who could help, what the documents are about. An answer
declines if some clause does and none says anything: "I couldn't find the price, but the plan includes 3 users" is an
answer, and so are "I don't know if you knew, but it is Paris", "I'm not sure, I think it is Paris", "Nobody knows" and
"The minister said that he did not know". `languages/` has the expressions; where none fits, `model.py` decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum

from ragmeter.metrics.markup import bare, without_thoughts
from ragmeter.metrics.normalize import fold
from ragmeter.metrics.refusals.model import NEVER, Clause, probability, threshold_of
from ragmeter.metrics.refusals.tables import Expression, Language, cues, joints, languages

_LONGEST = 4000  # characters of an answer that are read
LONGEST_LEARNT = 1000  # characters of an answer that the model judges: longer ones that it would find are rare
_LONGEST_CLAUSE = 400
_MOST_CLAUSES = 40
_WORDS_OF_LABEL = 4
_WORD = re.compile(r"[^\W_]+")
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u3040-\ud7ff]")
#: The wording that CRAG counts, but for "the exact shade".
_NOT_KNOWING = re.compile(r"\bi (?:don'?t|do not) know\b(?! (?:(?:the|its|his|her|their) )?(?:exact|precise))")
_NO_TEXT = " \t\n\"'*_~>"
#: Ends of sentences, with what is said of them: a question, or a label or an introduction.
_STOP = re.compile(
    r"(?P<question>[?？؟]+)|(?P<colon>[:：](?=\s|$|[^\w\s/]))|[!…;。！；।|]+|\.+(?=\W*(?:\s|$))"
    r"|\n(?P<item>\W+ |\W*(?:\d{1,3}|[a-h])[.)] +)?|\s[–—-]+\s|—"
)
_QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|(?<!\w)'(?:[^'\n]|'(?=\w)){1,300}'(?!\w)|[「『《][^」』》\n]{1,300}[」』》]")
_QUOTE = "<quote>"
#: Where a part of a clause begins.
_PART = re.compile(
    r"[,،、，(] ?| (?:and|so|because|since|y|e|et|und|porque|perché|car) (?=(?:i|je|j'\w+|no|non|não|ich)\b)"
)
_JSON = re.compile(r'\{\W*\w{1,20}": "((?:[^"\\]|\\.)*)"')
_COMMA = re.compile(r"[,،、，]| (?:and|y|e|et|und|ed) ")


class Kind(Enum):
    """What a clause does."""

    DECLINES = "declines"
    ASKS = "asks the user"
    FILLER = "says nothing of what was asked"
    COVERAGE = "says what the documents are about"
    ANSWERS = "says something"


def is_miss(answer: str) -> bool:
    """Whether the answer declines to answer, in any language; an empty answer does."""
    answer = without_thoughts(answer)[:_LONGEST]
    folded = fold(answer)
    words = set(_WORD.findall(folded))
    if _reads_as_refusal(answer, _candidates(folded, words)):
        return True
    threshold = _threshold(folded, words)
    return threshold < NEVER and probability(clauses_to_learn(answer)) > threshold


def model_threshold(answer: str) -> float:
    """The model's probability above which an answer declines that no table finds; `NEVER` if the model is not asked."""
    folded = fold(answer)
    return _threshold(folded, set(_WORD.findall(folded)))


def _threshold(folded: str, words: set[str]) -> float:
    if len(folded) > LONGEST_LEARNT or _OTHER_SCRIPT.search(folded) is not None:
        return NEVER
    return threshold_of(words, asks="?" in folded)


def clauses_to_learn(answer: str) -> list[Clause]:
    """The clauses of an answer, as the model takes them."""
    candidates = _candidates_of(answer)
    text = _without_quotes(_announced(bare(answer), candidates), candidates)
    return [Clause(clause, kind.name, is_question) for clause, kind, is_question in _clauses(text, candidates)]


def is_read_as_refusal(answer: str) -> bool:
    """Whether the answer declines by the tables' expressions alone, without the model."""
    answer = without_thoughts(answer)[:_LONGEST]
    return _reads_as_refusal(answer, _candidates_of(answer))


def _reads_as_refusal(answer: str, candidates: list[Language]) -> bool:
    """Whether the answer declines by the tables' expressions alone."""
    if not candidates:
        return not (bare(answer) if answer[:1] in "<`" else answer).strip(_NO_TEXT)
    text = _announced(bare(answer), candidates)
    if not text.strip(_NO_TEXT) or _is_bare(text, candidates):
        return True
    declines = False
    for _, kind, _ in _clauses(_without_quotes(text, candidates), candidates):
        if kind is Kind.ANSWERS:
            return False
        declines |= kind in (Kind.DECLINES, Kind.ASKS)
    return declines


def _announced(text: str, candidates: list[Language]) -> str:
    """What follows the last label: "Question: Who? Answer: I don't know". The whole text if there is none."""
    reply = _JSON.match(text)
    if reply:
        return reply[1]
    ends = [match.end() for language in candidates for match in language.announced.finditer(text)]
    return text[max(ends, default=0) :] or text


def ends_not_knowing(answer: str) -> bool:
    """Whether the answer says "I don't know" in so many words, and nothing of what was asked after it."""
    if _NOT_KNOWING.search(fold(answer)) is None:
        return False
    answer = without_thoughts(answer)[:_LONGEST]
    candidates, ends = _candidates_of(answer), False
    for clause, kind, _ in _clauses(_without_quotes(bare(answer), candidates), candidates):
        if kind is Kind.ANSWERS:
            ends = False
        elif kind is Kind.DECLINES and _NOT_KNOWING.search(clause):
            ends = True
    return ends


def without_refusals(claim: str) -> str:
    """The claim without its clauses that decline; empty if nothing else is left."""
    candidates = _candidates_of(claim)
    if not candidates:
        return claim
    if _reads_as_refusal(claim, candidates):
        return ""
    clauses = _split(claim)
    kept = [clause for clause in clauses if not _reads_as_refusal(clause, _candidates_of(clause))]
    return claim if len(kept) == len(clauses) else " ".join(clause.strip(" ,;") for clause in kept)


def _split(claim: str) -> list[str]:
    clauses, begin = [], 0
    for joint in [*joints(folded=False).finditer(claim), None]:
        clause = claim[begin : joint.start() if joint else None]
        begin = joint.end() if joint else len(claim)
        if clause.strip():
            clauses.append(clause)
    return clauses


def _candidates_of(answer: str) -> list[Language]:
    folded = fold(answer)
    return _candidates(folded, set(_WORD.findall(folded)))


def _candidates(folded: str, words: set[str]) -> list[Language]:
    """The languages in which an answer of these words may decline: most answers have no cue of any."""
    has_other_script = not folded.isascii() and _OTHER_SCRIPT.search(folded) is not None
    asks = "?" in folded
    if not asks and not has_other_script and words.isdisjoint(cues()):
        return []
    return [
        language
        for language in languages().values()
        if (has_other_script if language.has_own_script else asks or not words.isdisjoint(language.cues))
    ]


def _is_bare(text: str, candidates: list[Language]) -> bool:
    """Whether the answer is nothing but a mark that there is none: "n/a", "not specified"."""
    for language in candidates:
        lead = language.lead.match(text)
        rest = text[lead.end() if lead else 0 :].strip(" .!()[]*\"'\n,")
        if language.whole.fullmatch(rest) or language.whole.fullmatch(text.strip(" .!()[]*\"'\n,")):
            return True
    return False


def _without_quotes(text: str, candidates: list[Language]) -> str:
    """The text with what it quotes left out: others say that. A quotation that is the whole answer stays."""

    def replaced(match: re.Match[str]) -> str:
        before, after = text[: match.start()].rpartition("\n")[2], text[match.end() :].partition("\n")[0]
        is_alone = not after.strip(" .!)]}*") and any(
            (lead := language.lead.match(before + "\n")) and lead.end() >= len(before.rstrip(" ([{*"))
            for language in candidates
        )
        if is_alone:
            return match[0][1:-1]
        ends = match[0][-2] in ".!?…。" and after[:1] == " "  # 'on "Dancing on Ice." The show'
        return f"{_QUOTE}." if ends else _QUOTE

    return _QUOTED.sub(replaced, text).replace("*", "")


def _clauses(text: str, candidates: list[Language]) -> Iterator[tuple[str, Kind, bool]]:
    """The clauses of the text, what each does, and whether it asks. An item of a list does what its heading does."""
    begin, is_item, count = 0, False, 0
    of_list: Kind | None = None
    last = Kind.FILLER
    for stop in [*_STOP.finditer(text), None]:
        end = stop.start() if stop else len(text)
        sentence, begin = text[begin:end].strip(), stop.end() if stop else end
        if _WORD.search(sentence):
            count += 1
            if count > _MOST_CLAUSES:
                return
            is_question, is_label = bool(stop and stop["question"]), bool(stop and stop["colon"])
            if is_item and of_list in (Kind.FILLER, Kind.DECLINES):
                last = Kind.FILLER
                yield sentence, last, is_question
            else:
                for clause, kind in _clauses_of(sentence, candidates, is_question, is_label, last):
                    last = kind
                    yield clause, kind, is_question
                of_list = last if is_label or not is_item else of_list
        is_item = bool(stop and stop["item"] and _is_mark(stop["item"]))


def _is_mark(mark: str) -> bool:
    return mark.strip() in ("-", "*", "+", "•", "·", "–", "—") or mark[0].isalnum()


def _clauses_of(
    sentence: str, candidates: list[Language], is_question: bool, is_label: bool, last: Kind
) -> Iterator[tuple[str, Kind]]:
    """The clauses of a sentence; `last` is what the one before it does."""
    if is_question:
        asks = any(language.asks and language.asks.search(sentence) for language in candidates)
        yield sentence, Kind.ASKS if asks else _kind(sentence, candidates)
        return
    if _has_no_cue(sentence, candidates) and _kind(sentence, candidates) is Kind.ANSWERS and not is_label:
        yield sentence, Kind.ANSWERS  # most sentences
        return
    begin, covers = 0, False
    for joint in [*joints().finditer(sentence), None]:
        end = joint.start() if joint else len(sentence)
        clause, begin = sentence[begin:end].strip(" ,")[:_LONGEST_CLAUSE], joint.end() if joint else end
        if not _WORD.search(clause):
            continue
        kind = _kind(clause, candidates)
        if kind is Kind.ANSWERS and covers and any(_is_negated(clause, language) for language in candidates):
            kind = Kind.DECLINES
        covers = kind is Kind.COVERAGE
        if kind is Kind.ANSWERS and is_label and joint is None and _is_label(clause, candidates):
            kind = Kind.FILLER
        if kind is Kind.ANSWERS and last is Kind.FILLER and not re.search(r"[^\W\d_]", clause) and len(clause) > 4:
            kind = Kind.FILLER  # a number to call
        yield clause, kind


def _has_no_cue(sentence: str, candidates: list[Language]) -> bool:
    words = set(_WORD.findall(sentence))
    return all(not language.has_own_script and words.isdisjoint(language.cues) for language in candidates)


def _is_negated(clause: str, language: Language) -> bool:
    return language.negation is not None and language.negation.search(clause) is not None


def _is_label(clause: str, candidates: list[Language]) -> bool:
    return len(clause.split()) <= _WORDS_OF_LABEL and not any(
        language.reports and language.reports.search(clause) for language in candidates
    )


def _kind(clause: str, candidates: list[Language]) -> Kind:
    if any((lead := language.lead.match(f"{clause}\n")) and lead.end() >= len(clause) for language in candidates):
        return Kind.FILLER  # a label, or introductory words alone
    is_filler = covers = False
    words = set(_WORD.findall(clause))
    for language in candidates:
        lead = language.lead.match(clause)
        begin = lead.end() if lead else 0
        may_decline = language.has_own_script or not words.isdisjoint(language.cues)
        span = _refusal(clause, begin, language) if may_decline else None
        if span is not None:
            return Kind.ANSWERS if _answers_beside(clause, span, language) else Kind.DECLINES
        is_filler = is_filler or _matches(language.filler, clause, begin)
        covers = covers or _matches(language.coverage, clause, begin)
    return Kind.COVERAGE if covers else Kind.FILLER if is_filler else Kind.ANSWERS


def _matches(expression: Expression | None, clause: str, begin: int) -> bool:
    """Whether the clause begins with the expression, with its introductory words or without them."""
    if expression is None:
        return False
    return expression.match(clause, begin) is not None or (begin > 0 and expression.match(clause) is not None)


def _refusal(clause: str, begin: int, language: Language) -> tuple[int, int] | None:
    """Where the clause declines, if it does."""
    match = language.begins.match(clause, begin) or language.begins.match(clause)
    if match is None:
        for part in _PART.finditer(clause):
            lead = language.lead.match(clause, part.end())
            match = language.begins.match(clause, lead.end() if lead else part.end())
            if match:
                break
    for expression in (language.person, language.declines):
        match = match or (expression.search(clause) if expression else None)
    if match is None or (language.other and language.other.search(clause, match.start())):
        return None
    if language.reports and language.reports.search(clause, 0, match.end()):
        return None
    return match.span()


def _answers_beside(clause: str, span: tuple[int, int], language: Language) -> bool:
    """Whether a part of the clause between commas answers: with a verb, or with a number after what declines."""
    if language.has_own_script and re.search(r"\d", clause[span[1] :]):
        return True
    begin, is_joined = 0, False
    for comma in [*_COMMA.finditer(clause), None]:
        end = comma.start() if comma else len(clause)
        part, is_apart = clause[begin:end], begin >= span[1] or end <= span[0]
        is_after, begin = begin >= span[1], comma.end() if comma else end
        joined, is_joined = is_joined, bool(comma and comma[0].isspace() is False and comma[0].startswith(" "))
        if not is_apart or (language.subordinate and language.subordinate.match(part)):
            continue
        if language.filler and language.filler.match(part):
            continue
        speaks = language.finite is not None and language.finite.search(part) is not None
        if (is_after and re.search(r"\d", part)) or (speaks and not (is_after and joined)):
            return True
    return False

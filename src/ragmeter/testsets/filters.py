"""Which questions are none: what can be seen without asking anybody."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from ragmeter.metrics.normalize import fold, words
from ragmeter.metrics.offline.support.claims import OfflineSupport
from ragmeter.metrics.sentences import sentences
from ragmeter.testsets.questions import COMPARISON, FALSE_PREMISE, KEYWORDS, Passage, PlannedQuestion, Question
from ragmeter.testsets.words import content_words

EVIDENCE_NOT_FOUND, SPEAKS_OF_THE_TEXT, NO_QUESTION = "evidence_not_found", "speaks_of_the_text", "no_question"
NOT_KEYWORDS, GIVES_THE_ANSWER, NEAR_DUPLICATE = "not_keywords", "gives_the_answer", "near_duplicate"
COPIES_INSTRUCTIONS = "copies_instructions"
STANDS_ALONE, ONE_PASSAGE_SUFFICES = "stands_alone", "one_passage_suffices"
NOT_SUPPORTED, ANSWERED_ELSEWHERE, KNOWN = "not_supported", "answered_elsewhere", "known_without_passage"

_OF_THE_TEXT = re.compile(
    r"\b(?:the|this|that|given|provided|above|following) (?:passages?|texts?|documents?|articles?|excerpts?|paragraphs?"
    r"|contexts?|extracts?|snippets?)\b|\bpassage [12]\b|\baccording to (?:the|this) author\b"
    r"|\b(?:el|la|este|esta|del|al|los|estos) (?:pasajes?|textos?|documentos?|artículos?|fragmentos?|párrafos?"
    r"|extractos?)\b|\bpasaje [12]\b|\bsegún (?:el|la) autora?\b"
    r"|\b(?:le|ce|du|cet) (?:passage|texte|document|article|extrait|paragraphe)\b"
    r"|\b(?:der|dem|den|das|diesem|dieser) (?:text|textes|abschnitt|dokument|artikel|auszug|absatz)\b",
)
_BACK = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|then|one|ones|else|also"
    r"|él|ella|ellos|ellas|ello|eso|esa|ese|esas|esos|esto|esta|este|estas|estos|su|sus|suyo|allí|ahí|entonces|lo|les?"
    r"|también|otros?|otras?)\b|^(?:and|but|why|y|pero|por qué)\b",
)
#: The marker of a prompt's fence.
_FENCE_MARK = re.compile(r"\[[0-9a-f]{8}\]")
_ENDS = ("?", "？", "؟", ";")
_MOST_KEYWORDS = 12
#: So many words of the instructions don't stand in a reply by chance.
_COPIED = 3
#: Two questions are nearly one where they share so many of the words that either of them has.
_SAME = 0.75
_SHORTEST_EVIDENCE = 8
#: A sentence is the one that was meant where it shares so many words with the quotation, in the same order.
_NEARLY_QUOTED = 0.8
#: From this probability on a passage may support a statement, so that the model is asked.
DOUBT, SURE = 0.25, 0.5
#: So many passages that share most words with a question are looked at more closely.
_KEPT, _NEAREST = 10, 3


def quoted(passage: str, evidence: str) -> str | None:
    """The part of a passage that a quotation is: the same words in the same order, as the passage has them.

    Where a model has changed a word or two, or says that it quotes, it is the sentence that was meant. A figure that
    does not stand there is no slip.
    """
    for text in (evidence, evidence.partition(":")[2]):
        meant = _words(text)
        is_long = sum(map(len, meant)) >= _SHORTEST_EVIDENCE
        if is_long and (match := re.search(r"\W+".join(map(re.escape, meant)), passage, re.IGNORECASE)):
            return match[0]
    meant = _words(evidence)
    nearest, best = None, _NEARLY_QUOTED
    for sentence in sentences(passage):
        own = _words(sentence)
        is_there = sentence in passage and {word for word in meant if word.isnumeric()} <= set(own)
        likeness = SequenceMatcher(None, meant, own, autojunk=False).ratio() if is_there else 0.0
        if likeness >= best:
            nearest, best = sentence, likeness
    return nearest


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", _FENCE_MARK.sub(" ", text).casefold())


def problem_of(question: Question, history: Sequence[Question] = ()) -> str:
    """Why a question is none, by its own words; empty if it may be one."""
    text, kind = fold(question.text), question.planned.kind
    if kind == KEYWORDS and not history:
        if len(words(text)) > _MOST_KEYWORDS or text.endswith(_ENDS) or not _shares_words(question):
            return NOT_KEYWORDS
    elif not text.rstrip().endswith(_ENDS):
        return NO_QUESTION
    if _OF_THE_TEXT.search(text):
        return SPEAKS_OF_THE_TEXT
    language = question.planned.passages[0].language
    answer = set(content_words(question.reference, language))
    if kind not in (COMPARISON, FALSE_PREMISE) and answer and answer <= set(content_words(question.text, language)):
        return GIVES_THE_ANSWER
    return STANDS_ALONE if history and not _BACK.search(text) else ""


def _shares_words(question: Question) -> bool:
    """Whether a query has at least a word of its passage that carries meaning."""
    passage = question.planned.passages[0]
    own = content_words(question.text, passage.language)
    return not set(own).isdisjoint(content_words(passage.text, passage.language))


def _stands_in(part: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


@dataclass
class Duplicates:
    """Says of one question after another whether it is nearly one of those before that were taken."""

    _bags: list[frozenset[str]] = field(default_factory=list)
    _by_word: dict[str, list[int]] = field(default_factory=dict)

    def has(self, question: Question) -> bool:
        """Whether one before has nearly the same words."""
        bag = self._bag(question)
        shared = Counter(number for word in bag for number in self._by_word.get(word, ()))
        return any(count >= _SAME * len(bag | self._bags[number]) for number, count in shared.items())

    def add(self, question: Question) -> None:
        """Take a question."""
        bag = self._bag(question)
        self._bags.append(bag)
        for word in bag:
            self._by_word.setdefault(word, []).append(len(self._bags) - 1)

    @staticmethod
    def _bag(question: Question) -> frozenset[str]:
        folded = fold(question.text)
        return frozenset(
            content_words(question.text, question.planned.passages[0].language) or words(folded) or [folded]
        )


def copies(reply: Mapping[str, str], instructions: str) -> bool:
    """Whether a reply has words of the instructions where its own should be."""
    texts = [text.strip(" .") for text in reply.values()]
    return any(len(text.split()) >= _COPIED and text in instructions for text in texts)


def is_stated(question: Question) -> bool:
    """Whether the answer stands in one of the passages, word for word."""
    answer = fold(question.reference).strip(" .\"'")
    return bool(answer) and any(_stands_in(answer, fold(passage.text)) for passage in question.planned.passages)


def support(questions: Sequence[Question], texts: Sequence[str]) -> list[float]:
    """The probability that each text supports the answer of its question, by the offline support model."""
    return _chances([question.reference for question in questions], texts)


def _chances(claims: Sequence[str], texts: Sequence[str]) -> list[float]:
    rows = OfflineSupport().chances([[claim] for claim in claims], list(texts)) if claims else []
    return [chances[0] for chances in rows]


@dataclass(frozen=True)
class Elsewhere:
    """A passage that was not asked about, and the probability that it supports the evidence of a question."""

    passage: Passage
    chance: float


def elsewhere(
    questions: Sequence[Question], passages: Iterable[Passage], held_out: frozenset[str]
) -> list[list[Elsewhere]]:
    """For each question the other passages that may answer it, the likeliest first. The passages are read once.

    `held_out` are the sources that the system is not to have: nothing in them counts.
    """
    bags = [_query(question) for question in questions]
    asking: dict[str, list[int]] = {}
    for number, bag in enumerate(bags):
        for word in bag:
            asking.setdefault(word, []).append(number)
    frequencies: Counter[str] = Counter()
    nearest: list[list[tuple[int, int, Passage, frozenset[str]]]] = [[] for _ in questions]
    golds = [{passage.id for passage in question.planned.passages} for question in questions]
    for place, passage in enumerate(passages):
        if passage.source in held_out:
            continue
        hits = asking.keys() & set(content_words(passage.text, passage.language))
        frequencies.update(hits)
        for number, shared in Counter(number for word in hits for number in asking[word]).items():
            if passage.id not in golds[number]:
                entry = (shared, -place, passage, frozenset(hits & bags[number]))
                push = heapq.heappush if len(nearest[number]) < _KEPT else heapq.heappushpop
                push(nearest[number], entry)
    rows = [
        sorted(heap, key=lambda entry: (-sum(1 / math.log(2 + frequencies[word]) for word in entry[3]), -entry[1]))
        for heap in nearest
    ]
    pairs = [(number, entry[2]) for number, row in enumerate(rows) for entry in row[:_NEAREST]]
    claims = [_claim(questions[number]) for number, _ in pairs]
    found: list[list[Elsewhere]] = [[] for _ in questions]
    for (number, passage), chance in zip(pairs, _chances(claims, [passage.text for _, passage in pairs]), strict=True):
        if chance >= DOUBT:
            found[number].append(Elsewhere(passage, chance))
    return [sorted(row, key=lambda other: -other.chance) for row in found]


def _query(question: Question) -> frozenset[str]:
    language = question.planned.passages[0].language
    return frozenset(content_words(f"{question.text} {question.reference} {_claim(question)}", language))


def _claim(question: Question) -> str:
    """What another passage must say to answer the question: an answer of a few words says too little."""
    return question.evidence[0] if question.evidence else question.reference


def written(planned: PlannedQuestion, texts: dict[str, str]) -> Question | str:
    """A question of a reply's texts, with the evidence as its passages have it; or why there is none."""
    evidence = [text for key, text in texts.items() if key.startswith("sentence")]
    parts = [quoted(passage.text, text) for passage, text in zip(planned.passages, evidence, strict=True)]
    if not all(parts):
        return EVIDENCE_NOT_FOUND
    return Question(
        planned, texts.get("question") or texts["keywords"], texts["answer"], tuple(part for part in parts if part)
    )

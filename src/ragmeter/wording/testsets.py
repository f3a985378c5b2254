"""What a test set is and what it is good for, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ragmeter.documents.testset import Acceptance, TestSetCard, Texts
from ragmeter.documents.usage import Usage
from ragmeter.hints import parameter
from ragmeter.wording.judging import PLAIN, WARNING, Line
from ragmeter.wording.numbers import interval, money, number, percent, rounded_percent

#: The kinds of questions in words.
KINDS = {
    "keywords": "keyword queries",
    "fact": "facts",
    "how_why": "how or why",
    "comparison": "comparisons of two passages",
    "false_premise": "false premises",
    "unanswerable": "unanswerable",
}
#: Why something is no question, or no passage to ask about.
CAUSES = {
    "unparsable": "the reply could not be read",
    "refused": "the model refused",
    "timeout": "no reply in time",
    "judge_error": "the model could not be reached",
    "skipped_budget": "the limit was reached",
    "evidence_not_found": "the evidence does not stand in the passage",
    "speaks_of_the_text": "speaks of a text",
    "no_question": "is no question",
    "not_keywords": "is no keyword query",
    "gives_the_answer": "its answer says no more than it does",
    "copies_instructions": "words of the instructions",
    "near_duplicate": "nearly the same as another",
    "stands_alone": "does not need the conversation",
    "one_passage_suffices": "one passage suffices",
    "not_supported": "the passage does not support the answer",
    "answered_elsewhere": "another document answers it",
    "known_without_passage": "known without the passage",
    "nothing_to_ask": "nothing to ask about",
    "kind_needs_model": "a kind that only a model writes",
    "language_needs_model": "not in English or Spanish: only a model writes in other languages",
    "too_short": "too short",
    "boilerplate": "no running text",
    "not_text": "no text file",
    "pdf_locked": "PDF locked with a password",
    "pdf_damaged": "damaged PDF",
    "pdf_without_text": "PDF without text",
    "unknown_format": "files of other formats",
    "repeated_paragraphs": "paragraphs that many documents have",
}
_STOPPED = {
    "budget": "the limit was reached; the same command with a higher one goes on, and what is there costs nothing",
    "no_passages_left": "there is no passage left that was not tried",
    "nothing_taken": "none of the last 50 drafts was a question; is the model able to do this?",
}
GOOD_FOR = "What this test set is good for"
FIT = "fit to rank retrievers; not shown to rank generators"
FIT_OFFLINE = (
    "written without a model, from words of the passages: not fit to decide which of two good retrievers is better, "
    "only to find those that are far behind; docs/test-sets.md says how far they agree with people's questions. There "
    "are no answers: generators can't be measured"
)


def cause_words(cause: str) -> str:
    """A cause in words."""
    return CAUSES.get(cause, cause.replace("_", " "))


def counts(by_name: Mapping[str, int], words: Mapping[str, str] | None = None) -> str:
    """How many of each: `facts 7, how or why 4`."""
    known = words or {}
    return ", ".join(f"{known.get(name, name.replace('_', ' '))} {count:,}" for name, count in by_name.items())


def plan_lines(estimate: Mapping[str, Any]) -> Iterator[Line]:
    """What there is to ask about, and what is to be asked."""
    left = f"; left out: {counts(estimate['left_out'], CAUSES)}" if estimate["left_out"] else ""
    yield (
        f"{estimate['documents']:,} documents, {estimate['passages']:,} passages, {estimate['usable_passages']:,} of "
        f"them to ask about{left}",
        PLAIN,
    )
    yield f"{estimate['questions']:,} questions: {counts(estimate['kinds'], KINDS)}", PLAIN
    if estimate["held_out"]:
        names = ", ".join(estimate["held_out"][:5]) + (" …" if len(estimate["held_out"]) > 5 else "")
        yield f"held out, so that their questions have no answer: {names}", PLAIN
    if line := lacking_line(estimate["kinds_without_passages"]):
        yield line, WARNING


def lacking_line(kinds: list[str]) -> str:
    """That some kinds can't be asked about these documents; empty if all can."""
    return f"too few documents for {', '.join(KINDS[kind] for kind in kinds)}: others take their place" if kinds else ""


def cost_lines(estimate: Mapping[str, Any]) -> Iterator[Line]:
    """What writing takes."""
    cost = estimate["cost_usd"]
    price = f"the price is not known ({parameter('prices')})" if cost is None else money(cost)
    most = "" if estimate["most_cost_usd"] is None else f", {money(estimate['most_cost_usd'])}"
    yield (
        f"about {estimate['calls']:,} calls, and {estimate['recorded']:,} recorded before: "
        f"{estimate['prompt_tokens']:,} tokens in and {estimate['completion_tokens']:,} out; {price}",
        PLAIN,
    )
    yield (
        f"with checks in doubt about {estimate['most_calls']:,} calls{most}; more for drafts that are replaced "
        f"({parameter('budget')} and {parameter('max_calls')} set limits)",
        PLAIN,
    )


def card_lines(card: TestSetCard, usage: Usage | None) -> Iterator[Line]:
    """The card."""
    writer = f"by {card.writer}" if card.writer else "without a model"
    yield f"{card.written:,} questions {writer} about {card.documents:,} documents: {counts(card.kinds, KINDS)}", PLAIN
    for group, by_category in card.categories.items():
        yield f"{group}: {counts(by_category)}", PLAIN
    if card.rejected:
        yield f"{card.drafts:,} drafts, of which {sum(card.rejected.values()):,} are no questions: ", PLAIN
        for cause, count in card.rejected.items():
            example = f', for example "{card.examples[cause]}"' if card.examples.get(cause) else ""
            yield f"  {count:,} {cause_words(cause)}{example}", PLAIN
    if card.left_out:
        yield f"left out of the documents: {counts(card.left_out, CAUSES)}", PLAIN
    if card.second_golds:
        yield f"{card.second_golds:,} questions have a second gold passage, which answers them as well", PLAIN
    yield from _texts_lines(card.texts, card.like)
    if usage is not None:
        cost = "the price is not known" if usage.cost_usd is None else money(usage.cost_usd)
        yield (
            f"{usage.calls:,} calls, {usage.prompt_tokens:,} tokens in and {usage.completion_tokens:,} out; {cost}",
            PLAIN,
        )
    yield from _worth_lines(card)
    if card.written < card.wanted:
        yield shortfall(card), WARNING


def _texts_lines(texts: Texts, like: Texts | None) -> Iterator[Line]:
    def shown(some: Texts) -> str:
        overlap = "" if some.overlap is None else f", {rounded_percent(some.overlap, 0)} of their words in the passage"
        return f"{number(some.words, decimals=0)} words{overlap}"

    beside = f"; real ones: {shown(like)} ({like.questions:,} questions)" if like else ""
    yield f"half of the questions have up to {shown(texts)}{beside}", PLAIN


def _worth_lines(card: TestSetCard) -> Iterator[Line]:
    """What the set is good for."""
    yield (FIT if card.writer else FIT_OFFLINE), PLAIN
    if card.writer:
        yield (
            f"a system or a judge of the same model family as {card.writer} may look better than it is",
            WARNING,
        )
    if (check := card.check) is not None:
        half = f"; two halves of the real questions agree at {number(check.split_half)}" if check.split_half else ""
        yield (
            f"{check.systems} systems by {check.metric}: Kendall's tau with real questions {number(check.tau)} "
            f"(95%: {interval(check.interval)}){half}",
            PLAIN,
        )
        if check.family:
            yield f"of the writer's model family: {', '.join(check.family)}", WARNING
    if (people := card.people) is not None:
        yield people_line(people), PLAIN
    else:
        yield "no person has looked at them yet: `ragmeter label RUN --n 20`", WARNING


def people_line(people: Acceptance) -> str:
    """What people say of the questions."""
    return (
        f"people accept {percent(people.rate, decimals=0)} of {people.labelled:,} questions (95%: "
        f"{' to '.join(rounded_percent(bound, 0) for bound in people.interval or ())}); nobody would ask "
        f"{people.no_user:,}, wrong answer {people.wrong:,}, not in the passage {people.not_in_passage:,}"
    )


def shortfall(card: TestSetCard) -> str:
    """That there are fewer questions than were wanted, and why."""
    return f"{card.written:,} of {card.wanted:,} questions: {_STOPPED.get(card.stopped_by, card.stopped_by)}"

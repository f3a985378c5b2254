"""Forms of a reply and their strict readers: only a whole reply of the form counts, never a word in a sentence."""

from __future__ import annotations

import json
import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from ragmeter.definition.judge_columns import Form, ResponseFormat
from ragmeter.io.decoding import JsonObject

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_BLOCK = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL | re.IGNORECASE)
_MARKS = "*_\"'`"
#: About so many tokens has a word, and an object with a reason.
_WORD_TOKENS, _OBJECT_TOKENS = 2, 40
#: The least probability that a reply begins with one of the words at all, for its first token to be read.
_LIKELY = 0.5


@dataclass(frozen=True)
class _OneValue(Form):
    """One word or number; with a reason, an object whose first key, the name, has it."""

    name: str

    @abstractmethod
    def _values(self) -> Sequence[str | int]:
        """The values that the model may reply."""

    def response_format(self, *, reasons: bool) -> ResponseFormat | None:
        """The JSON schema of a reply with a reason; None for one word, a form that servers can't enforce."""
        values = self._values()
        kind = "string" if isinstance(values[0], str) else "integer"
        return _schema(self.name, {"type": kind, "enum": list(values)}) if reasons else None

    def choices(self, *, reasons: bool) -> tuple[str, ...]:
        """A reason is more than a word or a number."""
        return () if reasons else tuple(map(str, self._values()))

    def reply_tokens(self, sent: Mapping[str, str], *, reasons: bool) -> int:
        """A word or a number, or an object."""
        return _OBJECT_TOKENS if reasons else _WORD_TOKENS

    def _said(self, reply: str) -> tuple[Any, Any]:
        """The value and the reason, as the model gave them: the whole reply is the value, or an object that has it."""
        text = bare_reply(reply)
        word = _word(text, self.name)
        document = json_object(text) or {} if word is None else {self.name: word}
        return document.get(self.name), document.get("reason")


@dataclass(frozen=True)
class Choice(_OneValue):
    """One word of a few. `words` maps what the model is asked to say to the values that stand for it, the higher first;
    `also` are other words that are understood.
    """

    words: Mapping[str, str]
    also: Mapping[str, str] = field(default_factory=dict)

    def _values(self) -> Sequence[str]:
        return list(self.words)

    def instruction(self, *, reasons: bool) -> str:
        """One word; with a reason, an object whose first key is the word."""
        choices = " or ".join(self.words)
        return _with_reason(self.name, choices) if reasons else f"Reply with one word, {choices}."

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """The word, or an object that has it."""
        word, given_reason = self._said(reply)
        value = self._accepted.get(word.strip().casefold()) if isinstance(word, str) else None
        reason = "" if given_reason is None else given_reason
        return {"value": value, "reason": reason} if value is not None and isinstance(reason, str) else None

    def probability(self, logprobs: Mapping[str, float]) -> float | None:
        """The probability of the first word among the allowed ones; None if the reply likely begins with another."""
        chances = _chances(self.words, logprobs) if logprobs else {}
        total = sum(chances.values())
        return chances[next(iter(self.words))] / total if total >= _LIKELY else None

    @cached_property
    def _accepted(self) -> dict[str, str]:
        return {name.casefold(): value for name, value in {**self.also, **self.words}.items()}


@dataclass(frozen=True)
class Scale(_OneValue):
    """A whole number between two ends."""

    low: int
    high: int

    def _values(self) -> Sequence[int]:
        return range(self.low, self.high + 1)

    def instruction(self, *, reasons: bool) -> str:
        """A number; with a reason, an object whose first key is the number."""
        numbers = f"a whole number from {self.low} (worst) to {self.high} (best)"
        return _with_reason(self.name, numbers) if reasons else f"Reply with one number and nothing else: {numbers}."

    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """The number, or an object that has it. A number beyond the ends is no reply."""
        number, given_reason = self._said(reply)
        reason = given_reason or ""
        if isinstance(number, bool) or not isinstance(reason, str):
            return None
        if isinstance(number, str) and re.fullmatch(r"[+-]?\d{1,6}(\.0)?", number.strip()):
            number = int(float(number))
        if not isinstance(number, int) or not self.low <= number <= self.high:
            return None
        return {"value": str(number), "reason": reason}


def first_choice(choices: Sequence[str], logprobs: Mapping[str, float]) -> str | None:
    """The word that a reply begins with, by the log-probabilities of its first token.

    None if it begins with none of them more likely than not, or two are as likely.
    """
    chances = _chances(choices, logprobs)
    likely = [choice for choice, chance in chances.items() if chance == max(chances.values())]
    return likely[0] if len(likely) == 1 and sum(chances.values()) >= _LIKELY else None


def _chances(words: Iterable[str], logprobs: Mapping[str, float]) -> dict[str, float]:
    """The probability that a reply begins with each word; by first letters, for a token may be a part of a word."""
    chances = dict.fromkeys(words, 0.0)
    for token, logprob in logprobs.items():
        start = token.strip().casefold()
        for word in chances:
            if start and word.casefold().startswith(start):
                chances[word] += math.exp(min(logprob, 0.0))
    return chances


def choice_grammar(choices: Sequence[str]) -> str:
    """A grammar that allows one of these words, as llama.cpp's server understands it."""
    return "root ::= " + " | ".join(json.dumps(choice) for choice in choices)


def _with_reason(name: str, values: str) -> str:
    return (
        f'Reply with one JSON object and nothing else: first the key "{name}" with {values}, then the key "reason" '
        "with one short sentence."
    )


def bare_reply(reply: str) -> str:
    """The reply without a model's thoughts before it, in the tags that such models use, and without a code block."""
    text = reply.removeprefix("\ufeff")
    thought = _THOUGHT.match(text)
    text = text[thought.end() if thought else 0 :].strip()
    block = _BLOCK.match(text) if text.startswith("`") else None
    return block[1].strip() if block else text


def _word(text: str, name: str) -> str | None:
    """The word, if the text is one word or number and nothing else but marks, or `name: word`."""
    match = _word_pattern(name).match(text)
    return match[1] if match else None


@cache
def _word_pattern(name: str) -> re.Pattern[str]:
    pattern = rf"\A(?:[*_]*{name}[*_]*\s*[:=][*_]*\s*)?[{_MARKS}]*([^\W_]+|[+-]?\d+(?:\.0)?)[{_MARKS}]*[.!]?\Z"
    return re.compile(pattern, re.IGNORECASE)


def json_object(text: str) -> JsonObject | None:
    """The object that is all of a reply; None where it is none, or one of its keys stands twice."""
    try:
        document = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _without_twins(pairs: list[tuple[str, Any]]) -> JsonObject:
    """An object whose keys are each there once: of two verdicts in one reply, neither counts."""
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key stands twice")
    return document


_DECODER = json.JSONDecoder(object_pairs_hook=_without_twins, strict=False)  # line breaks inside a reason


def _schema(name: str, value: Mapping[str, object]) -> ResponseFormat:
    return {
        "type": "json_schema",
        "json_schema": {
            "name": name,
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {name: dict(value), "reason": {"type": "string"}},
                "required": [name, "reason"],
                "additionalProperties": False,
            },
        },
    }

"""A judge that is asked to fill one column: each verdict with its repeats and tries, and what it would cost."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from ragmeter.definition.judge_columns import IMAGE, JudgeColumn, PerCall
from ragmeter.effects.limits.caller import Caller, Failure
from ragmeter.effects.network.endpoint import digest
from ragmeter.effects.replies.journal import Journal, Reply
from ragmeter.judges.asking.forms import bare_reply, choice_grammar, first_choice
from ragmeter.judges.asking.judgement import Judgement, majority
from ragmeter.judges.asking.pictures import Pictures
from ragmeter.judges.asking.prompt import BYTES_OF_TOKEN, Prompt
from ragmeter.models.port import ChatProvider, ChatReply, Messages, Parameters
from ragmeter.table import REFUSED, SCORED, UNPARSABLE, Row
from ragmeter.wording.texts import shortened, visible

if TYPE_CHECKING:
    from ragmeter.judges.asking.judge import Judge

#: Tokens that a server adds around messages.
_FRAME = 50
#: How many likely first tokens a server is asked for.
_TOP_TOKENS = 5
#: How much warmer each further try is, up to the warmest: at the same temperature many a model says the same again.
_WARMER, _WARMEST = 0.3, 0.9
#: So many characters are shown of a reply that can't be read.
_SHOWN_OF_REPLY = 200


class _Call:
    """How a call is made: in which words, with which parameters, and filed under which `call_key`."""

    def __init__(self, judge: Judge, declaration: JudgeColumn, call_key: str) -> None:
        self.judge, self.form, self.call_key = judge, declaration.form, call_key
        self.prompt = Prompt(declaration, reasons=judge.reasons)
        self.choices = declaration.form.choices(reasons=judge.reasons)
        form = declaration.form.response_format(reasons=judge.reasons)
        self._parameters: Parameters = {
            "max_tokens": judge.max_tokens,
            **({} if form is None else {"response_format": form}),
            **({"grammar": choice_grammar(self.choices)} if judge.grammar and self.choices else {}),
            **({} if judge.reasons else {"logprobs": True, "top_logprobs": _TOP_TOKENS}),
        }

    def parameters(self, repeat: int, attempt: int) -> Parameters:
        """The parameters of a try: another seed, and a higher temperature than that of the unreadable try before."""
        temperature = max(self.judge.temperature, min(_WARMER * attempt, _WARMEST))
        seed = self.judge.seed + 1000 * repeat + attempt
        return {"temperature": temperature, "seed": seed, **self._parameters}


class ColumnJudge:
    """A judge that is asked to fill one column: `asked` has its words.

    A call with certain texts, about a single claim for one, may have words and a form of its own.
    """

    def __init__(self, judge: Judge, declaration: JudgeColumn) -> None:
        self.judge = judge
        self.declaration = judge.worded(declaration)
        call_key = judge.call_key(declaration)
        self._usual = _Call(judge, self.declaration, call_key)
        self._variants = [(fits, _Call(judge, variant, call_key)) for fits, variant in self.declaration.variants]
        self._tried: dict[str, int] = {}

    async def ask(
        self, caller: Caller, client: ChatProvider, values: Mapping[str, str], *, retry: bool = False
    ) -> Judgement:
        """Judge one row through a caller that paces, budgets and remembers. `values` are the columns' texts.

        `retry` asks anew where all recorded replies are unreadable or refusals.
        """
        if self.judge.repeats == 1:
            return await self._repeat(caller, client, values, 0, retry)
        repeats = (self._repeat(caller, client, values, number, retry) for number in range(self.judge.repeats))
        return majority(await asyncio.gather(*repeats), self._call(values).form.agreed)

    async def _repeat(
        self, caller: Caller, client: ChatProvider, values: Mapping[str, str], repeat: int, retry: bool
    ) -> Judgement:
        """One verdict; asked for again where the reply can't be read, and read as far as replies are recorded."""
        judgement = Judgement(UNPARSABLE, verdicts=(None,))
        replies: list[str] = []
        before = self._n_replies_before_retry(caller.journal, values, repeat) if retry else 0
        for attempt in count():
            key = self.key(values, repeat, attempt)
            if self._asks_no_more(judgement, attempt - before) and key not in caller.journal:
                return judgement
            call = self._call(values)
            messages = partial(call.prompt.messages, values, again=attempt > 0)
            send = partial(_send, client, messages, call.parameters(repeat, attempt), self.judge.pictures)
            reply = await caller.ask(key, send, worst=self.most(values))
            if isinstance(reply, Failure):
                return Judgement(reply.outcome, None, "", (None,), tuple(replies), reply.cause)
            judgement = self._read(ChatReply.from_reply(reply), values, replies)
            if judgement.verdict is not None:
                return judgement
        raise AssertionError  # the loop ends by itself

    def _n_replies_before_retry(self, journal: Journal, values: Mapping[str, str], repeat: int) -> int:
        """How many replies the journal had when this judge was first asked to try again."""
        first = self.key(values, repeat, 0)
        if first not in self._tried:
            self._tried[first] = next(n for n in count() if self.key(values, repeat, n) not in journal)
        return self._tried[first]

    def _read(self, reply: ChatReply, values: Mapping[str, str], replies: list[str]) -> Judgement:
        """The value and reason that a reply gives; it is added to the `replies` before it."""
        replies.append(reply.content or "")
        if reply.declined:
            return Judgement(REFUSED, None, "", (None,), tuple(replies), reply.declined)
        call = self._call(values)
        text = first_choice(call.choices, reply.logprobs or {}) if reply.cut_off else replies[-1]
        columns = None if text is None else call.form.read(text, values)
        if columns is None:
            form = (
                f"in the form of {self.declaration.name}"
                if self.declaration.structured
                else f"a {self.declaration.name}"
            )
            cause = call.form.problem(replies[-1], values) or f"not {form}"
            cause = "cut off at max_tokens" if reply.cut_off else cause
            unread = visible(shortened(bare_reply(replies[-1]) or replies[-1], _SHOWN_OF_REPLY)) or "an empty reply"
            return Judgement(UNPARSABLE, None, "", (None,), tuple(replies), cause, unread=unread)
        value, reason = columns["value"], columns.get("reason", "")
        chance = call.form.probability(reply.logprobs or {})
        return Judgement(SCORED, value, reason, (value,), tuple(replies), probability=chance)

    def _call(self, values: Mapping[str, str]) -> _Call:
        return next((call for fits, call in self._variants if fits(values)), self._usual)

    def key(self, values: Mapping[str, str], repeat: int, attempt: int) -> str:
        """The journal's key of a reply."""
        return reply_key(self._call(values).call_key, values, repeat, attempt)

    def n_recorded_repeats(self, journal: Journal, values: Mapping[str, str], *, retry: bool = False) -> int:
        """How many of a row's repeats take no call, because of what a journal has; `retry` as in `ask`."""
        return sum(self._needs_no_call(journal, values, repeat, retry) for repeat in range(self.judge.repeats))

    def _needs_no_call(self, journal: Journal, values: Mapping[str, str], repeat: int, retry: bool) -> bool:
        judgement = self.recorded_judgement(journal, values, repeat)
        return judgement is not None and (judgement.verdict is not None or not retry)

    def n_recorded_replies(self, journal: Journal, values: Mapping[str, str]) -> int:
        """How many replies about a row a journal has."""
        of_repeats = (
            next(attempt for attempt in count() if self.key(values, repeat, attempt) not in journal)
            for repeat in range(self.judge.repeats)
        )
        return sum(of_repeats)

    def recorded_judgement(self, journal: Journal, values: Mapping[str, str], repeat: int = 0) -> Judgement | None:
        """What recorded replies say of a row; None if it is still to be asked about."""
        replies: list[str] = []
        judgement = Judgement(UNPARSABLE)
        while (reply := journal.get(self.key(values, repeat, len(replies)))) is not None:
            judgement = self._read(ChatReply.from_reply(reply), values, replies)
            if judgement.verdict is not None:
                return judgement
        return judgement if self._asks_no_more(judgement, len(replies)) else None

    def _asks_no_more(self, judgement: Judgement, n_replies: int) -> bool:
        """Whether no further reply is asked for. The last of so many was read as `judgement`, which has no value."""
        return n_replies >= self.judge.tries or (judgement.outcome == REFUSED and n_replies > 0)

    def estimate(self, values: Mapping[str, str]) -> tuple[int, int]:
        """About how many tokens one call takes and gives: four bytes a token."""
        call = self._call(values)
        reply = call.form.reply_tokens(values, reasons=self.judge.reasons)
        return call.prompt.size(values) // BYTES_OF_TOKEN + _FRAME, min(reply, self.judge.max_tokens)

    def estimate_all(
        self, rows: Iterable[Mapping[str, str]], journal: Journal, *, retry: bool = False, seen: set[str] | None = None
    ) -> dict[str, int]:
        """About how many calls and tokens these rows take. Equal rows are asked about once, recorded ones not again.

        `retry` as in `ask`; `seen` has the keys of rows that were counted before, and gets those of these.
        """
        total = Counter(calls=0, recorded=0, prompt_tokens=0, completion_tokens=0)
        seen = set() if seen is None else seen
        for values in rows:
            key = self.key(values, 0, 0)
            if key in seen:
                continue
            seen.add(key)
            recorded = self.n_recorded_repeats(journal, values, retry=retry)
            calls = self.judge.repeats - recorded
            prompt, completion = self.estimate(values)
            tokens = {"prompt_tokens": calls * prompt, "completion_tokens": calls * completion}
            total.update(calls=calls, recorded=recorded, **tokens)
        return dict(total)

    def cost(self, values: Mapping[str, str]) -> float:
        """About what the calls for a row cost, in dollars; 0 where the price is not known."""
        return 0.0 if self.judge.price is None else self.judge.price.of(*self.estimate(values)) * self.judge.repeats

    def most(self, values: Mapping[str, str]) -> float:
        """The most that one call can cost, in dollars; 0 where the price is not known: a token is at least a byte."""
        price = self.judge.price
        if price is None:
            return 0.0
        return price.of(self._call(values).prompt.size(values, again=True) + _FRAME, self.judge.max_tokens)


async def _send(
    client: ChatProvider, messages: Callable[[], Messages], parameters: Parameters, pictures: Pictures | None
) -> Reply:
    sent = messages()
    for message in sent:
        if pictures is not None and IMAGE in message:
            message[IMAGE] = await pictures.sent(message[IMAGE])
    return await client.send(sent, parameters)


def most_of_a_call(judge: Judge, prompt_tokens: float) -> float:
    """About the most that a call can cost whose prompt takes about so many tokens; 0 where the price is not known."""
    size = (prompt_tokens - _FRAME) * BYTES_OF_TOKEN
    return 0.0 if judge.price is None else judge.price.of(size + _FRAME, judge.max_tokens)


def reply_key(call_key: str, values: Mapping[str, str], repeat: int, attempt: int) -> str:
    """The journal's key of a reply, made of the judge's `call_key` and the texts."""
    return digest([call_key, dict(values), repeat, attempt])


def shown_texts(declaration: JudgeColumn, row: Row) -> dict[str, str]:
    """What a model is shown of a row: each column as a text, several references each on its line."""
    return {name: _as_text(name, row.get(name)) for name in declaration.needs}


def texts_of_calls(declaration: JudgeColumn, row: Row, per_call: PerCall) -> list[dict[str, str]]:
    """The texts of each call that a row takes."""
    return [shown_texts(declaration, row)] if declaration.parts is None else declaration.parts.split(row, per_call)


def _as_text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence):
        if name == "reference":
            return "\nor: ".join(str(text) for text in value)
        return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(value, 1))
    return str(value)

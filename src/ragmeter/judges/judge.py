"""A model that fills asked columns: asked as often as was agreed, and never believed further than it can be read."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from ragmeter.asked import Asked
from ragmeter.effects.caller import Caller, Failure
from ragmeter.effects.calls import Limits, run_calls
from ragmeter.effects.endpoint import digest
from ragmeter.effects.journal import Journal, Reply
from ragmeter.effects.pace import Retries
from ragmeter.effects.patience import GIVE_UP_AFTER
from ragmeter.errors import UsageError
from ragmeter.hints import option, parameter
from ragmeter.judges.cascade import Cascade
from ragmeter.judges.forms import choice_grammar, first_choice
from ragmeter.judges.judgement import Judgement, majority
from ragmeter.judges.prices import Price, price_of, read_prices
from ragmeter.judges.prompt import Prompt, prompt_hash, read_words
from ragmeter.judges.providers.port import ChatProvider, ChatReply
from ragmeter.judges.providers.registry import endpoint_of, open_provider
from ragmeter.judges.verdict import OWN_FORM, verdict
from ragmeter.table import REFUSED, SCORED, UNPARSABLE

DEFAULT_EVAL_MODEL = "gpt-4o"
MAX_EVAL_TOKENS = 1024
MAX_API_RETRIES = 3
#: Tokens that a server adds around messages.
_FRAME = 50
#: How many likely first tokens a server is asked for.
_TOP_TOKENS = 5
_GIVE_UP_OPTION = option("give_up_after", of="judge")


class Judge:
    """A chat model that judges answers: whom to ask, how, how often, and within what limits.

    Args:
        model: the model's name; `anthropic:NAME` and `gemini:NAME` are asked in these vendors' own formats.
        base_url: any OpenAI-compatible endpoint; without it OPENAI_BASE_URL, or the vendor's own.
        api_key: the endpoint's key; without it OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY.
        headers: more headers, as `Name: value` or a mapping; `$NAME` in a value is taken from the environment.
        api_version: the version of the endpoint's API, which Azure wants.
        provider: whom to ask in place of all that; `FakeProvider` in tests.
        cascade: has the offline judge decide where it is sure, for metrics with `judge=cascade`.
        prompt: a file with words of your own; `{answer}` and the like stand for the table's columns.
        reasons: ask for a short reason after each verdict. It costs tokens, and is shown in the report.
        temperature: 0 by default, for verdicts that come out the same again.
        seed: sent along; repeats and second tries count up from it.
        max_tokens: the longest reply. With 1, a verdict of one word is read off the first token's log-probabilities.
        repeats: how often each answer is judged; the majority counts.
        tries: how often a judgement that can't be read is asked for before it counts as unparsable.
        timeout: seconds for a reply.
        retries: how often a call that failed is made again.
        give_up_after: seconds without any success after which judging stops; what was recorded is not asked again.
        prices: a file of prices, where ours does not know the model.
        grammar: have the server allow nothing but the words of a verdict, where a reply is one word; llama.cpp can.
        claims_per_call: how many claims the model is asked about in one call. Small models do better with 1.
        workers: how many calls may be under way at once.
        budget: the most that a run's judging may cost, in dollars.
        max_calls: the most calls that a run's judging may make.
        check: try the judge on built-in cases with known verdicts before it is asked anything else.
        journal: the file that keeps its replies; without it `judge.journal.sqlite` in the folder of the runs.
    """

    def __init__(
        self,
        model: str = DEFAULT_EVAL_MODEL,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        headers: Iterable[str] | Mapping[str, str] = (),
        api_version: str | None = None,
        provider: ChatProvider | None = None,
        cascade: Cascade | None = None,
        prompt: str | Path | None = None,
        reasons: bool = False,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = MAX_EVAL_TOKENS,
        repeats: int = 1,
        tries: int = 3,
        timeout: float = 60.0,
        retries: int = MAX_API_RETRIES,
        give_up_after: float = GIVE_UP_AFTER,
        prices: str | Path | None = None,
        grammar: bool = False,
        claims_per_call: int = 10,
        workers: int = 8,
        budget: float | None = None,
        max_calls: int | None = None,
        check: bool = True,
        journal: str | Path | None = None,
    ) -> None:
        for name, value, least in (
            ("repeats", repeats, 1), ("tries", tries, 1), ("max_tokens", max_tokens, 1), ("retries", retries, 0),
            ("workers", workers, 1), ("claims_per_call", claims_per_call, 1),
        ):  # fmt: skip
            if value < least:
                raise UsageError(f"{parameter(name, of='judge')} must be at least {least}, got {value}")
        for name, seconds in (("give_up_after", give_up_after), ("timeout", timeout)):
            if not seconds > 0:
                raise UsageError(f"{parameter(name, of='judge')} must be above 0, got {seconds}")
        if not temperature >= 0:
            raise UsageError(f"{parameter('temperature', of='judge')} must be at least 0, got {temperature}")
        if provider is not None and (base_url or api_key or headers or api_version):
            raise UsageError("a provider has its own address, key and headers", hint="give either it or these")
        self.provider = provider
        self.endpoint = endpoint_of(model, base_url, api_key, timeout, headers=headers, api_version=api_version)
        self.prompt = prompt
        self.words = None if prompt is None else read_words(prompt)
        own_prices = None if prices is None else read_prices(prices)
        self.price: Price | None = provider.price if provider else price_of(model, own_prices)
        self.check_budget(budget)
        self.cascade, self.reasons, self.check, self.grammar = cascade, reasons, check, grammar
        self.journal = None if journal is None else Path(journal)
        self.temperature, self.seed, self.max_tokens = float(temperature), seed, max_tokens
        self.repeats, self.tries, self.claims_per_call = repeats, tries, claims_per_call
        self.retries = Retries.of(retries)
        self.workers, self.budget, self.max_calls = workers, budget, max_calls
        self.give_up_after = give_up_after

    def __repr__(self) -> str:
        asked = self.client().signature()
        return f"{type(self).__name__}(model={asked['model']!r}, base_url={asked['endpoint']!r})"

    @property
    def model(self) -> str:
        """The model's name."""
        return str(self.client().signature()["model"])

    @property
    def limits(self) -> Limits:
        """Within which it is asked."""
        return Limits(self.workers, self.retries, self.max_calls, self.budget, self.give_up_after, _GIVE_UP_OPTION)

    @property
    def items_per_call(self) -> int:
        """Repeats are counted claim by claim, so each is asked about alone."""
        return 1 if self.repeats > 1 else self.claims_per_call

    def check_budget(self, budget: float | None) -> None:
        """Refuse a budget in dollars where the model's price is not known."""
        if budget is not None and self.price is None:
            prices, calls = option("prices", of="judge"), option("max_calls", of="judge")
            hint = f"give it with {prices}, or limit the calls with {calls}"
            raise UsageError(f"the price of {self.model!r} is not known, so a budget can't be kept", hint=hint)

    def check_columns(self, columns: Collection[str]) -> None:
        """Refuse a user's own words that show a column which the table does not have."""
        if self.prompt is not None:
            read_words(self.prompt, columns)

    def asked(self, node: Asked) -> Asked:
        """The column as this judge is asked about it: in the user's own words, if there are any."""
        return as_asked(node, self.words, self.items_per_call)

    def signature(self, node: Asked = verdict) -> dict[str, Any]:
        """Everything that a reply depends on besides the texts."""
        asked = self.asked(node)
        return {
            **self.client().signature(),
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "reasons": self.reasons,
            "prompt": prompt_hash(asked, reasons=self.reasons),
            **({} if asked.parts is None else {"claims_per_call": self.items_per_call}),
            **({"grammar": True} if self.grammar and asked.form.choices(reasons=self.reasons) else {}),
        }

    def spec(self, node: Asked = verdict) -> str:
        """What the calls of this judge are filed under: everything but the texts."""
        return digest(self.signature(node) | self.client().digests())

    def filed(self, node: Asked = verdict) -> dict[str, Any]:
        """For the manifest: how to look up this judge's replies in their journal. It holds nothing secret."""
        words = {} if self.words is None else {"words": self.words}
        return {"calls": self.spec(node), **words, **({} if self.journal is None else {"journal": str(self.journal)})}

    def client(self) -> ChatProvider:
        """The connection that it is asked through, to be opened as a context."""
        return self.provider or open_provider(self.endpoint, self.price)

    def on(self, node: Asked) -> ColumnJudge:
        """This judge, asked to fill one column."""
        return ColumnJudge(self, node)


class ColumnJudge:
    """A judge that is asked to fill one column: `asked` has its words, `spec` is what its calls are filed under."""

    def __init__(self, judge: Judge, node: Asked) -> None:
        self.judge = judge
        self.asked = judge.asked(node)
        self.spec = judge.spec(node)
        self._prompt = Prompt(self.asked, reasons=judge.reasons)
        self._choices = self.asked.form.choices(reasons=judge.reasons)
        form = self.asked.form.response_format(reasons=judge.reasons)
        self._parameters_of_all: dict[str, Any] = {
            "temperature": judge.temperature, "seed": judge.seed, "max_tokens": judge.max_tokens,
            **({} if form is None else {"response_format": form}),
            **({"grammar": choice_grammar(self._choices)} if judge.grammar and self._choices else {}),
            **({} if judge.reasons else {"logprobs": True, "top_logprobs": _TOP_TOKENS}),
        }  # fmt: skip
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
        return majority(await asyncio.gather(*repeats))

    async def _repeat(
        self, caller: Caller, client: ChatProvider, values: Mapping[str, str], repeat: int, retry: bool
    ) -> Judgement:
        """One verdict; asked for again where the reply can't be read, and read as far as replies are recorded."""
        judgement = Judgement(UNPARSABLE, verdicts=(None,))
        replies: list[str] = []
        before = self._recorded_before(caller.journal, values, repeat) if retry else 0
        for attempt in count():
            key = self.key(values, repeat, attempt)
            enough = attempt >= before + self.judge.tries or (judgement.outcome == REFUSED and attempt > before)
            if enough and key not in caller.journal:
                return judgement
            send = partial(self._send, client, values, self._parameters(repeat, attempt))
            reply = await caller.ask(key, send, worst=self.most(values))
            if isinstance(reply, Failure):
                return Judgement(reply.outcome, None, "", (None,), tuple(replies), reply.cause)
            judgement = self._read(ChatReply.from_reply(reply), values, replies)
            if judgement.verdict is not None:
                return judgement
        raise AssertionError  # the loop ends by itself

    def _recorded_before(self, journal: Journal, values: Mapping[str, str], repeat: int) -> int:
        """How many replies the journal had when this judge was first asked to try again."""
        first = self.key(values, repeat, 0)
        if first not in self._tried:
            self._tried[first] = next(n for n in count() if self.key(values, repeat, n) not in journal)
        return self._tried[first]

    def _read(self, reply: ChatReply, values: Mapping[str, str], replies: list[str]) -> Judgement:
        """What a reply says; it is added to the `replies` before it."""
        replies.append(reply.content or "")
        if reply.declined:
            return Judgement(REFUSED, None, "", (None,), tuple(replies), reply.declined)
        text = first_choice(self._choices, reply.logprobs or {}) if reply.cut_off else replies[-1]
        columns = None if text is None else self.asked.form.read(text, values)
        if columns is None:
            form = f"in the form of {self.asked.name}" if self.asked.structured else f"a {self.asked.name}"
            cause = "cut off at max_tokens" if reply.cut_off else f"not {form}"
            return Judgement(UNPARSABLE, None, "", (None,), tuple(replies), cause)
        value, reason = columns["value"], columns.get("reason", "")
        chance = self.asked.form.probability(reply.logprobs or {})
        return Judgement(SCORED, value, reason, (value,), tuple(replies), probability=chance)

    async def _send(self, client: ChatProvider, values: Mapping[str, str], parameters: dict[str, Any]) -> Reply:
        return await client.send(self._prompt.messages(values), parameters)

    def _parameters(self, repeat: int, attempt: int) -> dict[str, Any]:
        return {**self._parameters_of_all, "seed": self.judge.seed + 1000 * repeat + attempt}

    def key(self, values: Mapping[str, str], repeat: int, attempt: int) -> str:
        """What a reply is kept under in the journal."""
        return reply_key(self.spec, values, repeat, attempt)

    def recorded(self, journal: Journal, values: Mapping[str, str], *, retry: bool = False) -> int:
        """How many of a row's repeats take no call, because of what a journal has; `retry` as in `ask`."""
        return sum(self._is_recorded(journal, values, repeat, retry) for repeat in range(self.judge.repeats))

    def _is_recorded(self, journal: Journal, values: Mapping[str, str], repeat: int, retry: bool) -> bool:
        judgement = self.recall(journal, values, repeat)
        return judgement is not None and (judgement.verdict is not None or not retry)

    def recall(self, journal: Journal, values: Mapping[str, str], repeat: int = 0) -> Judgement | None:
        """What recorded replies say of a row; None if it is still to be asked about."""
        replies: list[str] = []
        judgement = Judgement(UNPARSABLE)
        while (reply := journal.get(self.key(values, repeat, len(replies)))) is not None:
            judgement = self._read(ChatReply.from_reply(reply), values, replies)
            if judgement.verdict is not None:
                return judgement
        enough = len(replies) >= self.judge.tries or judgement.outcome == REFUSED
        return judgement if enough else None

    def estimate(self, values: Mapping[str, str]) -> tuple[int, int]:
        """About how many tokens one call takes and gives: four bytes a token."""
        reply = self.asked.form.reply_tokens(values, reasons=self.judge.reasons)
        return self._prompt.size(values) // 4 + _FRAME, min(reply, self.judge.max_tokens)

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
            recorded = self.recorded(journal, values, retry=retry)
            calls = self.judge.repeats - recorded
            prompt, completion = self.estimate(values)
            tokens = {"prompt_tokens": calls * prompt, "completion_tokens": calls * completion}
            total.update(calls=calls, recorded=recorded, **tokens)
        return dict(total)

    def cost(self, values: Mapping[str, str]) -> float:
        """About what one call costs, in dollars; 0 where the price is not known."""
        return 0.0 if self.judge.price is None else self.judge.price.of(*self.estimate(values))

    def most(self, values: Mapping[str, str]) -> float:
        """The most that one call can cost, in dollars; 0 where the price is not known: a token is at least a byte."""
        price = self.judge.price
        return 0.0 if price is None else price.of(self._prompt.size(values) + _FRAME, self.judge.max_tokens)


class LLMJudge(Judge):
    """Asks a chat model whether an answer says the same as the expected one.

    The keywords are those of `Judge`. It is not tried on built-in cases first unless `check` is given.
    """

    def __init__(
        self,
        api_key: str | None = None,
        model_name: str = DEFAULT_EVAL_MODEL,
        base_url: str | None = None,
        *,
        check: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, check=check, **settings)

    def evaluate(self, query: str, ground_truth: str, agent_response: str) -> Judgement:
        """Judge one answer now. Nothing is kept of it; for many answers use `evaluate(..., judge=...)`."""
        if not all(isinstance(text, str) for text in (query, ground_truth, agent_response)):
            raise UsageError("a query, a ground truth and an answer are texts")
        self.client().check()
        values = {"question": query, "reference": ground_truth, "answer": agent_response}

        async def work(caller: Caller) -> Judgement:
            async with self.client() as client:
                return await self.on(verdict).ask(caller, client, values)

        return run_calls(work, Limits(self.repeats, self.retries, give_up_after=self.give_up_after))


def as_asked(node: Asked, words: str | None, items_per_call: int) -> Asked:
    """A column as a judge is asked about it: in the user's own words, if there are any."""
    if words is None:
        return replace(node, **node.parts.alone) if node.parts is not None and items_per_call == 1 else node
    form = OWN_FORM if node.name == verdict.name else node.form
    return replace(node, words=words, form=form, known=None, labels={})


def reply_key(spec: str, values: Mapping[str, str], repeat: int, attempt: int) -> str:
    """What a reply is kept under in the journal, by the judge's `spec` and the texts."""
    return digest([spec, dict(values), repeat, attempt])


def shown_texts(asked: Asked, row: Mapping[str, Any]) -> dict[str, str]:
    """What a model is shown of a row: each column as a text, several references each on its line."""
    return {name: _as_text(name, row.get(name)) for name in asked.needs}


def texts_of_calls(asked: Asked, row: Mapping[str, Any], items_per_call: int) -> list[dict[str, str]]:
    """The texts of each call that a row takes."""
    return [shown_texts(asked, row)] if asked.parts is None else asked.parts.split(row, items_per_call)


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

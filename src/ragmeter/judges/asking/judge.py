"""A model that fills asked columns: asked as often as was agreed, and never believed further than it can be read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from ragmeter.definition.judge_columns import Example, JudgeColumn, PerCall
from ragmeter.effects.argument_checks import check_above_zero, check_number, check_whole
from ragmeter.effects.limits.calls import Limits
from ragmeter.effects.limits.pace import Retries
from ragmeter.effects.limits.patience import GIVE_UP_AFTER
from ragmeter.effects.network.endpoint import digest
from ragmeter.errors import UsageError
from ragmeter.hints import option, parameter
from ragmeter.judges.asking.cascade import Cascade
from ragmeter.judges.asking.column_judge import ColumnJudge
from ragmeter.judges.asking.examples import read_examples
from ragmeter.judges.asking.pictures import Pictures
from ragmeter.judges.asking.prompt import prompt_hash, read_words
from ragmeter.judges.asking.two_wordings import SURE, TwoWordings
from ragmeter.judges.verdict import OWN_FORM, verdict
from ragmeter.models.port import ChatModel, ChatProvider
from ragmeter.models.prices import Price, price_of, read_prices
from ragmeter.models.registry import endpoint_of, open_provider, split_address
from ragmeter.naming import Settings, Signature

DEFAULT_EVAL_MODEL = "gpt-4o"
MAX_EVAL_TOKENS = 1024
MAX_API_RETRIES = 3
#: What a picture is shown for, what the model is told of it, and where it may come from.
_SEEN = frozenset({"verdict", "ratings", "claims", "support_by_passages"})
_WITH_PICTURE = "If there is a picture, the question is about it."
_IMAGES = ("local", "fetch")
_GIVE_UP_OPTION = option("give_up_after", of="judge")


class Judge:
    """A chat model that judges answers: whom to ask, how, how often, and within what limits.

    Args:
        model: the model's name; `anthropic:NAME` and `gemini:NAME` are asked in these vendors' own formats. `NAME@URL`
            has its address in it, and gets no key of the environment but that of `NAME@URL#VARIABLE`.
        base_url: any OpenAI-compatible endpoint; without it OPENAI_BASE_URL, or the vendor's own.
        api_key: the endpoint's key; without it OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY.
        headers: more headers, as `Name: value` or a mapping; `$NAME` in a value is taken from the environment.
        api_version: the version of the endpoint's API, which Azure wants.
        provider: whom to ask in place of all that; `FakeProvider` in tests.
        cascade: has the offline judge decide where it is sure, for metrics with `judge=cascade`.
        prompt: a file with words of your own; `{answer}` and the like stand for the table's columns.
        examples: a file of labelled answers that are shown as examples where a verdict is asked for, or a list of them;
            `ragmeter calibrate --align` writes one.
        images: shows the picture in a row's column `image` to a model that can see: "local" for files in the current
            folder and bytes, "fetch" for https addresses too.
        reasons: ask for a short reason after each verdict. It costs tokens, and is shown in the report.
        temperature: 0 by default, for verdicts that come out the same again.
        seed: sent along; repeats and second tries count up from it.
        max_tokens: the longest reply. With 1, a verdict of one word is read off the first token's log-probabilities.
        repeats: how often each answer is judged; the majority counts.
        wordings: in how many wordings a verdict is asked for: 1 or 2. Without it, in a second one where the probability
            of the first is between 0.1 and 0.9; it takes a server with log-probabilities, and no reasons.
        tries: how often a judgement that can't be read is asked for before it counts as unparsable.
        timeout: seconds for a reply; after one that did not come in time the next have twice as long, up to four times.
        retries: how often a call that failed is made again.
        give_up_after: seconds without any success after which judging stops; what was recorded is not asked again.
        prices: a file of prices, where ours does not know the model.
        grammar: have the server allow nothing but the words of a verdict, where a reply is one word; llama.cpp can.
        claims_per_call: how many claims the model is asked about in one call.
        passages_per_call: how many passages the model is shown together where it says what supports a claim; with 1,
            each by itself.
        workers: how many calls may be under way at once.
        budget: the most that a run's judging may cost, in dollars.
        max_calls: the most calls that a run's judging may make.
        check: try the judge on built-in cases with known verdicts before it is asked anything else.
        journal: the file that keeps its replies; without it `judge.journal.sqlite` in the folder of the runs.
        jurors: others that judge the same answers, for `jury_correct`: more judges, "offline", "encoder:FOLDER". The
            limits of this judge (workers, retries, calls, budget) are for all of them.
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
        examples: str | Path | Sequence[Example] = (),
        images: Literal["local", "fetch"] | None = None,
        reasons: bool = False,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = MAX_EVAL_TOKENS,
        repeats: int = 1,
        wordings: int | None = None,
        tries: int = 3,
        timeout: float = 60.0,
        retries: int = MAX_API_RETRIES,
        give_up_after: float = GIVE_UP_AFTER,
        prices: str | Path | None = None,
        grammar: bool = False,
        claims_per_call: int = PerCall().claims,
        passages_per_call: int = PerCall().passages,
        workers: int = 8,
        budget: float | None = None,
        max_calls: int | None = None,
        check: bool = True,
        journal: str | Path | None = None,
        jurors: Sequence[Judge | str] = (),
    ) -> None:
        for name, value, least in (
            ("repeats", repeats, 1), ("tries", tries, 1), ("max_tokens", max_tokens, 1), ("retries", retries, 0),
            ("workers", workers, 1), ("claims_per_call", claims_per_call, 1),
            ("passages_per_call", passages_per_call, 1),
        ):  # fmt: skip
            check_whole(parameter(name, of="judge"), value, least)
        check_whole(parameter("max_calls", of="judge"), max_calls, 0, optional=True)
        check_number(parameter("budget", of="judge"), budget, optional=True)
        check_number(parameter("temperature", of="judge"), temperature)
        for name, seconds in (("give_up_after", give_up_after), ("timeout", timeout)):
            check_above_zero(parameter(name, of="judge"), seconds)
        _check_wordings(wordings, has_prompt=prompt is not None)
        if not isinstance(model, str):
            raise UsageError(f"the model's name must be a text, got {type(model).__name__}", hint="for example gpt-4o")
        if provider is not None:
            own = {"base_url": base_url, "api_key": api_key, "headers": headers, "api_version": api_version}
            _check_provider(provider, {**own, "prices": prices, "model": model != DEFAULT_EVAL_MODEL})
        self.provider = provider
        model, own_url, own_key = split_address(model)
        if own_url and base_url:
            raise UsageError(f"{model} has two addresses", hint=f"leave out {option('base_url', of='judge')}")
        address = (model, own_url or base_url, own_key if api_key is None else api_key, timeout)
        self.endpoint = endpoint_of(*address, headers=headers, api_version=api_version, asked_by="judge")
        self.prompt = prompt
        self.words = None if prompt is None else read_words(prompt)
        self.examples = read_examples(examples) if isinstance(examples, str | Path) else list(examples)
        self.pictures = _pictures(images)
        own_prices = None if prices is None else read_prices(prices)
        self.price: Price | None = provider.price if provider else price_of(model, own_prices)
        self.check_budget(budget)
        self.cascade, self.reasons, self.check, self.grammar = cascade, reasons, check, grammar
        self.journal = None if journal is None else Path(journal)
        self.temperature, self.seed, self.max_tokens = float(temperature), seed, max_tokens
        self.repeats, self.wordings, self.tries = repeats, wordings, tries
        self.claims_per_call, self.passages_per_call = claims_per_call, passages_per_call
        self.retries = Retries.of(retries)
        self.workers, self.budget, self.max_calls, self.give_up_after = workers, budget, max_calls, give_up_after
        self.name = model if provider is None else self.model
        self.jurors = _named(self, jurors)

    def __repr__(self) -> str:
        asked = self.chat_model.signature()
        return f"{type(self).__name__}(model={asked['model']!r}, base_url={asked['endpoint']!r})"

    @property
    def model(self) -> str:
        """The model's name."""
        return str(self.chat_model.signature()["model"])

    @property
    def limits(self) -> Limits:
        """The limits of its calls: workers, retries, calls, dollars, and when to give up."""
        return Limits(self.workers, self.retries, self.max_calls, self.budget, self.give_up_after, _GIVE_UP_OPTION)

    @property
    def per_call(self) -> PerCall:
        """How much a call is about. With repeats it is one claim: they are counted claim by claim."""
        return PerCall(1 if self.repeats > 1 else self.claims_per_call, self.passages_per_call)

    @property
    def calls_per_verdict(self) -> int:
        """How many calls a verdict takes at least, if each reply can be read."""
        return self.repeats * (self.wordings or 1)

    @property
    def price_of_tokens(self) -> Callable[[float, float], float] | None:
        """The function from counts of tokens to dollars; None if the price is not known."""
        return None if self.price is None else self.price.of

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

    def worded(self, declaration: JudgeColumn) -> JudgeColumn:
        """The column as this judge is asked about it: in the user's own words and with examples, if there are any."""
        if declaration.name == verdict.name and self.examples:
            declaration = replace(declaration, examples=self.examples)
        declaration = as_worded(declaration, self.words)
        if self.pictures is None or declaration.name not in _SEEN:
            return declaration
        return replace(declaration, shows_image=True, words=f"{_WITH_PICTURE}\n{declaration.words}")

    def signature(self, declaration: JudgeColumn = verdict) -> Signature:
        """Everything that a reply depends on besides the texts."""
        declaration = self.worded(declaration)
        forms = [declaration.form, *(variant.form for _, variant in declaration.variants)]
        is_word = any(form.choices(reasons=self.reasons) for form in forms)
        return {
            **self.chat_model.signature(),
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
            "reasons": self.reasons,
            "prompt": prompt_hash(declaration, reasons=self.reasons),
            **({"grammar": True} if self.grammar and is_word else {}),
        }

    def cutting(self, declaration: JudgeColumn) -> Signature:
        """How much a call is about, where a row takes several. The texts depend on it, and no reply besides."""
        if declaration.parts is None:
            return {}
        return {"claims_per_call": self.per_call.claims, "passages_per_call": self.per_call.passages}

    def call_key(self, declaration: JudgeColumn = verdict) -> str:
        """The key of this judge's calls in the journal: everything but the texts."""
        return digest(self.signature(declaration) | self.chat_model.digests())

    def journal_keys(self, declaration: JudgeColumn = verdict) -> dict[str, str]:
        """The keys of this judge's replies in their journal, for the manifest. Nothing in it is secret."""
        other = self.rephrased(declaration)
        return {
            "calls": self.call_key(declaration),
            **({} if other is None else {"rephrased_calls": self.call_key(other)}),
            **({} if self.words is None else {"words": self.words}),
            **({} if self.journal is None else {"journal": str(self.journal)}),
        }

    def rephrased(self, declaration: JudgeColumn) -> JudgeColumn | None:
        """The column in its second wording, if this judge may ask for it in two."""
        may_ask = self.wordings == 2 or (self.wordings is None and self.words is None and not self.reasons)
        return as_rephrased(declaration) if may_ask else None

    def wordings_of(self, declaration: JudgeColumn) -> Signature:
        """The number of wordings in which a column is asked for, and the second one, for the manifest."""
        other = self.rephrased(declaration)
        if other is None:
            return {"wordings": 1}
        number: Signature = {"wordings": 2} if self.wordings == 2 else {"wordings": "1 or 2", "sure_from": 0.5 + SURE}
        return {**number, "rephrased_prompt": prompt_hash(other, reasons=self.reasons)}

    def with_examples(self, examples: Sequence[Example]) -> Judge:
        """This judge, shown these examples and no others."""
        other = copy(self)
        other.examples = list(examples)
        return other

    @property
    def chat_model(self) -> ChatModel:
        """The model that is asked, and whether it can be: to know it takes no connection."""
        return self.provider or self.endpoint

    def client(self) -> ChatProvider:
        """The connections that it is asked through: made for one use as a context, in one event loop."""
        return self.provider or open_provider(self.endpoint, self.price)

    def on(self, declaration: JudgeColumn) -> ColumnJudge:
        """A judge of one column with this judge's settings."""
        other = self.rephrased(declaration)
        return ColumnJudge(self, declaration) if other is None else TwoWordings(self, declaration, other)


def _named(first: Judge, others: Sequence[Judge | str]) -> dict[str, Judge | None]:
    """The jurors by their names, the first among them; None for one that asks no language model. One alone: none."""
    if not others:
        return {}
    jurors: dict[str, Judge | None] = {}
    for juror in (first, *others):
        name = juror if isinstance(juror, str) else juror.name
        if name in jurors or "+" in name:
            problem = "are two jurors" if name in jurors else "has a + in it"
            raise UsageError(f"{name!r} {problem}", hint="the jurors of a jury have different names, without a +")
        if isinstance(juror, Judge):
            juror.check_budget(first.budget)
        jurors[name] = juror if isinstance(juror, Judge) else None
    return jurors


def _check_wordings(wordings: int | None, *, has_prompt: bool) -> None:
    name = parameter("wordings", of="judge")
    if wordings not in (None, 1, 2) or isinstance(wordings, bool):
        raise UsageError(f"{name} must be 1 or 2, got {wordings!r}")
    if wordings == 2 and has_prompt:
        raise UsageError(f"{name} is for ragmeter's own words", hint="leave it out, or leave out your prompt")


def _pictures(images: str | None) -> Pictures | None:
    if images not in (None, *_IMAGES):
        raise UsageError(f"{parameter('images', of='judge')} must be {' or '.join(_IMAGES)}, got {images!r}")
    return None if images is None else Pictures(images == "fetch")


def _check_provider(provider: Any, settings: Settings) -> None:
    """Refuse what is no provider, and settings that it has itself."""
    if not all(callable(getattr(provider, name, None)) for name in ("check", "send", "signature")):
        hint = "for example FakeProvider('Yes'); a model of your own has the methods of ChatProvider"
        raise UsageError(f"the provider must be one of chat models, got {type(provider).__name__}", hint=hint)
    if given := [name for name, value in settings.items() if value]:
        raise UsageError(
            f"a provider has its own address, key, headers, model and prices: {given[0]} has no effect",
            hint="give either it or these",
        )


def as_worded(declaration: JudgeColumn, words: str | None) -> JudgeColumn:
    """A column as a judge is asked about it: in the user's own words, if there are any."""
    if words is None:
        return declaration
    form = OWN_FORM if declaration.name == verdict.name else declaration.form
    parts = None if declaration.parts is None else replace(declaration.parts, variants=())
    return replace(declaration, words=words, form=form, known=None, labels={}, parts=parts)


def as_rephrased(declaration: JudgeColumn) -> JudgeColumn | None:
    """A column in its second wording, if it has one."""
    other = declaration.rephrased
    return None if other is None else replace(declaration, words=other.words, labels=other.labels, rephrased=None)

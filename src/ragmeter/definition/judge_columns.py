"""Columns that a judge fills, and how they are declared. `judges/` has one file for each.

    verdict = judge_column("verdict", words="... {question} ... {reference} ... {answer} ...", form=Choice(...))

Declaring one asks nothing: the engine fills it, through `effects/`, when a metric needs it.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Literal, NamedTuple, ParamSpec, Protocol, TypedDict

from ragmeter import naming
from ragmeter.errors import UsageError
from ragmeter.naming import Settings
from ragmeter.table import Failed, Row

#: All declared columns, by name.
DECLARED: dict[str, JudgeColumn] = {}

#: The setting `judge` of metrics: a language model is asked, nobody, or a local classifier of pairs of texts.
LLM, OFFLINE, ENCODER = "llm", "offline", "encoder"
#: Who may decide a verdict besides: the same words, and that there is no answer in the answer.
EXACT, MISS = "exact", "miss"
#: The setting that names the classifier.
SUPPORT_MODEL = "support_model"
#: Those who judge without a language model being asked.
LOCAL = frozenset({OFFLINE, ENCODER})

#: The column of pictures, which a row may lack.
IMAGE = "image"
#: A column that the words for a model show: `{answer}`.
FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")

#: The settings of columns that others than a language model can fill, with their defaults.
JUDGED_BY: Mapping[str, Any] = {"judge": LLM, SUPPORT_MODEL: None}

RowsOfTexts = Sequence[Sequence[str]]
_Fields = ParamSpec("_Fields")


class NamedSchema(TypedDict):
    """A JSON schema for a model's reply, as OpenAI-compatible servers take it."""

    name: str
    strict: bool
    schema: Mapping[str, Any]


class ResponseFormat(TypedDict):
    """The form of a reply for servers that can enforce one: the parameter `response_format` of a request."""

    type: Literal["json_schema"]
    json_schema: NamedSchema


class Form(Protocol):
    """The form of a model's reply, with a strict parser. `sent` has the texts that the model was shown."""

    @abstractmethod
    def instruction(self, *, reasons: bool) -> str:
        """The instruction for the model about the form of its reply."""

    def response_format(self, *, reasons: bool) -> ResponseFormat | None:
        """The form for servers that can enforce one; None for plain lines, which every server can give."""
        return None

    def choices(self, *, reasons: bool) -> tuple[str, ...]:
        """The words of which a reply is one; empty where it is more than a word."""
        return ()

    @abstractmethod
    def read(self, reply: str, sent: Mapping[str, str]) -> dict[str, str] | None:
        """The values of the filled columns, the first under the name "value"; None if the reply can't be read."""

    def problem(self, reply: str, sent: Mapping[str, str]) -> str:
        """What is wrong with a reply that can't be read, where more is known than that; else an empty text."""
        return ""

    def probability(self, logprobs: Mapping[str, float]) -> float | None:
        """The probability of the higher value, from the log-probabilities of the first token; None if it has none."""
        return None

    def agreed(self, values: Sequence[str | None]) -> str | None:
        """What more than half of several replies say, None for one that could not be read; None if they disagree."""
        counts = Counter(value for value in values if value)
        return next((value for value, count in counts.items() if 2 * count > len(values)), None)

    @abstractmethod
    def reply_tokens(self, sent: Mapping[str, str], *, reasons: bool) -> int:
        """About how many tokens a reply has."""


class Changes(TypedDict, total=False):
    """The attributes of a column that are others with a setting, or in a variant."""

    words: str
    form: Form
    known: Callable[[Row], str | Failed | None] | None
    labels: Mapping[str, str]


class Support(Protocol):
    """Says what supports claims where no language model is asked."""

    @abstractmethod
    def labels(self, claims: RowsOfTexts, passages: RowsOfTexts) -> Sequence[Sequence[Sequence[str]]]:
        """A label for each row, each of its claims and each of its passages."""

    @abstractmethod
    def chances(self, claims: RowsOfTexts, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """For each row the probability that its text supports each of its claims."""


class PerCall(NamedTuple):
    """How many claims, and how many passages, a call is about at most."""

    claims: int = 10
    passages: int = 1


class Variant(NamedTuple):
    """The attributes of a column that are others in calls with certain texts: about a single claim, for one."""

    fits: Callable[[Mapping[str, str]], bool]
    changes: Changes


@dataclass(frozen=True)
class Parts:
    """How a row is asked about in several calls, over one or two of its columns.

    `split` returns the texts of each call; `join` makes the row's value from the values of its calls, in the same
    order. Of `variants`, the first that fits the texts of a call says how it differs.
    """

    over: tuple[str, ...]
    split: Callable[[Row, PerCall], list[dict[str, str]]]
    join: Callable[[Row, list[Any]], Any]
    variants: Sequence[Variant] = ()


@dataclass(frozen=True)
class Wording:
    """A second wording: its words, the names of its columns for the model, and the value where the two wordings differ
    and neither is likelier.
    """

    words: str
    labels: Mapping[str, str]
    in_doubt: str


class Example(NamedTuple):
    """The texts of a row that people have judged, by column, and the reply that is right for them."""

    texts: Mapping[str, str]
    reply: str


@dataclass(frozen=True)
class JudgeColumn:
    """A column that a judge fills, one row at a time.

    `words` is the prompt, with a `{field}` for each column that the model is shown; those in `optional` may be empty.
    `fills` are the columns beside the value that a reply fills: the reason, who decided, and the value's probability. A
    row for which `known` returns a value, or why it has none, needs no model. `configure` returns the attributes that a
    setting changes; `labels` are names of columns for the model, if they differ from the columns' own. `rephrased` asks
    the same in other words, for a judge that asks in two wordings.

    With `parts` a row takes several calls. The value of a `structured` column is JSON. A `given` column is taken from a
    table that has it. `guess` is a value to estimate the cost of columns that are filled after this one.

    With `judge=offline` or `judge=encoder`, `offline` returns the values of some rows, and no language model is asked;
    it gets what says which claims are supported. `instead` says what to use where only a model can fill the column.
    `examples` are shown to the model before the texts that it is asked about, and with `shows_image` the row's picture.
    """

    name: str
    _: KW_ONLY
    words: str
    form: Form
    fills: Collection[str] = ()
    optional: Collection[str] = ()
    settings: Settings = field(default_factory=dict)
    known: Callable[[Row], str | Failed | None] | None = None
    configure: Callable[[Settings], Changes] | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    rephrased: Wording | None = None
    parts: Parts | None = None
    structured: bool = False
    given: bool = False
    guess: Callable[[Row], Any] | None = None
    offline: Callable[[Sequence[Row], Support], Sequence[Any]] | None = None
    instead: str = ""
    examples: Sequence[Example] = ()
    shows_image: bool = False

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The columns that the model is shown, or that its calls are made from."""
        texts = self.parts.over if self.parts else tuple(dict.fromkeys(FIELD.findall(self.words)))
        return (*texts, IMAGE) if self.shows_image else texts

    @cached_property
    def variants(self) -> list[tuple[Callable[[Mapping[str, str]], bool], JudgeColumn]]:
        """The column as it is in calls with certain texts, and which these are."""
        variants = self.parts.variants if self.parts else ()
        return [(variant.fits, replace(self, parts=None, **variant.changes)) for variant in variants]

    def with_texts(self, texts: Mapping[str, str]) -> JudgeColumn:
        """The column as it is in a call with these texts."""
        return next((variant for fits, variant in self.variants if fits(texts)), self)

    @property
    def required(self) -> list[str]:
        """The columns that a row must have to be judged."""
        return [name for name in self.needs if name not in self.optional and name != IMAGE]

    def decoded(self, value: Any) -> Any:
        """A value of the column, parsed if it is JSON. A table of the user's may have lists instead."""
        if not self.structured or not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise UsageError(f"the column {self.name} must hold JSON, got {value[:50]!r}") from None


@dataclass(frozen=True)
class BoundColumn:
    """An asked column with settings, and the columns of the table that it fills.

    `by_session`: it is filled for metrics over conversations alone. Turns that can't change these are not asked about.
    """

    declaration: JudgeColumn
    settings: Settings
    by_session: bool = False

    @classmethod
    def of(cls, node: JudgeColumn, settings: Settings) -> BoundColumn:
        """The column with its own settings, out of a metric's settings."""
        own_settings = {key: settings.get(key, default) for key, default in node.settings.items()}
        return cls(node if node.configure is None else replace(node, **node.configure(own_settings)), own_settings)

    @property
    def name(self) -> str:
        """The column's name in the table."""
        return self.column(self.declaration.name)

    def column(self, filled: str) -> str:
        """The name in the table of one of the filled columns."""
        changed = {key: value for key, value in self.settings.items() if value != self.declaration.settings[key]}
        return naming.render(filled, changed)

    @property
    def columns(self) -> list[str]:
        """The names in the table of all filled columns: the value, the reason, who decided, how probable."""
        return [self.column(filled) for filled in (self.declaration.name, *self.declaration.fills)]

    @property
    def is_offline(self) -> bool:
        """Whether the column is filled without a language model."""
        return self.declaration.offline is not None and self.settings.get("judge") in LOCAL

    @property
    def support_model(self) -> str | None:
        """The classifier that fills the column; None for those that are filled by others."""
        return self.settings.get(SUPPORT_MODEL) if self.settings.get("judge") == ENCODER else None

    def input_name(self, needed: str) -> str:
        """The name in the table of a column that this one is filled from."""
        return BoundColumn.of(DECLARED[needed], self.settings).name if needed in DECLARED else needed

    def with_inputs(self) -> Iterator[BoundColumn]:
        """The columns that this one is filled from and that a judge fills too, each before those that need it."""
        for name in self.declaration.needs:
            if name in DECLARED:
                yield from BoundColumn.of(DECLARED[name], self.settings).with_inputs()
        yield self

    def decoded(self, values: Iterable[Any]) -> list[Any]:
        """The values of the column, parsed if they are JSON."""
        return [self.declaration.decoded(value) for value in values]


def _declared(make: Callable[_Fields, JudgeColumn]) -> Callable[_Fields, JudgeColumn]:
    @wraps(make, assigned=["__doc__"], updated=())
    def declare(*args: _Fields.args, **kwargs: _Fields.kwargs) -> JudgeColumn:
        node = make(*args, **kwargs)
        DECLARED[node.name] = node
        return node

    return declare


#: Declares a column that a judge fills: takes the fields of `Asked`, all but the name as keywords.
judge_column = _declared(JudgeColumn)

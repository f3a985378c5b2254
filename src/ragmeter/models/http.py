"""What the providers behind an address share: sending, dropping what a server refuses, and reading strictly.

Servers differ in what they take. A parameter that one refuses by name is left out from then on, and `dropped` says so.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from ragmeter.effects.limits.caller import TryAgain
from ragmeter.effects.network.endpoint import Endpoint
from ragmeter.effects.network.wire import Response
from ragmeter.effects.replies.journal import Reply
from ragmeter.hints import parameter
from ragmeter.io.write import dumps
from ragmeter.models.port import ChatReply, Messages, Parameters
from ragmeter.models.prices import Price
from ragmeter.naming import Signature
from ragmeter.table import JUDGE_ERROR

_REFUSED = (
    "(unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|not available|"
    "not enabled|deprecated|extra)"
)


class HttpProvider(ABC):
    """A chat model behind an address. An adapter adds the address, the request's form and the reply's."""

    #: Parameters that a server may refuse, with a pattern of the words by which its error may name them.
    optional: ClassVar[Mapping[str, str]] = {}
    #: Parameters that the wire format has no field for.
    missing: ClassVar[frozenset[str]] = frozenset()
    #: What to send in place of a parameter that was refused.
    instead: ClassVar[Mapping[str, str]] = {}

    def __init__(self, endpoint: Endpoint, price: Price | None = None, *, outcome: str = JUDGE_ERROR) -> None:
        self.endpoint = endpoint
        self.price = price
        self.dropped: set[str] = set()
        self._url = self._address()
        self._wire = endpoint.wire(outcome, self._headers())

    async def __aenter__(self) -> Self:
        await self._wire.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._wire.__aexit__(*failure)

    def check(self) -> None:
        """Refuse to begin without the HTTP library, or without a key for the vendor's own address."""
        self.endpoint.check()

    def signature(self) -> Signature:
        """The model and the endpoint."""
        return self.endpoint.signature()

    def digests(self) -> dict[str, str]:
        """Hashes of the whole address, and of headers that were written out."""
        return self.endpoint.digests()

    async def send(self, messages: Messages, parameters: Parameters) -> Reply:
        """One reply to the messages."""
        self.dropped |= self.missing & parameters.keys()
        sent: dict[str, object] = {}
        for name, value in parameters.items():
            taken = self.instead.get(name) if name in self.dropped else name
            if taken:
                sent[taken] = value
        payload = dumps(self._payload(messages, sent))
        response = await self._wire.request("POST", self._url, payload.encode("utf-8", "replace"))
        if response.status == 200:
            return await self._wire.aside(response.size, lambda: self._read(response.text))
        if response.status in (400, 403, 422) and (refused := self._refused(response.text, sent)):
            self.dropped.add(refused)
            raise TryAgain(self._wire.outcome, f"the server does not take {refused}", at_once=True)
        return self._failed(response)

    def _failed(self, response: Response) -> Reply:
        """Raise what an error means, or return a reply where it means that the model declined."""
        raise self._wire.failure(response, self._hints(response))

    def _hints(self, response: Response) -> dict[int, str]:
        """What to look at, by status. A status that is named here ends the run if nothing has worked so far."""
        source = self.endpoint.key_source
        return {
            401: f"the key was not accepted: look at {source}",
            403: f"the key may not use this model: look at {source} and the model's name",
            404: f"there is no such model or address: look at the model's name and {parameter('base_url')}",
        }

    def _refused(self, text: str, sent: Mapping[str, object]) -> str:
        """The optional parameter that a server does not take, if that is what its error says.

        An error may name a parameter for other reasons: a text that is too long for max_tokens, or that holds the word.
        """
        for name, words in self.optional.items():
            refusal = rf"{_REFUSED}[^.;{{}}]{{0,60}}\b({words})\b|\b({words})\b[^.;{{}}]{{0,60}}{_REFUSED}"
            if name in sent and re.search(refusal, text[:4096], re.IGNORECASE):
                return name
        return ""

    def _read(self, text: str) -> Reply:
        """The reply, if it is a chat completion at all."""
        try:
            reply, prompt_tokens, completion_tokens = self._parse(json.loads(text))
            reply = reply.cleaned(self._wire.clean)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
            start = " ".join(self._wire.clean(text[:2000]).split())[:100] or "nothing"
            raise TryAgain(self._wire.outcome, f"the reply is not a chat completion: {start}", billed=True) from None
        return reply.as_reply(prompt_tokens, completion_tokens, self.price)

    def _headers(self) -> dict[str, str]:
        """Headers that the wire format wants, besides the key's."""
        return {}

    @abstractmethod
    def _address(self) -> str:
        """Where requests go."""

    @abstractmethod
    def _payload(self, messages: Messages, parameters: Mapping[str, object]) -> dict[str, object]:
        """The request in the wire format."""

    @abstractmethod
    def _parse(self, document: Any) -> tuple[ChatReply, Any, Any]:
        """The reply, and its tokens in and out. A document of another form may raise what wrong types raise."""

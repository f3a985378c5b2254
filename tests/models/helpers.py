"""One call to a provider, with everything that surrounds a call."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from ragmeter.effects.limits.caller import Caller, Failure
from ragmeter.effects.limits.calls import Limits, run_calls
from ragmeter.effects.limits.pace import Retries
from ragmeter.effects.replies.journal import Journal, Reply
from ragmeter.models.http import HttpProvider
from ragmeter.models.port import ChatProvider, ChatReply, Parameters
from ragmeter.models.prices import Price
from ragmeter.models.registry import endpoint_of, open_provider
from tests.command import PATIENCE
from tests.provider_servers import AnthropicServer, FormatServer, GeminiServer, OpenAIServer

KEY = "sk-canary-0123456789abcdef"
MESSAGES = [
    {"role": "system", "content": "You grade."},
    {"role": "user", "content": "First?"},
    {"role": "assistant", "content": "No"},
    {"role": "user", "content": "And now?"},
]
PARAMETERS: Parameters = {"temperature": 0.0, "seed": 7, "max_tokens": 50}
SERVERS: dict[str, type[FormatServer]] = {"openai": OpenAIServer, "anthropic": AnthropicServer, "gemini": GeminiServer}


def provider_for(vendor: str, server: FormatServer, **settings: Any) -> HttpProvider:
    """A provider that asks the server."""
    url = server.url if vendor == "openai" else server.root
    settings = {"api_key": KEY, "timeout": PATIENCE, **settings}
    return open_provider(endpoint_of(f"{vendor}:{server.model}", url, **settings), Price(1.0, 2.0))


def call(
    provider: ChatProvider, *, failures: int = 2, journal: Path | None = None, **parameters: Unpack[Parameters]
) -> Reply | Failure:
    """One reply, as a judge gets it: asked again where that may help, and kept."""

    async def work(caller: Caller) -> Reply | Failure:
        async with provider:
            return await caller.ask("key", lambda: provider.send(MESSAGES, {**PARAMETERS, **parameters}))

    limits = Limits(1, Retries(failures=failures, refusals=failures, base=0.001))
    with Journal(journal) as opened:
        return run_calls(work, limits, opened)


def chat_reply(reply: Reply | Failure) -> ChatReply:
    """What the model replied."""
    assert isinstance(reply, Reply), reply
    return ChatReply.from_reply(reply)

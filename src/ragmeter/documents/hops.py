"""What a system did on its way to an answer: its hops, as a row's column `hops` keeps them, in JSON.

A hop is a retrieval, a call of a tool or a call of a language model. A retrieval that a tool makes is one hop, with
the tool's name and arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from ragmeter.documents.record import Record

#: The column.
HOPS = "hops"
RETRIEVAL: Literal["retrieval"] = "retrieval"
TOOL: Literal["tool"] = "tool"
LLM: Literal["llm"] = "llm"
Kind = Literal["retrieval", "tool", "llm"]


class Hop(Record, frozen=True, omit_defaults=True):
    """One step; what is not known of it is None. `texts` are passages, or what a tool returned.

    `scores` are the system's own, one for each of `ids`. `cost` is in US dollars, `tokens` are those of prompt and
    completion together. `arguments` are an object, or a text that is none.
    """

    kind: Kind
    query: str | None = None
    ids: tuple[str, ...] | None = None
    texts: tuple[str, ...] | None = None
    scores: tuple[float | None, ...] | None = None
    latency_ms: float | None = None
    tokens: int | None = None
    cost: float | None = None
    tool: str | None = None
    arguments: Any = None
    error: str | None = None


_decoder = msgspec.json.Decoder(tuple[Hop, ...])
_encoder = msgspec.json.Encoder()


def written_hops(hops: Sequence[Hop]) -> str:
    """The cell of a row with these hops."""
    return _encoder.encode(hops).decode()


def read_hops(cell: str) -> tuple[Hop, ...] | None:
    """The hops in a cell; None for a text that has none."""
    try:
        return _decoder.decode(cell)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return None

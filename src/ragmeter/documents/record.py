"""Records: frozen types of what is kept as JSON. A dict exists only while a file is read or written.

    class Limit(Record):
        asked: Count
        of: Count

Making a record in Python checks what its `__post_init__` says. The types and constraints of its fields are checked
where one is read (`runs/documents.py`). Members that a type does not have, which a later version may write, are
ignored.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

__all__ = ["UNSET", "Count", "Interval", "Mean", "Meta", "Record", "Share", "UnsetType", "plain"]

#: A whole number from 0 up, which a float can hold.
Count = Annotated[int, Meta(ge=0, le=2**53)]
#: A number between 0 and 1, neither of which it is.
Share = Annotated[float, Meta(gt=0, lt=1)]
#: None where there is nothing to be measured.
Mean = float | None
Interval = tuple[float, float]


class Record(msgspec.Struct, frozen=True):
    """A frozen record. A field whose value is UNSET is not written; one with a value of None is written as null."""

    def as_dict(self) -> dict[str, Any]:
        """The record as a dict for JSON, with all that is in it."""
        content: dict[str, Any] = plain(self)
        return content


def plain(value: Any) -> Any:
    """A record or a dataclass, and all that is in it, as JSON has it: dicts, lists, texts and numbers."""
    return msgspec.to_builtins(value, enc_hook=_plain_value)


def _plain_value(value: Any) -> Any:
    """A value of a type that msgspec does not know: a text or a number of a class of its own, or one of an array."""
    for kind in (str, float, int):
        if isinstance(value, kind):
            return kind(value)
    if not hasattr(value, "item"):
        raise TypeError(f"{type(value).__name__} can't be written as JSON")
    return value.item()

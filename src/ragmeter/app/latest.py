"""Results that are kept while a person looks at them: what is asked for next is often among them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")


class Latest:
    """Results by what was asked for, each made once. Those that were not used for longest are dropped.

    `most` is the number of results, or what their sizes may come to; one that is larger by itself is not kept.
    """

    def __init__(self, most: int, size: Callable[[Any], int] = lambda _: 1) -> None:
        self._most, self._size = most, size
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._results

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result; who asks while it is made waits for it."""
        with self._lock:
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                is_known = key in self._results
                result: T = self._results[key] if is_known else None  # type: ignore[assignment]
            if not is_known:
                result = make()
            with self._lock:
                self._making.pop(key, None)
                self._results[key] = result
                self._results.move_to_end(key)
                while sum(map(self._size, self._results.values())) > self._most:
                    self._results.popitem(last=False)
        return result

"""The rows that were found lately, in their order: what a person looks at next is among them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int32]
#: Bytes of places that are kept: eight orders of a million rows.
_MOST = 32_000_000


class Orders:
    """Arrays of places by what was asked for. The ones that were not used for longest are dropped."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, Places] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> Places | None:
        """The places under this key, if they are still there."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: Hashable, places: Places) -> None:
        """Remember these places; an array that is too large for all is not kept."""
        with self._lock:
            self._kept[key] = places
            while sum(array.nbytes for array in self._kept.values()) > self._most:
                self._kept.popitem(last=False)

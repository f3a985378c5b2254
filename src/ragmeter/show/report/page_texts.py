"""The texts of a page: each distinct one once, and not longer than the page can bear."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: The longest text on the page, and the most characters of all texts; if there are more, texts are cut shorter.
LONGEST_TEXT = 4000
_MOST_CHARACTERS = 60_000_000


class Texts:
    """Distinct texts with their indices."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        """The index of a text; -1 for None."""
        return -1 if text is None else self._places.setdefault(text, len(self._places))

    def places(self, texts: Sequence[str | None]) -> list[int]:
        """The indices of some texts."""
        return [self.place(text) for text in texts]

    def cut(self) -> tuple[list[str], dict[int, int], int]:
        """The texts, cut to the limit; the full length of each one that was cut, by index; and the limit."""
        texts = list(self._places)
        limit = LONGEST_TEXT
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        while limit > 200 and np.minimum(lengths, limit).sum() > _MOST_CHARACTERS:
            limit //= 2
        full_lengths = {int(place): int(lengths[place]) for place in np.flatnonzero(lengths > limit)}
        return [text[:limit] for text in texts], full_lengths, limit

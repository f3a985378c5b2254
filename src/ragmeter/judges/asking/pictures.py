"""Pictures that belong to rows, for judges that can see: where they may come from, and how large they may be."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragmeter.effects.limits.caller import GiveUp
from ragmeter.effects.network.downloads import Fetcher, FetchError, check_installed
from ragmeter.io.addresses import public
from ragmeter.io.cells import picture_address
from ragmeter.table import IMAGE_ERROR

#: The largest file that all vendors take, and about the most tokens that a picture is counted as.
MOST_BYTES, PICTURE_TOKENS = 5_000_000, 1_600
_WEB = ("https://", "http://")


class PictureError(Exception):
    """A picture can't be shown, and why."""


@dataclass(frozen=True)
class Pictures:
    """The pictures of rows: files in the current folder, bytes and data addresses; with `is_fetching`, also https."""

    is_fetching: bool = False
    fetcher: Fetcher = field(default_factory=lambda: Fetcher(most_bytes=MOST_BYTES))

    def text(self, cell: Any) -> str:
        """A cell as it is asked about: the picture as a data address, or where it is fetched its address; "" for none.

        A PictureError says why it can't be shown.
        """
        address = "" if cell is None else str(cell)
        if not address:
            return ""
        if address.startswith("data:"):
            return _data_address(_decoded(address))
        if not address.startswith(_WEB):
            return _data_address(_file(address))
        if not self.is_fetching:
            raise PictureError("it is an address, and nothing is fetched unless that is asked for")
        return address

    async def sent(self, text: str) -> str:
        """The picture as a data address, fetched if it is an address. GiveUp where that fails."""
        if not text.startswith(_WEB):
            return text
        check_installed("fetching pictures", "http")
        try:
            return _data_address(await self.fetcher.fetch(text))
        except (FetchError, PictureError) as error:
            raise GiveUp(IMAGE_ERROR, f"{public(text)}: {error}") from None


def _file(name: str) -> bytes:
    try:
        return _read(Path(name))
    except (OSError, ValueError) as error:  # a name with a NUL is no file's
        raise PictureError(f"it can't be read: {getattr(error, 'strerror', None) or error}") from None


def _read(path: Path) -> bytes:
    if not path.resolve().is_relative_to(Path.cwd().resolve()):  # data may name any file of this machine
        raise PictureError("it is no file in the current folder")
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def _decoded(address: str) -> bytes:
    try:
        return base64.b64decode(address.partition(";base64,")[2], validate=True)
    except binascii.Error:
        raise PictureError("its data address is not in base64") from None


def _data_address(content: bytes) -> str:
    if len(content) > MOST_BYTES:
        raise PictureError(f"it has more than {MOST_BYTES:,} bytes")
    address = picture_address(content)
    if address is None:
        raise PictureError("it is no PNG, JPEG, GIF or WebP")
    return address

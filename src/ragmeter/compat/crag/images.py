"""The images of conversations: fetched where only an address is given, and ego-centric ones in one size."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ragmeter.compat.crag.dataset_utils import Conversation
from ragmeter.effects.network.downloads import Fetcher, FetchError, check_installed
from ragmeter.effects.process.loop import Threads, in_thread
from ragmeter.errors import MissingExtraError, RagmeterError, describe
from ragmeter.io.addresses import public

#: Width and height of an ego-centric image, as CRAG-MM's evaluator hands it on.
EGO_SIZE = (960, 1280)
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "MPO")
_EXTRA = "images"


class ImageError(Exception):
    """A conversation has no image, and why."""


@dataclass(frozen=True)
class Images:
    """How the images of conversations are made: by the user's `load`, by fetching them, or as their addresses."""

    load: Callable[[str], Any] | None = None
    is_fetching: bool = True
    fetcher: Fetcher = field(default_factory=Fetcher)

    async def of(self, conversation: Conversation, threads: Threads) -> Any:
        """The image that the agent is given; an ImageError says why there is none."""
        if conversation.image is not None:
            image = conversation.image
            if isinstance(image, Mapping) and isinstance(image.get("bytes"), bytes):  # as Hugging Face stores it
                image = await in_thread(_opened, image["bytes"])
            return await in_thread(_in_ego_size, image) if conversation.is_ego else image
        url = conversation.image_url
        if url is None:
            return None
        if self.load is not None:
            try:
                return await threads.call(self.load, url)
            except (Exception, SystemExit) as error:
                raise ImageError(f"load_image() failed on {public(url)}: {describe(error)}") from None
        return await self._fetched(url) if self.is_fetching else url

    def key(self, conversation: Conversation) -> str:
        """The journal's key of a conversation's image, before it is loaded: an address, or the hash of the pixels."""
        url, image = conversation.image_url, conversation.image
        if image is None or isinstance(image, str):
            if image is not None or url is None:
                return str(image)
            return f"load_image({url})" if self.load is not None else f"image at {url}" if self.is_fetching else url
        if isinstance(image, Mapping):
            image = image.get("bytes") or repr(image).encode("utf-8", "replace")
        pixels = image if isinstance(image, bytes | bytearray) else getattr(image, "tobytes", bytes)()
        return f"{type(image).__name__} {hashlib.sha256(pixels).hexdigest()}"

    async def _fetched(self, url: str) -> Any:
        check_installed("fetching a dataset's images", _EXTRA)
        try:
            return await in_thread(_opened, await self.fetcher.fetch(url))
        except (FetchError, ImageError) as error:
            raise ImageError(f"the image {public(url)} can't be fetched: {error}") from None


def _opened(file: bytes) -> Any:
    """The image in a file."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError("opening a dataset's images", _EXTRA) from None
    try:
        image = Image.open(io.BytesIO(file), formats=_FORMATS)
        most = Image.MAX_IMAGE_PIXELS  # None, if somebody has switched it off
        if most is not None and image.width * image.height > most:
            raise ImageError(f"it has {image.width} × {image.height} pixels, which is too many")
        image.load()
    except (ImageError, RagmeterError):
        raise
    except Exception as error:  # Pillow raises whatever its decoders do: OSError, SyntaxError, struct.error ...
        raise ImageError(f"this is no image that can be read ({type(error).__name__})") from None
    return image


def _in_ego_size(image: Any) -> Any:
    """An ego-centric image in the size that the old evaluator gives it; what is no image of Pillow's stays."""
    if not type(image).__module__.startswith("PIL.") or image.size == EGO_SIZE:
        return image
    try:
        return image.resize(EGO_SIZE)
    except Exception as error:
        raise ImageError(f"the image can't be resized: {describe(error)}") from None

"""Whether a server answers at an address. No key and nothing else is sent."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from urllib.parse import parse_qsl, urlsplit

from ragmeter.effects.keys.headers import Secret
from ragmeter.effects.keys.redaction import Cleaner
from ragmeter.effects.network.wire import check_address
from ragmeter.errors import UsageError
from ragmeter.io.addresses import public


@dataclass(frozen=True)
class Reached:
    """What came of a request: any reply is one, a refusal too."""

    url: str
    is_reached: bool
    what: str
    seconds: float


def reach(url: str, timeout: float = 10.0) -> Reached:
    """Ask for an address; `what` is the status of the reply, or why there is none. Both are without what is secret."""
    begun = time.perf_counter()
    clean: Callable[[str], str] = str
    try:
        check_address(url, "http://127.0.0.1:8000/v1", "a password is not sent")
        clean = Cleaner(piece for _, value in parse_qsl(urlsplit(url).query) for piece in Secret(value).pieces())
        request = urllib.request.Request(url, headers={"User-Agent": "ragmeter"})  # noqa: S310 - checked above
        with urllib.request.urlopen(request, timeout=timeout) as reply:  # noqa: S310
            what, is_reached = f"{reply.status} {reply.reason}", True
    except urllib.error.HTTPError as error:  # it answers, and wants a key, another path or another method
        what, is_reached = f"{error.code} {error.reason}", True
    except UsageError as error:
        what, is_reached = error.message, False
    except HTTPException as error:  # its message may have the address
        what, is_reached = type(error).__name__, False
    except Exception as error:  # whatever it is, there was no reply
        reason = getattr(error, "reason", None) or error
        what, is_reached = f"{type(error).__name__}: {reason}", False
    what = clean(" ".join(what.split()))[:200]
    return Reached(public(url), is_reached, what, time.perf_counter() - begun)

"""Whether a server answers at an address. No key and nothing else is sent."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from dataclasses import dataclass


@dataclass(frozen=True)
class Reached:
    """What came of a request: any reply is one, a refusal too."""

    url: str
    is_reached: bool
    what: str
    seconds: float


def reach(url: str, timeout: float = 10.0) -> Reached:
    """Ask for an address; `what` is the status of the reply, or why there is none."""
    begun = time.perf_counter()
    try:
        if not url.lower().startswith(("http://", "https://")):
            raise ValueError("an address begins with http:// or https://")
        request = urllib.request.Request(url, headers={"User-Agent": "ragmeter"})  # noqa: S310 - checked above
        with urllib.request.urlopen(request, timeout=timeout) as reply:  # noqa: S310
            what, is_reached = f"{reply.status} {reply.reason}", True
    except urllib.error.HTTPError as error:  # it answers, and wants a key, another path or another method
        what, is_reached = f"{error.code} {error.reason}", True
    except Exception as error:  # whatever it is, there was no reply
        reason = getattr(error, "reason", None) or error
        what, is_reached = " ".join(f"{type(error).__name__}: {reason}".split())[:200], False
    return Reached(url, is_reached, what, time.perf_counter() - begun)

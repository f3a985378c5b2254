"""Addresses as they may be shown."""

from __future__ import annotations

import pytest

from ragmeter.io.addresses import public


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host:80/v1/a?key=SECRET#SECRET", "https://host:80/v1/a"),
        ("https://user:SECRET@host/v1", "https://host/v1"),
        ("https://user:SEC@SECRET@host/v1", "https://host/v1"),
        ("https://user:SEC/SECRET@host/v1", "https://host/v1"),
        ("https://user:SEC?SECRET@host/v1", "https://host/v1"),
        ("https://user:SEC#SECRET@host/v1", "https://host/v1"),
        ("user:SECRET@host/v1", "host/v1"),
        ("https://[::1]:80/@me/a", "https://[::1]:80/@me/a"),
        ("https://host/@me", "https://host/@me"),
        ("not an address", "not an address"),
    ],
)
def test_what_is_shown_of_an_address(url: str, shown: str) -> None:
    assert public(url) == shown

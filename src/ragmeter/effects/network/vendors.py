"""Vendors of language models: how names of their models begin, their addresses, and how they take their keys."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Vendor:
    """Whose wire format a server speaks: the vendor's own address, and how it takes its key.

    `key_variables` and `url_variable` are names in the environment. `family` is how the vendor's own names of models
    begin. `api_version` is sent where none is given.
    """

    name: str
    base_url: str
    key_variables: tuple[str, ...]
    url_variable: str
    family: str
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    api_version: str = ""

    @property
    def prefix(self) -> str:
        """How the name of a model begins that says which wire format its server speaks: `anthropic:`."""
        return f"{self.name}:"


OPENAI = Vendor("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",), "OPENAI_BASE_URL", "gpt")
ANTHROPIC = Vendor(
    "anthropic",
    "https://api.anthropic.com",
    ("ANTHROPIC_API_KEY",),
    "ANTHROPIC_BASE_URL",
    "claude",
    key_header="x-api-key",
    key_prefix="",
    api_version="2023-06-01",
)
GEMINI = Vendor(
    "gemini",
    "https://generativelanguage.googleapis.com",
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "GOOGLE_GEMINI_BASE_URL",
    "gemini",
    key_header="x-goog-api-key",
    key_prefix="",
    api_version="v1beta",
)
#: All vendors by their names. `models/registry.py` has the adapter of each.
VENDORS = {vendor.name: vendor for vendor in (OPENAI, ANTHROPIC, GEMINI)}


def split_model(model: str) -> tuple[Vendor, str]:
    """A model's vendor, OpenAI without a prefix, and its name without one.

    A colon after any other word belongs to the name (`llama3:8b`).
    """
    prefix, colon, name = model.partition(":")
    return (VENDORS[prefix], name) if colon and prefix in VENDORS else (OPENAI, model)

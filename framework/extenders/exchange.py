"""A request to an extender, and the answer: all that crosses the boundary between a cycle and whoever sends."""

from __future__ import annotations

from typing import Literal

import msgspec

Verb = Literal["filter", "prioritize", "preempt", "bind"]


class Request(msgspec.Struct, frozen=True):
    extender: int
    """Its place in the effective configuration's ``extenders``."""
    name: str
    """The extender's urlPrefix without its credentials."""
    verb: Verb
    """Whatever the configured verb is called."""
    url: str
    """To be shown, so without credentials; what is called follows from the configuration (``url_of``)."""
    pod: str
    """``namespace/name``."""
    body: bytes
    """JSON."""
    timeout: int
    """Nanoseconds; what an answer may take in all."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """``error``: what the HTTP client says when there is no answer; then the rest means nothing."""

    status: int = 200
    body: bytes = b""
    error: str = ""

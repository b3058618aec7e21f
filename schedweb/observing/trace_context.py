"""One id from a click to what became of it: a W3C trace context (https://www.w3.org/TR/trace-context/).

A browser sends `traceparent` with every request, the journal stores it with a command, and whoever plays the command
logs under the same trace id. Where tracing is on (schedweb/observing/spans.py), spans have these ids, too.
"""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

HEADER: Final = "traceparent"
LONGEST: Final = 55
"""Characters of a `traceparent` of version 00."""
_VALID: Final = re.compile(r"[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")


@dataclass(frozen=True)
class TraceContext:
    trace_id: str
    """32 hexadecimal digits."""
    span_id: str
    """16 hexadecimal digits."""
    sampled: bool = False

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"

    def child(self) -> TraceContext:
        return TraceContext(self.trace_id, secrets.token_hex(8), self.sampled)


def fresh() -> TraceContext:
    return TraceContext(secrets.token_hex(16), secrets.token_hex(8))


def parsed(traceparent: str) -> TraceContext | None:
    """None for what the standard tells to ignore."""
    found = _VALID.fullmatch(traceparent)
    if found is None or traceparent.startswith("ff"):
        return None
    return TraceContext(found[1], found[2], bool(int(found[3], 16) & 1))


CURRENT: Final[ContextVar[TraceContext | None]] = ContextVar("trace_context", default=None)


@contextlib.contextmanager
def within(context: TraceContext | None) -> Iterator[None]:
    token = CURRENT.set(context)
    try:
        yield
    finally:
        CURRENT.reset(token)


def current_traceparent() -> str:
    """ "" outside of a request and of a command."""
    context = CURRENT.get()
    return "" if context is None else context.traceparent

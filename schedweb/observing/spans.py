"""OpenTelemetry spans, when OTEL_EXPORTER_OTLP_ENDPOINT names a collector.

The SDK reads its own variables (OTEL_SERVICE_NAME, OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, …).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from functools import cache
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    NonRecordingSpan,
    SpanContext,
    StatusCode,
    TraceFlags,
    Tracer,
    set_span_in_context,
)
from opentelemetry.trace import (
    Span as OtelSpan,
)

from schedweb.observing.trace_context import TraceContext, fresh

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


@cache
def tracer() -> Tracer | None:
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return None
    found: Tracer = importlib.import_module("schedweb.observing.otlp").tracer()
    return found


class Span:
    """Something that takes time. `context` is what others continue; without tracing only its ids exist."""

    def __init__(self, name: str, parent: TraceContext | None, *, start: int | None = None) -> None:
        """``start``: nanoseconds since 1970; now when None."""
        made = tracer()
        if made is None:
            self._span: OtelSpan = INVALID_SPAN
            self.context = fresh() if parent is None else parent.child()
            return
        self._span = made.start_span(name, context=_carried(parent), start_time=start)
        own = self._span.get_span_context()
        self.context = TraceContext(f"{own.trace_id:032x}", f"{own.span_id:016x}", own.trace_flags.sampled)

    def end(self, attributes: Mapping[str, str | int | float | bool], *, name: str = "", failed: bool = False) -> None:
        if name:
            self._span.update_name(name)
        self._span.set_attributes(attributes)
        if failed:
            self._span.set_status(StatusCode.ERROR)
        self._span.end()


def _carried(parent: TraceContext | None) -> Context:
    if parent is None:
        return Context()
    # A browser only gives the trace its id; whether it is sampled is decided here.
    flags = TraceFlags(TraceFlags.SAMPLED)
    remote = SpanContext(int(parent.trace_id, 16), int(parent.span_id, 16), is_remote=True, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(remote), Context())

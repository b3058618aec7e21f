"""Around every request: its trace context, its line in the log, its count and its time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_only_middleware

from schedweb.observing.metrics import REQUEST_SECONDS, REQUESTS
from schedweb.observing.spans import Span
from schedweb.observing.trace_context import HEADER, parsed, within

log = logging.getLogger("schedweb.requests")
View = Callable[[HttpRequest], HttpResponseBase]
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
"""Anybody may send a word of his own, and each would be a metric of its own."""


@sync_only_middleware
def observed(get_response: View) -> View:
    """The answer's `X-Request-Id` is the trace id, by which people find what the log says of it."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        begin = time.perf_counter()
        span = Span(request.method or "", parsed(request.headers.get(HEADER, "")))
        with within(span.context):
            response = get_response(request)
            seconds = time.perf_counter() - begin
            response["X-Request-Id"] = span.context.trace_id
            note(request, response.status_code, seconds, span)
        return response

    return answer


def note(request: HttpRequest, status: int, seconds: float, span: Span) -> None:
    method = request.method if request.method in METHODS else "other"
    route = route_of(request)
    REQUESTS.labels(method, route, status).inc()
    REQUEST_SECONDS.labels(method, route).observe(seconds)
    facts = {"method": method, "route": route, "status": status}
    span.end(
        {"http.request.method": method or "", "http.route": route, "http.response.status_code": status},
        name=f"{method} {route}",
        failed=status >= 500,
    )
    level = logging.WARNING if status >= 500 else logging.INFO
    # Not the address itself: some hold a token.
    log.log(level, "%s %s %d", method, route, status, extra={**facts, "seconds": round(seconds, 6)})


def route_of(request: HttpRequest) -> str:
    """The pattern of its address, of which there are few; "" where none was looked for (files) or found."""
    match = request.resolver_match
    return "" if match is None else match.view_name if match.view_name == "index" else match.route

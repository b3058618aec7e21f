"""Log lines: for people at a terminal, or JSON objects for those who collect them (LOG_FORMAT=json)."""

from __future__ import annotations

import logging
import re
from typing import Any, Final

from schedweb.observing.trace_context import CURRENT

_SECRET: Final = re.compile(r"(/share/|[?&](?:token|code|state)=)[^\s'\"<>&?#]+")
"""What follows it in an address opens something: a share link, a login link."""


class WithoutTokens(logging.Filter):
    """Takes share and login tokens out of what is logged: Django names the address of what it refuses."""

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if (shown := without_tokens(message)) != message:
            record.msg, record.args = shown, ()
        request = getattr(record, "request", None)
        if request is not None:
            # The JSON lines have every field of a record.
            record.request = without_tokens(str(request))
        return True


def without_tokens(text: str) -> str:
    return _SECRET.sub(r"\1-", text)


class WithTraceId(logging.Filter):
    """Adds `trace_id` to what is logged within a request or for a command."""

    def filter(self, record: logging.LogRecord) -> bool:
        context = CURRENT.get()
        if context is not None and not hasattr(record, "trace_id"):
            record.trace_id = context.trace_id
        return True


def logging_settings(log_format: str) -> dict[str, Any]:
    """Django's LOGGING. Every request has a line of its own only in JSON."""
    as_json = log_format == "json"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "trace_id": {"()": "schedweb.observing.logs.WithTraceId"},
            "without_tokens": {"()": "schedweb.observing.logs.WithoutTokens"},
        },
        "formatters": {
            "text": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
            "json": {
                "()": "pythonjsonlogger.json.JsonFormatter",
                "fmt": "%(levelname)s %(name)s %(message)s",
                "rename_fields": {"levelname": "level", "name": "logger"},
                "timestamp": "time",
            },
        },
        "handlers": {
            "console": {
                "class": "logging.StreamHandler",
                "formatter": "json" if as_json else "text",
                "filters": ["trace_id", "without_tokens"],
            }
        },
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {
            "schedweb": {"level": "INFO"},
            "schedweb.requests": {"level": "INFO" if as_json else "WARNING"},
        },
    }

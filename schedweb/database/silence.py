"""How long nothing may be heard of the database."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

STATEMENT_SECONDS: Final = 60
"""PostgreSQL ends statements that take longer; those of migrations may (schedweb/database/apps.py)."""
SILENCE: Final[ContextVar[float]] = ContextVar("SILENCE", default=STATEMENT_SECONDS + 5.0)
"""Seconds without a byte in either direction after which a connection is given up; a thread may expect answers sooner.
What the kernel notices (keepalives) does not cover a server or a proxy that stands still."""

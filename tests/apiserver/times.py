"""Times as the API writes them."""

from __future__ import annotations

from datetime import UTC, datetime


def stamp(at: datetime) -> str:
    """To the second, UTC."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

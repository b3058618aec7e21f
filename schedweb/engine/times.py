"""Nanoseconds of a run's clock as the API writes them: ISO-8601, UTC, milliseconds."""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Final

EPOCH: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@lru_cache(maxsize=1 << 10)
def iso(nanoseconds: int) -> str:
    moment = EPOCH + datetime.timedelta(microseconds=nanoseconds // 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_or_none(nanoseconds: int | None) -> str | None:
    return None if nanoseconds is None else iso(nanoseconds)


def nanoseconds(moment: datetime.datetime) -> int:
    """Exact to the microsecond."""
    return int((moment - EPOCH) / datetime.timedelta(microseconds=1)) * 1000


def wall(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

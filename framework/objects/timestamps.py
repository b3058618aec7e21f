"""RFC 3339 timestamps as whole nanoseconds since 1970, which is the unit of every clock in the framework."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

SECOND: Final = 10**9
"""In nanoseconds."""

_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,18}))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class TimestampError(ValueError):
    """The text is no RFC 3339 timestamp."""


@lru_cache(maxsize=1 << 14)
def parse_timestamp(text: str) -> int:
    """Raises TimestampError. What is finer than a nanosecond is cut off, as in Go."""
    found = _RFC3339.fullmatch(text)
    if found is None:
        raise TimestampError(f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse')
    year, month, day, hour, minute, second = (int(found[i]) for i in range(1, 7))
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise TimestampError(f'parsing time "{text}": {error}') from error
    since = moment - _EPOCH
    seconds = since.days * 86_400 + since.seconds
    if found[8]:
        offset = int(found[9]) * 3600 + int(found[10]) * 60
        seconds += offset if found[8] == "-" else -offset
    return seconds * SECOND + int((found[7] or "").ljust(9, "0")[:9])


def format_timestamp(nanoseconds: int) -> str:
    """In UTC; a fraction only where there is one, as Go's RFC3339Nano."""
    seconds, fraction = divmod(nanoseconds, SECOND)
    days, rest = divmod(seconds, 86_400)
    moment = datetime.fromordinal(_EPOCH.toordinal() + days)
    text = f"{moment.year:04}-{moment.month:02}-{moment.day:02}T{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    if fraction:
        text += f".{fraction:09}".rstrip("0")
    return f"{text}Z"

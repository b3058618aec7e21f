"""Go duration strings (``"15s"``, ``"10m0s"``, ``"1h2m3.5s"``), as KubeSchedulerConfiguration writes them."""

from __future__ import annotations

import re

from framework.configuration.errors import go_quote
from framework.objects.timestamps import SECOND

MICROSECOND = 1_000
MILLISECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
_MAX = 2**63 - 1

_UNITS = {
    "ns": 1,
    "us": MICROSECOND,
    "µs": MICROSECOND,
    "μs": MICROSECOND,
    "ms": MILLISECOND,
    "s": SECOND,
    "m": MINUTE,
    "h": HOUR,
}
_TERM = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)", re.ASCII)


class InvalidDuration(ValueError):
    """Its text is Go's: ``time: invalid duration "x"``, ``time: missing unit in duration "15"``, …"""


def parse_duration(text: str) -> int:
    """Nanoseconds of a Go duration."""
    rest, sign = text, 1
    if rest[:1] in ("-", "+"):
        sign = -1 if rest[0] == "-" else 1
        rest = rest[1:]
    if rest == "0":
        return 0
    if not rest:
        raise InvalidDuration(f"time: invalid duration {go_quote(text)}")
    total = 0
    while rest:
        term = _TERM.match(rest)
        if term is None or not (term[1] or term[2]):
            raise InvalidDuration(f"time: invalid duration {go_quote(text)}")
        unit = term[3]
        if not unit:
            raise InvalidDuration(f"time: missing unit in duration {go_quote(text)}")
        if unit not in _UNITS:
            raise InvalidDuration(f"time: unknown unit {go_quote(unit)} in duration {go_quote(text)}")
        scale = _UNITS[unit]
        fraction = term[2] or ""
        total += int(term[1] or "0") * scale
        if fraction:
            total += int(fraction) * scale // 10 ** len(fraction)
        if total > _MAX:
            raise InvalidDuration(f"time: invalid duration {go_quote(text)}")
        rest = rest[term.end() :]
    return sign * total


def format_duration(nanoseconds: int) -> str:
    """Go's ``Duration.String()``: ``10m0s``, ``1.5s``, ``100ms``, ``0s``."""
    if nanoseconds == 0:
        return "0s"
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest < SECOND:
        for name, scale in (("ms", MILLISECOND), ("µs", MICROSECOND), ("ns", 1)):
            if rest >= scale:
                return f"{sign}{_decimal(rest, scale)}{name}"
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    text = f"{_decimal(rest, SECOND)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else sign + text


def _decimal(amount: int, scale: int) -> str:
    whole, part = divmod(amount, scale)
    if not part:
        return str(whole)
    digits = str(part).rjust(len(str(scale)) - 1, "0").rstrip("0")
    return f"{whole}.{digits}"

"""Times as Go's ``time.Parse`` reads them by a layout such as ``02 Jan 06 15:04 MST``, on a machine in UTC."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from framework.objects.timestamps import SECOND

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS: Final = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
# In the order in which Go looks for them at one place: longer ones first. "Jan" and "Mon" are no part of longer words.
_CHUNK: Final = re.compile(
    r"January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|__2|_2(?!006)|002|01|02|03|04|05|06|15|1|2|3|4|5|PM|pm"
    r"|Z07:00:00|Z070000|Z07:00|Z0700|Z07|-07:00:00|-070000|-07:00|-0700|-07|[.,]0+(?![0-9])|[.,]9+(?![0-9])"
)
_ZONES: Final = {
    "07": r"([+-])(\d\d)",
    "0700": r"([+-])(\d\d)(\d\d)",
    "07:00": r"([+-])(\d\d):(\d\d)",
    "070000": r"([+-])(\d\d)(\d\d)(\d\d)",
    "07:00:00": r"([+-])(\d\d):(\d\d):(\d\d)",
}
_NAMED_ZONE: Final = re.compile(r"UTC|ChST|MeST|WITA|GMT(?:[+-]\d{1,2})?|[+-]\d{1,2}|[A-Z]{4}T|[A-Z]{3}T|[A-Z]{3}")
_FRACTION: Final = re.compile(r"[.,]\d+", re.ASCII)


class GoTimeError(ValueError):
    """The text is not written by the layout, or means no time."""


@dataclass(slots=True)
class _Parts:
    year: int = 0
    month: int = 0
    """0: not given."""
    day: int = 0
    day_of_year: int = 0
    hour: int = 0
    minute: int = 0
    second: int = 0
    nanosecond: int = 0
    afternoon: bool | None = None
    offset: int = 0


def parse_time(layout: str, text: str) -> int:
    """Nanoseconds since 1970. Raises GoTimeError."""
    parts, rest = _Parts(), text
    chunks = _chunks(layout)
    for i, (prefix, chunk) in enumerate(chunks):
        rest = _skip(rest, prefix)
        if not chunk:
            break
        following = chunks[i + 1][1] if i + 1 < len(chunks) and not chunks[i + 1][0] else ""
        rest = _take(chunk, rest, parts, following)
    if rest:
        raise GoTimeError(f"extra text: {rest!r}")
    return _moment(parts)


@lru_cache(maxsize=256)
def _chunks(layout: str) -> tuple[tuple[str, str], ...]:
    """(literal text, what follows it); the last one has only a literal text."""
    found: list[tuple[str, str]] = []
    end = 0
    for each in _CHUNK.finditer(layout):
        found.append((layout[end : each.start()], each[0]))
        end = each.end()
    return (*found, (layout[end:], ""))


def _skip(text: str, prefix: str) -> str:
    """Without the literal text; one or more blanks stand for as many as there are."""
    while prefix:
        if prefix[0] == " ":
            if text and text[0] != " ":
                raise GoTimeError("a blank is missing")
            prefix, text = prefix.lstrip(" "), text.lstrip(" ")
            continue
        if not text or text[0] != prefix[0]:
            raise GoTimeError(f"{prefix!r} is missing")
        prefix, text = prefix[1:], text[1:]
    return text


def _number(text: str, least: int, most: int) -> tuple[int, str]:
    found = re.match(rf"\d{{{least},{most}}}", text, re.ASCII)
    if found is None:
        raise GoTimeError(f"no number in {text!r}")
    return int(found[0]), text[found.end() :]


def _name(text: str, names: tuple[str, ...]) -> tuple[int, str]:
    for index, name in enumerate(names):
        if text[: len(name)].lower() == name.lower():
            return index, text[len(name) :]
    raise GoTimeError(f"no name in {text!r}")


def _within(number: int, low: int, high: int, what: str) -> int:
    if not low <= number <= high:
        raise GoTimeError(f"{what} out of range")
    return number


def _take(chunk: str, text: str, parts: _Parts, following: str) -> str:
    taken = _TAKERS.get(chunk)
    if taken is not None:
        rest = taken(text, parts)
        if chunk in ("5", "05") and following[:1] not in (".", ","):
            # A fraction that the layout does not name is read all the same.
            return _fraction(rest, parts)
        return rest
    if chunk[0] in "Z-":
        return _zone(chunk, text, parts)
    if chunk[1] == "9":
        return _fraction(text, parts)
    if len(text) < len(chunk) or not _FRACTION.fullmatch(text[: len(chunk)]):
        raise GoTimeError("no fraction of a second")
    _fraction(text[: len(chunk)], parts)
    return text[len(chunk) :]


def _fraction(text: str, parts: _Parts) -> str:
    found = _FRACTION.match(text)
    if found is None:
        return text
    parts.nanosecond = int(found[0][1:10].ljust(9, "0"))
    return text[found.end() :]


def _zone(chunk: str, text: str, parts: _Parts) -> str:
    if chunk[0] == "Z" and text[:1] == "Z":
        return text[1:]
    found = re.match(_ZONES[chunk[1:]], text, re.ASCII)
    if found is None:
        raise GoTimeError("no time zone")
    hours, minutes, seconds = (int(each or 0) for each in (*found.groups()[1:], 0, 0)[:3])
    _within(hours, 0, 24, "time zone offset hour")
    _within(minutes, 0, 60, "time zone offset minute")
    _within(seconds, 0, 60, "time zone offset second")
    parts.offset = (hours * 3600 + minutes * 60 + seconds) * (-1 if found[1] == "-" else 1)
    return text[found.end() :]


def _named_zone(text: str, parts: _Parts) -> str:
    """The name of a zone that is not the machine's says nothing of its offset."""
    letters = re.match(r"[A-Z]*", text)
    found = _NAMED_ZONE.match(text)
    if found is None or (letters is not None and len(letters[0]) > 5 and not text.startswith(("UTC", "GMT"))):
        raise GoTimeError("no time zone")
    return text[found.end() :]


def _field(field: str, least: int, most: int, low: int, high: int) -> Callable[[str, _Parts], str]:
    def take(text: str, parts: _Parts) -> str:
        number, rest = _number(text, least, most)
        setattr(parts, field, _within(number, low, high, field))
        return rest

    return take


def _short_year(text: str, parts: _Parts) -> str:
    year, rest = _number(text, 2, 2)
    parts.year = year + (1900 if year >= 69 else 2000)
    return rest


def _month_name(names: tuple[str, ...]) -> Callable[[str, _Parts], str]:
    def take(text: str, parts: _Parts) -> str:
        index, rest = _name(text, names)
        parts.month = index + 1
        return rest

    return take


def _week_day(names: tuple[str, ...]) -> Callable[[str, _Parts], str]:
    def take(text: str, parts: _Parts) -> str:
        return _name(text, names)[1]

    return take


def _half(am: str, pm: str) -> Callable[[str, _Parts], str]:
    def take(text: str, parts: _Parts) -> str:
        if text[:2] not in (am, pm):
            raise GoTimeError(f"no {am} or {pm}")
        parts.afternoon = text[:2] == pm
        return text[2:]

    return take


def _padded_day(text: str, parts: _Parts) -> str:
    number, rest = _number(text[1:] if text[:1] == " " else text, 1, 2)
    parts.day = _within(number, 1, 31, "day")
    return rest


def _padded_day_of_year(text: str, parts: _Parts) -> str:
    number, rest = _number(text[:3].replace(" ", "0") + text[3:], 3, 3)
    parts.day_of_year = _within(number, 1, 366, "day of year")
    return rest


_TAKERS: Final[dict[str, Callable[[str, _Parts], str]]] = {
    "2006": _field("year", 4, 4, 0, 9999),
    "06": _short_year,
    "January": _month_name(_MONTHS),
    "Jan": _month_name(tuple(name[:3] for name in _MONTHS)),
    "01": _field("month", 2, 2, 1, 12),
    "1": _field("month", 1, 2, 1, 12),
    "Monday": _week_day(_DAYS),
    "Mon": _week_day(tuple(name[:3] for name in _DAYS)),
    "02": _field("day", 2, 2, 1, 31),
    "2": _field("day", 1, 2, 1, 31),
    "_2": _padded_day,
    "002": _field("day_of_year", 3, 3, 1, 366),
    "__2": _padded_day_of_year,
    "15": _field("hour", 1, 2, 0, 23),
    "03": _field("hour", 2, 2, 0, 12),
    "3": _field("hour", 1, 2, 0, 12),
    "04": _field("minute", 2, 2, 0, 59),
    "4": _field("minute", 1, 2, 0, 59),
    "05": _field("second", 2, 2, 0, 59),
    "5": _field("second", 1, 2, 0, 59),
    "PM": _half("AM", "PM"),
    "pm": _half("am", "pm"),
    "MST": _named_zone,
}


def _moment(parts: _Parts) -> int:
    hour = parts.hour
    if parts.afternoon is True and hour < 12:
        hour += 12
    elif parts.afternoon is False and hour == 12:
        hour = 0
    # Python knows no year 0; the calendar repeats itself every 400 years.
    year, shift = (parts.year, 0) if parts.year >= 1 else (parts.year + 400, 400)
    try:
        if parts.day_of_year:
            first = date(year, 1, 1)
            day = date.fromordinal(first.toordinal() + parts.day_of_year - 1)
            if day.year != year or (parts.month and parts.month != day.month) or (parts.day and parts.day != day.day):
                raise GoTimeError("day-of-year does not match")
        else:
            day = date(year, parts.month or 1, parts.day or 1)
    except ValueError as error:
        raise GoTimeError("day out of range") from error
    days = day.toordinal() - date(1970, 1, 1).toordinal() - (146_097 if shift else 0)
    seconds = days * 86_400 + hour * 3600 + parts.minute * 60 + parts.second - parts.offset
    return seconds * SECOND + parts.nanosecond

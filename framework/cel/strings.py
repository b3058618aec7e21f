"""String functions of cel-go (ext/strings.go, version 2); positions count code points."""

from __future__ import annotations

import math
import re
from typing import Any, Final

from framework.cel.errors import EvaluationError

_UPPER: Final = str.maketrans("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LOWER: Final = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
_NUMBER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)


def char_at(text: str, position: int) -> str:
    if not 0 <= position <= len(text):
        raise EvaluationError(f"index out of range: {position}")
    return text[position : position + 1]


def index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise EvaluationError(f"index out of range: {offset}")
    return text.find(part, offset)


def last_index_of(text: str, part: str, offset: int | None = None) -> int:
    if not part:
        return len(text) if offset is None else offset
    if offset is None:
        return text.rfind(part)
    if offset < 0:
        raise EvaluationError(f"index out of range: {offset}")
    if offset >= len(text):
        return -1  # upstream: "far greater than the length"
    return text.rfind(part, 0, offset + len(part))


def lower_ascii(text: str) -> str:
    return text.translate(_LOWER)


def upper_ascii(text: str) -> str:
    return text.translate(_UPPER)


def trim(text: str) -> str:
    return text.strip(_SPACE)


def replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, max(count, -1))


def split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    if 0 < count < len(text):
        return [*text[: count - 1], text[count - 1 :]]
    return list(text)


def substring(text: str, start: int, end: int | None = None) -> str:
    if end is not None and start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for position in (start, len(text) if end is None else end):
        if not 0 <= position <= len(text):
            raise EvaluationError(f"index out of range: {position}")
    return text[start:end]


def join(parts: list[Any], separator: str = "") -> str:
    return separator.join(parts)


def parse_number(text: str, *, signed: bool) -> int | None:
    """None where Go's strconv refuses the text."""
    if len(text) > 30 or _NUMBER.fullmatch(text) is None or (not signed and text[0] in "+-"):
        return None
    return int(text)


def to_string(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _double(value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from error
    return str(value)


def _double(value: float) -> str:
    """Go's %g: the shortest digits; an exponent below -4 and from 21 on."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    digits, _, exponent = f"{value:.17e}".partition("e")
    for precision in range(17):
        candidate = f"{value:.{precision}e}"
        if float(candidate) == value:
            digits, _, exponent = candidate.partition("e")
            break
    power = int(exponent)
    if -4 <= power < 21:
        return f"{value:.{max(len(digits.lstrip('-').replace('.', '')) - 1 - power, 0)}f}"
    return f"{digits}e{'-' if power < 0 else '+'}{abs(power):02d}"

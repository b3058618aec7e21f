"""Numbers as Go's strconv reads them, and its conversion of floating point to int64."""

from __future__ import annotations

import math
import re
from typing import Final

_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9_]+(?:\.[0-9_]*)?|\.[0-9_]+)(?:[eE][+-]?[0-9_]+)?", re.ASCII)
_HEXADECIMAL: Final = re.compile(
    r"[+-]?0[xX](?:[0-9a-fA-F_]+(?:\.[0-9a-fA-F_]*)?|\.[0-9a-fA-F_]+)[pP][+-]?[0-9_]+", re.ASCII
)
_SPECIAL: Final = re.compile(r"([+-]?)(?:inf|infinity)|nan", re.ASCII | re.IGNORECASE)
_INTEGER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_MOST_DIGITS: Final = 19
"""Of an int64; Python refuses to read texts of some thousand digits."""


def parse_float(text: str) -> float | None:
    """``strconv.ParseFloat(text, 64)``; None for an error, also for a number out of range."""
    special = _SPECIAL.fullmatch(text)
    if special is not None:
        if special[0].lower() == "nan":
            return math.nan
        return -math.inf if special[1] == "-" else math.inf
    if "_" in text and not _underscores_separate(text):
        return None
    plain = text.replace("_", "")
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(plain)
        except OverflowError:
            return None
    if not _DECIMAL.fullmatch(text) or not any(each.isdigit() for each in plain):
        return None
    number = float(plain)
    return None if math.isinf(number) else number


def _underscores_separate(text: str) -> bool:
    """Digits, or a base prefix and a digit (``underscoreOK``)."""
    digits = text.lstrip("+-") if text[:1] in "+-" else text
    before = "^"
    rest = digits
    hexadecimal = False
    if len(digits) >= 2 and digits[0] == "0" and digits[1].lower() in "box":
        before, rest = "0", digits[2:]
        hexadecimal = digits[1].lower() == "x"
    for each in rest:
        if each.isdigit() or (hexadecimal and each.lower() in "abcdef"):
            before = "0"
        elif each == "_":
            if before != "0":
                return False
            before = "_"
        else:
            if before == "_":
                return False
            before = "!"
    return before != "_"


def to_int64(number: float) -> int:
    """Cut toward zero; what int64 cannot hold becomes its least value, as on amd64."""
    if math.isnan(number) or not -(2.0**63) <= number < 2.0**63:
        return -(2**63)
    return int(number)


def parse_int(text: str, bits: int) -> int | None:
    """``strconv.ParseInt(text, 10, bits)``; None for an error."""
    if not _INTEGER.fullmatch(text) or len(text.lstrip("+-").lstrip("0")) > _MOST_DIGITS:
        return None
    number = int(text)
    return number if -(1 << (bits - 1)) <= number < 1 << (bits - 1) else None

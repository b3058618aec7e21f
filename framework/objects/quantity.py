"""Quantities exactly as Kubernetes reads them (upstream: apimachinery/pkg/api/resource).

A quantity is kept as a whole number of billionths, the smallest unit there is; anything finer was rounded up (away
from zero) while parsing. Parsing is cached: a cluster has few distinct quantities.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from framework.objects.metadata import RawQuantity

MAX_INT64: Final = (1 << 63) - 1
NANOS: Final = 10**9
NANOS_PER_MILLI: Final = 10**6
MAX_NANOS: Final = MAX_INT64 * NANOS

FORMAT_WRONG: Final = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMERIC_WRONG: Final = "unable to parse numeric part of quantity"
SUFFIX_WRONG: Final = "unable to parse quantity's suffix"


class Format(Enum):
    DECIMAL_EXPONENT = "DecimalExponent"
    BINARY_SI = "BinarySI"
    DECIMAL_SI = "DecimalSI"


class QuantityError(ValueError):
    """The text is no quantity; the message is the API server's."""


# What upstream's scanner accepts, which is more than the expression in its error text: a number may be missing ("Ki"
# is 0) and "1.Gi" is allowed.
_SCANNER: Final = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIXES: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]{1,18})", re.ASCII)
_BEYOND: Final = 10**40
_LONGEST: Final = 256  # a bound of ours, so that a hostile upload cannot make us multiply numbers of a million digits


@dataclass(frozen=True, slots=True)
class Quantity:
    nanos: int
    format: Format = Format.DECIMAL_SI

    def value(self) -> int:
        """Rounded up, away from zero, to a whole number; held within int64."""
        return rounded(self.nanos, NANOS)

    def milli_value(self) -> int:
        """Rounded up, away from zero, to thousandths; held within int64."""
        return rounded(self.nanos, NANOS_PER_MILLI)

    def __str__(self) -> str:
        """The canonical form: no fraction, the largest suffix that loses nothing."""
        nanos = self.nanos
        if nanos == 0:
            return "0"
        if self.format is Format.BINARY_SI and abs(nanos) >= 1024 * NANOS and nanos % NANOS == 0:
            return _binary(nanos // NANOS)
        return _decimal(nanos, self.format)


def parse_quantity(raw: RawQuantity) -> Quantity:
    """Raises QuantityError. JSON's and YAML's bare numbers are read by their text, as the API server does."""
    return _parse(raw if isinstance(raw, str) else repr(raw))


def is_quantity(raw: RawQuantity) -> bool:
    try:
        parse_quantity(raw)
    except QuantityError:
        return False
    return True


def format_value(value: int, format_: Format = Format.DECIMAL_SI) -> str:
    return str(Quantity(value * NANOS, format_))


def format_milli(milli: int) -> str:
    """250 → "250m", 2000 → "2"."""
    return str(Quantity(milli * NANOS_PER_MILLI))


@lru_cache(maxsize=1 << 16)
def _parse(text: str) -> Quantity:
    text = text.strip()
    if len(text) > _LONGEST:
        raise QuantityError(NUMERIC_WRONG)
    found = _SCANNER.fullmatch(text) if text else None
    if found is None:
        raise QuantityError(FORMAT_WRONG)
    sign, whole, fraction, suffix = found[1], found[2], found[3] or "", found[4]
    base, exponent, format_ = _interpret(suffix)
    if base == 2 and exponent == 60 and not (whole or fraction):
        raise QuantityError(NUMERIC_WRONG)  # upstream's slow path, which only Ei takes without a number, wants digits
    digits = int((whole + fraction) or "0")
    if digits == 0:
        return Quantity(0, format_)
    if base == 2:
        nanos = _scaled(digits << exponent, 9 - len(fraction))
        nanos = min(nanos, MAX_NANOS)
        if nanos < NANOS:
            format_ = Format.DECIMAL_SI
    else:
        nanos = _scaled(digits, exponent - len(fraction) + 9)
    return Quantity(-nanos if sign == "-" else nanos, format_)


def _interpret(suffix: str) -> tuple[int, int, Format]:
    if suffix in _DECIMAL:
        return 10, _DECIMAL[suffix], Format.DECIMAL_SI
    if suffix in _BINARY:
        return 2, _BINARY[suffix], Format.BINARY_SI
    if found := _EXPONENT.fullmatch(suffix):
        return 10, int(found[1]), Format.DECIMAL_EXPONENT
    raise QuantityError(SUFFIX_WRONG)


def _scaled(digits: int, exponent: int) -> int:
    """``digits × 10**exponent``, rounded up. Beyond int64 whole units no decision can tell values apart: held there,
    so that "1e999999999" costs nothing (upstream's arithmetic overflows instead)."""
    size = len(str(digits))
    if size + exponent > 40:
        return _BEYOND
    if size + exponent <= 0:
        return 1
    power: int = 10 ** abs(exponent)
    return digits * power if exponent >= 0 else -(-digits // power)


def rounded(nanos: int, unit: int) -> int:
    """In ``unit`` (of so many nanos), away from zero to a whole number, held within int64."""
    if nanos >= 0:
        return min(-(-nanos // unit), MAX_INT64)
    return max(nanos // unit, -MAX_INT64)


def _binary(value: int) -> str:
    power = 0
    while abs(value) >= 1024 and value % 1024 == 0 and power < 6:
        value //= 1024
        power += 1
    return f"{value}{_BINARY_SUFFIXES[power]}"


def _decimal(nanos: int, format_: Format) -> str:
    exponent = -9
    while nanos % 1000 == 0 and (exponent < 18 or format_ is Format.DECIMAL_EXPONENT):
        nanos //= 1000
        exponent += 3
    if format_ is Format.DECIMAL_EXPONENT:
        return f"{nanos}e{exponent}" if exponent else str(nanos)
    return f"{nanos}{_DECIMAL_SUFFIX[exponent]}"

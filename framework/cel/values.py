"""Values of CEL: bool, int, float, str, bytes, None, list and dict stand for themselves; the rest has classes here.

Dicts are keyed as CEL tells keys apart: bool keys are wrapped, since Python takes True for 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, total_ordering
from typing import Any, Final

from framework.cel.errors import EvaluationError, no_such_overload
from framework.objects.quantity import MAX_INT64, NANOS, parse_quantity

MIN_INT64: Final = -MAX_INT64 - 1
MAX_UINT64: Final = (1 << 64) - 1


class Uint(int):
    """CEL's uint, which no operator mixes with int."""


@dataclass(frozen=True, slots=True)
class BoolKey:
    value: bool


@dataclass(frozen=True, slots=True)
class TypeValue:
    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    present: bool
    content: Any = None


NONE: Final = Optional(False)


class DomainMap(dict[str, dict[str, Any]]):
    """``device.attributes`` and ``device.capacity``: a lookup of a missing domain finds an empty map; ``in``, size and
    iteration see only what is there (upstream: dynamic-resource-allocation/cel/compile.go, mapper.Find)."""


_DIGITS: Final = frozenset("0123456789")
_IDENTIFIER: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Version:
    """A semantic version as github.com/blang/semver/v4 reads and orders it; build metadata orders nothing."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()
    build: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str) -> Version:
        """Raises ValueError with that library's text."""
        if not text:
            raise ValueError("Version string empty")
        parts = text.split(".", 2)
        if len(parts) != 3:
            raise ValueError("No Major.Minor.Patch elements found")
        major = _number(parts[0], "major", "Major")
        minor = _number(parts[1], "minor", "Minor")
        patch, plus, build = parts[2].partition("+")
        patch, dash, prerelease = patch.partition("-")
        number = _number(patch, "patch", "Patch")
        before = tuple(_prerelease(part) for part in prerelease.split(".")) if dash else ()
        after = tuple(_build(part) for part in build.split(".")) if plus else ()
        return Version(major, minor, number, before, after)

    @staticmethod
    def parse_tolerant(text: str) -> Version:
        """A leading "v", leading zeros and missing parts are allowed (upstream: cel/library/semverlib.go)."""
        parts = text.removeprefix("v").split(".", 2)
        for position, part in enumerate(parts):
            if len(part) > 1:
                stripped = part.lstrip("0")
                parts[position] = stripped if stripped[:1] in _DIGITS else "0" + stripped
        if len(parts) < 3 and any(sign in parts[-1] for sign in "+-"):
            raise ValueError("short version cannot contain PreRelease/Build meta data")
        return Version.parse(".".join(parts + ["0"] * (3 - len(parts))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._order() == other._order()

    def __lt__(self, other: Version) -> bool:
        return self._order() < other._order()

    def __hash__(self) -> int:
        return hash(self._order())

    def __str__(self) -> str:
        before = "-" + ".".join(self.prerelease) if self.prerelease else ""
        after = "+" + ".".join(self.build) if self.build else ""
        return f"{self.major}.{self.minor}.{self.patch}{before}{after}"

    def _order(self) -> tuple[Any, ...]:
        before = tuple((0, int(part), "") if _numeric(part) else (1, 0, part) for part in self.prerelease)
        return self.major, self.minor, self.patch, not before, before


def _numeric(text: str) -> bool:
    return _DIGITS.issuperset(text)


def _number(text: str, name: str, title: str) -> int:
    if not _numeric(text):
        raise ValueError(f"Invalid character(s) found in {name} number {quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise ValueError(f"{title} number must not contain leading zeroes {quoted(text)}")
    if not text or len(text) > 20 or int(text) > MAX_UINT64:
        wrong = "value out of range" if text else "invalid syntax"
        raise ValueError(f"strconv.ParseUint: parsing {quoted(text)}: {wrong}")
    return int(text)


def _prerelease(text: str) -> str:
    if not text:
        raise ValueError("Prerelease is empty")
    if _numeric(text) and len(text) > 1 and text[0] == "0":
        raise ValueError(f"Numeric PreRelease version must not contain leading zeroes {quoted(text)}")
    if not _IDENTIFIER.issuperset(text):
        raise ValueError(f"Invalid character(s) found in prerelease {quoted(text)}")
    return text


def _build(text: str) -> str:
    if not text:
        raise ValueError("Build meta data is empty")
    if not _IDENTIFIER.issuperset(text):
        raise ValueError(f"Invalid character(s) found in build meta data {quoted(text)}")
    return text


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


_INT64_FORM: Final = re.compile(
    r"[+-]?(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?(?:(?P<binary>[KMGTPE])i|(?P<decimal>[numkMGTPE]?)"
    r"|[eE](?P<exponent>[+-]?[0-9]+))",
    re.ASCII,
)
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


@dataclass(frozen=True, slots=True)
class CelQuantity:
    """``scale`` is the power of ten that upstream's int64Amount is kept in, None where upstream falls back to
    arbitrary precision; isInteger() and asInteger() depend on it (apimachinery: api/resource/amount.go, AsInt64), so
    that quantity("1Pi") and quantity("1000m") are no integers. ``computed``: what add() and sub() return, which is no
    match on the right-hand side of == (upstream: apiserver/pkg/cel/quantity.go, Equal)."""

    nanos: int
    scale: int | None
    computed: bool = False

    @staticmethod
    @lru_cache(maxsize=4096)
    def parse(text: str) -> CelQuantity:
        """Raises QuantityError."""
        return CelQuantity(parse_quantity(text).nanos, _scale(text.strip()))

    def integer(self) -> int | None:
        if self.scale is None:
            return None
        value = self._value(self.scale)
        if value == 0:
            return 0
        if self.scale < 0 or abs(self.nanos) > MAX_INT64 * NANOS:
            return None
        return self.nanos // NANOS

    def approximate(self) -> float:
        if self.scale is None:
            return self.nanos / NANOS
        return float(self._value(self.scale)) * math.pow(10, self.scale)

    def plus(self, other: CelQuantity) -> CelQuantity:
        if self.scale is not None and other.scale is not None:
            if self.nanos == 0:
                return CelQuantity(other.nanos, other.scale, computed=True)
            if other.nanos == 0:
                return CelQuantity(self.nanos, self.scale, computed=True)
        return self._sum(other, other.nanos)

    def minus(self, other: CelQuantity) -> CelQuantity:
        return self._sum(other, -other.nanos)

    def _sum(self, other: CelQuantity, nanos: int) -> CelQuantity:
        total = self.nanos + nanos
        if self.scale is None or other.scale is None:
            return CelQuantity(total, None, computed=True)
        scale = min(self.scale, other.scale)
        amounts = (self._value(scale), other._value(scale), CelQuantity(total, scale)._value(scale))
        fits = all(MIN_INT64 <= amount <= MAX_INT64 for amount in amounts)
        return CelQuantity(total, scale if fits else None, computed=True)

    def _value(self, scale: int) -> int:
        power: int = 10 ** abs(9 + scale)
        return self.nanos // power if scale >= -9 else self.nanos * power


def _scale(text: str) -> int | None:
    """Upstream's fast path: 18 digits at most and no binary suffix that may overflow (quantity.go, ParseQuantity)."""
    found = _INT64_FORM.fullmatch(text)
    if found is None:
        return None
    whole = found["whole"].lstrip("0")
    fraction = found["fraction"] or ""
    if found["binary"]:
        exponent = 10 * (1 + "KMGTPE".index(found["binary"]))
        # float32 arithmetic upstream; ten times three tenths is exact enough to floor alike
        exact = not fraction and 15 - len(whole) - exponent * 3 // 10 - 1 >= 0
        return 0 if exact else None
    power = int(found["exponent"]) if found["exponent"] else _DECIMAL[found["decimal"] or ""]
    if len(whole) + len(fraction) > 18:
        return None
    return power - len(fraction) if power - len(fraction) >= -9 else None


def type_name(value: Any) -> str:
    """The name in "no such overload: f(int, string)" (cel-go: common/types)."""
    match value:
        case None:
            return "null_type"
        case bool():
            return "bool"
        case Uint():
            return "uint"
        case int():
            return "int"
        case float():
            return "double"
        case str():
            return "string"
        case bytes():
            return "bytes"
        case list():
            return "list"
        case dict():
            return "map"
        case Version():
            return "kubernetes.Semver"
        case CelQuantity():
            return "kubernetes.Quantity"
        case Optional():
            return "optional_type"
    return "type"


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(left: Any, right: Any) -> bool:
    """``==``; raises EvaluationError where cel-go's Equal answers with an error instead of false."""
    if left is None or right is None:
        return left is right
    if isinstance(left, str):
        return isinstance(right, str) and left == right
    if isinstance(left, bool):
        return isinstance(right, bool) and left == right
    if isinstance(left, int | float):
        return is_number(right) and bool(left == right)
    if isinstance(left, CelQuantity):
        if not isinstance(right, CelQuantity) or right.computed:
            raise no_such_overload()
        return left.nanos == right.nanos
    if isinstance(left, Version):
        if not isinstance(right, Version):
            raise no_such_overload()
        return left == right
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and len(left) == len(right)
            and all(key in right and same(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, Optional) and isinstance(right, Optional):
        return left.present == right.present and (not left.present or same(left.content, right.content))
    return type(left) is type(right) and bool(left == right)


def same(left: Any, right: Any) -> bool:
    """Inside lists and maps an error is as good as false (cel-go: common/types/list.go)."""
    try:
        return equal(left, right)
    except EvaluationError:
        return False


def compare(left: Any, right: Any, function: str) -> int:
    """-1, 0, 1; raises EvaluationError for what has no order."""
    if isinstance(left, bool):
        comparable = isinstance(right, bool)
    elif isinstance(left, int | float):
        comparable = is_number(right)
        if comparable and (math.isnan(left) or math.isnan(right)):
            raise EvaluationError("NaN values cannot be ordered")
    elif isinstance(left, str):
        comparable = isinstance(right, str)
    elif isinstance(left, bytes):
        comparable = isinstance(right, bytes)
    else:
        raise EvaluationError(f"no such overload: {function}")
    if not comparable:
        raise no_such_overload()
    # Go orders strings by their bytes, which is the order of code points.
    return int(left > right) - int(left < right)


def map_key(value: Any) -> Any:
    return BoolKey(value) if isinstance(value, bool) else value


def from_key(key: Any) -> Any:
    return key.value if isinstance(key, BoolKey) else key


def keys(value: dict[Any, Any]) -> Iterator[Any]:
    return map(from_key, value)


def shown(value: Any) -> str:
    """As Go's %v prints it in "no such key: …"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)

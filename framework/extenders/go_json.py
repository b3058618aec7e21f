"""JSON as Go's encoding/json reads it: the first value of a text, into a type, with Go's errors.

Keys match in any case and the last one wins, null leaves a value as it is (and empties pointers, maps and slices),
unknown keys are dropped, what follows the value is ignored. The text of an error is Go's, because it is what a pod's
condition says (docs/semantics/extenders.md#replies).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from framework.extenders.go_scanner import DEEPEST, complaint
from framework.objects.go_numbers import parse_int


class GoJsonError(ValueError):
    """The text is Go's."""


@dataclass(frozen=True, slots=True)
class GoType:
    """``name`` as Go prints the type."""

    name: str


@dataclass(frozen=True, slots=True)
class Text(GoType):
    name: str = "string"


@dataclass(frozen=True, slots=True)
class Whole(GoType):
    name: str = "int64"
    bits: int = 64


@dataclass(frozen=True, slots=True)
class Truth(GoType):
    name: str = "bool"


@dataclass(frozen=True, slots=True)
class Pointer(GoType):
    to: GoType = field(default_factory=Text)


@dataclass(frozen=True, slots=True)
class Slice(GoType):
    of: GoType = field(default_factory=Text)


@dataclass(frozen=True, slots=True)
class Map(GoType):
    of: GoType = field(default_factory=Text)


@dataclass(frozen=True, slots=True)
class Struct(GoType):
    fields: Mapping[str, GoType] = field(default_factory=dict)
    folded: Mapping[str, str] = field(default_factory=dict)
    """Case-folded key → key."""

    @property
    def own_name(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Special(GoType):
    """A type that reads itself: ``read`` gives the value, or raises GoJsonError. It is given None for null, a str, a
    Number, True or False; for lists and objects ``read`` is given ``...``."""

    read: Callable[[Any], Any] = lambda value: value


def pointer(to: GoType) -> Pointer:
    return Pointer(f"*{to.name}", to)


def slice_of(of: GoType) -> Slice:
    return Slice(f"[]{of.name}", of)


def map_of(of: GoType, name: str = "") -> Map:
    return Map(name or f"map[string]{of.name}", of)


def struct(go_name: str, /, **fields: GoType) -> Struct:
    return Struct(go_name, fields, {fold(key): key for key in fields})


class Number(str):
    """A number as it is written."""

    __slots__ = ()


class _Object(list[tuple[str, Any]]):
    """The members as they are written, with repetitions."""


LONGEST_INT: Final = 20
"""Characters of the longest int64."""
_FOLDED: Final = {0x212A: "K", 0x17F: "S"}
"""The letters beyond ASCII that fold to one of its letters (Kelvin, long s)."""


def fold(key: str) -> str:
    return key.upper() if key.isascii() else key.translate(_FOLDED).upper()


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_Object, parse_int=Number, parse_float=Number, parse_constant=lambda name: _no_constant(name)
)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def parsed(text: bytes) -> Any:
    """The first value of ``text``. Raises GoJsonError with the scanner's words."""
    decoded = text.decode("utf-8", errors="replace")
    start = len(decoded) - len(decoded.lstrip(" \t\r\n"))
    try:
        value, _ = _DECODER.raw_decode(decoded, start)
    except RecursionError:
        raise GoJsonError("exceeded max depth") from None
    except ValueError:
        raise GoJsonError(complaint(text) or "unexpected EOF") from None
    if isinstance(value, Number) and (wrong := complaint(text)):
        # A number that breaks off ends earlier for Python's parser.
        raise GoJsonError(wrong)
    return value


def decode(text: bytes, into: GoType) -> Any:
    """The first value of ``text`` as ``into``: dict with Go's keys, list, str, int, bool, None. Raises GoJsonError."""
    return convert(parsed(text), into)


def convert(value: Any, into: GoType) -> Any:
    reading = _Reading()
    result = reading.value(value, into, zero(into))
    if reading.error:
        raise GoJsonError(reading.error)
    return result


def zero(of: GoType) -> Any:
    if isinstance(of, Text):
        return ""
    if isinstance(of, Whole):
        return 0
    if isinstance(of, Truth):
        return False
    if isinstance(of, Struct):
        return {}
    return None


class _Reading:
    """One decoding. As in Go the first error is kept, and what does not fit is passed over."""

    def __init__(self) -> None:
        self.error = ""
        self._struct = ""
        self._path: list[str] = []
        self._depth = 0

    def _refuse(self, what: str, into: GoType) -> None:
        if self.error:
            return
        place = f"Go struct field {self._struct}.{'.'.join(self._path)}" if self._struct else "Go value"
        self.error = f"json: cannot unmarshal {what} into {place} of type {into.name}"

    def value(self, value: Any, into: GoType, old: Any) -> Any:
        if isinstance(into, Pointer):
            return None if value is None else self.value(value, into.to, zero(into.to) if old is None else old)
        if isinstance(into, Special):
            return self._special(value, into, old)
        if value is None:
            return None if isinstance(into, (Map, Slice)) else old
        if isinstance(value, _Object):
            return self._object(value, into, old)
        if isinstance(value, list):
            return self._list(value, into, old)
        return self._literal(value, into, old)

    def _special(self, value: Any, into: Special, old: Any) -> Any:
        try:
            return into.read(... if isinstance(value, list) else value)
        except GoJsonError as error:
            self.error = self.error or str(error)
            return old

    def _literal(self, value: Any, into: GoType, old: Any) -> Any:
        if isinstance(value, bool):
            if isinstance(into, Truth):
                return value
            self._refuse("bool", into)
        elif isinstance(value, Number):
            if isinstance(into, Whole):
                number = parse_int(value, into.bits) if len(value) <= LONGEST_INT else None
                if number is not None:
                    return number
                self._refuse(f"number {value}", into)
            else:
                self._refuse("number", into)
        elif isinstance(into, Text):
            return _characters(value)
        else:
            self._refuse("string", into)
        return old

    def _list(self, value: list[Any], into: GoType, old: Any) -> Any:
        if not isinstance(into, Slice):
            self._refuse("array", into)
            return old
        before = old or []
        empty = into.of
        return [
            self.value(each, empty, before[place] if place < len(before) else zero(empty))
            for place, each in enumerate(value)
        ]

    def _object(self, value: _Object, into: GoType, old: Any) -> Any:
        if isinstance(into, Map):
            result = dict(old or {})
            for key, inner in value:
                result[_characters(key)] = self.value(inner, into.of, zero(into.of))
            return result
        if not isinstance(into, Struct):
            self._refuse("object", into)
            return old
        result = dict(old or {})
        outer = self._struct
        self._depth += 1
        if self._depth > DEEPEST:
            raise GoJsonError("exceeded max depth")
        for key, inner in value:
            name = key if key in into.fields else into.folded.get(fold(key))
            if name is None:
                continue
            kind = into.fields[name]
            self._path.append(name)
            self._struct = into.own_name
            result[name] = self.value(inner, kind, result.get(name, zero(kind)))
            self._path.pop()
            self._struct = outer
        self._depth -= 1
        return result


def _characters(text: str) -> str:
    """Half of a surrogate pair becomes the replacement character."""
    return text if text.isascii() else "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)

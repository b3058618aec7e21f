"""Keys that stand twice in an object of JSON: a decoder takes the last one and says nothing, and an API server that is
asked strictly, as kubectl asks it, refuses the text. Of YAML who reads it tells of them (``yaml_documents``).

Upstream: sigs.k8s.io/json, its strict decoding (``duplicate field``).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

_LEVELS: Final = 4
"""Of objects and lists that are passed over by the decoder when the place is looked for: in a List the one that has the
key begins after three."""
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)
_WHITE: Final = re.compile(r"[ \t\r\n]*")


class RepeatedKey(NamedTuple):
    key: str
    field: str
    """With the way to it: ``metadata.labels.app``, ``spec.containers[1].image``."""
    line: int
    column: int
    """Of the second one; both count from one."""
    first: int
    """The line of the first one."""


class _TwiceError(Exception):
    """Raised inside of the decoder only."""


def _pairs(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise _TwiceError


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_pairs)


def repeated_key(text: str, start: int = 0) -> RepeatedKey | None:
    """The first one of the document that begins at ``start``; None where there is none, and of what is no JSON.

    It is looked through by the decoder, at more than 20 MB a second and up to 150.
    """
    begins = _after_white(text, start)
    try:
        _DECODER.raw_decode(text, begins)
    except _TwiceError:
        return _placed(text, begins)
    except (ValueError, RecursionError):
        return None
    return None


@dataclass(slots=True)
class _Open:
    """An object or a list that is not closed yet."""

    is_object: bool
    keys: dict[str, int] = field(default_factory=dict)
    """Key → where it stands."""
    at: str | int = 0
    """The key, or the place in the list, that is being read."""
    wants_key: bool = True


def _after_white(text: str, at: int) -> int:
    white = _WHITE.match(text, at)
    assert white is not None
    return white.end()


def _failing(text: str, begins: int) -> tuple[str | int, int] | None:
    """In which field or place of the object or list a key stands twice, and where that begins; None: in itself."""
    is_object, seen, place, at = text[begins] == "{", set[str | int](), 0, begins + 1
    while True:
        name: str | int = place
        at = _after_white(text, at)
        if is_object:
            name, at = _DECODER.raw_decode(text, at)
            if name in seen:
                return None
            seen.add(name)
            at = _after_white(text, _after_white(text, at) + 1)
        try:
            _, ends = _DECODER.raw_decode(text, at)
        except _TwiceError:
            return name, at
        at = _after_white(text, ends) + 1
        place += 1


def _placed(text: str, start: int) -> RepeatedKey | None:
    """Text that has one. Reading it sign by sign is slow, so what comes before is passed over by the decoder."""
    way: list[_Open] = []
    while len(way) < _LEVELS and (inside := _failing(text, start)) is not None:
        way.append(_Open(text[start] == "{", at=inside[0]))
        start = inside[1]
    for token in _TOKEN.finditer(text, start):
        sign = token[0][0]
        if sign in "{[":
            way.append(_Open(sign == "{"))
            continue
        if not way:
            return None
        inner = way[-1]
        if sign in "}]":
            way.pop()
        elif sign == ",":
            inner.wants_key = True
            if isinstance(inner.at, int):
                inner.at += 1
        elif sign == ":":
            inner.wants_key = False
        elif inner.is_object and inner.wants_key:
            inner.at = key = str(json.loads(token[0], strict=False))
            if key in inner.keys:
                place = token.start()
                line, first = (text.count("\n", 0, at) + 1 for at in (place, inner.keys[key]))
                return RepeatedKey(key, _field(way), line, place - text.rfind("\n", 0, place), first)
            inner.keys[key] = token.start()
    return None


def _field(way: list[_Open]) -> str:
    return "".join(f".{each.at}" if each.is_object else f"[{each.at}]" for each in way).removeprefix(".")

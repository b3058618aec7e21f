"""Keys that stand twice in an object of JSON: a decoder takes the last one and says nothing, and an API server that is
asked strictly, as kubectl asks it, refuses the text. Of YAML who reads it tells of them (``yaml_documents``).

Upstream: sigs.k8s.io/json, its strict decoding (``duplicate field``).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

MOST_LOOKED_AT: Final = 2 * 1024 * 1024
"""Characters. Nobody writes more by hand, and what a program wrote has no key twice: large files are read without a
look."""
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
    """The first one of the document that begins at ``start``; None where there is none, and of what is no JSON."""
    white = _WHITE.match(text, start)
    assert white is not None
    try:
        _DECODER.raw_decode(text, white.end())
    except _TwiceError:
        return _placed(text, start)
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


def _placed(text: str, start: int) -> RepeatedKey | None:
    way: list[_Open] = []
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

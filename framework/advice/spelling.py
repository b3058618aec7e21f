"""Whether a word that nothing has is a known one, mistyped.

A slip is a difference of upper and lower case only, of a separator (``on_demand``, ``ondemand``, ``on-demand``), or of
one letter: one too few, one too many, two neighbours swapped, or a wrong one. Where near words are other things on
purpose there is none:

- Numbers: ``v1`` and ``v2``, ``us-east-1`` and ``us-east-2``. Digits must be the same.
- Letters that count: ``eu-west-1a`` and ``eu-west-1b``, ``zone-a`` and ``zone-b``. A letter that stands alone between
  digits or separators must be the same.
- Short words: ``gpu`` and ``tpu``, ``gold`` and ``cold``. One letter makes another word of them, so a wrong letter is a
  slip only among at least five; one too few or too many is a slip in every word of at least two.
- Well-known values: ``arm64`` and ``amd64``, ``linux`` and ``windows``, ``large`` and ``xlarge``. They are meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

LEAST: Final = 2
LEAST_FOR_A_WRONG_LETTER: Final = 5
_TOKEN: Final = re.compile(r"[a-z]+|\d+")
_NAMING: Final = re.compile(r"[a-z]+")
WELL_KNOWN: Final = frozenset({
    # kubernetes.io/arch
    "386", "amd64", "arm", "arm64", "loong64", "mips64le", "ppc64le", "riscv64", "s390x", "x86",
    # kubernetes.io/os
    "darwin", "linux", "windows",
    # sizes of node.kubernetes.io/instance-type
    "nano", "micro", "small", "medium", "large", "xlarge", "metal",
    "true", "false", "yes", "no", "on", "off",
    "north", "south", "east", "west", "northeast", "northwest", "southeast", "southwest", "central",
})  # fmt: skip


def meant(word: str, known: Iterable[str]) -> str:
    """The known word that ``word`` is a slip of; "" when there is none, or ``word`` itself is known."""
    known = sorted(set(known))
    if word in known:
        return ""
    same = [each for each in known if each.lower() == word.lower()]
    return next((each for each in same or known if is_slip(word, each)), "")


def meant_key(key: str, known: Iterable[str]) -> str:
    """Of a label's or a taint's key: a slip, or the known key of the same name with another prefix, or without one."""
    known = sorted(set(known))
    if key in known:
        return ""
    name = key.rpartition("/")[2]
    return meant(key, known) or next((each for each in known if each.rpartition("/")[2] == name), "")


def is_slip(word: str, other: str) -> bool:
    """``other``: what may have been meant."""
    one, two = word.lower(), other.lower()
    if one == two:
        return word != other
    parts, others = _TOKEN.findall(one), _TOKEN.findall(two)
    if one in WELL_KNOWN or _counting(parts) != _counting(others):
        return False
    if any(part in WELL_KNOWN for part in set(parts) - set(others)):
        return False
    if "".join(parts) == "".join(others):
        return True
    return min(len(one), len(two)) >= LEAST and _one_edit(one, two)


def _counting(parts: Iterable[str]) -> list[str]:
    return [part for part in parts if part.isdigit() or len(part) == 1]


def _one_edit(one: str, two: str) -> bool:
    at = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    if len(one) != len(two):
        longer, shorter = (one, two) if len(one) > len(two) else (two, one)
        return longer[at + 1 :] == shorter[at:]
    if one[at : at + 2] == two[at : at + 2][::-1] and one[at + 2 :] == two[at + 2 :]:
        return True
    if one[at + 1 :] != two[at + 1 :]:
        return False
    within = next((each for each in _NAMING.finditer(one) if each.start() <= at < each.end()), None)
    return within is None or len(within[0]) >= LEAST_FOR_A_WRONG_LETTER

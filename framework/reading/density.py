"""How much memory a text would take once it is decoded, estimated before that is done.

`{}` is two bytes in a file and up to 150 as an object with its fields, so a few megabytes of them would be gigabytes
for whoever reads them. What people and kubectl write has names and values in it: exports come to between 3 and 7 times
their size by this estimate, the shortest objects that are any use to 17.
"""

from __future__ import annotations

from typing import Final

from framework.sentences import Words, sentence

MOST: Final = 20
"""Times the text's size, by the estimate, which is about twice of what is taken."""
BASE: Final = 16 * 1024 * 1024
"""Bytes, by the estimate, that any text may take."""
_PART: Final = 1024 * 1024
OBJECT, LIST, FIELD, _VALUE = 200, 56, 80, 16


def estimated(text: bytes) -> int:
    """Bytes. Counts also what stands within texts: there are fewer than a handful of such characters in one."""
    return (
        OBJECT * (text.count(b"{") + text.count(b"- "))
        + LIST * text.count(b"[")
        + FIELD * text.count(b":")
        + _VALUE * text.count(b",")
    )


def density_complaint(data: memoryview | bytes) -> Words:
    """Why it is not to be decoded, with the place where most of it stands; "" where it may be. Of JSON or YAML."""
    view, total, worst, at = memoryview(data), 0, 0, 0
    for start in range(0, len(view), _PART):
        found = estimated(bytes(view[start : start + _PART]))
        total += found
        if found > worst:
            worst, at = found, start
    if total <= BASE or total <= MOST * len(view):
        return ""
    line = 1 + sum(bytes(view[start : min(start + _PART, at)]).count(b"\n") for start in range(0, at, _PART))
    return sentence(
        "Around line {line} it holds so many small values that they would take more than {times} times its size in "
        "memory.",
        line=line,
        times=10,
    )

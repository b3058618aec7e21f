"""Differences of two texts line by line, and the merge of two people's changes to one text."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, Literal

import msgspec

CONTEXT: Final = 3
MAX_COMPARED: Final = 2000
"""Lines between the first and the last difference; beyond that the whole stretch counts as replaced."""
MAX_SHOWN: Final = 1000

Opcode = tuple[int, int, int, int]
"""Lines [i1, i2) of the old text became lines [j1, j2) of the new one."""


class Line(msgspec.Struct, frozen=True):
    kind: Literal["equal", "removed", "added", "folded"]
    text: str
    old: int | None
    """Its number in the old text, from 1."""
    new: int | None
    count: int
    """Of folded lines how many; otherwise 1."""


class Diff(msgspec.Struct, frozen=True):
    added: int
    removed: int
    lines: list[Line]
    cut: bool
    """More lines differ than are listed."""


def diff_lines(old: str, new: str) -> Diff:
    a, b = old.splitlines(), new.splitlines()
    hunks = differences(a, b)
    listed: list[Line] = []
    at = 0
    for i1, i2, j1, j2 in hunks:
        listed += _unchanged(a, at, i1, j1 - i1, first=at == 0, last=False)
        listed += (Line("removed", a[i], i + 1, None, 1) for i in range(i1, i2))
        listed += (Line("added", b[j], None, j + 1, 1) for j in range(j1, j2))
        at = i2
    if hunks:
        listed += _unchanged(a, at, len(a), len(b) - len(a), first=False, last=True)
    return Diff(
        added=sum(j2 - j1 for _, _, j1, j2 in hunks),
        removed=sum(i2 - i1 for i1, i2, _, _ in hunks),
        lines=listed[:MAX_SHOWN],
        cut=len(listed) > MAX_SHOWN,
    )


def _unchanged(a: list[str], start: int, end: int, shift: int, *, first: bool, last: bool) -> Iterator[Line]:
    """Lines between two differences: a few beside each are shown, those in between folded."""
    head = 0 if first else CONTEXT
    tail = 0 if last else CONTEXT
    folded = end - start - head - tail
    # Folding a single line would save nothing.
    if folded <= 1:
        head, folded = end - start, 0
    for i in range(start, start + head):
        yield Line("equal", a[i], i + 1, i + 1 + shift, 1)
    if folded:
        yield Line("folded", "", start + head + 1, start + head + 1 + shift, folded)
        for i in range(end - tail, end):
            yield Line("equal", a[i], i + 1, i + 1 + shift, 1)


def differences(a: list[str], b: list[str]) -> list[Opcode]:
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    inner_a, inner_b = a[head : len(a) - tail], b[head : len(b) - tail]
    if not inner_a and not inner_b:
        return []
    if max(len(inner_a), len(inner_b)) > MAX_COMPARED:
        return [(head, head + len(inner_a), head, head + len(inner_b))]
    return [
        (i1 + head, i2 + head, j1 + head, j2 + head)
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, inner_a, inner_b).get_opcodes()
        if tag != "equal"
    ]


def merge(base: str, mine: str, theirs: str) -> str | None:
    """Both changes applied to ``base``; None when they touch the same or neighbouring lines."""
    if mine in (base, theirs):
        return theirs
    if theirs == base:
        return mine
    lines = base.splitlines(keepends=True)
    my_lines, their_lines = mine.splitlines(keepends=True), theirs.splitlines(keepends=True)
    changes = [
        *((i1, i2, my_lines[j1:j2]) for i1, i2, j1, j2 in differences(lines, my_lines)),
        *((i1, i2, their_lines[j1:j2]) for i1, i2, j1, j2 in differences(lines, their_lines)),
    ]
    changes.sort(key=lambda change: change[:2])
    merged: list[str] = []
    at = 0
    for index, (start, end, replacement) in enumerate(changes):
        if index and start <= at and replacement == changes[index - 1][2] and changes[index - 1][:2] == (start, end):
            continue  # both did the same
        if index and start <= at:
            return None
        merged += [*lines[at:start], *replacement]
        at = end
    return "".join([*merged, *lines[at:]])

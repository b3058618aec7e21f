"""What every node had in use before each attempt, so that an old attempt can be explained with its own numbers.

The engine writes the whole table now and then and what changed in between; a reader starts from the newest table
before an attempt and applies the changes up to it. Amounts are the scheduler's integers, in the order of the run's
resources; bound and reserved pods count alike, as they do for the Filter plugins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
import zstandard

#: A whole table at most every so many attempts: a few hundred kilobytes for 5,000 nodes, before compression.
BASE_EVERY: Final = 2000

Amounts = tuple[int, ...]


class UsageChange(msgspec.Struct, array_like=True, frozen=True):
    """Before attempt number `attempt` began, node `row` had these amounts in use; None: it is gone."""

    attempt: int
    row: int
    amounts: Amounts | None


class Base(msgspec.Struct, array_like=True, frozen=True):
    rows: tuple[int, ...]
    amounts: tuple[Amounts, ...]


_CHANGES: Final = msgspec.msgpack.Decoder(list[UsageChange])
_BASE: Final = msgspec.msgpack.Decoder(Base)


def packed(content: object) -> bytes:
    return zstandard.ZstdCompressor(level=3).compress(msgspec.msgpack.encode(content))


def unpacked(blob: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(bytes(blob))


class UsageLog:
    """The engine's side: knows the table as written so far, so that only differences are kept."""

    def __init__(self) -> None:
        self.table: dict[int, Amounts] = {}
        self.changes: list[UsageChange] = []
        self.base: bytes | None = None
        """The whole table as it was before the changes, when one is due with them."""
        self.base_at = 0

    def put(self, attempt: int, row: int, amounts: Amounts | None) -> None:
        """`attempt`: the number of the next attempt that will see it."""
        if self.table.get(row) == amounts:
            return
        if amounts is None:
            self.table.pop(row, None)
        else:
            self.table[row] = amounts
        self.changes.append(UsageChange(attempt, row, amounts))

    def start(self, attempt: int) -> None:
        """What comes is written from here on, beginning with a whole table; called once the cluster is read."""
        self.changes = []
        self._prepare(attempt)

    def _prepare(self, attempt: int) -> None:
        self.base = packed(Base(tuple(self.table), tuple(self.table.values())))
        self.base_at = attempt

    def take(self, next_attempt: int) -> tuple[bytes | None, bytes]:
        """(table, changes) for the chunk that ends before `next_attempt`."""
        base, changes = self.base, packed(self.changes)
        self.base, self.changes = None, []
        if next_attempt - self.base_at >= BASE_EVERY:
            self._prepare(next_attempt)
        return base, changes


def usage_at(base: bytes, changes: Iterable[bytes], attempt: int) -> dict[int, Amounts]:
    """Row → amounts as attempt number `attempt` saw them."""
    whole = _BASE.decode(unpacked(base))
    table = dict(zip(whole.rows, whole.amounts, strict=True))
    for blob in changes:
        for change in _CHANGES.decode(unpacked(blob)):
            if change.attempt > attempt:
                return table
            if change.amounts is None:
                table.pop(change.row, None)
            else:
                table[change.row] = change.amounts
    return table


def padded(amounts: Sequence[int], length: int) -> list[int]:
    """Resources that appeared later are 0 in what was written before."""
    return [*amounts, *([0] * (length - len(amounts)))]

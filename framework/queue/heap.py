"""A priority queue of keyed items from whose middle one can be taken or changed (upstream ``backend/heap``).

``heapq`` over (order, number of the entry, key): an item that was taken out or changed leaves a stale entry behind,
which is skipped when it comes up, and swept out when stale entries are in the majority.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
STALE_AT_LEAST: Final = 64
"""Fewer stale entries are not worth sweeping."""


class KeyedHeap(Generic[T]):
    """At most one item per key. ``order`` gives what items are compared by, once, when the item comes or changes."""

    __slots__ = ("_entries", "_items", "_number", "_order")

    def __init__(self, order: Callable[[T], Any]) -> None:
        self._order = order
        self._entries: list[tuple[Any, int, str]] = []
        self._items: dict[str, tuple[int, T]] = {}
        """Key → (number of the entry that counts, item)."""
        self._number = 0

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: str) -> bool:
        return key in self._items

    def get(self, key: str) -> T | None:
        found = self._items.get(key)
        return None if found is None else found[1]

    def peek(self) -> T | None:
        entries, items = self._entries, self._items
        while entries:
            _, number, key = entries[0]
            found = items.get(key)
            if found is not None and found[0] == number:
                return found[1]
            heapq.heappop(entries)
        return None

    def add_or_update(self, key: str, item: T) -> None:
        self._number += 1
        self._items[key] = (self._number, item)
        heapq.heappush(self._entries, (self._order(item), self._number, key))
        self._sweep()

    def pop(self) -> T | None:
        entries, items = self._entries, self._items
        while entries:
            _, number, key = heapq.heappop(entries)
            found = items.get(key)
            if found is not None and found[0] == number:
                del items[key]
                return found[1]
        return None

    def delete(self, key: str) -> T | None:
        """The item that was removed, or None."""
        found = self._items.pop(key, None)
        if found is None:
            return None
        self._sweep()
        return found[1]

    def in_pop_order(self) -> list[T]:
        return [self._items[key][1] for _, _, key in sorted(self._current())]

    def rebuild(self, order: Callable[[T], Any]) -> None:
        """Takes another order; of items that it does not tell apart, those that came first stay first."""
        self._order = order
        self._entries = [(order(item), number, key) for key, (number, item) in self._items.items()]
        heapq.heapify(self._entries)

    def _current(self) -> list[tuple[Any, int, str]]:
        items = self._items
        return [entry for entry in self._entries if entry[2] in items and items[entry[2]][0] == entry[1]]

    def _sweep(self) -> None:
        if len(self._entries) - len(self._items) > max(len(self._items), STALE_AT_LEAST):
            self._entries = self._current()
            heapq.heapify(self._entries)

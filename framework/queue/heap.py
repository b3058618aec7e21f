"""A binary heap of keyed items from whose middle one can be taken or changed (upstream ``backend/heap``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class KeyedHeap(Generic[T]):
    """At most one item per key. ``less`` decides; it must not change its mind while an item is inside."""

    __slots__ = ("_index", "_items", "_less")

    def __init__(self, less: Callable[[T, T], bool]) -> None:
        self._less = less
        self._items: list[tuple[str, T]] = []
        self._index: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: str) -> bool:
        return key in self._index

    def __iter__(self) -> Iterator[T]:
        """In the order of the heap's array."""
        return (item for _, item in self._items)

    def get(self, key: str) -> T | None:
        index = self._index.get(key)
        return None if index is None else self._items[index][1]

    def peek(self) -> T | None:
        return self._items[0][1] if self._items else None

    def add_or_update(self, key: str, item: T) -> None:
        index = self._index.get(key)
        if index is None:
            self._items.append((key, item))
            index = len(self._items) - 1
            self._index[key] = index
            self._up(index)
        else:
            self._items[index] = (key, item)
            self._fix(index)

    def pop(self) -> T | None:
        if not self._items:
            return None
        last = len(self._items) - 1
        self._swap(0, last)
        key, item = self._items.pop()
        del self._index[key]
        self._down(0)
        return item

    def delete(self, key: str) -> T | None:
        """The item that was removed, or None."""
        index = self._index.get(key)
        if index is None:
            return None
        last = len(self._items) - 1
        if index != last:
            self._swap(index, last)
        _, item = self._items.pop()
        del self._index[key]
        if index != last:
            self._fix(index)
        return item

    def in_pop_order(self) -> list[T]:
        copy: KeyedHeap[T] = KeyedHeap(self._less)
        copy._items = list(self._items)
        copy._index = dict(self._index)
        result = []
        while (item := copy.pop()) is not None:
            result.append(item)
        return result

    def rebuild(self, less: Callable[[T, T], bool]) -> None:
        """Takes another order; items keep their relative array order where the new order sees no difference."""
        items = self._items
        self._less, self._items, self._index = less, [], {}
        for key, item in items:
            self.add_or_update(key, item)

    def _swap(self, i: int, j: int) -> None:
        items = self._items
        items[i], items[j] = items[j], items[i]
        self._index[items[i][0]] = i
        self._index[items[j][0]] = j

    def _fix(self, index: int) -> None:
        if not self._down(index):
            self._up(index)

    def _up(self, j: int) -> None:
        items, less = self._items, self._less
        while j > 0:
            parent = (j - 1) // 2
            if not less(items[j][1], items[parent][1]):
                break
            self._swap(parent, j)
            j = parent

    def _down(self, start: int) -> bool:
        items, less = self._items, self._less
        n = len(items)
        i = start
        while (left := 2 * i + 1) < n:
            child = left
            right = left + 1
            if right < n and less(items[right][1], items[left][1]):
                child = right
            if not less(items[child][1], items[i][1]):
                break
            self._swap(i, child)
            i = child
        return i > start

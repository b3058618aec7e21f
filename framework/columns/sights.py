"""Sights: what was met before, so that what comes only once is not kept."""

from __future__ import annotations

from collections.abc import Hashable


class Sights:
    """The last ``most`` keys at least, and at most twice as many. By hash: two keys may be taken for one."""

    __slots__ = ("_before", "_latest", "_most")

    def __init__(self, most: int) -> None:
        self._most = most
        self._latest: set[int] = set()
        self._before: set[int] = set()

    def again(self, key: Hashable) -> bool:
        """Whether it was met before; from now on it was."""
        number = hash(key)
        if number in self._latest or number in self._before:
            return True
        self._latest.add(number)
        # Dropping the oldest one by one would mean looking for it among those that are gone.
        if len(self._latest) >= self._most:
            self._before, self._latest = self._latest, set()
        return False

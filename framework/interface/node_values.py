"""NodeValues: what a plugin keeps of nodes by itself, as an input of columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Generic, TypeVar

V = TypeVar("V")

KEPT: Final = 4096
"""Changes that are remembered at least."""


class NodeValues(Generic[V]):
    """Node name → value, with a log of the names whose value changed. A value is replaced, never changed in place."""

    __slots__ = ("_base", "_log", "_values", "version")

    def __init__(self) -> None:
        self._values: dict[str, V] = {}
        self._log: list[str] = []
        self._base = 0
        self.version = 0
        """Grows with every change."""

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def get(self, name: str) -> V | None:
        return self._values.get(name)

    def set(self, name: str, value: V) -> None:
        self._values[name] = value
        self._note(name)

    def discard(self, name: str) -> None:
        if self._values.pop(name, None) is not None:
            self._note(name)

    def _note(self, name: str) -> None:
        self._log.append(name)
        self.version += 1
        if len(self._log) >= 2 * KEPT:
            del self._log[:KEPT]
            self._base += KEPT

    def changed_since(self, version: int) -> list[str] | None:
        """The names, maybe more than once; None when they are no longer known."""
        return None if version < self._base else self._log[version - self._base :]

    def __getstate__(self) -> dict[str, Any]:
        """Who follows the changes is made anew on the other side."""
        return {"_values": self._values}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._values, self._log, self._base, self.version = state["_values"], [], 0, 0

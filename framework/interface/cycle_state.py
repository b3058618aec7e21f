"""CycleState: what the plugins of one scheduling cycle leave for each other.

Rules: docs/semantics/framework.md#cyclestate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self, TypeVar

from framework.interface.columns import Versioned
from framework.interface.pod_groups import PodGroupCycle


class StateKeyNotFound(KeyError):
    """No plugin wrote under this key; its text is upstream's ``not found``."""

    def __str__(self) -> str:
        return "not found"


class StateData(Protocol):
    """A value kept in a CycleState. Read-only values may return themselves from ``clone``."""

    def clone(self) -> Self: ...


T = TypeVar("T")


class CycleState:
    """Key → data of one attempt, and which plugins the framework may leave out of it."""

    __slots__ = (
        "_data",
        "_rests_on",
        "_rests_on_feasible",
        "filter_run",
        "pod_group",
        "pods_to_activate",
        "skip_filter",
        "skip_post_filter",
        "skip_pre_bind",
        "skip_score",
    )

    def __init__(self) -> None:
        self._data: dict[str, StateData] = {}
        self._rests_on: list[Versioned] = []
        self._rests_on_feasible = False
        self.filter_run: object = None
        """The framework's: the filters of the cycle under way, for dry runs; None when they were not reached, and in a
        clone."""
        self.skip_filter: frozenset[str] = frozenset()
        self.skip_score: frozenset[str] = frozenset()
        self.skip_pre_bind: frozenset[str] = frozenset()
        self.skip_post_filter = False
        self.pod_group: PodGroupCycle | None = None
        """The pod is tried out with its group; None while it is scheduled by itself, and from Reserve on for real."""
        self.pods_to_activate: dict[str, str] = {}
        """Pod key → uid that plugins stashed for activation (upstream's key ``kubernetes.io/pods-to-activate``)."""

    def read(self, key: str, kind: type[T]) -> T:
        """The value under ``key``, which its writer promised to be an ``of``; StateKeyNotFound when absent."""
        try:
            value: Any = self._data[key]
        except KeyError:
            raise StateKeyNotFound(key) from None
        found: T = value
        return found

    def has(self, key: str) -> bool:
        return key in self._data

    def write(self, key: str, value: StateData) -> None:
        self._data[key] = value

    def rests_on(self, *inputs: Versioned, feasible: bool = False) -> None:
        """For a plugin with a ``fragment``: what PreFilter or PreScore answers may be another when one of ``inputs``
        changes, or (``feasible``, of PreScore) when other nodes are feasible. A score plan that is made of what
        PreFilter wrote names the inputs again."""
        self._rests_on += inputs
        self._rests_on_feasible = self._rests_on_feasible or feasible

    def take_grounds(self) -> tuple[list[Versioned], bool]:
        """The framework's: (what ``rests_on`` was told since the last call, whether it was the feasible nodes)."""
        grounds = (self._rests_on, self._rests_on_feasible)
        self._rests_on, self._rests_on_feasible = [], False
        return grounds

    def snapshot(self) -> dict[str, StateData]:
        """The framework's: what is written so far."""
        return dict(self._data)

    def restore(self, constant: Mapping[str, StateData], copied: Mapping[str, StateData]) -> None:
        """The framework's: writes what plugins wrote in another attempt, which of ``copied`` are clones."""
        self._data.update(constant)
        for key, value in copied.items():
            self._data[key] = value.clone()

    def delete(self, key: str) -> None:
        self._data.pop(key, None)

    def drop_transient(self) -> None:
        """The pod begins to wait on Permit: forgets values whose class says ``transient = True``.

        Everything else a plugin wrote stays readable in PreBind and has to be picklable: checkpoints hold it.
        """
        self._data = {key: value for key, value in self._data.items() if not getattr(value, "transient", False)}

    def clone(self) -> CycleState:
        copy = CycleState()
        copy._data = {key: value.clone() for key, value in self._data.items()}
        copy.skip_filter = self.skip_filter
        copy.skip_score = self.skip_score
        copy.pod_group = self.pod_group
        copy.skip_pre_bind = self.skip_pre_bind
        copy.skip_post_filter = self.skip_post_filter
        copy.pods_to_activate = self.pods_to_activate
        return copy

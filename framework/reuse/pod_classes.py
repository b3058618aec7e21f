"""Classes of equal pods: what was worked out for one pod of a class is the beginning for the next.

Two pods are of one class when every plugin of the profile says so by its fragments. What was worked out before nodes
were looked at is used again while its Dependencies are unchanged.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from framework.columns import Sights, Snapshot
from framework.interface.columns import Versioned
from framework.interface.cycle_state import CycleState, StateData
from framework.interface.node_info import FIGURES, PodInfo
from framework.interface.signature import signature
from framework.reuse.columns import ColumnStore, drop_oldest


class Dependencies:
    """What answers depend on that were given before nodes were looked at."""

    __slots__ = ("_feasible", "_inputs", "objects")

    def __init__(self, objects: int, inputs: Sequence[Versioned], feasible: object = None) -> None:
        """``feasible``: something that is another object when other nodes are feasible; None if they do not matter."""
        self.objects = objects
        """Revision of the objects that are neither pods nor nodes."""
        self._inputs = tuple([(each, each.version) for each in inputs])
        self._feasible = feasible

    def also(self, inputs: Sequence[Versioned]) -> None:
        self._inputs += tuple([(each, each.version) for each in inputs])

    def unchanged(self, objects: int, feasible: object = None) -> bool:
        if self.objects != objects or (self._feasible is not None and self._feasible is not feasible):
            return False
        for given, version in self._inputs:  # noqa: SIM110 (the hot path: a generator costs three times as much)
            if given.version != version:
                return False
        return True


class WrittenState:
    """What plugins wrote to the state of one attempt, to be written to another's."""

    __slots__ = ("_constant", "_data")

    def __init__(self, data: Mapping[str, StateData]) -> None:
        self._data = data
        self._constant: Mapping[str, StateData] | None = None
        """Values that are their own clones."""

    def restore(self, state: CycleState) -> None:
        if self._constant is None:
            self._constant = {key: value for key, value in self._data.items() if value.clone() is value}
            self._data = {key: value for key, value in self._data.items() if key not in self._constant}
        state.restore(self._constant, self._data)


K = TypeVar("K", bound="KeptForClass")
Fragment = Callable[[PodInfo], Hashable | None]

KEPT_BYTES: Final = 256 << 20
"""What the classes of a profile may take."""
BYTES_OF_ROW: Final = 48
"""Of a class: verdicts, two or three normalised columns, totals."""
KEPT_SIGNATURES: Final = 8192
SEEN_ONCE: Final = 8192


class KeptForClass(abc.ABC):
    """What is kept for a class of pods. ``kept`` False: nothing of it outlives the attempt."""

    __slots__ = ("kept", "sights")

    def __init__(self) -> None:
        self.kept = False
        self.sights = 0
        """Attempts of its pods."""

    @abc.abstractmethod
    def has_gaps(self, gaps: frozenset[int]) -> None:
        """The plugins with these numbers gave no fragment of the pod, and have to be asked about every pod."""

    @abc.abstractmethod
    def is_small(self) -> bool:
        """Nothing by row but what is in the columns that it uses."""

    @abc.abstractmethod
    def forget(self) -> None:
        """All that is kept."""


class PodClasses(Generic[K]):
    """The classes of a profile. An attempt begins with ``begin`` and ends with ``finish``."""

    def __init__(
        self,
        fragments: Sequence[Fragment],
        snapshot: Snapshot,
        columns: ColumnStore,
        make: Callable[[], K],
        *,
        keeps: bool,
    ) -> None:
        """``fragments``: of each plugin. ``keeps`` False: every pod is a class of its own."""
        self._fragment_of = tuple(fragments)
        self._snapshot = snapshot
        self._columns = columns
        self._make = make
        self._keeps = keeps
        self._by_signature: dict[bytes, tuple[K, dict[str, Any]]] = {}
        self._by_fragments: dict[Hashable, K] = {}
        self._passed: dict[bytes, K] = {}
        """By signature, classes of one pod whose fragments were not all asked for."""
        self._fragments = Sights(SEEN_ONCE)
        self._telling = 0
        """Number of the plugin whose fragments told the last new class from all others."""
        self._by_use: dict[K, None] = {}
        """Those that are kept, the least recently used first."""
        self._last_used: K | None = None
        """The last of them."""
        self._new: K | None = None
        """The class of the attempt under way, if it is seen for the first time."""

    def begin(self, pod: PodInfo) -> K:
        """The class of the pod whose attempt begins."""
        self._columns.of_attempt.clear()
        self._new = None
        if not self._keeps:
            return self._make()
        key = signature(pod)
        known = self._by_signature.get(key)
        if known is None:
            if key not in self._passed and self._is_unlike_any(pod):
                self._new = self._passed[key] = self._make()
                self._new.sights = 1
                drop_oldest(self._passed, SEEN_ONCE)
                return self._new
            passed = self._passed.pop(key, None)
            # What was derived from one pod of this signature is true of all.
            known = self._by_signature[key] = (
                self._class_of(pod, passed),
                {name: getattr(pod, name) for name in FIGURES},
            )
            drop_oldest(self._by_signature, KEPT_SIGNATURES)
            if passed is not None and known[0] is not passed:
                known[0].sights += passed.sights
                passed.forget()
        else:
            pod.__dict__.update(known[1])
        found = known[0]
        found.sights += 1
        if found is self._last_used:
            pass
        elif found.sights > 1:
            self._keep(found)
        else:
            self._new = found
        return found

    def finish(self, found: K) -> None:
        """The attempt that ``begin`` gave the class for is over: what may not come again is forgotten."""
        if found is self._new:
            # What has no rows of its own is small, and may come again.
            if self._columns.of_attempt or not found.is_small():
                found.forget()
            else:
                self._keep(found)
            self._new = None
        self._columns.of_attempt.clear()

    def is_fleeting(self, found: K | None) -> bool:
        """Known already to be forgotten after this attempt: nothing need be noted for another pod."""
        return found is self._new and bool(self._columns.of_attempt)

    def _is_unlike_any(self, pod: PodInfo) -> bool:
        """A pod that has a fragment which nobody had is the first of its class. It may be the last, too, so only the
        plugin is asked by which the last such pod was told."""
        number = self._telling
        if number >= len(self._fragment_of):
            return False
        fragment = self._fragment_of[number](pod)
        return fragment is not None and not self._fragments.again((number, fragment))

    def _class_of(self, pod: PodInfo, passed: K | None) -> K:
        """``passed``: of an equal pod, if there was one."""
        fragments = tuple([fragment_of(pod) for fragment_of in self._fragment_of])
        found = self._by_fragments.get(fragments)
        if found is None:
            found = passed or self._make()
            found.has_gaps(frozenset([number for number, each in enumerate(fragments) if each is None]))
            self._by_fragments[fragments] = found
            drop_oldest(self._by_fragments, KEPT_SIGNATURES)
            # The last one is the most particular: what is scored is more than what is filtered by.
            for number, fragment in enumerate(fragments):
                if fragment is not None and not self._fragments.again((number, fragment)):
                    self._telling = number
        return found

    def _keep(self, found: K) -> None:
        self._by_use.pop(found, None)
        self._by_use[found] = None
        self._last_used = found
        found.kept = True
        room = KEPT_BYTES // (BYTES_OF_ROW * max(1, self._snapshot.row_count))
        while len(self._by_use) > max(1, room):
            oldest = next(iter(self._by_use))
            del self._by_use[oldest]
            oldest.forget()

"""Repeats: what failed attempts found, kept for pods that are tried again while nothing has changed.

A pod that nothing can help is still tried every five minutes, for as long as the run lasts. Its answer is kept with the
grounds it rests on; as long as these stand, the next attempt repeats it. What is kept changes no result: it may be
lost at any time, and is when the scheduler is pickled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from framework.cycle.diagnosis import Failed
from framework.interface.status import Status
from framework.objects import Pod
from framework.profiles import Profile
from framework.trace.attempt import FilterTrace, PostFilterOutcome, PreFilterOutcome, SharedContent

RepeatRule = Literal["used", "verified", "off"]
"""``verified``: every attempt is worked out, and one that could have been repeated has to agree."""
KEPT_SIZE: Final = 16_000_000
"""Node positions in everything kept, at 4 bytes each."""
OVERHEAD: Final = 500
"""What an attempt costs besides its verdicts, in the same unit."""


class Grounds(NamedTuple):
    """What an attempt's outcome rests on, besides the pod and its profile."""

    placements: int
    """Version of the cache: nodes, and pods on them."""
    objects: int
    """Revision of everything else in the cluster."""
    nominations: int


@dataclass(slots=True, eq=False)
class Remembered:
    """A failed attempt. ``pod`` is the very object it was about: an updated pod is another one."""

    pod: Pod
    profile: Profile
    grounds: Grounds
    start: int | None
    """Where its search for nodes began; None when that made no difference."""
    visited: int
    """How many positions further the next search begins."""
    pre_filter: tuple[PreFilterOutcome, ...]
    pre_filter_status: Status | None
    absent_status: Status | None
    filter: FilterTrace | None
    post_filter: tuple[PostFilterOutcome, ...]
    failed: Failed
    content: SharedContent

    @property
    def size(self) -> int:
        return OVERHEAD + (0 if self.filter is None else len(self.filter.nodes))


class Repeats:
    def __init__(self, rule: RepeatRule = "used") -> None:
        self.rule: RepeatRule = rule
        self.count = 0
        """Attempts repeated since the scheduler was made or unpickled."""
        self.interrupted: Callable[[], None] | None = None
        """Called before something changes while a repeated attempt stands between two of its points."""
        self._kept: dict[str, Remembered] = {}
        self._size = 0
        self._swept: Grounds | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"rule": self.rule}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["rule"])  # type: ignore[misc]

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, uid: str) -> Remembered | None:
        return self._kept.get(uid)

    def keep(self, uid: str, attempt: Remembered) -> None:
        """When there is no room, attempts whose grounds are gone make some; else the newcomer is not kept."""
        self.forget(uid)
        if self._size + attempt.size > KEPT_SIZE and self._swept != attempt.grounds:
            self._swept = attempt.grounds
            for other in [key for key, kept in self._kept.items() if kept.grounds != attempt.grounds]:
                self.forget(other)
        if self._size + attempt.size <= KEPT_SIZE:
            self._kept[uid] = attempt
            self._size += attempt.size

    def forget(self, uid: str) -> None:
        """The pod left, or its attempt was another one."""
        kept = self._kept.pop(uid, None)
        if kept is not None:
            self._size -= kept.size

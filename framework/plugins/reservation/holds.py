"""What reservations keep of a node, and which of them a pod would use there (docs/koordinator.md#what-is-held)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from framework.interface import Input, PodChange, PodInfo, Rows
from framework.objects.resources import Resources

NO_MATCH: Final = 1
"""Verdict codes are sets of bits: the pod must use a reservation, and none that it may use is here."""
NOT_ENOUGH: Final = 2
"""It must use a reservation, and none here has room."""
TOO_MANY_PODS: Final = 4
FIRST_RESOURCE: Final = 8
"""One more bit per resource from here up."""
NO_ORDER: Final = 1 << 63
Ref = tuple[str, str]
"""(name, uid) of a reservation."""


class Hold(NamedTuple):
    """An available reservation on its node."""

    ref: Ref
    allocatable: Resources
    users: Mapping[str, Resources]
    """Uid of a pod that uses it → its requests. Replaced, never changed."""
    once: bool = True
    """Its first pod uses it up."""
    restricted: bool = False
    """Of what it has, pods get no more than it has left."""
    closed: bool = False
    """New pods use it only if they name it."""
    order: int = NO_ORDER

    @property
    def is_used_up(self) -> bool:
        return self.once and bool(self.users)

    @property
    def places(self) -> int:
        """Of the pods that a node may have: one, until a pod uses it."""
        return 0 if self.users else 1

    def left(self, resource: str) -> int:
        used = sum(requests.get(resource, 0) for requests in self.users.values())
        return max(0, self.allocatable.get(resource, 0) - used)

    def without(self, uids: Collection[str]) -> Hold:
        if self.users.keys().isdisjoint(uids):
            return self
        return self._replace(users={uid: requests for uid, requests in self.users.items() if uid not in uids})

    def used_by(self, uid: str, requests: Resources) -> Hold:
        return self._replace(users={**self.users, uid: requests})

    def fill(self, wanted: Resources) -> int:
        """How full it is with the pod, 0 to 100: the mean over what it has; 0 of what would not suffice."""
        parts = []
        for name, capacity in self.allocatable.items():
            if capacity > 0:
                filled = wanted.get(name, 0) + sum(each.get(name, 0) for each in self.users.values())
                parts.append(100 * filled // capacity if filled <= capacity else 0)
        return sum(parts) // len(parts) if parts else 0


class Asking(NamedTuple):
    """What a pod asks for, and which reservations it may use."""

    amounts: tuple[tuple[str, int], ...]
    """Resource → amount, none of which is 0, sorted."""
    refs: frozenset[Ref] = frozenset()
    required: bool = False
    """It must use one of these."""
    named: bool = False
    """It names the one."""

    def may_use(self, hold: Hold) -> bool:
        if hold.ref not in self.refs or hold.is_used_up or (hold.closed and not self.named):
            return False
        # Which has nothing that the pod asks for is not spent on it.
        return self.required or any(hold.allocatable.get(name) for name, _ in self.amounts)


class Free(NamedTuple):
    """Of a node, beside the pods on it, whatever is held."""

    amounts: Mapping[str, int]
    pods: int


def in_order(holds: Sequence[Hold], asking: Asking) -> list[Hold]:
    """Those that the pod may use, the one to try first first: by order, then the fullest, then by name."""
    wanted = dict(asking.amounts)
    usable = [hold for hold in holds if asking.may_use(hold)]
    return sorted(usable, key=lambda hold: (hold.order, -hold.fill(wanted), hold.ref))


def choose(holds: Sequence[Hold], asking: Asking, free: Free) -> tuple[Hold | None, int]:
    """(the reservation that the pod uses on this node, 0), or (None, the verdict's code); 0 there, too, where it has
    room without one.

    Only what is held for others is looked at. Whether the pod fits at all is not decided here.
    """
    usable = in_order(holds, asking)
    held = {name: sum(hold.left(name) for hold in holds) for name, _ in asking.amounts}
    places = sum(hold.places for hold in holds)
    for hold in usable:
        if _fits(hold, asking, free, held, places):
            return hold, 0
    if asking.required:
        return None, NOT_ENOUGH if usable else NO_MATCH
    code = TOO_MANY_PODS if places and free.pods <= places else 0
    for i, (name, amount) in enumerate(asking.amounts):
        if held[name] and amount > free.amounts[name] - held[name]:
            code |= FIRST_RESOURCE << i
    return None, code


def _fits(hold: Hold, asking: Asking, free: Free, held: Mapping[str, int], places: int) -> bool:
    """``held``, ``places``: by all reservations of the node."""
    places_of_others = places - hold.places
    if places_of_others and free.pods <= places_of_others:
        return False
    for name, amount in asking.amounts:
        left = hold.left(name)
        of_others = held[name] - left
        if of_others and amount > free.amounts[name] - of_others:
            return False
        if hold.restricted and name in hold.allocatable and amount > left:
            return False
    return True


class HoldsByRow:
    """Input: holds of nodes by row, None for nodes without any. In a what-if pods that leave give back what they used,
    and pods that come use what they may."""

    def __init__(self, inner: Input, asking: Any) -> None:
        """``inner``: of the holds as they are. ``asking``: Pod → Asking."""
        self.inner = inner
        self._asking = asking

    @property
    def version(self) -> int:
        return self.inner.version

    def changed_since(self, version: int) -> Rows:
        return self.inner.changed_since(version)

    def gather(self, rows: Rows) -> list[tuple[Hold, ...] | None]:
        found: list[tuple[Hold, ...] | None] = self.inner.gather(rows)
        return found

    def gather_changed(self, change: PodChange) -> list[tuple[Hold, ...] | None]:
        (holds,) = self.inner.gather_changed(change)
        if holds is None:
            return [None]
        coming = {pod.uid: pod for pod in change.added}
        leaving = {pod.uid for pod in change.removed if pod.uid not in coming}
        changed = [hold.without(leaving) for hold in holds]
        for uid, pod in coming.items():
            if not any(uid in hold.users for hold in changed):
                _take(changed, self._asking(pod), pod)
        return [tuple(changed)]


def _take(holds: list[Hold], asking: Asking, pod: PodInfo) -> None:
    for hold in in_order(holds, asking)[:1]:
        holds[holds.index(hold)] = hold.used_by(pod.uid, pod.requests)

"""Reservation's extension points (docs/koordinator.md#reservation)."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from framework.interface import (
    ActionType,
    BoundsNormalizer,
    ClusterEvent,
    ClusterEventWithHint,
    Code,
    Column,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    EnqueueExtensions,
    EventResource,
    Handle,
    NodeValues,
    ObjectListener,
    Plan,
    PodInfo,
    PreBindPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    QueueingHint,
    Reason,
    ReservePlugin,
    SignPlugin,
    Status,
    View,
    signing,
)
from framework.interface.scores import default_normalize
from framework.objects import KubeObject, KubernetesObject, Node, Pod
from framework.objects.reservations import (
    AVAILABLE,
    RESERVATION_AFFINITY,
    RESERVATION_ALLOCATED,
    RESERVATION_ORDER,
    RESTRICTED,
    Reservation,
    allocated_to,
    reservation_of,
)
from framework.objects.resources import Resources, pod_requests, resource_value
from framework.objects.timestamps import SECOND
from framework.plugins.reservation.args import ReservationArgs
from framework.plugins.reservation.holds import (
    FIRST_RESOURCE,
    NO_MATCH,
    NO_ORDER,
    NOT_ENOUGH,
    TOO_MANY_PODS,
    Asking,
    Free,
    Hold,
    HoldsByRow,
    Ref,
    choose,
)
from framework.plugins.reservation.matching import AffinityError, Owner, affinity_of
from framework.sentences import noted

RESERVATIONS: Final = "reservations.v1alpha1.scheduling.koordinator.sh"
NO_MATCH_HERE: Final = "node(s) no reservations match reservation affinity"
NO_ROOM_IN_ANY: Final = "node(s) no reservation(s) to meet the requirements"
POD_PLACES_HELD: Final = "Too many pods beside reservations"
HELD: Final = "Insufficient {} beside reservations"
MOST_ASKINGS: Final = 4096


class ReservationPlugin(
    PreFilterPlugin,
    ColumnFilterPlugin,
    PreScorePlugin,
    ColumnScorePlugin,
    BoundsNormalizer,
    ReservePlugin,
    PreBindPlugin,
    EnqueueExtensions,
    ObjectListener,
    SignPlugin,
):
    name: ClassVar[str] = "Reservation"
    args_type: ClassVar[type[ReservationArgs]] = ReservationArgs
    description: ClassVar[str] = noted(
        "Keeps what Reservations hold on nodes for the pods that may use it, and leads these there. "
        "After koordinator's plugin."
    )
    listens_to = (Reservation, Pod)

    args: ReservationArgs

    def __init__(self, args: ReservationArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._available: dict[Ref, tuple[Reservation, tuple[Owner, ...]]] = {}
        self._on: dict[str, dict[Ref, None]] = {}
        """Node → the reservations that are available there."""
        self._users: dict[Ref, dict[str, Resources]] = {}
        """→ uid of a pod that uses it → its requests."""
        self._uses: dict[str, Ref] = {}
        self._name_pods = 0
        """How many available reservations have an owner that is one object."""
        self._askings: dict[Hashable, Asking] = {}
        """By fragment, for the reservations that are available."""
        self._holds: NodeValues[tuple[Hold, ...]] = NodeValues()
        self._by_row: HoldsByRow | None = None

    @property
    def default_ttl(self) -> int:
        """In nanoseconds; 0: for ever."""
        return self.args.default_ttl_seconds * SECOND

    def __getstate__(self) -> dict[str, Any]:
        """Who follows the holds is made anew on the other side."""
        return {**self.__dict__, "_by_row": None, "_askings": {}}

    # --- what wakes refused pods ------------------------------------------------------------------------------------

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        pod = ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN | ActionType.UPDATE_POD_LABEL
        node = ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE
        return (
            ClusterEventWithHint(ClusterEvent(EventResource.POD, pod), self._after_pod_change),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, node), self._after_node_change),
            ClusterEventWithHint(ClusterEvent(RESERVATIONS, ActionType.ALL), self._after_reservation_change),
        )

    def _after_pod_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """Its own, or one that made room where something is held."""
        if isinstance(new, Pod) and new.metadata.uid == pod.metadata.uid:
            return QueueingHint.QUEUE
        assert isinstance(old, Pod)
        where = old.spec.node_name
        makes_room = not isinstance(new, Pod) or pod_requests(new) != pod_requests(old)
        return QueueingHint.QUEUE if makes_room and (not where or where in self._holds) else QueueingHint.SKIP

    def _after_node_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """A new node has no reservations; one that has more makes room beside those that it has."""
        assert isinstance(new, Node)
        if old is None:
            return QueueingHint.SKIP if self._asking(pod).required else QueueingHint.QUEUE
        return QueueingHint.QUEUE if new.metadata.name in self._holds else QueueingHint.SKIP

    def _after_reservation_change(self, pod: Pod, old: KubeObject | None, new: KubeObject | None) -> QueueingHint:
        """It held something and holds less, or it holds something that the pod may use."""
        before = old if isinstance(old, Reservation) and _is_available(old) else None
        after = new if isinstance(new, Reservation) and _is_available(new) else None
        asking = self._asking(pod)
        if before is not None and not asking.required:
            same = after is not None and _held_by(before) == _held_by(after)
            if not same:
                return QueueingHint.QUEUE
        if after is not None and before != after and _ref(after) in asking.refs:
            return QueueingHint.QUEUE
        return QueueingHint.SKIP

    # --- what is held -----------------------------------------------------------------------------------------------

    def object_changed(self, old: KubernetesObject | None, new: KubernetesObject | None) -> None:
        if isinstance(old, Reservation) and _is_available(old):
            self._forget(old)
        if isinstance(new, Reservation) and _is_available(new):
            self._learn(new)
        if isinstance(old, Pod) and (new is None or new.metadata.uid != old.metadata.uid):
            self._leave(old.metadata.uid)
        if isinstance(new, Pod) and (ref := allocated_to(new)) is not None:
            self._enter(new, ref)

    def _learn(self, reservation: Reservation) -> None:
        ref, node = _ref(reservation), reservation.status.node_name
        self._available[ref] = reservation, tuple(map(Owner.of, reservation.spec.owners))
        self._name_pods += _names_pods(reservation)
        self._askings.clear()
        self._on.setdefault(node, {})[ref] = None
        self._renew(node)

    def _forget(self, reservation: Reservation) -> None:
        ref, node = _ref(reservation), reservation.status.node_name
        if (known := self._available.pop(ref, None)) is not None:
            self._name_pods -= _names_pods(known[0])
            self._askings.clear()
            del self._on[node][ref]
            self._renew(node)

    def _enter(self, pod: Pod, ref: Ref) -> None:
        uid = pod.metadata.uid
        if self._uses.get(uid) not in (None, ref):
            self._leave(uid)
        self._uses[uid] = ref
        self._users.setdefault(ref, {})[uid] = pod_requests(pod)
        self._renew_of(ref)

    def _leave(self, uid: str) -> None:
        ref = self._uses.pop(uid, None)
        if ref is not None:
            users = self._users[ref]
            del users[uid]
            if not users:
                del self._users[ref]
            self._renew_of(ref)

    def _renew_of(self, ref: Ref) -> None:
        known = self._available.get(ref)
        if known is not None:
            self._renew(known[0].status.node_name)

    def _renew(self, node: str) -> None:
        refs = sorted(self._on[node])
        if refs:
            self._holds.set(node, tuple(self._hold(ref) for ref in refs))
        else:
            del self._on[node]
            self._holds.discard(node)

    def _hold(self, ref: Ref) -> Hold:
        reservation, _ = self._available[ref]
        spec, order = reservation.spec, reservation.metadata.labels.get(RESERVATION_ORDER, "")
        return Hold(
            ref,
            _held_by(reservation),
            dict(self._users.get(ref, {})),
            once=reservation.is_used_once,
            restricted=spec.allocate_policy == RESTRICTED,
            closed=spec.unschedulable,
            order=int(order) if order.isdecimal() and int(order) else NO_ORDER,
        )

    # --- what a pod asks for ----------------------------------------------------------------------------------------

    def fragment(self, pod: PodInfo) -> Hashable | None:
        return self._fragment(pod.pod)

    def _fragment(self, pod: Pod) -> Hashable | None:
        """None where a reservation may be for this very pod."""
        about = pod.metadata
        affinity, amounts = about.annotations.get(RESERVATION_AFFINITY), tuple(pod_requests(pod).items())
        if not self._available and affinity is None:
            return amounts
        if self._name_pods:
            return None
        labels, owners = frozenset(about.labels.items()), about.owner_references
        return amounts, affinity, about.namespace, labels, owners

    def _asking(self, pod: Pod) -> Asking:
        fragment = self._fragment(pod)
        if fragment is None:
            return self._asked_by(pod)
        known = self._askings.get(fragment)
        if known is None:
            if len(self._askings) >= MOST_ASKINGS:
                self._askings.clear()
            known = self._askings[fragment] = self._asked_by(pod)
        return known

    def _asked_by(self, pod: Pod) -> Asking:
        """Of a pod whose affinity cannot be read it may use none."""
        amounts = tuple(sorted((name, amount) for name, amount in pod_requests(pod).items() if amount))
        if reservation_of(pod):
            return Asking(amounts)
        try:
            affinity = affinity_of(pod)
        except AffinityError:
            return Asking(amounts, required=True)
        if affinity is None and not self._available:
            return Asking(amounts)
        refs = frozenset(
            ref
            for ref, (reservation, owners) in self._available.items()
            if (affinity is None or affinity.admits(reservation)) and any(owner.includes(pod) for owner in owners)
        )
        return Asking(amounts, refs, affinity is not None, affinity is not None and bool(affinity.name))

    def _asking_of_info(self, pod: PodInfo) -> Asking:
        return self._asking(pod.pod)

    def _input(self, view: View) -> HoldsByRow:
        """The same one for all pods, so that their columns are shared."""
        inner = view.node_values(self._holds)
        if self._by_row is None or self._by_row.inner is not inner:
            self._by_row = HoldsByRow(inner, self._asking_of_info)
        return self._by_row

    def sign_pod(self, pod: PodInfo) -> signing.Fragments | None:
        """None of pods that use up what they may use."""
        asking = self._asking(pod.pod)
        return None if asking.refs or asking.required else {self.name: asking.amounts}

    # --- PreFilter and Filter ---------------------------------------------------------------------------------------

    def pre_filter(self, state: CycleState, pod: PodInfo, view: View) -> tuple[PreFilterResult | None, Status | None]:
        try:
            affinity_of(pod.pod)
        except AffinityError as error:
            return None, Status.unresolvable(f"the pod's reservation affinity cannot be read: {error}")
        return None, None

    def filter_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan | None:
        asking = self._asking(pod.pod)
        if not self._available and not asking.required:
            return None
        names = tuple(name for name, _ in asking.amounts)

        def kernel(column: Column, rows: Sequence[tuple[Hold, ...] | None]) -> NDArray[np.int64]:
            codes = np.zeros(len(rows), dtype=np.int64)
            if asking.required:
                codes[:] = NO_MATCH
            for row, holds in enumerate(rows):
                if holds is not None:
                    codes[row] = choose(holds, asking, _free(column, row))[1]
            return codes

        return Plan(kernel, (view.own_rows(names), self._input(view)), asking, _reasons(names))

    # --- Score ------------------------------------------------------------------------------------------------------

    def pre_score(self, state: CycleState, pod: PodInfo, view: View, feasible: NDArray[np.intp]) -> Status | None:
        return None if self._asking(pod.pod).refs else Status(Code.SKIP)

    def score_plan(self, state: CycleState, pod: PodInfo, view: View) -> Plan:
        asking = self._asking(pod.pod)
        names, wanted = tuple(name for name, _ in asking.amounts), dict(asking.amounts)

        def kernel(column: Column, rows: Sequence[tuple[Hold, ...] | None]) -> NDArray[np.int64]:
            scores = np.zeros(len(rows), dtype=np.int64)
            for row, holds in enumerate(rows):
                if holds is not None:
                    hold, _ = choose(holds, asking, _free(column, row))
                    scores[row] = 0 if hold is None else 1 + hold.fill(wanted)
            return scores

        return Plan(kernel, (view.own_rows(names), self._input(view)), asking)

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        return default_normalize(scores, highest, reverse=False)

    # --- from Reserve on --------------------------------------------------------------------------------------------

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        asking, holds = self._asking(pod), self._holds.get(node_name)
        hold = None
        if asking.refs and holds is not None:
            info = self.handle.snapshot.get(node_name)
            assert info is not None
            amounts = {name: info.allocatable.get(name, 0) - info.requested.get(name, 0) for name, _ in asking.amounts}
            hold, _ = choose(holds, asking, Free(amounts, info.allowed_pods - len(info.pods)))
        if hold is not None:
            self._enter(pod, hold.ref)
        elif asking.required:
            return Status.unresolvable(NO_MATCH_HERE)
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._leave(pod.metadata.uid)

    def pre_bind_pre_flight(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, bool]:
        uses = pod.metadata.uid in self._uses or RESERVATION_ALLOCATED in pod.metadata.annotations
        return (None if uses else Status(Code.SKIP)), False

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Writes onto the pod which reservation it uses; takes away what an attempt wrote that failed."""
        ref = self._uses.get(pod.metadata.uid)
        live = self.handle.objects.get(Pod, pod.metadata.namespace, pod.metadata.name)
        if live is None:
            return Status.as_error(f'pods "{pod.metadata.name}" not found')
        annotations = {name: text for name, text in live.metadata.annotations.items() if name != RESERVATION_ALLOCATED}
        if ref is not None:
            told = {"name": ref[0], "uid": ref[1]}
            annotations[RESERVATION_ALLOCATED] = json.dumps(told, separators=(",", ":"))
        if annotations == live.metadata.annotations:
            return None
        error = self.handle.api.update(replace(live, metadata=replace(live.metadata, annotations=annotations)))
        return None if error is None else Status.as_error(f"the reservation that the pod uses: {error}")


def _names_pods(reservation: Reservation) -> bool:
    return any(owner.object is not None for owner in reservation.spec.owners)


def _ref(reservation: Reservation) -> Ref:
    return reservation.metadata.name, reservation.metadata.uid


def _is_available(reservation: Reservation) -> bool:
    return reservation.status.phase == AVAILABLE and bool(reservation.status.node_name)


def _held_by(reservation: Reservation) -> Resources:
    return {name: resource_value(name, amount) for name, amount in (reservation.status.allocatable or {}).items()}


def _free(column: Column, row: int) -> Free:
    amounts = zip(column.resources, column.allocatable, column.requested, strict=True)
    free = {name: int(allocatable[row]) - int(requested[row]) for name, allocatable, requested in amounts}
    return Free(free, int(column.allowed_pods[row]) - int(column.pods[row]))


@lru_cache(maxsize=1024)
def _reasons(names: tuple[str, ...]) -> Callable[[int], Reason]:
    """The same function for the same resources."""

    def reason(code: int) -> Reason:
        if code & NO_MATCH:
            return Reason(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (NO_MATCH_HERE,))
        if code & NOT_ENOUGH:
            return Reason(Code.UNSCHEDULABLE, (NO_ROOM_IN_ANY,))
        texts = [POD_PLACES_HELD] if code & TOO_MANY_PODS else []
        texts += [HELD.format(name) for i, name in enumerate(names) if code & (FIRST_RESOURCE << i)]
        return Reason(Code.UNSCHEDULABLE, tuple(texts))

    return reason

"""Cluster: the simulated API server. A write changes the store and comes back as an informer event before it returns.

What real clusters do in several steps happens at once: a deleted pod is gone, a binding is seen, a patch is seen.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from framework.objects import KubeObject, Node, Pod, PodCondition, PodStatus
from framework.objects.admission import AdmissionError, admit
from framework.objects.kinds import group_resource
from framework.objects.metadata import ObjectMeta
from framework.objects.reservations import Reservation
from framework.profiles import Clock
from framework.queue import Nomination
from framework.scheduler.controllers import (
    CONTROLLERS,
    OF_CHANGES,
    OF_RESERVATIONS,
    ControlledCluster,
    Controller,
    concerns_controllers,
    expire_reservations,
    next_expiry,
)
from framework.scheduler.observer import ClusterEventRecord, Observer
from framework.scheduler.store import (
    InformerEvent,
    ObjectAdded,
    ObjectDeleted,
    ObjectEvicted,
    ObjectUpdated,
    Store,
    as_seen,
    plural_of,
    sides,
)

MODIFIED: Final = "the object has been modified; please apply your changes to the latest version and try again"
SCHEDULED: Final = PodCondition(type="PodScheduled", status="True")
O = TypeVar("O", bound=KubeObject)  # noqa: E741
Act = Callable[[ControlledCluster, InformerEvent], None]


class NotFound(LookupError):
    """The text is the API server's: ``pods "p1" not found``."""


class AlreadyExists(ValueError):
    """The text is the API server's: ``pods "p1" already exists``."""


class ObjectRefused(ValueError):
    """Admission refused the object; ``error`` has the details."""

    def __init__(self, error: AdmissionError) -> None:
        super().__init__(str(error))
        self.error = error


class Subscriber(Protocol):
    """The scheduler's event handlers."""

    def before_change(self) -> None: ...

    def apply(self, event: InformerEvent) -> None: ...


def not_found(plural: str, name: str) -> str:
    return f'{plural} "{name}" not found'


def rfc3339(nanoseconds: int) -> str:
    """Metadata times have whole seconds."""
    return _rfc3339(nanoseconds // 1_000_000_000)


@lru_cache(maxsize=64)
def _rfc3339(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def with_condition(status: PodStatus, condition: PodCondition, now: str) -> PodStatus | None:
    """The status with this condition; None when it says the same already (upstream ``UpdatePodCondition``)."""
    if not status.conditions:
        return replace(status, conditions=(_condition_at(condition, now),))
    kept = list(status.conditions)
    for i, old in enumerate(kept):
        if old.type == condition.type:
            if old.status == condition.status:
                now = old.last_transition_time or ""
            new = replace(condition, last_transition_time=now or None)
            if new == old:
                return None
            kept[i] = new
            return replace(status, conditions=tuple(kept))
    return replace(status, conditions=(*kept, _condition_at(condition, now)))


@lru_cache(maxsize=64)
def _condition_at(condition: PodCondition, now: str) -> PodCondition:
    """One for all pods that get it within a second."""
    return replace(condition, last_transition_time=now)


def has_condition(status: PodStatus, condition: PodCondition) -> bool:
    """Whether ``with_condition`` would change nothing; the time of a transition makes no difference."""
    old = next((each for each in status.conditions if each.type == condition.type), None)
    return (
        old is not None
        and old.status == condition.status
        and old == replace(condition, last_transition_time=old.last_transition_time or None)
    )


class Cluster(Store):
    """Objects by kind, and the writes of users, plugins and the framework."""

    comparisons: bool = False
    """The gate TaintTolerationComparisonOperators, which its API server shares with the scheduler."""

    answers_later: bool = False
    """Whether writes of binding cycles have their answer later: where they go to a real API server."""

    plays_kubelet: bool = False
    """A bound pod gets its host's address and begins to run at once."""

    before_eviction: Callable[[Pod], None] | None = None
    """Told of each victim while it is still there."""

    changed: Callable[[KubeObject | None, KubeObject | None, bool], None] | None = None
    """Told of each change: what was there, what is, whether a controller made it."""

    _reserving: Mapping[str, int] = MappingProxyType({})

    def __init__(self) -> None:
        super().__init__()
        self._controllers: Sequence[Controller] = CONTROLLERS
        self._controllers_of_changes: Sequence[Controller] = OF_CHANGES
        self._unheard: deque[tuple[InformerEvent, tuple[Act, ...]]] = deque()
        """What the controllers have yet to hear."""
        self._controlling = False
        self._listening: dict[tuple[type, type, bool], tuple[Act, ...]] = {}
        """(event, kind, whether the object was there when the run began) → who hears of it."""
        self._resource_version = 0
        self._subscriber: Subscriber | None = None
        self._clock = Clock(0)
        self._observer = Observer()

    def connect(self, subscriber: Subscriber, clock: Clock, observer: Observer) -> None:
        """Called by the scheduler; from then on it hears of every change."""
        self._subscriber, self._clock, self._observer = subscriber, clock, observer

    def set_controllers(self, controllers: Sequence[Controller], of_changes: Sequence[Controller] = ()) -> None:
        """These instead of all. ``of_changes`` do not hear of what is there when a run begins."""
        self._controllers, self._controllers_of_changes = controllers, of_changes
        self._listening.clear()

    @property
    def reserving(self) -> Mapping[str, int]:
        """Scheduler that keeps reservations → how long one holds that does not say so, in nanoseconds; 0: for ever."""
        return self._reserving

    def reserve_for(self, schedulers: Mapping[str, int]) -> None:
        """These keep reservations from now on. Those that are there are heard of, if the scheduler is connected."""
        if dict(schedulers) == dict(self._reserving):
            return
        self._reserving = dict(schedulers)
        self._listening.clear()
        if self._subscriber is not None:
            for reservation in self.list(Reservation):
                self._control(ObjectAdded(reservation), begins=True)

    def next_expiry(self) -> int | None:
        """When the next reservation expires; None: none does, or nobody here is its controller."""
        if not self._reserving or OF_RESERVATIONS not in self._controllers:
            return None
        return next_expiry(self.list(Reservation), self._reserving)

    def expire_reservations(self) -> None:
        """Those whose time has come."""
        expire_reservations(self, self._clock.now)

    def set_observer(self, observer: Observer) -> None:
        self._observer = observer

    def number_versions_from(self, least: int) -> None:
        """Versions that are given from now on are greater."""
        self._resource_version = max(self._resource_version, least)

    def act_for(self, uid: str) -> None:
        """Nothing to be known: here a write is answered at once."""

    def settle(self, uid: str) -> None:
        """As ``act_for``."""

    # --- users ------------------------------------------------------------------------------------------------------

    def create(self, obj: O, *, stored: bool = False) -> O:
        """Admits and stores an object. ``stored``: it comes out of a cluster, where it was admitted once.

        Raises Refused and AlreadyExists.
        """
        admitted = admit(obj, self, stored=stored, validate=not stored, comparisons=self.comparisons)
        if isinstance(admitted, AdmissionError):
            raise ObjectRefused(admitted)
        return self.create_admitted(admitted)

    def create_admitted(self, obj: O) -> O:
        """Stores an object as it is."""
        if self.find(obj) is not None:
            raise AlreadyExists(f'{plural_of(obj)} "{obj.metadata.name}" already exists')
        self._announce_change()
        created = self._versioned(obj)
        self.put(created)
        self._tell(ObjectAdded(created))
        return created

    def replace(self, obj: O) -> O:
        """Stores the object in place of the one it was made from, whatever became of that. Raises NotFound."""
        return self._update(obj, counts=True)

    def observe(self, obj: KubeObject) -> None:
        """Stores an object as another API server tells it, with the version that it has there. One of its name with
        another uid has gone before."""
        old = self.find(obj)
        if old is not None and old.metadata.uid != obj.metadata.uid:
            self.delete(old)
            old = None
        self._announce_change()
        self.put(obj)
        self._tell(ObjectAdded(obj) if old is None else ObjectUpdated(old, obj))

    def _update(self, obj: O, *, counts: bool) -> O:
        old = self.find(obj)
        if old is None:
            raise NotFound(not_found(plural_of(obj), obj.metadata.name))
        return self._exchange(old, obj, counts=counts)

    def _exchange(self, old: KubeObject, obj: O, *, counts: bool = True, **changes: Any) -> O:
        """``old``: the stored one. ``changes``: fields in which the new one differs from ``obj``."""
        if counts and self._subscriber is not None:
            # As ``_announce_change``.
            self._subscriber.before_change()
        updated = self._versioned(obj, **changes)
        self.put(updated, counts=counts)
        self._tell(ObjectUpdated(old, updated))
        return updated

    def delete(self, obj: KubeObject) -> None:
        """The object of this kind, namespace and name is gone at once. Raises NotFound."""
        self._delete(obj, ObjectDeleted)

    def evict(self, pod: Pod) -> None:
        """The pod is gone at once, and its controller makes another one. Raises NotFound."""
        self._delete(pod, ObjectEvicted)

    def _delete(self, obj: KubeObject, event: type[ObjectDeleted]) -> None:
        old = self.find(obj)
        if old is None:
            raise NotFound(not_found(plural_of(obj), obj.metadata.name))
        self._announce_change()
        self.remove(old)
        self._tell(event(old))

    def make_anew(self, known: Pod, pod: Pod) -> Pod:
        """As an owner changes what no update can: ``known`` is deleted, and a new pod of its name comes, with a uid and
        a creation time of its own. Raises NotFound and AlreadyExists."""
        self.delete(known)
        metadata = replace(pod.metadata, uid=self._new_uid(pod), creation_timestamp=self.now_rfc3339())
        return self.create_admitted(replace(pod, metadata=metadata))

    def _announce_change(self) -> None:
        """Also in the middle of a cycle, which must see the cluster as it was up to here."""
        if self._subscriber is not None:
            self._subscriber.before_change()

    def _versioned(self, obj: O, **changes: Any) -> O:
        self._resource_version += 1
        metadata: ObjectMeta = replace(obj.metadata, resource_version=str(self._resource_version))
        return replace(obj, metadata=metadata, **changes)

    def _tell(self, event: InformerEvent) -> None:
        old, new = sides(event)
        self._observer.object_changed(old, new)
        if self.changed is not None:
            self.changed(old, new, self._controlling)
        seen = as_seen(event)
        if self._subscriber is not None:
            if seen is not None:
                self._subscriber.apply(seen)
            self._control(event, begins=False)

    def start_controllers(self) -> None:
        """They hear of all objects that are there, as from an informer that begins."""
        only_ours = set(self._controllers) <= set(CONTROLLERS)
        for obj in list(self.all()):
            if not only_ours or concerns_controllers(obj):
                self._control(ObjectAdded(obj), begins=True)

    def _control(self, event: InformerEvent, *, begins: bool) -> None:
        """Their own writes come back here; each event goes to all of them before the next does."""
        kind = type(event.new if isinstance(event, ObjectUpdated) else event.object)
        listening = self._listening.get((type(event), kind, begins))
        if listening is None:
            listening = self._listen(type(event), kind, begins=begins)
        if not listening:
            return
        if self._controlling:
            self._unheard.append((event, listening))
            return
        self._controlling = True
        try:
            for act in listening:
                act(self, event)
            while self._unheard:
                event, listening = self._unheard.popleft()
                for act in listening:
                    act(self, event)
        finally:
            self._controlling = False
            if self._unheard:
                self._unheard.clear()

    def _listen(self, event: type[InformerEvent], kind: type, *, begins: bool) -> tuple[Act, ...]:
        controllers = self._controllers if begins else (*self._controllers, *self._controllers_of_changes)
        heard = (each for each in controllers if kind in each.kinds and issubclass(event, each.events))
        if not self._reserving:
            heard = (each for each in heard if each != OF_RESERVATIONS)
        found = tuple(each.act for each in heard)
        self._listening[event, kind, begins] = found
        return found

    def now_rfc3339(self) -> str:
        return rfc3339(self._clock.now)

    def _new_uid(self, obj: KubeObject) -> str:
        """Follows from the run so far."""
        key = f"{self._resource_version}/{obj.kind}/{obj.key}"
        uid = hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
        return "-".join((uid[:8], uid[8:12], uid[12:16], uid[16:20], uid[20:]))

    def post(self, obj: O, *, stored: bool = False) -> O | None:
        """For controllers: uid and creation time follow from the run so far. None when admission refuses."""
        metadata = replace(obj.metadata, uid=self._new_uid(obj), creation_timestamp=self.now_rfc3339())
        try:
            return self.create(replace(obj, metadata=metadata), stored=stored)
        except (AlreadyExists, ObjectRefused) as error:
            self._observer.logged(f"a controller could not create {obj.kind} {obj.key}: {error}")
            return None

    # --- plugins and the framework ----------------------------------------------------------------------------------

    def bind(self, pod: Pod, node_name: str) -> str | None:
        """POST of a Binding: sets nodeName and PodScheduled=True, and takes nominatedNodeName away."""
        live = self.get(Pod, pod.metadata.namespace, pod.metadata.name)
        if live is None:
            return not_found("pods", pod.metadata.name)
        if live.metadata.uid != pod.metadata.uid:
            conflict = f"Precondition failed: UID in precondition: {pod.metadata.uid}, UID in object meta: "
            return f'Operation cannot be fulfilled on pods/binding "{pod.metadata.name}": {conflict}{live.metadata.uid}'
        if live.spec.node_name:
            taken = f'pod {pod.metadata.name} is already assigned to node "{live.spec.node_name}"'
            return f'Operation cannot be fulfilled on pods/binding "{pod.metadata.name}": {taken}'
        status = with_condition(live.status, SCHEDULED, rfc3339(self._clock.now)) or live.status
        if status.nominated_node_name:
            status = replace(status, nominated_node_name="")
        if self.plays_kubelet:
            # Before the scheduler can take the phase for a change of its own.
            status = replace(status, phase=status.phase or "Pending")
        bound = self._exchange(live, live, spec=replace(live.spec, node_name=node_name), status=status)
        # A controller may have taken it away meanwhile.
        if self.plays_kubelet and self.find(bound) is not None:
            with_host = self._exchange(bound, bound, status=replace(bound.status, host_ip=self._address_of(node_name)))
            self._exchange(with_host, with_host, status=replace(with_host.status, phase="Running"))
        return None

    def _address_of(self, node_name: str) -> str:
        node = self.get(Node, "", node_name)
        addresses = node.status.addresses if node is not None else ()
        return next((each.address for each in addresses if each.type == "InternalIP"), node_name)

    def update(self, obj: KubeObject) -> str | None:
        """A PUT. One that was made from an older version of the object conflicts."""
        live = self.find(obj)
        if live is None:
            return not_found(plural_of(obj), obj.metadata.name)
        if obj.metadata.resource_version not in ("", live.metadata.resource_version):
            name = f'{group_resource(obj)} "{obj.metadata.name}"'
            return f"Operation cannot be fulfilled on {name}: {MODIFIED}"
        self.replace(obj)
        return None

    def create_object(self, obj: O) -> O | str:
        try:
            return self.create(obj)
        except (AlreadyExists, ObjectRefused) as error:
            return str(error)

    def delete_object(self, obj: KubeObject) -> str | None:
        try:
            self.delete(obj)
        except NotFound as error:
            return str(error)
        return None

    def delete_pod(self, pod: Pod) -> str | None:
        """Of a victim."""
        if self.before_eviction is not None:
            self.before_eviction(pod)
        try:
            self.evict(pod)
        except NotFound as error:
            return str(error)
        return None

    def patch_pod_condition(self, pod: Pod, type_: str, status: str, reason: str, message: str) -> str | None:
        condition = PodCondition(type=type_, status=status, reason=reason, message=message)
        return self.patch_pod_status(pod, condition, None)

    def evicts(self, preemptor: Pod, victims: Sequence[Pod]) -> None:
        """One after the other, each gone at once."""

    def is_evicting_for(self, preemptor: Pod) -> bool:
        return False

    def clear_nomination(self, pod: Pod) -> str | None:
        return self.patch_pod_status(pod, None, Nomination(""))

    def patch_pod_status(self, known: Pod, condition: PodCondition | None, nomination: Nomination | None) -> str | None:
        """Sends what differs from ``known``, the pod as the writer has it; nothing when nothing does."""
        if condition is not None and has_condition(known.status, condition):
            condition = None
        if nomination is not None and nomination.node_name == known.status.nominated_node_name:
            nomination = None
        if condition is None and nomination is None:
            return None
        live = self.get(Pod, known.metadata.namespace, known.metadata.name)
        if live is None:
            return not_found("pods", known.metadata.name)
        status = live.status
        if condition is not None:
            status = with_condition(status, condition, rfc3339(self._clock.now)) or status
        if nomination is not None and nomination.node_name != status.nominated_node_name:
            status = replace(status, nominated_node_name=nomination.node_name)
        if status is not live.status:
            # What no plugin may rest its answer on does not count: reasons and messages of pods that wait for a node.
            noted = not live.spec.node_name and status.nominated_node_name == live.status.nominated_node_name
            self._exchange(live, live, counts=not noted, status=status)
        return None

    def event(self, type_: str, reason: str, pod: Pod, note: str) -> None:
        uid, reporter = pod.metadata.uid, pod.spec.scheduler_name
        self._observer.event(ClusterEventRecord(self._clock.now, type_, reason, pod.key, note, uid, reporter))

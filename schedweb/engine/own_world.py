"""A shadow on its own: the arrivals of a real cluster in a world of our own, where differences add up.

What the watches bring is applied without what the real scheduler decided about it: a pod that came pending has the node
that ours chose, or none. What it decided stands beside our world (``RealPod``), for whoever compares the two. Both
follow from the journal. Nothing of this is written anywhere but here.

What was decided before the run began stays. Rules: docs/live-clusters.md#on-its-own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec.structs import replace

from framework.objects import (
    KubeObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    StorageClass,
)
from framework.objects.claims import WAIT_FOR_FIRST_CONSUMER, class_of_claim
from framework.objects.defaults import DEFAULT_SCHEDULER_NAME
from framework.objects.pod import PodStatus
from framework.objects.resources import pod_requests
from framework.objects.storage import VolumeAttachment
from framework.objects.timestamps import TimestampError, parse_timestamp
from framework.scheduler.cluster import Cluster
from framework.scheduler.controllers import OF_OWN_DECISIONS
from framework.scheduler.store import FINISHED, Key, object_key
from schedweb.engine import own_claims
from schedweb.engine.persons import Persons
from schedweb.engine.pod_view import view_of
from schedweb.engine.told import told, was_bound_since

OWN_VERSIONS: Final = 10**15
"""Versions of objects that ours changed come after this: an update with the version that is known is none."""


class RealPod(msgspec.Struct, frozen=True):
    """A pod about which the real scheduler decided since the run began, as it is there; or one that ours evicted."""

    uid: str
    namespace: str
    name: str
    workload: str
    profile: str
    """The pod's schedulerName."""
    amounts: Mapping[str, int]
    """What it asks for."""
    controlled: bool
    """A controller makes another one where it is evicted."""
    decided: bool
    """The real scheduler decides about it; else it had its node when the run began, and one of the two evicted it."""
    came: int
    """Nanoseconds of run time, as what follows."""
    since: int
    """It is where it is: on ``node``, or without."""
    node: str = ""
    gated: bool = False
    message: str = ""
    """Of the real scheduler, while it has found no node."""
    preempted: bool = False
    """The real scheduler evicted it, or does so."""
    present: bool = True

    @property
    def stays_here(self) -> bool:
        """It was evicted there, and nobody brings it back."""
        return self.preempted and not self.controlled


@dataclass(frozen=True, slots=True)
class Beside:
    """What is known of the real cluster, or what will be after some changes."""

    pods: MutableMapping[Key, RealPod | None]
    """None: forgotten."""
    claims: MutableMapping[str, bool]
    """Uids of claims of volumes and devices that came undecided: ours says what becomes of them."""
    told: dict[str, RealPod]
    """By uid: those that changed."""

    def decided(self, namespace: str, name: str, uid: str) -> bool:
        """Whether ours decides about this pod."""
        known = self.pods.get((namespace, name))
        return known is not None and known.uid == uid

    def tell(self, key: Key, known: RealPod, *, keep: bool = True) -> None:
        self.pods[key] = known if keep else None
        self.told[known.uid] = known


class OwnWorld(ABC):
    """Our world. ``beside`` is the real one, as far as it may differ."""

    start: int
    """Nanoseconds of run time; what was decided before stays."""
    schedulers: frozenset[str]
    """schedulerNames that have a profile. Pods of others are where their schedulers put them."""
    is_followed: bool
    beside: Beside
    persons: Persons | None = None
    """Of a fork: what a person did here."""

    @property
    @abstractmethod
    def cluster(self) -> Cluster:
        """What our world consists of."""

    # --- the beginning ----------------------------------------------------------------------------------------------

    def begin(self, objects: Sequence[KubeObject]) -> list[KubeObject]:
        """The objects of a snapshot without what the real scheduler said of pods that it had found no node for."""
        here = self._begun(objects)
        kept = (here.get(place, obj) for place, obj in enumerate(objects))
        return [obj for obj in kept if obj is not None]

    def _begun(self, objects: Sequence[KubeObject]) -> dict[int, KubeObject | None]:
        """Place → what our world has of the object, of those that may be another here. ``beside`` is told."""
        classes = {each.metadata.name: each for each in objects if isinstance(each, StorageClass)}
        here: dict[int, KubeObject | None] = {}
        rank: dict[type, int] = {PersistentVolumeClaim: 0, PersistentVolume: 1, Pod: 2, ResourceClaim: 3}
        for place, obj in sorted(enumerate(objects), key=lambda each: rank.get(type(each[1]), 4)):
            match obj:
                case PersistentVolumeClaim():
                    waits = waits_for_consumer(obj, classes.get(class_of_claim(obj)))
                    here[place] = own_claims.claim(self.beside, None, obj, waits=waits)
                case PersistentVolume():
                    here[place] = own_claims.volume(self.beside, own_claims.free(obj), obj)
                case Pod() if not obj.spec.node_name:
                    here[place] = self._pod(self.beside, None, obj, listed=False, now=self.start)
                case ResourceClaim():
                    here[place] = own_claims.devices(self.beside, None, obj)
        return here

    # --- what watches bring -----------------------------------------------------------------------------------------

    def ahead(self) -> Beside:
        """To find out what changes would do."""
        return Beside(ChainMap({}, self.beside.pods), ChainMap({}, self.beside.claims), {})

    def take(
        self, beside: Beside, ours: KubeObject | None, seen: KubeObject, *, listed: bool, now: int
    ) -> KubeObject | None:
        """What our world has of the object after it was seen there, in place of ``ours``. ``beside`` is told."""
        if ours is not None and ours.metadata.uid != seen.metadata.uid and not own_claims.is_made_here(beside, ours):
            if isinstance(ours, Pod):
                self.went(beside, ours, object_key(ours), is_pod=True)
            ours = None
        match seen:
            case Pod():
                return self._pod(beside, ours if isinstance(ours, Pod) else None, seen, listed=listed, now=now)
            case PersistentVolumeClaim():
                storage_class = self.cluster.get(StorageClass, "", class_of_claim(seen))
                known = ours if isinstance(ours, PersistentVolumeClaim) else None
                return own_claims.claim(beside, known, seen, waits=waits_for_consumer(seen, storage_class))
            case PersistentVolume():
                return own_claims.volume(beside, ours if isinstance(ours, PersistentVolume) else None, seen)
            case ResourceClaim():
                return own_claims.devices(beside, ours if isinstance(ours, ResourceClaim) else None, seen)
            case VolumeAttachment():
                # Volumes are attached where the real scheduler put their pods.
                return None if ours is None else seen
        return seen

    def went(self, beside: Beside, ours: KubeObject | None, key: Key, *, is_pod: bool) -> KubeObject | None:
        """What our world has of an object that is gone there."""
        if not is_pod:
            return ours if ours is not None and own_claims.is_made_here(beside, ours) else None
        known = beside.pods.get(key)
        if known is None:
            return None
        stays = ours is not None and known.stays_here
        if known.present or not stays:
            beside.tell(key, replace(known, present=False), keep=stays)
        return ours if stays else None

    def _pod(self, beside: Beside, ours: Pod | None, seen: Pod, *, listed: bool, now: int) -> Pod | None:
        key = object_key(seen)
        known = beside.pods.get(key)
        if known is not None and known.uid != seen.metadata.uid:
            beside.tell(key, replace(known, present=False), keep=False)
            known = None
        came = known is None and ours is None
        arrives = came and self._was_pending(seen, listed=listed)
        if known is None and not arrives and (ours is None or not is_preempted(seen)):
            return seen  # it was there when the run began, or is no scheduler's, or another one's
        if seen.status.phase in FINISHED:
            gone = self.went(beside, ours, key, is_pod=True)
            assert gone is None or isinstance(gone, Pod)
            return gone
        there = real_pod(known, seen, now, given=not came, unseen=came and bool(seen.spec.node_name))
        if there != known:
            beside.tell(key, there)
        if ours is None and not came:
            return None  # ours evicted it
        return _undecided(ours, seen, stays=there.stays_here)

    def decide(self, pod: Pod, now: int) -> None:
        """Of a pod that is pending here, and of which ours did not decide before, it does if it has a profile."""
        self._pod(self.beside, None, pod, listed=False, now=now)

    def _was_pending(self, seen: Pod, *, listed: bool) -> bool:
        """It came without a node, or a list has it with one that it was given since the run began."""
        scheduler = seen.spec.scheduler_name or DEFAULT_SCHEDULER_NAME
        if scheduler not in self.schedulers or seen.status.phase in FINISHED:
            return False
        return not seen.spec.node_name or (listed and was_bound_since(seen, self.start))

    # --- what ours does ---------------------------------------------------------------------------------------------

    def evicted_here(self, pod: Pod, now: int) -> None:
        """A victim, in our world only: it goes on there."""
        key = object_key(pod)
        live = self.cluster.get(Pod, *key)
        if self.is_followed and live is not None and self.beside.pods.get(key) is None:
            known = real_pod(None, live, now, given=True)
            self.beside.tell(key, replace(known, preempted=False))  # the condition that says so is ours

    def reveal(self) -> list[RealPod]:
        """What is to be stored of the real cluster, once."""
        found = list(self.beside.told.values())
        self.beside.told.clear()
        for key in [key for key, known in self.beside.pods.items() if known is None]:
            del self.beside.pods[key]
        return found

    def go_on_simulated(self) -> None:
        """No real cluster tells anything any more."""
        self.is_followed = False
        self.beside = Beside({}, {}, {})


class OwnCluster(OwnWorld, Cluster):
    """A world of our own from the run's beginning."""

    def __init__(self, start: int, schedulers: Iterable[str]) -> None:
        super().__init__()
        self.start = start
        self.schedulers = frozenset(schedulers)
        self.is_followed = True
        self.beside = Beside({}, {}, {})
        self.set_controllers(OF_OWN_DECISIONS)
        self.number_versions_from(OWN_VERSIONS)

    @property
    def cluster(self) -> Cluster:
        return self

    def delete_pod(self, pod: Pod) -> str | None:
        self.evicted_here(pod, self._clock.now)
        return super().delete_pod(pod)


def real_pod(known: RealPod | None, seen: Pod, now: int, *, given: bool = False, unseen: bool = False) -> RealPod:
    """As it is there, by run time ``now``. ``given``: it had its node when the run began; ``unseen``: it got one while
    nobody watched."""
    node, gated = seen.spec.node_name, bool(seen.spec.scheduling_gates)
    came, since = (now, now) if known is None else (known.came, known.since)
    if known is None and unseen:
        came, since = times_of(seen, now)
    elif known is not None and (known.node, known.gated) != (node, gated):
        since = now
    view = view_of(seen)
    return RealPod(
        uid=seen.metadata.uid,
        namespace=seen.metadata.namespace,
        name=seen.metadata.name,
        workload=view.workload,
        profile=seen.spec.scheduler_name or DEFAULT_SCHEDULER_NAME,
        amounts=pod_requests(seen),
        controlled=any(owner.controller for owner in seen.metadata.owner_references),
        decided=known.decided if known is not None else not given,
        came=came,
        since=since,
        node=node,
        gated=gated,
        message="" if node else told(seen).message,
        preempted=is_preempted(seen) or (known is not None and known.preempted),
    )


def times_of(pod: Pod, now: int) -> tuple[int, int]:
    """(when it was made, when it was bound) as its metadata and conditions say, in nanoseconds since 1970."""
    try:
        made = min(parse_timestamp(pod.metadata.creation_timestamp or ""), now)
    except TimestampError:
        return now, now
    bound = told(pod).since
    return made, made if bound is None else min(max(made, bound), now)


def is_preempted(pod: Pod) -> bool:
    """As kube-scheduler marks a victim before it deletes it."""
    return any(
        each.type == "DisruptionTarget" and each.status == "True" and each.reason == "PreemptionByScheduler"
        for each in pod.status.conditions
    )


def waits_for_consumer(claim: PersistentVolumeClaim, storage_class: StorageClass | None) -> bool:
    """Its volume is chosen by the scheduler, and it has none yet."""
    waits = storage_class is not None and storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
    return waits and not claim.spec.volume_name


def _undecided(ours: Pod | None, seen: Pod, *, stays: bool) -> Pod:
    """The pod as it is there, but for what schedulers and kubelets said of it: that is as in our world."""
    node, before = ("", PodStatus(phase="Pending")) if ours is None else (ours.spec.node_name, ours.status)
    spec = seen.spec if seen.spec.node_name == node else replace(seen.spec, node_name=node)
    if ours is not None and ours.spec == spec:
        spec = ours.spec
    # Names of claims made from templates are the claim controller's.
    status = replace(before, resource_claim_statuses=seen.status.resource_claim_statuses)
    if not status.qos_class:
        status = replace(status, qos_class=seen.status.qos_class)
    metadata = seen.metadata
    if stays and ours is not None:
        metadata = replace(metadata, deletion_timestamp=ours.metadata.deletion_timestamp)
    return replace(seen, metadata=metadata, spec=spec, status=status)

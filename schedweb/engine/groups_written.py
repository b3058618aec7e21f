"""Conditions of pod groups in a run that schedules a real cluster.

kube-scheduler waits for the answer to its patch before the next cycle; here nobody waits, and a group that finds no
room is tried again and again. So what was written is not written once more before a moment has passed or its watch
has told of the group."""

from __future__ import annotations

from typing import Final, Protocol

import msgspec
from msgspec.structs import replace

from framework.objects import KubeObject
from framework.objects.scheduling import Condition, SchedulingPodGroup
from framework.objects.timestamps import SECOND
from framework.scheduler.cluster import not_found
from schedweb.writes import pod_groups
from schedweb.writes.writes import Write

AGAIN_AFTER: Final = SECOND
"""By the run's clock, in nanoseconds: a patch that was refused is tried again by a later cycle, as upstream."""


class Cluster(Protocol):
    """What the run's cluster lends."""

    def find(self, obj: KubeObject) -> KubeObject | None: ...

    def tell(self, write: Write) -> None:
        """Written in its turn, and not waited for."""
        ...


class _Said(msgspec.Struct, frozen=True):
    at: int
    version: str
    """Of the group as it was known."""
    conditions: tuple[Condition, ...]
    """Without their times."""


class Groups(msgspec.Struct):
    said: dict[str, _Said] = {}
    """uid of a group → what was written last."""

    def update(self, cluster: Cluster, wanted: SchedulingPodGroup, now: int) -> str | None:
        """At the end of the group's cycle; it is seen when its watch comes. An error as kube-scheduler logs it, or
        None. ``now``: nanoseconds."""
        known = cluster.find(wanted)
        if not isinstance(known, SchedulingPodGroup) or known.metadata.uid != wanted.metadata.uid:
            return not_found("podgroups.scheduling.k8s.io", wanted.metadata.name)
        if (write := self._patch(known, wanted, now)) is not None:
            cluster.tell(write)
        return None

    def _patch(self, known: SchedulingPodGroup, wanted: SchedulingPodGroup, now: int) -> Write | None:
        uid, version = known.metadata.uid, known.metadata.resource_version
        conditions = tuple(replace(each, last_transition_time=None) for each in wanted.status.conditions)
        said = self.said.get(uid)
        is_said = said is not None and (said.version, said.conditions) == (version, conditions)
        if said is not None and is_said and now < said.at + AGAIN_AFTER:
            return None
        write = pod_groups.patch_status(known, wanted)
        if write is not None:
            self.said[uid] = _Said(now, version, conditions)
        return write

    def forget(self, uid: str) -> None:
        self.said.pop(uid, None)

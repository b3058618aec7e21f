"""The scheduler's cluster, where it is a real one: changes come from watches, writes go to the API server.

A write is answered before the machine goes on. A binding is not seen here before its watch brings it: in between the
pod is assumed, as upstream's is. Volumes and claims are seen at once as they were written, as in upstream's assume
caches; what watches bring from before is left out. Objects keep the API server's versions. No controller is played.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from framework.objects import KubeObject, Pod, PodCondition, ResourceClaim
from framework.queue import Nomination
from framework.reading.gathering import current, decoded
from framework.scheduler.cluster import Cluster, O, not_found
from framework.scheduler.store import ObjectAdded, ObjectDeleted, ObjectUpdated
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.scheduling.informers import Changed
from schedweb.clusters.writing.sending import Writer
from schedweb.writes import claims, pods, volumes
from schedweb.writes.claims import RESOURCE, named
from schedweb.writes.writes import Outcome, Write

SayEvent = Callable[[str, str, Pod, str, int], None]
"""(type, reason, pod, note, nanoseconds)."""


class LiveCluster(Cluster):
    def __init__(self, writer: Writer, say_event: SayEvent) -> None:
        super().__init__()
        self.set_controllers(())
        self._writer, self._say_event = writer, say_event
        self._not_failed: set[str] = set()
        """uids of pods whose binding failed although the pod may well run: somebody else bound it, or nobody knows."""
        self._ahead: dict[str, int] = {}
        """uid → version of what was written and whose watch has not come so far."""

    # What watches bring

    def hear(self, change: Changed) -> None:
        """Of pods that wait in a namespace where nothing may be written nothing is known here."""
        resource, (namespace, name), new = change
        old = self.find_unstructured(resource.version, resource.kind, namespace, name)
        if isinstance(new, Pod) and not new.spec.node_name and not self._is_allowed(namespace):
            new = None
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            self._announce_change()
            self.remove(old)
            self._tell(ObjectDeleted(old))
            self._ahead.pop(old.metadata.uid, None)
            old = None
        if new is None or self._is_behind(new):
            return
        self._keep(old, new)
        if isinstance(new, Pod) and new.spec.node_name:
            self._not_failed.discard(new.metadata.uid)

    def _keep(self, old: KubeObject | None, new: KubeObject) -> None:
        self._announce_change()
        self.put(new)
        self._tell(ObjectAdded(new) if old is None else ObjectUpdated(old, new))

    def _is_allowed(self, namespace: str) -> bool:
        allowed = self._writer.limits.namespaces
        return not allowed or namespace in allowed

    # What the framework and its plugins write

    def bind(self, pod: Pod, node_name: str) -> str | None:
        outcome = self._writer.send(pods.bind(pod, node_name))
        if not outcome.is_done and not outcome.fails_the_pod:
            self._not_failed.add(pod.metadata.uid)
        return outcome.error

    def patch_pod_status(self, known: Pod, condition: PodCondition | None, nomination: Nomination | None) -> str | None:
        if known.metadata.uid in self._not_failed:
            return None
        nominated = None if nomination is None else nomination.node_name
        return self._send(pods.patch_status(known, condition, nominated, self._clock.now))

    def delete_pod(self, pod: Pod) -> str | None:
        outcome = self._writer.send(pods.evict(pod))
        # Gone is what was wanted; the plugin that evicts knows it by these words.
        return f'pods "{pod.metadata.name}" not found' if outcome.result == "replaced" else outcome.error

    def update(self, obj: KubeObject) -> str | None:
        if isinstance(obj, ResourceClaim):
            return self._update_claim(obj)
        if isinstance(obj, Pod) and (told := pods.written(obj)) is not None:
            return self._send(told)
        write = volumes.written(obj)
        if write is None:
            return volumes.NOT_WRITTEN.format(obj.kind)
        outcome = self._writer.send(write)
        # Nothing is there to be seen of what was only tried.
        if outcome.is_done and not outcome.dry_run:
            self._see(obj, outcome.resource_version)
        return outcome.error

    def _update_claim(self, obj: ResourceClaim) -> str | None:
        known = self.find(obj)
        if not isinstance(known, ResourceClaim) or known.metadata.uid != obj.metadata.uid:
            # One that was made in a dry run is nowhere.
            return None if self._writer.limits.dry_run else not_found(RESOURCE, obj.metadata.name)
        change = claims.change_of(known, obj)
        if change.joins is not None:
            outcome, error = claims.reserve(obj, change, self._sent)
        elif (write := claims.release(obj, change)) is not None:
            outcome = self._sent(write)
            error = outcome.error
        else:
            return None
        if outcome.is_done and not outcome.dry_run and outcome.resource_version:
            self._see(obj, outcome.resource_version)
        return error

    def _sent(self, write: Write) -> Outcome:
        """What conflicts is read once more, and known from then on as it is."""
        outcome = self._writer.send(write)
        if outcome.result != "conflict" or write.purpose not in claims.OF_VERSIONS:
            return outcome
        try:
            found = self._writer.read(write)
        except ClusterProblem:
            return outcome
        if found is None:
            return replace(outcome, result="gone", message=not_found(RESOURCE, write.about.name))
        claim = decoded(current(found))
        if claim.metadata.uid == write.about.uid and not self._is_behind(claim):
            self._keep_ahead(self.find(claim), claim)
        return outcome

    def _see(self, obj: KubeObject, version: str) -> None:
        old = self.find(obj)
        if old is None:
            return
        self._keep_ahead(old, replace(obj, metadata=replace(obj.metadata, resource_version=version)))

    def _keep_ahead(self, old: KubeObject | None, new: KubeObject) -> None:
        if (version := new.metadata.resource_version).isdigit():
            self._ahead[new.metadata.uid] = int(version)
        self._keep(old, new)

    def _is_behind(self, new: KubeObject) -> bool:
        written, version = self._ahead.get(new.metadata.uid), new.metadata.resource_version
        if written is None:
            return False
        if version.isdigit() and int(version) < written:
            return True
        del self._ahead[new.metadata.uid]
        return False

    def create_object(self, obj: O) -> O | str:
        if not isinstance(obj, ResourceClaim):
            return volumes.NOT_WRITTEN.format(obj.kind)
        outcome = self._writer.send(claims.create_claim(obj))
        if outcome.error is not None:
            return outcome.error
        made = named(obj, outcome)
        if not outcome.dry_run and self.find(made) is None:
            self._keep_ahead(None, made)
        return made

    def delete_object(self, obj: KubeObject) -> str | None:
        if not isinstance(obj, ResourceClaim):
            return volumes.NOT_WRITTEN.format(obj.kind)
        if self._writer.limits.dry_run and self.find(obj) is None:
            return None
        outcome = self._writer.send(claims.delete_claim(obj))
        # Gone is what was wanted.
        return None if outcome.result in ("gone", "replaced") else outcome.error

    def event(self, type_: str, reason: str, pod: Pod, note: str) -> None:
        super().event(type_, reason, pod, note)
        self._say_event(type_, reason, pod, note, self._clock.now)

    def _send(self, write: Write | None) -> str | None:
        return None if write is None else self._writer.send(write).error

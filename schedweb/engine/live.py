"""The cluster of a run that schedules a real one: writes become rows of the next batch, answers come as a command.

Nothing is sent from here. A write that a binding cycle needs the answer of stands (``Unanswered``); others are told and
not waited for. A binding that was answered is seen at once, for the API server binds a uid once and for good; all else
is seen when its watch comes. Only a list that was asked for later takes back what was answered: etcd was restored from
a backup. After ``go_on_simulated`` it is a simulated cluster, as in a fork.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from framework.interface.handle import Unanswered
from framework.objects import KubeObject, Pod, PodCondition, ResourceClaim
from framework.objects.scheduling import SchedulingPodGroup
from framework.queue import Nomination
from framework.scheduler.cluster import SCHEDULED, Cluster, O, rfc3339, with_condition
from framework.scheduler.store import ObjectAdded, ObjectUpdated
from schedweb.engine.claims_written import Claims
from schedweb.engine.groups_written import Groups
from schedweb.engine.other_schedulers import OtherSchedulers
from schedweb.writes import events, pods, volumes
from schedweb.writes.writes import Outcome, Write

GONE: Final = frozenset(("gone", "replaced"))
"""Of an eviction: there is nobody to be evicted any more."""


class Scheduling(msgspec.Struct, frozen=True):
    """What a person allowed when a run began to schedule a real cluster."""

    instance: str
    """In Events: which scheduler it was."""
    schedulers: tuple[str, ...] = ()
    """schedulerNames, as they were typed."""
    namespaces: tuple[str, ...] = ()
    """Empty: all."""
    bindings_per_minute: int = 0
    """0: as many as there are."""
    dry_run: bool = False
    node_selector: dict[str, str] = {}
    """Labels of the nodes that are ours; empty: all."""
    victims_in_turn: bool = False
    """The last victim of a preemption waits for the others. Of runs that began before there was such an order: False,
    for their journals number the writes of victims as they were told, all at once."""
    writes_claims: bool = False
    """Claims of devices are allocated and reserved. Of runs that began before that could be written: False, for their
    journals have it that pods with claims failed."""
    writes_pod_groups: bool = False
    """The condition PodGroupScheduled is. Of runs that began before that could be written: False, for their journals
    number the writes without it."""


class WriteRow(msgspec.Struct, frozen=True, array_like=True):
    """A write as it is stored before it is sent. ``number`` counts the run's."""

    number: int
    write: Write
    is_awaited: bool
    """Its outcome is an input of the run."""


class _Asked(msgspec.Struct, frozen=True):
    what: Literal["cycle", "disrupt", "evict", "release"]
    uid: str
    """Of the pod whose binding cycle stands, of the victim, or of the claim that is given back."""
    key: tuple[str, ...] = ()


class _Victim(msgspec.Struct):
    """Told why, or waiting for its turn to be."""

    pod: Pod
    said: list[tuple[str, str, Pod, str]] = []
    """Events that are told when it was deleted."""
    is_deleted: bool = False
    """The API server said so: from then on it terminates, or is gone."""
    why: PodCondition | None = None
    """What it is told, until it is its turn."""
    is_called_off: bool = False
    """Another victim could not be evicted: after what is on its way nothing more is written."""


class _Eviction(msgspec.Struct):
    """What leaves for one pod."""

    others: list[str]
    """uids of all but the last of which nobody knows that they leave."""
    last: str
    """"" when that one is not deleted by a write, or is gone."""

    def wants(self, uid: str) -> bool:
        return uid == self.last or uid in self.others


class Heard(NamedTuple):
    goes_on: str = ""
    """The pod whose binding cycle goes on."""
    kept: Pod | None = None
    """A victim that could not be evicted."""
    claim: ResourceClaim | None = None
    """Pods that want it are tried again."""


class LiveCluster(Cluster):
    def __init__(self, terms: Scheduling) -> None:
        super().__init__()
        self.terms = terms
        self.answers_later = True
        self.sees_bindings = True
        """When they are answered. Else, as upstream, when their watch comes, and until then their pods are assumed."""
        self.set_controllers(())
        self.written = 0
        self.outbox: list[WriteRow] = []
        self._acting = ""
        """The pod whose binding cycle is asked."""
        self._asked: dict[int, _Asked] = {}
        self._answers: dict[str, dict[tuple[str, ...], Outcome | None]] = {}
        """Pod → what its binding cycle wrote → the outcome; None: not yet."""
        self._not_failed: set[str] = set()
        """Pods whose failed binding must not be written onto them: they may well run."""
        self._victims: dict[str, _Victim] = {}
        self._evictions: dict[str, _Eviction] = {}
        """uid of who preempts → what leaves for it."""
        self._ahead: dict[str, int] = {}
        """uid → version that was written; what watches bring from before is left out."""
        self._claims, self._groups = Claims(), Groups()
        self.others = OtherSchedulers()
        self.answered: dict[str, int] = {}
        """uid → when our last write that changes this object was answered; nanoseconds since 1970 by the worker's
        clock. Nothing is decided by it here: lists that were asked for later are known by it (observed.py)."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Of a checkpoint from before there was any.
        since: dict[str, Any] = {"_claims": Claims(), "_groups": Groups(), "others": OtherSchedulers()}
        self.__dict__.update({"answered": {}, "_evictions": {}, "sees_bindings": True, **since, **state})

    # --- what watches bring -------------------------------------------------------------------------------------------

    def is_outdated(self, seen: KubeObject) -> bool:
        """Whether the run knows better: a binding stays, and a write that was answered came after this version."""
        known = self.find(seen)
        if known is None or known.metadata.uid != seen.metadata.uid:
            return False
        if isinstance(known, Pod) and isinstance(seen, Pod) and known.spec.node_name and not seen.spec.node_name:
            return True
        return self.is_behind(seen)

    def is_behind(self, seen: KubeObject) -> bool:
        """Whether a write that was answered came after this version."""
        version, ahead = seen.metadata.resource_version, self._ahead.get(seen.metadata.uid)
        return ahead is not None and version.isdigit() and int(version) < ahead

    def takes_back(self, seen: KubeObject) -> bool:
        """Whether an object that was listed after our write of it was answered is from before that."""
        victim = self._victims.get(seen.metadata.uid)
        is_deleted = victim is not None and victim.is_deleted and seen.metadata.deletion_timestamp is None
        return is_deleted or self.is_outdated(seen)

    def undo(self, seen: KubeObject) -> Pod | None:
        """What was written of it is forgotten, for the cluster has. A victim that was deleted and is back, or None."""
        uid = seen.metadata.uid
        self._not_failed.discard(uid)
        self._ahead.pop(uid, None)
        victim = self._victims.get(uid)
        if victim is None or not victim.is_deleted:
            return None
        del self._victims[uid]
        return victim.pod

    def is_left_out(self, seen: KubeObject) -> bool:
        """Pending pods of namespaces that are not allowed are not looked at."""
        allowed = self.terms.namespaces
        return (
            self.answers_later
            and bool(allowed)
            and isinstance(seen, Pod)
            and not seen.spec.node_name
            and seen.spec.scheduler_name in self.terms.schedulers
            and seen.metadata.namespace not in allowed
        )

    def bound_elsewhere(self, uid: str) -> None:
        """Whatever of ours fails for this pod is no error of it."""
        self._not_failed.add(uid)

    def delete(self, obj: KubeObject) -> None:
        self._leaves(obj.metadata.uid)
        super().delete(obj)
        self._not_failed.discard(obj.metadata.uid)
        self._victims.pop(obj.metadata.uid, None)
        self._ahead.pop(obj.metadata.uid, None)
        self.answered.pop(obj.metadata.uid, None)
        self._groups.forget(obj.metadata.uid)

    # --- what binding cycles write ------------------------------------------------------------------------------------

    def act_for(self, uid: str) -> None:
        self._acting = uid

    def settle(self, uid: str) -> None:
        self._acting = ""
        self._answers.pop(uid, None)

    def bind(self, pod: Pod, node_name: str) -> str | None:
        if not self.answers_later:
            return super().bind(pod, node_name)
        outcome = self.awaited(("bind", node_name), pods.bind(pod, node_name))
        if not outcome.is_done:
            if not outcome.fails_the_pod:
                self._not_failed.add(pod.metadata.uid)
            return outcome.error
        if not outcome.dry_run and self.sees_bindings:
            self._see_binding(pod, node_name)
        return None

    def _see_binding(self, pod: Pod, node_name: str) -> None:
        live = self.get(Pod, pod.metadata.namespace, pod.metadata.name)
        if live is None or live.metadata.uid != pod.metadata.uid or live.spec.node_name:
            return
        status = with_condition(live.status, SCHEDULED, rfc3339(self._clock.now)) or live.status
        status = replace(status, nominated_node_name="")
        self._see(live, replace(live, spec=replace(live.spec, node_name=node_name), status=status))

    def _see(self, old: KubeObject, new: KubeObject) -> None:
        self._announce_change()
        self.put(new)
        self._tell(ObjectUpdated(old, new))

    def update(self, obj: KubeObject) -> str | None:
        if not self.answers_later:
            return super().update(obj)
        if self.terms.writes_claims and isinstance(obj, ResourceClaim):
            return self._claims.update(self, obj, acting=self._acting)
        if self.terms.writes_claims and isinstance(obj, Pod) and self._acting:
            return self._update_pod(obj)
        if self.terms.writes_pod_groups and isinstance(obj, SchedulingPodGroup):
            return self._groups.update(self, obj, self._clock.now)
        write = volumes.written(obj)
        if write is None or not self._acting:
            return volumes.NOT_WRITTEN.format(obj.kind)
        outcome = self.awaited(("update", obj.kind, obj.key, obj.metadata.resource_version), write)
        # Nothing is there to be seen of what was only tried.
        if outcome.is_done and not outcome.dry_run:
            self.see_written(obj, outcome.resource_version)
        return outcome.error

    def _update_pod(self, obj: Pod) -> str | None:
        """What it says of the claim that was made for it is seen when its watch comes."""
        write = pods.written(obj)
        return None if write is None else self.awaited((write.purpose,), write).error

    def see_written(self, obj: KubeObject, told: str) -> None:
        version, old = int(told) if told.isdigit() else 0, self.find(obj)
        if old is None or self._ahead.get(obj.metadata.uid, 0) >= version:
            return
        self._ahead[obj.metadata.uid] = version
        self.answered[obj.metadata.uid] = self.answered.get(self._acting, 0)
        known = old.metadata.resource_version
        if not known.isdigit() or int(known) < version:
            self._see(old, replace(obj, metadata=replace(obj.metadata, resource_version=str(version))))

    def see_found(self, seen: ResourceClaim) -> None:
        """A claim that was read once more."""
        old = self.find(seen)
        if old is None or old.metadata.uid != seen.metadata.uid or self.is_outdated(seen):
            return
        known, found = old.metadata.resource_version, seen.metadata.resource_version
        if found.isdigit() and not (known.isdigit() and int(known) >= int(found)):
            self._ahead[seen.metadata.uid] = int(found)
            self._see(old, seen)

    def give_back(self, write: Write, uid: str) -> None:
        self._write(write, _Asked("release", uid))

    def tell(self, write: Write) -> None:
        self._write(write)

    def keep(self, old: KubeObject | None, new: KubeObject) -> None:
        if old is not None:
            self._see(old, new)
            return
        self._announce_change()
        self.put(new)
        self._tell(ObjectAdded(new))

    def forget(self, obj: KubeObject) -> None:
        super().delete(obj)

    @property
    def is_dry_run(self) -> bool:
        return self.terms.dry_run

    def awaited(self, key: tuple[str, ...], write: Write) -> Outcome:
        """Raises Unanswered where it is not known yet."""
        known = self._answers.setdefault(self._acting, {})
        if key not in known:
            known[key] = None
            self._write(write, _Asked("cycle", self._acting, key))
        outcome = known[key]
        if outcome is None:
            raise Unanswered(key)
        return outcome

    # --- what is not waited for ---------------------------------------------------------------------------------------

    def patch_pod_status(self, known: Pod, condition: PodCondition | None, nomination: Nomination | None) -> str | None:
        if not self.answers_later:
            return super().patch_pod_status(known, condition, nomination)
        uid = known.metadata.uid
        if uid in self._not_failed:
            if condition is not None:
                self._not_failed.discard(uid)
            return None
        nominated = None if nomination is None else nomination.node_name
        write = pods.patch_status(known, condition, nominated, self._clock.now)
        if write is not None and self._is_there(known):
            self._write(write)
        return None

    def patch_pod_condition(self, pod: Pod, type_: str, status: str, reason: str, message: str) -> str | None:
        """A victim is told why first; the deletion follows when that was answered."""
        if not self.answers_later or type_ != pods.DISRUPTION:
            return super().patch_pod_condition(pod, type_, status, reason, message)
        uid = pod.metadata.uid
        if (known := self._victims.get(uid)) is not None:
            known.is_called_off = False
            return None
        condition = PodCondition(type=type_, status=status, reason=reason, message=message)
        self._victims[uid] = _Victim(pod, why=condition)
        self._tell_victim(uid)
        return None

    def _tell_victim(self, uid: str) -> None:
        """If it is its turn."""
        victim = self._victims[uid]
        if victim.why is None or any(each.last == uid and each.others for each in self._evictions.values()):
            return
        told = pods.disrupt_with(victim.pod, victim.why, self._clock.now)
        victim.why = None
        if told is None:
            self._write(pods.evict(victim.pod), _Asked("evict", uid))
        else:
            self._write(told, _Asked("disrupt", uid))

    def evicts(self, preemptor: Pod, victims: Sequence[Pod]) -> None:
        if self.answers_later and self.terms.victims_in_turn:
            *others, last = (each.metadata.uid for each in victims)
            before = self._evictions.pop(preemptor.metadata.uid, None)
            self._evictions[preemptor.metadata.uid] = _Eviction(others, last)
            if before is not None:
                self._call_off(before)

    def is_evicting_for(self, preemptor: Pod) -> bool:
        """Until the last victim was deleted, or terminates as far as watches have told."""
        eviction = self._evictions.get(preemptor.metadata.uid)
        if eviction is None:
            return False
        last = self._victims.get(eviction.last)
        if last is None or last.why is not None:
            return True
        live = self.find(last.pod)
        return live is not None and live.metadata.deletion_timestamp is None

    def _leaves(self, uid: str) -> None:
        """A victim was deleted, or is gone: whoever waited for that goes on."""
        for preemptor, each in list(self._evictions.items()):
            if not each.wants(uid):
                continue
            if each.last == uid:
                each.last = ""
            else:
                each.others.remove(uid)
            if not each.last and not each.others:
                del self._evictions[preemptor]
            elif not each.others and each.last in self._victims:
                self._tell_victim(each.last)

    def _stays(self, uid: str) -> None:
        """A victim could not be evicted: what leaves with it only stays as well, as far as that was not written."""
        for preemptor in [preemptor for preemptor, each in self._evictions.items() if each.wants(uid)]:
            self._call_off(self._evictions.pop(preemptor))

    def _call_off(self, eviction: _Eviction) -> None:
        for uid in (*eviction.others, eviction.last):
            victim = self._victims.get(uid)
            if victim is None:
                continue
            if any(each.wants(uid) for each in self._evictions.values()):
                self._tell_victim(uid)
            elif victim.why is None:
                victim.is_called_off = True
            else:
                del self._victims[uid]

    def delete_pod(self, pod: Pod) -> str | None:
        return None if self.answers_later else super().delete_pod(pod)

    def create_object(self, obj: O) -> O | str:
        if not self.answers_later:
            return super().create_object(obj)
        if not self.terms.writes_claims or not isinstance(obj, ResourceClaim) or not self._acting:
            return volumes.NOT_WRITTEN.format(obj.kind)
        return self._claims.create(self, obj)

    def delete_object(self, obj: KubeObject) -> str | None:
        if not self.answers_later:
            return super().delete_object(obj)
        if not self.terms.writes_claims or not isinstance(obj, ResourceClaim):
            return volumes.NOT_WRITTEN.format(obj.kind)
        self._claims.delete(self, obj)
        return None

    def event(self, type_: str, reason: str, pod: Pod, note: str, *, action: str = "") -> None:
        super().event(type_, reason, pod, note)
        if not self.answers_later:
            return
        uid = pod.metadata.uid
        if reason == "Preempted" and (victim := self._victims.get(uid)) is not None:
            victim.said.append((type_, reason, pod, note))
            return
        if reason == "Preempted":
            self._leaves(uid)  # it waited on Permit, so no write deletes it
        if reason == "FailedScheduling" and (uid in self._not_failed or not self._is_there(pod)):
            return
        self._write_event(type_, reason, pod, note, action)

    def _write_event(self, type_: str, reason: str, pod: Pod, note: str, action: str = "") -> None:
        # Two Events of a pod at one instant have two names all the same.
        now = self._clock.now + self.written + 1
        self._write(events.event(type_, reason, pod, note, host=self.terms.instance, now=now, action=action))

    def _is_there(self, pod: Pod) -> bool:
        live = self.get(Pod, pod.metadata.namespace, pod.metadata.name)
        return live is not None and live.metadata.uid == pod.metadata.uid

    def _write(self, write: Write, asked: _Asked | None = None) -> None:
        self.written += 1
        self.outbox.append(WriteRow(self.written, write, asked is not None))
        if asked is not None:
            self._asked[self.written] = asked

    # --- what became of it --------------------------------------------------------------------------------------------

    def hear(self, number: int, outcome: Outcome, at: int = 0, *, is_found: bool = False) -> Heard:
        """``at``: when it was answered, nanoseconds since 1970; 0: not known. ``is_found``: the claim that it is about
        was read once more, and seen."""
        asked = self._asked.pop(number, None)
        if asked is None:
            return Heard()
        if asked.what == "cycle":
            answers = self._answers.get(asked.uid)
            if answers is not None:
                answers[asked.key] = outcome
                self.answered[asked.uid] = at
            return Heard(asked.uid)
        if asked.what == "release":
            self.answered[asked.uid] = at
            return Heard(claim=self._claims.answered(self, asked.uid, outcome, is_found=is_found))
        victim = self._victims.get(asked.uid)
        if victim is None or outcome.result in GONE:
            self._victims.pop(asked.uid, None)
            self._leaves(asked.uid)
            return Heard()
        if not outcome.is_done:
            del self._victims[asked.uid]
            self._stays(asked.uid)
            return Heard(kept=victim.pod)
        if asked.what == "disrupt" and victim.is_called_off:
            del self._victims[asked.uid]
        elif asked.what == "disrupt":
            self._write(pods.evict(victim.pod), _Asked("evict", asked.uid))
        else:
            victim.is_deleted = not outcome.dry_run
            self.answered[asked.uid] = at
            for said in victim.said:
                self._write_event(*said)
            victim.said = []
            self._leaves(asked.uid)
        return Heard()

    def go_on_simulated(self) -> None:
        """What was on its way is carried out here, and so is all that comes."""
        self.answers_later = False
        self._asked, self._answers, self.outbox = {}, {}, []
        victims, self._victims = self._victims, {}
        self._evictions = {}
        for claim in self._claims.carry_out(self):
            self.delete(claim)
        for each in victims.values():
            if self._is_there(each.pod):
                self.evict(each.pod)

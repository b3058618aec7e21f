"""What a real cluster tells a run that follows it, applied as kube-scheduler's informers apply it.

``observe`` is the only place where a change of the real cluster reaches the machine; ``Observation`` says beforehand
what it is, with the state before it still untouched.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from framework.objects import KubeObject, Node, PersistentVolume, PersistentVolumeClaim, Pod, ResourceClaim
from framework.objects.admission import AdmissionError, admit
from framework.objects.decode import decode_manifest, to_manifest
from framework.objects.errors import ObjectError
from framework.scheduler.store import Key, object_key
from framework.sentences import counted_sentence, forms, noted, sentence
from schedweb.engine import commands
from schedweb.engine.commands import ObservedChange
from schedweb.engine.frames import Seen
from schedweb.engine.judged import judge_change
from schedweb.engine.own_world import OwnWorld
from schedweb.engine.persons import Persons, Place
from schedweb.engine.player import Player
from schedweb.engine.rehearsal import rehearse
from schedweb.engine.world import Refused
from schedweb.engine.written import leave_waiting, try_those_who_wait_for

SIZE: Final = 16
NOT_FOLLOWING: Final = sentence("This run follows no cluster.")
WENT_BACK: Final = forms(
    "The cluster went back to an earlier state, as when etcd is restored from a backup: {count} object changed back.",
    "The cluster went back to an earlier state, as when etcd is restored from a backup: {count} objects changed back.",
)
LEFT_OUT: Final = noted("{object} was left out, and the run goes on without it: {error}: {why}")
KEPT_AS_IT_WAS: Final = noted("A change of {object} was left out, and it stays as it was: {error}: {why}")
_JSON: Final = msgspec.json.Encoder(order="deterministic")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Observation:
    """``before`` None: it came; ``after`` None: it went. ``before`` is the object as the run has it."""

    before: KubeObject | None
    after: KubeObject | None

    @property
    def is_binding(self) -> bool:
        """A pod that the run has as pending got its node: the real scheduler decided."""
        before, after = self.before, self.after
        return (
            isinstance(before, Pod)
            and isinstance(after, Pod)
            and before.metadata.uid == after.metadata.uid
            and not before.spec.node_name
            and bool(after.spec.node_name)
        )


def observation_of(player: Player, change: ObservedChange) -> Observation:
    """Raises Refused for an object that no API server would have sent."""
    cluster = player.world.cluster
    obj = _decoded(change.manifest)
    before = cluster.find(obj)
    if change.verb == "deleted":
        return Observation(before, None)
    admitted = admit(obj, cluster, stored=True, validate=False)
    if isinstance(admitted, AdmissionError):
        raise Refused(f"{obj.kind} {obj.key}: {admitted.message}")
    return Observation(before, _sharing(before, without_heartbeats(admitted)))


def _sharing(before: KubeObject | None, after: KubeObject) -> KubeObject:
    """With the spec that the run has already, where only its node is new: replicas share theirs, and who looks at a
    pod's requests need not do so again."""
    if not isinstance(before, Pod) or not isinstance(after, Pod):
        return after
    node = after.spec.node_name
    spec = before.spec if before.spec.node_name == node else replace(before.spec, node_name=node)
    return replace(after, spec=spec) if spec == after.spec else after


def observe(player: Player, observation: Observation) -> None:
    """Applies one change to the world, and so to cache and queue (docs/semantics/events.md#event-handlers)."""
    cluster = player.world.cluster
    if observation.after is observation.before:
        return
    if observation.after is not None:
        cluster.observe(observation.after)
    elif observation.before is not None:
        cluster.delete(observation.before)


def observe_all(player: Player, command: commands.ClusterChanges) -> None:
    """In their order, at the time at which they came. One that cannot be read is told and left out."""
    if not player.is_of_real_cluster:
        raise Refused(NOT_FOLLOWING)
    observe_changes(player, command.at, command.changes, player.own)


def observe_changes(player: Player, at: int, changes: Sequence[ObservedChange], own: OwnWorld | None) -> None:
    """``own``: our world, in which the real scheduler's decisions are not taken."""
    player.scheduler.advance(max(player.now, at))
    hashed = hashlib.blake2b(bytes.fromhex(player.digest), digest_size=SIZE)
    undone = 0
    for place, change in enumerate(changes):
        try:
            observation = observation_of(player, change)
        except Refused as error:
            words = sentence("A change of the cluster cannot be read: {why}", why=error.words)
            player.projection.feed.line(player.now, "engine", words)
            continue
        live, after = player.live, observation.after
        if live is not None and after is not None and not change.undone and live.is_outdated(after):
            continue  # what was written meanwhile is newer
        if own is not None:
            observation = here(own, change, observation, player.now)
        judge_change(player, change, observation.before, observation.after, place)
        if player.live is not None and observation.is_binding:
            bound = observation.after
            assert isinstance(bound, Pod)
            leave_waiting(player.scheduler, player.live, bound)
        if live is not None:
            live.others.see(live, live.terms, observation.before, after, player.options.start, player.now)
        observe(player, observation)
        if change.undone:
            undone += 1
            _undo(player, observation)
        hashed.update(_hashed(change, observation))
        if own is not None:
            hashed.update(_JSON.encode(own.beside.pods.get(key_of(change.manifest))))
    player.digest = hashed.hexdigest()
    if undone:
        player.projection.feed.line(player.now, "engine", counted_sentence(*WENT_BACK, undone))


def _undo(player: Player, observation: Observation) -> None:
    seen = observation.after
    if player.live is None or seen is None:
        return
    victim = player.live.undo(seen)
    if victim is not None:
        try_those_who_wait_for(player.scheduler, player.live, victim)


def here(own: OwnWorld, change: ObservedChange, there: Observation, now: int) -> Observation:
    """What a change of the real cluster is in a world of our own; nothing where ``after`` is ``before``."""
    if own.persons is not None:
        return beside_persons(own.persons, own, change, there, now)
    return _here(own, change, there, now)


def beside_persons(
    persons: Persons, own: OwnWorld, change: ObservedChange, there: Observation, now: int
) -> Observation:
    """As ``here``, where a person may have deleted or edited the object in our world."""
    ours, uid = there.before, str(change.manifest["metadata"].get("uid") or "")
    place = str(change.manifest.get("apiVersion", "")), str(change.manifest.get("kind", "")), key_of(change.manifest)
    if persons.keep_away(place, uid, went=there.after is None):
        return Observation(ours, ours)
    edit = persons.edit_of(place, uid)
    if edit is None or ours is None:
        return _here(own, change, there, now)
    known = replace(ours, metadata=replace(ours.metadata, uid=edit.uid))
    found = _here(own, change, Observation(known, there.after), now).after
    if found is None:
        persons.forget(place)
        return Observation(ours, None)
    if found is known:
        return Observation(ours, ours)
    try:
        kept = without_heartbeats(persons.kept(edit, ours, found))
    except ObjectError:
        return Observation(ours, ours)  # what both say together is no object: the person's stays
    return Observation(ours, ours if is_same(ours, kept) else kept)


def _here(own: OwnWorld, change: ObservedChange, there: Observation, now: int) -> Observation:
    ours = there.before
    if there.after is None:
        is_pod = change.manifest.get("kind") == Pod.kind
        return Observation(ours, own.went(own.beside, ours, key_of(change.manifest), is_pod=is_pod))
    after = own.take(own.beside, ours, there.after, listed=change.listed, now=now)
    return Observation(ours, ours if ours is not None and after is not None and is_same(ours, after) else after)


def key_of(manifest: dict[str, Any]) -> tuple[str, str]:
    metadata = manifest["metadata"]
    return str(metadata.get("namespace", "")), str(metadata["name"])


def _hashed(change: ObservedChange, observation: Observation) -> bytes:
    """What a replay has to come to as well: the object as it is kept."""
    obj = observation.after or observation.before
    kept = None if observation.after is None else to_manifest(observation.after)
    return _JSON.encode((change.verb, "" if obj is None else f"{obj.api_version}/{obj.kind} {obj.key}", kept))


# --- what differs from the run's world --------------------------------------------------------------------------------


class Differences:
    """Says which of what was seen the run's world does not have yet. Holds the keys of lists that are under way."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self._listed: dict[tuple[str, str], set[Key]] = {}
        """(apiVersion, kind) → those seen so far."""
        self._asked_at: dict[tuple[str, str], int] = {}
        """When they were asked for; nanoseconds since 1970, 0: not known."""
        self._ahead: dict[Place, KubeObject | None] = {}
        """Objects as they will be after the changes that were found so far."""
        self._left_out: dict[Place, str] = {}
        """Objects that the engine cannot take → the version of which that was said."""
        self._undone: set[Place] = set()
        """Of these what the run knows better is taken back by a change that was found."""
        if player.live is not None:
            player.live.answered.clear()  # whatever is listed from here on was asked for later

    def of(self, seen: Iterable[Seen]) -> list[ObservedChange]:
        """Each at most once per object and state, in the order in which it was seen."""
        self.begin()
        found: list[ObservedChange | None] = []
        for each in seen:
            manifest: dict[str, Any] = msgspec.json.decode(each.manifest)
            kind = str(manifest.get("apiVersion", "")), str(manifest.get("kind", ""))
            if each.what == "list":
                self._listed[kind], self._asked_at[kind] = set(), each.asked_at
                continue
            if each.what == "whole":
                listed = self._listed.pop(kind, None)
                found += [] if listed is None else self._missing(kind, listed)
                continue
            try:
                found.append(self._change(each, manifest, kind))
            except Refused:
                continue  # the reader counts those
            except Exception as error:  # noqa: BLE001 - nothing was changed: the run goes on without this object
                found.append(self._leave_out(each, manifest, kind, error))
        return [each for each in found if each is not None]

    def _change(self, each: Seen, manifest: dict[str, Any], kind: tuple[str, str]) -> ObservedChange | None:
        """None where the run has it so already. Raises Refused, and whatever the code for such an object raises."""
        cluster = self.player.world.cluster
        obj = _decoded(manifest)
        key = (*kind, object_key(obj))
        known = self._ahead[key] if key in self._ahead else cluster.find(obj)
        if each.what == "deleted":
            return self._went(key, known)
        is_listed = each.what == "listed"
        if is_listed and kind in self._listed:
            self._listed[kind].add(key[2])
        admitted = admit(obj, cluster, stored=True, validate=False)
        if isinstance(admitted, AdmissionError):
            return None
        after = without_heartbeats(admitted)
        undone = is_listed and self._is_undone(key, known, after)
        if undone and self.player.live is not None and self.player.live.is_left_out(after):
            return self._went(key, known)
        if not undone and not self._is_news(key, known, after, listed=is_listed):
            return None
        verb: Literal["added", "modified"] = "added" if known is None else "modified"
        return ObservedChange(verb, manifest, listed=is_listed, undone=undone)

    def _leave_out(
        self, each: Seen, manifest: dict[str, Any], kind: tuple[str, str], error: Exception
    ) -> ObservedChange | None:
        """What the run had of it before stays as it was, for a pod holds its room all the same, until it goes. Said in
        the activity, once for each version."""
        namespace, name = key_of(manifest)
        key: Place = (*kind, (namespace, name))
        known = self._ahead[key] if key in self._ahead else self.player.world.cluster.find_unstructured(*kind, *key[2])
        if each.what == "deleted":
            self._left_out.pop(key, None)
            return self._went(key, known)
        if each.what == "listed" and kind in self._listed:
            self._listed[kind].add(key[2])
        version = str(manifest["metadata"].get("resourceVersion", ""))
        if self._left_out.get(key) != version:
            self._left_out[key] = version
            about = {"object": f"{kind[1]} {'/'.join(filter(None, key[2]))}", "error": type(error).__name__}
            words = sentence(LEFT_OUT if known is None else KEPT_AS_IT_WAS, **about, why=str(error))
            self.player.projection.feed.line(self.player.now, "engine", words)
            log.error("%s", words, exc_info=error)
        return None

    def begin(self) -> None:
        """Of what is to come all is as it is now."""
        self._ahead = {}
        self._undone = set()

    def _is_undone(self, key: Place, known: KubeObject | None, after: KubeObject) -> bool:
        """Of one that is listed: whether the list, as the cluster now is, takes back what can only be taken back with
        all that came after it. One that may be older than what we wrote does not."""
        asked_at = self._asked_at.get(key[:2], 0)
        if not asked_at or known is None or known.metadata.uid != after.metadata.uid or self.player.own is not None:
            return False
        live = self.player.live
        if live is not None and live.answered.get(after.metadata.uid, 0) >= asked_at:
            return False
        undone = was_taken_back(known, after) or (live is not None and live.takes_back(after))
        if undone:
            rehearse(after)
            self._undone.add(key)
            self._ahead[key] = after
        return undone

    def _is_news(self, key: Place, known: KubeObject | None, after: KubeObject, *, listed: bool) -> bool:
        """Whether it is told; from here on it is as it was seen."""
        if known is not None and is_same(known, after) and not self._is_newer(known, after):
            return False
        live = self.player.live
        if live is not None and (live.is_left_out(after) or (key not in self._undone and live.is_outdated(after))):
            return False
        rehearse(after)
        self._ahead[key] = after
        return True

    def _went(self, key: Place, known: KubeObject | None) -> ObservedChange | None:
        if known is None:
            return None
        self._ahead[key] = None
        return ObservedChange("deleted", name_of(key, known.metadata.uid))

    def _is_newer(self, known: KubeObject, seen: KubeObject) -> bool:
        """Of what is patched with its version, where nothing else is new."""
        if self.player.live is None or not isinstance(seen, PersistentVolume | PersistentVolumeClaim | ResourceClaim):
            return False
        return known.metadata.resource_version != seen.metadata.resource_version

    def _missing(self, kind: tuple[str, str], listed: set[Key]) -> list[ObservedChange | None]:
        """Of a list that is whole."""
        objects = self.player.world.cluster.of_kind(*kind)
        gone = [obj for obj in objects if object_key(obj) not in listed]
        return [self._went((*kind, object_key(obj)), obj) for obj in gone]


def was_taken_back(known: KubeObject, seen: KubeObject) -> bool:
    """Whether the same pod has lost its node, or terminates no more, which no API server does."""
    if not isinstance(known, Pod) or not isinstance(seen, Pod):
        return False
    lost = known.spec.node_name and not seen.spec.node_name
    terminated = known.metadata.deletion_timestamp is not None and seen.metadata.deletion_timestamp is None
    return bool(lost) or terminated


def is_same(known: KubeObject, seen: KubeObject) -> bool:
    """But for its version and times of heartbeats: nothing that scheduling looks at."""
    return _unversioned(without_heartbeats(known)) == _unversioned(seen)


def _unversioned(obj: KubeObject) -> KubeObject:
    return replace(obj, metadata=replace(obj.metadata, resource_version=""))


def without_heartbeats(obj: KubeObject) -> KubeObject:
    """kubelets say every few minutes that nothing changed; a reader of a followed run does not hear of it."""
    if isinstance(obj, Node):
        conditions = tuple(replace(each, last_heartbeat_time=None) for each in obj.status.conditions)
        return replace(obj, status=replace(obj.status, conditions=conditions))
    if isinstance(obj, Pod):
        conditions_ = tuple(replace(each, last_probe_time=None) for each in obj.status.conditions)
        return replace(obj, status=replace(obj.status, conditions=conditions_))
    return obj


def _decoded(manifest: dict[str, Any]) -> KubeObject:
    try:
        return decode_manifest(manifest)
    except ObjectError as error:
        raise Refused(str(error)) from None


def name_of(key: Place, uid: str) -> dict[str, Any]:
    api_version, kind, (namespace, name) = key
    metadata = {"name": name, "uid": uid}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}

"""What etcd and the watch cache hold: objects as encoded bytes, one counter of versions, the latest changes.

Objects are kept as bytes, not as dicts: 30,000 pods take 45 MB instead of 1 GB, and a list or an event is a join.
"""

from __future__ import annotations

import asyncio
import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import msgspec

from tests.apiserver import statuses
from tests.apiserver.kinds import KINDS, Json, Kind

HISTORY = 100_000
"""Changes kept for each resource; who asks for older ones is told 410."""

Key = tuple[str, str]
Listener = Callable[[Kind, "Change"], None]


@dataclass(frozen=True, slots=True)
class Stored:
    """One version of an object. ``raw``: all of it, encoded; ``fields``: the values of ``Kind.fields``."""

    namespace: str
    name: str
    uid: str
    version: int
    raw: bytes
    labels: Mapping[str, str]
    fields: tuple[str, ...]

    def decode(self) -> Json:
        found: Json = msgspec.json.decode(self.raw)
        return found


@dataclass(slots=True)
class Change:
    """``new`` is None for a deletion, ``old`` for a creation; ``last``: what a watch that loses it is sent."""

    version: int
    new: Stored | None
    old: Stored | None
    last: Stored | None = None


@dataclass(eq=False)
class Watcher:
    """A watch that is open: woken by changes and by what a test does to it."""

    wake: asyncio.Event = field(default_factory=asyncio.Event)
    bookmark: bool = False
    ended: bool = False
    cut: str = ""
    """``now``: the connection breaks; ``object``: it breaks in the middle of an object."""


@lru_cache
def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


def value_at(body: Json, path: str) -> str:
    """A field selector's view of a value: text, empty where there is none."""
    found: object = body
    for part in _steps(path):
        found = found.get(part) if isinstance(found, dict) else None
    if isinstance(found, str):
        return found
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, dict):
        return str(found.get("component", ""))  # an event's source
    return "" if found is None else str(found)


def _complete(kind: Kind, body: Json, version: int) -> Json:
    """Kind and version first, then the rest in its order."""
    metadata = {**body["metadata"], "resourceVersion": str(version)}
    whole = {"kind": kind.name, "apiVersion": kind.api_version, "metadata": metadata}
    whole.update({key: value for key, value in body.items() if key not in whole})
    return whole


def encode(kind: Kind, body: Json, version: int) -> Stored:
    whole = _complete(kind, body, version)
    metadata = whole["metadata"]
    return Stored(
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        uid=metadata.get("uid", ""),
        version=version,
        raw=msgspec.json.encode(whole),
        labels=metadata.get("labels") or {},
        fields=tuple(value_at(whole, path) for path in kind.fields),
    )


class Collection:
    """The objects of one resource, and the changes that watches can still be told."""

    def __init__(self, kind: Kind, version: int) -> None:
        self.kind = kind
        self.objects: dict[Key, Stored] = {}
        self.changes: list[Change] = []
        self.dropped = 0
        """Changes that were let go: the position of the first one that is kept."""
        self.complete_after = version
        """Every change after this version is kept."""
        self.watchers: set[Watcher] = set()
        self._order: list[Key] | None = None

    def sorted(self) -> list[Stored]:
        """In the order of etcd's keys."""
        if self._order is None:
            self._order = sorted(self.objects)
        return [self.objects[key] for key in self._order]

    def record(self, change: Change, history: int) -> None:
        current = change.new or change.old
        assert current is not None
        key = (current.namespace, current.name)
        if change.new is None:
            del self.objects[key]
            self._order = None
        else:
            if key not in self.objects:
                self._order = None
            self.objects[key] = change.new
        self.changes.append(change)
        if len(self.changes) > history * 1.25 + 16:
            self._drop(len(self.changes) - history)
        for watcher in self.watchers:
            watcher.wake.set()

    def _drop(self, count: int) -> None:
        self.complete_after = self.changes[count - 1].version
        del self.changes[:count]
        self.dropped += count

    def forget(self, version: int) -> None:
        """As after a restart: the cache begins with a list of now."""
        self.dropped += len(self.changes)
        self.changes.clear()
        self.complete_after = version

    def position_after(self, version: int) -> int:
        """Where the changes after this version begin."""
        return self.dropped + bisect.bisect_right(self.changes, version, key=lambda change: change.version)

    def since(self, position: int) -> Sequence[Change] | None:
        """The changes from a position on; None where some of them are gone."""
        if position < self.dropped:
            return None
        return self.changes[position - self.dropped :]

    def state_at(self, version: int) -> list[Stored]:
        """The objects as they were then; 410 where that is not known any more."""
        if version < self.complete_after:
            raise statuses.expired("The resourceVersion for the provided list is too old.")
        later = self.changes[self.position_after(version) - self.dropped :]
        if not later:
            return self.sorted()
        then = dict(self.objects)
        for change in reversed(later):
            current = change.new or change.old
            assert current is not None
            if change.old is None:
                del then[current.namespace, current.name]
            else:
                then[current.namespace, current.name] = change.old
        return [then[key] for key in sorted(then)]


@dataclass(frozen=True)
class Backup:
    """What ``etcdctl snapshot`` would keep: all objects and the version they were at."""

    version: int
    objects: Mapping[tuple[str, str], Mapping[Key, Stored]]


class Store:
    """All collections. Touched by the server's loop only."""

    def __init__(self, kinds: Iterable[Kind] = KINDS, history: int = HISTORY) -> None:
        self.version = 1
        self.history = history
        self.kinds: dict[tuple[str, str], Kind] = {}
        self.collections: dict[tuple[str, str], Collection] = {}
        self.listeners: list[Listener] = []
        """Told of every change, in the server's loop: what plays kubelets and controllers."""
        for kind in kinds:
            self.register(kind)

    def register(self, kind: Kind) -> None:
        """Serve one more resource."""
        self.kinds[kind.key] = kind
        if kind.stored_as is None:
            self.collections[kind.key] = Collection(kind, self.version)

    def of(self, kind: Kind) -> Collection:
        return self.collections[kind.stored_as or kind.key]

    def find(self, kind: Kind, namespace: str, name: str) -> Stored | None:
        return self.of(kind).objects.get((namespace, name))

    def get(self, kind: Kind, namespace: str, name: str) -> Stored:
        found = self.find(kind, namespace, name)
        if found is None:
            raise statuses.not_found(kind, name)
        return found

    def put(self, kind: Kind, body: Json) -> Stored:
        """Write it as it is, under a new version; an update that changes nothing is none."""
        collection = self.of(kind)
        stored_kind = collection.kind
        metadata = body["metadata"]
        old = collection.objects.get((metadata.get("namespace", ""), metadata["name"]))
        if old is not None and _complete(stored_kind, body, old.version) == old.decode():
            return old
        self.version += 1
        new = encode(stored_kind, body, self.version)
        self._record(collection, Change(self.version, new, old))
        return new

    def remove(self, kind: Kind, namespace: str, name: str) -> Stored:
        """Take it away; the answer is what watches are told: the last state with the version of the deletion."""
        collection = self.of(kind)
        old = self.get(kind, namespace, name)
        self.version += 1
        last = encode(collection.kind, old.decode(), self.version)
        self._record(collection, Change(self.version, None, old, last))
        return last

    def _record(self, collection: Collection, change: Change) -> None:
        collection.record(change, self.history)
        for listener in self.listeners:
            listener(collection.kind, change)

    def backup(self) -> Backup:
        return Backup(self.version, {key: dict(held.objects) for key, held in self.collections.items()})

    def restore(self, backup: Backup) -> None:
        """Objects and versions go back; nobody can be told what happened in between."""
        self.version = backup.version
        for key, collection in self.collections.items():
            fresh = Collection(collection.kind, backup.version)
            fresh.objects = dict(backup.objects.get(key, {}))
            fresh.watchers = collection.watchers
            self.collections[key] = fresh

    def forget(self) -> None:
        for collection in self.collections.values():
            collection.forget(self.version)

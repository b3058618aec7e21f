"""Objects by kind and name, and what an informer tells the scheduler of them: they came, changed, went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar, cast

import msgspec

from framework.objects import KubeObject, KubernetesObject, Node, Pod, Unstructured
from framework.objects.kinds import TYPED_KINDS


class ObjectAdded(msgspec.Struct, frozen=True):
    object: KubeObject


class ObjectUpdated(msgspec.Struct, frozen=True):
    old: KubeObject
    new: KubeObject


class ObjectDeleted(msgspec.Struct, frozen=True):
    object: KubeObject


class ObjectEvicted(ObjectDeleted, frozen=True):
    """Deleted by an eviction or a preemption: its controller still wants it."""


InformerEvent = ObjectAdded | ObjectUpdated | ObjectDeleted


FINISHED: Final = ("Succeeded", "Failed")
"""Phases of pods that the scheduler's informer does not select (docs/semantics/events.md#finished-pods)."""


def as_seen(event: InformerEvent) -> InformerEvent | None:
    """The event as that informer delivers it: a pod that finishes arrives as a delete. None: nothing is seen."""
    if isinstance(event, ObjectUpdated):
        old, new = event.old, event.new
        if not (isinstance(old, Pod) and isinstance(new, Pod)):
            return event
        before, after = old.status.phase in FINISHED, new.status.phase in FINISHED
        if not before and not after:
            return event
        if before and after:
            return None
        return ObjectDeleted(old) if after else ObjectAdded(new)
    seen = event.object
    return None if isinstance(seen, Pod) and seen.status.phase in FINISHED else event


def sides(event: InformerEvent) -> tuple[KubeObject | None, KubeObject | None]:
    """(the object before, the object after)."""
    if isinstance(event, ObjectUpdated):
        return event.old, event.new
    return (None, event.object) if isinstance(event, ObjectAdded) else (event.object, None)


O = TypeVar("O", bound=KubeObject)  # noqa: E741
Key = tuple[str, str]
"""(namespace, name); the namespace of cluster-scoped objects is ""."""


_KIND_KEYS: Final[dict[type, str]] = {kind: f"{kind.api_version}/{kind.kind}" for kind in TYPED_KINDS}

_COUNTED_APART: Final = (Pod, Node)


def kind_key(obj: KubeObject) -> str:
    return _KIND_KEYS.get(type(obj)) or f"{obj.api_version}/{obj.kind}"


def class_key(kind: Any) -> str:
    """``kind_key`` of all objects of a class whose kind is fixed."""
    return _KIND_KEYS.get(kind) or f"{kind.api_version}/{kind.kind}"


def object_key(obj: KubeObject) -> Key:
    metadata = obj.metadata
    namespaced = obj.namespaced if isinstance(obj, KubernetesObject) else bool(metadata.namespace)
    return (metadata.namespace if namespaced else "", metadata.name)


class Store:
    """Keeps order of creation. Implements ObjectStore."""

    def __init__(self) -> None:
        self._kinds: dict[str, dict[Key, KubeObject]] = {}
        self._pod_labels: dict[str, dict[Key, dict[Key, None]]] = {}
        """Label key → (namespace, value) → pods; built for a label when it is first asked for."""
        self.revision = 0
        """Counts the changes, but for those to a pending pod's status that name no node."""
        self.others_revision = 0
        """Counts the changes of objects that are neither pods nor nodes."""

    def get(self, kind: type[O], namespace: str, name: str) -> O | None:
        objects: Any = self._kinds.get(_KIND_KEYS.get(kind) or class_key(kind))
        found: O | None = None if objects is None else objects.get((namespace, name))
        return found

    def list(self, kind: type[O], namespace: str | None = None) -> Sequence[O]:
        objects = cast("dict[Key, O]", self._kinds.get(class_key(kind), {}))
        if namespace is None:
            return list(objects.values())
        return [obj for key, obj in objects.items() if key[0] == namespace]

    def all(self) -> Iterator[KubeObject]:
        for objects in self._kinds.values():
            yield from objects.values()

    def find(self, obj: KubeObject) -> KubeObject | None:
        """The stored object of the same kind, namespace and name."""
        objects = self._kinds.get(kind_key(obj))
        return None if objects is None else objects.get(object_key(obj))

    def find_unstructured(self, api_version: str, kind: str, namespace: str, name: str) -> KubeObject | None:
        return self._kinds.get(f"{api_version}/{kind}", {}).get((namespace, name))

    def of_kind(self, api_version: str, kind: str) -> Sequence[KubeObject]:
        return list(self._kinds.get(f"{api_version}/{kind}", {}).values())

    def put(self, obj: KubeObject, *, counts: bool = True) -> None:
        self.revision += counts
        self.others_revision += type(obj) not in _COUNTED_APART
        objects = self._kinds.get(kind := _KIND_KEYS.get(type(obj)) or kind_key(obj))
        if objects is None:
            objects = self._kinds[kind] = {}
        # As ``object_key``; pods come more often than all others together.
        key = (obj.metadata.namespace, obj.metadata.name) if type(obj) is Pod else object_key(obj)
        old = objects.get(key)
        objects[key] = obj
        if self._pod_labels and isinstance(obj, Pod):
            self._index(key, old if isinstance(old, Pod) else None, obj)

    def remove(self, obj: KubeObject) -> None:
        self.revision += 1
        self.others_revision += type(obj) not in _COUNTED_APART
        key = object_key(obj)
        old = self._kinds[kind_key(obj)].pop(key)
        if isinstance(old, Pod):
            self._index(key, old, None)

    def _index(self, key: Key, old: Pod | None, new: Pod | None) -> None:
        for label, pods in self._pod_labels.items():
            before = None if old is None else old.metadata.labels.get(label)
            after = None if new is None else new.metadata.labels.get(label)
            if before == after:
                continue
            if before is not None:
                pods[key[0], before].pop(key, None)
            if after is not None:
                pods.setdefault((key[0], after), {})[key] = None

    def pods_with_label(self, namespace: str, key: str, value: str) -> Sequence[Pod]:
        """In order of creation, or of the label's arrival."""
        if key not in self._pod_labels:
            index: dict[Key, dict[Key, None]] = {}
            for pod in self.list(Pod):
                if key in pod.metadata.labels:
                    index.setdefault((pod.metadata.namespace, pod.metadata.labels[key]), {})[object_key(pod)] = None
            self._pod_labels[key] = index
        pods = cast("dict[Key, Pod]", self._kinds.get(class_key(Pod), {}))
        return [pods[found] for found in self._pod_labels[key].get((namespace, value), {})]


def everything(store: Store) -> Iterator[ObjectAdded]:
    """All objects that are there, as they are seen: nodes first, pods last."""
    rank = {Node: 0, Pod: 2}
    for obj in sorted(store.all(), key=lambda each: rank.get(cast(Any, type(each)), 1)):
        seen = as_seen(ObjectAdded(obj))
        if seen is not None:
            yield cast(ObjectAdded, seen)


def plural_of(obj: KubeObject) -> str:
    """The API's plural; of a kind that we do not type the API machinery's guess."""
    if not isinstance(obj, Unstructured):
        return obj.plural
    singular = obj.kind.lower()
    if singular.endswith("s"):
        return singular + "es"
    return singular[:-1] + "ies" if singular.endswith("y") else singular + "s"

"""The objects of the cluster by kind: what informers hold and listers read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar, cast

from framework.objects import KubeObject, KubernetesObject, Node, Pod, Unstructured
from framework.objects.kinds import TYPED_KINDS

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

    def put(self, obj: KubeObject, *, counts: bool = True) -> None:
        self.revision += counts
        self.others_revision += type(obj) not in _COUNTED_APART
        objects = self._kinds.get(kind := kind_key(obj))
        if objects is None:
            objects = self._kinds[kind] = {}
        key = object_key(obj)
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


def plural_of(obj: KubeObject) -> str:
    """The API's plural; of a kind that we do not type the API machinery's guess."""
    if not isinstance(obj, Unstructured):
        return obj.plural
    singular = obj.kind.lower()
    if singular.endswith("s"):
        return singular + "es"
    return singular[:-1] + "ies" if singular.endswith("y") else singular + "s"

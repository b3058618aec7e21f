"""Objects from a few words, for tests of framework.objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from framework.objects import Container, KubeObject, KubernetesObject, Node, ObjectMeta, Pod, PodSpec
from framework.objects.decode import decode_manifest
from framework.objects.pod import ResourceRequirements

O = TypeVar("O", bound=KubernetesObject)  # noqa: E741


def pod(name: str = "web-1", namespace: str = "shop", labels: Mapping[str, str] | None = None, **spec: Any) -> Pod:
    """A pod with one container, or with the fields of spec given by their Python names."""
    spec.setdefault("containers", (Container(name="main"),))
    meta = ObjectMeta(name=name, namespace=namespace, labels=dict(labels or {}))
    return Pod(metadata=meta, spec=PodSpec(**spec))


def container(
    requests: Mapping[str, str | int | float] | None = None, *, name: str = "main", sidecar: bool = False, **fields: Any
) -> Container:
    """A container with these requests; ``sidecar`` makes a restartable init container of it."""
    resources = ResourceRequirements(
        requests=None if requests is None else dict(requests), limits=fields.pop("limits", None)
    )
    policy = "Always" if sidecar else None
    return Container(name=name, resources=resources, restart_policy=policy, **fields)


def node(name: str = "node-1", labels: Mapping[str, str] | None = None) -> Node:
    return Node(metadata=ObjectMeta(name=name, labels=dict(labels or {})))


def manifest(kind: str, api_version: str = "v1", *, name: str = "web-1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, **fields}


def from_manifest(kind: type[O], given: Mapping[str, Any]) -> O:
    decoded: KubeObject = decode_manifest(given)
    assert isinstance(decoded, kind)
    return decoded


class Store:
    """A lister over a few objects."""

    def __init__(self, objects: Sequence[KubernetesObject] = ()) -> None:
        self._objects = objects

    def get(self, kind: type[O], namespace: str, name: str) -> O | None:
        return next((o for o in self.list(kind) if o.name == name and o.namespace in ("", namespace)), None)

    def list(self, kind: type[O], namespace: str | None = None) -> Sequence[O]:
        return [o for o in self._objects if isinstance(o, kind) and namespace in (None, o.namespace)]

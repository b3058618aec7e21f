"""The file that kube-scheduler-simulator exports: one object with a list per kind, and the scheduler's configuration.

Its items come without apiVersion and kind (docs/formats.md says where the format is written down). Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from framework.sentences import SentenceError, sentence

#: Field → what its items are.
LISTS: Final[dict[str, tuple[str, str]]] = {
    "namespaces": ("v1", "Namespace"),
    "nodes": ("v1", "Node"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "pvs": ("v1", "PersistentVolume"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pods": ("v1", "Pod"),
}
CONFIGURATION: Final = "schedulerConfig"
CONFIGURATION_KIND: Final = "KubeSchedulerConfiguration"
CONFIGURATION_VERSION: Final = "kubescheduler.config.k8s.io/v1"


class NotAnExport(SentenceError):
    """The file says that it is an export of kube-scheduler-simulator, and is none."""


class SimulatorExport(msgspec.Struct):
    """Raw, so that a large one is decoded item by item."""

    kind: str = ""
    namespaces: list[msgspec.Raw] | None = None
    nodes: list[msgspec.Raw] | None = None
    priorityClasses: list[msgspec.Raw] | None = None
    storageClasses: list[msgspec.Raw] | None = None
    pvs: list[msgspec.Raw] | None = None
    pvcs: list[msgspec.Raw] | None = None
    pods: list[msgspec.Raw] | None = None
    schedulerConfig: Any = None

    @property
    def is_one(self) -> bool:
        return not self.kind and (self.pods is not None or self.nodes is not None)

    def manifests(self) -> Iterator[Any]:
        """Raises msgspec.DecodeError and NotAnExport."""
        for field in LISTS:
            for item in getattr(self, field) or ():
                yield typed(field, msgspec.json.decode(item))
        yield from configuration_of(self.schedulerConfig)


def is_export(document: Mapping[str, Any]) -> bool:
    """Nothing that kubectl writes looks like it: no kind, and lists by these names."""
    return not document.get("kind") and any(isinstance(document.get(field), list) for field in ("pods", "nodes"))


def unfold_export(document: Mapping[str, Any]) -> Iterator[Any]:
    for field in LISTS:
        for item in document.get(field) or ():
            yield typed(field, item)
    yield from configuration_of(document.get(CONFIGURATION))


def typed(field: str, item: Any) -> Any:
    """What is no object is left for the caller to refuse."""
    version, kind = LISTS[field]
    return {"apiVersion": version, "kind": kind, **item} if isinstance(item, Mapping) else item


def configuration_of(found: Any) -> Iterator[Any]:
    if found is None:
        return
    if not isinstance(found, Mapping):
        raise NotAnExport(
            sentence(
                "{field} must be an object with the fields of a {kind}.", field=CONFIGURATION, kind=CONFIGURATION_KIND
            )
        )
    yield {"apiVersion": CONFIGURATION_VERSION, "kind": CONFIGURATION_KIND, **found}

"""What an informer tells the scheduler: objects came, changed, went."""

from __future__ import annotations

from dataclasses import dataclass

from framework.objects import KubeObject, Pod


@dataclass(frozen=True, slots=True)
class ObjectAdded:
    object: KubeObject


@dataclass(frozen=True, slots=True)
class ObjectUpdated:
    old: KubeObject
    new: KubeObject


@dataclass(frozen=True, slots=True)
class ObjectDeleted:
    object: KubeObject


InformerEvent = ObjectAdded | ObjectUpdated | ObjectDeleted


def is_finished(obj: KubeObject) -> bool:
    """The scheduler's pod informer does not select phases Succeeded and Failed (spec: extender-and-misc §6)."""
    return isinstance(obj, Pod) and obj.status.phase in ("Succeeded", "Failed")


def as_seen(event: InformerEvent) -> InformerEvent | None:
    """The event as that informer delivers it: a pod that finishes arrives as a delete. None: nothing is seen."""
    match event:
        case ObjectAdded(obj) | ObjectDeleted(obj):
            return None if is_finished(obj) else event
        case ObjectUpdated(old, new):
            before, after = is_finished(old), is_finished(new)
            if before and after:
                return None
            if after:
                return ObjectDeleted(old)
            return ObjectAdded(new) if before else event

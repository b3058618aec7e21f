"""What an informer tells the scheduler: objects came, changed, went."""

from __future__ import annotations

import msgspec

from framework.objects import KubeObject, Pod


class ObjectAdded(msgspec.Struct, frozen=True):
    object: KubeObject


class ObjectUpdated(msgspec.Struct, frozen=True):
    old: KubeObject
    new: KubeObject


class ObjectDeleted(msgspec.Struct, frozen=True):
    object: KubeObject


InformerEvent = ObjectAdded | ObjectUpdated | ObjectDeleted


def is_finished(obj: KubeObject) -> bool:
    """The scheduler's pod informer does not select phases Succeeded and Failed (spec: extender-and-misc §6)."""
    return isinstance(obj, Pod) and obj.status.phase in ("Succeeded", "Failed")


def as_seen(event: InformerEvent) -> InformerEvent | None:
    """The event as that informer delivers it: a pod that finishes arrives as a delete. None: nothing is seen."""
    if isinstance(event, ObjectUpdated):
        before, after = is_finished(event.old), is_finished(event.new)
        if not before and not after:
            return event
        if before and after:
            return None
        return ObjectDeleted(event.old) if after else ObjectAdded(event.new)
    return None if is_finished(event.object) else event

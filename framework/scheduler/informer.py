"""What an informer tells the scheduler: objects came, changed, went."""

from __future__ import annotations

from typing import Final

import msgspec

from framework.objects import KubeObject, Pod


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
        if not isinstance(old, Pod) or not isinstance(new, Pod):
            return event
        before, after = old.status.phase in FINISHED, new.status.phase in FINISHED
        if not before and not after:
            return event
        if before and after:
            return None
        return ObjectDeleted(old) if after else ObjectAdded(new)
    seen = event.object
    return None if isinstance(seen, Pod) and seen.status.phase in FINISHED else event

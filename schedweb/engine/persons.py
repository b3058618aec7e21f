"""What a person did to the world of a fork that takes what came to its cluster afterwards: it holds against that.

Deleted stays deleted until the cluster itself has another object of that name, by its uid. Of an object that was
edited the fields that the person set stay, and all others are as the cluster has them. Rules:
docs/live-clusters.md#what-came-afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

from framework.objects import KubeObject
from framework.objects.decode import decode_manifest, to_manifest
from framework.scheduler.cluster import Cluster
from framework.scheduler.store import Key, object_key

Place = tuple[str, str, Key]
"""(apiVersion, kind, (namespace, name))."""
IDENTITY: Final = ("name", "type", "key", "effect", "uid")
"""What tells the entries of a list apart, where they have any of it and no two have the same."""


def place_of(obj: KubeObject) -> Place:
    return obj.api_version, obj.kind, object_key(obj)


class Edit(msgspec.Struct):
    uid: str
    """Of the cluster's object; ours has another where its pod was made anew to be changed."""
    base: dict[str, Any]
    """As a manifest: what it would be here if nobody had edited it."""


class Persons:
    def __init__(self) -> None:
        self._gone: dict[Place, str] = {}
        """Deleted here: the uid of the cluster's object."""
        self._edited: dict[Place, Edit] = {}

    @contextmanager
    def noting(self, cluster: Cluster) -> Iterator[None]:
        """A command of a person, and what follows from it at once."""
        noted: dict[Place, tuple[KubeObject | None, KubeObject | None]] = {}

        def note(old: KubeObject | None, new: KubeObject | None, by_controller: bool) -> None:
            obj = new or old
            assert obj is not None
            # What controllers change is theirs; what they delete went with what the person deleted.
            if not by_controller or new is None:
                before, _ = noted.get(place_of(obj), (old, None))
                noted[place_of(obj)] = before, new

        cluster.changed = note
        try:
            yield
        finally:
            cluster.changed = None
            for place, (old, new) in noted.items():
                self._take(place, old, new)

    def _take(self, place: Place, old: KubeObject | None, new: KubeObject | None) -> None:
        if old is None:
            return  # what a person makes is no object of the cluster's
        if new is None:
            edit = self._edited.pop(place, None)
            self._gone.setdefault(place, old.metadata.uid if edit is None else edit.uid)
        elif place not in self._edited:
            self._edited[place] = Edit(old.metadata.uid, _manifest_of(old))

    def keep_away(self, place: Place, uid: str, *, went: bool) -> bool:
        """Whether what the cluster tells of this object is nothing here. ``went``: it is gone there, too."""
        gone = self._gone.get(place)
        if gone is None:
            return False
        is_it = not uid or uid == gone
        if went or not is_it:
            del self._gone[place]
        return is_it

    def edit_of(self, place: Place, uid: str) -> Edit | None:
        """None too where the cluster has another object of that name by now."""
        edit = self._edited.get(place)
        if edit is not None and uid and uid != edit.uid:
            del self._edited[place]
            return None
        return edit

    def forget(self, place: Place) -> None:
        self._edited.pop(place, None)

    def kept(self, edit: Edit, mine: KubeObject, theirs: KubeObject) -> KubeObject:
        """``theirs`` with what the person set. Raises ObjectError where that makes no object."""
        told, own = _manifest_of(theirs), _manifest_of(mine)
        both = _merged(edit.base, own, told)
        edit.base = _merged(own, edit.base, told)  # what the person set is told apart from it also where both agree
        both["metadata"] |= {"uid": mine.metadata.uid, "resourceVersion": theirs.metadata.resource_version}
        return decode_manifest(both)


_ABSENT: Final = object()


def _merged(base: Any, mine: Any, theirs: Any) -> Any:
    """``theirs``, but for what differs between ``base`` and ``mine``. What is empty is absent in manifests."""
    if mine == base:
        return theirs
    three = (base, mine, theirs)
    if all(isinstance(each, dict) or each is _ABSENT for each in three):
        found = _merged_fields(*({} if each is _ABSENT else each for each in three))
        return _ABSENT if mine is _ABSENT and not found else found
    if all(isinstance(each, list) or each is _ABSENT for each in three):
        known, own, there = (_by_identity([] if each is _ABSENT else each) for each in three)
        if known is not None and own is not None and there is not None:
            entries = list(_merged_fields(known, own, there).values())
            return _ABSENT if mine is _ABSENT and not entries else entries
    return mine


def _merged_fields(base: dict[Any, Any], mine: dict[Any, Any], theirs: dict[Any, Any]) -> dict[Any, Any]:
    names = [*theirs, *(name for name in mine if name not in theirs)]
    found = {
        name: _merged(base.get(name, _ABSENT), mine.get(name, _ABSENT), theirs.get(name, _ABSENT)) for name in names
    }
    return {name: value for name, value in found.items() if value is not _ABSENT}


def _manifest_of(obj: KubeObject) -> dict[str, Any]:
    """Without empty parts that say nothing: an object that comes out of a checkpoint has them, others have not."""
    manifest = to_manifest(obj)
    for holder, name in list(_empty_in(manifest)):
        empty = holder.pop(name)
        if decode_manifest(manifest) != obj:
            holder[name] = empty  # emptyDir: {}
    return manifest


def _empty_in(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    for each in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        yield from _empty_in(each)
    if isinstance(value, dict):
        yield from ((value, name) for name, each in value.items() if each == {})


def _by_identity(entries: list[Any]) -> dict[Any, Any] | None:
    found = {}
    for entry in entries:
        if not isinstance(entry, dict):
            return None
        found[tuple(str(entry[name]) if name in entry else "" for name in IDENTITY)] = entry
    return found if len(found) == len(entries) else None

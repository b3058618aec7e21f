"""What the scheduler's machine hears of a real cluster: objects as they are, one change after another.

They are not redacted as an import's are: they stay in this process, which stores nothing of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from framework.objects import KubeObject
from framework.objects.kinds import typed_kind
from framework.reading.gathering import current, decoded
from framework.sentences import sentence
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.kinds import EXPLAINING, NEEDED, Resource, kinds_of
from schedweb.clusters.reading.listing import STREAMS, Fields
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.reading.reducing import FileRefused, Key, Reduced, Reducer
from schedweb.clusters.reading.reflector import Change, Reflector, of_one_cluster


class Changed(NamedTuple):
    resource: Resource
    key: Key
    new: KubeObject | None
    """None: it is gone."""


_NOTHING: Final = msgspec.Raw(b'""')


class _Whole(Reducer):
    """Keeps the object whole; ``reduced`` is only its version."""

    def __init__(self) -> None:
        super().__init__()
        self.last: KubeObject | None = None

    def reduce(self, item: Fields) -> Reduced:
        self.last = self._typed(item) or self._read(item)
        return Reduced(self.last.metadata.resource_version, msgspec.Raw(b""))

    def _typed(self, item: Fields) -> KubeObject | None:
        """Straight from the text, which takes a sixth of the time. None of what is not typed, or is refused: the other
        way says why."""
        version, kind = (str(msgspec.json.decode(item.get(name, _NOTHING))) for name in ("apiVersion", "kind"))
        if typed_kind(version, kind) is None:
            return None
        try:
            return decoded({}, text=msgspec.json.encode(item))
        except FileRefused:
            return None

    def _read(self, item: Fields) -> KubeObject:
        manifest = current({name: msgspec.json.decode(text) for name, text in item.items()})
        metadata = manifest.get("metadata")
        if isinstance(metadata, dict):
            metadata.pop("managedFields", None)
        return decoded(manifest)


class _Typed(Reflector):
    """A reflector that has the object of each key, not its text."""

    def __init__(self, access: Access, resource: Resource, *, streams: bool, into: Callable[[Changed], object]) -> None:
        super().__init__(access, resource, streams=streams, listener=self._hear)
        self.reducer: _Whole = _Whole()
        self._typed: dict[str, KubeObject] = {}
        """By version, from when it was read until it is told."""
        self._into = into

    def _reduced(self, item: dict[str, msgspec.Raw]) -> Reduced | None:
        found = super()._reduced(item)
        if found is not None and self.reducer.last is not None:
            self._typed[found.version] = self.reducer.last
        return found

    def _hear(self, resource: Resource, change: Change, key: Key, reduced: Reduced | None) -> None:
        new = None if reduced is None else self._typed.pop(reduced.version)
        self._into(Changed(resource, key, new))

    def _listed(self, found: dict[Key, Reduced], version: str) -> None:
        super()._listed(found, version)
        self._typed.clear()


class Informers:
    def __init__(self, access: Access, into: Callable[[Changed], object]) -> None:
        """``into`` is called by threads. Raises ClusterProblem."""
        _, numbers = access.version()
        kinds = [each for each in kinds_of(access) if each not in EXPLAINING]
        self.reflectors = [_Typed(access, each, streams=numbers >= STREAMS, into=into) for each in kinds]

    def start(self) -> None:
        for each in of_one_cluster(self.reflectors):
            each.start()

    def stop(self) -> None:
        for each in self.reflectors:
            each.stop()

    def are_listed(self) -> bool:
        """Raises ClusterProblem where something that scheduling rests on may not be read."""
        for each in self.reflectors:
            if each.state.state == "refused":
                words = sentence("{kind} cannot be read: {why}", kind=each.resource.plural, why=each.state.problem)
                raise ClusterProblem(words, "forbidden")
            if each.state.state == "absent" and each.resource.plural in NEEDED:
                raise ClusterProblem(each.state.problem, "absent")
            if each.state.unreadable:
                # What is not known takes room all the same.
                raise ClusterProblem(each.state.problem, "broken")
        return all(each.state.lists > 0 or each.state.state == "absent" for each in self.reflectors)

    def are_live(self) -> bool:
        """Whether pods and nodes are known as they are; nothing is to be decided on older ones."""
        return all(each.state.state == "live" for each in self.reflectors if each.resource.plural in NEEDED)

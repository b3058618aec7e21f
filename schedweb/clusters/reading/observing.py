"""A cluster that a run follows: what its reflectors see is written line by line, for whoever keeps the run's journal.

``["added", {…}]``, ``["modified", {…}]``, ``["deleted", {…}]`` for changes; for each list of a kind ``["list", {…},
1764374400000000000]``, then ``["listed", {…}]`` for each object, then ``["whole", {…}]``. The number says when the list
was asked for, in nanoseconds since 1970.
Between them, every second, an object: ``ClusterState``.
"""

from __future__ import annotations

import threading
from typing import BinaryIO, Final

import msgspec

from schedweb.clusters.reading.following import Following
from schedweb.clusters.reading.kinds import Resource
from schedweb.clusters.reading.reducing import Key, Reduced
from schedweb.clusters.reading.reflector import Change, Reflector

WORDS: Final[dict[Change, bytes]] = {"ADDED": b"added", "MODIFIED": b"modified", "DELETED": b"deleted"}


class Observing:
    def __init__(self, context: str, out: BinaryIO) -> None:
        self.following = Following(context, self.changed, self.listed)
        self._out = out
        self._lock = threading.Lock()
        self._lists: set[Resource] = set()
        """Those that are being written."""
        self._of: dict[Resource, Reflector] = {}

    def changed(self, resource: Resource, change: Change, key: Key, reduced: Reduced | None) -> None:
        if reduced is None:
            self._write(b"deleted", _named(resource, key))
        elif resource in self._lists:
            self._write(b"listed", self._text(resource, reduced), is_last=False)
        else:
            self._write(WORDS[change], self._text(resource, reduced))

    def listed(self, resource: Resource, asked_at: int | None) -> None:
        if asked_at is None:
            self._write(b"whole", _named(resource))
            self._lists.discard(resource)
        else:
            self._line(b'["list",%b,%d]\n' % (_named(resource), asked_at))
            self._lists.add(resource)

    def tell_state(self) -> None:
        self._line(msgspec.json.encode(self.following.state()) + b"\n")

    def _text(self, resource: Resource, reduced: Reduced) -> bytes:
        if resource not in self._of:
            self._of.update((each.resource, each) for each in self.following.reflectors)
        return self._of[resource].reducer.whole(reduced.text)

    def _write(self, what: bytes, manifest: bytes, *, is_last: bool = True) -> None:
        self._line(b'["' + what + b'",' + manifest + b"]\n", is_last=is_last)

    def _line(self, line: bytes, *, is_last: bool = True) -> None:
        with self._lock:
            self._out.write(line)
            if is_last:
                self._out.flush()


def _named(resource: Resource, key: Key | None = None) -> bytes:
    about: dict[str, object] = {"apiVersion": resource.version, "kind": resource.kind}
    if key is not None:
        namespace, name = key
        about["metadata"] = {"name": name, **({"namespace": namespace} if namespace else {})}
    return msgspec.json.encode(about)

"""A cluster that a run follows: what its reflectors see is written line by line, for whoever keeps the run's journal.

``["added", {…}]``, ``["modified", {…}]``, ``["deleted", {…}]`` for changes; ``["list", {…}]``, then ``["listed", {…}]``
for each object, then ``["whole", {…}]`` for the first list of a kind. What a later list differs in is told as changes:
``["relisted", {…}]`` for what is new or other there.
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
            text = self._text(resource, reduced)
            self._write(b"relisted" if self._of[resource].tells_list else WORDS[change], text)

    def listed(self, resource: Resource, is_whole: bool) -> None:
        self._write(b"whole" if is_whole else b"list", _named(resource))
        if is_whole:
            self._lists.discard(resource)
        else:
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

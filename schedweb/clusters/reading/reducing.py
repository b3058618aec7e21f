"""An object as it comes from an API server becomes what an import would keep of it, and who it is."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from framework.objects import Pod
from framework.reading.documents import FileRefused
from framework.reading.gathering import current, decoded
from schedweb.clusters.reading.listing import IDENTIFIED, Fields
from schedweb.engine.payload import Text
from schedweb.engine.replicas import Packed, Packer, spec_text
from schedweb.snapshots.cluster import json_text
from schedweb.snapshots.facts import is_pending
from schedweb.snapshots.redaction import annotations_kept, redact

Key = tuple[str, str]
"""(namespace, name)."""


class Reduced(NamedTuple):
    version: str
    text: Text
    pending: bool = False
    """A pod without a node that nothing gates."""


class Reducer:
    """Of one kind. Not to be shared between threads."""

    def __init__(self) -> None:
        self.packer = Packer(redact, annotations_kept(), lambda pod: True)

    def reduce(self, item: Fields) -> Reduced:
        """Raises FileRefused for what no API server would have sent."""
        version = msgspec.json.decode(item["metadata"], type=_Version).resourceVersion
        found = self.packer.pack(item)
        if found is not None:
            return Reduced(version, found.packed, _waits(found.pod))
        manifest = current({name: msgspec.json.decode(text) for name, text in item.items()})
        kept = redact(manifest)
        text = json_text(kept)
        obj = decoded(manifest, kept, text)
        return Reduced(version, text, isinstance(obj, Pod) and _waits(obj))

    def whole(self, text: Text) -> bytes:
        """What ``reduce`` gave, as JSON."""
        if not isinstance(text, Packed):
            return bytes(text)
        spec = spec_text(self.packer.specs[text.spec], text.token)
        if text.node:
            node = b'"nodeName":' + msgspec.json.encode(text.node)
            spec = b"{" + node + (b"," if len(spec) > len(b"{}") else b"") + spec[1:]
        status = b"" if bytes(text.status) == b"null" else b',"status":' + text.status
        return b'{"apiVersion":"v1","kind":"Pod","metadata":' + text.metadata + b',"spec":' + spec + status + b"}"


class _Version(msgspec.Struct):
    resourceVersion: str = ""


def _waits(pod: Pod) -> bool:
    return is_pending(pod) and not pod.spec.scheduling_gates


def key_of(raw: msgspec.Raw) -> tuple[Key, str]:
    """(key, resourceVersion) of an object that is not read further."""
    metadata = IDENTIFIED.decode(raw).metadata
    return (metadata.namespace, metadata.name), metadata.resourceVersion


__all__ = ["FileRefused", "Key", "Reduced", "Reducer", "key_of"]

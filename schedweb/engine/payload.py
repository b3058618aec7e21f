"""The stored form of a snapshot: its manifests and its timeline, as zstd-compressed JSON. Pure: the child reads it.

``{"version": 1, "objects": [manifest, …], "timeline": [{"at": ns, "delete": bool, "manifest": …}, …]}``; the timeline
is in the order in which it is to be played. ``at`` counts nanoseconds from the start of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec
import zstandard

from framework.objects import KubeObject
from framework.objects.decode import decode_object

VERSION: Final = 1
_LARGEST: Final = 4 * 1024**3
"""An upper bound for what a stored payload may unfold to."""


class TimelineEntry(msgspec.Struct, frozen=True, kw_only=True):
    """``at`` nanoseconds after the start ``manifest`` is created, or (``delete``) the object of its name deleted."""

    at: int
    delete: bool = False
    manifest: dict[str, Any]


class _Stored(msgspec.Struct, kw_only=True):
    version: int
    objects: list[msgspec.Raw]
    timeline: list[TimelineEntry]


class _StoredManifests(msgspec.Struct, kw_only=True):
    version: int
    objects: list[dict[str, Any]]
    timeline: list[TimelineEntry]


T = TypeVar("T", _Stored, _StoredManifests)


@dataclass(frozen=True, slots=True)
class Payload:
    """A snapshot as the engine plays it; objects are not defaulted or admitted yet."""

    objects: list[KubeObject]
    timeline: list[TimelineEntry]


class PayloadUnreadable(Exception):
    """Stored bytes that this version cannot read; the text says why."""


def encode_payload(objects: Iterable[dict[str, Any] | msgspec.Raw], timeline: Sequence[TimelineEntry] = ()) -> bytes:
    document = {"version": VERSION, "objects": list(objects), "timeline": list(timeline)}
    return zstandard.ZstdCompressor(level=3).compress(msgspec.json.encode(document))


def decode_payload(blob: bytes) -> Payload:
    """Raises PayloadUnreadable. The garbage collector is best switched off around this for large clusters."""
    stored = _decoded(blob, _Stored)
    return Payload([decode_object(raw) for raw in stored.objects], stored.timeline)


def decode_texts(blob: bytes) -> list[msgspec.Raw]:
    """The objects as they were imported, each as JSON."""
    return _decoded(blob, _Stored).objects


def decode_manifests(blob: bytes) -> list[dict[str, Any]]:
    """The objects as they were imported: for the YAML view and lists of objects."""
    return _decoded(blob, _StoredManifests).objects


def _decoded(blob: bytes, into: type[T]) -> T:
    try:
        text = zstandard.ZstdDecompressor().decompress(bytes(blob), max_output_size=_LARGEST)
        stored = msgspec.json.decode(text, type=into)
    except (zstandard.ZstdError, msgspec.DecodeError) as error:
        raise PayloadUnreadable(f"The stored snapshot cannot be read: {error}") from error
    if stored.version != VERSION:
        raise PayloadUnreadable(f"The stored snapshot has version {stored.version}; this program reads {VERSION}.")
    return stored

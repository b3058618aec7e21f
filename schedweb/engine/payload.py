"""The stored form of a snapshot: its manifests and its timeline, as zstd-compressed JSON. Pure: the child reads it.

``{"version": 2, "objects": [manifest, …], "specs": [spec, …], "pods": [[spec, node, token, metadata, status], …],
"runs": [n, m, …], "timeline": [{"at": ns, "delete": bool, "manifest": …}, …]}``; the timeline is in the order in which
it is to be played. ``at`` counts nanoseconds from the start of a run. ``pods`` are those of replicas.py.
``runs`` keeps the order of all: n of ``objects`` first, then m of ``pods``, and so on. Version 1 had ``objects`` only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby, islice
from tempfile import TemporaryFile
from typing import Any, Final, Generic, TypeVar

import msgspec
import zstandard

from framework.objects import KubeObject
from framework.objects.decode import decode_object
from framework.sentences import SentenceError, sentence
from schedweb.engine.replicas import Packed, Parts, manifest_of, parts_of, template_of

VERSION: Final = 2
_READABLE: Final = (1, 2)
_LARGEST: Final = 4 * 1024**3
"""An upper bound for what a stored payload may unfold to."""
_LEVEL: Final = 3
_IN_MEMORY: Final = 12 * 1024**2
_JSON: Final = msgspec.json.Encoder()
Text = msgspec.Raw | Packed
"""An object as it was imported: JSON, or packed."""


class TimelineEntry(msgspec.Struct, frozen=True, kw_only=True):
    """``at`` nanoseconds after the start ``manifest`` is created, or (``delete``) the object of its name deleted."""

    at: int
    delete: bool = False
    manifest: dict[str, Any]


P = TypeVar("P", Packed, Parts)
L = TypeVar("L")
R = TypeVar("R")


class _Stored(msgspec.Struct, Generic[P], kw_only=True):
    version: int
    objects: list[msgspec.Raw]
    specs: list[msgspec.Raw] = []
    pods: list[P] = []
    runs: list[int] = []
    timeline: list[TimelineEntry]


@dataclass(frozen=True, slots=True)
class Payload:
    """A snapshot as the engine plays it; objects are not defaulted or admitted yet."""

    objects: list[KubeObject]
    timeline: list[TimelineEntry]


@dataclass(frozen=True, slots=True)
class Texts:
    """The objects as they were imported, in their order. ``specs``: what packed ones name."""

    objects: list[Text]
    specs: list[bytes]

    def manifest(self, text: Text) -> dict[str, Any]:
        if isinstance(text, Packed):
            return manifest_of(self.specs[text.spec], text)
        manifest: dict[str, Any] = msgspec.json.decode(text)
        return manifest

    def manifest_of(self, number: int) -> dict[str, Any]:
        return self.manifest(self.objects[number])

    def object_of(self, number: int) -> KubeObject:
        text = self.objects[number]
        return (
            template_of(self.specs[text.spec]).pod(parts_of(text)) if isinstance(text, Packed) else decode_object(text)
        )

    def decoded(self) -> Iterator[KubeObject]:
        """The objects one by one, as ``decode_payload`` has them."""
        templates = [template_of(text) for text in self.specs]
        for text in self.objects:
            yield templates[text.spec].pod(parts_of(text)) if isinstance(text, Packed) else decode_object(text)


class PayloadUnreadable(SentenceError):
    """Stored bytes that this version cannot read."""


def encode_payload(
    objects: Iterable[dict[str, Any] | Text], timeline: Sequence[TimelineEntry] = (), specs: Sequence[bytes] = ()
) -> bytes:
    """``specs``: of the Packer that packed what is packed."""
    return zstandard.ZstdCompressor(level=_LEVEL).compress(encode_document(objects, timeline, specs))


def encode_one_by_one(objects: Iterable[dict[str, Any]], timeline: Iterable[TimelineEntry]) -> bytes:
    """``encode_payload`` of what is made while it is asked for: no more than one manifest of it is in memory at a time.

    A document of more than ``_IN_MEMORY`` bytes is written to a temporary file before it is compressed. It unfolds to
    the same; only the compressed bytes are others than ``encode_payload`` has.
    """
    packed, memory = zstandard.ZstdCompressor(level=_LEVEL), BytesIO()
    pieces = _pieces(objects, timeline)
    for piece in pieces:
        memory.write(piece)
        if memory.tell() > _IN_MEMORY:
            break
    else:
        return packed.compress(memory.getbuffer())
    with TemporaryFile() as file:
        file.write(memory.getbuffer())
        memory = BytesIO()
        file.writelines(pieces)
        size = file.tell()
        file.seek(0)
        packed.copy_stream(file, memory, size=size)
    return memory.getvalue()


def _pieces(objects: Iterable[dict[str, Any]], timeline: Iterable[TimelineEntry]) -> Iterator[bytes]:
    """What ``encode_document`` makes of them."""
    count = 0
    yield b'{"version":%d,"objects":[' % VERSION
    for count, manifest in enumerate(objects, 1):
        yield b"," + _JSON.encode(manifest) if count > 1 else _JSON.encode(manifest)
    yield b'],"specs":[],"pods":[],"runs":[%s],"timeline":[' % (b"%d" % count if count else b"")
    for number, entry in enumerate(timeline):
        yield b"," + _JSON.encode(entry) if number else _JSON.encode(entry)
    yield b"]}"


def encode_document(
    objects: Iterable[dict[str, Any] | Text], timeline: Sequence[TimelineEntry] = (), specs: Sequence[bytes] = ()
) -> bytes:
    """A payload before it is compressed."""
    plain: list[dict[str, Any] | Text] = []
    pods: list[dict[str, Any] | Text] = []
    runs: list[int] = []
    for are_packed, alike in groupby(objects, lambda each: isinstance(each, Packed)):
        into = pods if are_packed else plain
        before = len(into)
        into.extend(alike)
        if are_packed and not runs:
            runs.append(0)
        runs.append(len(into) - before)
    document = {
        "version": VERSION,
        "objects": plain,
        "specs": [msgspec.Raw(text) for text in specs],
        "pods": pods,
        "runs": runs,
        "timeline": list(timeline),
    }
    return msgspec.json.encode(document)


def decode_payload(blob: bytes) -> Payload:
    """Raises PayloadUnreadable. The garbage collector is best switched off around this for large clusters."""
    stored = _decoded(_unfolded(blob), _Stored[Parts])
    templates = [template_of(text) for text in stored.specs]
    objects: Iterator[KubeObject] = map(decode_object, stored.objects)
    pods: Iterator[KubeObject] = (templates[parts.spec].pod(parts) for parts in stored.pods)
    return Payload(_in_order(objects, pods, stored.runs), stored.timeline)


def decode_texts(blob: bytes) -> Texts:
    """The objects as they were imported, for the YAML view and for choosing among them. Raises PayloadUnreadable."""
    return texts_of(_unfolded(blob))


def texts_of(document: bytes) -> Texts:
    """``decode_texts`` of what ``encode_document`` made."""
    stored = _decoded(document, _Stored[Packed])
    objects: list[Text] = _in_order(iter(stored.objects), iter(stored.pods), stored.runs)
    return Texts(objects, [bytes(text) for text in stored.specs])


def decode_manifests(blob: bytes) -> list[dict[str, Any]]:
    """``decode_texts``, parsed."""
    texts = decode_texts(blob)
    return [texts.manifest(each) for each in texts.objects]


def _in_order(plain: Iterator[L], packed: Iterator[R], runs: list[int]) -> list[L | R]:
    found: list[L | R] = []
    for turn, count in enumerate(runs):
        found += islice(packed, count) if turn % 2 else islice(plain, count)
    found += plain
    return found


def _unfolded(blob: bytes) -> bytes:
    try:
        return zstandard.ZstdDecompressor().decompress(bytes(blob), max_output_size=_LARGEST)
    except zstandard.ZstdError as error:
        raise PayloadUnreadable(sentence("The stored snapshot cannot be read: {error}", error=str(error))) from error


def _decoded(document: bytes, into: type[_Stored[P]]) -> _Stored[P]:
    try:
        stored = msgspec.json.decode(document, type=into)
    except msgspec.DecodeError as error:
        raise PayloadUnreadable(sentence("The stored snapshot cannot be read: {error}", error=str(error))) from error
    if stored.version not in _READABLE:
        raise PayloadUnreadable(
            sentence(
                "The stored snapshot has version {version}; this program reads {readable}.",
                version=stored.version,
                readable=VERSION,
            )
        )
    return stored

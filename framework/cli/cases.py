"""Cases of ``decide``: reading them, and making of their manifests what a cluster would hold.

A case leaves uids and times out; what stands in for them is a rule, so that everybody decides about the same objects.
"""

from __future__ import annotations

import gzip
import lzma
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from framework.cli.errors import InputError
from framework.cli.extender_script import ScriptedExtender
from framework.objects import KubeObject, Namespace, ObjectMeta, Pod
from framework.objects.catalogue import LoadMetrics
from framework.objects.decode import decode_manifest
from framework.objects.errors import ObjectError
from framework.objects.kinds import plural_of
from framework.objects.timestamps import SECOND, format_timestamp, parse_timestamp

FIRST_CREATION: Final = parse_timestamp("2026-01-01T00:00:00Z")
START: Final = parse_timestamp("2026-01-02T00:00:00Z")
"""The clock of every case: after everything that it creates."""

_OPENERS: Final[Mapping[str, Callable[..., IO[str]]]] = {".gz": gzip.open, ".xz": lzma.open}


class CaseEvent(msgspec.Struct):
    """``add``, ``update`` and ``delete`` bring an object, ``clock`` a time, ``metrics`` the answer of load-watcher;
    ``resync`` has everything done once that is done periodically."""

    type: str
    object: dict[str, Any] = {}
    to: str = ""
    metrics: dict[str, Any] | None = None


class Case(msgspec.Struct, rename="camel"):
    name: str
    config: dict[str, Any] | None = None
    objects: list[dict[str, Any]] = []
    pods: list[dict[str, Any]] = []
    events: list[CaseEvent] | None = None
    metrics: dict[str, Any] | None = None
    """What load-watcher answers."""
    clock: str | None = None
    """The time, which stands still unless an event moves it."""
    create_first: bool = False
    """All pods are there before the first is tried."""
    tries: list[str] | None = None
    """Keys of pods in the order of their attempts, with repetitions; None: each once."""
    before: dict[str, list[CaseEvent]] = {}
    """Place of an attempt → events before it."""
    extenders: list[ScriptedExtender] = []
    """They replace those of ``config``."""

    @property
    def start(self) -> int:
        """Nanoseconds."""
        return START if self.clock is None else parse_timestamp(self.clock)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A pod that an API server could not even decode."""

    key: str
    message: str


@dataclass(slots=True)
class CaseObjects:
    """A case's objects with uids and times. ``cluster`` begins with namespaces that are used but not given."""

    cluster: list[KubeObject] = field(default_factory=list)
    pods: list[Pod | Unreadable] = field(default_factory=list)


def read_lines(path: str) -> Iterator[str]:
    """The lines of a plain, .gz or .xz file; ``-`` is standard input. Raises InputError."""
    if path == "-":
        yield from sys.stdin
        return
    try:
        with _OPENERS.get(Path(path).suffix, open)(path, "rt", encoding="utf-8") as file:
            yield from file
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise InputError(path, str(error)) from error


def parse_case(line: str, source: str) -> Case:
    """Raises InputError; ``source`` names the line."""
    try:
        return msgspec.json.decode(line, type=Case)
    except msgspec.MsgspecError as error:
        raise InputError(source, f"not a case: {error}") from error


def load_object(metrics: dict[str, Any], source: str) -> KubeObject:
    """The answer of load-watcher as the object that plugins read. Raises InputError."""
    head = {"apiVersion": LoadMetrics.api_version, "kind": LoadMetrics.kind}
    return completed({**metrics, **head, "metadata": {"name": LoadMetrics.NAME}}, 0, source)


def prepare(case: Case) -> CaseObjects:
    """Raises InputError, naming object and field."""
    result = CaseObjects([completed(manifest, index, case.name) for index, manifest in enumerate(case.objects)])
    if case.metrics is not None:
        result.cluster.append(load_object(case.metrics, case.name))
    for index, manifest in enumerate(case.pods, start=len(case.objects)):
        result.pods.append(_pod(manifest, index, case.name))
    pods = [pod for pod in result.pods if isinstance(pod, Pod)]
    given = {obj.metadata.name for obj in result.cluster if isinstance(obj, Namespace)}
    used = dict.fromkeys(obj.metadata.namespace for obj in (*result.cluster, *pods) if obj.metadata.namespace)
    result.cluster[:0] = [Namespace(metadata=ObjectMeta(name=name)) for name in used if name not in given]
    return result


def _pod(manifest: dict[str, Any], index: int, source: str) -> Pod | Unreadable:
    try:
        pod = completed(manifest, index, source)
    except InputError as error:
        metadata = manifest.get("metadata")
        named = metadata if isinstance(metadata, dict) else {}
        return Unreadable(f"{named.get('namespace') or 'default'}/{named.get('name', '')}", str(error))
    if not isinstance(pod, Pod):
        raise InputError(source, f"{pod.kind} {pod.key} stands among the pods")
    return pod


def completed(manifest: dict[str, Any], index: int, source: str) -> KubeObject:
    """The object with uid ``<plural>.<namespace>.<name>`` and created ``index`` seconds after the first, if unset."""
    try:
        obj = decode_manifest(manifest)
    except ObjectError as error:
        raise InputError(source, str(error)) from error
    metadata = obj.metadata
    namespaced = getattr(obj, "namespaced", bool(metadata.namespace))
    namespace = (metadata.namespace or "default") if namespaced else ""
    created = metadata.creation_timestamp or format_timestamp(FIRST_CREATION + index * SECOND)
    uid = metadata.uid or f"{plural_of(obj)}.{namespace}.{metadata.name}"
    replace = msgspec.structs.replace
    obj = replace(obj, metadata=replace(metadata, namespace=namespace, creation_timestamp=created, uid=uid))
    if isinstance(obj, Pod) and obj.status.start_time is None:
        # A pod that is bound here starts then, too; nobody asks when a pending pod started.
        obj = replace(obj, status=replace(obj.status, start_time=created))
    return obj

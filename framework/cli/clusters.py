"""What commands about a whole cluster read: its objects, the configuration, and a clock to begin at."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec.structs import replace

from framework.cli.errors import InputError
from framework.cli.manifests import read_objects, read_text
from framework.configuration import EffectiveConfiguration, FeatureGates, load, load_value
from framework.configuration.feature_gates import DEFAULT_GATES
from framework.objects import KubeObject, Namespace, ObjectMeta, Pod
from framework.objects.admission import AdmissionError, admit
from framework.objects.kinds import plural_of
from framework.objects.timestamps import format_timestamp, parse_timestamp
from framework.plugins.registry import Registry, installed_registry
from framework.profiles import ProfileError
from framework.scheduler import Cluster, Observer, Scheduler

EARLIEST: Final = parse_timestamp("2026-01-01T00:00:00Z")


def read_scheduler(
    files: list[str], config: Path | None, seed: int, observer: Observer, gates: FeatureGates | None = None
) -> Scheduler:
    """A scheduler over the objects of these files; None takes the gates of the configuration's comment.

    Raises InputError.
    """
    registry = installed_registry()
    configuration = _configuration(config, registry, gates)
    cluster, start = _cluster([(path, obj) for path in files for obj in read_objects(path)])
    try:
        return Scheduler(
            configuration, registry, start=start, seed=seed, ties="seeded", observer=observer, cluster=cluster
        )
    except ProfileError as error:
        raise InputError(str(config), str(error)) from error


def _configuration(path: Path | None, registry: Registry, gates: FeatureGates | None) -> EffectiveConfiguration:
    if path is None:
        loaded = load_value(None, registry, gates or DEFAULT_GATES)
    else:
        loaded = load(read_text(str(path)), registry, gates)
    if loaded.effective is None:
        lines = []
        for error in loaded.errors:
            place = f"{error.line}:{error.column}: " if error.line is not None else ""
            lines.append(f"{place}{error.path + ': ' if error.path else ''}{error.message}")
        raise InputError(str(path), "\n".join(lines))
    return loaded.effective


def _cluster(found: list[tuple[str, KubeObject]]) -> tuple[Cluster, int]:
    """The objects as the API server would keep them, and a time after the last of them. Raises InputError."""
    cluster = Cluster()
    given = {obj.metadata.name for _, obj in found if isinstance(obj, Namespace)}
    used = dict.fromkeys(obj.metadata.namespace or "default" for _, obj in found if getattr(obj, "namespaced", True))
    named = [("", Namespace(metadata=ObjectMeta(name=name))) for name in used if name not in given]
    start = EARLIEST
    # Pods last: they may name priority and runtime classes that come later in the files.
    for path, obj in sorted([*named, *found], key=lambda each: isinstance(each[1], Pod)):
        admitted = admitted_from(path, obj, cluster)
        if cluster.find(admitted) is not None:
            raise InputError(path, f"{admitted.kind} {admitted.key} is there twice")
        created = admitted.metadata.creation_timestamp
        start = max(start, parse_timestamp(created) if created else start)
        cluster.create_admitted(admitted)
    return cluster, start


def admitted_from(path: str, obj: KubeObject, cluster: Cluster) -> KubeObject:
    """The object of a file as the API server would keep it in this cluster. Raises InputError."""
    admitted = admit(_completed(obj), cluster, stored=bool(obj.metadata.uid))
    if isinstance(admitted, AdmissionError):
        raise InputError(path, str(admitted))
    return admitted


def _completed(obj: KubeObject) -> KubeObject:
    """With a uid and a creation time, which the API server would give it."""
    metadata = obj.metadata
    namespaced = getattr(obj, "namespaced", bool(metadata.namespace))
    namespace = (metadata.namespace or "default") if namespaced else ""
    created = metadata.creation_timestamp or format_timestamp(EARLIEST)
    uid = metadata.uid or f"{plural_of(obj)}.{namespace}.{metadata.name}"
    return replace(obj, metadata=replace(metadata, namespace=namespace, uid=uid, creation_timestamp=created))

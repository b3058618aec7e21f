"""What commands about a whole cluster read: its objects, the configuration, and a clock to begin at."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from framework.cli.errors import InputError
from framework.cli.loads import with_load
from framework.cli.manifests import Objects, read_files, read_text, refused
from framework.configuration import EffectiveConfiguration, FeatureGates, Loaded, load, load_value
from framework.configuration.feature_gates import DEFAULT_GATES
from framework.configuration.older import is_older
from framework.objects import KubeObject, Node, Pod
from framework.objects.admission import AdmissionError, admit
from framework.objects.catalogue import ElasticQuota, LoadMetrics
from framework.objects.kinds import plural_of
from framework.objects.timestamps import SECOND, format_timestamp, parse_timestamp
from framework.objects.tolerations import COMPARISONS_GATE
from framework.plugins.quotatree.args import unknown_default_quotas
from framework.plugins.registry import Registry, installed_registry
from framework.profiles import ProfileError
from framework.reading.gathering import from_a_cluster
from framework.scheduler import Cluster, Observer, Scheduler

EARLIEST: Final = parse_timestamp("2026-01-01T00:00:00Z")


@dataclass(frozen=True, slots=True)
class ClusterRequest:
    """What every command about a cluster is asked with."""

    files: Sequence[str]
    config: Path | None = None
    seed: int = 0
    feature_gates: FeatureGates | None = None
    """None takes the gates of the configuration's comment."""
    leave_out_problems: bool = False
    """Objects that cannot be taken are told on standard error, and the rest is read."""
    load: Sequence[str] = ()
    """``[CPU=|Memory=]FILE`` or ``random:SEED``, which takes the place of what was before it."""


@dataclass(frozen=True, slots=True)
class ReadCluster:
    scheduler: Scheduler
    objects: Objects


def read_cluster(asked: ClusterRequest, observer: Observer) -> ReadCluster:
    """A scheduler over the objects of these files. Raises InputError."""
    registry = installed_registry()
    objects = read_files(asked.files)
    if objects.problems and not asked.leave_out_problems:
        raise refused(objects.problems)
    for path, problem in objects.problems:
        tell(f"{path + ': ' if path else ''}left out: {problem.words}")
    for warning in objects.warnings:
        tell(f"warning: {warning}")
    for note in objects.notes:
        tell(str(note))
    if not any(isinstance(obj, Node) for _, obj in objects.kept):
        tell("warning: There is no node in these files, so every pod stays pending.")
    configuration = _configuration(asked, objects, registry)
    if configuration.extenders:
        raise InputError(str(asked.config or ""), NOBODY_ASKS)
    kept = with_load(objects.kept, asked.load, newest(objects.kept), tell) if asked.load else objects.kept
    cluster, start = _cluster(kept, configuration.feature_gates.enabled(COMPARISONS_GATE))
    quotas = {quota.metadata.name for quota in cluster.list(ElasticQuota)}
    for where, unknown in unknown_default_quotas(configuration, quotas):
        tell(f"warning: {where}: {unknown}")
    try:
        scheduler = Scheduler(
            configuration, registry, start=start, seed=asked.seed, ties="seeded", observer=observer, cluster=cluster
        )
    except ProfileError as error:
        raise InputError(str(asked.config), str(error)) from error
    return ReadCluster(scheduler, objects)


NOBODY_ASKS: Final = "the configuration names extenders, and the command line asks nobody; a run of the server does"


def tell(sentence: str) -> None:
    """Beside the answer, which may go into a file."""
    print(sentence, file=sys.stderr)


def _configuration(asked: ClusterRequest, objects: Objects, registry: Registry) -> EffectiveConfiguration:
    gates = asked.feature_gates
    if asked.config is not None:
        path = str(asked.config)
        text = read_text(path)
        return _effective(path, load(text, registry, gates), text)
    if objects.configuration is None:
        return _effective("", load_value(None, registry, gates or DEFAULT_GATES))
    path, written = objects.configuration
    tell(f"{path}: its KubeSchedulerConfiguration is used; --config FILE uses another.")
    text = msgspec.json.encode(written).decode()
    return _effective(path, load_value(written, registry, gates or DEFAULT_GATES), text)


def _effective(path: str, loaded: Loaded, text: str = "") -> EffectiveConfiguration:
    """``text``: what was loaded. Raises InputError."""
    if loaded.effective is None:
        lines = []
        for error in loaded.errors:
            place = f"{error.line}:{error.column}: " if error.line is not None else ""
            hint = f". {error.hint}" if error.hint else ""
            lines.append(f"{place}{error.path + ': ' if error.path else ''}{error.message}{hint}")
        if is_older(text):
            lines.append(f"`python -m framework convert {path}` writes it as v1 and says what changes.")
        raise InputError(path, "\n".join(lines))
    return loaded.effective


def _cluster(found: Sequence[tuple[str, KubeObject]], comparisons: bool) -> tuple[Cluster, int]:
    """The objects as the API server would keep them, and a time after the last of them. Raises InputError."""
    cluster = Cluster()
    cluster.comparisons = comparisons
    # Pods last: they may name priority and runtime classes that come later in the files.
    for path, obj in sorted(found, key=lambda each: isinstance(each[1], Pod)):
        admitted = admitted_from(path, obj, cluster)
        cluster.create_admitted(admitted)
    return cluster, newest(found)


def newest(found: Sequence[tuple[str, KubeObject]]) -> int:
    """The time of the object that came last, or of the load that was measured last, in nanoseconds."""
    moment = EARLIEST
    for _, obj in found:
        if created := obj.metadata.creation_timestamp:
            moment = max(moment, parse_timestamp(created))
        if isinstance(obj, LoadMetrics):
            moment = max(moment, obj.window.end * SECOND)
    return moment


def admitted_from(path: str, obj: KubeObject, cluster: Cluster) -> KubeObject:
    """The object of a file as the API server would keep it in this cluster. Raises InputError."""
    admitted = admit(_completed(obj), cluster, stored=from_a_cluster(obj), comparisons=cluster.comparisons)
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

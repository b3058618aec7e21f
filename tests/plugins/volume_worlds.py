"""Clusters with volumes, and what the default profile decides in them."""

from __future__ import annotations

from typing import Any, TypeVar

from framework.configuration import load_value, parse_feature_gates
from framework.objects import KubernetesObject, Pod
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from framework.plugins.registry import built_in_registry
from framework.scheduler import Attempt, Cluster, Observer, Scheduler
from tests.builders import make_node, make_pod

O = TypeVar("O", bound=KubernetesObject)  # noqa: E741
SECOND = 1_000_000_000
STORAGE = "storage.k8s.io/v1"


def made(kind: str, name: str, *, api_version: str = "v1", namespace: str = "", **fields: Any) -> Any:
    metadata = {"name": name, "uid": f"uid-{name}", **fields.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    return with_defaults(decode_manifest({"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}))


def volume(name: str, size: str = "10Gi", **more: Any) -> Any:
    """An available PersistentVolume of class ``local``; ``node`` ties it to a hostname, ``zone`` to a zone."""
    spec: dict[str, Any] = {
        "capacity": {"storage": size},
        "storageClassName": "local",
        "accessModes": ["ReadWriteOnce"],
    }
    for key, label in (("node", "kubernetes.io/hostname"), ("zone", "topology.kubernetes.io/zone")):
        if key in more:
            term = {"matchExpressions": [{"key": label, "operator": "In", "values": [more.pop(key)]}]}
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    metadata, phase = more.pop("metadata", {}), more.pop("phase", "Available")
    return made("PersistentVolume", name, metadata=metadata, spec={**spec, **more}, status={"phase": phase})


def claim(name: str, size: str = "5Gi", *, to: str = "", **more: Any) -> Any:
    """Unbound, of class ``local``; ``to`` binds it to a volume."""
    metadata = dict(more.pop("metadata", {}))
    spec: dict[str, Any] = {
        "storageClassName": "local",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": size}},
        **({"volumeName": to} if to else {}),
    }
    if to:
        metadata.setdefault("annotations", {"pv.kubernetes.io/bind-completed": "yes"})
    status = more.pop("status", {"phase": "Bound" if to else "Pending"})
    namespace = more.pop("namespace", "default")
    return made(
        "PersistentVolumeClaim", name, namespace=namespace, metadata=metadata, spec={**spec, **more}, status=status
    )


def storage_class(name: str, provisioner: str, *, waits: bool = True, **more: Any) -> Any:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    return made("StorageClass", name, api_version=STORAGE, provisioner=provisioner, volumeBindingMode=mode, **more)


LOCAL = storage_class("local", "kubernetes.io/no-provisioner")
MADE = storage_class("made", "csi.example.com")


def csi_node(name: str, *, limit: int | None = None, keys: tuple[str, ...] = (), **more: Any) -> Any:
    driver: dict[str, Any] = {"name": more.pop("driver", "csi.example.com"), "nodeID": name, "topologyKeys": list(keys)}
    if limit is not None:
        driver["allocatable"] = {"count": limit}
    return made("CSINode", name, api_version=STORAGE, spec={"drivers": [driver]}, **more)


def node(name: str, zone: str = "", **more: Any) -> Any:
    labels = {"kubernetes.io/hostname": name, **({"topology.kubernetes.io/zone": zone} if zone else {})}
    return make_node(name, labels=labels | more.pop("labels", {}), **more)


def using(name: str, *claims: str, **more: Any) -> Pod:
    """A pod that uses these claims."""
    volumes = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": each}} for i, each in enumerate(claims)]
    return make_pod(name, volumes=[*volumes, *more.pop("volumes", [])], **more)


class Outcomes(Observer):
    def __init__(self) -> None:
        self.attempts: list[Attempt] = []

    def attempt(self, trace: Attempt) -> None:
        self.attempts.append(trace)


class World:
    """What is given at first is the snapshot; ``add`` is what a user does later."""

    def __init__(
        self, *objects: Any, gates: str = "", args: dict[str, Any] | None = None, without: tuple[str, ...] = ()
    ) -> None:
        """``without``: plugins that are disabled."""
        registry = built_in_registry()
        written: dict[str, Any] = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "percentageOfNodesToScore": 100,
        }
        profile: dict[str, Any] = {"plugins": {"multiPoint": {"disabled": [{"name": name} for name in without]}}}
        if args is not None:
            profile["pluginConfig"] = [{"name": "VolumeBinding", "args": args}]
        written["profiles"] = [profile]
        loaded = load_value(written, registry, parse_feature_gates(gates))
        assert loaded.effective is not None, loaded.errors
        self.cluster = Cluster()
        for obj in objects:
            self.cluster.create_admitted(obj)
        self.outcomes = Outcomes()
        self.scheduler = Scheduler(
            loaded.effective, registry, start=0, seed=1, ties="smallest", observer=self.outcomes, cluster=self.cluster
        )

    def add(self, obj: O) -> O:
        return self.cluster.create_admitted(obj)

    def get(self, kind: type[O], name: str) -> O:
        found = self.cluster.get(kind, "default" if kind.namespaced else "", name)
        assert found is not None
        return found

    def schedule(self, pod: Pod) -> Attempt:
        self.add(pod)
        attempt = self.scheduler.step()
        assert attempt is not None
        assert attempt.uid == pod.uid
        return attempt


def reasons(attempt: Attempt) -> dict[str, tuple[str, ...]]:
    """Node → why it was rejected, () for a feasible one."""
    assert attempt.filter is not None
    statuses = {name: attempt.filter.status(i) for i, name in enumerate(attempt.filter.nodes)}
    return {name: status.all_reasons for name, status in statuses.items() if status is not None}

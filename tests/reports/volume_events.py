"""Changes of volumes and claims for a pod that waits, and what a plugin writes of them when it is asked."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from framework.interface import PodInfo
from framework.interface.events import ActionType, QueueingHint
from framework.objects import KubeObject, Pod
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from framework.queue import HintAnswer, QueuedPodInfo
from framework.queue.hints import QueueingHintFunction
from framework.reports import klog
from framework.reports.hint_lines import hint_entries
from framework.scheduler import Observer, Scheduler
from tests.reports.recorded import create, pod, scheduler_of, without_times

Manifest = dict[str, Any]


def named(kind: str, name: str, *, version: str = "v1", **fields: Any) -> Manifest:
    metadata = {"name": name, "uid": f"uid-{name}"} | fields.pop("metadata", {})
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def spaced(kind: str, name: str, namespace: str = "default", **fields: Any) -> Manifest:
    return named(kind, name, metadata={"namespace": namespace}, **fields)


STORAGE: Final = "storage.k8s.io/v1"
RESOURCE: Final = "resource.k8s.io/v1"


def waits(*volumes: Manifest, **spec: Any) -> Manifest:
    made = pod("waits", "1", volumes=[{"name": f"v{place}", **each} for place, each in enumerate(volumes)], **spec)
    made["metadata"]["uid"] = "uid-waits"
    return made


def held(*volumes: Manifest, namespace: str = "default", node: str = "east") -> Manifest:
    made = pod("held", "1", nodeName=node, volumes=[{"name": f"v{at}", **each} for at, each in enumerate(volumes)])
    made["metadata"] |= {"uid": "uid-held", "namespace": namespace}
    return made


def claim(name: str = "data", namespace: str = "default") -> Manifest:
    return spaced("PersistentVolumeClaim", name, namespace, spec={"accessModes": ["ReadWriteOnce"]})


def attachment(attacher: str = "disks.example.com") -> Manifest:
    spec = {"attacher": attacher, "nodeName": "east", "source": {"persistentVolumeName": "pv"}}
    return named("VolumeAttachment", "va", version=STORAGE, spec=spec)


def csi_node(*drivers: tuple[str, int | None], plugins: str = "") -> Manifest:
    listed = [{"name": name, "nodeID": "n", "allocatable": {"count": count}} for name, count in drivers]
    metadata = {"annotations": {"storage.alpha.kubernetes.io/migrated-plugins": plugins}} if plugins else {}
    return named("CSINode", "east", version=STORAGE, metadata=metadata, spec={"drivers": listed})


def storage_class(mode: str | None, *zones: str) -> Manifest:
    allowed = [{"matchLabelExpressions": [{"key": "zone", "values": [zone]}]} for zone in zones]
    found = named("StorageClass", "fast", version=STORAGE, provisioner="p", allowedTopologies=allowed)
    return found | ({} if mode is None else {"volumeBindingMode": mode})


def volume(zone: str) -> Manifest:
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    return named("PersistentVolume", "pv", metadata={"labels": labels}, spec={"accessModes": ["ReadWriteOnce"]})


def capacity(amount: str | None = None, largest: str | None = None) -> Manifest:
    found = spaced("CSIStorageCapacity", "room", "kube-system", version=STORAGE, storageClassName="fast")
    return found | {key: each for key, each in (("capacity", amount), ("maximumVolumeSize", largest)) if each}


def driver(tracks: bool | None) -> Manifest:
    return named("CSIDriver", "disks.example.com", version=STORAGE, spec={"storageCapacity": tracks})


def device_claim(name: str = "gpu", *, allocated: bool = False, finalizer: str = "", reserved: str = "") -> Manifest:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu"}}
    device = {"request": "r", "driver": "d", "pool": "p", "device": "0"}
    status: Manifest = {"allocation": {"devices": {"results": [device]}}} if allocated else {}
    if reserved:
        status["reservedFor"] = [{"resource": "pods", "name": reserved, "uid": f"uid-{reserved}"}]
    found = spaced("ResourceClaim", name, version=RESOURCE, spec={"devices": {"requests": [request]}}, status=status)
    found["metadata"]["finalizers"] = [finalizer] if finalizer else []
    return found


PVC: Final = {"persistentVolumeClaim": {"claimName": "data"}}
OWN: Final = {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}
EBS: Final = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
BROKEN: Final = {"awsElasticBlockStore": {"volumeID": "aws://"}}
INLINE: Final = {"csi": {"driver": "disks.example.com"}}
DISK: Final = {"gcePersistentDisk": {"pdName": "d"}}
EBS_DRIVER: Final = "ebs.csi.aws.com"
DEVICES: Final = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}
WAITS: Final = 'pod="default/waits"'


class Case(NamedTuple):
    plugin: str
    pod: Manifest
    old: Manifest | None
    new: Manifest | None
    lines: list[str]
    """``level file:line] "message" key=value …``."""
    hint: QueueingHint = QueueingHint.SKIP
    there: tuple[Manifest, ...] = ()


QUEUE: Final = QueueingHint.QUEUE
LIMITS, RESTRICTIONS, ZONES, BINDING, CLAIMS = (
    "NodeVolumeLimits",
    "VolumeRestrictions",
    "VolumeZone",
    "VolumeBinding",
    "DynamicResources",
)
CREATED: Final = "PVC that is referred from the pod was created, which might make this pod schedulable"
IRRELEVANT: Final = "PVC irrelevant to the Pod was created, which doesn't make this pod schedulable"
REFERRED: Final = "PVC that is referred from the pod was created or updated, which might make this pod schedulable"
UNREFERRED: Final = "PVC irrelevant to the Pod was created or updated, which doesn't make this pod schedulable"


def decoded(manifest: Manifest | None) -> KubeObject | None:
    return None if manifest is None else with_defaults(decode_manifest(manifest))


def asked(scheduler: Scheduler, plugin: str, old: KubeObject | None, new: KubeObject | None) -> QueueingHintFunction:
    """The plugin's registration for this kind of change."""
    about = old if new is None else new
    assert about is not None
    action = ActionType.ADD if old is None else ActionType.DELETE if new is None else ActionType.UPDATE
    [found] = [
        each
        for each in scheduler.profiles["default-scheduler"].hints.functions
        if each.plugin == plugin
        and str(each.event.resource).rpartition("/")[2] == about.kind
        and each.event.action & action
    ]
    return found


def lines_of(case: Case) -> list[str]:
    """With their levels; raises AssertionError where the plugin's own hint is another one."""
    plugin, waiting, before, after, _, hint, there = case
    scheduler = scheduler_of(Observer())
    for each in there:
        create(scheduler.cluster, each)
    pending = decoded(waiting)
    assert isinstance(pending, Pod)
    queued = QueuedPodInfo(PodInfo(pending), 0)
    old, new = decoded(before), decoded(after)
    function = asked(scheduler, plugin, old, new)
    said = function(pending, old, new)
    assert said is hint
    answer = HintAnswer(queued, plugin, function.event, old, new, said)
    found = hint_entries(answer, scheduler)
    return [
        f"v{each.level} {without_times([klog.line(0, each.place, each.message, **each.values)])[0]}" for each in found
    ]

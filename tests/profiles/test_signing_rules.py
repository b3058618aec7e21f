"""Pods that differ in one property: which are alike to batching, as upstream's signatures have it.

Rules: docs/semantics/framework.md#opportunistic-batching.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final

import msgspec
import pytest

from framework.configuration import load_value
from framework.interface import PodInfo
from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from framework.objects.pod import Volume
from framework.plugins.registry import built_in_registry
from framework.profiles.batch import Batch
from framework.reports.log import SchedulerLog
from framework.scheduler import Observer, Scheduler

Change = Callable[[dict[str, Any]], object]
LINUX: Final = {"key": "os", "operator": "In", "values": ["linux", "bsd"]}
BIG: Final = {"key": "size", "operator": "Gt", "values": ["3"]}
POD: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "shop", "uid": "uid-a", "labels": {"app": "web"}},
    "spec": {
        "nodeSelector": {"zone": "east"},
        "tolerations": [
            {"key": "b", "operator": "Equal", "value": "1", "effect": "NoSchedule"},
            {"key": "a", "operator": "Exists"},
        ],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [LINUX, BIG]}, {"matchExpressions": [BIG]}]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 1, "preference": {"matchExpressions": [BIG]}},
                    {"weight": 9, "preference": {"matchExpressions": [LINUX]}},
                ],
            }
        },
        "initContainers": [{"name": "first", "image": "init:1", "resources": {"requests": {"cpu": "200m"}}}],
        "containers": [
            {
                "name": "main",
                "image": "web:1",
                "ports": [{"containerPort": 80, "hostPort": 8080}],
                "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
            },
            {"name": "beside", "image": "log:1"},
        ],
        "volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "disk", "csi": {"driver": "disks.example.com"}},
            {"name": "config", "configMap": {"name": "config"}},
            {"name": "cache", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
            {"name": "logs", "hostPath": {"path": "/var/log"}},
            {"name": "shared", "nfs": {"server": "files", "path": "/"}},
            {
                "name": "projected",
                "projected": {
                    "sources": [
                        {"serviceAccountToken": {"path": "token"}},
                        {"secret": {"name": "keys"}},
                        {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "a"}}]}},
                    ]
                },
            },
            {
                "name": "about",
                "downwardAPI": {
                    "items": [{"path": "m", "resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}]
                },
            },
            {"name": "flex", "flexVolume": {"driver": "d", "options": {"a": "1", "b": "2"}}},
            {"name": "azure", "azureDisk": {"diskName": "d", "diskURI": "u"}},
            {
                "name": "own",
                "ephemeral": {"volumeClaimTemplate": {"spec": {"resources": {"requests": {"storage": "1Gi"}}}}},
            },
            {"name": "image", "image": {"reference": "registry:5000/model:2"}},
        ],
    },
}


def _set(path: str, value: Any) -> Change:
    """``path`` by dots; numbers are places in lists; the last part may be new."""

    def change(manifest: dict[str, Any]) -> None:
        *way, last = path.split(".")
        at: Any = manifest
        for part in way:
            at = at[int(part)] if isinstance(at, list) else at.setdefault(part, {})
        at[int(last) if isinstance(at, list) else last] = value

    return change


def _reverse(path: str) -> Change:
    def change(manifest: dict[str, Any]) -> None:
        at: Any = manifest
        for part in path.split("."):
            at = at[int(part)] if isinstance(at, list) else at[part]
        at.reverse()

    return change


def _append(path: str, value: Any) -> Change:
    def change(manifest: dict[str, Any]) -> None:
        at: Any = manifest
        for part in path.split("."):
            at = at[int(part)] if isinstance(at, list) else at[part]
        at.append(value)

    return change


CONTAINER: Final = "spec.containers.0"
NODES: Final = "spec.affinity.nodeAffinity"
REQUIRED: Final = f"{NODES}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
PREFERRED: Final = f"{NODES}.preferredDuringSchedulingIgnoredDuringExecution"

FURTHER: Final[dict[str, dict[str, Any]]] = {
    "projected": {"sources": []},
    "downwardAPI": {},
    "fc": {"targetWWNs": ["w"], "lun": 0},
    "glusterfs": {"endpoints": "e", "path": "p"},
    "cephfs": {"monitors": ["m"]},
    "gitRepo": {"repository": "https://git.example.com/it"},
    "flexVolume": {"driver": "d"},
    "flocker": {"datasetName": "d"},
    "quobyte": {"registry": "r", "volume": "v"},
    "photonPersistentDisk": {"pdID": "d"},
    "scaleIO": {"gateway": "g", "system": "s"},
    "storageos": {"volumeName": "v"},
    "rbd": {"monitors": ["m"], "image": "i"},
    "iscsi": {"targetPortal": "p", "iqn": "q", "lun": 1},
    "vsphereVolume": {"volumePath": "p"},
    "cinder": {"volumeID": "v"},
}

ALIKE: Final[dict[str, Change]] = {
    "name": _set("metadata.name", "b"),
    "namespace": _set("metadata.namespace", "other"),
    "uid": _set("metadata.uid", "uid-b"),
    "annotations": _set("metadata.annotations", {"a": "b"}),
    "owner": _set(
        "metadata.ownerReferences", [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "w", "uid": "u"}]
    ),
    "priority": _set("spec.priority", 1000),
    "priority class": _set("spec.priorityClassName", "high"),
    "preemption policy": _set("spec.preemptionPolicy", "Never"),
    "grace period": _set("spec.terminationGracePeriodSeconds", 5),
    "environment": _set(f"{CONTAINER}.env", [{"name": "A", "value": "b"}]),
    "container's name": _set(f"{CONTAINER}.name", "other"),
    "limits": _set(f"{CONTAINER}.resources.limits", {"cpu": "2", "memory": "2Gi"}),
    "container port": _set(f"{CONTAINER}.ports.0.containerPort", 81),
    "host ip": _set(f"{CONTAINER}.ports.0.hostIP", "10.0.0.1"),
    "protocol": _set(f"{CONTAINER}.ports.0.protocol", "UDP"),
    "the same port twice": _append(f"{CONTAINER}.ports", {"containerPort": 82, "hostPort": 8080}),
    "port of an init container": _set("spec.initContainers.0.ports", [{"containerPort": 1, "hostPort": 8080}]),
    "order of containers": _reverse("spec.containers"),
    "an image twice": _set("spec.initContainers.0.name", "begins"),
    "tag that is the default": _set("spec.containers.1.image", "log:1"),
    "order of tolerations": _reverse("spec.tolerations"),
    "order of required terms": _reverse(REQUIRED),
    "order of requirements": _reverse(f"{REQUIRED}.0.matchExpressions"),
    "order of values": _set(f"{REQUIRED}.0.matchExpressions.0.values", ["bsd", "linux"]),
    "order of preferred terms": _reverse(PREFERRED),
    "amount written otherwise": _set(f"{CONTAINER}.resources.requests.cpu", "1000m"),
    "no cpu written as 0": _set("spec.containers.1.resources", {"requests": {"cpu": "0"}}),
    "smaller init container": _set("spec.initContainers.0.resources.requests.cpu", "300m"),
    "name of a volume": _set("spec.volumes.0.name", "store"),
    "order of volumes": _reverse("spec.volumes"),
    "ConfigMap": _set("spec.volumes.2.configMap.name", "another"),
    "a Secret more": _append("spec.volumes", {"name": "keys", "secret": {"secretName": "keys"}}),
    "one ConfigMap less": lambda manifest: manifest["spec"]["volumes"].pop(2),
    "limit of an emptyDir written otherwise": _set("spec.volumes.3.emptyDir.sizeLimit", "1024Mi"),
    "type of a hostPath that is the default": _set("spec.volumes.4.hostPath.type", ""),
    "NFS that is written, as by default": _set("spec.volumes.5.nfs.readOnly", False),
    "what is projected, with the defaults": _set(
        "spec.volumes.6.projected",
        {
            "defaultMode": 420,
            "sources": [
                {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}},
                {"secret": {"name": "keys"}},
                {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"apiVersion": "v1", "fieldPath": "a"}}]}},
            ],
        },
    ),
    "a divisor written otherwise": _set(
        "spec.volumes.7.downwardAPI.items.0.resourceFieldRef", {"resource": "limits.memory", "divisor": "1024Ki"}
    ),
    "order of options": _set("spec.volumes.8.flexVolume.options", {"b": "2", "a": "1"}),
    "azureDisk with the defaults": _set(
        "spec.volumes.9.azureDisk",
        {
            "diskName": "d",
            "diskURI": "u",
            "kind": "Shared",
            "cachingMode": "ReadWrite",
            "fsType": "ext4",
            "readOnly": False,
        },
    ),
    "ephemeral volume's mode and amount": _set(
        "spec.volumes.10.ephemeral.volumeClaimTemplate.spec",
        {"volumeMode": "Filesystem", "resources": {"requests": {"storage": "1024Mi"}}},
    ),
    "an image's pull policy": _set("spec.volumes.11.image.pullPolicy", "IfNotPresent"),
    "service account": _set("spec.serviceAccountName", "robot"),
    "hostname": _set("spec.hostname", "web-0"),
}

APART: Final[dict[str, Change]] = {
    "scheduler's name": _set("spec.schedulerName", "other"),
    "label's value": _set("metadata.labels.app", "db"),
    "a label more": _set("metadata.labels.tier", "front"),
    "node": _set("spec.nodeName", "n1"),
    "node selector": _set("spec.nodeSelector.zone", "west"),
    "no node selector": lambda manifest: manifest["spec"].pop("nodeSelector"),
    "no node affinity": lambda manifest: manifest["spec"].pop("affinity"),
    "required value": _set(f"{REQUIRED}.0.matchExpressions.0.values", ["linux"]),
    "required operator": _set(f"{REQUIRED}.0.matchExpressions.0.operator", "NotIn"),
    "a field in place of a label": _set(f"{REQUIRED}.1", {"matchFields": [{**LINUX, "key": "metadata.name"}]}),
    "weight": _set(f"{PREFERRED}.0.weight", 2),
    "a required term twice": _append(REQUIRED, {"matchExpressions": [BIG]}),
    "toleration's effect": _set("spec.tolerations.1.effect", "NoExecute"),
    "toleration's seconds": _set("spec.tolerations.1.tolerationSeconds", 60),
    "a toleration twice": _append("spec.tolerations", {"key": "a", "operator": "Exists"}),
    "host port": _set(f"{CONTAINER}.ports.0.hostPort", 8081),
    "image": _set(f"{CONTAINER}.image", "web:2"),
    "init container's image": _set("spec.initContainers.0.image", "init:2"),
    "cpu": _set(f"{CONTAINER}.resources.requests.cpu", "1001m"),
    "memory": _set(f"{CONTAINER}.resources.requests.memory", "2Gi"),
    "ephemeral storage": _set(f"{CONTAINER}.resources.requests.ephemeral-storage", "1Gi"),
    "extended resource": _set(f"{CONTAINER}.resources.requests.example~com/gpu", "1"),
    "extended resource of 0": _set(f"{CONTAINER}.resources.requests.example~com/gpu", "0"),
    "larger init container": _set("spec.initContainers.0.resources.requests.cpu", "3"),
    "init container that stays": _set("spec.initContainers.0.restartPolicy", "Always"),
    "overhead": _set("spec.overhead", {"cpu": "100m"}),
    "requests of the pod": _set("spec.resources", {"requests": {"cpu": "4", "memory": "1Gi"}}),
    "claim": _set("spec.volumes.0.persistentVolumeClaim.claimName", "other"),
    "claim, read only": _set("spec.volumes.0.persistentVolumeClaim.readOnly", True),
    "driver": _set("spec.volumes.1.csi.driver", "others.example.com"),
    "an emptyDir's medium": _set("spec.volumes.3.emptyDir.medium", ""),
    "an emptyDir's limit": _set("spec.volumes.3.emptyDir.sizeLimit", "2Gi"),
    "the same limit in decimal": _set("spec.volumes.3.emptyDir.sizeLimit", "1073741824"),
    "no emptyDir": lambda manifest: manifest["spec"]["volumes"].pop(3),
    "an emptyDir more": _append("spec.volumes", {"name": "more", "emptyDir": {}}),
    "path on the node": _set("spec.volumes.4.hostPath.path", "/var/run"),
    "kind of path on the node": _set("spec.volumes.4.hostPath.type", "Directory"),
    "mode of what is projected": _set("spec.volumes.6.projected.defaultMode", 256),
    "audience of a token": _set("spec.volumes.6.projected.sources.0.serviceAccountToken.audience", "vault"),
    "time of a token": _set("spec.volumes.6.projected.sources.0.serviceAccountToken.expirationSeconds", 3607),
    "Secret that is projected": _set("spec.volumes.6.projected.sources.1.secret.name", "others"),
    "Secret that need not be there": _set("spec.volumes.6.projected.sources.1.secret.optional", False),
    "order of what is projected": _reverse("spec.volumes.6.projected.sources"),
    "ConfigMap that is projected": _append("spec.volumes.6.projected.sources", {"configMap": {"name": "ca"}}),
    "field that is written to a file": _set(
        "spec.volumes.6.projected.sources.2.downwardAPI.items.0.fieldRef.fieldPath", "metadata.name"
    ),
    "resource that is written to a file": _set(
        "spec.volumes.7.downwardAPI.items.0.resourceFieldRef.resource", "limits.cpu"
    ),
    "options of a flexVolume": _set("spec.volumes.8.flexVolume.options.a", "2"),
    "caching of a disk": _set("spec.volumes.9.azureDisk.cachingMode", "None"),
    "where an ephemeral volume begins": _set(
        "spec.volumes.10.ephemeral.volumeClaimTemplate.spec.dataSource", {"kind": "VolumeSnapshot", "name": "s"}
    ),
    "labels of an ephemeral volume's claim": _set(
        "spec.volumes.10.ephemeral.volumeClaimTemplate.metadata", {"labels": {"a": "b"}}
    ),
    "annotations of an ephemeral volume's claim": _set(
        "spec.volumes.10.ephemeral.volumeClaimTemplate.metadata", {"annotations": {"a": "b"}}
    ),
    "an image's other pull policy": _set("spec.volumes.11.image.pullPolicy", "Always"),
    "attributes of a CSI volume": _set("spec.volumes.1.csi.volumeAttributes", {"a": "b"}),
    "file system of a CSI volume": _set("spec.volumes.1.csi.fsType", "xfs"),
    "Secret of a CSI volume": _set("spec.volumes.1.csi.nodePublishSecretRef", {"name": "keys"}),
    **{
        f"a volume more: {name}": _append("spec.volumes", {"name": "more", name: source})
        for name, source in FURTHER.items()
    },
    "NFS server": _set("spec.volumes.5.nfs.server", "others"),
    "a volume twice": _append("spec.volumes", {"name": "again", "csi": {"driver": "disks.example.com"}}),
}


def test_every_source_of_a_volume_is_signed() -> None:
    """But ConfigMaps and Secrets: a source that the API has and that is not typed would tell no pods apart."""
    given = {name for each in POD["spec"]["volumes"] for name in each} | {*FURTHER}
    known = {each.encode_name for each in msgspec.structs.fields(Volume)}
    others = {"awsElasticBlockStore", "gcePersistentDisk", "azureFile", "portworxVolume"}
    assert known - others == given - {"configMap"}
    assert others <= known


UNSIGNED: Final[dict[str, Change]] = {
    "spread constraints": _set(
        "spec.topologySpreadConstraints",
        [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {}}],
    ),
    "pod affinity": _set(
        "spec.affinity.podAffinity",
        {"preferredDuringSchedulingIgnoredDuringExecution": []},
    ),
    "pod anti-affinity": _set(
        "spec.affinity.podAntiAffinity",
        {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {}}]},
    ),
    "claims for devices": _set("spec.resourceClaims", [{"name": "gpu", "resourceClaimName": "gpu"}]),
}


def batch(defaulting: str = "List", **affinity: Any) -> Batch | None:
    registry = built_in_registry()
    plugin_config = [
        {"name": "PodTopologySpread", "args": {"defaultingType": defaulting}},
        {"name": "InterPodAffinity", "args": affinity},
    ]
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    loaded = load_value({**head, "profiles": [{"pluginConfig": plugin_config}]}, registry)
    assert loaded.effective is not None
    scheduler = Scheduler(loaded.effective, registry, start=0, seed=0, ties="smallest", observer=Observer())
    return scheduler.profiles["default-scheduler"].batch


def pod(change: Change | None = None) -> PodInfo:
    manifest = copy.deepcopy(POD)
    if change is not None:
        change(manifest)
        requests = manifest["spec"]["containers"][0].get("resources", {}).get("requests", {})
        for name in [each for each in requests if "~" in each]:
            requests[name.replace("~", ".")] = requests.pop(name)
    made = with_defaults(decode_manifest(manifest))
    assert isinstance(made, Pod)
    return PodInfo(made)


def signature(change: Change | None = None, **affinity: Any) -> Any:
    signing = batch(**affinity)
    assert signing is not None
    return signing.signature(pod(change))


@pytest.mark.parametrize("change", ALIKE)
def test_alike(change: str) -> None:
    assert signature() is not None
    assert signature(ALIKE[change]) == signature()


@pytest.mark.parametrize("change", APART)
def test_apart(change: str) -> None:
    assert signature(APART[change]) not in (None, signature())


@pytest.mark.parametrize("change", UNSIGNED)
def test_unsigned(change: str) -> None:
    assert signature(UNSIGNED[change]) is None


def test_labels_do_not_count_where_preferences_of_placed_pods_are_ignored() -> None:
    other = _set("metadata.labels.app", "db")
    assert signature(other, ignorePreferredTermsOfExistingPods=True) == signature(
        ignorePreferredTermsOfExistingPods=True
    )


def test_default_constraints_leave_every_pod_unsigned() -> None:
    found = batch("System")
    assert found is None or found.signature(pod()) is None


@pytest.mark.parametrize(
    ("change", "plugin", "said"),
    [
        ("spread constraints", "PodTopologySpread", "pods with topology constraints are not signable"),
        ("pod affinity", "InterPodAffinity", "pods with InterPodAffinity are not signable"),
        ("claims for devices", "DynamicResources", "pods with dra resource claims are not signable"),
    ],
)
def test_the_log_names_the_plugin_that_signs_no_such_pod(change: str, plugin: str, said: str) -> None:
    registry = built_in_registry()
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    spread = {"name": "PodTopologySpread", "args": {"defaultingType": "List"}}
    lines: list[str] = []
    for extenders in ([], [{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "f"}]):
        profiles = {"profiles": [{"pluginConfig": [spread]}], "extenders": extenders}
        loaded = load_value({**head, **profiles}, registry)
        assert loaded.effective is not None
        log = SchedulerLog(lines.append, 5)
        scheduler = Scheduler(loaded.effective, registry, start=0, seed=0, ties="smallest", observer=log)
        log.start(scheduler)
        scheduler.cluster.create_admitted(pod().pod)
        scheduler.cluster.create_admitted(pod(lambda it: (_set("metadata.name", "b")(it), UNSIGNED[change](it))).pod)
    signing = [line.partition("] ")[2] for line in lines if "SignPod" in line]
    assert signing == [f'"SignPod can\'t sign pod due to plugin" plugin="{plugin}" status="{said}"']
    assert [line.partition("] ")[2] for line in lines if "Disabling" in line] == [
        '"Disabling signatures for profile because it has extenders configured." profile="default-scheduler"',
        '"Disabling signatures for profile because plugins do not support it." profile="default-scheduler" plugins=[]',
    ]

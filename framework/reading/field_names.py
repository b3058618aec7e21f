"""Which fields the API server knows in the parts of pods, workloads and nodes that are read.

What is typed is read; ``_NOT_READ`` names what the API has beside it. Fields that came with 1.37 or that earlier
versions had are known, too: whoever writes them has misspelt nothing.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from framework.objects import ObjectMeta
from framework.objects.further_volume_sources import (
    ClusterTrustBundleProjection,
    DownwardAPIVolumeFile,
    DownwardAPIVolumeSource,
    KeyToPath,
    PodCertificateProjection,
    ProjectedVolumeSource,
    ServiceAccountTokenProjection,
)
from framework.objects.node import NodeSpec, NodeStatus, NodeSystemInfo
from framework.objects.pod import (
    Container,
    PodResourceClaim,
    PodSecurityContext,
    PodSpec,
    SecurityContext,
    Volume,
)
from framework.objects.storage import PersistentVolumeClaimSpec
from framework.objects.volume_sources import EmptyDirVolumeSource
from framework.workloads import KINDS

Shape = Mapping[str, "Shape | None"]
"""Field → what its object, or each object of its list, may hold. None: nobody looks into it."""

_NOT_READ: Final[dict[type[msgspec.Struct], str]] = {
    ObjectMeta: "clusterName initializers managedFields selfLink",
    PodSpec: (
        "activeDeadlineSeconds automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks ephemeralContainers "
        "evictionResponders hostAliases hostIPC hostPID hostname hostnameOverride imagePullSecrets os readinessGates "
        "serviceAccount setHostnameAsFQDN shareProcessNamespace subdomain workloadRef"
    ),
    Container: (
        "args command env envFrom lifecycle livenessProbe readinessProbe resizePolicy startupProbe "
        "stdin stdinOnce terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir"
    ),
    PodSecurityContext: (
        "appArmorProfile fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser seLinuxChangePolicy "
        "seLinuxOptions supplementalGroups supplementalGroupsPolicy sysctls windowsOptions"
    ),
    SecurityContext: (
        "allowPrivilegeEscalation appArmorProfile capabilities privileged procMount readOnlyRootFilesystem runAsGroup "
        "runAsNonRoot runAsUser seLinuxOptions windowsOptions"
    ),
    Volume: "configMap secret",
    ClusterTrustBundleProjection: "user",
    DownwardAPIVolumeFile: "user",
    DownwardAPIVolumeSource: "defaultUser",
    KeyToPath: "user",
    PodCertificateProjection: "user",
    ProjectedVolumeSource: "defaultUser",
    ServiceAccountTokenProjection: "user",
    EmptyDirVolumeSource: "mode",
    PodResourceClaim: "source",
    NodeSpec: "configSource doNotUseExternalID externalID podCIDR podCIDRs podPreemptionPolicy",
    NodeStatus: "config daemonEndpoints features phase runtimeHandlers volumesAttached volumesInUse",
    NodeSystemInfo: "bootID kubeProxyVersion machineID runningInUserNamespace swap systemUUID",
}


def _shape(struct: type[msgspec.Struct]) -> dict[str, Shape | None]:
    found: dict[str, Shape | None] = dict.fromkeys(_NOT_READ.get(struct, "").split())
    for field in msgspec.structs.fields(struct):
        inner = _struct_in(field.type)
        found[field.encode_name] = None if inner is None else _shape(inner)
    return found


def _struct_in(type_: Any) -> type[msgspec.Struct] | None:
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return type_
    return next(filter(None, map(_struct_in, typing.get_args(type_))), None)


def _object(spec: Shape, **more: Shape | None) -> Shape:
    return {"apiVersion": None, "kind": None, "metadata": _METADATA, "spec": spec, "status": None, **more}


def _free(names: str) -> dict[str, Shape | None]:
    return dict.fromkeys(names.split())


_METADATA: Final = _shape(ObjectMeta)
POD_SPEC: Final[Shape] = _shape(PodSpec)
_TEMPLATE: Final[Shape] = {"metadata": _METADATA, "spec": POD_SPEC}
_CLAIM: Final = _object(_shape(PersistentVolumeClaimSpec))
_JOB_SPEC: Final[Shape] = {
    **_free(
        "activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions managedBy manualSelector "
        "maxFailedIndexes parallelism podFailurePolicy podReplacementPolicy scheduling selector successPolicy suspend "
        "ttlSecondsAfterFinished"
    ),
    "template": _TEMPLATE,
}
_TEMPLATED: Final[dict[str, str]] = {
    "Deployment": (
        "minReadySeconds paused progressDeadlineSeconds replicas revisionHistoryLimit rollbackTo selector strategy"
    ),
    "DaemonSet": "minReadySeconds revisionHistoryLimit selector templateGeneration updateStrategy",
    "ReplicaSet": "minReadySeconds replicas selector",
    "ReplicationController": "minReadySeconds replicas selector",
}

_OF_KINDS: Final[dict[str, Shape]] = {
    "Pod": _object(POD_SPEC),
    "Node": _object(_shape(NodeSpec), status=_shape(NodeStatus)),
    **{kind: _object({**_free(names), "template": _TEMPLATE}) for kind, names in _TEMPLATED.items()},
    "StatefulSet": _object(
        {
            **_free(
                "minReadySeconds persistentVolumeClaimRetentionPolicy podManagementPolicy replicas "
                "revisionHistoryLimit selector serviceName updateStrategy"
            ),
            "ordinals": {"start": None},
            "template": _TEMPLATE,
            "volumeClaimTemplates": _CLAIM,
        }
    ),
    "Job": _object(_JOB_SPEC),
    "CronJob": _object(
        {
            **_free(
                "concurrencyPolicy failedJobsHistoryLimit schedule startingDeadlineSeconds successfulJobsHistoryLimit "
                "suspend timeZone"
            ),
            "jobTemplate": {"metadata": _METADATA, "spec": _JOB_SPEC},
        }
    ),
}

#: (apiVersion, kind) → what an object may hold. Others have kinds of these names, too.
SHAPES: Final[dict[tuple[str, str], Shape]] = {
    (KINDS[kind][0] if kind in KINDS else "v1", kind): shape for kind, shape in _OF_KINDS.items()
}

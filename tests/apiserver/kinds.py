"""The resources that are served: where they live, and what kube-apiserver does with each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

Json = dict[str, Any]

POD_FIELDS = (
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.schedulerName",
    "spec.serviceAccountName",
    "status.phase",
    "status.nominatedNodeName",
)
EVENT_FIELDS = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
)
NEW_EVENT_FIELDS = tuple(
    field.replace("involvedObject", "regarding").replace("reportingComponent", "reportingController")
    for field in EVENT_FIELDS
)


@dataclass(frozen=True)
class Kind:
    """One resource of one API version.

    ``status``: it has a status subresource, so writes to the object leave its status alone and the other way round.
    ``fields``: what field selectors may name beside metadata.name and metadata.namespace.
    ``returned``: a deletion answers with the object; otherwise with a Status (upstream's ReturnDeletedObject).
    ``upserted``: a PUT makes what is not there (upstream's AllowCreateOnUpdate).
    ``stored_as``: the plural of the kind in whose form the objects are kept, where two versions share them.
    """

    group: str
    version: str
    plural: str
    name: str
    namespaced: bool = True
    status: bool = False
    fields: tuple[str, ...] = ()
    returned: bool = False
    upserted: bool = False
    generation: bool = False
    stored_as: tuple[str, str] | None = None

    @cached_property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @cached_property
    def resource(self) -> str:
        """As messages name it: ``pods``, ``leases.coordination.k8s.io``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def key(self) -> tuple[str, str]:
        return self.group, self.plural

    @cached_property
    def prefix(self) -> bytes:
        """How every encoded object begins; items of lists begin without it."""
        return f'{{"kind":"{self.name}","apiVersion":"{self.api_version}",'.encode()


EVENTS = Kind("", "v1", "events", "Event", fields=EVENT_FIELDS, upserted=True)
NEW_EVENTS = Kind(
    "events.k8s.io", "v1", "events", "Event", fields=NEW_EVENT_FIELDS, upserted=True, stored_as=("", "events")
)
PODS = Kind("", "v1", "pods", "Pod", status=True, fields=POD_FIELDS, returned=True, generation=True)
NODES = Kind("", "v1", "nodes", "Node", namespaced=False, status=True, fields=("spec.unschedulable",))
NAMESPACES = Kind("", "v1", "namespaces", "Namespace", namespaced=False, status=True, fields=("status.phase",))
LEASES = Kind("coordination.k8s.io", "v1", "leases", "Lease", upserted=True)
PRIORITY_CLASSES = Kind("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False)
CLAIMS = Kind("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", status=True, returned=True)
VOLUMES = Kind("", "v1", "persistentvolumes", "PersistentVolume", namespaced=False, status=True, returned=True)
BUDGETS = Kind("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", status=True, generation=True)
DEVICE_CLAIMS = Kind("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", status=True, returned=True)

KINDS = (
    PODS,
    NODES,
    NAMESPACES,
    CLAIMS,
    VOLUMES,
    EVENTS,
    NEW_EVENTS,
    LEASES,
    PRIORITY_CLASSES,
    BUDGETS,
    DEVICE_CLAIMS,
    Kind("", "v1", "services", "Service", status=True, returned=True),
    Kind("", "v1", "replicationcontrollers", "ReplicationController", status=True, generation=True),
    Kind("", "v1", "configmaps", "ConfigMap"),
    Kind("", "v1", "secrets", "Secret", fields=("type",)),
    Kind("", "v1", "serviceaccounts", "ServiceAccount", returned=True),
    Kind("", "v1", "limitranges", "LimitRange"),
    Kind("", "v1", "resourcequotas", "ResourceQuota", status=True, returned=True),
    Kind("apps", "v1", "replicasets", "ReplicaSet", status=True, generation=True),
    Kind("apps", "v1", "statefulsets", "StatefulSet", status=True, generation=True),
    Kind("apps", "v1", "deployments", "Deployment", status=True, generation=True),
    Kind("apps", "v1", "daemonsets", "DaemonSet", status=True, generation=True),
    Kind("batch", "v1", "jobs", "Job", status=True, generation=True),
    Kind("storage.k8s.io", "v1", "csinodes", "CSINode", namespaced=False, returned=True),
    Kind("storage.k8s.io", "v1", "csidrivers", "CSIDriver", namespaced=False, returned=True),
    Kind("storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity"),
    Kind("storage.k8s.io", "v1", "storageclasses", "StorageClass", namespaced=False, returned=True),
    Kind("storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", namespaced=False, status=True, returned=True),
    Kind("resource.k8s.io", "v1", "resourceslices", "ResourceSlice", namespaced=False, returned=True),
    Kind("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", namespaced=False, returned=True),
    Kind("resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", returned=True),
    Kind("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False),
    Kind("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False),
    Kind("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False),
    Kind("rbac.authorization.k8s.io", "v1", "roles", "Role"),
    Kind("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding"),
)

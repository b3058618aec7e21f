"""Pod groups of scheduling.k8s.io, an alpha API that a stand-in serves where a test asks for it, and their members."""

from __future__ import annotations

from typing import Any, Final

from tests.apiserver.kinds import Json, Kind
from tests.apiserver.manifests import pod

POD_GROUPS: Final = Kind("scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup", status=True, generation=True)
READS_POD_GROUPS: Final = (
    {"apiGroups": ["scheduling.k8s.io"], "resources": ["podgroups"], "verbs": ["get", "list", "watch"]},
)
GATES: Final = "# kube-scheduler --feature-gates=GangScheduling=true,GenericWorkload=true\n"


def pod_group(name: str, minimum: int, namespace: str = "default") -> Json:
    return {
        "apiVersion": POD_GROUPS.api_version,
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": namespace, "generation": 4},
        "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}},
    }


def member(group: str, name: str, **changes: Any) -> Json:
    made = pod(name, **changes)
    made["spec"]["schedulingGroup"] = {"podGroupName": group}
    return made

from __future__ import annotations

from typing import Any

import pytest

from framework.objects import (
    KubernetesObject,
    Namespace,
    Node,
    PersistentVolumeClaim,
    Pod,
    PriorityClass,
    ReplicationController,
    RuntimeClass,
    StorageClass,
    Toleration,
)
from framework.objects.admission import AdmissionError, admit
from framework.objects.selectors import compile_label_selector
from tests.objects.builders import Store, from_manifest, manifest

MAIN = {"name": "main"}


def web(labels: dict[str, str] | None = None, **spec: Any) -> Pod:
    given = manifest("Pod", spec={"containers": [MAIN], **spec})
    given["metadata"]["labels"] = labels or {}
    return from_manifest(Pod, given)


def admitted(pod: Pod, *objects: KubernetesObject, stored: bool = False) -> Pod:
    result = admit(pod, Store(objects), stored=stored)
    assert not isinstance(result, AdmissionError), result
    assert admit(result, Store(objects), stored=stored) == result, "admission changes what it admitted"
    return result


def refusal(obj: KubernetesObject, *objects: KubernetesObject) -> str:
    result = admit(obj, Store(objects))
    assert isinstance(result, AdmissionError)
    return str(result)


def priority_class(name: str, value: int, **fields: Any) -> PriorityClass:
    given = manifest("PriorityClass", "scheduling.k8s.io/v1", name=name, value=value, **fields)
    return from_manifest(PriorityClass, given)


def test_defaults_of_a_pod() -> None:
    spec = admitted(web()).spec
    assert (spec.scheduler_name, spec.restart_policy, spec.termination_grace_period_seconds) == (
        "default-scheduler",
        "Always",
        30,
    )
    assert admitted(web()).metadata.namespace == "default"


def test_requests_default_to_limits_one_by_one() -> None:
    limited = {"name": "a", "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}}}
    unlimited = {"name": "b", "resources": {"requests": {"cpu": "1"}}}
    spec = admitted(web(containers=[limited, unlimited], initContainers=[{**limited, "name": "c"}])).spec
    assert spec.containers[0].resources.requests == {"cpu": "1", "memory": "1Gi"}
    assert spec.containers[1].resources.requests == {"cpu": "1"}
    assert spec.init_containers[0].resources.requests == {"cpu": "1", "memory": "1Gi"}


def test_resources_are_rounded_up_to_thousandths() -> None:
    given = web(containers=[{"name": "a", "resources": {"requests": {"cpu": "500u", "memory": "0.1"}}}])
    assert admitted(given).spec.containers[0].resources.requests == {"cpu": "1m", "memory": "0.1"}


@pytest.mark.parametrize(
    ("resources", "requests", "want"),
    [
        # Overcommittable resources take the containers' sum, others and unnamed ones the pod's limit.
        ({"limits": {"cpu": "4", "memory": "4Gi"}}, {"cpu": "300m"}, {"cpu": "600m", "memory": "4Gi"}),
        ({"limits": {"cpu": "4"}, "requests": {"cpu": "3"}}, {"cpu": "1"}, {"cpu": "3"}),
        ({"requests": {"cpu": "3"}}, {"memory": "1Gi"}, {"cpu": "3"}),
        ({}, {"cpu": "1"}, None),
    ],
)
def test_pod_level_requests(resources: dict[str, Any], requests: dict[str, str], want: dict[str, str] | None) -> None:
    containers = [{"name": name, "resources": {"requests": requests}} for name in "ab"]
    spec = admitted(web(resources=resources, containers=containers)).spec
    assert spec.resources is not None
    assert spec.resources.requests == want


def test_pod_level_hugepages_follow_the_containers_limits() -> None:
    huge = {"hugepages-2Mi": "4Mi", "memory": "1Gi"}
    containers = [{"name": name, "resources": {"limits": huge}} for name in "ab"]
    spec = admitted(web(resources={"limits": {"memory": "4Gi"}}, containers=containers)).spec
    assert spec.resources is not None
    assert spec.resources.limits == {"memory": "4Gi", "hugepages-2Mi": "8Mi"}
    assert spec.resources.requests == {"memory": "2Gi", "hugepages-2Mi": "8Mi"}


def test_ports() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81, "protocol": "UDP"}]
    got = [
        (p.host_port, p.protocol) for p in admitted(web(containers=[{**MAIN, "ports": ports}])).spec.containers[0].ports
    ]
    assert got == [(0, "TCP"), (81, "UDP")]
    host = admitted(web(hostNetwork=True, containers=[{**MAIN, "ports": ports}])).spec.containers[0].ports
    assert [p.host_port for p in host] == [80, 81]


def test_priority_without_any_class() -> None:
    spec = admitted(web()).spec
    assert (spec.priority, spec.priority_class_name, spec.preemption_policy) == (0, "", "PreemptLowerPriority")


def test_priority_of_the_global_default() -> None:
    low = priority_class("low", 5, globalDefault=True, preemptionPolicy="Never")
    high = priority_class("high", 50, globalDefault=True)
    spec = admitted(web(), high, low).spec
    assert (spec.priority, spec.priority_class_name, spec.preemption_policy) == (5, "low", "Never")


def test_priority_of_a_named_class() -> None:
    spec = admitted(web(priorityClassName="high"), priority_class("high", 50)).spec
    assert (spec.priority, spec.preemption_policy) == (50, "PreemptLowerPriority")
    assert admitted(web(priorityClassName="system-node-critical")).spec.priority == 2_000_001_000
    assert admitted(web(priorityClassName="system-cluster-critical")).spec.priority == 2_000_000_000


def test_priorities_that_are_refused() -> None:
    high = priority_class("high", 50, preemptionPolicy="Never")
    assert refusal(web(priorityClassName="x")) == 'pods "web-1" is forbidden: no PriorityClass with name x was found'
    assert refusal(web(priorityClassName="high", priority=7), high) == (
        'pods "web-1" is forbidden: the integer value of priority (7) must not be provided in pod spec; '
        "priority admission controller computed 50 from the given PriorityClass name"
    )
    assert refusal(web(priorityClassName="high", preemptionPolicy="PreemptLowerPriority"), high) == (
        'pods "web-1" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided '
        "in pod spec; priority admission controller computed Never from the given PriorityClass name"
    )
    assert refusal(priority_class("new", 1, globalDefault=True), priority_class("old", 1, globalDefault=True)) == (
        'priorityclasses.scheduling.k8s.io "new" is forbidden: '
        "PriorityClass old is already marked as default. Only one default can exist"
    )


def test_what_a_cluster_stored_keeps_its_priority() -> None:
    stored = web(priority=7, priorityClassName="gone", overhead={"cpu": "1"}, runtimeClassName="gone")
    got = admitted(stored, stored=True).spec
    assert (got.priority, got.overhead) == (7, {"cpu": "1"})
    assert isinstance(admit(web(priorityClassName="gone"), Store(), stored=True), AdmissionError)


def runtime_class(**fields: Any) -> RuntimeClass:
    given = manifest("RuntimeClass", "node.k8s.io/v1", name="gvisor", handler="runsc", **fields)
    return from_manifest(RuntimeClass, given)


def test_overhead_of_the_runtime_class() -> None:
    gvisor = runtime_class(overhead={"podFixed": {"cpu": "250m"}})
    assert admitted(web(runtimeClassName="gvisor"), gvisor).spec.overhead == {"cpu": "250m"}
    assert admitted(web(runtimeClassName="gvisor", overhead={"cpu": "0.25"}), gvisor).spec.overhead == {"cpu": "250m"}
    assert admitted(web(overhead={"cpu": "1"})).spec.overhead == {"cpu": "1"}
    assert refusal(web(runtimeClassName="gvisor")) == (
        'pods "web-1" is forbidden: pod rejected: RuntimeClass "gvisor" not found'
    )
    assert refusal(web(runtimeClassName="gvisor", overhead={"cpu": "1"}), gvisor).endswith(
        "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
    )
    assert refusal(web(runtimeClassName="gvisor", overhead={"cpu": "1"}), runtime_class()).endswith(
        "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
    )


def test_scheduling_of_the_runtime_class() -> None:
    wide = {"key": "sandbox", "operator": "Exists"}
    gvisor = runtime_class(scheduling={"nodeSelector": {"sandbox": "yes"}, "tolerations": [wide]})
    narrow = {"key": "sandbox", "operator": "Equal", "value": "x", "effect": "NoSchedule"}
    other = {"key": "spot", "operator": "Exists"}
    spec = admitted(
        web(runtimeClassName="gvisor", nodeSelector={"disk": "ssd"}, tolerations=[narrow, other]), gvisor
    ).spec
    assert spec.node_selector == {"disk": "ssd", "sandbox": "yes"}
    assert spec.tolerations == (
        Toleration(key="spot", operator="Exists"),
        Toleration(key="sandbox", operator="Exists"),
    )
    assert refusal(web(runtimeClassName="gvisor", nodeSelector={"sandbox": "no"}), gvisor) == (
        'pods "web-1" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[sandbox] = yes; '
        "pod.spec.nodeSelector[sandbox] = no"
    )


def test_label_keys_are_merged_into_selectors() -> None:
    term = {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "matchLabelKeys": ["version", "absent"],
        "mismatchLabelKeys": ["tenant"],
    }
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {},
        "matchLabelKeys": ["version"],
    }
    preferred = [{"weight": 1, "podAffinityTerm": term}]
    got = admitted(
        web(
            {"version": "2", "tenant": "a"},
            topologySpreadConstraints=[constraint],
            affinity={
                "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
                "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred},
            },
        )
    ).spec
    assert str(compile_label_selector(got.topology_spread_constraints[0].label_selector)) == "version=2"
    assert got.affinity is not None
    assert got.affinity.pod_affinity is not None
    assert got.affinity.pod_anti_affinity is not None
    required = got.affinity.pod_affinity.required_during_scheduling_ignored_during_execution[0]
    weighted = got.affinity.pod_anti_affinity.preferred_during_scheduling_ignored_during_execution[0]
    for merged in (required, weighted.pod_affinity_term):
        assert str(compile_label_selector(merged.label_selector)) == "app=web,tenant!=a,version=2"


def test_a_key_that_the_selector_has_already_is_refused() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"version": "1"}},
        "matchLabelKeys": ["version"],
    }
    assert refusal(web({"version": "2"}, topologySpreadConstraints=[constraint])) == (
        'Pod "web-1" is invalid: spec.topologySpreadConstraints[0][0]: Invalid value: "version": '
        "exists in both matchLabelKeys and labelSelector"
    )


def test_invalid_objects_are_refused_in_one_sentence() -> None:
    assert refusal(web(containers=[])) == 'Pod "web-1" is invalid: spec.containers: Required value'
    assert refusal(web(containers=[{}, {}])) == (
        'Pod "web-1" is invalid: [spec.containers[0].name: Required value, spec.containers[1].name: Required value]'
    )
    assert not isinstance(admit(web(containers=[]), Store(), validate=False), AdmissionError)


def test_nodes_and_namespaces() -> None:
    node = admit(from_manifest(Node, manifest("Node", status={"capacity": {"cpu": "4"}})), Store())
    assert isinstance(node, Node)
    assert node.status.allocatable == {"cpu": "4"}
    less = {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3"}}
    kept = admit(from_manifest(Node, manifest("Node", status=less)), Store())
    assert isinstance(kept, Node)
    assert kept.status.allocatable == {"cpu": "3"}
    namespace = admit(from_manifest(Namespace, manifest("Namespace", name="shop")), Store())
    assert isinstance(namespace, Namespace)
    assert namespace.metadata.labels == {"kubernetes.io/metadata.name": "shop"}


def storage_class(name: str, *, created: str | None = None, default: bool = True) -> StorageClass:
    given = manifest("StorageClass", "storage.k8s.io/v1", name=name)
    given["metadata"]["creationTimestamp"] = created
    given["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": str(default).lower()}
    return from_manifest(StorageClass, given)


def test_claims_take_the_newest_default_class() -> None:
    classes = (
        storage_class("old", created="2025-01-01T00:00:00Z"),
        storage_class("b", created="2026-01-01T00:00:00Z"),
        storage_class("a", created="2026-01-01T00:00:00Z"),
        storage_class("newest", created="2027-01-01T00:00:00Z", default=False),
    )

    def class_of(spec: dict[str, Any], *given: StorageClass) -> str | None:
        claim = from_manifest(PersistentVolumeClaim, manifest("PersistentVolumeClaim", spec=spec))
        result = admit(claim, Store(given))
        assert isinstance(result, PersistentVolumeClaim)
        return result.spec.storage_class_name

    assert class_of({}, *classes) == "a"
    assert class_of({"storageClassName": ""}, *classes) == ""
    assert class_of({}) is None


def test_a_controller_selects_what_its_template_makes() -> None:
    template = {"metadata": {"labels": {"app": "web"}}}
    given = manifest("ReplicationController", spec={"template": template})
    got = admit(from_manifest(ReplicationController, given), Store())
    assert isinstance(got, ReplicationController)
    assert got.spec.selector == {"app": "web"}

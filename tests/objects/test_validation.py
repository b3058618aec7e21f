from __future__ import annotations

from typing import Any

import pytest

from framework.objects import KubeObject
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from framework.objects.errors import ObjectError
from framework.objects.validation import check_object, validate_object
from tests.objects.builders import manifest

MAIN = {"name": "main"}


def web(**spec: Any) -> dict[str, Any]:
    return manifest("Pod", spec={"containers": [MAIN], **spec})


def main(**fields: Any) -> list[dict[str, Any]]:
    return [{**MAIN, **fields}]


def resources(requests: dict[str, Any] | None = None, **limits: Any) -> dict[str, Any]:
    return web(containers=main(resources={"requests": requests or {}, "limits": limits}))


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def spread(**fields: Any) -> dict[str, Any]:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **fields}
    return web(topologySpreadConstraints=[constraint])


def anti(**term: Any) -> dict[str, Any]:
    return web(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


NEGATIVE = "must be greater than or equal to 0"
NO_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NODE_PATH = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
ANTI_PATH = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
SPREAD = "spec.topologySpreadConstraints[0]"

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [MAIN]}}, "metadata.name: Required value"),
    "no containers": (web(containers=[]), "spec.containers: Required value"),
    "a container without a name": (web(containers=[{}]), "spec.containers[0].name: Required value"),
    "two containers of one name": (web(containers=[MAIN, MAIN]), 'spec.containers[1].name: Duplicate value: "main"'),
    "an init container named as a container": (
        web(initContainers=[MAIN]),
        'spec.initContainers[0].name: Duplicate value: "main"',
    ),
    "a negative request": (
        resources({"cpu": "-1"}),
        f'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": {NEGATIVE}',
    ),
    "no quantity": (
        resources({"cpu": "much"}),
        f'spec.containers[0].resources.requests[cpu]: Invalid value: "much": {NO_QUANTITY}',
    ),
    "more requested than allowed": (
        resources({"cpu": "2"}, cpu="1"),
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
    ),
    "half a device": (
        resources(None, **{"example.com/gpu": "0.5"}),
        'spec.containers[0].resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
    ),
    "a device without limit": (
        resources({"example.com/gpu": "1"}),
        "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
    ),
    "an unknown resource": (
        resources({"gpu": "1"}),
        'spec.containers[0].resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for containers',
    ),
    "a pod-level resource that there is not": (
        web(resources={"requests": {"ephemeral-storage": "1"}}),
        'spec.resources.requests[ephemeral-storage]: Unsupported value: "ephemeral-storage": '
        'supported values: "cpu", "hugepages-", "memory"',
    ),
    "a port out of range": (
        web(containers=main(ports=[{"containerPort": 70000}])),
        "spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
    ),
    "a port twice": (
        web(containers=main(ports=[{"containerPort": 1, "hostPort": 80}, {"containerPort": 2, "hostPort": 80}])),
        'spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"',
    ),
    "a host port other than the container's on the host network": (
        web(hostNetwork=True, containers=main(ports=[{"containerPort": 1, "hostPort": 80}])),
        "spec.containers[0].ports[0].hostPort: Invalid value: 80: must match `containerPort` when "
        "`hostNetwork` is true",
    ),
    "an unknown protocol": (
        web(containers=main(ports=[{"containerPort": 1, "protocol": "ICMP"}])),
        'spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"',
    ),
    "a node term with an unknown operator": (
        web(affinity=required({"matchExpressions": [{"key": "zone", "operator": "Near"}]})),
        f'{NODE_PATH}[0].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
    ),
    "a node term without values": (
        web(affinity=required({"matchExpressions": [{"key": "zone", "operator": "In"}]})),
        f"{NODE_PATH}[0].matchExpressions[0].values: Required value: "
        "must be specified when `operator` is 'In' or 'NotIn'",
    ),
    "no node terms": (
        web(affinity=required()),
        f"{NODE_PATH}: Required value: must have at least one node selector term",
    ),
    "a field that nodes do not have": (
        web(affinity=required({"matchFields": [{"key": "spec.x", "operator": "In", "values": ["a"]}]})),
        f'{NODE_PATH}[0].matchFields[0].key: Invalid value: "spec.x": not a valid field selector key',
    ),
    "anti-affinity without topology": (
        anti(labelSelector={}),
        f"{ANTI_PATH}.topologyKey: Required value: can not be empty",
    ),
    "label keys without a selector": (
        anti(topologyKey="zone", matchLabelKeys=["v"]),
        f"{ANTI_PATH}.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
    ),
    "label keys in both lists": (
        anti(topologyKey="zone", labelSelector={}, matchLabelKeys=["v"], mismatchLabelKeys=["v"]),
        f'{ANTI_PATH}.matchLabelKeys[0]: Invalid value: "v": exists in both matchLabelKeys and mismatchLabelKeys',
    ),
    "a selector with an unknown operator": (
        anti(topologyKey="zone", labelSelector={"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}),
        f'{ANTI_PATH}.labelSelector.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator',
    ),
    "no skew": (spread(maxSkew=0), f"{SPREAD}.maxSkew: Invalid value: 0: must be greater than zero"),
    "an unknown way to be unsatisfied": (
        spread(whenUnsatisfiable="Maybe"),
        f'{SPREAD}.whenUnsatisfiable: Unsupported value: "Maybe": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ),
    "domains of a soft constraint": (
        spread(whenUnsatisfiable="ScheduleAnyway", minDomains=2),
        f"{SPREAD}.minDomains: Invalid value: 2: "
        "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway",
    ),
    "an unknown policy": (
        spread(nodeTaintsPolicy="Obey"),
        f'{SPREAD}.nodeTaintsPolicy: Unsupported value: "Obey": supported values: "Honor", "Ignore"',
    ),
    "a toleration of nothing": (
        web(tolerations=[{"operator": "Equal"}]),
        'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, '
        'which means \\"match all values and all keys\\"'.replace("\\", ""),
    ),
    "a toleration with an unknown operator": (
        web(tolerations=[{"key": "a", "operator": "Near"}]),
        'spec.tolerations[0].operator: Unsupported value: "Near": supported values: "Equal", "Exists"',
    ),
    "a toleration with an unknown effect": (
        web(tolerations=[{"key": "a", "operator": "Exists", "effect": "Maybe"}]),
        'spec.tolerations[0].effect: Unsupported value: "Maybe": '
        'supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ),
    "a gate twice": (
        web(schedulingGates=[{"name": "a"}, {"name": "a"}]),
        'spec.schedulingGates[1]: Duplicate value: "a"',
    ),
    "a priority beyond 32 bits": (
        web(priority=1 << 40),
        f"spec.priority: Invalid value: {1 << 40}: must fit in 32 bits",
    ),
    "negative capacity": (
        manifest("Node", status={"capacity": {"cpu": "-4"}}),
        f'status.capacity.cpu: Invalid value: "-4": {NEGATIVE}',
    ),
    "a taint without effect": (
        manifest("Node", spec={"taints": [{"key": "a"}]}),
        "spec.taints[0].effect: Required value",
    ),
    "declared features in no order": (
        manifest("Node", status={"declaredFeatures": ["B", "A"]}),
        'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
    ),
    "a feature declared twice": (
        manifest("Node", status={"declaredFeatures": ["A/a", "A/a"]}),
        'status.declaredFeatures[1]: Duplicate value: "A/a"',
    ),
    "a feature that is no name": (
        manifest("Node", status={"declaredFeatures": ["a-b"]}),
        'status.declaredFeatures[0]: Invalid value: "a-b": invalid feature name "a-b": must start with',
    ),
    "a namespace on a node": (
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "namespace": "shop"}},
        "metadata.namespace: Forbidden: not allowed on this type",
    ),
    "a class above what users may have": (
        manifest("PriorityClass", "scheduling.k8s.io/v1", value=2_000_000_000),
        "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
    ),
    "an unknown preemption policy": (
        manifest("PriorityClass", "scheduling.k8s.io/v1", preemptionPolicy="Maybe"),
        'preemptionPolicy: Unsupported value: "Maybe": supported values: "PreemptLowerPriority", "Never"',
    ),
    "a gang of nobody": (
        manifest("PodGroup", "scheduling.x-k8s.io/v1alpha1", spec={"minMember": 0}),
        "spec.minMember: Invalid value: 0: should be greater than or equal to 1",
    ),
    "a budget both ways": (
        manifest("PodDisruptionBudget", "policy/v1", spec={"minAvailable": 1, "maxUnavailable": "50%"}),
        'spec: Invalid value: {"minAvailable":1,"maxUnavailable":"50%"}: '
        "minAvailable and maxUnavailable cannot be both set",
    ),
    "a label that is none": (
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "labels": {"a b": ""}}},
        'metadata.labels: Invalid value: "a b": name part must consist of',
    ),
    "a time that is none": (
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "creationTimestamp": "noon"}},
        'metadata.creationTimestamp: Invalid value: "noon"',
    ),
    "an unknown kind without a name": ({"apiVersion": "v1", "kind": "Widget"}, "metadata.name: Required value"),
}


# Where defaults carry the same mistake on, or one mistake breaks several rules.
MORE_THAN_ONE = {"half a device": 2, "negative capacity": 2, "anti-affinity without topology": 3}


def decoded(given: dict[str, Any]) -> KubeObject:
    return with_defaults(decode_manifest(given))


@pytest.mark.parametrize("case", WRONG)
def test_complaints_are_the_api_servers(case: str) -> None:
    given, want = WRONG[case]
    errors = validate_object(decoded(given))
    assert errors, "nothing was found"
    assert errors[0].text.startswith(want)
    assert len(errors) == MORE_THAN_ONE.get(case, 1)


SOUND: dict[str, dict[str, Any]] = {
    "a plain pod": web(),
    "a pod with everything": web(
        initContainers=[{"name": "init", "restartPolicy": "Always"}],
        hostNetwork=True,
        nodeSelector={"zone": "a"},
        tolerations=[{"operator": "Exists"}, {"key": "a", "value": "b", "effect": "NoExecute", "tolerationSeconds": 3}],
        affinity=required({"matchExpressions": [{"key": "cpus", "operator": "Gt", "values": ["4"]}]}),
        schedulingGates=[{"name": "example.com/quota"}],
        overhead={"cpu": "250m"},
        priority=-5,
    ),
    "requests at their limits": resources({"cpu": "1", "example.com/gpu": 1}, cpu="1000m", **{"example.com/gpu": "1"}),
    "one host port over two protocols": web(
        containers=main(
            ports=[
                {"containerPort": 53, "hostPort": 53, "protocol": "UDP"},
                {"containerPort": 53, "hostPort": 53, "protocol": "TCP"},
            ]
        )
    ),
    "taints that repeat": manifest(
        "Node", spec={"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]}
    ),
    "a system class": manifest("PriorityClass", "scheduling.k8s.io/v1", name="system-x", value=2_000_000_000),
    "names with dots": manifest("Node", name="ip-10-0-0-1.ec2.internal"),
}


@pytest.mark.parametrize("case", SOUND)
def test_sound_objects(case: str) -> None:
    assert validate_object(decoded(SOUND[case])) == []


def test_all_complaints_are_listed_with_the_object() -> None:
    given = manifest("Pod", spec={"containers": [{"resources": {"requests": {"cpu": "-1"}}}]})
    with pytest.raises(ObjectError) as refusal:
        check_object(decoded(given))
    assert str(refusal.value).splitlines() == [
        "Pod default/web-1: spec.containers[0].name: Required value",
        f'Pod default/web-1: spec.containers[0].resources.requests[cpu]: Invalid value: "-1": {NEGATIVE}',
    ]


def test_equal_specs_have_the_same_complaints_wherever_their_pods_are() -> None:
    bad = resources({"cpu": "-1"})
    first = validate_object(decoded(bad))
    assert first
    assert validate_object(decoded({**bad, "spec": {**bad["spec"], "nodeName": "n1"}})) == first
    there = validate_object(decoded({**bad, "spec": {**bad["spec"], "nodeName": "N_1"}}))
    assert [error.path for error in there] == [*(error.path for error in first), "spec.nodeName"]


def test_amounts_of_more_than_64_bits_are_checked_too() -> None:
    assert validate_object(decoded(resources({"cpu": -(10**20)})))

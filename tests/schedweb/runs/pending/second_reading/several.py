"""Several reasons, and what would help."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.schedweb.runs.pending.second_reading.cluster import Cluster, Manifest, quantity
from tests.schedweb.runs.pending.second_reading.sentences import says


@says(r"None of the (?P<n>\d+) nodes that it may use takes it: (?P<reasons>.+?)\.(?= |$)")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    """Each reason holds on at least as many nodes as it says: Filter tells the first of several."""
    usable = [node for node in c.nodes if c.may_use(pod, node)]
    counts = 0
    for clause in m["reasons"].split(", "):
        count, _, said = clause.partition(" ")
        counts += int(count)
        reason = next(reason for part, reason in REFUSALS.items() if part in said)
        if sum(reason(c, pod, node) for node in usable) < int(count):
            return False
    return counts == len(usable) == int(m["n"])


def too_many_volumes(c: Cluster, pod: Manifest, node: str) -> bool:
    limits = [
        each["spec"]["drivers"][0]["allocatable"]["count"]
        for each in c.of_kind("CSINode")
        if each["metadata"]["name"] == node
    ]
    used = {volume["metadata"]["name"] for each in c.on(node) for volume in c.bound_volumes(each)}
    new = {volume["metadata"]["name"] for volume in c.bound_volumes(pod)} - used
    return any(len(used) + len(new) > limit for limit in limits)


def no_volume(c: Cluster, pod: Manifest, node: str) -> bool:
    """Of claims without a volume."""
    classes = {each["metadata"]["name"]: each for each in c.of_kind("StorageClass")}
    for each in c.claims(pod):
        if each["spec"].get("volumeName"):
            continue
        of = classes[each["spec"]["storageClassName"]]
        if any(
            one["spec"].get("storageClassName") == of["metadata"]["name"] and "claimRef" not in one["spec"]
            for one in c.of_kind("PersistentVolume")
        ):
            continue
        places = [one for term in of.get("allowedTopologies", []) for one in term["matchLabelExpressions"]]
        if of["provisioner"] == "kubernetes.io/no-provisioner" or any(
            c.value(node, one["key"]) not in one["values"] for one in places
        ):
            return True
    return False


def no_device(c: Cluster, pod: Manifest, node: str, *, given_back: bool = False) -> bool:
    """``given_back``: were every other claim gone, and its devices free."""
    names = [each["resourceClaimName"] for each in pod["spec"].get("resourceClaims", [])]
    claims = [each for each in c.of_kind("ResourceClaim") if each["metadata"]["name"] in names]
    for claim in claims:
        held = claim.get("status", {}).get("allocation")
        if held is not None:
            if held["devices"]["results"][0]["pool"] != node:
                return True
            continue
        if free_devices(c, node, given_back=given_back) < claim["spec"]["devices"]["requests"][0]["exactly"]["count"]:
            return True
    return False


def free_devices(c: Cluster, node: str, *, given_back: bool = False) -> int:
    published: int = sum(
        len(each["spec"]["devices"]) for each in c.of_kind("ResourceSlice") if each["spec"]["nodeName"] == node
    )
    if given_back:
        return published
    results = [
        one
        for each in c.of_kind("ResourceClaim")
        for one in each.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])
    ]
    return int(published - sum(one["pool"] == node for one in results))


REFUSALS: dict[str, Callable[[Cluster, Manifest, str], bool]] = {
    "no room for another volume": too_many_volumes,
    "no room": lambda c, pod, node: not c.roomy(pod, node),
    "host port": lambda c, pod, node: any(c.ports(pod) & c.ports(each) for each in c.on(node)),
    "ruled out by pod anti-affinity": lambda c, pod, node: any(c.kept_away(pod, node)),
    "that it is spread by": lambda c, pod, node: any(
        each["topologyKey"] not in c.labels(node) for each in pod["spec"]["topologySpreadConstraints"]
    ),
    "break its spreading": lambda c, pod, node: any(
        c.value(node, each["topologyKey"]) not in c.open_domains(pod, each)
        for each in pod["spec"]["topologySpreadConstraints"]
    ),
    "cannot have its volumes": no_volume,
    "the devices": no_device,
}


@says(r"No pod that leaves would change that\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    """With every other pod gone it would fit nowhere, or there is nothing that could leave."""
    return movable(c, pod) == 0


@says(r"Pods that leave can make room on (?P<can>\d+), not on the other (?P<rest>\d+|one)\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    rest = 1 if m["rest"] == "one" else int(m["rest"])
    return movable(c, pod) == int(m["can"]) == len(c.nodes) - rest


def movable(c: Cluster, pod: Manifest) -> int:
    """Nodes that it may use and that are large enough: all that stands between is pods."""
    if any(quantity(each["capacity"]) < 10 * (1 << 30) for each in c.of_kind("CSIStorageCapacity")):
        return 0
    return sum(
        c.may_use(pod, node)
        and c.large(pod, node)
        and not no_volume(c, pod, node)
        and not no_device(c, pod, node, given_back=True)
        and pod["spec"].get("hostUsers") is not False
        and all(each["topologyKey"] in c.labels(node) for each in pod["spec"].get("topologySpreadConstraints", []))
        and c.profile_wants.items() <= c.labels(node).items()
        for node in c.nodes
    )

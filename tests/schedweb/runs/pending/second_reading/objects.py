"""Claims, volumes, devices and what stands before the queue."""

from __future__ import annotations

import re

from tests.schedweb.runs.pending.second_reading.cluster import ZONE, Cluster, Manifest, quantity, words
from tests.schedweb.runs.pending.second_reading.sentences import says
from tests.schedweb.runs.pending.second_reading.several import free_devices, no_volume, too_many_volumes


def named_claim(c: Cluster, key: str) -> Manifest | None:
    return next((each for each in c.of_kind("PersistentVolumeClaim") if c.key(each) == key), None)


@says(r"Claim (?P<key>\S+) does not exist\. The pod is tried again when it is created\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return named_claim(c, m["key"]) is None and m["key"].partition("/")[2] in str(pod["spec"]["volumes"])


@says(
    r"Claim (?P<key>\S+) is not bound and (?P<why>its class (?P<c1>\S+) binds immediately|its class (?P<c2>\S+) does not exist|has no storage class)\. No volume was found or made for it, and no node is looked at before there is one\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    claim = named_claim(c, m["key"])
    assert claim is not None
    classes = {each["metadata"]["name"]: each for each in c.of_kind("StorageClass")}
    name = claim["spec"].get("storageClassName", "")
    if claim["spec"].get("volumeName"):
        return False
    if m["c1"]:
        return bool(name == m["c1"] and classes[name]["volumeBindingMode"] == "Immediate")
    return bool(name == m["c2"] and name not in classes if m["c2"] else name == "")


@says(r"Claim (?P<key>\S+) is bound to volume (?P<volume>\S+), which does not exist\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    claim = named_claim(c, m["key"])
    assert claim is not None
    return claim["spec"]["volumeName"] == m["volume"] and not c.bound_volumes(pod)


@says(r"Claim (?P<key>\S+) is being deleted\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return "deletionTimestamp" in (named_claim(c, m["key"]) or {}).get("metadata", {})


@says(r"Claim (?P<key>\S+) is ReadWriteOncePod and (?P<pod>\S+) on (?P<node>\S+) uses it\. That pod has to go first\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    claim = named_claim(c, m["key"])
    users = [each for each in c.places if claim in c.claims(c.pods[each])]
    there = users == [m["pod"]] and c.places[m["pod"]] == m["node"]
    return there and claim is not None and claim["spec"]["accessModes"] == ["ReadWriteOncePod"]


@says(r"On every node that it could use another pod has its disk\. A disk of this kind serves one pod per node\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    own = [each["gcePersistentDisk"]["pdName"] for each in pod["spec"]["volumes"]]
    usable = [node for node in c.nodes if c.may_use(pod, node)]
    return all(
        any(name in str(each["spec"].get("volumes", "")) for each in c.on(node) for name in own) for node in usable
    )


@says(
    r"Volume (?P<volume>\S+) of claim (?P<key>\S+) can be used only (?:in (?P<zone>\S+)|where (?P<label>\S+) is (?P<value>\S+)), and no node (?P<end>there fits|is there)\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    bound = (named_claim(c, m["key"]) or {})["spec"]["volumeName"] == m["volume"]
    key, value = (ZONE, m["zone"]) if m["zone"] else (m["label"], m["value"])
    there = [node for node in c.nodes if c.value(node, key) == value]
    if m["end"] == "is there":
        return bound and not there
    return bound and bool(there) and not any(c.matches(pod, node) for node in there)


@says(r"Class (?P<of>\S+) makes volumes only in (?P<zones>.+?), and no node is there; claim (?P<key>\S+) needs one\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    claim = named_claim(c, m["key"])
    [of] = [each for each in c.of_kind("StorageClass") if each["metadata"]["name"] == m["of"]]
    allowed = {
        zone for term in of["allowedTopologies"] for one in term["matchLabelExpressions"] for zone in one["values"]
    }
    uses = claim is not None and claim["spec"]["storageClassName"] == m["of"] and claim in c.claims(pod)
    return uses and set(words(m["zones"])) == allowed and not any(c.value(node, ZONE) in allowed for node in c.nodes)


@says(
    r"The only free volume for claim (?P<key>\S+), (?P<volume>\S+), can be used only in (?P<zone>\S+), and no node is there\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    claim = named_claim(c, m["key"])
    assert claim is not None
    [volume] = c.free_volumes(claim)
    return (
        volume["metadata"]["name"] == m["volume"]
        and m["zone"] in str(volume["spec"]["nodeAffinity"])
        and not any(c.value(node, ZONE) == m["zone"] for node in c.nodes)
    )


@says(
    r"No free volume of class (?P<of>\S+) fits claim (?P<key>\S+) \((?P<size>\S+)\) on any node that it could use\. This class makes none\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    claim = named_claim(c, m["key"])
    assert claim is not None
    size = claim["spec"]["resources"]["requests"]["storage"]
    return size == m["size"] and all(no_volume(c, pod, node) for node in c.nodes if c.may_use(pod, node))


@says(r"No node that it could use has (?P<size>\S+) of class (?P<of>\S+) left for claim (?P<key>\S+)\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    claim = named_claim(c, m["key"])
    assert claim is not None
    size = claim["spec"]["resources"]["requests"]["storage"]
    left = [
        quantity(each["capacity"]) for each in c.of_kind("CSIStorageCapacity") if each["storageClassName"] == m["of"]
    ]
    return size == m["size"] and max(left, default=0) < quantity(size)


@says(r"Class (?P<of>\S+) cannot make a volume for claim (?P<key>\S+) on any node that it could use\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return all(no_volume(c, pod, node) for node in c.nodes if c.may_use(pod, node))


@says(
    r"Every node that it could use has its (?P<most>\d+) volumes? of (?P<driver>\S+) attached\. A pod with such a volume has to go first\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    drivers = [each["spec"]["drivers"][0] for each in c.of_kind("CSINode")]
    said = all((each["name"], each["allocatable"]["count"]) == (m["driver"], int(m["most"])) for each in drivers)
    return said and all(too_many_volumes(c, pod, node) for node in c.nodes if c.may_use(pod, node))


@says(r"Device class (?P<of>\S+) does not exist; request \S+ asks for it\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return m["of"] not in [each["metadata"]["name"] for each in c.of_kind("DeviceClass")]


@says(r"No node has a free device of class \S+\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return all(free_devices(c, node) == 0 for node in c.nodes)


@says(
    r"There is no ResourceClaimTemplate (?P<key>\S+) to make its ResourceClaim from\. The pod is tried when it is created\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    namespace, name = m["key"].split("/")
    asked = [each.get("resourceClaimTemplateName") for each in pod["spec"]["resourceClaims"]]
    there = [each["metadata"]["name"] for each in c.of_kind("ResourceClaimTemplate")]
    return namespace == pod["metadata"]["namespace"] and name in asked and name not in there


@says(r"No driver published a device\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return not c.of_kind("ResourceSlice")


@says(r"(?P<given>\d+) of (?P<published>\d+) published devices? (?:is|are) allocated\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    published = sum(len(each["spec"]["devices"]) for each in c.of_kind("ResourceSlice"))
    free = sum(free_devices(c, node) for node in c.nodes)
    return (published, published - free) == (int(m["published"]), int(m["given"]))


@says(r"Claim (?P<key>\S+) is allocated (?P<device>\S+), and no node that can reach it can take the pod\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    [held] = [each for each in c.of_kind("ResourceClaim") if c.key(each) == m["key"]]
    [result] = held["status"]["allocation"]["devices"]["results"]
    return result["device"] == m["device"] and not c.roomy(pod, result["pool"])


@says(r"ResourceClaim (?P<key>\S+) does not exist\. The pod is tried when it is created\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return m["key"] not in map(c.key, c.of_kind("ResourceClaim")) and m["key"].partition("/")[2] in str(pod["spec"])


@says(
    r"No node that it could use declares the feature UserNamespacesHostNetworkSupport\. Kubelets list what they support in status\.declaredFeatures\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    declared = [each["status"].get("declaredFeatures", []) for each in c.nodes.values()]
    return pod["spec"]["hostUsers"] is False and not any(
        "UserNamespacesHostNetworkSupport" in each for each in declared
    )


@says(r"Held by (?P<gates>.+?)\. It is not tried until the gates? (?P<verb>is|are) removed\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    gates = [each["name"] for each in pod["spec"]["schedulingGates"]]
    return words(m["gates"]) == gates and (m["verb"] == "are") == (len(gates) > 1)


@says(
    r"No profile of this configuration is called (?P<name>\S+)\. Nobody tries it\. The configuration has the profiles? (?P<names>.+?)\.(?= |$)"
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return pod["spec"]["schedulerName"] == m["name"] and m["name"] not in words(m["names"])


@says(
    r"Its pod group needs (?P<needed>\d+) pods, and there (?:is|are) (?P<there>\d+)\. It is tried when they are there\."
)
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    label = "scheduling.x-k8s.io/pod-group"
    [group] = c.of_kind("PodGroup")
    there = [
        each for each in c.pods.values() if each["metadata"].get("labels", {}).get(label) == group["metadata"]["name"]
    ]
    return (group["spec"]["minMember"], len(there)) == (int(m["needed"]), int(m["there"]))


@says(r"This cluster has no nodes, so every pod stays pending\.")
def _(c: Cluster, pod: Manifest, m: re.Match[str]) -> bool:
    return not c.nodes

"""First sentences about claims, devices, declared features and gangs; schedweb/runs/pending/answers.py asks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from schedweb.runs.filtering.standing import StandingPod
from schedweb.runs.objects.claims import DeviceClaim, Objects, VolumeClaim, device_claims, request_words, volume_claims
from schedweb.runs.objects.selectors import OLD_ZONE, ZONE, zones_of
from schedweb.sentences import both, counted, either, say, translated

Manifest = Mapping[str, Any]
Explanation = tuple[str, str]
_NOT_FOUND: Final = re.compile(r'persistentvolumeclaim "(?P<name>[^"]+)" not found$')
_NOT_MADE: Final = re.compile(r'ephemeral volume controller to create the persistentvolumeclaim "(?P<name>[^"]+)"$')
_LOST: Final = re.compile(
    r'persistentvolumeclaim "(?P<name>[^"]+)" bound to non-existent persistentvolume "(?P<v>.*)"$'
)
_VOLUME_LOST: Final = re.compile(r'^persistentvolume "(?P<v>[^"]+)" not found$')
_GANG: Final = re.compile(r"sibling pods, current pods number: (?P<there>\d+), minMember of group: (?P<needed>\d+)$")
_DELETED: Final = re.compile(r'(?:persistentvolume|resource)claim "(?P<name>[^"]+)" is being deleted$')
_NO_CLASS: Final = re.compile(r"request (?P<request>\S+): device class (?P<class>\S+) does not exist$")
_RESTART_ALL: Final = "RestartAllContainers"


def refused_at_once(plugin: str, message: str, manifest: Manifest, objects: Objects) -> Explanation | None:
    """Of a pod that PreFilter refused; None where nothing more is known than the message."""
    namespace = str(manifest.get("metadata", {}).get("namespace", ""))
    if found := _NOT_FOUND.search(message):
        return say("Claim {namespace}/{name} does not exist.", namespace=namespace, name=found["name"]), say(
            "The pod is tried again when it is created."
        )
    if found := _NOT_MADE.search(message):
        return say(
            "Claim {namespace}/{name} of its ephemeral volume is not made yet.", namespace=namespace, name=found["name"]
        ), ""
    if found := _LOST.search(message):
        return say(
            "Claim {namespace}/{name} is bound to volume {volume}, which does not exist.",
            namespace=namespace,
            name=found["name"],
            volume=found["v"],
        ), ""
    if found := _DELETED.search(message):
        return say("Claim {namespace}/{name} is being deleted.", namespace=namespace, name=found["name"]), ""
    if found := _NO_CLASS.search(message):
        return say(
            "Device class {device_class} does not exist; request {request} asks for it.",
            device_class=found["class"],
            request=found["request"],
        ), ""
    if found := _VOLUME_LOST.search(message):
        lost = [one.key for one in volume_claims(manifest, objects) if one.volume_name == found["v"]]
        if lost:
            return say(
                "Claim {key} is bound to volume {volume_name}, which does not exist.",
                key=lost[0],
                volume_name=found["v"],
            ), ""
    if found := _GANG.search(message):
        return counted(
            "Its pod group needs {needed} pods, and there is {count}.",
            "Its pod group needs {needed} pods, and there are {count}.",
            int(found["there"]),
            needed=int(found["needed"]),
        ), say("It is tried when they are there.")
    if plugin in ("VolumeBinding", "VolumeZone"):
        return _not_bound([one for one in volume_claims(manifest, objects) if one.binds_at_once])
    if plugin == "DynamicResources" and message == "resourceclaim in use":
        names = [one.key for one in device_claims(manifest, objects) if one.allocated is not None]
        used = say("Claim {keys}", keys=both(names)) if len(names) == 1 else say("A claim of this pod")
        return say("{used} is used by as many pods as may share it.", used=used), say("One of them has to go first.")
    return None


def is_there_now(message: str, manifest: Manifest, objects: Objects) -> bool:
    """Of a pod that PreFilter refused because a claim or a device class did not exist."""
    if found := _NOT_FOUND.search(message):
        namespace = str(manifest.get("metadata", {}).get("namespace", ""))
        return objects.get("PersistentVolumeClaim", namespace, found["name"]) is not None
    if found := _NO_CLASS.search(message):
        return objects.get("DeviceClass", "", found["class"]) is not None
    return False


def _not_bound(claims: Sequence[VolumeClaim]) -> Explanation | None:
    if not claims:
        return None
    first, *others = claims
    if first.class_name and first.storage_class is None:
        text = say(
            "Claim {key} is not bound and its class {class_name} does not exist.",
            key=first.key,
            class_name=first.class_name,
        )
    elif first.class_name:
        text = say(
            "Claim {key} is not bound and its class {class_name} binds immediately.",
            key=first.key,
            class_name=first.class_name,
        )
    else:
        text = say("Claim {key} is not bound and has no storage class.", key=first.key)
    keys = both([one.key for one in others])
    more = counted("So is {keys}.", "So are {keys}.", len(others), keys=keys) + " " if others else ""
    return text, more + say("No volume was found or made for it, and no node is looked at before there is one.")


def refused_on_nodes(
    plugin: str,
    reasons: Sequence[str],
    nodes: Iterable[str],
    manifest: Manifest,
    objects: Objects,
    pods: Iterable[StandingPod] = (),
) -> Explanation | None:
    """Of a pod whose nodes Filter refused. `reasons` of the decisive group, `nodes`: its members."""
    text = "; ".join(reasons)
    if plugin in ("VolumeRestrictions", "VolumeBinding", "NodeVolumeLimits"):
        claims = volume_claims(manifest, objects)
        if plugin == "VolumeRestrictions":
            return _restricted(text, claims, pods)
        if plugin == "VolumeBinding":
            return _unbindable(text, claims)
        return _too_many(claims, set(nodes), objects)
    if plugin == "DynamicResources":
        return _devices(text, device_claims(manifest, objects), objects)
    if plugin == "NodeDeclaredFeatures":
        return _features(manifest)
    return None


def _restricted(text: str, claims: Sequence[VolumeClaim], pods: Iterable[StandingPod]) -> Explanation:
    if "ReadWriteOncePod" in text:
        own = [one.key for one in claims if "ReadWriteOncePod" in one.access_modes]
        for key in own:
            if users := [each for each in pods if each.node and key in _claims_of(each)]:
                by = both([say("{pod} on {node}", pod=each.key, node=each.node) for each in users])
                return counted(
                    "Claim {key} is ReadWriteOncePod and {pods} uses it.",
                    "Claim {key} is ReadWriteOncePod and {pods} use it.",
                    len(users),
                    key=key,
                    pods=by,
                ), say("That pod has to go first.") if len(users) == 1 else ""
        named = say("Claim {keys}", keys=both(own)) if len(own) == 1 else say("A claim of this pod")
        return say("{named} is ReadWriteOncePod and another pod uses it.", named=named), say(
            "That pod has to go first."
        )
    return say("On every node that it could use another pod has its disk."), say(
        "A disk of this kind serves one pod per node."
    )


def _claims_of(pod: StandingPod) -> list[str]:
    """Keys of the claims that its manifest names."""
    sources = [each.persistent_volume_claim for each in pod.pod.spec.volumes]
    return [f"{pod.namespace}/{each.claim_name}" for each in sources if each is not None]


def _unbindable(text: str, claims: Sequence[VolumeClaim]) -> Explanation | None:
    unbound = [one for one in claims if one.claim is not None and not one.is_bound]
    if "did not have enough free storage" in text and unbound:
        one = unbound[0]
        return say(
            "No node that it could use has {size} of class {class_name} left for claim {key}.",
            size=one.size,
            class_name=one.class_name,
            key=one.key,
        ), ""
    if "non-existent pv" in text:
        lost = [one for one in claims if one.volume_name and one.persistent_volume is None]
        return (
            (
                say(
                    "Claim {key} is bound to volume {volume_name}, which does not exist.",
                    key=lost[0].key,
                    volume_name=lost[0].volume_name,
                ),
                "",
            )
            if lost
            else None
        )
    if unbound:
        one = unbound[0]
        if one.driver in ("", "kubernetes.io/no-provisioner"):
            what = (
                say("No free volume of class {class_name}", class_name=one.class_name)
                if one.class_name
                else say("No free volume without a class")
            )
            return say(
                "{what} fits claim {key} ({size}) on any node that it could use.", what=what, key=one.key, size=one.size
            ), say("This class makes none.")
        return say(
            "Class {class_name} cannot make a volume for claim {key} on any node that it could use.",
            class_name=one.class_name,
            key=one.key,
        ), ""
    return None


def volume_place(one: VolumeClaim, *, deserted: bool) -> str:
    """Of a bound claim whose volume is where the pod cannot be. ``deserted``: no node is there."""
    about = {"volume_name": one.volume_name, "key": one.key, "where": volume_where(one.persistent_volume or {})}
    if deserted:
        return say("Volume {volume_name} of claim {key} can be used only {where}, and no node is there.", **about)
    return say("Volume {volume_name} of claim {key} can be used only {where}, and no node there fits.", **about)


def no_volume_there(one: VolumeClaim, volumes: Sequence[Manifest], terms: Sequence[Manifest]) -> str:
    """Of an unbound claim. ``volumes``: the free ones that fit it; ``terms``: allowedTopologies of its class. No node
    is in a place of either."""
    if volumes:
        places = list(dict.fromkeys(volume_where(each) for each in volumes))
        return counted(
            "The only free volume for claim {key}, {volumes}, can be used only {where}, and no node is there.",
            "The {count} free volumes for claim {key}, {volumes}, can be used only {where}, and no node is there.",
            len(volumes),
            key=one.key,
            volumes=both([str(each.get("metadata", {}).get("name")) for each in volumes]),
            where=either(places),
        )
    return say(
        "Class {class_name} makes volumes only {where}, and no node is there; claim {key} needs one.",
        class_name=one.class_name,
        where=topologies_where(terms),
        key=one.key,
    )


def topologies_where(terms: Sequence[Manifest]) -> str:
    """``in eu-1a or eu-1b``: allowedTopologies."""
    expressions = [each.get("matchLabelExpressions") or [] for each in terms]
    if all(len(each) == 1 and each[0].get("key") in (ZONE, OLD_ZONE) for each in expressions):
        return say("in {zones}", zones=either([str(value) for each in expressions for value in each[0]["values"]]))
    written = [
        both([say("{key} is {values}", key=one.get("key"), values=either(one.get("values") or [])) for one in each])
        for each in expressions
    ]
    return say("where {terms}", terms=either(written))


def volume_where(volume: Manifest) -> str:
    """``in eu-1a``, ``where kubernetes.io/hostname is n3``."""
    if zones := zones_of(volume):
        return say("in {zones}", zones=either(zones))
    terms = ((volume.get("spec", {}).get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or []
    written = [
        both(
            [
                say("{key} is {values}", key=each.get("key"), values=either(each.get("values") or []))
                if each.get("operator") == "In"
                else f"{each.get('key')} {each.get('operator')} {translated(each.get('values') or [])}".strip()
                for each in (*(term.get("matchExpressions") or []), *(term.get("matchFields") or []))
            ]
        )
        for term in terms
    ]
    return say("where {terms}", terms=either(written))


def _too_many(claims: Sequence[VolumeClaim], nodes: set[str], objects: Objects) -> Explanation:
    drivers = {one.driver for one in claims if one.driver}
    limits = {
        (str(each.get("name")), int((each.get("allocatable") or {}).get("count") or 0))
        for node in objects.all("CSINode")
        if node.get("metadata", {}).get("name") in nodes
        for each in node.get("spec", {}).get("drivers") or []
        if each.get("name") in drivers and (each.get("allocatable") or {}).get("count") is not None
    }
    if len(limits) == 1:
        [(driver, most)] = limits
        return (
            counted(
                "Every node that it could use has its {count} volume of {driver} attached.",
                "Every node that it could use has its {count} volumes of {driver} attached.",
                most,
                driver=driver,
            ),
            say("A pod with such a volume has to go first."),
        )
    return say("Every node that it could use has as many volumes attached as its CSI driver allows."), ""


def allocated_elsewhere(manifest: Manifest, objects: Objects) -> str:
    return _allocated(device_claims(manifest, objects))


def _allocated(claims: Sequence[DeviceClaim]) -> str:
    """Of a claim that has devices already, so the pod must be where they are; "" without one."""
    held = next((one for one in claims if one.allocated), None)
    if held is None:
        return ""
    devices = both(sorted(str(each.get("device")) for each in held.allocated or []))
    return say(
        "Claim {key} is allocated {devices}, and no node that can reach it can take the pod.",
        key=held.key,
        devices=devices,
    )


def _devices(text: str, claims: Sequence[DeviceClaim], objects: Objects) -> Explanation | None:
    if "resourceclaim not available on the node" in text:
        held = _allocated(claims)
        return (held, "") if held else None
    asking = [request for one in claims if one.allocated is None for request in one.requests]
    if not asking:
        return None
    published = sum(len(each.get("spec", {}).get("devices") or []) for each in objects.all("ResourceSlice"))
    given = sum(
        not each.get("adminAccess")
        for claim in objects.all("ResourceClaim")
        for each in DeviceClaim("", "", "", "", claim).allocated or []
    )
    detail = (
        counted(
            "{given} of {count} published device is allocated.",
            "{given} of {count} published devices are allocated.",
            published,
            given=given,
        )
        if published
        else say("No driver published a device.")
    )
    if len(asking) == 1 and asking[0]["count"] is not None and not asking[0]["alternatives"]:
        count, name = asking[0]["count"], asking[0]["device_class"]
        return counted(
            "No node has a free device of class {name}.",
            "No node has {count} free devices of class {name}.",
            count,
            name=name,
        ), detail
    wanted = both([request_words(each) for each in asking])
    return say("No node has all the devices that it asks for: {wanted}.", wanted=wanted), detail


def _features(manifest: Manifest) -> Explanation:
    """What NodeDeclaredFeatures infers from a pod (component-helpers/nodedeclaredfeatures)."""
    spec = manifest.get("spec", {})
    needed = []
    containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    if any(rule.get("action") == _RESTART_ALL for each in containers for rule in each.get("restartPolicyRules") or []):
        needed.append("RestartAllContainersOnContainerExits")
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        needed.append("UserNamespacesHostNetworkSupport")
    what = (
        say("the feature {name}", name=needed[0])
        if len(needed) == 1
        else say("the features {names}", names=both(needed))
        if needed
        else say("what it needs")
    )
    return say("No node that it could use declares {what}.", what=what), say(
        "Kubelets list what they support in status.declaredFeatures."
    )


def held_by_claims(manifest: Manifest, objects: Objects) -> Explanation:
    """Of a pod that DynamicResources keeps out of the queue."""
    missing = [one for one in device_claims(manifest, objects) if one.claim is None]
    if not missing:
        return say("It waits for its ResourceClaims."), say("It is tried when they are there.")
    one = missing[0]
    namespace = str(manifest.get("metadata", {}).get("namespace", ""))
    if not one.name and one.template and objects.get("ResourceClaimTemplate", namespace, one.template) is None:
        return say(
            "There is no ResourceClaimTemplate {namespace}/{template} to make its ResourceClaim from.",
            namespace=namespace,
            template=one.template,
        ), say("The pod is tried when it is created.")
    if not one.name:
        return say("Its ResourceClaim is not made from template {template} yet.", template=one.template), say(
            "It is tried when it is there."
        )
    return say("ResourceClaim {key} does not exist.", key=one.key), say("The pod is tried when it is created.")


def held_by_gang(manifest: Manifest, objects: Objects) -> Explanation:
    """Of a pod that GangScheduling keeps out of the queue."""
    namespace = str(manifest.get("metadata", {}).get("namespace", ""))
    name = str((manifest.get("spec", {}).get("schedulingGroup") or {}).get("podGroupName", ""))
    group = objects.get("PodGroup.scheduling.k8s.io", namespace, name)
    if group is None:
        return say("Its pod group {namespace}/{name} does not exist.", namespace=namespace, name=name), say(
            "It is tried when the group is created."
        )
    policy = group.get("spec", {}).get("schedulingPolicy") or {}
    needed = (policy.get("gang") or {}).get("minCount")
    if needed is None:
        return say("It waits for its pod group {namespace}/{name}.", namespace=namespace, name=name), ""
    return (
        say(
            "Its pod group {namespace}/{name} needs {needed} pods, and not all of them are there.",
            namespace=namespace,
            name=name,
            needed=needed,
        ),
        say("It is tried when they are."),
    )

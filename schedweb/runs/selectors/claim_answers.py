"""First sentences about claims, devices, declared features and gangs; schedweb/runs/selectors/answers.py asks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from schedweb.engine.words import joined
from schedweb.runs.selectors.claims import (
    DeviceClaim,
    Objects,
    VolumeClaim,
    device_claims,
    request_words,
    volume_claims,
)
from schedweb.runs.selectors.objects import zones_of

Manifest = Mapping[str, Any]
Sentence = tuple[str, str]
_NOT_FOUND: Final = re.compile(r'persistentvolumeclaim "(?P<name>[^"]+)" not found$')
_NOT_MADE: Final = re.compile(r'ephemeral volume controller to create the persistentvolumeclaim "(?P<name>[^"]+)"$')
_LOST: Final = re.compile(
    r'persistentvolumeclaim "(?P<name>[^"]+)" bound to non-existent persistentvolume "(?P<v>.*)"$'
)
_DELETED: Final = re.compile(r'(?:persistentvolume|resource)claim "(?P<name>[^"]+)" is being deleted$')
_NO_CLASS: Final = re.compile(r"request (?P<request>\S+): device class (?P<class>\S+) does not exist$")
_RESTART_ALL: Final = "RestartAllContainers"


def refused_at_once(plugin: str, message: str, manifest: Manifest, objects: Objects) -> Sentence | None:
    """Of a pod that PreFilter refused; None where nothing more is known than the message."""
    namespace = str(manifest.get("metadata", {}).get("namespace", ""))
    if found := _NOT_FOUND.search(message):
        return f"Claim {namespace}/{found['name']} does not exist.", "The pod is tried again when it is created."
    if found := _NOT_MADE.search(message):
        return f"Claim {namespace}/{found['name']} of its ephemeral volume is not made yet.", ""
    if found := _LOST.search(message):
        return f"Claim {namespace}/{found['name']} is bound to volume {found['v']}, which does not exist.", ""
    if found := _DELETED.search(message):
        return f"Claim {namespace}/{found['name']} is being deleted.", ""
    if found := _NO_CLASS.search(message):
        return f"Device class {found['class']} does not exist; request {found['request']} asks for it.", ""
    if plugin in ("VolumeBinding", "VolumeZone"):
        return _not_bound([one for one in volume_claims(manifest, objects) if one.binds_at_once])
    if plugin == "DynamicResources" and message == "resourceclaim in use":
        names = [one.key for one in device_claims(manifest, objects) if one.allocated is not None]
        used = f"Claim {joined(names)}" if len(names) == 1 else "A claim of this pod"
        return f"{used} is used by as many pods as may share it.", "One of them has to go first."
    return None


def _not_bound(claims: Sequence[VolumeClaim]) -> Sentence | None:
    if not claims:
        return None
    first, *others = claims
    if first.class_name and first.storage_class is None:
        said = f"Claim {first.key} is not bound and its class {first.class_name} does not exist."
    elif first.class_name:
        said = f"Claim {first.key} is not bound and its class {first.class_name} binds immediately."
    else:
        said = f"Claim {first.key} is not bound and has no storage class."
    more = f"So {'is' if len(others) == 1 else 'are'} {joined([one.key for one in others])}. " if others else ""
    return said, f"{more}No volume was found or made for it, and no node is looked at before there is one."


def refused_on_nodes(
    plugin: str, reasons: Sequence[str], nodes: Iterable[str], manifest: Manifest, objects: Objects
) -> Sentence | None:
    """Of a pod whose nodes Filter refused. `reasons` of the decisive group, `nodes`: its members."""
    said = "; ".join(reasons)
    if plugin in ("VolumeRestrictions", "VolumeBinding", "VolumeZone", "NodeVolumeLimits"):
        claims = volume_claims(manifest, objects)
        if plugin == "VolumeRestrictions":
            return _restricted(said, claims)
        if plugin == "VolumeBinding":
            return _unbindable(said, claims)
        return _other_zone(claims) if plugin == "VolumeZone" else _too_many(claims, set(nodes), objects)
    if plugin == "DynamicResources":
        return _devices(said, device_claims(manifest, objects), objects)
    if plugin == "NodeDeclaredFeatures":
        return _features(manifest)
    return None


def _restricted(said: str, claims: Sequence[VolumeClaim]) -> Sentence:
    if "ReadWriteOncePod" in said:
        own = [one.key for one in claims if "ReadWriteOncePod" in one.access_modes]
        named = f"Claim {joined(own)}" if len(own) == 1 else "A claim of this pod"
        return f"{named} is ReadWriteOncePod and another pod uses it.", "That pod has to go first."
    return "On every node that it could use another pod has its disk.", "A disk of this kind serves one pod per node."


def _unbindable(said: str, claims: Sequence[VolumeClaim]) -> Sentence | None:
    unbound = [one for one in claims if one.claim is not None and not one.is_bound]
    if "didn't match PersistentVolume's node affinity" in said:
        return _held_by_volume([one for one in claims if one.is_bound])
    if "did not have enough free storage" in said and unbound:
        one = unbound[0]
        return f"No node that it could use has {one.size} of class {one.class_name} left for claim {one.key}.", ""
    if "non-existent pv" in said:
        lost = [one for one in claims if one.volume_name and one.persistent_volume is None]
        return (
            (f"Claim {lost[0].key} is bound to volume {lost[0].volume_name}, which does not exist.", "")
            if lost
            else None
        )
    if unbound:
        one = unbound[0]
        if one.driver in ("", "kubernetes.io/no-provisioner"):
            what = f"No free volume of class {one.class_name}" if one.class_name else "No free volume without a class"
            return f"{what} fits claim {one.key} ({one.size}) on any node that it could use.", "This class makes none."
        return f"Class {one.class_name} cannot make a volume for claim {one.key} on any node that it could use.", ""
    return None


def _held_by_volume(bound: Sequence[VolumeClaim]) -> Sentence | None:
    held = [one for one in bound if (one.persistent_volume or {}).get("spec", {}).get("nodeAffinity")]
    if not held:
        return None
    one = held[0]
    where = _where(one.persistent_volume or {})
    return (
        f"Volume {one.volume_name} of claim {one.key} can be used only {where}, and no node there fits.",
        "",
    )


def _where(volume: Manifest) -> str:
    """``in eu-1a``, ``where kubernetes.io/hostname is n3``."""
    if zones := zones_of(volume):
        return f"in {joined(zones, 'or')}"
    terms = ((volume.get("spec", {}).get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or []
    written = [
        " and ".join(
            f"{each.get('key')} is {joined(each.get('values') or [], 'or')}"
            if each.get("operator") == "In"
            else f"{each.get('key')} {each.get('operator')} {', '.join(each.get('values') or [])}".strip()
            for each in (*(term.get("matchExpressions") or []), *(term.get("matchFields") or []))
        )
        for term in terms
    ]
    return f"where {' or '.join(written)}"


def _other_zone(claims: Sequence[VolumeClaim]) -> Sentence | None:
    placed = [(one, zones) for one in claims if (zones := zones_of(one.persistent_volume or {}))]
    if not placed:
        return None
    one, zones = placed[0]
    return (
        f"Volume {one.volume_name} of claim {one.key} is in {joined(zones, 'or')}, and no node there fits.",
        "",
    )


def _too_many(claims: Sequence[VolumeClaim], nodes: set[str], objects: Objects) -> Sentence:
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
            f"Every node that it could use has its {most} volumes of {driver} attached.",
            "A pod with such a volume has to go first.",
        )
    return "Every node that it could use has as many volumes attached as its CSI driver allows.", ""


def _devices(said: str, claims: Sequence[DeviceClaim], objects: Objects) -> Sentence | None:
    if "resourceclaim not available on the node" in said:
        held = [one for one in claims if one.allocated]
        if not held:
            return None
        devices = joined(sorted(str(each.get("device")) for each in held[0].allocated or []))
        return f"Claim {held[0].key} is allocated {devices}, and no node that can reach it can take the pod.", ""
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
        f"{given} of {published} published devices are allocated." if published else "No driver published a device."
    )
    if len(asking) == 1 and asking[0]["count"] is not None and not asking[0]["alternatives"]:
        count, name = asking[0]["count"], asking[0]["device_class"]
        return f"No node has {'a free device' if count == 1 else f'{count} free devices'} of class {name}.", detail
    wanted = joined([request_words(each) for each in asking])
    return f"No node has all the devices that it asks for: {wanted}.", detail


def _features(manifest: Manifest) -> Sentence:
    """What NodeDeclaredFeatures infers from a pod (component-helpers/nodedeclaredfeatures)."""
    spec = manifest.get("spec", {})
    needed = []
    containers = [*(spec.get("containers") or []), *(spec.get("initContainers") or [])]
    if any(rule.get("action") == _RESTART_ALL for each in containers for rule in each.get("restartPolicyRules") or []):
        needed.append("RestartAllContainersOnContainerExits")
    if spec.get("hostNetwork") and spec.get("hostUsers") is False:
        needed.append("UserNamespacesHostNetworkSupport")
    what = (
        f"the feature {needed[0]}"
        if len(needed) == 1
        else f"the features {joined(needed)}"
        if needed
        else "what it needs"
    )
    return f"No node that it could use declares {what}.", "Kubelets list what they support in status.declaredFeatures."


def held_by_gang(manifest: Manifest, objects: Objects) -> Sentence:
    """Of a pod that GangScheduling keeps out of the queue."""
    namespace = str(manifest.get("metadata", {}).get("namespace", ""))
    name = str((manifest.get("spec", {}).get("schedulingGroup") or {}).get("podGroupName", ""))
    group = objects.get("PodGroup.scheduling.k8s.io", namespace, name)
    if group is None:
        return f"Its pod group {namespace}/{name} does not exist.", "It is tried when the group is created."
    policy = group.get("spec", {}).get("schedulingPolicy") or {}
    needed = (policy.get("gang") or {}).get("minCount")
    if needed is None:
        return f"It waits for its pod group {namespace}/{name}.", ""
    return (
        f"Its pod group {namespace}/{name} needs {needed} pods, and not all of them are there.",
        "It is tried when they are.",
    )

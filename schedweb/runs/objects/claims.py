"""A pod's volumes and devices: each claim with its state, what was decided for it, and why it is pending."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from framework.interface.decisions import ClaimDecision, DeviceDecision, VolumeDecision
from schedweb.runs.objects.selectors import zones_of
from schedweb.sentences import counted, say

Manifest = Mapping[str, Any]
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
IMMEDIATE: Final = "Immediate"
WAITS_FOR_POD: Final = "WaitForFirstConsumer"


class Objects(Protocol):
    """Where claims, volumes and classes are found by name: a run's records, or a dictionary in a test."""

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None: ...

    def all(self, kind: str) -> Sequence[Manifest]: ...


@dataclass(frozen=True, slots=True)
class VolumeClaim:
    """A PersistentVolumeClaim that a pod uses, with its volume and its class as far as they exist."""

    volume: str
    """``spec.volumes[].name``."""
    namespace: str
    name: str
    ephemeral: bool
    claim: Manifest | None
    persistent_volume: Manifest | None
    storage_class: Manifest | None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def volume_name(self) -> str:
        return str((self.claim or {}).get("spec", {}).get("volumeName") or "")

    @property
    def class_name(self) -> str:
        return str((self.claim or {}).get("spec", {}).get("storageClassName") or "")

    @property
    def mode(self) -> str:
        """The class's binding mode; "" without a class."""
        if self.storage_class is None:
            return ""
        return str(self.storage_class.get("volumeBindingMode") or IMMEDIATE)

    @property
    def size(self) -> str:
        spec = (self.claim or {}).get("spec", {})
        return str(((spec.get("resources") or {}).get("requests") or {}).get("storage", ""))

    @property
    def access_modes(self) -> list[str]:
        return [str(mode) for mode in (self.claim or {}).get("spec", {}).get("accessModes") or []]

    @property
    def is_bound(self) -> bool:
        """As VolumeBinding sees it: named by the claim, and the binding is complete."""
        annotations = (self.claim or {}).get("metadata", {}).get("annotations") or {}
        return bool(self.volume_name) and BIND_COMPLETED in annotations

    @property
    def binds_at_once(self) -> bool:
        return (
            self.claim is not None and not self.is_bound and not (self.mode == WAITS_FOR_POD and not self.volume_name)
        )

    @property
    def driver(self) -> str:
        """The CSI driver of its volume, or the provisioner that would make one."""
        csi = (self.persistent_volume or {}).get("spec", {}).get("csi") or {}
        return str(csi.get("driver") or (self.storage_class or {}).get("provisioner") or "")


def volume_claims(manifest: Manifest, objects: Objects) -> list[VolumeClaim]:
    metadata, spec = manifest.get("metadata", {}), manifest.get("spec", {})
    namespace = str(metadata.get("namespace", ""))
    found = []
    for volume in spec.get("volumes") or []:
        source, ephemeral = volume.get("persistentVolumeClaim"), "ephemeral" in volume
        if source is None and not ephemeral:
            continue
        name = f"{metadata.get('name')}-{volume['name']}" if source is None else str(source.get("claimName", ""))
        claim = objects.get("PersistentVolumeClaim", namespace, name)
        claimed = (claim or {}).get("spec", {})
        bound, class_name = claimed.get("volumeName"), claimed.get("storageClassName")
        found.append(
            VolumeClaim(
                str(volume["name"]),
                namespace,
                name,
                ephemeral,
                claim,
                objects.get("PersistentVolume", "", bound) if bound else None,
                objects.get("StorageClass", "", class_name) if class_name else None,
            )
        )
    return found


def volume_body(one: VolumeClaim, decision: VolumeDecision | None, node: str) -> dict[str, Any]:
    state, text = _volume_state(one, decision, node)
    decided = decision.persistent_volume if decision is not None and state == "match" else ""
    return {
        "volume": one.volume,
        "namespace": one.namespace,
        "claim": one.name,
        "ephemeral": one.ephemeral,
        "state": state,
        "text": text,
        "persistent_volume": one.volume_name or decided,
        "storage_class": one.class_name,
        "binding_mode": one.mode,
        "size": one.size,
        "access_modes": one.access_modes,
        "zones": zones_of(one.persistent_volume or {}),
    }


def _volume_state(one: VolumeClaim, decision: VolumeDecision | None, node: str) -> tuple[str, str]:
    if one.claim is None:
        return "missing", say("There is no claim {key}.", key=one.key)
    if (one.claim.get("status") or {}).get("phase") == "Lost":
        return "lost", say("Its volume {volume_name} does not exist any more.", volume_name=one.volume_name)
    if one.is_bound:
        return "bound", ""
    if decision is not None and decision.action == "match":
        return "match", say(
            "{persistent_volume} was found for it on {node}.", persistent_volume=decision.persistent_volume, node=node
        )
    if decision is not None and decision.action == "provision":
        return "provision", say(
            "{provisioner} makes a volume for it for {node}.", provisioner=_provisioner(one), node=node
        )
    if one.volume_name:
        return "pending", say("It asks for {volume_name}, and the two are not bound yet.", volume_name=one.volume_name)
    if not one.class_name:
        return "pending", say("It has no storage class, so a volume that fits has to exist; none is bound to it.")
    if one.storage_class is None:
        return "pending", say("There is no storage class {class_name}.", class_name=one.class_name)
    if one.mode == WAITS_FOR_POD:
        return "pending", say(
            "Class {class_name} chooses a volume when the pod gets a node.", class_name=one.class_name
        )
    return "pending", say(
        "Class {class_name} binds immediately, and no volume was found or made for it.", class_name=one.class_name
    )


def _provisioner(one: VolumeClaim) -> str:
    return str((one.storage_class or {}).get("provisioner") or say("Class {class_name}", class_name=one.class_name))


# --- devices ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeviceClaim:
    """A ResourceClaim that a pod uses."""

    local: str
    """``spec.resourceClaims[].name``; "" for the claim behind extended resources."""
    namespace: str
    name: str
    """"" while it has not been made from its template."""
    template: str
    claim: Manifest | None

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def allocated(self) -> list[Manifest] | None:
        """The devices it has; None while it has none."""
        allocation = ((self.claim or {}).get("status") or {}).get("allocation")
        return None if not allocation else list((allocation.get("devices") or {}).get("results") or [])

    @property
    def requests(self) -> list[Manifest]:
        """{name, class, count} per request; of a prioritised list the first choice, with how many others there are."""
        found: list[Manifest] = []
        devices = (self.claim or {}).get("spec", {}).get("devices") or {}
        for request in devices.get("requests") or []:
            choices = request.get("firstAvailable") or []
            exactly = request.get("exactly") or (choices[0] if choices else {})
            whole = exactly.get("allocationMode") == "All"
            found.append(
                {
                    "name": str(request.get("name", "")),
                    "device_class": str(exactly.get("deviceClassName", "")),
                    "count": None if whole else int(exactly.get("count") or 1),
                    "alternatives": max(0, len(choices) - 1),
                }
            )
        return found


def device_claims(manifest: Manifest, objects: Objects) -> list[DeviceClaim]:
    metadata, spec, status = (manifest.get(part) or {} for part in ("metadata", "spec", "status"))
    namespace = str(metadata.get("namespace", ""))
    made = {each.get("name"): each.get("resourceClaimName") for each in status.get("resourceClaimStatuses") or []}
    named = [
        (
            str(each.get("name", "")),
            str(each.get("resourceClaimName") or made.get(each.get("name")) or ""),
            str(each.get("resourceClaimTemplateName") or ""),
        )
        for each in spec.get("resourceClaims") or []
    ]
    extended = (status.get("extendedResourceClaimStatus") or {}).get("resourceClaimName")
    if extended:
        named.append(("", str(extended), ""))
    return [
        DeviceClaim(local, namespace, name, template, objects.get("ResourceClaim", namespace, name) if name else None)
        for local, name, template in named
    ]


def request_words(request: Manifest) -> str:
    """``2 of gpu.example.com``, ``all of nic.example.com``."""
    how_many = "all" if request["count"] is None else str(request["count"])
    choices = request["alternatives"]
    others = " " + counted("(or {count} other choice)", "(or {count} other choices)", choices) if choices else ""
    return f"{how_many} of {request['device_class']}{others}"


def device_body(one: DeviceClaim, decisions: Iterable[DeviceDecision], node: str) -> dict[str, Any]:
    decided = [each for each in decisions if each.claim == one.key]
    state, text = _device_state(one, decided, node)
    if one.allocated is not None:
        devices = [{**device_row(each), "conditions": _conditions(one.claim or {}, each)} for each in one.allocated]
    else:
        devices = [{**decision_row(each), "conditions": []} for each in decided]
    return {
        "local": one.local,
        "namespace": one.namespace,
        "claim": one.name,
        "template": one.template,
        "state": state,
        "text": text,
        "requests": one.requests,
        "devices": devices,
        "used_by": len(((one.claim or {}).get("status") or {}).get("reservedFor") or []),
    }


def _device_state(one: DeviceClaim, decided: list[DeviceDecision], node: str) -> tuple[str, str]:
    if not one.name:
        return "missing", say("It has not been made from template {template} yet.", template=one.template)
    if one.claim is None:
        return "missing", say("There is no claim {key}.", key=one.key)
    if one.allocated is not None:
        return "allocated", ""
    if decided:
        return "decided", say("Chosen on {node}, to be written before the pod is bound.", node=node)
    return "pending", say("No devices are allocated to it.")


def device_row(result: Manifest) -> dict[str, Any]:
    named = {key: str(result.get(key, "")) for key in ("request", "driver", "pool", "device")}
    return {**named, "admin_access": bool(result.get("adminAccess"))}


def _conditions(claim: Manifest, result: Manifest) -> list[dict[str, Any]]:
    """Binding conditions of an allocated device, then those on which binding fails, with what its driver said."""
    wanted, fatal = result.get("bindingConditions") or [], result.get("bindingFailureConditions") or []
    if not wanted:  # binding looks at no condition then
        return []
    device = [result.get(key) for key in ("driver", "pool", "device")]
    conditions = next(
        (
            each.get("conditions") or []
            for each in (claim.get("status") or {}).get("devices") or []
            if [each.get(key) for key in ("driver", "pool", "device")] == device
        ),
        [],
    )
    found = {str(each.get("type")): each for each in reversed(conditions)}
    return [_condition(name, found.get(name) or {}, name in fatal) for name in (*wanted, *fatal)]


def _condition(name: str, condition: Manifest, fails: bool) -> dict[str, Any]:
    words = [str(condition.get(key) or "") for key in ("reason", "message")]
    return {
        "type": name,
        "fails": fails,
        "status": str(condition.get("status") or ""),
        "text": ": ".join(word for word in words if word),
    }


def decision_row(decision: DeviceDecision) -> dict[str, Any]:
    named = {key: getattr(decision, key) for key in ("request", "driver", "pool", "device")}
    return {**named, "admin_access": decision.admin_access}


def has_claims(manifest: Manifest) -> bool:
    spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
    volumes = any("persistentVolumeClaim" in each or "ephemeral" in each for each in spec.get("volumes") or [])
    return bool(volumes or spec.get("resourceClaims") or status.get("extendedResourceClaimStatus"))


def claims_body(
    manifest: Manifest, objects: Objects, decisions: tuple[ClaimDecision, ...] = (), node: str = ""
) -> dict[str, Any]:
    """`decisions`: of the newest attempt, which chose `node`; they tell of claims that are not written yet."""
    volumes = {each.claim: each for each in decisions if isinstance(each, VolumeDecision)}
    devices = [each for each in decisions if isinstance(each, DeviceDecision)]
    return {
        "volumes": [volume_body(one, volumes.get(one.key), node) for one in volume_claims(manifest, objects)],
        "devices": [device_body(one, devices, node) for one in device_claims(manifest, objects)],
    }


def decisions_body(decisions: tuple[ClaimDecision, ...]) -> dict[str, Any]:
    """What Reserve decided in one attempt, as it was decided."""
    volumes, devices = [], []
    for each in decisions:
        namespace, _, name = each.claim.partition("/")
        claim = {"namespace": namespace, "claim": name}
        if isinstance(each, VolumeDecision):
            facts = {"persistent_volume": each.persistent_volume, "storage_class": each.storage_class}
            volumes.append({**claim, "volume": each.volume_name, "action": each.action, **facts})
        else:
            devices.append({**claim, **decision_row(each)})
    return {"volumes": volumes, "devices": devices}

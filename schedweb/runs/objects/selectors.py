"""What a run's cluster holds besides pods and nodes: windows by kind with each object's state in a few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db.models import Count, QuerySet

from framework.objects.quantity import is_quantity
from framework.objects.resources import resource_value
from framework.reading.catalogue_shapes import EDITED_KINDS
from schedweb.api.errors import ApiError, not_found
from schedweb.api.windows import Window, window_body
from schedweb.engine.amounts import amount_text
from schedweb.runs.models import ObjectRecord, Run
from schedweb.runs.objects.dependants import rests_on
from schedweb.runs.objects.kinds import of_kind
from schedweb.runs.objects.network_costs import costs_of, dependencies_of
from schedweb.runs.records.beginning import refuse_until_begun
from schedweb.runs.records.manifests import manifest_of, yaml_of
from schedweb.sentences import counted, figure, noted, say, translated

Manifest = Mapping[str, Any]
ZONE: Final = "topology.kubernetes.io/zone"
OLD_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
OWNERS_NAMED: Final = 3
EDITED: Final = frozenset((kind.kind, kind.api_version.partition("/")[0]) for kind in EDITED_KINDS)
"""(kind, API group) of what plugins read beside pods, nodes, volumes and devices."""
Key = tuple[str, str, str]
"""(kind, namespace, name)"""


def object_get(run: Run, kind: str, namespace: str, name: str) -> ObjectRecord | None:
    """Raises an ApiError when two API groups have one and `kind` does not say which is asked for."""
    asked = {**of_kind(kind), "namespace": namespace, "name": name}
    found: list[ObjectRecord] = (
        list(ObjectRecord.objects.filter(**asked, run=run, present=True)[:2])
        if run.moment is None
        else run.moment.objects_by(asked)
    )
    if len(found) > 1:
        either = " or ".join(f"{row.kind}.{row.group}" for row in found)
        text = say(
            "This run has two objects {kind}: ask for {either}.", kind=called(kind, namespace, name), either=either
        )
        raise ApiError(text, code="invalid", path="kind")
    return found[0] if found else None


def called(kind: str, namespace: str, name: str) -> str:
    return f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}"


def object_rows(run: Run, kind: str = "", name: str = "") -> QuerySet[ObjectRecord] | list[ObjectRecord]:
    """In order; `name`: part of it."""
    if run.moment is not None:
        there: list[ObjectRecord] = run.moment.objects_by(of_kind(kind), name)
        return there
    return ObjectRecord.objects.filter(**of_kind(kind), run=run, present=True, name__icontains=name)


class ObjectLookup:
    """Objects of one run by kind (as ``of_kind`` reads it) and name, each read once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._known: dict[Key, Manifest | None] = {}
        self._kinds: dict[str, list[Manifest]] = {}

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        key = (kind, namespace, name)
        if key not in self._known:
            row = object_get(self.run, kind, namespace, name)
            self._known[key] = None if row is None else manifest_of(row.manifest)
        return self._known[key]

    def all(self, kind: str) -> list[Manifest]:
        if kind not in self._kinds:
            self._kinds[kind] = [manifest_of(row.manifest) for row in object_rows(self.run, kind)]
        return self._kinds[kind]


def zones_of(volume: Manifest) -> list[str]:
    """Where a PersistentVolume may be used: its zone label, or the zones of its node affinity."""
    labels = volume.get("metadata", {}).get("labels") or {}
    value = labels.get(ZONE) or labels.get(OLD_ZONE)
    if value:
        return sorted(str(value).split("__"))
    required = ((volume.get("spec", {}).get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or []
    found = {
        str(name)
        for term in required
        for each in term.get("matchExpressions") or []
        if each.get("key") in (ZONE, OLD_ZONE) and each.get("operator") == "In"
        for name in each.get("values") or []
    }
    return sorted(found)


PHASES: Final = {"Pending": noted("pending"), "Bound": noted("bound"), "Lost": noted("lost")}


def phase_word(phase: str) -> str:
    return say(PHASES[phase]) if phase in PHASES else phase


def _claim(obj: Manifest) -> str:
    spec, phase = obj.get("spec", {}), (obj.get("status") or {}).get("phase")
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "")
    bound = (
        say("bound to {volume}", volume=spec["volumeName"])
        if spec.get("volumeName")
        else phase_word(phase or "Pending")
    )
    return translated([part for part in (bound, asked, spec.get("storageClassName") or "") if part])


def _volume(obj: Manifest) -> str:
    spec = obj.get("spec", {})
    claim = spec.get("claimRef") or {}
    used = (
        say("claimed by {claim}", claim=f"{claim.get('namespace')}/{claim.get('name')}")
        if claim.get("name")
        else say("available")
    )
    size = (spec.get("capacity") or {}).get("storage", "")
    return translated([part for part in (used, size, spec.get("storageClassName") or "", *zones_of(obj)) if part])


def _storage_class(obj: Manifest) -> str:
    return f"{obj.get('provisioner', '')}, {obj.get('volumeBindingMode') or 'Immediate'}"


def _resource_claim(obj: Manifest) -> str:
    status = obj.get("status") or {}
    if not status.get("allocation"):
        return say("pending")
    results = (status["allocation"].get("devices") or {}).get("results") or []
    used = len(status.get("reservedFor") or [])
    devices = translated([str(each.get("device")) for each in results]) or say("allocated")
    return counted("{devices}; used by {count} pod", "{devices}; used by {count} pods", used, devices=devices)


def _slice(obj: Manifest) -> str:
    spec = obj.get("spec", {})
    where = spec.get("nodeName") or (say("all nodes") if spec.get("allNodes") else say("selected nodes"))
    devices = len(spec.get("devices") or [])
    driver = spec.get("driver", "")
    return counted(
        "{driver}, {count} device on {where}",
        "{driver}, {count} devices on {where}",
        devices,
        driver=driver,
        where=where,
    )


def _csi_node(obj: Manifest) -> str:
    drivers = obj.get("spec", {}).get("drivers") or []
    limits = [
        say("{driver} up to {count}", driver=each.get("name"), count=number)
        if (number := (each.get("allocatable") or {}).get("count")) is not None
        else say("{driver} without a limit", driver=each.get("name"))
        for each in drivers
    ]
    return translated(limits) or say("no driver")


def _budget(obj: Manifest) -> str:
    allowed = (obj.get("status") or {}).get("disruptionsAllowed") or 0
    return counted("{count} disruption allowed", "{count} disruptions allowed", allowed)


def _capacity(obj: Manifest) -> str:
    of = obj.get("storageClassName", "")
    free = obj.get("capacity")
    return say("{of}, {free} free", of=of, free=free) if free else say("{of}, nothing free", of=of)


def _bounds(obj: Manifest) -> str:
    """``min cpu 64, memory 256Gi; max cpu 128, memory 512Gi``"""
    spec = obj.get("spec") or {}
    parts = [f"{bound} {listed}" for bound in ("min", "max") if (listed := _amounts(spec.get(bound) or {}))]
    return "; ".join(parts) or say("neither min nor max")


def _amounts(amounts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in amounts.items())


def _numa(obj: Manifest) -> str:
    zones = [each for each in obj.get("zones") or [] if each.get("type") == "Node"]
    free = [
        say("{zone} has {amounts} free", zone=each.get("name", ""), amounts=_amounts(_available(each)))
        for each in zones
    ]
    return translated(free) or say("no zones")


def _available(zone: Manifest) -> dict[str, Any]:
    return {str(each.get("name")): each.get("available", "0") for each in zone.get("resources") or []}


def _app_group(obj: Manifest) -> str:
    workloads = (obj.get("spec") or {}).get("workloads") or []
    links = sum(len(each.get("dependencies") or []) for each in workloads)
    return counted(
        "{count} workload, dependencies: {links}",
        "{count} workloads, dependencies: {links}",
        len(workloads),
        links=links,
    )


def _network(obj: Manifest) -> str:
    weights = (obj.get("spec") or {}).get("weights") or []
    return translated([str(each.get("name", "")) for each in weights]) or say("no costs")


def _profile(obj: Manifest) -> str:
    rules = (obj.get("spec") or {}).get("syscalls") or []
    calls = {name for each in rules for name in each.get("names") or []}
    return counted("{count} system call", "{count} system calls", len(calls))


def _load(obj: Manifest) -> str:
    measured = (obj.get("data") or {}).get("NodeMetricsMap") or {}
    return counted("load of {count} node", "load of {count} nodes", len(measured))


def _amount(resource: str, raw: Any) -> str:
    """For people; as it is written where that is no quantity."""
    return amount_text(resource, resource_value(resource, raw)) if is_quantity(raw) else str(raw)


def _reservation(obj: Manifest) -> str:
    """Where it is, how much of it is used, and by whom."""
    status = obj.get("status") or {}
    phase, node = status.get("phase") or "Pending", status.get("nodeName")
    parts = [say("{phase} on {node}", phase=phase, node=node) if node else phase]
    amounts, used = status.get("allocatable") or {}, status.get("allocated") or {}
    if phase == "Available":
        parts += [
            say(
                "{used} of {amount} {resource} used",
                used=_amount(name, used.get(name, "0")),
                amount=_amount(name, amount),
                resource=name,
            )
            for name, amount in amounts.items()
        ]
    owners = [f"{each.get('namespace')}/{each.get('name')}" for each in status.get("currentOwners") or []]
    if owners:
        more = [counted("{count} more pod", "{count} more pods", len(owners) - OWNERS_NAMED)] * (
            len(owners) > OWNERS_NAMED
        )
        parts.append(say("by {pods}", pods=translated([*owners[:OWNERS_NAMED], *more])))
    return translated(parts)


STATES: Final[dict[str, Callable[[Manifest], str]]] = {
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": _volume,
    "StorageClass": _storage_class,
    "ResourceClaim": _resource_claim,
    "ResourceSlice": _slice,
    "CSINode": _csi_node,
    "PodDisruptionBudget": _budget,
    "PriorityClass": lambda obj: figure(f"{obj.get('value', 0):,}"),
    "CSIDriver": lambda obj: say("storage capacity tracked") if (obj.get("spec") or {}).get("storageCapacity") else "",
    "VolumeAttachment": lambda obj: say("on {node}", node=obj.get("spec", {}).get("nodeName", "")),
    "CSIStorageCapacity": _capacity,
    "ElasticQuota": _bounds,
    "NodeResourceTopology": _numa,
    "AppGroup": _app_group,
    "NetworkTopology": _network,
    "SeccompProfile": _profile,
    "LoadMetrics": _load,
    "Reservation": _reservation,
}


def object_body(row: ObjectRecord) -> dict[str, Any]:
    state = STATES.get(row.kind)
    return {
        "kind": row.kind,
        "group": row.group,
        "namespace": row.namespace,
        "name": row.name,
        "state": "" if state is None else state(manifest_of(row.manifest)),
    }


def object_window(run: Run, window: Window, *, kind: str = "", query: str = "") -> dict[str, Any]:
    rows = object_rows(run, kind, query)
    count = len(rows) if isinstance(rows, list) else rows.count()
    if not count:
        refuse_until_begun(run)
    body = window_body(window, count, [object_body(row) for row in window.cut(rows)])
    kinds = [
        {"kind": name, "group": group, "count": number} for (name, group), number in sorted(kind_counts(run).items())
    ]
    return {**body, "kinds": kinds}


def kind_counts(run: Run) -> dict[tuple[str, str], int]:
    """(kind, group) → how many."""
    if run.moment is not None:
        return Counter((row.kind, row.group) for row in run.moment.objects)
    everything = ObjectRecord.objects.filter(run=run, present=True)
    counted = everything.order_by("kind", "group").values_list("kind", "group").annotate(count=Count("pk"))
    return {(kind, group): count for kind, group, count in counted}


def is_editable(run: Run, row: ObjectRecord) -> bool:
    """Whether people edit it on screen. What follows a real cluster shows that cluster as it is."""
    ended = run.moment is not None or run.state == Run.State.STOPPED
    return not ended and not run.follows and (row.kind, row.group) in EDITED


def object_yaml(run: Run, *, kind: str, namespace: str, name: str) -> dict[str, Any]:
    row = object_get(run, kind, namespace, name)
    if row is None:
        refuse_until_begun(run)
        raise not_found(say("This run has no {kind}.", kind=called(kind, namespace, name)))
    manifest, editable = manifest_of(row.manifest), is_editable(run, row)
    return {
        "yaml": yaml_of(row.manifest),
        "version": manifest.get("metadata", {}).get("resourceVersion", ""),
        "editable": editable,
        "rests_on_it": rests_on(run, row) if editable else "",
        "costs": costs_of(manifest),
        "dependencies": dependencies_of(manifest),
    }

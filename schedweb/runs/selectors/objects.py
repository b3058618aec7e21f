"""What a run's cluster holds besides pods and nodes: windows by kind with each object's state in a few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db.models import Count, QuerySet

from schedweb.api.errors import not_found
from schedweb.api.windows import Window, window_body
from schedweb.runs.models import ObjectRecord, Run
from schedweb.runs.selectors.pods import manifest_of, yaml_of

Manifest = Mapping[str, Any]
ZONE: Final = "topology.kubernetes.io/zone"
OLD_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
Key = tuple[str, str, str]
"""(kind, namespace, name)"""


def object_get(run: Run, kind: str, namespace: str, name: str) -> ObjectRecord | None:
    if run.moment is not None:
        there: ObjectRecord | None = run.moment.objects.get((kind, namespace, name))
        return there
    return ObjectRecord.objects.filter(run=run, kind=kind, namespace=namespace, name=name, present=True).first()


def object_rows(run: Run, kind: str = "", name: str = "") -> QuerySet[ObjectRecord] | list[ObjectRecord]:
    """In order; `name`: part of it."""
    if run.moment is not None:
        there: list[ObjectRecord] = run.moment.objects_of(kind, name)
        return there
    rows = ObjectRecord.objects.filter(run=run, present=True, name__icontains=name)
    return rows.filter(kind=kind) if kind else rows


class ObjectLookup:
    """Objects of one run by name, each read once."""

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


def _claim(obj: Manifest) -> str:
    spec, phase = obj.get("spec", {}), (obj.get("status") or {}).get("phase")
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage", "")
    bound = f"bound to {spec['volumeName']}" if spec.get("volumeName") else str(phase or "Pending").lower()
    return ", ".join(part for part in (bound, asked, spec.get("storageClassName") or "") if part)


def _volume(obj: Manifest) -> str:
    spec = obj.get("spec", {})
    claim = spec.get("claimRef") or {}
    used = f"claimed by {claim.get('namespace')}/{claim.get('name')}" if claim.get("name") else "available"
    size = (spec.get("capacity") or {}).get("storage", "")
    return ", ".join(part for part in (used, size, spec.get("storageClassName") or "", *zones_of(obj)) if part)


def _storage_class(obj: Manifest) -> str:
    return f"{obj.get('provisioner', '')}, {obj.get('volumeBindingMode') or 'Immediate'}"


def _resource_claim(obj: Manifest) -> str:
    status = obj.get("status") or {}
    if not status.get("allocation"):
        return "pending"
    results = (status["allocation"].get("devices") or {}).get("results") or []
    used = len(status.get("reservedFor") or [])
    return f"{', '.join(str(each.get('device')) for each in results) or 'allocated'}; used by {_counted(used, 'pod')}"


def _slice(obj: Manifest) -> str:
    spec = obj.get("spec", {})
    where = spec.get("nodeName") or ("all nodes" if spec.get("allNodes") else "selected nodes")
    return f"{spec.get('driver', '')}, {_counted(len(spec.get('devices') or []), 'device')} on {where}"


def _csi_node(obj: Manifest) -> str:
    drivers = obj.get("spec", {}).get("drivers") or []
    limits = [
        f"{each.get('name')} up to {(each.get('allocatable') or {}).get('count', 'any number')}" for each in drivers
    ]
    return ", ".join(limits) or "no driver"


def _budget(obj: Manifest) -> str:
    return f"{_counted((obj.get('status') or {}).get('disruptionsAllowed') or 0, 'disruption')} allowed"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


STATES: Final[dict[str, Callable[[Manifest], str]]] = {
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": _volume,
    "StorageClass": _storage_class,
    "ResourceClaim": _resource_claim,
    "ResourceSlice": _slice,
    "CSINode": _csi_node,
    "PodDisruptionBudget": _budget,
    "PriorityClass": lambda obj: f"{obj.get('value', 0):,}",
    "CSIDriver": lambda obj: "storage capacity tracked" if (obj.get("spec") or {}).get("storageCapacity") else "",
    "VolumeAttachment": lambda obj: f"on {obj.get('spec', {}).get('nodeName', '')}",
    "CSIStorageCapacity": lambda obj: f"{obj.get('storageClassName', '')}, {obj.get('capacity') or 'nothing'} free",
}


def object_body(row: ObjectRecord) -> dict[str, Any]:
    state = STATES.get(row.kind)
    return {
        "kind": row.kind,
        "namespace": row.namespace,
        "name": row.name,
        "state": "" if state is None else state(manifest_of(row.manifest)),
    }


def object_window(run: Run, window: Window, *, kind: str = "", query: str = "") -> dict[str, Any]:
    rows = object_rows(run, kind, query)
    count = len(rows) if isinstance(rows, list) else rows.count()
    body = window_body(window, count, [object_body(row) for row in window.cut(rows)])
    return {**body, "kinds": [{"kind": name, "count": number} for name, number in sorted(kind_counts(run).items())]}


def kind_counts(run: Run) -> dict[str, int]:
    if run.moment is not None:
        return Counter(key[0] for key in run.moment.objects)
    everything = ObjectRecord.objects.filter(run=run, present=True)
    return dict(everything.order_by("kind").values_list("kind").annotate(count=Count("pk")))


def object_yaml(run: Run, *, kind: str, namespace: str, name: str) -> str:
    row = object_get(run, kind, namespace, name)
    if row is None:
        raise not_found(f"This run has no {kind} {f'{namespace}/{name}' if namespace else name}.")
    return yaml_of(row.manifest)

"""Objects of API versions that servers no longer serve, read as those that took their place.

The fields that decisions read are the same, but for what is changed here (upstream: pkg/apis/*/v1beta*/conversion.go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from framework.objects.device_versions import as_v1

Manifest = Mapping[str, Any]


def _as_it_is(manifest: Manifest) -> Manifest:
    return manifest


def _budget(manifest: Manifest) -> Manifest:
    """In policy/v1beta1 an empty selector selects no pod; in v1 it selects all of the namespace."""
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping) or spec.get("selector"):
        return manifest
    return {**manifest, "spec": {name: value for name, value in spec.items() if name != "selector"}}


def _selecting(manifest: Manifest) -> Manifest:
    """Before apps/v1 a selector that was not given was the template's labels."""
    spec = manifest.get("spec")
    template = spec.get("template") if isinstance(spec, Mapping) else None
    metadata = template.get("metadata") if isinstance(template, Mapping) else None
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    if not isinstance(spec, Mapping) or spec.get("selector") or not labels:
        return manifest
    return {**manifest, "spec": {**spec, "selector": {"matchLabels": labels}}}


def _runtime_class(manifest: Manifest) -> Manifest:
    """node.k8s.io/v1alpha1 had its fields in a spec."""
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping):
        return manifest
    moved = {"handler": spec.get("runtimeHandler"), "overhead": spec.get("overhead")}
    kept = {name: value for name, value in manifest.items() if name != "spec"}
    return {**kept, **{name: value for name, value in {**moved, "scheduling": spec.get("scheduling")}.items() if value}}


_APPS: Final = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
_STORAGE: Final = ("StorageClass", "CSINode", "CSIDriver", "CSIStorageCapacity", "VolumeAttachment")
_Change = tuple[str, Callable[[Manifest], Manifest]]
_CHANGES: Final[dict[tuple[str, str], _Change]] = {
    ("policy/v1beta1", "PodDisruptionBudget"): ("policy/v1", _budget),
    **{
        (f"scheduling.k8s.io/{version}", "PriorityClass"): ("scheduling.k8s.io/v1", _as_it_is)
        for version in ("v1alpha1", "v1beta1")
    },
    **{
        (f"storage.k8s.io/{version}", kind): ("storage.k8s.io/v1", _as_it_is)
        for version in ("v1alpha1", "v1beta1")
        for kind in _STORAGE
    },
    ("node.k8s.io/v1alpha1", "RuntimeClass"): ("node.k8s.io/v1", _runtime_class),
    ("node.k8s.io/v1beta1", "RuntimeClass"): ("node.k8s.io/v1", _as_it_is),
    **{
        (version, kind): ("apps/v1", _selecting)
        for version in ("apps/v1beta1", "apps/v1beta2", "extensions/v1beta1")
        for kind in _APPS
    },
    **{(f"batch/{version}", "CronJob"): ("batch/v1", _as_it_is) for version in ("v1beta1", "v2alpha1")},
}


def as_current(manifest: Manifest, api_version: str, kind: str) -> Manifest | None:
    """None when it is no older version of a kind that is read."""
    change = _CHANGES.get((api_version, kind))
    if change is None:
        return as_v1(manifest, api_version, kind)
    newer, convert = change
    return {**convert(manifest), "apiVersion": newer}

"""What an import must not keep: Secrets go, values that may be secret are replaced before anything is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

REDACTED: Final = "(redacted)"
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
DROPPED_KINDS: Final = frozenset({"Secret"})
_TLS_SECRETS: Final = frozenset({"keyData", "certData"})
_CONTAINER_LISTS: Final = ("containers", "initContainers", "ephemeralContainers")


def redact(manifest: dict[str, Any]) -> dict[str, Any]:
    """Changes the manifest in place and returns it; malformed parts are left for validation to name."""
    metadata = manifest.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("managedFields", None)
        annotations = metadata.get("annotations")
        if isinstance(annotations, dict) and LAST_APPLIED in annotations:
            annotations[LAST_APPLIED] = REDACTED
    for container in _containers(manifest):
        for variable in _list(container.get("env")):
            if isinstance(variable, dict) and "value" in variable:
                variable["value"] = REDACTED
    for extender in _list(manifest.get("extenders")):
        tls = extender.get("tlsConfig") if isinstance(extender, dict) else None
        if isinstance(tls, dict):
            for key in _TLS_SECRETS & tls.keys():
                tls[key] = REDACTED
    if manifest.get("kind") == "ConfigMap":
        for part in ("data", "binaryData"):
            if isinstance(manifest.get(part), dict):
                manifest[part] = dict.fromkeys(manifest[part], REDACTED)
    return manifest


def _containers(manifest: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Of a pod, and of the pod templates of controllers (one or two levels down: CronJob)."""
    spec = manifest.get("spec")
    for _ in range(4):
        if not isinstance(spec, dict):
            return
        for name in _CONTAINER_LISTS:
            yield from (c for c in _list(spec.get(name)) if isinstance(c, dict))
        below = spec.get("template") or spec.get("jobTemplate")
        spec = below.get("spec") if isinstance(below, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

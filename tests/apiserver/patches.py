"""JSON merge patches (RFC 7386) and strategic merge patches, as far as Kubernetes objects use them."""

from __future__ import annotations

import copy
from typing import Any

from tests.apiserver import statuses
from tests.apiserver.kinds import Json

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
TYPES = (MERGE, STRATEGIC)

_EVERYWHERE = {"metadata.ownerReferences": "uid", "metadata.finalizers": ""}
_POD_CONTAINERS = {
    f"spec.{containers}{rest}": key
    for containers in ("containers", "initContainers", "ephemeralContainers")
    for rest, key in (
        ("", "name"),
        (".env", "name"),
        (".ports", "containerPort"),
        (".volumeMounts", "mountPath"),
        (".volumeDevices", "devicePath"),
    )
}
_BY_KIND: dict[str, dict[str, str]] = {
    "Pod": {
        **_POD_CONTAINERS,
        "spec.volumes": "name",
        "spec.imagePullSecrets": "name",
        "spec.hostAliases": "ip",
        "spec.schedulingGates": "name",
        "spec.resourceClaims": "name",
        "spec.topologySpreadConstraints": "topologyKey",
        "status.conditions": "type",
        "status.podIPs": "ip",
        "status.hostIPs": "ip",
        "status.resourceClaimStatuses": "name",
    },
    "Node": {"status.conditions": "type", "status.addresses": "type", "spec.podCIDRs": ""},
    "PersistentVolumeClaim": {"status.conditions": "type"},
    "PodDisruptionBudget": {"status.conditions": "type"},
    "PodGroup": {"status.conditions": "type"},
    "ResourceClaim": {"status.reservedFor": "uid"},
    "ServiceAccount": {"secrets": "name", "imagePullSecrets": "name"},
    "Service": {"spec.ports": "port", "status.conditions": "type"},
}
"""Lists that merge instead of being replaced: the key of their elements, empty for lists of plain values
(``patchStrategy`` and ``patchMergeKey`` in upstream's types)."""


def merge(target: Any, patch: Any) -> Any:
    """RFC 7386: objects merge, null removes, anything else replaces."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def strategic(kind: str, target: Json, patch: Json) -> Json:
    """A strategic merge patch applied to an object of that kind; 400 for directives that do not fit."""
    merged: Json = _objects({**_EVERYWHERE, **_BY_KIND.get(kind, {})}, target, patch, "")
    return merged


def _objects(keys: dict[str, str], target: Any, patch: Json, path: str) -> Any:
    directive = patch.get("$patch")
    given = {key: value for key, value in patch.items() if not key.startswith("$")}
    if directive == "delete":
        return {}
    if directive == "replace":
        return copy.deepcopy(given)
    result = dict(target) if isinstance(target, dict) else {}
    if (retained := patch.get("$retainKeys")) is not None:
        result = {key: value for key, value in result.items() if key in retained}
    for key, values in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.partition("/")[2]
            result[name] = [value for value in result.get(name) or [] if value not in values]
    for key, value in given.items():
        inner = f"{path}.{key}" if path else key
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = _objects(keys, result.get(key), value, inner)
        elif isinstance(value, list) and inner in keys:
            live = result.get(key) or []
            result[key] = _lists(keys, live, value, inner)
            if keys[inner] and f"$setElementOrder/{key}" not in patch:
                # Those that the patch names, in its order: what is new comes first.
                _order(result, key, [each for each in value if "$patch" not in each], keys[inner], live)
        else:
            result[key] = copy.deepcopy(value)
    for key, order in patch.items():
        if key.startswith("$setElementOrder/"):
            name = key.partition("/")[2]
            live = (target.get(name) if isinstance(target, dict) else None) or []
            _order(result, name, order, keys.get(f"{path}.{name}" if path else name), live)
    return result


def _lists(keys: dict[str, str], target: list[Any], patch: list[Any], path: str) -> list[Any]:
    merge_key = keys[path]
    if not merge_key:
        return [*target, *(value for value in patch if value not in target)]
    if any(isinstance(element, dict) and element.get("$patch") == "replace" for element in patch):
        return [copy.deepcopy(element) for element in patch if element.get("$patch") != "replace"]
    result = list(target)
    for element in patch:
        if not isinstance(element, dict) or merge_key not in element:
            raise statuses.bad_request(f"map: {element} does not contain declared merge key: {merge_key}")
        found = next((at for at, old in enumerate(result) if old.get(merge_key) == element[merge_key]), None)
        if element.get("$patch") == "delete":
            if found is not None:
                del result[found]
        elif found is None:
            result.append(_objects(keys, {}, element, path))
        else:
            result[found] = _objects(keys, result[found], element, path)
    return result


def _order(result: Json, name: str, order: list[Any], merge_key: str | None, live: list[Any]) -> None:
    """The named ones in this order; each other one before the first named one that it stood before."""
    elements = result.get(name)
    if not elements or merge_key is None:
        return

    def identity(element: Any) -> Any:
        return element.get(merge_key) if merge_key else element

    wanted = [identity(each) for each in order]
    stood = {identity(each): at for at, each in enumerate(live)}
    named = sorted(
        (each for each in elements if identity(each) in wanted), key=lambda each: wanted.index(identity(each))
    )
    merged: list[Any] = []
    others = [each for each in elements if identity(each) not in wanted]
    for each in named:
        at = stood.get(identity(each), -1)
        while others and stood.get(identity(others[0]), at) < at:
            merged.append(others.pop(0))
        merged.append(each)
    result[name] = [*merged, *others]

"""What is served where: /version, /readyz, /api, /apis and the resources of each version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tests.apiserver.kinds import Json, Kind

VERSION: Json = {
    "major": "1",
    "minor": "36",
    "emulationMajor": "1",
    "emulationMinor": "36",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "35",
    "gitVersion": "v1.36.2",
    "gitCommit": "0000000000000000000000000000000000000000",
    "gitTreeState": "clean",
    "buildDate": "2026-06-01T00:00:00Z",
    "goVersion": "go1.26.0",
    "compiler": "gc",
    "platform": "linux/amd64",
}
_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]
_SUBRESOURCES = {
    "pods": (("binding", "Binding", ["create"]), ("eviction", "Eviction", ["create"])),
}


def document(path: str, kinds: Mapping[tuple[str, str], Kind], version: Json) -> Json | str | None:
    """The document at a path that is no resource; text for the health checks; None where there is nothing."""
    path = path.rstrip("/")
    if path in ("/readyz", "/healthz", "/livez"):
        return "ok"
    if path == "/version":
        return version
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
    groups = sorted({(kind.group, kind.version) for kind in kinds.values() if kind.group})
    if path == "/apis":
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(*group) for group in groups]}
    parts = path.split("/")[1:]
    if len(parts) == 2 and parts[0] == "apis":
        found = next((group for group in groups if group[0] == parts[1]), None)
        return {"kind": "APIGroup", "apiVersion": "v1", **_group(*found)} if found else None
    group, version_name = ("", parts[1]) if parts[0] == "api" and len(parts) == 2 else ("", "")
    if len(parts) == 3 and parts[0] == "apis":
        group, version_name = parts[1], parts[2]
    served = [kind for kind in kinds.values() if (kind.group, kind.version) == (group, version_name)]
    return _resources(f"{group}/{version_name}" if group else version_name, served) if served else None


def _group(name: str, version: str) -> Json:
    shown = {"groupVersion": f"{name}/{version}", "version": version}
    return {"name": name, "versions": [shown], "preferredVersion": shown}


def _resources(group_version: str, served: Iterable[Kind]) -> Json:
    resources: list[Json] = []
    for kind in served:
        shown = {"singularName": kind.name.lower(), "namespaced": kind.namespaced, "kind": kind.name}
        resources.append({"name": kind.plural, **shown, "verbs": _VERBS})
        if kind.status:
            resources.append(
                {"name": f"{kind.plural}/status", **shown, "singularName": "", "verbs": ["get", "patch", "update"]}
            )
        for name, of_kind, verbs in _SUBRESOURCES.get(kind.plural, ()):
            resources.append(
                {"name": f"{kind.plural}/{name}", **shown, "singularName": "", "kind": of_kind, "verbs": verbs}
            )
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": resources}

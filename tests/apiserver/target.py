"""What a request is about: upstream's RequestInfo, as authorization and the handlers look at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.apiserver import selectors, statuses
from tests.apiserver.kinds import Kind

_VERBS = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_OF_NAMESPACES = ("status", "finalize")


@dataclass(frozen=True)
class Target:
    """``kind`` is None for paths that are no resources; ``path`` is what rules on those name."""

    verb: str
    path: str
    kind: Kind | None = None
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def resource(self) -> str:
        """As rules name it: ``pods``, ``pods/binding``."""
        if self.kind is None:
            return ""
        return f"{self.kind.plural}/{self.subresource}" if self.subresource else self.kind.plural


def is_true(value: str | None) -> bool:
    return value is not None and value.lower() in ("true", "1", "t")


def read_target(method: str, path: str, query: Mapping[str, str], kinds: Mapping[tuple[str, str], Kind]) -> Target:
    """The target of a path; a resource that is not served is no resource."""
    other = Target(verb=method.lower(), path=path)
    parts = [part for part in path.split("/") if part]
    if parts[:2] == ["api", "v1"]:
        group, version, rest = "", "v1", parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return other
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces" and rest[2] not in _OF_NAMESPACES:
        namespace, rest = rest[1], rest[2:]
    kind = kinds.get((group, rest[0])) if rest else None
    if kind is None or kind.version != version or len(rest) > 3 or method not in _VERBS:
        return other
    if namespace and not kind.namespaced:
        return other
    name, subresource = (*rest[1:], "", "")[:2]
    verb = _VERBS[method]
    if not name:
        verb = _of_many(verb, query)
        name = _selected_name(query) if verb in ("list", "watch") else ""
    return Target(verb, path, kind, namespace, name, subresource)


def _of_many(verb: str, query: Mapping[str, str]) -> str:
    if verb == "get":
        return "watch" if is_true(query.get("watch")) else "list"
    return "deletecollection" if verb == "delete" else verb


def _selected_name(query: Mapping[str, str]) -> str:
    """A list or watch of one object by its name: rules with resourceNames allow it (upstream does the same)."""
    try:
        terms = selectors.field_terms(query.get("fieldSelector", ""))
    except statuses.ApiError:
        return ""
    return next((value for field, equal, value in terms if field == "metadata.name" and equal), "")

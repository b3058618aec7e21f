"""Who asks, and what they may do: bearer tokens, client certificates, rules as RBAC has them, reviews."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.apiserver import statuses
from tests.apiserver.kinds import Json
from tests.apiserver.target import Target

Rule = Mapping[str, Sequence[str]]
"""A PolicyRule as manifests write it: verbs, apiGroups, resources, resourceNames, nonResourceURLs."""

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
ANONYMOUS_GROUP = "system:unauthenticated"

PUBLIC: tuple[Rule, ...] = ({"verbs": ["get"], "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version"]},)
BASIC: tuple[Rule, ...] = (
    {
        "verbs": ["create"],
        "apiGroups": ["authorization.k8s.io"],
        "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
    },
    {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
    {"verbs": ["get"], "nonResourceURLs": ["/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/readyz"]},
    {"verbs": ["get"], "nonResourceURLs": ["/openapi", "/openapi/*", "/version", "/version/"]},
)
"""What system:basic-user, system:discovery and system:public-info-viewer give to everybody who is known."""

_READ_CORE = (
    "nodes",
    "pods",
    "namespaces",
    "services",
    "replicationcontrollers",
    "persistentvolumes",
    "persistentvolumeclaims",
    "events",
)
_READ_MORE = {
    "apps": ("replicasets", "statefulsets"),
    "policy": ("poddisruptionbudgets",),
    "storage.k8s.io": ("csinodes", "csidrivers", "csistoragecapacities", "storageclasses", "volumeattachments"),
    "resource.k8s.io": ("resourceclaims", "resourceslices", "deviceclasses", "resourceclaimtemplates"),
    "scheduling.k8s.io": ("priorityclasses",),
    "node.k8s.io": ("runtimeclasses",),
    "events.k8s.io": ("events",),
}
READER: tuple[Rule, ...] = tuple(
    {"verbs": ["get", "list", "watch"], "apiGroups": [group], "resources": list(resources)}
    for group, resources in (("", _READ_CORE), *_READ_MORE.items())
)
"""What looking at a cluster needs, and nothing more."""
EVERYTHING: tuple[Rule, ...] = (
    {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
    {"verbs": ["*"], "nonResourceURLs": ["*"]},
)


@dataclass(frozen=True)
class User:
    name: str
    groups: tuple[str, ...] = (AUTHENTICATED,)


ANONYMOUS = User("system:anonymous", (ANONYMOUS_GROUP,))


@dataclass(frozen=True)
class Grant:
    """Rules for a user or group, in one namespace or (empty) everywhere; ``role`` is what reviews name."""

    subject: str
    rules: tuple[Rule, ...]
    namespace: str = ""
    role: str = "granted"


def _within(listed: Sequence[str] | None, wanted: str) -> bool:
    return listed is not None and ("*" in listed or wanted in listed)


def _resource_within(listed: Sequence[str], resource: str) -> bool:
    if _within(listed, resource):
        return True
    subresource = resource.partition("/")[2]
    return bool(subresource) and f"*/{subresource}" in listed


def _path_within(listed: Sequence[str], path: str) -> bool:
    return any(url == path or (url.endswith("*") and path.startswith(url[:-1])) for url in listed)


def rule_allows(rule: Rule, *, verb: str, group: str, resource: str, name: str) -> bool:
    """As upstream's RuleAllows: a rule with names allows only requests that name one of them."""
    names = rule.get("resourceNames")
    return (
        _within(rule.get("verbs"), verb)
        and _within(rule.get("apiGroups"), group)
        and _resource_within(rule.get("resources", ()), resource)
        and (not names or name in names)
    )


@dataclass
class Access:
    """The accounts and grants of a server; changes hold from the next request on."""

    tokens: dict[str, User] = field(default_factory=dict)
    grants: list[Grant] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.grants += [
            Grant(MASTERS, EVERYTHING, role="cluster-admin"),
            Grant(AUTHENTICATED, BASIC, role="system:basic-user"),
            Grant(AUTHENTICATED, PUBLIC, role="system:public-info-viewer"),
            Grant(ANONYMOUS_GROUP, PUBLIC, role="system:public-info-viewer"),
        ]

    def authenticate(self, authorization: str | None, certificate: Mapping[str, Any] | None) -> User:
        """401 for a token that is not known; without token and certificate it is the anonymous user."""
        if authorization is not None:
            scheme, _, token = authorization.partition(" ")
            user = self.tokens.get(token.strip()) if scheme.lower() == "bearer" else None
            if user is None:
                raise statuses.unauthorized()
            return user
        if certificate:
            return _of_certificate(certificate)
        return ANONYMOUS

    def of(self, user: User) -> list[Grant]:
        return [grant for grant in self.grants if grant.subject == user.name or grant.subject in user.groups]

    def why_allowed(self, user: User, *, verb: str, group: str, resource: str, namespace: str, name: str) -> str | None:
        """The sentence of a review that allows; None where nothing does."""
        for grant in self.of(user):
            if grant.namespace not in ("", namespace):
                continue
            if any(rule_allows(rule, verb=verb, group=group, resource=resource, name=name) for rule in grant.rules):
                return _reason(grant, user)
        return None

    def why_not(self, user: User, *, verb: str, group: str, resource: str) -> str:
        """In all namespaces: the sentence of a refusal; "" where it is allowed."""
        if self.why_allowed(user, verb=verb, group=group, resource=resource, namespace="", name="") is not None:
            return ""
        named = f"{resource.partition('/')[0]}.{group}"
        who = f'User "{user.name}" cannot {verb} resource "{resource}"'
        return f'{named} is forbidden: {who} in API group "{group}" at the cluster scope'

    def path_allowed(self, user: User, verb: str, path: str) -> str | None:
        for grant in self.of(user):
            for rule in grant.rules:
                if _within(rule.get("verbs"), verb) and _path_within(rule.get("nonResourceURLs", ()), path):
                    return _reason(grant, user)
        return None

    def check(self, user: User, target: Target) -> None:
        """403 with upstream's words where no rule allows it."""
        if target.kind is None:
            if self.path_allowed(user, target.verb, target.path) is None:
                raise forbidden_path(user, target)
            return
        allowed = self.why_allowed(
            user,
            verb=target.verb,
            group=target.kind.group,
            resource=target.resource,
            namespace=target.namespace,
            name=target.name,
        )
        if allowed is None:
            raise forbidden(user, target)


def _of_certificate(certificate: Mapping[str, Any]) -> User:
    """Common name and organizations, as upstream reads them."""
    found: dict[str, list[str]] = {}
    for part in certificate["subject"]:
        for key, value in part:
            found.setdefault(key, []).append(value)
    groups = (*found.get("organizationName", ()), AUTHENTICATED)
    return User(found.get("commonName", [""])[0], groups)


def _reason(grant: Grant, user: User) -> str:
    kind = "RoleBinding" if grant.namespace else "ClusterRoleBinding"
    named = f"{grant.role}/{grant.namespace}" if grant.namespace else grant.role
    who = f'User "{user.name}"' if grant.subject == user.name else f'Group "{grant.subject}"'
    return f'RBAC: allowed by {kind} "{named}" of {kind.removesuffix("Binding")} "{grant.role}" to {who}'


def forbidden(user: User, target: Target) -> statuses.ApiError:
    """Recorded: forbidden_403, api_restart."""
    kind = target.kind
    if kind is None:
        return forbidden_path(user, target)
    where = f'in the namespace "{target.namespace}"' if target.namespace else "at the cluster scope"
    named = f'{kind.resource} "{target.name}"' if target.name else kind.resource
    message = (
        f'{named} is forbidden: User "{user.name}" cannot {target.verb} resource "{target.resource}" '
        f'in API group "{kind.group}" {where}'
    )
    details = statuses.details_of(kind, target.name)
    return statuses.ApiError(403, statuses.failure(403, "Forbidden", message, details))


def forbidden_path(user: User, target: Target) -> statuses.ApiError:
    message = f'forbidden: User "{user.name}" cannot {target.verb} path "{target.path}"'
    return statuses.ApiError(403, statuses.failure(403, "Forbidden", message, {}))


def review_access(access: Access, user: User, body: Json) -> Json:
    """A SelfSubjectAccessReview answered."""
    spec = body.get("spec", {})
    if about := spec.get("resourceAttributes"):
        resource = "/".join(part for part in (about.get("resource", ""), about.get("subresource", "")) if part)
        reason = access.why_allowed(
            user,
            verb=about.get("verb", ""),
            group=about.get("group", ""),
            resource=resource,
            namespace=about.get("namespace", ""),
            name=about.get("name", ""),
        )
    elif path := spec.get("nonResourceAttributes"):
        reason = access.path_allowed(user, path.get("verb", ""), path.get("path", ""))
    else:
        raise statuses.bad_request("spec.resourceAttributes or spec.nonResourceAttributes is required")
    status: Json = {"allowed": reason is not None}
    if reason is not None:
        status["reason"] = reason
    return _review("SelfSubjectAccessReview", spec, status)


def review_rules(access: Access, user: User, body: Json) -> Json:
    """A SelfSubjectRulesReview answered: all that is allowed in one namespace."""
    namespace = body.get("spec", {}).get("namespace", "")
    if not namespace:
        raise statuses.bad_request("no namespace on request")
    resource_rules: list[Json] = []
    path_rules: list[Json] = []
    for grant in access.of(user):
        if grant.namespace in ("", namespace):
            _sort_rules(grant.rules, resource_rules, path_rules)
    status = {"resourceRules": resource_rules, "nonResourceRules": path_rules, "incomplete": False}
    return _review("SelfSubjectRulesReview", {}, status)


def _sort_rules(rules: Iterable[Rule], resource_rules: list[Json], path_rules: list[Json]) -> None:
    for rule in rules:
        if rule.get("nonResourceURLs"):
            path_rules.append({"verbs": list(rule["verbs"]), "nonResourceURLs": list(rule["nonResourceURLs"])})
        else:
            shown = ("verbs", "apiGroups", "resources", "resourceNames")
            resource_rules.append({key: list(rule[key]) for key in shown if rule.get(key)})


def review_self(user: User) -> Json:
    status = {"userInfo": {"username": user.name, "groups": list(user.groups)}}
    return {**_review("SelfSubjectReview", {}, status), "apiVersion": "authentication.k8s.io/v1"}


def _review(kind: str, spec: Json, status: Json) -> Json:
    return {
        "kind": kind,
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": spec,
        "status": status,
    }

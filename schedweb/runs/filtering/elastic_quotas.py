"""ElasticQuotas of a run with what is used of them, counted as CapacityScheduling counts.

As the run has its pods now; docs/semantics/catalogue.md#quotas says what a bound means that leaves a resource out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from framework.objects import Pod
from framework.objects.catalogue import ElasticQuota
from framework.objects.decode import decode_manifest
from framework.objects.resources import CPU, MEMORY
from framework.plugins.capacityscheduling.quotas import ALWAYS_BOUND, NO_LIMIT, Quota, request_of, total
from schedweb.engine.amounts import amount_text
from schedweb.runs.filtering.standing import StandingPod
from schedweb.runs.objects.claims import Objects

PLUGIN: Final = "CapacityScheduling"


@dataclass(frozen=True, slots=True)
class NamespaceQuota:
    name: str
    quota: Quota

    @property
    def namespace(self) -> str:
        return self.quota.namespace

    def used(self, resource: str) -> int:
        return self.quota.used.get(resource, 0)

    def least(self, resource: str) -> int:
        return self.quota.least.get(resource, 0)

    def most(self, resource: str) -> int | None:
        """None: as much as there is."""
        bound = self.quota.most.get(resource, 0 if resource in ALWAYS_BOUND else NO_LIMIT)
        return None if bound >= NO_LIMIT else bound


def quotas_of(objects: Objects, pods: Iterable[StandingPod]) -> list[NamespaceQuota]:
    """In order of namespace; of two in one namespace the first by name counts."""
    found: dict[str, NamespaceQuota] = {}
    for manifest in objects.all("ElasticQuota"):
        quota = decode_manifest({"apiVersion": ElasticQuota.api_version, **manifest})
        if isinstance(quota, ElasticQuota):
            found.setdefault(quota.metadata.namespace, NamespaceQuota(quota.metadata.name, Quota.of(quota)))
    if found:
        for each in pods:
            if each.node and each.namespace in found:
                found[each.namespace].quota.add(each.pod)
    return [found[namespace] for namespace in sorted(found)]


def exceeded(request: Mapping[str, int], used: Mapping[str, int], bound: Mapping[str, int], unbound: int) -> str:
    """The first resource of which both together are more than the bound; "" for none."""
    others = [name for name in request if name not in ALWAYS_BOUND]
    for name in (*ALWAYS_BOUND, *others):
        limit = bound.get(name, 0 if name in ALWAYS_BOUND else unbound)
        if request.get(name, 0) + used.get(name, 0) > limit:
            return name
    return ""


def quotas_body(quotas: list[NamespaceQuota], pod: Pod) -> dict[str, Any]:
    """Per resource what every namespace uses, is guaranteed and may use, beside what ``pod`` asks for."""
    request = request_of(pod)
    resources = [
        {**body, "asked": amount_body(body["name"], request.get(body["name"], 0))} for body in resource_bodies(quotas)
    ]
    return {"namespace": pod.metadata.namespace, "resources": resources}


def resource_bodies(quotas: list[NamespaceQuota]) -> list[dict[str, Any]]:
    """Of every resource that a quota bounds, and of which there is anything to show."""
    named = {name for each in quotas for part in (each.quota.least, each.quota.most) for name in part}
    return [
        _resource_body(name, quotas)
        for name in resource_order(named)
        if any(each.least(name) or each.most(name) or each.used(name) for each in quotas)
    ]


def resource_order(names: set[str]) -> list[str]:
    return sorted(names & {CPU, MEMORY}) + sorted(names - {CPU, MEMORY})


def _resource_body(resource: str, quotas: list[NamespaceQuota]) -> dict[str, Any]:
    used, least = (total(*parts).get(resource, 0) for parts in _parts(quotas))
    return {
        "name": resource,
        "used": amount_body(resource, used),
        "min": amount_body(resource, least),
        "quotas": [
            {
                "namespace": each.namespace,
                "name": each.name,
                "depth": 0,
                "used": amount_body(resource, each.used(resource)),
                "min": amount_body(resource, each.least(resource)),
                "max": None if (most := each.most(resource)) is None else amount_body(resource, most),
                "share": None,
            }
            for each in quotas
        ],
    }


def _parts(quotas: list[NamespaceQuota]) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    return [each.quota.used for each in quotas], [each.quota.least for each in quotas]


def amount_body(resource: str, amount: int) -> dict[str, Any]:
    return {"amount": amount, "text": amount_text(resource, amount)}

"""Remedies for refusals of plugins from scheduler-plugins: quotas, NUMA zones, costs of the network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from shlex import quote
from typing import Final

from msgspec.structs import replace

from framework.advice.amounts import exactly
from framework.advice.candidates import Case, Family, Kind, PossibleRemedy, beside_others, with_others
from framework.advice.lowering import lowered, written
from framework.advice.operations import operation
from framework.advice.patches import Patch, applied, object_diff
from framework.advice.trial import Edit
from framework.objects import KubeObject, Pod
from framework.objects.catalogue import (
    AppGroup,
    AppGroupDependency,
    AppGroupMember,
    ElasticQuota,
    NetworkTopology,
    NodeResourceTopology,
    TopologyZone,
)
from framework.objects.metadata import ResourceList
from framework.objects.pod import Container
from framework.objects.qos import GUARANTEED, pod_qos
from framework.objects.quantity import NANOS, parse_quantity
from framework.objects.resources import CPU, Resources, resource_value
from framework.objects.simple_requests import effective_request, simple_requests
from framework.plugins.capacityscheduling.quotas import ALWAYS_BOUND, NO_LIMIT, Quota, total
from framework.plugins.noderesourcetopology.fits import suits
from framework.plugins.noderesourcetopology.zones import ZONE_TYPE, zone_id
from framework.sentences import Sentence, joined_with_and, sentence

QUOTAS: Final = "CapacityScheduling"
ZONES: Final = "NodeResourceTopologyMatch"
NETWORK: Final = "NetworkOverhead"
ZONES_TRIED: Final = 8
LEAST_SHARE: Final = 2
"""Nobody asks for less than this part (1/n) of what was asked for."""


# --- quotas -----------------------------------------------------------------------------------------------------------


def raised_quotas(case: Case) -> Iterator[Family]:
    """Max and min of the pod's namespace, raised to what is used with this pod, and with those that come before it."""
    if not _quotas_count(case):
        return
    own = min(
        case.cluster.list(ElasticQuota, case.pod.metadata.namespace), key=lambda each: each.metadata.name, default=None
    )
    if own is None:
        return

    def family(quota: ElasticQuota) -> Family:
        for others in beside_others(case):
            raised, words = _raised(case, quota, others)
            if raised == quota or not case.fits_after([Edit(quota, raised)]):
                return
            yield _quota_remedy(quota, raised, words, [pod for pod in others if pod not in case.siblings])

    yield family(own)


def _quotas_count(case: Case) -> bool:
    """Alone a pod of a group may be within its quota."""
    if QUOTAS in case.rejected_by:
        return True
    return bool(case.siblings) and QUOTAS in case.trial.scheduler.profiles[case.pod.spec.scheduler_name].plugins


def quota_for_all(case: Case) -> Iterator[PossibleRemedy]:
    """As ``raised_quotas``, for all that came before the pod in any play, whether it is enough or not."""
    if not _quotas_count(case):
        return
    found = case.cluster.list(ElasticQuota, case.pod.metadata.namespace)
    for quota in sorted(found, key=lambda each: each.metadata.name)[:1]:
        raised, words = _raised(case, quota, tuple(case.ever_first.values()))
        if raised != quota:
            yield _quota_remedy(quota, raised, words, tuple(case.ever_first.values()))


def _quota_remedy(
    quota: ElasticQuota, raised: ElasticQuota, words: Sequence[Sentence], others: Sequence[Pod]
) -> PossibleRemedy:
    text = sentence("Raise {what} in ElasticQuota {quota}", what=joined_with_and(words), quota=quota.key)
    return of_object("quota", with_others(text, others), quota, raised, {"spec": changed_bounds(quota, raised)})


def changed_bounds(before: ElasticQuota, after: ElasticQuota) -> dict[str, ResourceList]:
    """What of both bounds differs."""
    named = {"min": (before.spec.min, after.spec.min), "max": (before.spec.max, after.spec.max)}
    return {
        name: {resource: amount for resource, amount in (new or {}).items() if (old or {}).get(resource) != amount}
        for name, (old, new) in named.items()
        if old != new
    }


def _raised(case: Case, quota: ElasticQuota, others: Sequence[Pod]) -> tuple[ElasticQuota, list[Sentence]]:
    """The quota with bounds that are just enough for the pod beside ``others``, and what that changes in words."""
    request = simple_requests(case.pod)
    counted = _counted(case)
    for pod in others:
        if pod.metadata.namespace in counted:
            counted[pod.metadata.namespace].add(pod)
    own = counted[quota.metadata.namespace]
    spec, words = quota.spec, list[Sentence]()
    if spec.max is not None:
        needed = total(own.used, request)
        over = {name: needed[name] for name in _over(request, needed, own.most, NO_LIMIT)}
        words += bounds_in_words("max", spec.max, over)
        spec = replace(spec, max=with_amounts(spec.max, over)) if over else spec
    everywhere = total(*(each.used for each in counted.values()), request)
    guaranteed = total(*(each.least for each in counted.values()))
    over = {
        name: own.least.get(name, 0) + everywhere[name] - guaranteed.get(name, 0)
        for name in _over(request, everywhere, guaranteed, 0)
    }
    words += bounds_in_words("min", spec.min or {}, over)
    spec = replace(spec, min=with_amounts(spec.min or {}, over)) if over else spec
    return replace(quota, spec=spec), words


def _counted(case: Case) -> dict[str, Quota]:
    """By namespace, with the pods that have a node."""
    quotas: dict[str, Quota] = {}
    for each in sorted(case.trial.cluster.list(ElasticQuota), key=lambda each: each.key):
        quotas.setdefault(each.metadata.namespace, Quota.of(each))
    for pod in case.trial.cluster.list(Pod):
        if pod.spec.node_name and pod.metadata.namespace in quotas:
            quotas[pod.metadata.namespace].add(pod)
    return quotas


def _over(request: Resources, needed: Resources, bound: Resources, unbound: int) -> list[str]:
    names = dict.fromkeys((*ALWAYS_BOUND, *(name for name in request if name not in ALWAYS_BOUND)))
    return [name for name in names if needed.get(name, 0) > bound.get(name, 0 if name in ALWAYS_BOUND else unbound)]


def with_amounts(amounts: ResourceList, over: Mapping[str, int]) -> ResourceList:
    return {**amounts, **{name: written(name, amount) for name, amount in over.items()}}


def bounds_in_words(bound: str, amounts: ResourceList, over: Mapping[str, int]) -> list[Sentence]:
    return [
        sentence(
            "{resource} {bound} from {old} to {new}",
            bound=bound,
            resource=name,
            old=exactly(name, resource_value(name, amounts[name])) if name in amounts else 0,
            new=exactly(name, amount),
        )
        for name, amount in over.items()
    ]


def of_object(kind: Kind, text: Sentence, before: KubeObject, after: KubeObject, merged: object) -> PossibleRemedy:
    """One object changed; ``merged``: the same as a merge patch."""
    about = before.metadata
    where = f" -n {quote(about.namespace)}" if about.namespace else ""
    patch = quote(json.dumps(merged, separators=(",", ":")))
    command = f"kubectl patch {before.kind.lower()} {quote(about.name)}{where} --type=merge -p {patch}"
    shown = Patch((command,), object_diff(before, after))
    return PossibleRemedy(kind, text, (operation("replace", after),), shown)


# --- NUMA zones -------------------------------------------------------------------------------------------------------


def freed_zones(case: Case) -> Iterator[Family]:
    """The zones that lack the least, if they had it free: the agent on the node reports it when pods there end."""
    if ZONES not in case.rejected_by:
        return

    def family() -> Family:
        for topology, zone, missing in _lacking(case):
            freed = _with_free(topology, zone, missing)
            if freed is None or not case.fits_after([Edit(topology, freed)]):
                continue
            text = sentence(
                "Free {what} in NUMA zone {zone} of {node}",
                what=_zone_words(missing),
                zone=zone.name,
                node=topology.metadata.name,
            )
            yield PossibleRemedy("zone", text, (operation("replace", freed),), Patch((), object_diff(topology, freed)))

    yield family()


def fitted_to_zones(case: Case) -> Iterator[Family]:
    """Requests cut to what the nearest zone has."""
    if ZONES not in case.rejected_by:
        return

    def family() -> Family:
        request = effective_request(case.pod)
        for _, _, missing in _lacking(case):
            have = {name: max(0, request[name] - lacking) for name, lacking in missing.items()}
            if any(have[name] * LEAST_SHARE < request[name] for name in have):
                continue
            targets = {name: _whole(name, nanos) for name, nanos in have.items()}
            pod = lowered(case.pod, targets)
            if pod is not None and pod_qos(case.pod) == GUARANTEED:
                pod = _limited(pod, targets)
            if pod is None or not case.fits(pod):
                continue
            what = [
                sentence(
                    "{resource} from {asked} to {less}",
                    resource=name,
                    asked=exactly(name, _whole(name, request[name])),
                    less=exactly(name, target),
                )
                for name, target in targets.items()
            ]
            text = sentence("Lower the request of {what}", what=joined_with_and(what))
            yield case.with_pods("lower", text, pod)

    yield family()


def _limited(pod: Pod, resources: Iterable[str]) -> Pod:
    """With limits that are its requests, as a Guaranteed pod has to have them."""

    def container(each: Container) -> Container:
        amounts, limits = each.resources.requests or {}, each.resources.limits or {}
        same = {**limits, **{name: amounts[name] for name in resources if name in amounts}}
        return replace(each, resources=replace(each.resources, limits=same))

    spec = pod.spec
    inits, containers = (tuple(map(container, each)) for each in (spec.init_containers, spec.containers))
    return replace(pod, spec=replace(spec, init_containers=inits, containers=containers))


def _lacking(case: Case) -> list[tuple[NodeResourceTopology, TopologyZone, dict[str, int]]]:
    """Zones with what they lack for the whole pod, in billionths, those that lack the smallest share first."""
    request, qos = effective_request(case.pod), pod_qos(case.pod)
    found = []
    for topology in case.trial.cluster.list(NodeResourceTopology):
        for zone in topology.zones:
            if zone.type != ZONE_TYPE or zone_id(zone.name) is None:
                continue
            available = {each.name: parse_quantity(each.available).nanos for each in zone.resources}
            missing = {
                name: amount - available[name]
                for name, amount in request.items()
                if amount and name in available and not suits(qos, name, amount, available[name])
            }
            if missing:
                share = sum(amount / request[name] for name, amount in missing.items())
                found.append((share, topology.key, zone.name, topology, zone, missing))
    return [each[3:] for each in sorted(found, key=lambda each: each[:3])[:ZONES_TRIED]]


def _with_free(
    topology: NodeResourceTopology, zone: TopologyZone, missing: Mapping[str, int]
) -> NodeResourceTopology | None:
    """None where the zone is too small for it even when it is empty."""
    resources = []
    for each in zone.resources:
        if each.name in missing:
            free = parse_quantity(each.available).nanos + missing[each.name]
            if free > parse_quantity(each.allocatable).nanos:
                return None
            each = replace(each, available=written(each.name, _whole(each.name, free)))
        resources.append(each)
    zones = tuple(replace(zone, resources=tuple(resources)) if each is zone else each for each in topology.zones)
    return replace(topology, zones=zones)


def _zone_words(missing: Mapping[str, int]) -> object:
    return joined_with_and(
        [
            sentence("{amount} {resource}", amount=exactly(name, _whole(name, amount)), resource=name)
            for name, amount in missing.items()
        ]
    )


def _whole(resource: str, nanos: int) -> int:
    """Millicores of cpu, units of all else."""
    return nanos // (NANOS // 1000 if resource == CPU else NANOS)


# --- the network ------------------------------------------------------------------------------------------------------


def allowed_costs(case: Case) -> Iterator[Family]:
    """What the pod's workload may pay to reach another, or all others, raised to the lowest that does of the costs that
    there are."""
    if NETWORK not in case.rejected_by:
        return
    labels = case.pod.metadata.labels
    group, workload = labels.get(AppGroup.GROUP_LABEL, ""), labels.get(AppGroup.WORKLOAD_LABEL, "")
    costs = sorted(
        {
            cost.network_cost
            for topology in case.cluster.list(NetworkTopology)
            for weights in topology.spec.weights
            for listed in weights.topology_list
            for origin in listed.origin_list
            for cost in origin.cost_list
        }
    )

    def family() -> Family:
        groups = [each for each in case.cluster.list(AppGroup) if each.metadata.name == group]
        for known in sorted(groups, key=lambda each: each.key):
            reached = _reached(known, workload)
            if not costs or not case.fits_after([Edit(known, _allowing(known, workload, reached, costs[-1]))]):
                continue
            for cost, others in product(costs, dict.fromkeys([*((one,) for one in reached), reached])):
                changed = _allowing(known, workload, others, cost)
                if changed == known or not case.fits_after([Edit(known, changed)]):
                    continue
                text = sentence(
                    "Allow {workload} a network cost of {cost} to {others} in AppGroup {group}",
                    workload=workload,
                    cost=cost,
                    others=joined_with_and(list(others)),
                    group=known.key,
                )
                patch = Patch(applied(changed), object_diff(known, changed))
                yield PossibleRemedy("network", text, (operation("replace", changed),), patch)
                return

    yield family()


def _reached(group: AppGroup, workload: str) -> tuple[str, ...]:
    """Selectors of the workloads that it depends on, in order."""
    members = (each for each in group.spec.workloads if each.workload.selector == workload)
    return tuple(dict.fromkeys(one.workload.selector for each in members for one in each.dependencies))


def _allowing(group: AppGroup, workload: str, others: Iterable[str], cost: int) -> AppGroup:
    def wider(one: AppGroupDependency) -> AppGroupDependency:
        if one.workload.selector not in others:
            return one
        return replace(one, max_network_cost=max(one.max_network_cost, cost))

    def member(each: AppGroupMember) -> AppGroupMember:
        if each.workload.selector != workload:
            return each
        return replace(each, dependencies=tuple(map(wider, each.dependencies)))

    return replace(group, spec=replace(group.spec, workloads=tuple(map(member, group.spec.workloads))))

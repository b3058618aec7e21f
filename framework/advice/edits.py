"""A pod with one thing changed: what could be asked of its author."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from framework.objects import Pod, Taint, Toleration
from framework.objects.metadata import LabelSelector, RawQuantity, ResourceList
from framework.objects.pod import Container, ResourceRequirements
from framework.objects.quantity import Format, format_milli, format_value
from framework.objects.resources import CPU, is_extended_resource_name, pod_requests, resource_value
from framework.said import Said, noted, said

MEBIBYTE = 1 << 20
TERMS: Final = {
    "pod_affinity": noted("Drop the required pod affinity to {pods} per {key}"),
    "pod_anti_affinity": noted("Drop the required pod anti-affinity to {pods} per {key}"),
}


def in_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")


def written(resource: str, amount: int) -> str:
    """As a manifest writes it; ``amount`` in millicores, bytes or units."""
    if resource == CPU:
        return format_milli(amount)
    return format_value(amount, Format.BINARY_SI if in_bytes(resource) else Format.DECIMAL_SI)


def tolerating(pod: Pod, taints: tuple[Taint, ...]) -> Pod:
    more = tuple(
        Toleration(key=t.key, operator="Equal" if t.value else "Exists", value=t.value, effect=t.effect) for t in taints
    )
    return replace(pod, spec=replace(pod.spec, tolerations=(*pod.spec.tolerations, *more)))


def lowered(pod: Pod, targets: Mapping[str, int]) -> Pod | None:
    """The pod asking for ``targets`` at most in all, its containers sharing the cut evenly; None where overhead alone
    is more. Limits of resources that cannot be overcommitted follow their requests."""
    asked = pod_requests(pod)
    overhead = {name: resource_value(name, raw) for name, raw in (pod.spec.overhead or {}).items()}
    shares: dict[str, tuple[int, int]] = {}
    for resource, target in targets.items():
        own, wanted = asked[resource] - overhead.get(resource, 0), target - overhead.get(resource, 0)
        if wanted < 0 or own <= 0:
            return None
        shares[resource] = (wanted, own)
    resources = pod.spec.resources
    spec = replace(
        pod.spec,
        containers=tuple(_cut_container(each, shares) for each in pod.spec.containers),
        init_containers=tuple(_cut_container(each, shares) for each in pod.spec.init_containers),
        resources=None if resources is None else _cut(resources, shares),
    )
    return replace(pod, spec=spec)


def _cut_container(container: Container, shares: Mapping[str, tuple[int, int]]) -> Container:
    return replace(container, resources=_cut(container.resources, shares))


def _cut(resources: ResourceRequirements, shares: Mapping[str, tuple[int, int]]) -> ResourceRequirements:
    requests: ResourceList = dict(resources.requests or {})
    limits: ResourceList = dict(resources.limits or {})
    for resource, (wanted, own) in shares.items():
        if resource not in requests:
            continue
        requests[resource] = _scaled(resource, requests[resource], wanted, own)
        if resource in limits and (is_extended_resource_name(resource) or resource.startswith("hugepages-")):
            limits[resource] = requests[resource]
    return replace(
        resources,
        requests=requests if resources.requests is not None else None,
        limits=limits if resources.limits is not None else None,
    )


def _scaled(resource: str, raw: RawQuantity, wanted: int, own: int) -> str:
    return written(resource, resource_value(resource, raw) * wanted // own)


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A rule of the pod that is dropped or softened: in words, and the pod without it."""

    text: Said
    pod: Pod


def relaxations(pod: Pod) -> Iterator[tuple[Relaxation, ...]]:
    """Per rule of the pod, its relaxations from the smallest to the whole."""
    spec = pod.spec
    for key, value in (spec.node_selector or {}).items():
        kept = {other: v for other, v in (spec.node_selector or {}).items() if other != key}
        changed = replace(pod, spec=replace(spec, node_selector=kept or None))
        yield (Relaxation(said("Drop the node selector {label}", label=f"{key}={value}"), changed),)
    affinity = spec.affinity
    if affinity is not None:
        nodes = affinity.node_affinity
        if nodes is not None and nodes.required_during_scheduling_ignored_during_execution is not None:
            without = replace(nodes, required_during_scheduling_ignored_during_execution=None)
            changed = replace(pod, spec=replace(spec, affinity=replace(affinity, node_affinity=without)))
            yield (Relaxation(said("Drop the required node affinity"), changed),)
        for field_name, text in TERMS.items():
            rules = getattr(affinity, field_name)
            terms = rules.required_during_scheduling_ignored_during_execution if rules is not None else ()
            for i, term in enumerate(terms):
                rest = replace(rules, required_during_scheduling_ignored_during_execution=(*terms[:i], *terms[i + 1 :]))
                changed = replace(pod, spec=replace(spec, affinity=replace(affinity, **{field_name: rest})))
                about = {"pods": selector_words(term.label_selector), "key": term.topology_key}
                yield (Relaxation(Said(text, about), changed),)
    yield from _spread_relaxations(pod)


MOST_SKEW = 10


def _spread_relaxations(pod: Pod) -> Iterator[tuple[Relaxation, ...]]:
    constraints = pod.spec.topology_spread_constraints
    for i, constraint in enumerate(constraints):
        if constraint.when_unsatisfiable != "DoNotSchedule":
            continue
        steps = []
        key, skew = constraint.topology_key, constraint.max_skew
        for larger in range(skew + 1, skew + MOST_SKEW + 1):
            softer = (*constraints[:i], replace(constraint, max_skew=larger), *constraints[i + 1 :])
            text = said("Raise maxSkew of the spread over {key} from {now} to {more}", key=key, now=skew, more=larger)
            steps.append(Relaxation(text, _with_spread(pod, softer)))
        preferred = (*constraints[:i], replace(constraint, when_unsatisfiable="ScheduleAnyway"), *constraints[i + 1 :])
        steps.append(
            Relaxation(said("Make the spread over {key} ScheduleAnyway", key=key), _with_spread(pod, preferred))
        )
        yield tuple(steps)


def _with_spread(pod: Pod, constraints: tuple[object, ...]) -> Pod:
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=constraints))


def selector_words(selector: LabelSelector | None) -> Said:
    """``pods app=web``; expressions in kubectl's form."""
    if selector is None:
        return said("no pod")
    parts = [f"{key}={value}" for key, value in sorted(selector.match_labels.items())]
    for each in selector.match_expressions:
        values = ",".join(each.values)
        match each.operator:
            case "In":
                parts.append(f"{each.key} in ({values})")
            case "NotIn":
                parts.append(f"{each.key} notin ({values})")
            case "Exists":
                parts.append(each.key)
            case _:
                parts.append(f"!{each.key}")
    return said("pods {selector}", selector=",".join(parts)) if parts else said("all pods")

"""A pod with one thing changed: what could be asked of its author."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from framework.objects import Pod, Taint, Toleration
from framework.objects.affinity import PreferredSchedulingTerm, TopologySpreadConstraint, WeightedPodAffinityTerm
from framework.objects.metadata import LabelSelector
from framework.sentences import Sentence, noted, sentence

TERMS: Final = {
    "pod_affinity": noted("Make the required pod affinity to {pods} per {key} preferred"),
    "pod_anti_affinity": noted("Make the required pod anti-affinity to {pods} per {key} preferred"),
}
ASKED_MOST: Final = 100
"""The weight of what was required and is only preferred: the highest there is."""
OF_THE_MACHINE: Final = frozenset({"kubernetes.io/os", "kubernetes.io/arch"})
"""Labels that say what a container can run on at all; nobody drops these."""


def tolerating(pod: Pod, taints: tuple[Taint, ...]) -> Pod:
    more = tuple(
        Toleration(key=t.key, operator="Equal" if t.value else "Exists", value=t.value, effect=t.effect) for t in taints
    )
    return replace(pod, spec=replace(pod.spec, tolerations=(*pod.spec.tolerations, *more)))


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A rule of the pod that is dropped or softened: in words, and the pod without it."""

    text: Sentence
    pod: Pod


def relaxations(pod: Pod) -> Iterator[tuple[Relaxation, ...]]:
    """Per rule of the pod, its relaxations from the smallest to the whole."""
    spec = pod.spec
    for key, value in (spec.node_selector or {}).items():
        if key in OF_THE_MACHINE:
            continue
        kept = {other: v for other, v in (spec.node_selector or {}).items() if other != key}
        changed = replace(pod, spec=replace(spec, node_selector=kept or None))
        yield (Relaxation(sentence("Drop the node selector {label}", label=f"{key}={value}"), changed),)
    affinity = spec.affinity
    if affinity is not None:
        nodes = affinity.node_affinity
        if nodes is not None and nodes.required_during_scheduling_ignored_during_execution is not None:
            terms = nodes.required_during_scheduling_ignored_during_execution.node_selector_terms
            softer = replace(
                nodes,
                required_during_scheduling_ignored_during_execution=None,
                preferred_during_scheduling_ignored_during_execution=(
                    *(nodes.preferred_during_scheduling_ignored_during_execution or ()),
                    *(PreferredSchedulingTerm(weight=ASKED_MOST, preference=term) for term in terms),
                ),
            )
            changed = replace(pod, spec=replace(spec, affinity=replace(affinity, node_affinity=softer)))
            yield (Relaxation(sentence("Make the required node affinity preferred"), changed),)
        for field_name, text in TERMS.items():
            rules = getattr(affinity, field_name)
            terms = rules.required_during_scheduling_ignored_during_execution if rules is not None else ()
            for i, term in enumerate(terms):
                about = {"pods": selector_words(term.label_selector), "key": term.topology_key}
                yield (Relaxation(Sentence(text, about), term_preferred(pod, field_name, i)),)
    yield from _spread_relaxations(pod)


def term_preferred(pod: Pod, field_name: str, index: int) -> Pod:
    """Its required term number ``index`` of ``pod_affinity`` or ``pod_anti_affinity`` is preferred instead."""
    affinity = pod.spec.affinity
    assert affinity is not None
    rules = getattr(affinity, field_name)
    terms = rules.required_during_scheduling_ignored_during_execution
    softer = replace(
        rules,
        required_during_scheduling_ignored_during_execution=(*terms[:index], *terms[index + 1 :]),
        preferred_during_scheduling_ignored_during_execution=(
            *rules.preferred_during_scheduling_ignored_during_execution,
            WeightedPodAffinityTerm(weight=ASKED_MOST, pod_affinity_term=terms[index]),
        ),
    )
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, **{field_name: softer})))


def spread_instead(pod: Pod, index: int) -> Pod:
    """Its required pod anti-affinity term number ``index`` as a spread over the same key that allows one pod more."""
    affinity = pod.spec.affinity
    assert affinity is not None
    assert affinity.pod_anti_affinity is not None
    rules = affinity.pod_anti_affinity
    terms = rules.required_during_scheduling_ignored_during_execution
    term = terms[index]
    rest = replace(rules, required_during_scheduling_ignored_during_execution=(*terms[:index], *terms[index + 1 :]))
    constraint = TopologySpreadConstraint(
        max_skew=1,
        topology_key=term.topology_key,
        when_unsatisfiable="DoNotSchedule",
        label_selector=term.label_selector,
    )
    spread = (*pod.spec.topology_spread_constraints, constraint)
    affinity = replace(affinity, pod_anti_affinity=rest)
    return replace(pod, spec=replace(pod.spec, affinity=affinity, topology_spread_constraints=spread))


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
            text = sentence(
                "Raise maxSkew of the spread over {key} from {now} to {more}", key=key, now=skew, more=larger
            )
            steps.append(Relaxation(text, _with_spread(pod, softer)))
        preferred = (*constraints[:i], replace(constraint, when_unsatisfiable="ScheduleAnyway"), *constraints[i + 1 :])
        steps.append(
            Relaxation(sentence("Make the spread over {key} ScheduleAnyway", key=key), _with_spread(pod, preferred))
        )
        yield tuple(steps)


def _with_spread(pod: Pod, constraints: tuple[object, ...]) -> Pod:
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=constraints))


def selector_words(selector: LabelSelector | None) -> Sentence:
    """``pods app=web``; expressions in kubectl's form."""
    if selector is None:
        return sentence("no pod")
    parts = [f"{key}={value}" for key, value in sorted(selector.match_labels.items())]
    parts += (requirement_words(each.key, each.operator, each.values) for each in selector.match_expressions)
    return sentence("pods {selector}", selector=",".join(parts)) if parts else sentence("all pods")


def requirement_words(key: str, operator: str, values: Sequence[str]) -> str:
    """``key in (a,b)``, as kubectl takes a selector."""
    among = ",".join(values)
    match operator:
        case "In":
            return f"{key} in ({among})"
        case "NotIn":
            return f"{key} notin ({among})"
        case "Exists":
            return key
        case "Gt":
            return f"{key} > {among}"
        case "Lt":
            return f"{key} < {among}"
        case _:
            return f"!{key}"

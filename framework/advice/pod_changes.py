"""Changes to a pod that may help it: of its gates, its scheduler, its labels' values, its rules, its requests."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from msgspec.structs import replace

from framework.advice.amounts import exactly
from framework.advice.candidates import Case, Family, PossibleRemedy
from framework.advice.edits import relaxations, tolerating
from framework.advice.lowering import MEBIBYTE, in_bytes, lowered
from framework.advice.operations import operation
from framework.advice.patches import Patch, taint_words
from framework.advice.spelling import meant, meant_key
from framework.interface.node_info import NodeInfo
from framework.objects import Node, ObjectMeta, Pod, PriorityClass, Taint
from framework.objects.resources import pod_requests
from framework.objects.tolerations import NO_EXECUTE, NO_SCHEDULE, tolerates
from framework.profiles import priority_of
from framework.sentences import Sentence, counted_sentence, joined_with_and, sentence

TAINT_SETS_TRIED: Final = 20
TARGETS_TRIED: Final = 3
MEMBERS_TRIED: Final = 8
"""Of a gang, among which what a node has left is divided."""
LEAST_SHARE: Final = 2
"""Nobody asks for less than this part (1/n) of what was asked for."""
CONDITION_TAINTS: Final = "node.kubernetes.io/"
"""Taints that say how a node is; who tolerates them wants to be there."""
CLOSE: Final = 0.6
"""How alike a word must be to be taken for a typing error (difflib's ratio)."""
HIGHEST_PRIORITY: Final = 1_000_000_000
"""Classes of users end here (upstream HighestUserDefinablePriority)."""


def other_profiles(case: Case, names: list[str]) -> Iterator[Family]:
    """``schedulerName`` names none of ``names``: the closest first."""
    asked = case.live.spec.scheduler_name
    close = get_close_matches(asked, names, 1, CLOSE)
    yield (
        case.with_pods(
            "profile",
            sentence("Use the scheduler {name} instead of {asked}", name=name, asked=asked),
            replace(case.pod, spec=replace(case.pod.spec, scheduler_name=name)),
        )
        for name in [*close, *(name for name in names if name not in close)]
    )


def gates(case: Case) -> Iterator[Family]:
    for text, pod in without_own_gates(case.pod):
        if case.fits(pod):
            yield iter([case.with_pods("gate", text, pod, in_place=True)])


def without_own_gates(pod: Pod) -> Iterator[tuple[Sentence, Pod]]:
    names = [gate.name for gate in pod.spec.scheduling_gates]
    if names:
        text = counted_sentence(
            "Remove the scheduling gate {gates}", "Remove the scheduling gates {gates}", len(names), gates=names
        )
        yield text, replace(pod, spec=replace(pod.spec, scheduling_gates=()))


def renamed(case: Case) -> Iterator[Family]:
    """A value or a key of its node selector, or of its required node affinity, that no node has, but nearly."""
    known: dict[str, set[str]] = {}
    for node in case.cluster.list(Node):
        for key, value in node.metadata.labels.items():
            known.setdefault(key, set()).add(value)
    for old, new, pod in _spelled_right(case.pod, known):
        if case.fits(pod):
            text = sentence("Change {old} to {new}, which nodes have", old=old, new=new)
            yield iter([case.with_pods("rename", text, pod)])


def _spelled_right(pod: Pod, known: dict[str, set[str]]) -> Iterator[tuple[str, str, Pod]]:
    spec = pod.spec
    selector = spec.node_selector or {}
    for key, value in selector.items():
        found = _nearest_label(key, value, known)
        if found is not None:
            changed = dict([found if each == (key, value) else each for each in selector.items()])
            yield f"{key}={value}", "=".join(found), replace(pod, spec=replace(spec, node_selector=changed))
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    if affinity is None or required is None or spec.affinity is None:
        return
    for i, term in enumerate(required.node_selector_terms):
        for j, rule in enumerate(term.match_expressions):
            if rule.operator != "In" or len(rule.values) != 1:
                continue
            (value,) = rule.values
            found = _nearest_label(rule.key, value, known)
            if found is None:
                continue
            right = replace(rule, key=found[0], values=(found[1],))
            rules = (*term.match_expressions[:j], right, *term.match_expressions[j + 1 :])
            terms = list(required.node_selector_terms)
            terms[i] = replace(term, match_expressions=rules)
            selected = replace(required, node_selector_terms=tuple(terms))
            nodes = replace(affinity, required_during_scheduling_ignored_during_execution=selected)
            changed_spec = replace(spec, affinity=replace(spec.affinity, node_affinity=nodes))
            yield f"{rule.key}={value}", "=".join(found), replace(pod, spec=changed_spec)


def _nearest_label(key: str, value: str, known: dict[str, set[str]]) -> tuple[str, str] | None:
    """What was meant by a label that no node has; None where some node has it, or nothing is like it."""
    values = known.get(key)
    if values is not None:
        right = meant(value, values)
        return (key, right) if right else None
    name = meant_key(key, (name for name, held in known.items() if value in held))
    return (name, value) if name else None


def tolerations(case: Case) -> Iterator[Family]:
    """The sets of taints that keep it from some node, smallest first; sets that contain one that helps are out."""
    helpful: list[set[str]] = []
    for taints in taint_sets(case):
        names = {taint_words(taint) for taint in taints}
        pod = tolerating(case.pod, taints)
        if any(known <= names for known in helpful) or not case.fits(pod):
            continue
        helpful.append(names)
        text = counted_sentence(
            "Tolerate the taint {taints}",
            "Tolerate the taints {taints}",
            len(taints),
            taints=joined_with_and([taint_words(taint) for taint in taints]),
        )
        yield iter([case.with_pods("tolerate", text, pod)])


def taint_sets(case: Case) -> list[tuple[Taint, ...]]:
    """Of nodes that are not cordoned; taints that the node's condition sets are left to whoever mends the node."""
    sets: dict[tuple[str, ...], tuple[Taint, ...]] = {}
    for node in case.cluster.list(Node):
        hard = not_tolerated(case, node)
        if hard and not any(taint.key.startswith(CONDITION_TAINTS) for taint in hard):
            sets.setdefault(tuple(sorted(taint_words(taint) for taint in hard)), hard)
    ordered = sorted(sets.items(), key=lambda each: (len(each[0]), each[0]))
    return [taints for _, taints in ordered[:TAINT_SETS_TRIED]]


def not_tolerated(case: Case, node: Node) -> tuple[Taint, ...]:
    tolerations, comparisons = case.pod.spec.tolerations, case.cluster.comparisons
    return tuple(
        taint
        for taint in node.spec.taints
        if taint.effect in (NO_SCHEDULE, NO_EXECUTE) and not tolerates(tolerations, taint, comparisons=comparisons)
    )


def relaxed(case: Case) -> Iterator[Family]:
    for steps in relaxations(case.pod):
        # Each step allows what the one before allows: whether the last helps decides about all of them.
        if len(steps) == 1 or case.fits(steps[-1].pod):
            yield (case.with_pods("relax", step.text, step.pod) for step in steps if case.fits(step.pod))


def smaller(case: Case) -> Iterator[Family]:
    """One request cut alone, as little as possible; only if none helps alone, several together."""
    asked = {name: amount for name, amount in pod_requests(case.pod).items() if amount}
    alone = [family for name in sorted(asked) if (family := list(_cut(case, asked, (name,))))]
    if not alone and (together := list(_cut(case, asked, tuple(sorted(asked))))):
        alone = [together]
    yield from (iter(family) for family in alone)


def _cut(case: Case, asked: dict[str, int], names: tuple[str, ...]) -> Iterator[PossibleRemedy]:
    """Where it would fit if it asked for none of ``names`` tells how much of them is free there."""
    nothing = lowered(case.pod, dict.fromkeys(names, 0))
    outcome = case.fits(nothing) if nothing is not None else None
    if outcome is None or outcome.attempt is None or outcome.attempt.filter is None:
        return
    snapshot = case.trial.scheduler.core.snapshot
    verdicts = outcome.attempt.filter
    # Pods of its gang that are changed with it share what a node has left.
    members = min(len(case.workload.alike), MEMBERS_TRIED) if case.trial.gang else 1
    options: list[tuple[float, str, dict[str, int]]] = []
    for position, node in enumerate(verdicts.nodes):
        info = snapshot.get(node) if verdicts.verdict[position] == 0 else None
        for share in range(1, members + 1):
            targets = _room(info, asked, names, case.pod, share) if info is not None else None
            if targets and all(targets != known for _, _, known in options):
                cut = sum(1 - target / asked[name] for name, target in targets.items())
                options.append((cut, node, targets))
    found = 0
    for _, _, targets in sorted(options, key=lambda each: each[:2])[: TARGETS_TRIED * members]:
        pod = lowered(case.pod, targets)
        if pod is not None and case.fits(pod):
            what = [
                sentence(
                    "{resource} from {asked} to {less}",
                    resource=name,
                    asked=exactly(name, asked[name]),
                    less=exactly(name, target),
                )
                for name, target in targets.items()
            ]
            yield case.with_pods("lower", sentence("Lower the request of {what}", what=what), pod)
            found += 1


def _room(node: NodeInfo, asked: dict[str, int], names: tuple[str, ...], pod: Pod, share: int) -> dict[str, int] | None:
    """What of ``names`` the node has left for each of ``share`` pods, where that is less than asked; None where it is
    less than the half of it.

    In whole millicores, mebibytes and units.
    """
    targets = {}
    for name in names:
        used = sum(other.requests.get(name, 0) for other in node.pods if other.uid != pod.metadata.uid)
        free = (node.allocatable.get(name, 0) - used) // share
        if free >= asked[name]:
            continue
        if in_bytes(name):
            free = free // MEBIBYTE * MEBIBYTE
        if free <= 0 or free * LEAST_SHARE < asked[name]:
            return None
        targets[name] = free
    return targets or None


def higher_priority(case: Case, rivals: list[int]) -> Iterator[Family]:
    """The lowest priority whose preemption makes room, of the PriorityClass that is just enough; then higher ones.

    ``rivals``: priorities of pending pods that get the room the pod would need.
    """
    own = priority_of(case.pod)
    placed = {priority_of(pod) for pod in case.trial.cluster.list(Pod) if pod.spec.node_name}
    wanted = {level + 1 for level in (*placed, *rivals) if level >= own}
    if placed and min(placed) < own and case.pod.spec.preemption_policy == "Never":
        wanted.add(own)
    levels = sorted(level for level in wanted if level <= HIGHEST_PRIORITY)
    if levels and (not rivals or max(levels) > own):
        yield _priorities(case, levels, own, bool(rivals))


def _priorities(case: Case, levels: list[int], own: int, has_rivals: bool) -> Iterator[PossibleRemedy]:
    classes = [each for each in case.cluster.list(PriorityClass) if each.preemption_policy != "Never"]
    classes.sort(key=lambda each: (each.value, each.metadata.name))
    known: set[str] = set()
    for level in levels:
        chosen = next((each for each in classes if level <= each.value <= HIGHEST_PRIORITY), None)
        made = chosen is None
        if chosen is None:
            chosen = PriorityClass(metadata=ObjectMeta(name=f"priority-{level}"), value=level)
        name, value = chosen.metadata.name, chosen.value
        if name in known:
            continue
        known.add(name)
        spec = replace(
            case.pod.spec, priority=value, preemption_policy="PreemptLowerPriority", priority_class_name=name
        )
        pod = replace(case.pod, spec=spec)
        if not has_rivals and not case.trial.schedule(pod, preempting=True).node:
            continue
        about = {"name": name, "value": value, "own": own}
        if value == own:
            text = sentence("Let it preempt: PriorityClass {name}, which does not say preemptionPolicy Never", **about)
        elif made:
            text = sentence("Create a PriorityClass of {value} for it, instead of {own}", **about)
        else:
            text = sentence("Give it the PriorityClass {name}: priority {value} instead of {own}", **about)
        candidate = case.with_pods("priority", text, pod)
        if made:
            first = f"kubectl create priorityclass {name} --value={value}"
            patch = Patch((first, *candidate.patch.commands), candidate.patch.diff)
            operations = (operation("add", chosen), *candidate.operations)
            candidate = PossibleRemedy("priority", text, operations, patch, candidate.changed)
        yield candidate

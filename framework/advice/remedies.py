"""What would help a pod that found no node: the smallest change of each kind, tried out before it is named.

A remedy is only listed when the pod, scheduled on a copy of the cluster with the change made, found a place. Of each
kind the smallest is meant: no fewer pods of one node, no smaller node of a shape the cluster has, no subset of the
taints, no smaller cut of a request, no smaller step of a spread, no lower priority.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, Literal

import msgspec
from msgspec.structs import replace

from framework.advice.amounts import about, exactly
from framework.advice.edits import MEBIBYTE, in_bytes, lowered, relaxations, tolerating
from framework.advice.freeing import Freed, fewest_to_free, leaving, single_elsewhere
from framework.advice.operations import Operation, operation
from framework.advice.scratch import HOSTNAME, with_its_own
from framework.advice.trial import Edit, Outcome, Trial
from framework.interface.node_info import NodeInfo
from framework.objects import Node, Pod, PriorityClass, Taint
from framework.objects.pod import PodStatus
from framework.objects.resources import node_allocatable, pod_requests
from framework.objects.tolerations import NO_EXECUTE, NO_SCHEDULE, tolerates
from framework.profiles import priority_of
from framework.said import Content, Said, Words, said, said_both, said_counted
from framework.scheduler import Scheduler

Kind = Literal["gate", "uncordon", "tolerate", "relax", "lower", "node", "priority", "move", "free"]

SHAPES_TRIED: Final = 20
TAINT_SETS_TRIED: Final = 20
NODES_UNCORDONED: Final = 20
PODS_NAMED: Final = 3
PODS_MOVED: Final = 4
"""More pods than this are not moved to make room on one node."""
MOVES_TRIED: Final = 20
CORDONED: Final = "node.kubernetes.io/unschedulable"
HIGHEST_PRIORITY: Final = 1_000_000_000
"""Classes of users end here (upstream HighestUserDefinablePriority)."""


class Remedy(msgspec.Struct, frozen=True):
    kind: Kind
    text: Said
    node: str
    """Where the pod went when it was tried."""
    cost: Words
    """What it costs others; "" for nothing."""
    left_pending: int
    """Other pods that had a node and find none afterwards."""
    operations: tuple[Operation, ...]


def what_would_help(scheduler: Scheduler, pod: Pod) -> tuple[Remedy, ...]:
    """Remedies, the least disruptive first; none when ``pod`` fits as it is or nothing known helps.

    ``scheduler`` stays as it is. Raises ValueError for a pod of a schedulerName without profile.
    """
    if scheduler.profiles.get(pod.spec.scheduler_name) is None:
        raise ValueError(f"no profile for schedulerName {pod.spec.scheduler_name}")
    trial = Trial(scheduler, pod)
    as_it_is = trial.schedule(preempting=True)
    if as_it_is.node:
        return ()
    search = _Search(trial, pod, as_it_is.attempt.unschedulable_plugins if as_it_is.attempt is not None else ())
    found = [
        *search.gates(),
        *search.uncordoned(),
        *search.tolerations(),
        *search.relaxed(),
        *search.smaller(),
        *search.new_node(),
        *search.higher_priority(),
        *search.freed(),
    ]
    return tuple(sorted(found, key=lambda each: each.left_pending))


def fits_on(scheduler: Scheduler, pod: Pod) -> str:
    """The node that ``pod`` would get as it is, beside nobody else who is pending; "" when it gets none."""
    return Trial(scheduler, pod).schedule(preempting=True).node


class _Search:
    def __init__(self, trial: Trial, live: Pod, rejected_by: tuple[str, ...]) -> None:
        self.trial = trial
        self.rejected_by = rejected_by
        self.pod = trial.pod
        self.live = live
        """The pod as the cluster holds it: what operations are about."""

    # --- of the pod -------------------------------------------------------------------------------------------------

    def gates(self) -> Iterator[Remedy]:
        gates = self.pod.spec.scheduling_gates
        if not gates:
            return
        outcome = self._try_pod(replace(self.pod, spec=replace(self.pod.spec, scheduling_gates=())))
        if outcome is not None:
            names = [gate.name for gate in gates]
            text = said_counted(
                "Remove the scheduling gate {gates}", "Remove the scheduling gates {gates}", len(names), gates=names
            )
            yield self._of_pod("gate", text, outcome)

    def tolerations(self) -> Iterator[Remedy]:
        """The sets of taints that keep it from some node, smallest first; sets that contain one that helps are out."""
        sets: dict[tuple[tuple[str, str, str], ...], tuple[Taint, ...]] = {}
        for node in self.trial.cluster.list(Node):
            hard = tuple(
                taint
                for taint in node.spec.taints
                if taint.effect in (NO_SCHEDULE, NO_EXECUTE) and not tolerates(self.pod.spec.tolerations, taint)
            )
            # A node that is cordoned is to be uncordoned.
            if hard and not any(taint.key == CORDONED for taint in hard):
                sets.setdefault(tuple(sorted((t.key, t.value, t.effect) for t in hard)), hard)
        helpful: list[set[tuple[str, str, str]]] = []
        for keys, taints in sorted(sets.items(), key=lambda each: (len(each[0]), each[0]))[:TAINT_SETS_TRIED]:
            if any(known <= set(keys) for known in helpful):
                continue
            outcome = self._try_pod(tolerating(self.pod, taints))
            if outcome is not None:
                helpful.append(set(keys))
                named = said_both([f"{t.key}{f'={t.value}' if t.value else ''}:{t.effect}" for t in taints])
                text = said_counted(
                    "Tolerate the taint {taints}", "Tolerate the taints {taints}", len(taints), taints=named
                )
                yield self._of_pod("tolerate", text, outcome)

    def relaxed(self) -> Iterator[Remedy]:
        for steps in relaxations(self.pod):
            # Each step allows what the one before allows: whether the last helps decides about all of them.
            if len(steps) > 1 and self._try_pod(steps[-1].pod) is None:
                continue
            for step in steps:
                outcome = self._try_pod(step.pod)
                if outcome is not None:
                    yield self._of_pod("relax", step.text, outcome)
                    break

    def smaller(self) -> Iterator[Remedy]:
        """One request cut alone, each as little as possible; only if none helps alone, several together."""
        asked = {name: amount for name, amount in pod_requests(self.pod).items() if amount}
        alone = [remedy for name in sorted(asked) for remedy in self._cut(asked, (name,))]
        yield from alone or self._cut(asked, tuple(sorted(asked)))

    def _cut(self, asked: dict[str, int], names: tuple[str, ...]) -> Iterator[Remedy]:
        """Where it would fit if it asked for none of ``names`` tells how much of them is free there."""
        nothing = lowered(self.pod, dict.fromkeys(names, 0))
        outcome = self._try_pod(nothing) if nothing is not None else None
        if outcome is None or outcome.attempt is None or outcome.attempt.filter is None:
            return
        snapshot = self.trial.scheduler.core.snapshot
        verdicts = outcome.attempt.filter
        options: list[tuple[float, str, dict[str, int]]] = []
        for position, node in enumerate(verdicts.nodes):
            info = snapshot.get(node) if verdicts.verdict[position] == 0 else None
            targets = _room(info, asked, names, self.trial.pod) if info is not None else None
            if targets:
                cut = sum(1 - target / asked[name] for name, target in targets.items())
                options.append((cut, node, targets))
        for _, _, targets in sorted(options, key=lambda each: each[:2])[:3]:
            smaller = lowered(self.pod, targets)
            found = self._try_pod(smaller) if smaller is not None else None
            if found is not None:
                what = [
                    said(
                        "{resource} from {asked} to {less}",
                        resource=name,
                        asked=exactly(name, asked[name]),
                        less=exactly(name, target),
                    )
                    for name, target in targets.items()
                ]
                yield self._of_pod("lower", said("Lower the request of {what}", what=what), found)
                return

    def higher_priority(self) -> Iterator[Remedy]:
        """The lowest priority whose preemption makes room, and whom it evicts."""
        own = priority_of(self.pod)
        placed = {priority_of(pod) for pod in self.trial.cluster.list(Pod) if pod.spec.node_name}
        levels = sorted({own, *(level + 1 for level in placed if level >= own)})
        levels = [level for level in levels if level <= HIGHEST_PRIORITY and level > min(placed, default=level)]
        if not levels or self._preempting(levels[-1]) is None:
            return
        low, high = 0, len(levels) - 1  # a higher priority may evict whomever a lower one may
        while low < high:
            middle = (low + high) // 2
            if self._preempting(levels[middle]) is None:
                low = middle + 1
            else:
                high = middle
        found = self._preempting(levels[high])
        assert found is not None
        pod, outcome = found
        if levels[high] == own:
            text = said("Let it preempt: preemptionPolicy PreemptLowerPriority instead of Never")
        else:
            values = {"own": own, "priority": self._with_class(levels[high])}
            if self.live.spec.preemption_policy == "Never":
                text = said("Raise its priority from {own} to {priority} and let it preempt", **values)
            else:
                text = said("Raise its priority from {own} to {priority}", **values)
        homeless, moved = _by_fate(outcome)
        cost = said("Evicts {pods}.", pods=_pods_in_words(outcome.evicted))
        if moved:
            elsewhere = [said("{pod} on {node}", pod=each.key, node=node) for each, node in moved]
            there = said("There is another place for {places}.", places=_few(elsewhere))
            cost = said("{first} {second}", first=cost, second=there)
        yield Remedy("priority", text, outcome.node, cost, len(homeless), (self._replaced(pod),))

    def _preempting(self, level: int) -> tuple[Pod, Outcome] | None:
        spec = replace(self.pod.spec, priority=level, preemption_policy="PreemptLowerPriority", priority_class_name="")
        pod = replace(self.pod, spec=spec)
        outcome = self.trial.schedule(pod, preempting=True)
        return (pod, outcome) if outcome.node and outcome.evicted else None

    def _with_class(self, level: int) -> Content:
        """``500 (PriorityClass high, 1,000)``: the lowest class that is enough."""
        fitting = [each for each in self.trial.cluster.list(PriorityClass) if level <= each.value <= HIGHEST_PRIORITY]
        if not fitting:
            return level
        lowest = min(fitting, key=lambda each: (each.value, each.metadata.name))
        return said(
            "{level} (PriorityClass {name}, {value})", level=level, name=lowest.metadata.name, value=lowest.value
        )

    # --- of the cluster ---------------------------------------------------------------------------------------------

    def uncordoned(self) -> Iterator[Remedy]:
        """The first cordoned node, in order of name, that would take it."""
        cordoned = sorted((n for n in self.trial.cluster.list(Node) if n.spec.unschedulable), key=lambda n: n.key)
        for node in cordoned[:NODES_UNCORDONED]:
            taints = tuple(taint for taint in node.spec.taints if taint.key != CORDONED)
            usable = replace(node, spec=replace(node.spec, unschedulable=False, taints=taints))
            outcome = self._try([Edit(node, usable)])
            if outcome is not None:
                text = said("Uncordon {node}", node=node.metadata.name)
                yield Remedy("uncordon", text, outcome.node, "", 0, (operation("replace", usable),))
                return

    def new_node(self) -> Iterator[Remedy]:
        """The smallest shape of the cluster's nodes that would take it as an additional node."""
        for node in _shapes(self.trial.cluster.list(Node), pod_requests(self.pod))[:SHAPES_TRIED]:
            added = with_its_own(self.trial.cluster, node, 1)
            outcome = self._try([Edit(None, each) for each in added])
            if outcome is not None:
                text = said("Add a node like {node} ({size})", node=node.metadata.name, size=_size(node))
                yield Remedy("node", text, outcome.node, "", 0, tuple(operation("add", each) for each in added))
                return

    def freed(self) -> Iterator[Remedy]:
        """Pods that leave a node, as few as possible; where one of them finds no other place, also pods that all do."""
        found = fewest_to_free(self.trial)
        if found is None or len(found.pods) > 1:
            found = single_elsewhere(self.trial, self.rejected_by) or found
        if found is None:
            return
        outcome = self._without(found)
        if outcome is None:
            return
        homeless, _ = _by_fate(outcome)
        if homeless and (moved := self._all_moved()) is not None:
            yield moved
        yield self._freed(found, outcome)

    def _all_moved(self) -> Remedy | None:
        for found in islice(leaving(self.trial, PODS_MOVED), MOVES_TRIED):
            outcome = self._without(found)
            if outcome is not None and all(node not in ("", outcome.node) for _, node in outcome.displaced):
                remedy = self._freed(found, outcome)
                if remedy.kind == "move":
                    return remedy
        return None

    def _without(self, found: Freed) -> Outcome | None:
        return self._try([Edit(pod, None) for pod in found.pods], then=found.pods)

    def _freed(self, found: Freed, outcome: Outcome) -> Remedy:
        homeless, moved = _by_fate(outcome)
        deleted = [operation("remove", pod) for pod in found.pods]
        # Who comes back to where they left do so after the pod, which their controller sees to.
        there = [_moved(pod, node) for pod, node in moved if node != outcome.node]
        added = [operation("add", pod) for pod in there] if self._goes_with(there, found, outcome.node) else []
        operations = (*deleted, *added)
        goes = _few([said("{pod} to {node}", pod=pod.key, node=node) for pod, node in moved])
        if len(added) == len(deleted):
            return Remedy("move", said("Move {moves}", moves=goes), outcome.node, "", 0, operations)
        stay = said_counted(
            "Afterwards {pods} finds no place.",
            "Afterwards {pods} find no place.",
            len(homeless),
            pods=_pods_in_words(homeless),
        )
        go = said("Moves {moves}.", moves=goes)
        cost = said("{first} {second}", first=stay, second=go) if homeless and moved else stay if homeless else go
        text = said("Free {pods} from {node}", pods=_pods_in_words(found.pods), node=found.node)
        return Remedy("free", text, outcome.node, cost, len(homeless), operations)

    def _goes_with(self, there: Sequence[Pod], found: Freed, node: str) -> bool:
        """Whether the pod still goes to ``node`` when those that moved are in their places before it."""
        edits = [*(Edit(pod, None) for pod in found.pods), *(Edit(None, pod) for pod in there)]
        outcome = self._try(edits) if there else None
        return outcome is not None and outcome.node == node

    # --- trying -----------------------------------------------------------------------------------------------------

    def _try_pod(self, pod: Pod) -> Outcome | None:
        outcome = self.trial.schedule(pod)
        return outcome if outcome.node else None

    def _try(self, edits: Iterable[Edit], then: tuple[Pod, ...] = ()) -> Outcome | None:
        outcome = self.trial.schedule(edits=edits, then=then)
        return outcome if outcome.node else None

    def _of_pod(self, kind: Kind, text: Said, outcome: Outcome) -> Remedy:
        assert outcome.attempt is not None
        tried = self.trial.last_pod
        return Remedy(kind, text, outcome.node, "", 0, (self._replaced(tried),))

    def _replaced(self, changed: Pod) -> Operation:
        """The live pod with the specification that was tried."""
        spec = replace(changed.spec, preemption_policy=self.live.spec.preemption_policy)
        if changed.spec.priority != self.live.spec.priority or changed.spec.preemption_policy == "PreemptLowerPriority":
            spec = changed.spec
        return operation("replace", replace(self.live, spec=spec))


def _room(node: NodeInfo, asked: dict[str, int], names: tuple[str, ...], pod: Pod) -> dict[str, int] | None:
    """What of ``names`` the node has left, where that is less than asked; None where something is used up.

    In whole millicores, mebibytes and units.
    """
    targets = {}
    for name in names:
        used = sum(other.requests.get(name, 0) for other in node.pods if other.uid != pod.metadata.uid)
        free = node.allocatable.get(name, 0) - used
        if free >= asked[name]:
            continue
        if in_bytes(name):
            free = free // MEBIBYTE * MEBIBYTE
        if free <= 0:
            return None
        targets[name] = free
    return targets or None


def _shapes(nodes: Iterable[Node], asked: dict[str, int]) -> list[Node]:
    """One node of each shape, in order of size: what else the pod asks for, cpu, memory."""
    shapes: dict[Any, Node] = {}
    for node in nodes:
        labels = tuple(sorted((k, v) for k, v in node.metadata.labels.items() if k != HOSTNAME and v != node.key))
        taints = tuple(sorted((t.key, t.value, t.effect) for t in node.spec.taints))
        shapes.setdefault((tuple(sorted(node_allocatable(node).items())), labels, taints), node)
    extended = sorted(name for name in asked if name not in ("cpu", "memory"))

    def size(node: Node) -> tuple[Any, ...]:
        offered = node_allocatable(node)
        order = [*extended, "cpu", "memory"]
        return (*(offered.get(name, 0) for name in order), node.metadata.name)

    return sorted(shapes.values(), key=size)


def _size(node: Node) -> Content:
    offered = node_allocatable(node)
    named = [name for name in offered if name not in ("pods", "ephemeral-storage") and offered[name]]
    return [said("{amount} {resource}", amount=about(name, offered[name]), resource=name) for name in named]


def _by_fate(outcome: Outcome) -> tuple[list[Pod], list[tuple[Pod, str]]]:
    """Those that find no other place, and those that do with their nodes."""
    return [pod for pod, node in outcome.displaced if not node], [each for each in outcome.displaced if each[1]]


def _moved(pod: Pod, node: str) -> Pod:
    """As its controller makes it again, there."""
    metadata = replace(pod.metadata, uid=f"{pod.metadata.uid}-moved", resource_version="")
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=node), status=PodStatus(phase="Running"))


def _pods_in_words(pods: Iterable[Pod]) -> Content:
    return _few([pod.key for pod in pods])


def _few(words: Sequence[Words]) -> Content:
    """a, b and c; a, b, c and 2 more."""
    more = len(words) - PODS_NAMED
    if more <= 0:
        return said_both(words)
    return said_counted("{pods} and {count} more", "{pods} and {count} more", more, pods=list(words[:PODS_NAMED]))

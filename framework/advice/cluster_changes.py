"""Changes to the cluster that may help a pod: to its nodes, and to the pods that are in the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final

from msgspec.structs import replace

from framework.advice.candidates import Case, Family, PossibleRemedy, few, pods_in_words
from framework.advice.edits import OF_THE_MACHINE
from framework.advice.freeing import Freed, fewest_to_free, leaving, leaving_for_a_gang, single_elsewhere
from framework.advice.new_nodes import FACTORS, SHAPES_TRIED, by_size, enlarged, size_of
from framework.advice.operations import Operation, operation
from framework.advice.patches import Patch, object_diff, taint_words
from framework.advice.pod_changes import not_tolerated, taint_sets
from framework.advice.trial import Edit
from framework.advice.workloads import Workload, made_again, workload_of
from framework.objects import Node, Pod, Taint
from framework.objects.resources import pod_requests
from framework.sentences import Sentence, counted_sentence, joined_with_and, sentence

NODES_UNCORDONED: Final = 20
NODES_LABELLED: Final = 20
PODS_MOVED: Final = 4
"""More pods than this are not moved to make room on one node."""
MOVES_TRIED: Final = 12
CORDONED: Final = "node.kubernetes.io/unschedulable"


# --- nodes that are there -------------------------------------------------------------------------------------------


def uncordoned(case: Case) -> Iterator[Family]:
    """Cordoned nodes, in order of name, that would take it."""
    cordoned = sorted((n for n in case.cluster.list(Node) if n.spec.unschedulable), key=lambda n: n.key)

    def family() -> Family:
        for node in cordoned[:NODES_UNCORDONED]:
            taints = tuple(taint for taint in node.spec.taints if taint.key != CORDONED)
            usable = replace(node, spec=replace(node.spec, unschedulable=False, taints=taints))
            if case.fits_after([Edit(node, usable)]):
                name = node.metadata.name
                yield _of_node(
                    "uncordon", sentence("Uncordon {node}", node=name), node, usable, f"kubectl uncordon {name}"
                )

    if cordoned:
        yield family()


def untainted(case: Case) -> Iterator[Family]:
    """Per set of taints that keeps it off, the first node with it that would take it without."""
    for taints in taint_sets(case):
        yield _without_taints(case, taints)


def _without_taints(case: Case, taints: tuple[Taint, ...]) -> Family:
    for node in sorted(case.cluster.list(Node), key=lambda each: each.key):
        if not_tolerated(case, node) != taints:
            continue
        kept = tuple(taint for taint in node.spec.taints if taint not in taints)
        clean = replace(node, spec=replace(node.spec, taints=kept))
        if case.fits_after([Edit(node, clean)]):
            name = node.metadata.name
            text = counted_sentence(
                "Remove the taint {taints} from {node}",
                "Remove the taints {taints} from {node}",
                len(taints),
                taints=joined_with_and([taint_words(taint) for taint in taints]),
                node=name,
            )
            command = f"kubectl taint nodes {name} {' '.join(f'{taint.key}:{taint.effect}-' for taint in taints)}"
            yield _of_node("untaint", text, node, clean, command)
            return


def labelled(case: Case) -> Iterator[Family]:
    """A node that lacks the labels of the pod's node selector, and nothing else."""
    selector = case.pod.spec.node_selector or {}
    if not selector or OF_THE_MACHINE & selector.keys() or any(key.startswith(_GIVEN) for key in selector):
        return

    def family() -> Family:
        for node in sorted(case.cluster.list(Node), key=lambda each: each.key)[:NODES_LABELLED]:
            missing = {key: value for key, value in selector.items() if node.metadata.labels.get(key) != value}
            # A label that says otherwise was given on purpose.
            if not missing or missing.keys() & node.metadata.labels.keys():
                continue
            labels = {**node.metadata.labels, **missing}
            fitting = replace(node, metadata=replace(node.metadata, labels=labels))
            if case.fits_after([Edit(node, fitting)]):
                words = [f"{key}={value}" for key, value in missing.items()]
                text = sentence("Label {node} with {labels}", node=node.metadata.name, labels=joined_with_and(words))
                command = f"kubectl label node {node.metadata.name} {' '.join(words)}"
                yield _of_node("label", text, node, fitting, command)

    yield family()


_GIVEN: Final = ("kubernetes.io/", "topology.kubernetes.io/", "node.kubernetes.io/")
"""Labels that the kubelet or the cloud's controller gives a node."""


def resized(case: Case) -> Iterator[Family]:
    """The smallest node that would take it if it were larger."""

    def family() -> Family:
        asked = pod_requests(case.pod)
        for node in by_size(case.cluster.list(Node), asked)[:SHAPES_TRIED]:
            for factor in (1, *FACTORS):
                larger = enlarged(node, factor, asked)
                if larger != node and case.fits_after([Edit(node, larger)]):
                    text = sentence(
                        "Resize {node} from {old} to {new}",
                        node=node.metadata.name,
                        old=size_of(node, asked),
                        new=size_of(larger, asked),
                    )
                    yield PossibleRemedy("resize", text, (operation("replace", larger),))
                    break

    yield family()


def _of_node(kind: Any, text: Sentence, before: Node, after: Node, command: str) -> PossibleRemedy:
    return PossibleRemedy(kind, text, (operation("replace", after),), Patch((command,), object_diff(before, after)))


# --- pods that are in the way ---------------------------------------------------------------------------------------


def moved(case: Case, own: Callable[[Pod], bool]) -> Iterator[Family]:
    """Pods that all find another place, as few as possible. ``own``: of the same workload, which nobody moves."""

    def family() -> Family:
        for found in _in_the_way(case, own):
            outcome = case.fits_after([Edit(pod, None) for pod in found.pods], then=found.pods)
            if outcome is None or any(node in ("", outcome.node) for _, node in outcome.displaced):
                continue
            there = [made_again(pod, node) for pod, node in outcome.displaced]
            again = case.fits_after([*(Edit(pod, None) for pod in found.pods), *(Edit(None, pod) for pod in there)])
            if again is None or again.node != outcome.node:
                continue
            goes = few([sentence("{pod} to {node}", pod=pod.key, node=pod.spec.node_name) for pod in there])
            operations = (*(operation("remove", p) for p in found.pods), *(operation("add", p) for p in there))
            text = sentence("Move {moves}", moves=goes)
            yield PossibleRemedy("move", text, operations, Patch(_move_commands(found)))

    yield family()


def freed(case: Case, own: Callable[[Pod], bool]) -> Iterator[Family]:
    """Pods that leave a node, as few as possible: deleted, so that their controllers make them again, or if the room is
    lost to these, with one replica less."""

    def family() -> Family:
        for found in _in_the_way(case, own):
            if case.fits_after([Edit(pod, None) for pod in found.pods]) is None:
                continue
            text = sentence("Delete {pods} from {node}", pods=pods_in_words(found.pods), node=found.node)
            commands = tuple(_delete_command(pod) for pod in found.pods)
            yield PossibleRemedy("free", text, _operations("delete", found.pods), Patch(commands))
            if len(found.pods) == 1:
                yield from _scaled_down(case, found)

    yield family()


def _in_the_way(case: Case, own: Callable[[Pod], bool]) -> Iterator[Freed]:
    least = fewest_to_free(case.trial)
    chosen = [] if least is None else [least]
    if (least is None or len(least.pods) > 1) and (
        single := single_elsewhere(case.trial, case.rejected_by)
    ) is not None:
        chosen.insert(0, single)
    seen: set[tuple[str, ...]] = set()
    together = leaving_for_a_gang(case.trial, PODS_MOVED) if case.trial.gang else ()
    for found in (
        *chosen,
        *islice(leaving(case.trial, PODS_MOVED), MOVES_TRIED),
        *islice(together, MOVES_TRIED),
    ):
        names = tuple(sorted(pod.key for pod in found.pods))
        if names not in seen and not any(own(pod) for pod in found.pods):
            seen.add(names)
            yield found


def _scaled_down(case: Case, found: Freed) -> Family:
    """Kinds whose controller takes the pod with the lowest deletion cost away first."""
    (pod,) = found.pods
    workload = workload_of(case.cluster, pod, case.now)
    if workload.kind not in ("Deployment", "ReplicaSet"):
        return
    text = sentence(
        "Run one replica less of {workload}: {pod} leaves {node}",
        workload=workload.reference,
        pod=pod.metadata.name,
        node=found.node,
    )
    where = f"-n {pod.metadata.namespace}"
    commands = (
        f"kubectl annotate pod {pod.metadata.name} {where} controller.kubernetes.io/pod-deletion-cost=-1",
        scale_command(workload, max(0, workload.size - 1)),
    )
    yield PossibleRemedy("free", text, _operations("remove", found.pods), Patch(commands), scales=True)


def scale_command(workload: Workload, replicas: int) -> str:
    return f"kubectl scale {workload.reference} -n {workload.namespace} --replicas={replicas}"


def _operations(verb: Any, pods: Iterable[Pod]) -> tuple[Operation, ...]:
    return tuple(operation(verb, pod) for pod in pods)


def _delete_command(pod: Pod) -> str:
    return f"kubectl delete pod {pod.metadata.name} -n {pod.metadata.namespace}"


def _made_again_command(pod: Pod) -> str:
    """Its controller does it; a pod without one has to be made again by hand."""
    if pod.metadata.owner_references:
        return _delete_command(pod)
    return (
        f"kubectl get pod {pod.metadata.name} -n {pod.metadata.namespace} -o json"
        """ | kubectl patch --local -f - --type=merge -p '{"spec":{"nodeName":null}}' -o json"""
        " | kubectl replace --force -f -"
    )


def _move_commands(found: Freed) -> tuple[str, ...]:
    """The node is cordoned until they are elsewhere, so that they do not come back to it."""
    nodes = sorted({pod.spec.node_name for pod in found.pods})
    return (
        *(f"kubectl cordon {node}" for node in nodes),
        *(_made_again_command(pod) for pod in found.pods),
        *(f"kubectl uncordon {node}" for node in nodes),
    )

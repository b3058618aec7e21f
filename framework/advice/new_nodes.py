"""Nodes that are added for a pod: like those that there are, or made to what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from msgspec.structs import replace

from framework.advice.amounts import about
from framework.advice.candidates import Case, PossibleRemedy
from framework.advice.claims import labels_of_volumes
from framework.advice.lowering import written
from framework.advice.operations import operation
from framework.advice.patches import taint_words
from framework.advice.pod_changes import not_tolerated
from framework.advice.pod_groups import members_of
from framework.advice.scratch import CONDITION_TAINTS, HOSTNAME, with_its_own
from framework.advice.trial import Edit
from framework.objects import KubeObject, Node, Pod
from framework.objects.resources import node_allocatable, pod_requests
from framework.sentences import Content, Sentence, counted_sentence, sentence

SHAPES_TRIED: Final = 20
MOST_NODES: Final = 16
"""More are not added."""
FACTORS: Final = (2, 4, 8)
"""How much larger a node is tried to be."""
DISK: Final = "ephemeral-storage"
NOT_A_SIZE: Final = ("pods", DISK)
"""What says nothing of a node's size; of its disk that is so where no pod asks for a part of it."""
LEAST_DISK: Final = 1 << 30
NOTHING: Final[Mapping[str, int]] = MappingProxyType({})
Grow = Callable[[int], PossibleRemedy]
"""A number of nodes → the change that adds so many."""


def new_nodes(case: Case) -> Iterator[Grow]:
    """Shapes of the cluster's nodes that would take it, the smallest first; where none would, in a zone of its own, or
    made to what the pod asks for."""
    shapes = shapes_of(case.cluster.list(Node), pod_requests(case.pod))[:SHAPES_TRIED]
    # A group may want for more room than one node has.
    counts = (1, MOST_NODES) if len(members_of(case)) > 1 else (1,)
    tailored = sorted(shapes, key=lambda node: len(not_tolerated(case, node)))
    for vary, tried in (
        (_as_it_is, shapes),
        (_elsewhere, shapes),
        *((_tailored(factor), tailored) for factor in (1, *FACTORS)),
    ):
        found = False
        for shape in tried:
            varied = vary(case, shape)
            if varied is not None and any(
                case.fits_after([Edit(None, each) for each in varied.made(case, count)]) for count in counts
            ):
                yield varied.grow(case)
                found = True
        if found:
            return


@dataclass(frozen=True, slots=True)
class _Varied:
    node: Callable[[int], Node]
    """Number → what is to be added."""
    words: Sentence

    def made(self, case: Case, count: int) -> list[KubeObject]:
        return [
            each for number in range(1, count + 1) for each in with_its_own(case.cluster, self.node(number), number)
        ]

    def grow(self, case: Case) -> Grow:
        def adding(count: int) -> PossibleRemedy:
            text = counted_sentence("Add a node {what}", "Add {count} nodes {what}", count, what=self.words)
            return PossibleRemedy("node", text, tuple(operation("add", each) for each in self.made(case, count)))

        return adding


def _as_it_is(case: Case, shape: Node) -> _Varied:
    size = size_of(shape, pod_requests(case.pod))
    return _Varied(lambda _: shape, sentence("like {node} ({size})", node=shape.metadata.name, size=size))


def _elsewhere(case: Case, shape: Node) -> _Varied | None:
    """In a zone, a region or the like where the pod's workload runs nothing yet; each in one of its own."""
    if case.rule is None or case.rule.key == HOSTNAME:
        return None
    key, known = case.rule.key, list(case.rule.holders)

    def node(number: int) -> Node:
        values = list(known)
        for _ in range(number):
            values.append(another_value(values))
        return _labelled(shape, {key: values[-1]})

    size = size_of(shape, pod_requests(case.pod))
    about_it = {"key": key, "value": another_value(known), "node": shape.metadata.name, "size": size}
    return _Varied(node, sentence("with a new {key}, such as {value}, like {node} ({size})", **about_it))


def _labelled(node: Node, labels: Mapping[str, str]) -> Node:
    return replace(node, metadata=replace(node.metadata, labels={**node.metadata.labels, **labels}))


def _tailored(factor: int) -> Callable[[Case, Node], _Varied]:
    """With the labels that the pod selects, the devices it asks for and ``factor`` times the rest, without taints that
    it does not tolerate."""

    def vary(case: Case, shape: Node) -> _Varied:
        asked = pod_requests(case.pod)
        node = enlarged(shape, factor, asked)
        offered = node_allocatable(node)
        node = _offering(node, {name: n for name, n in asked.items() if n and not offered.get(name)})
        wanted = {**selected_labels(case.pod), **labels_of_volumes(case, shape)}
        labels = {k: v for k, v in wanted.items() if shape.metadata.labels.get(k) != v and k != HOSTNAME}
        hard = [taint for taint in not_tolerated(case, node) if not taint.key.startswith(CONDITION_TAINTS)]
        kept = tuple(taint for taint in node.spec.taints if taint not in hard)
        grown = node_allocatable(node).get(DISK, 0) > node_allocatable(shape).get(DISK, 0)
        node = _labelled(replace(node, spec=replace(node.spec, taints=kept)), labels)
        values = {"node": shape.metadata.name, "size": size_of(node, asked)}
        if factor > 1:
            words = sentence("larger than {node} ({size})", **values)
        elif grown:
            words = sentence("like {node} with more ephemeral-storage ({size})", **values)
        else:
            words = sentence("like {node} ({size})", **values)
        if labels:
            words = sentence("{what}, with {labels}", what=words, labels=[f"{k}={v}" for k, v in labels.items()])
        if hard:
            words = sentence("{what}, without {taints}", what=words, taints=[taint_words(taint) for taint in hard])
        return _Varied(lambda _: node, words)

    return vary


def selected_labels(pod: Pod) -> dict[str, str]:
    """Labels of a node that the pod's node selector and the first term of its required node affinity would match."""
    labels = dict(pod.spec.node_selector or {})
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    for rule in required.node_selector_terms[0].match_expressions if required and required.node_selector_terms else ():
        if rule.operator == "In" and rule.values:
            labels.setdefault(rule.key, rule.values[0])
        elif rule.operator == "Exists":
            labels.setdefault(rule.key, "true")
    labels.pop(HOSTNAME, None)
    return labels


def another_value(known: Iterable[str]) -> str:
    """``eu-1d`` after ``eu-1a``, ``eu-1b`` and ``eu-1c``; else the last with an ending."""
    values = sorted(known)
    last = values[-1]
    following = last[:-1] + chr(ord(last[-1]) + 1) if last and last[-1] not in "zZ9" and last[-1].isalnum() else ""
    return following if following and following not in values else f"{last}-2"


def enlarged(node: Node, factor: int, asked: Mapping[str, int]) -> Node:
    """With ``factor`` times the resources; the number of pods stays. Its disk is large enough for what is ``asked``."""
    offered = node_allocatable(node)
    more = {name: n * factor for name, n in offered.items() if name not in NOT_A_SIZE and n} if factor > 1 else {}
    if wanted := asked.get(DISK, 0):
        disk = offered.get(DISK, 0) or LEAST_DISK
        while disk < wanted:
            disk *= 2
        more[DISK] = disk * factor
    return _offering(node, more) if more else node


def _offering(node: Node, amounts: Mapping[str, int]) -> Node:
    more = {name: written(name, amount) for name, amount in amounts.items()}
    status = node.status
    allocatable, capacity = {**(status.allocatable or {}), **more}, {**(status.capacity or {}), **more}
    return replace(node, status=replace(status, allocatable=allocatable, capacity=capacity))


def shapes_of(nodes: Iterable[Node], asked: dict[str, int]) -> list[Node]:
    """One node of each shape, in order of size: what else the pod asks for, cpu, memory."""
    shapes: dict[Any, Node] = {}
    for node in nodes:
        labels = tuple(sorted((k, v) for k, v in node.metadata.labels.items() if k != HOSTNAME and v != node.key))
        taints = tuple(sorted((t.key, t.value, t.effect) for t in node.spec.taints))
        shapes.setdefault((tuple(sorted(node_allocatable(node).items())), labels, taints), node)
    return by_size(shapes.values(), asked)


def by_size(nodes: Iterable[Node], asked: dict[str, int]) -> list[Node]:
    order = [*sorted(name for name in asked if name not in ("cpu", "memory")), "cpu", "memory"]

    def size(node: Node) -> tuple[Any, ...]:
        offered = node_allocatable(node)
        return (*(offered.get(name, 0) for name in order), node.metadata.name)

    return sorted(nodes, key=size)


def size_of(node: Node, asked: Mapping[str, int] = NOTHING) -> Content:
    """4 cpu, 16 Gi memory; its disk where that is ``asked`` for."""
    offered = node_allocatable(node)
    named = [
        name for name in offered if offered[name] and (name not in NOT_A_SIZE or (name == DISK and asked.get(DISK)))
    ]
    return [sentence("{amount} {resource}", amount=about(name, offered[name]), resource=name) for name in named]

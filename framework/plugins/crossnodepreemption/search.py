"""Which pods of lower priority would have to leave together, on whatever nodes, so that a pod fits on one of theirs.

Upstream tries all 2ⁿ sets of n pods and keeps, for each node, the last one with which the pod fits there. Here they are
looked at the other way round, beginning with nobody, so that the first one that helps a node is the one upstream keeps;
and pods that matter to their own node alone are not combined with each other, as such a set never comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from framework.interface import NodeInfo, PodInfo
from framework.interface.handle import DryRunAcross
from framework.objects import Pod
from framework.preemption.victims import priority_of

MOST_TRIES: Final = 1 << 14
"""What-ifs of one attempt: a second or two."""

Victims = tuple[int, ...]
"""Numbers of pods, ascending."""


@dataclass(slots=True)
class Found:
    candidates: list[tuple[NodeInfo, list[PodInfo]]] = field(default_factory=list)
    """(node, who leaves), in the order of the nodes."""
    not_tried: list[str] = field(default_factory=list)
    """Nodes without a candidate for which not all sets were tried."""


class _Node:
    """A node, and what is known about it."""

    __slots__ = ("best", "counted", "info", "plain")

    def __init__(self, info: NodeInfo) -> None:
        self.info = info
        self.plain: list[int] = []
        """Pods that matter to this node alone, the last of which is not known to be in vain."""
        self.counted: list[int] = []
        """Pods that matter to other nodes, too, and whose leaving is not in vain here."""
        self.best: Victims | None = None


class Search:
    def __init__(self, across: DryRunAcross, nodes: Iterable[NodeInfo], preemptor: Pod, most: int) -> None:
        """``nodes``: those where evictions can help, in the order of the snapshot. ``most``: what-ifs."""
        self._across = across
        self._left = most
        self._has_candidates = False
        self._pods: list[tuple[NodeInfo, PodInfo]] = []
        self._at: list[_Node] = []
        """The node of each pod."""
        self._counted: list[int] = []
        """Pods that matter to other nodes than their own."""
        self._nodes: list[_Node] = []
        mine = priority_of(preemptor)
        for info in nodes:
            node = _Node(info)
            for pod in info.pods:
                if priority_of(pod.pod) < mine:
                    (self._counted if across.is_counted(pod) else node.plain).append(len(self._pods))
                    self._pods.append((info, pod))
                    self._at.append(node)
            self._nodes.append(node)

    def run(self) -> Found:
        for number in self._counted:
            if self._is_not_in_vain(number):
                self._at[number].counted.append(number)
        waiting = [node for node in self._nodes if node.plain or node.counted]
        complete = self._left > 0 and self._try_all(waiting)
        found = Found()
        for node in self._nodes:
            if node.best is not None:
                found.candidates.append((node.info, [self._pods[number][1] for number in node.best]))
            elif not complete and (node.plain or node.counted):
                found.not_tried.append(node.info.name)
        return found

    def _try_all(self, waiting: list[_Node]) -> bool:
        """False: it ended before all was tried."""
        number = 0
        together: Victims = ()
        while waiting:
            here = dict.fromkeys([self._at[pod] for pod in together])
            for node in dict.fromkeys((*here, *[node for node in waiting if node.plain and node.best is None])):
                if node.best is None or _comes_before(together, node.best):
                    self._try(node, together)
                    if self._left <= 0:
                        return False
            number += 1
            if number == 1 << len(self._counted):
                break
            together = self._set(number)
            if self._has_candidates or number == 1:
                waiting = [node for node in waiting if _may_change(node, together)]
        return True

    def _set(self, number: int) -> Victims:
        """The set of that number: in a binary number the last counted pod is the last digit."""
        last = len(self._counted) - 1
        digits = reversed(bin(number)[2:])
        return tuple(sorted(self._counted[last - place] for place, digit in enumerate(digits) if digit == "1"))

    def _try(self, node: _Node, together: Victims) -> None:
        """Whether the pod fits on the node when these leave, with one more of its pods that matters to nobody else."""
        for number in together:
            if number in node.counted and self._passes(together, number):
                self._is_candidate(node, together)
                return
        # Upstream looks at nodes of victims only.
        while node.plain and not self._is_not_in_vain(node.plain[-1]):
            node.plain.pop()
        if node.plain:
            victims = tuple(sorted((*together, node.plain[-1])))
            better = node.best is None or _comes_before(victims, node.best)
            if better and self._passes(victims, node.plain[-1]):
                self._is_candidate(node, victims)

    def _is_candidate(self, node: _Node, victims: Victims) -> None:
        node.best = victims
        self._has_candidates = True

    def _passes(self, victims: Victims, looked_at: int) -> bool:
        self._left -= 1
        return self._across.passes([self._pods[number] for number in victims], victims.index(looked_at))

    def _is_not_in_vain(self, number: int) -> bool:
        self._left -= 1
        return self._across.passes_alone(*self._pods[number])


def _may_change(node: _Node, following: Victims) -> bool:
    """Whether ``following`` or a set after it may be the node's."""
    if node.best is None:
        return bool(node.plain or node.counted)
    return bool(node.counted) and _comes_before(following, node.best)


def _comes_before(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether upstream tries it later: the first pod on which they differ leaves in the other one only."""
    return [-number for number in one] < [-number for number in other]

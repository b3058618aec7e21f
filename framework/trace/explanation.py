"""An attempt in words: why nodes were out of the question, and how the others compare."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from framework.interface.status import Code, Status
from framework.trace.attempt import AttemptTrace, PluginScores

NAMES_SHOWN: Final = 3
NODES_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Rejection:
    """Nodes that one plugin turned down with the same reasons."""

    status: Status
    nodes: tuple[str, ...]

    @property
    def can_become_free(self) -> bool:
        """Pods that leave could change the answer (upstream: Unschedulable, not …AndUnresolvable)."""
        return self.status.code is Code.UNSCHEDULABLE


@dataclass(frozen=True, slots=True)
class Standing:
    """A feasible node among the others; equal totals share a rank."""

    rank: int
    node: str
    total: int
    points: dict[str, int]
    """Plugin → normalised score × weight."""


def rejections(trace: AttemptTrace) -> list[Rejection]:
    """Most nodes first."""
    if trace.filter is None:
        return []
    nodes: dict[Status, list[str]] = {}
    for position, name in enumerate(trace.filter.nodes):
        status = trace.filter.status(position) or trace.absent_status
        if status is not None and not status.is_success:
            nodes.setdefault(status, []).append(name)
    found = [Rejection(status, tuple(names)) for status, names in nodes.items()]
    return sorted(found, key=lambda each: (-len(each.nodes), each.status.plugin, each.status.message))


def standings(trace: AttemptTrace, limit: int = NODES_SHOWN) -> list[Standing]:
    """The best nodes, best first; the chosen one before its equals."""
    if trace.scores is None or trace.filter is None:
        return []
    total, names = trace.scores.total, trace.filter.nodes
    listed = [(names[position], place) for place, position in enumerate(trace.scores.positions.tolist())]
    listed.sort(key=lambda each: (-int(total[each[1]]), each[0] != trace.selected, each[0]))
    return [
        Standing(
            1 + int(np.count_nonzero(total > total[place])),
            node,
            int(total[place]),
            {each.plugin: int(each.normalized[place]) * each.weight for each in trace.scores.plugins},
        )
        for node, place in listed[:limit]
    ]


def deciding_plugins(trace: AttemptTrace) -> list[PluginScores]:
    """Those that do not give all nodes the same."""
    if trace.scores is None:
        return []
    return [each for each in trace.scores.plugins if (each.normalized != each.normalized[0]).any()]


def explain(trace: AttemptTrace) -> list[str]:
    """The whole attempt, line by line."""
    lines = [f"{trace.pod}, attempt {trace.attempt}: {_headline(trace)}"]
    if trace.pre_filter_status is not None:
        lines.append(f"  rejected before any node was looked at: {_because(trace.pre_filter_status)}")
    lines += [f"  {_rejected(each)}" for each in rejections(trace)]
    if trace.filter is not None:
        skipped = int(np.count_nonzero(trace.filter.verdict < 0)) if trace.absent_status is None else 0
        if skipped and trace.nominated_node_used:
            lines.append(f"  {trace.nominated_node_used} was nominated before and is tried alone")
        elif skipped and trace.batched_with:
            lines.append(
                f"  {trace.selected} was the next best for {trace.batched_with}, an equal pod, and is tried alone"
            )
        elif skipped:
            lines.append(f"  {_count(skipped, 'node')} not looked at: enough had been found")
    lines += _compared(trace)
    for outcome in trace.post_filter:
        if outcome.nominated_node:
            victims = _listed(outcome.victims) or "nobody"
            lines.append(f"  {outcome.plugin}: {victims} must leave to make room on {outcome.nominated_node}")
    return lines


def _headline(trace: AttemptTrace) -> str:
    if trace.result == "bound":
        return f"placed on {trace.selected}"
    if trace.result == "waiting":
        return f"waits on Permit ({', '.join(trace.waiting_for)}) to be placed on {trace.selected}"
    return trace.message or trace.result


def _because(status: Status) -> str:
    return f"{status.message} ({status.plugin})" if status.plugin else status.message


def _rejected(rejection: Rejection) -> str:
    hint = ", can become free" if rejection.can_become_free else ""
    return f"{_count(len(rejection.nodes), 'node')}: {_because(rejection.status)}{hint}: {_listed(rejection.nodes)}"


def _compared(trace: AttemptTrace) -> list[str]:
    if trace.scores is None:
        only = "tried alone" if trace.tried_alone else "the only node left"
        return [f"  {trace.selected} is {only}: nothing is scored"] if trace.selected else []
    lines = [f"  {_count(len(trace.scores.positions), 'node')} compared by {_weighted(trace.scores.plugins)}"]
    decisive = {each.plugin for each in deciding_plugins(trace)}
    for standing in standings(trace):
        points = ", ".join(f"{plugin} {n}" for plugin, n in standing.points.items() if plugin in decisive)
        lines.append(f"    {standing.rank}. {standing.node}: {standing.total}{f' ({points})' if points else ''}")
    tied = len(trace.scores.candidates)
    if tied > 1 and trace.selected:
        chosen = f"{trace.selected} was chosen among them (rule: {trace.tie_rule})"
        lines.append(f"  {_count(tied, 'node')} are equally good; {chosen}")
    return lines


def _weighted(plugins: Sequence[PluginScores]) -> str:
    return ", ".join(f"{each.plugin} ×{each.weight}" for each in plugins)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMES_SHOWN
    shown = ", ".join(names[:NAMES_SHOWN])
    return f"{shown} and {more:,} more" if more > 0 else shown

"""Why one pod went to two places: what both attempts said of both nodes, and the plugin that made the difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from framework.interface import Status
from framework.trace.attempt import NOT_EVALUATED, AttemptTrace

UNSEEN: Final = ("nominated", "batched", "not_checked", "absent")
"""Why an attempt said nothing of a node."""


@dataclass(frozen=True)
class NodeAnswer:
    """Of one node in one attempt.

    ``state``: scored, feasible (nothing was scored), rejected, nominated or batched (another was tried first and
    taken), not_checked or absent.
    """

    state: str
    plugin: str = ""
    reasons: tuple[str, ...] = ()
    total: int | None = None
    points: dict[str, int] | None = None


def rejected(status: Status) -> NodeAnswer:
    return NodeAnswer("rejected", status.plugin, tuple(status.all_reasons))


def answer_about(trace: AttemptTrace, node: str) -> NodeAnswer:
    if trace.pre_filter_status is not None:
        return rejected(trace.pre_filter_status)
    if trace.filter is None or node not in trace.filter.nodes:
        return NodeAnswer("absent")
    position = trace.filter.nodes.index(node)
    verdict = int(trace.filter.verdict[position])
    if verdict == NOT_EVALUATED:
        if trace.absent_status is not None:
            return rejected(trace.absent_status)
        if trace.nominated_node_used:
            return NodeAnswer("nominated")
        return NodeAnswer("batched" if trace.batched_with else "not_checked")
    if verdict > 0:
        return rejected(trace.filter.verdicts[verdict])
    if trace.scores is None:
        return NodeAnswer("feasible")
    [found] = np.flatnonzero(trace.scores.positions == position)
    points = {each.plugin: int(each.normalized[found]) * each.weight for each in trace.scores.plugins}
    return NodeAnswer("scored", total=int(trace.scores.total[found]), points=points)


def cause(why: str, side: str = "", answer: NodeAnswer | None = None, plugin: str = "") -> dict[str, Any]:
    """``side``: in which of the two runs it was so; "" when it takes both to say it."""
    name, reasons = (answer.plugin, list(answer.reasons)) if answer else (plugin, [])
    return {"why": why, "side": side, "plugin": name, "reasons": reasons}


def obstacle(side: str, answer: NodeAnswer) -> dict[str, Any] | None:
    """Why the other run's node was no choice here."""
    if answer.state == "rejected":
        return cause("filter", side, answer)
    return cause(answer.state, side) if answer.state in UNSEEN else None


def swings(a_here: NodeAnswer, a_there: NodeAnswer, b_here: NodeAnswer, b_there: NodeAnswer) -> list[dict[str, Any]]:
    """Per plugin the points of both nodes in both runs; ``swing`` is how much it moved the choice from a's node to b's.

    The swings add up to a's margin in a plus b's margin in b, so the largest one made the difference.
    """
    both = [each.points or {} for each in (a_here, a_there, b_here, b_there)]
    rows = []
    for plugin in dict.fromkeys(name for points in both for name in points):
        one, two, three, four = (points.get(plugin, 0) for points in both)
        rows.append(
            {
                "plugin": plugin,
                "a_own": one if a_here.points is not None else None,
                "a_other": two if a_there.points is not None else None,
                "b_own": three if b_here.points is not None else None,
                "b_other": four if b_there.points is not None else None,
                "swing": (three - four) - (two - one),
            }
        )
    return rows


def difference(a: AttemptTrace, node_a: str, b: AttemptTrace, node_b: str) -> dict[str, Any]:
    """Both runs placed the pod, on different nodes."""
    a_here, a_there = answer_about(a, node_a), answer_about(a, node_b)
    b_here, b_there = answer_about(b, node_b), answer_about(b, node_a)
    causes = [each for each in (obstacle("a", a_there), obstacle("b", b_there)) if each is not None]
    points: list[dict[str, Any]] = []
    if not causes and all(each.points is not None for each in (a_here, a_there, b_here, b_there)):
        points = swings(a_here, a_there, b_here, b_there)
        best = max(points, key=lambda row: row["swing"], default=None)
        found = best is not None and best["swing"] > 0
        causes = [cause("score", plugin=best["plugin"]) if found and best else cause("tie")]
    return {"causes": causes or [cause("tie")], "points": points}


def refusal(side: str, trace: AttemptTrace, node: str) -> dict[str, Any]:
    """Only the other run placed the pod, on ``node``; this is the last attempt of the run that did not."""
    answer = answer_about(trace, node)
    found = obstacle(side, answer)
    if found is None:
        # The node was good enough, so what failed came later: Reserve, Permit, binding.
        status = trace.status or trace.placed_status
        found = cause("later", side, rejected(status)) if status is not None else cause("later", side)
    return {"causes": [found], "points": []}

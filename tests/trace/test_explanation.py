"""An attempt in words."""

from __future__ import annotations

import numpy as np

from framework.interface import SUCCESS, Code, Status
from framework.trace.attempt import (
    AttemptTrace,
    FilterTrace,
    PluginScores,
    PostFilterOutcome,
    ScoreTrace,
)
from framework.trace.explanation import explain, rejections, standings

NODES = ("a", "b", "c", "d", "e", "f")
FIT = Status(Code.UNSCHEDULABLE, ("Insufficient cpu", "Too many pods"), "NodeResourcesFit")
TAINT = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) had untolerated taint(s)",), "TaintToleration")


def attempt(verdict: list[int], result: str = "bound", selected: str = "") -> AttemptTrace:
    trace = AttemptTrace(pod="shop/web-1", uid="u", profile="default-scheduler", attempt=2, cycle=7, at=0)
    trace.filter = FilterTrace(NODES, np.array(verdict, dtype=np.int32), [SUCCESS, FIT, TAINT])
    trace.result, trace.selected = result, selected
    return trace


def scored() -> AttemptTrace:
    trace = attempt([0, 0, 0, 2, 1, 1], selected="c")
    fit = np.array([30, 50, 50], dtype=np.int64)
    same = np.array([100, 100, 100], dtype=np.int64)
    plugins = [PluginScores("NodeResourcesFit", 1, fit, fit), PluginScores("TaintToleration", 3, same, same)]
    trace.scores = ScoreTrace(np.array([0, 1, 2]), plugins, fit + 3 * same, np.array([1, 2]))
    trace.tie_rule = "seeded"
    return trace


def test_a_placed_pod() -> None:
    assert explain(scored()) == [
        "shop/web-1, attempt 2: placed on c",
        "  2 nodes: Insufficient cpu, Too many pods (NodeResourcesFit), can become free: e, f",
        "  1 node: node(s) had untolerated taint(s) (TaintToleration): d",
        "  3 nodes compared by NodeResourcesFit ×1, TaintToleration ×3",
        "    1. c: 350 (NodeResourcesFit 50)",
        "    1. b: 350 (NodeResourcesFit 50)",
        "    3. a: 330 (NodeResourcesFit 30)",
        "  2 nodes are equally good; c was chosen among them (rule: seeded)",
    ]


def test_the_best_come_first_and_no_more_than_asked_for() -> None:
    best = standings(scored(), limit=1)
    assert [(each.rank, each.node, each.total) for each in best] == [(1, "c", 350)]
    assert best[0].points == {"NodeResourcesFit": 50, "TaintToleration": 300}


def test_nodes_outside_a_node_list_are_rejected_by_it() -> None:
    trace = attempt([1, -1, -1, -1, -1, -1], "failed")
    trace.absent_status = Status.unresolvable("node(s) didn't satisfy plugin(s) [NodeAffinity]")
    trace.message = "0/6 nodes are available: …"
    assert [(len(each.nodes), each.can_become_free) for each in rejections(trace)] == [(5, False), (1, True)]
    assert explain(trace)[1] == "  5 nodes: node(s) didn't satisfy plugin(s) [NodeAffinity]: b, c, d and 2 more"


def test_a_search_that_ended_early() -> None:
    trace = attempt([0, 1, -1, -1, -1, -1], selected="a")
    assert explain(trace)[2:] == [
        "  4 nodes not looked at: enough had been found",
        "  a is the only node left: nothing is scored",
    ]
    trace.nominated_node_used = "a"
    assert explain(trace)[2] == "  a was nominated before and is tried alone"


def test_a_pod_rejected_before_filtering() -> None:
    trace = attempt([], "failed")
    trace.filter = None
    trace.message = "0/6 nodes are available: pod affinity terms conflict."
    trace.pre_filter_status = Status.unresolvable("pod affinity terms conflict").with_plugin("NodeAffinity")
    assert explain(trace) == [
        "shop/web-1, attempt 2: 0/6 nodes are available: pod affinity terms conflict.",
        "  rejected before any node was looked at: pod affinity terms conflict (NodeAffinity)",
    ]


def test_a_waiting_pod_and_a_preemption() -> None:
    waiting = attempt([0, 1, 1, 1, 1, 1], "waiting", "a")
    waiting.waiting_for = {"Coscheduling": 30.0}
    assert explain(waiting)[0].endswith("waits on Permit (Coscheduling) to be placed on a")
    preempting = attempt([1, 1, 1, 1, 1, 1], "failed")
    preempting.post_filter = (PostFilterOutcome("DefaultPreemption", SUCCESS, "b", ("shop/low-1",), (), ("b",)),)
    assert explain(preempting)[-1] == "  DefaultPreemption: shop/low-1 must leave to make room on b"

"""NodeName, NodeUnschedulable, TaintToleration and NodeAffinity: what a node itself is."""

from __future__ import annotations

from typing import Any

import pytest

from framework.interface import Code, CycleState, PodInfo, QueueingHint, Status
from framework.objects import Node, Pod
from framework.plugins.nodeaffinity import NodeAffinity
from framework.plugins.nodeaffinity.args import NodeAffinityArgs
from framework.plugins.nodename import NodeName
from framework.plugins.nodeunschedulable import NodeUnschedulable
from framework.plugins.tainttoleration import TaintToleration
from tests.builders import make_node, make_pod
from tests.plugins.evaluation import NO_HANDLE, cluster, normalized, run_filter, run_score

UNRESOLVABLE = "UnschedulableAndUnresolvable"


def test_node_name_leaves_only_that_node() -> None:
    plugin = NodeName(None, NO_HANDLE)
    snapshot = cluster([make_node("a"), make_node("b")])
    assert run_filter(plugin, make_pod("p", node_name="b"), snapshot) == {
        "a": (UNRESOLVABLE, "node(s) didn't match the requested node name")
    }
    assert run_filter(plugin, make_pod("p", node_name="nowhere"), snapshot).keys() == {"a", "b"}
    assert run_filter(plugin, make_pod("p"), snapshot) == {}


class TestNodeUnschedulable:
    plugin = NodeUnschedulable(None, NO_HANDLE)
    tolerant = make_pod("p", tolerations=[{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}])

    def test_cordoned_nodes_take_only_pods_that_tolerate_it(self) -> None:
        snapshot = cluster([make_node("a", unschedulable=True), make_node("b")])
        assert run_filter(self.plugin, make_pod("p"), snapshot) == {"a": (UNRESOLVABLE, "node(s) were unschedulable")}
        assert run_filter(self.plugin, self.tolerant, snapshot) == {}

    @pytest.mark.parametrize(
        ("old", "new", "hint"),
        [
            (None, make_node("n"), QueueingHint.QUEUE),
            (None, make_node("n", unschedulable=True), QueueingHint.SKIP),
            (make_node("n", unschedulable=True), make_node("n"), QueueingHint.QUEUE),
            (make_node("n"), make_node("n"), QueueingHint.SKIP),
        ],
    )
    def test_an_uncordoned_node_wakes_pods(self, old: Node | None, new: Node, hint: QueueingHint) -> None:
        event = self.plugin.events_to_register()[0]
        assert event.hint is not None
        assert event.hint(make_pod("p"), old, new) is hint

    def test_only_the_pods_own_new_toleration_wakes_it(self) -> None:
        event = self.plugin.events_to_register()[1]
        assert event.hint is not None
        assert event.hint(make_pod("p"), make_pod("p"), self.tolerant) is QueueingHint.QUEUE
        assert event.hint(make_pod("other"), make_pod("p"), self.tolerant) is QueueingHint.SKIP


class TestTaintToleration:
    plugin = TaintToleration(None, NO_HANDLE)

    def taint(self, effect: str, key: str = "dedicated") -> dict[str, str]:
        return {"key": key, "value": "gpu", "effect": effect}

    def test_hard_taints_filter_and_soft_ones_cost_points(self) -> None:
        snapshot = cluster(
            [
                make_node("free"),
                make_node("hard", taints=[self.taint("NoExecute")]),
                make_node("soft", taints=[self.taint("PreferNoSchedule"), self.taint("PreferNoSchedule", "second")]),
            ]
        )
        assert run_filter(self.plugin, make_pod("p"), snapshot) == {
            "hard": (UNRESOLVABLE, "node(s) had untolerated taint(s)")
        }
        raw = run_score(self.plugin, make_pod("p"), snapshot)
        assert raw == {"free": 0, "hard": 0, "soft": 2}
        assert normalized(self.plugin, raw) == {"free": 100, "hard": 100, "soft": 0}

    def test_only_tolerations_that_reach_soft_taints_count_for_the_score(self) -> None:
        snapshot = cluster([make_node("soft", taints=[self.taint("PreferNoSchedule")])])
        hard = make_pod("p", tolerations=[{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}])
        any_effect = make_pod("p", tolerations=[{"key": "dedicated", "operator": "Exists"}])
        assert run_score(self.plugin, hard, snapshot) == {"soft": 1}
        assert run_score(self.plugin, any_effect, snapshot) == {"soft": 0}

    def test_nobody_with_soft_taints_means_100_for_all(self) -> None:
        assert normalized(self.plugin, {"a": 0, "b": 0}) == {"a": 100, "b": 100}
        assert normalized(self.plugin, {}) == {}

    def test_score_without_pre_score_fails_as_upstream(self) -> None:
        with pytest.raises(RuntimeError, match='failed to read "PreScoreTaintToleration" from cycleState: not found'):
            run_score(self.plugin, make_pod("p"), cluster([make_node("a")]), pre_score=False)

    def test_a_node_that_loses_its_taint_wakes_pods(self) -> None:
        event = self.plugin.events_to_register()[0]
        assert event.hint is not None
        tainted, free = make_node("n", taints=[self.taint("NoSchedule")]), make_node("n")
        assert event.hint(make_pod("p"), tainted, free) is QueueingHint.QUEUE
        assert event.hint(make_pod("p"), free, free) is QueueingHint.SKIP
        assert event.hint(make_pod("p"), None, tainted) is QueueingHint.SKIP
        assert event.hint(make_pod("p"), None, free) is QueueingHint.QUEUE


def affinity(required: Any = None, preferred: Any = None) -> dict[str, Any]:
    written: dict[str, Any] = {}
    if required is not None:
        written["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": required}
    if preferred is not None:
        written["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    return {"nodeAffinity": written}


def zone_in(*values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "zone", "operator": "In", "values": list(values)}]}


def named(*terms: list[str]) -> list[dict[str, Any]]:
    """One term per list; a term with several requirements of one name each."""
    return [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]}
        for names in terms
    ]


class TestNodeAffinity:
    plugin = NodeAffinity(NodeAffinityArgs(), NO_HANDLE)
    nodes = (make_node("a", labels={"zone": "a"}), make_node("b", labels={"zone": "b"}))

    def added(self, **written: Any) -> NodeAffinity:
        pod = make_pod("holder", affinity=affinity(**written))
        assert pod.spec.affinity is not None
        return NodeAffinity(NodeAffinityArgs(added_affinity=pod.spec.affinity.node_affinity), NO_HANDLE)

    def pre_filter(self, pod: Pod) -> tuple[frozenset[str] | None, Status | None]:
        result, status = self.plugin.pre_filter(CycleState(), PodInfo(pod), cluster(self.nodes))
        return (result.node_names if result else None), status

    def test_selector_and_affinity_must_both_match(self) -> None:
        snapshot = cluster(self.nodes)
        refused = (UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector")
        assert run_filter(self.plugin, make_pod("p", nodeSelector={"zone": "a"}), snapshot) == {"b": refused}
        both = make_pod("p", nodeSelector={"zone": "a"}, affinity=affinity([zone_in("b")]))
        assert run_filter(self.plugin, both, snapshot) == {"a": refused, "b": refused}

    def test_the_profiles_own_affinity_comes_first(self) -> None:
        plugin = self.added(required=[zone_in("a")])
        pod = make_pod("p", nodeSelector={"zone": "b"})
        assert run_filter(plugin, pod, cluster(self.nodes)) == {
            "a": (UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector"),
            "b": (UNRESOLVABLE, "node(s) didn't match scheduler-enforced node affinity"),
        }

    def test_a_pod_that_asks_for_nothing_skips_but_an_empty_selector_does_not(self) -> None:
        assert self.pre_filter(make_pod("p"))[1] == Status(Code.SKIP)
        assert self.pre_filter(make_pod("p", nodeSelector={})) == (None, None)

    def test_names_in_all_terms_become_a_node_list(self) -> None:
        assert self.pre_filter(make_pod("p", affinity=affinity(named(["a"], ["b"]))))[0] == frozenset("ab")
        assert self.pre_filter(make_pod("p", affinity=affinity([*named(["a"]), zone_in("b")]))) == (None, None)
        assert self.pre_filter(make_pod("p", affinity=affinity(named(["a", "a"], ["a", "b"]))))[0] == frozenset("a")

    def test_names_that_contradict_each_other_reject_the_pod(self) -> None:
        names, status = self.pre_filter(make_pod("p", affinity=affinity(named(["a", "b"]))))
        assert (names, status) == (None, Status.unresolvable("pod affinity terms conflict"))

    def test_weights_of_matching_preferences_add_up(self) -> None:
        preferred = [
            {"weight": 2, "preference": zone_in("a", "b")},
            {"weight": 5, "preference": zone_in("b")},
            {"weight": 9, "preference": {}},
        ]
        raw = run_score(self.plugin, make_pod("p", affinity=affinity(preferred=preferred)), cluster(self.nodes))
        assert raw == {"a": 2, "b": 7}
        assert normalized(self.plugin, raw) == {"a": 28, "b": 100}

    def test_an_empty_list_of_preferences_scores_0_and_none_at_all_skips(self) -> None:
        snapshot = cluster(self.nodes)
        assert run_score(self.plugin, make_pod("p"), snapshot) == Status(Code.SKIP)
        plugin = self.added(preferred=[{"weight": 3, "preference": zone_in("b")}])
        assert run_score(plugin, make_pod("p"), snapshot) == {"a": 0, "b": 3}
        assert normalized(self.plugin, {"a": 0, "b": 0}) == {"a": 0, "b": 0}

    def test_a_node_that_begins_to_match_wakes_pods(self) -> None:
        event = self.plugin.events_to_register()[0]
        assert event.hint is not None
        pod = make_pod("p", nodeSelector={"zone": "a"})
        a, b = self.nodes
        assert event.hint(pod, b, a) is QueueingHint.QUEUE
        assert event.hint(pod, a, a) is QueueingHint.SKIP
        assert event.hint(pod, a, b) is QueueingHint.SKIP
        assert event.hint(pod, None, a) is QueueingHint.QUEUE

    def test_a_broken_added_affinity_is_refused(self) -> None:
        broken = [{"matchExpressions": [{"key": "zone", "operator": "Exists", "values": ["x"]}]}]
        with pytest.raises(ValueError, match=r"parsing addedAffinity\.requiredDuringSchedulingIgnoredDuringExecution"):
            self.added(required=broken)

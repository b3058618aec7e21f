"""Opportunistic batching (docs/semantics/framework.md#opportunistic-batching)."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace as replace_options
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.configuration import load_value
from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates, feature_gates
from framework.interface import CycleState, NodeInfo, Plugin, ScorePlugin, Status
from framework.objects import Node, Pod
from framework.plugins.registry import built_in_registry
from framework.profiles import SeededGenerator, TieRule, Ties
from framework.profiles.batch import MOST_AGE, RankedNodes
from framework.profiles.filter_run import FilterRun
from framework.profiles.verify import Verification
from framework.queue import Nomination
from framework.scheduler import Attempt, Observer, Scheduler, options
from framework.trace.attempt import PluginScores, ScoreTrace
from framework.trace.digest import START, digest
from tests.builders import make_node, make_pod
from tests.cycle.test_ties import heap_init_root

NO_DEFAULTS: dict[str, Any] = {"defaultingType": "List"}
FULL: dict[str, Any] = {"requests": {"cpu": "3"}}
"""One of them leaves no room for another on a node with 4 cpu."""


def cluster_of(
    nodes: Sequence[Node],
    *,
    ties: TieRule = "smallest",
    spreading: dict[str, Any] = NO_DEFAULTS,
    gates: FeatureGates = DEFAULT_GATES,
    more: Sequence[type[Plugin]] = (),
    configuration: dict[str, Any] | None = None,
    verify: int = 0,
) -> Scheduler:
    """``verify``: every how many cycles plugins are asked anew; such a cycle looks for its node as any other does."""
    registry = built_in_registry().with_plugins(more)
    profile: dict[str, Any] = {"pluginConfig": [{"name": "PodTopologySpread", "args": spreading}]}
    if more:
        profile["plugins"] = {"multiPoint": {"enabled": [{"name": each.name} for each in more]}}
    written = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
        **(configuration or {}),
    }
    loaded = load_value(written, registry, gates)
    assert loaded.effective is not None, loaded.errors
    scheduler = Scheduler(
        loaded.effective,
        registry,
        start=0,
        seed=1,
        ties=ties,
        observer=Observer(),
        options=replace_options(options.DEFAULT, verify_reuse=verify),
    )
    for node in nodes:
        scheduler.cluster.create_admitted(node)
    return scheduler


def sizes(*cpus: int) -> list[Node]:
    """Nodes a, b, c, …: the larger one is emptier with the pod on it, so it is the better one."""
    return [make_node(chr(97 + i), cpu=str(cpu)) for i, cpu in enumerate(cpus)]


def schedule(scheduler: Scheduler, pod: Pod) -> Attempt:
    scheduler.cluster.create_admitted(pod)
    attempt = scheduler.step()
    assert attempt is not None
    assert attempt.uid == pod.uid
    return attempt


def test_equal_pods_take_the_next_best_nodes_of_one_attempt() -> None:
    scheduler = cluster_of(sizes(4, 5, 4, 3, 2))
    attempts = [schedule(scheduler, make_pod(f"p{i}", **FULL)) for i in range(5)]
    assert [each.selected for each in attempts] == ["b", "a", "c", "d", ""]
    assert [each.batched_with for each in attempts] == ["", *["default/p0"] * 3, ""]
    assert attempts[0].scores is not None
    assert all(each.scores is None and each.feasible_nodes == 1 for each in attempts[1:4])
    assert [each.evaluated_nodes for each in attempts[:4]] == [5, 1, 1, 1]
    assert attempts[4].message.startswith("0/5 nodes are available")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({}, {"requests": {"cpu": "3001m"}}, id="requests"),
        pytest.param({}, {"requests": {"cpu": "3", "example.com/gpu": "0"}}, id="a request of 0 devices"),
        pytest.param({}, {"labels": {"app": "web"}}, id="labels"),
        pytest.param({}, {"tolerations": [{"key": "k", "operator": "Exists"}]}, id="tolerations"),
        pytest.param({}, {"nodeSelector": {"kubernetes.io/os": "linux"}}, id="node selector"),
        pytest.param({"affinity": {"podAntiAffinity": {}}}, {"affinity": {"podAntiAffinity": {}}}, id="pod affinity"),
        pytest.param(
            *[{"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
               "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"x": "y"}}}]}] * 2,
            id="spread constraints",
        ),
    ],
)  # fmt: skip
def test_pods_that_plugins_tell_apart_are_not_batched(first: dict[str, Any], second: dict[str, Any]) -> None:
    scheduler = cluster_of(sizes(4, 4, 4))
    schedule(scheduler, make_pod("p", **{**FULL, **first}))
    assert schedule(scheduler, make_pod("q", **{**FULL, **second})).batched_with == ""


@pytest.mark.parametrize(
    "alike",
    [
        pytest.param(
            [{"tolerations": [{"key": k, "operator": "Exists"} for k in keys]} for keys in ("ab", "ba")],
            id="tolerations in another order",
        ),
        pytest.param(
            [{"volumes": [{"name": name, "configMap": {"name": name}}]} for name in ("one", "two")],
            id="other ConfigMaps",
        ),
        pytest.param([{"priority": 5}, {"priority": 4}], id="another priority"),
        pytest.param([{}, {"requests": {"cpu": "3", "memory": "0"}}], id="no memory and 0 of it"),
    ],
)
def test_what_no_plugin_looks_at_does_not_count(alike: list[dict[str, Any]]) -> None:
    scheduler = cluster_of(sizes(4, 4, 4))
    schedule(scheduler, make_pod("p", **{**FULL, **alike[0]}))
    assert schedule(scheduler, make_pod("q", **{**FULL, **alike[1]})).batched_with == "default/p"


class Unsigned(ScorePlugin):
    name = "Unsigned"

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> tuple[int, Status | None]:
        return 0, None


@pytest.mark.parametrize(
    "about",
    [
        pytest.param({"spreading": {"defaultingType": "System"}}, id="default constraints"),
        pytest.param({"gates": feature_gates({"OpportunisticBatching": False})}, id="the gate is off"),
        pytest.param({"more": [Unsigned]}, id="a plugin that does not sign pods"),
        pytest.param(
            {"configuration": {"extenders": [{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "f", "managedResources":
             [{"name": "example.com/none"}]}]}},
            id="an extender",
        ),
    ],
)  # fmt: skip
def test_profiles_that_do_not_batch(about: dict[str, Any]) -> None:
    scheduler = cluster_of(sizes(4, 4, 4), **about)
    for i in range(3):
        assert schedule(scheduler, make_pod(f"p{i}", **FULL)).batched_with == ""


def test_a_node_that_has_room_for_another_is_scored_anew() -> None:
    scheduler = cluster_of(sizes(8, 7, 6))
    attempts = [schedule(scheduler, make_pod(f"p{i}", **FULL)) for i in range(3)]
    assert [each.batched_with for each in attempts] == ["", "", ""]


def test_a_cycle_in_between_ends_the_batch() -> None:
    scheduler = cluster_of(sizes(4, 4, 4, 4))
    schedule(scheduler, make_pod("p0", **FULL))
    schedule(scheduler, make_pod("other", requests={"cpu": "9"}))
    assert schedule(scheduler, make_pod("p1", **FULL)).batched_with == ""
    assert schedule(scheduler, make_pod("p2", **FULL)).batched_with == "default/p1"


@pytest.mark.parametrize(("age", "batched"), [(MOST_AGE, "default/p0"), (MOST_AGE + 1, "")])
def test_scores_are_gone_by_for_half_a_second(age: int, batched: str) -> None:
    scheduler = cluster_of(sizes(4, 4, 4))
    schedule(scheduler, make_pod("p0", **FULL))
    scheduler.advance(age)
    assert schedule(scheduler, make_pod("p1", **FULL)).batched_with == batched


def test_a_hint_that_does_not_fit_costs_nothing_but_itself() -> None:
    """The next best node was filled meanwhile, by somebody else."""
    scheduler = cluster_of(sizes(6, 5, 4))
    schedule(scheduler, make_pod("p0", requests={"cpu": "4"}))
    scheduler.cluster.create_admitted(make_pod("elsewhere", requests={"cpu": "5"}, node_name="b"))
    attempt = schedule(scheduler, make_pod("p1", requests={"cpu": "4"}))
    assert (attempt.selected, attempt.batched_with) == ("c", "")


@pytest.mark.parametrize("verify", [0, 1])
def test_a_node_that_is_tainted_in_the_middle_of_a_batch_is_passed_over(verify: int) -> None:
    scheduler = cluster_of(sizes(4, 5, 4, 4, 4), verify=verify)
    attempts = [schedule(scheduler, make_pod(f"p{i}", **FULL)) for i in range(3)]
    assert [each.selected for each in attempts] == ["b", "a", "c"]
    scheduler.cluster.replace(make_node("d", taints=[{"key": "k", "effect": "NoSchedule"}]))
    attempt = schedule(scheduler, make_pod("p3", **FULL))
    assert (attempt.selected, attempt.batched_with) == ("e", "")


def test_other_nominated_pods_count_on_the_node_of_a_hint() -> None:
    scheduler = cluster_of(sizes(4, 5, 4, 4, 4))
    for i in range(3):
        schedule(scheduler, make_pod(f"p{i}", **FULL))
    promised = make_pod("promised", requests={"cpu": "2"}, schedulingGates=[{"name": "later"}], priority=5)
    scheduler.cluster.create_admitted(promised)
    scheduler.core.queue.nominator.add(promised, Nomination("d"))
    attempt = schedule(scheduler, make_pod("p3", **FULL))
    assert (attempt.selected, attempt.batched_with) == ("e", "")


def test_what_a_batched_attempt_reuses_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    verified = Verification.filter

    def filter_(self: Verification, run: FilterRun) -> None:
        seen.append(run.pod.pod.metadata.name)
        verified(self, run)

    monkeypatch.setattr(Verification, "filter", filter_)
    scheduler = cluster_of(sizes(4, 5, 4, 4, 4), verify=1)
    attempts = [schedule(scheduler, make_pod(f"p{i}", **FULL)) for i in range(5)]
    assert [each.batched_with != "" for each in attempts] == [False, True, True, True, True]
    assert seen == ["p0", "p1", "p2", "p3", "p4"]


def test_a_nomination_goes_before_a_hint() -> None:
    scheduler = cluster_of(sizes(6, 5, 4))
    schedule(scheduler, make_pod("p0", requests={"cpu": "4"}))
    pod = make_pod("p1", requests={"cpu": "4"})
    attempt = schedule(scheduler, replace(pod, status=replace(pod.status, nominated_node_name="c")))
    assert (attempt.selected, attempt.nominated_node_used, attempt.batched_with) == ("c", "c", "")


def test_a_node_that_is_gone_ends_the_batch() -> None:
    scheduler = cluster_of(sizes(4, 4, 4))
    first = schedule(scheduler, make_pod("p0", **FULL))
    node = scheduler.cluster.get(Node, "", first.selected)
    assert node is not None
    scheduler.cluster.delete(node)
    assert schedule(scheduler, make_pod("p1", **FULL)).batched_with == ""


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_by_the_rule_upstream_nodes_come_as_from_its_heap(totals: list[int]) -> None:
    assert list(popped("upstream", totals)) == list(heap_pops(totals))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.sampled_from(["seeded", "smallest"]))
def test_by_the_other_rules_the_best_come_first(totals: list[int], rule: TieRule) -> None:
    order = list(popped(rule, totals))
    assert sorted(order) == list(range(len(totals)))
    assert [totals[place] for place in order] == sorted(totals, reverse=True)
    if rule == "smallest":
        assert order == sorted(order, key=lambda place: (-totals[place], f"{place:02}"))


def popped(rule: TieRule, totals: list[int]) -> Sequence[int]:
    """Places in the order in which nodes are taken, the chosen one first."""
    ties = Ties(rule, SeededGenerator(3))
    names = tuple(f"{place:02}" for place in range(len(totals)))
    places = np.arange(len(totals))
    array = np.array(totals)
    tied = places[array == array.max()]
    first = int(tied[ties.pick_scored(len(totals), len(tied), lambda: tied, lambda: [names[i] for i in tied])])
    scores = ScoreTrace(places, [PluginScores("any", 1, array, array)], array, tied)
    ranked = pickle.loads(pickle.dumps(RankedNodes(ties, scores, names, names[first])))
    order = [first]
    while ranked.left:
        order.append(int(ranked.pop()))
    return order


def heap_pops(totals: list[int]) -> Sequence[int]:
    """container/heap by the book: Init, then Pop until it is empty."""
    items = list(enumerate(totals))

    def down(start: int, size: int) -> None:
        i = start
        while 2 * i + 1 < size:
            child = 2 * i + 1
            if child + 1 < size and items[child + 1][1] > items[child][1]:
                child += 1
            if not items[child][1] > items[i][1]:
                break
            items[i], items[child] = items[child], items[i]
            i = child

    for start in range(len(items) // 2 - 1, -1, -1):
        down(start, len(items))
    assert items[0][0] == heap_init_root(totals)
    order = []
    while items:
        last = len(items) - 1
        items[0], items[last] = items[last], items[0]
        down(0, last)
        order.append(items.pop()[0])
    return order


KINDS: list[dict[str, Any]] = [
    FULL, {"requests": {"cpu": "1"}}, {**FULL, "labels": {"app": "web"}}, {"requests": {"cpu": "9"}}
]  # fmt: skip
SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SETTINGS
@given(
    cpus=st.lists(st.integers(2, 7), min_size=1, max_size=12),
    kinds=st.lists(st.integers(0, len(KINDS) - 1), min_size=1, max_size=25),
    rule=st.sampled_from(["seeded", "upstream", "smallest"]),
    waits=st.lists(st.integers(0, MOST_AGE), min_size=25, max_size=25),
)
def test_every_attempt_is_batched_exactly_when_it_may_be(
    cpus: list[int], kinds: list[int], rule: TieRule, waits: list[int]
) -> None:
    """Against the rule as it is written down, worked out from attempts alone; and pickled between them, with plugins
    asked anew, all is the same."""
    nodes = [make_node(f"n{i:02}", cpu=str(cpu)) for i, cpu in enumerate(cpus)]
    scheduler, pickled = cluster_of(nodes, ties=rule), cluster_of(nodes, ties=rule, verify=1)
    free = {f"n{i:02}": cpu * 1000 for i, cpu in enumerate(cpus)}
    rest: dict[str, int] = {}
    """What is left of the attempt that scored: node → total."""
    scored_at, scored_kind, scored_by, last = 0, -1, "", ""
    chain = other = START
    for i, (kind, wait) in enumerate(zip(kinds, waits, strict=False)):
        for each in (scheduler, pickled):
            each.advance(each.now + wait)
        pod = make_pod(f"p{i}", **KINDS[kind])
        attempt = schedule(scheduler, pod)
        pickled = pickle.loads(pickle.dumps(pickled))
        chain, other = digest(attempt, chain), digest(schedule(pickled, pod), other)
        wanted = int(KINDS[kind]["requests"]["cpu"]) * 1000
        may = bool(
            rest
            and last
            and kind == scored_kind
            and scheduler.now <= scored_at + MOST_AGE
            and free[last] < wanted
        )  # fmt: skip
        if may:
            best = max(rest.values())
            # A node of another total is never taken; which of equals is, the rule says.
            assert attempt.batched_with == scored_by
            assert rest[attempt.selected] == best
            assert free[attempt.selected] >= wanted
            del rest[attempt.selected]
        else:
            assert attempt.batched_with == ""
            rest = {}
            if attempt.scores is not None and attempt.filter is not None:
                totals = zip(attempt.scores.positions.tolist(), attempt.scores.total.tolist(), strict=True)
                rest = {attempt.filter.nodes[position]: total for position, total in totals}
                del rest[attempt.selected]
                scored_at, scored_kind, scored_by = scheduler.now, kind, attempt.pod
        last = attempt.selected
        if last:
            free[last] -= wanted
    assert chain == other

"""Placements of a pod group (docs/semantics/pod-groups.md#placements)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from framework.objects import Node, Pod
from framework.objects.scheduling import (
    PodGroupSchedulingConstraints,
    SchedulingPodGroup,
    TopologyConstraint,
)
from framework.trace.attempt import PlacementOutcome, PodGroupOutcome
from framework.trace.encoding import decode_attempts, encode_attempts
from tests.builders import make_node, make_pod
from tests.cycle.test_pod_groups import MIN_COUNT, UNSCHEDULABLE, condition, group, member, play, told
from tests.plugins.playing import Play

FLAG = "GangScheduling=true,GenericWorkload=true,TopologyAwareWorkloadScheduling=true"
CONFIGURATION = f"""# kube-scheduler --feature-gates={FLAG}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""


def constrained(minimum: int | None = 2, key: str = "rack") -> SchedulingPodGroup:
    made = group(minimum=minimum)
    constraints = PodGroupSchedulingConstraints(topology=(TopologyConstraint(key=key),))
    return replace(made, spec=replace(made.spec, scheduling_constraints=constraints))


def racks(**cpus: list[int]) -> list[Node]:
    """Rack → cpus of its nodes; the rack ``none`` has no label."""
    return [
        make_node(f"{rack}{i}", cpu=str(cpu), labels={} if rack == "none" else {"rack": rack})
        for rack, sizes in cpus.items()
        for i, cpu in enumerate(sizes)
    ]


def outcome(played: Play) -> PodGroupOutcome:
    found = played.scheduler.cycle_traces[0].pod_group
    assert found is not None
    return found


def placements(played: Play) -> dict[str, PlacementOutcome]:
    return {each.name: each for each in outcome(played).placements}


def run(*objects: Any, steps: int = 1) -> Play:
    return play(objects, steps=steps, configuration=CONFIGURATION)


def test_all_pods_go_to_the_one_domain_that_takes_the_gang() -> None:
    played = run(*racks(a=[1], b=[1, 1], none=[9]), constrained(), member("p"), member("q"))
    assert set(played.bound.values()) == {"b0", "b1"}
    found = placements(played)
    assert list(found) == ["a", "b"]
    assert outcome(played).placement == "b"
    assert (found["a"].nodes, found["b"].nodes) == (1, 2)
    assert (found["a"].status.message, found["b"].status.is_success) == (UNSCHEDULABLE, True)
    # One that does needs no scores.
    assert found["b"].total is None
    for trace in played.scheduler.cycle_traces:
        assert trace.nodes_total == 2
        assert decode_attempts(encode_attempts([trace]))[0].pod_group == trace.pod_group


def test_of_several_the_fuller_one_wins() -> None:
    filler = make_pod("filler", requests={"cpu": "2", "memory": "4Gi"}, node_name="b0")
    played = run(*racks(a=[4], b=[4]), filler, constrained(), member("p"), member("q"))
    assert set(played.bound.values()) == {"b0"}
    found = placements(played)
    scores = {name: {plugin: (weight, raw, norm) for plugin, weight, raw, norm in found[name].scores} for name in found}
    # cpu 2 of 4 and memory 400Mi of 8Gi: (50 + 4) / 2; with the filler cpu 4 of 4 and memory 4.4Gi: (100 + 54) / 2.
    assert scores["a"] == {"NodeResourcesFit": (1, 27, 27), "PodGroupPodsCount": (1, 2, 100)}
    assert scores["b"] == {"NodeResourcesFit": (1, 77, 77), "PodGroupPodsCount": (1, 2, 100)}
    assert (found["a"].total, found["b"].total) == (127, 177)


def test_more_pods_in_a_placement_count() -> None:
    played = run(*racks(a=[2], b=[3]), constrained(), *(member(name) for name in "pqr"))
    assert set(played.bound.values()) == {"b0"}
    found = placements(played)
    counts = {name: next(each[2:] for each in found[name].scores if each[0] == "PodGroupPodsCount") for name in found}
    assert counts == {"a": (2, 66), "b": (3, 100)}


def test_none_fits() -> None:
    played = run(*racks(a=[1], b=[1]), constrained(), member("p"), member("q"))
    assert played.bound == {}
    text = f"0/2 placements are available, first placement status: {UNSCHEDULABLE}"
    set_ = condition(played)
    assert set_ is not None
    assert (set_.status, set_.message) == ("False", text)
    results = told(played)
    assert results["p"][1].startswith(f"{UNSCHEDULABLE}, {MIN_COUNT}")
    # Out of the nodes of that placement, and without a preemption that would be repeated for every placement.
    assert results["q"][1].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert results["q"][1].endswith("preemption: not eligible due to placement-based pod group scheduling limitation")


def test_no_domain_at_all() -> None:
    played = run(*racks(none=[4]), constrained(), member("p"), member("q"))
    assert set(told(played).values()) == {("failed", "no feasible placements found")}
    set_ = condition(played)
    assert set_ is not None
    assert (set_.reason, set_.message) == ("Unschedulable", "no feasible placements found")


def test_a_group_without_constraints_has_all_nodes() -> None:
    played = run(*racks(a=[1], none=[1]), group(minimum=2), member("p"), member("q"))
    assert set(played.bound.values()) == {"a0", "none0"}
    assert (outcome(played).placement, [each.nodes for each in outcome(played).placements]) == ("", [2])


def test_later_pods_follow_those_that_are_placed() -> None:
    played = run(*racks(a=[3], b=[9]), constrained(), member("p"), member("q", nodeSelector={"rack": "a"}))
    assert set(played.bound.values()) == {"a0"}
    played.create(member("r"))
    played.scheduler.step()
    assert played.bound["r"] == "a0"
    assert list(placements(played)) == ["a"]


def test_pods_placed_in_two_domains_are_an_error() -> None:
    first = member("p", node_name="a0")
    second = member("q", node_name="b0")
    played = run(*racks(a=[4], b=[4]), first, second, constrained(), member("r"))
    text = "cannot determine domain for already scheduled pods: more than 1 domain found for pod group: a, b"
    assert told(played)["r"] == ("failed", text)
    set_ = condition(played)
    assert set_ is not None
    assert set_.reason == "SchedulerError"


def test_a_pod_placed_outside_every_domain_is_an_error() -> None:
    played = run(*racks(a=[4], none=[4]), member("p", node_name="none0"), constrained(), member("r"))
    assert told(played)["r"][1].endswith("no topology domain found for pod default/p")


def test_a_nominated_node_outside_the_placement_is_left_aside() -> None:
    nominated = member("p")
    nominated = replace(nominated, status=replace(nominated.status, nominated_node_name="a0"))
    played = run(*racks(a=[1], b=[1, 1]), constrained(), nominated, member("q"))
    assert set(played.bound.values()) == {"b0", "b1"}


@pytest.mark.parametrize("point", ["placementGenerate", "placementScore"])
def test_without_plugins_at_a_point(point: str) -> None:
    """All nodes are one placement; and without scores every placement that would do is as good as another."""
    text = f'{CONFIGURATION}profiles: [{{plugins: {{{point}: {{disabled: [{{name: "*"}}]}}}}}}]\n'
    played = play([*racks(a=[2], b=[2]), constrained(), member("p"), member("q")], configuration=text)
    if point == "placementGenerate":
        assert [each.name for each in outcome(played).placements] == [""]
        assert len(played.bound) == 2
    else:
        assert set(played.bound.values()) == {"a0"}
        assert [each.total for each in outcome(played).placements] == [0, 0]


def test_a_single_pod_is_scheduled_as_ever() -> None:
    played = run(*racks(a=[1], b=[1]), make_pod("single", requests={"cpu": "1"}))
    trace = played.scheduler.cycle_traces[0]
    assert (trace.nodes_total, trace.pod_group) == (2, None)
    assert isinstance(played.scheduler.cluster.get(Pod, "default", "single"), Pod)
    assert len(played.bound) == 1

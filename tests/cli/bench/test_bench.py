"""``bench``: every workload plays, has the shape it is named for, and is measured the way the others are."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET
from collections import Counter

import pytest

from framework.cli.bench.command import Request, run
from framework.cli.bench.distinct import distinct_pods
from framework.cli.bench.measure import Options, World, measure
from framework.cli.bench.objects import HOSTNAME, ZONE
from framework.cli.bench.plot import growth_plot
from framework.cli.bench.workloads import BY_NAME, WORKLOADS, Workload
from framework.cli.main import BAD_INPUT, main
from framework.objects import Node, Pod

NAMES = [workload.name for workload in WORKLOADS]
NOWHERE = {"Unschedulable"}


def tiny(name: str, nodes: int = 24, init_pods: int | None = 12, pods: int = 6) -> Workload:
    workload = BY_NAME[name]
    return workload.resized(nodes, None if workload.init_per_node else init_pods, pods)


@pytest.mark.parametrize("name", NAMES)
def test_every_workload_plays_and_is_recorded(name: str) -> None:
    got = measure(tiny(name), Options())
    assert got.bound == (0 if name in NOWHERE else 6)
    assert got.attempts == (12 if name == "Preemption" else 6), "a preempting pod is tried twice"
    assert got.trace_bytes > 0
    assert got.pods_per_second > 0


@pytest.mark.parametrize("name", ["AllDistinct", "Preemption"])
def test_a_workload_gives_the_same_decisions_each_time(name: str) -> None:
    assert measure(tiny(name), Options()).digest == measure(tiny(name), Options()).digest


@pytest.mark.parametrize("name", NAMES)
def test_nodes_and_placed_pods_are_those_of_the_specification(name: str) -> None:
    workload = tiny(name)
    cluster = World(workload, Options()).scheduler.cluster
    nodes, pods = cluster.list(Node), cluster.list(Pod)
    assert len(nodes) == 24
    assert {str(n.status.allocatable) for n in nodes} == {str({"cpu": "4", "memory": "32Gi", "pods": "110"})}
    assert len({n.metadata.labels[HOSTNAME] for n in nodes}) == 24
    assert len({n.metadata.labels.get(ZONE) for n in nodes} - {None}) == workload.zones
    per_node = Counter(pod.spec.node_name for pod in pods)
    assert set(per_node.values()) == ({4} if name == "Preemption" else {1}), "round robin"


def spec_figures() -> dict[str, tuple[float, float]]:
    """Pods per second of kube-scheduler v1.36.2: adaptive, every node."""
    return {
        "SchedulingBasic500": (2435, 1258),
        "SchedulingBasic": (1148, 188),
        "SchedulingBasic10000Pods": (1069, 194),
        "SchedulingBasic15000": (771, 49),
        "TopologySpreading": (650, 150),
        "PreferredTopologySpreading": (686, 120),
        "SchedulingPodAntiAffinity": (346, 124),
        "SchedulingPodAffinity": (177, 81),
        "SchedulingPreferredPodAffinity": (177, 80),
        "SchedulingPreferredPodAntiAffinity": (173, 73),
        "SchedulingNodeAffinity": (938, 126),
        "MixedSchedulingBasePod": (408, 138),
        "OnePodPerNode": (1206, 216),
        "OnePodPerNodeList": (36688, 19736),
        "Preemption": (120, 113),
        "Unschedulable": (333, 317),
    }


def test_the_figures_to_compare_with_are_kube_schedulers() -> None:
    assert {w.name: (w.adaptive, w.every_node) for w in WORKLOADS if w.adaptive} == spec_figures()


def test_the_five_kinds_of_the_mixed_workload_have_equal_shares() -> None:
    workload = BY_NAME["MixedSchedulingBasePod"]
    kinds = Counter(json.dumps(each) for each in workload.init(0, workload.init_pods))
    assert sorted(kinds.values()) == [2000] * 5
    assert workload.measured(0, 1) == [{}]


def test_measured_pods_of_pod_affinity_are_in_the_second_namespace() -> None:
    world = World(tiny("SchedulingPodAntiAffinity"), Options())
    assert {pod.metadata.namespace for pod in world.scheduler.cluster.list(Pod)} == {"sched-0"}
    assert {pod.metadata.namespace for pod in world.pods} == {"sched-1"}


def test_deployments_take_turns() -> None:
    made = BY_NAME["Deployments100"].measured(1000, 200)
    apps = Counter(each["labels"]["app"] for each in made)
    assert len(apps) == 100
    assert set(apps.values()) == {2}


def test_distinct_pods_are_distinct_and_the_same_each_time() -> None:
    made = distinct_pods(0, 500)
    assert len({json.dumps(each, sort_keys=True) for each in made}) == 500
    assert made[100:] == distinct_pods(100, 400)
    assert {"tolerations" in each for each in made} == {True, False}


def test_a_preempting_pod_drives_three_pods_out() -> None:
    world = World(tiny("Preemption"), Options())
    before = len(world.scheduler.cluster.list(Pod))
    world.create(world.pods[:1])
    while world.scheduler.step() is not None:
        pass
    assert len(world.scheduler.cluster.list(Pod)) == before + 1 - 3


def test_third_party_plugins_are_asked() -> None:
    got = World(tiny("ThirdPartyScore"), Options()).scheduler.profiles["default-scheduler"]
    assert "FewPodsFirst" in {plugin.name for plugin in got.enabled.score}
    got = World(tiny("ThirdPartyFilter"), Options()).scheduler.profiles["default-scheduler"]
    assert "AtMostAHundred" in {plugin.name for plugin in got.enabled.filter}


def test_without_a_trace_nothing_is_recorded() -> None:
    got = measure(tiny("SchedulingBasic"), Options(record=False))
    assert (got.trace_bytes, got.bound) == (0, 6)


SMALL = ["--nodes", "12", "--init-pods", "12", "--pods", "4"]


def test_json_says_what_was_measured_in_a_process_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--workload", "SchedulingBasic", "--json", "--percentage", "50", *SMALL]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["nodes"], said["init_pods"], said["pods"], said["percentage"]) == (12, 12, 4, 50)
    assert said["bound"] == 4


def test_markdown_has_a_row_for_each_workload(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--workload", "Preemption", "--workload", "Deployments1"]
    assert main(["bench", "--inside", "--markdown", *chosen, *SMALL]) == 0
    rows = capsys.readouterr().out.strip().splitlines()[2:]
    names = [row.split("|")[1].split(":")[0].strip() for row in rows]
    assert names == ["workload", "---", "Preemption", "Deployments1"]
    assert {row.count("|") for row in rows} == {12}


def test_profile_names_extension_points_and_plugins() -> None:
    output = io.StringIO()
    assert run(Request(["SchedulingBasic"], 12, 12, 4, profile=True), output, io.StringIO()) == 0
    said = output.getvalue()
    for part in ("PreFilter", "Score", "Bind", "chunks", "noderesources: Filter", "queue", "trace"):
        assert part in said


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--workload", "Nothing"], "no workload is named Nothing"),
        (["--pods", "0"], "--pods: 0 is less than 1"),
        (["--nodes", "0"], "--nodes: 0 is less than 1"),
        (["--percentage", "101"], "--percentage: 101 is not between 0 and 100"),
    ],
    ids=["unknown", "no pods", "no nodes", "percentage"],
)
def test_bad_input_says_what_and_where(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *arguments]) == BAD_INPUT
    assert complaint in capsys.readouterr().err


def test_the_plot_has_a_line_for_each_series() -> None:
    drawn = ET.fromstring(growth_plot({"A": [(500, 60.0), (5000, 90.0)], "B": [(500, 400.0)]}))
    lines = [each.get("points", "") for each in drawn.iter("{http://www.w3.org/2000/svg}polyline")]
    assert [len(points.split()) for points in lines] == [2, 1]

"""Load of nodes from files: every form, what is noted of it, and what is refused with which sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from framework.objects import Node, Pod
from framework.objects.catalogue import LoadMetrics
from framework.objects.decode import decode_manifest
from framework.reading.documents import FileRefused
from framework.reading.load_series import AVERAGE, MOST_POINTS, LoadRefused, Series, made_load, metrics_of, together
from framework.reading.loads import ReadLoad, added, notes_about, read_load

NOW = 1_795_168_800


def node(name: str, address: str = "") -> Node:
    status: dict[str, Any] = {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}}
    if address:
        status["addresses"] = [{"type": "InternalIP", "address": address}]
    found = decode_manifest({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})
    assert isinstance(found, Node)
    return found


NODES = [node("a", "10.0.0.1"), node("b", "10.0.0.2")]


def vector(*series: tuple[Mapping[str, str], str], kind: str = "vector") -> dict[str, Any]:
    result = [{"metric": metric, "value": [NOW, value]} for metric, value in series]
    return {"status": "success", "data": {"resultType": kind, "result": result}}


def matrix(metric: Mapping[str, str], values: list[float], step: int = 60) -> dict[str, Any]:
    samples = [[NOW - step * (len(values) - 1 - i), str(value)] for i, value in enumerate(values)]
    return {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": metric, "values": samples}]}}


def read(document: object, resource: str = "") -> ReadLoad:
    return read_load(json.dumps(document).encode(), NODES, resource)


def figures(load: LoadMetrics, name: str) -> dict[tuple[str, str], float]:
    return {(each.type, each.operator): each.value for each in load.data.node_metrics_map[name].metrics}


def refusal(document: object, resource: str = "") -> str:
    with pytest.raises((LoadRefused, FileRefused)) as refused:
        read(document, resource)
    return str(refused.value)


def test_the_answer_of_load_watcher() -> None:
    metric = {"name": "host.cpu.utilisation", "type": "CPU", "operator": "AVG", "rollup": "15m", "value": 33.5}
    answer = {
        "timestamp": NOW,
        "window": {"duration": "15m", "start": NOW - 900, "end": NOW},
        "source": "Prometheus",
        "data": {"NodeMetricsMap": {"a": {"tags": {}, "metrics": [metric]}, "gone": {"metrics": [metric]}}},
    }
    found = read(answer)
    assert figures(found.metrics, "a") == {("CPU", "AVG"): 33.5}
    assert (found.metrics.window.end, found.metrics.metadata.name) == (NOW, "load-watcher")
    assert [str(each) for each in notes_about(found, NODES)] == [
        "1 node has no load and gets 0 points from plugins that score by it: b.",
        "Load of 1 node that the cluster does not have: gone.",
    ]


def test_a_load_metrics_as_yaml() -> None:
    text = """
apiVersion: load-watcher.paypal.com/v1
kind: LoadMetrics
metadata: {name: mine}
window: {end: 1795168800}
data: {NodeMetricsMap: {a: {metrics: [{type: CPU, operator: Latest, value: 12}]}}}
"""
    found = read_load(text.encode(), NODES)
    assert (found.metrics.metadata.name, figures(found.metrics, "a")) == ("load-watcher", {("CPU", "Latest"): 12})


def test_a_vector_names_nodes_by_name_address_or_address_with_a_port() -> None:
    found = read(vector(({"instance": "10.0.0.1:9100"}, "12.5"), ({"node": "b"}, "40")), "CPU")
    assert figures(found.metrics, "a") == {("CPU", "Latest"): 12.5}
    assert figures(found.metrics, "b") == {("CPU", "Latest"): 40}
    assert not found.metrics.data.node_metrics_map["a"].history


def test_shares_become_percent() -> None:
    named = read(vector(({"__name__": "instance:node_cpu:ratio", "instance": "a:9100"}, "0.25")))
    assert (figures(named.metrics, "a"), named.notes) == ({("CPU", "Latest"): 25}, [])
    small = read(vector(({"node": "a"}, "0.25"), ({"node": "b"}, "1")), "Memory")
    assert figures(small.metrics, "b") == {("Memory", "Latest"): 100}
    assert [str(each) for each in small.notes] == [
        "No value of Memory is above 1: they are taken as shares and multiplied by 100."
    ]


def test_a_matrix_becomes_mean_deviation_and_history() -> None:
    found = read(matrix({"__name__": "cpu_percent", "node": "a"}, [10, 20, 30, 40]))
    assert figures(found.metrics, "a") == {("CPU", "AVG"): 25, ("CPU", "STD"): 11.18}
    [history] = found.metrics.data.node_metrics_map["a"].history
    assert (history.type, history.step, history.values) == ("CPU", 60, (10, 20, 30, 40))
    assert (found.metrics.window.start, found.metrics.window.end) == (NOW - 180, NOW)
    assert found.metrics.window.duration == "3m"


def test_a_long_history_is_averaged_and_ends_with_the_last_moment() -> None:
    found = read(matrix({"node": "a"}, [50.0] * 299 + [90.0]), "CPU")
    [history] = found.metrics.data.node_metrics_map["a"].history
    assert (len(history.values), history.step, history.values[-1]) == (100, 180, round(190 / 3, 2))
    assert len(history.values) <= MOST_POINTS


def test_several_results_at_once() -> None:
    cpu = {"AVG": vector(({"node": "a"}, "50")), "STD": vector(({"node": "a"}, "4"))}
    found = read({"cpu": cpu, "Memory": matrix({"node": "a"}, [60, 70])})
    assert figures(found.metrics, "a") == {
        ("CPU", "AVG"): 50,
        ("CPU", "STD"): 4,
        ("Memory", "AVG"): 65,
        ("Memory", "STD"): 5,
    }


def test_one_file_after_another() -> None:
    first = read(vector(({"node": "a"}, "50"), ({"node": "b"}, "60")), "CPU")
    both = added(first.metrics, read(vector(({"node": "a"}, "70")), "CPU"))
    both = added(both.metrics, read(vector(({"node": "a"}, "30")), "Memory"))
    assert figures(both.metrics, "a") == {("CPU", "Latest"): 70, ("Memory", "Latest"): 30}
    assert figures(both.metrics, "b") == {("CPU", "Latest"): 60}
    assert both.metrics.source == "Prometheus"


def test_a_history_goes_with_the_mean_that_was_made_of_it() -> None:
    over_time = metrics_of([Series("a", kind, "", [NOW - 60, NOW], [4.0, 6.0]) for kind in ("CPU", "Memory")], "x")
    latest = together(over_time, metrics_of([Series("a", "CPU", "latest", [NOW + 60], [9.0])], "y"))
    assert {each.type for each in latest.data.node_metrics_map["a"].history} == {"CPU", "Memory"}
    mean = together(over_time, metrics_of([Series("a", "CPU", AVERAGE, [NOW + 60], [9.0])], "y"))
    assert figures(mean, "a")["CPU", "AVG"] == 9
    assert {each.type for each in mean.data.node_metrics_map["a"].history} == {"Memory"}


def test_samples_that_are_no_number_are_left_out() -> None:
    found = read(vector(({"node": "a"}, "NaN"), ({"node": "b"}, "40")), "CPU")
    assert list(found.metrics.data.node_metrics_map) == ["b"]


@pytest.mark.parametrize(
    ("document", "resource", "says"),
    [
        (
            {"status": "error", "errorType": "bad_data", "error": "parse error"},
            "",
            "with an error: bad_data: parse err",
        ),
        (vector(kind="scalar"), "", "The result is a scalar; load comes from a vector or a matrix"),
        (vector(), "CPU", "The result holds no series."),
        (
            vector(({"node": "a"}, "50")),
            "",
            "does not say whether it is of cpu or of memory. Say which: CPU or Memory.",
        ),
        (vector(({}, "50")), "CPU", "No series names its node. It is looked for in the labels node, instance"),
        (vector(({"node": "x"}, "50")), "CPU", "the result names x, the cluster has a, b."),
        (vector(({"node": "a"}, "50"), ({"instance": "a:1"}, "50")), "CPU", "Two series are of CPU of node a."),
        (vector(({"node": "a"}, "3500")), "CPU", "3,500.0 of node a is no percentage of its CPU."),
        (vector(({"node": "a"}, "much")), "CPU", "much is no number."),
        (
            {"status": "success", "data": {"resultType": "vector", "result": [1]}},
            "CPU",
            "This is no answer of Prometheus",
        ),
        ({"status": 1, "data": []}, "CPU", "This is no answer of Prometheus"),
        ({"hello": 1}, "", "This is no load."),
        ([1], "", "This is no load."),
        ({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}, "", "The file holds 0 LoadMetrics"),
        ({"data": {"NodeMetricsMap": {"a": {"metrics": [{"value": "x"}]}}}}, "", "data.NodeMetricsMap"),
    ],
)
def test_what_is_no_load_is_told(document: object, resource: str, says: str) -> None:
    assert says in refusal(document, resource)


def test_text_that_is_no_json() -> None:
    with pytest.raises(LoadRefused, match="This is not JSON"):
        read_load(b'{"status": ', NODES)
    with pytest.raises(FileRefused, match="empty"):
        read_load(b" ", NODES)


def pod(name: str, on: str, cpu: str) -> Pod:
    found = decode_manifest(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "x"},
            "spec": {"nodeName": on, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
        }
    )
    assert isinstance(found, Pod)
    return found


def test_a_load_that_is_made_up_follows_the_requests_and_the_seed() -> None:
    pods = [pod(f"p{i}", "a", "1") for i in range(6)]
    made = made_load(NODES, pods, 7, NOW)
    assert made == made_load(NODES, pods, 7, NOW)
    assert made != made_load(NODES, pods, 8, NOW)
    busy, idle = (figures(made, name)["CPU", "AVG"] for name in ("a", "b"))
    assert 0.3 * 75 < busy <= 75
    assert idle < 5
    assert made.data.node_metrics_map["b"] == made_load([NODES[1]], [], 7, NOW).data.node_metrics_map["b"]
    assert [len(each.values) for each in made.data.node_metrics_map["a"].history] == [60, 60]
    assert (made.window.end, made.source) == (NOW, "generated, seed 7")


def test_single_figures_have_no_history() -> None:
    made = metrics_of([Series("a", "CPU", "", [NOW], [5.0])], "x")
    assert figures(made, "a") == {("CPU", "AVG"): 5, ("CPU", "STD"): 0}
    assert not made.data.node_metrics_map["a"].history


@pytest.mark.parametrize("value", ["1e308", "200.5", "-50"])
def test_a_figure_that_is_no_percentage_is_refused(value: str) -> None:
    metrics = [{"type": "CPU", "operator": "AVG", "value": float(value)}]
    text = json.dumps({"window": {"end": 1}, "data": {"NodeMetricsMap": {"a": {"metrics": metrics}}}})
    with pytest.raises(LoadRefused, match="of node a is no percentage of its CPU"):
        read_load(text.encode(), [])

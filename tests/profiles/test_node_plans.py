"""Plugins that promise to look only at the node are asked again where something changed, others every time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from framework.cli.bench.plugins import AtMostAHundred, FewPodsFirst
from framework.interface import (
    BoundsNormalizer,
    CycleState,
    FilterPlugin,
    NodeInfo,
    NodeValues,
    NormalizeScore,
    ScorePlugin,
    Status,
)
from framework.interface.plugin import Plugin
from framework.objects import Node, Pod
from framework.plugins.registry import built_in_registry
from framework.profiles.node_plans import MOST_STATUSES
from framework.profiles.verify import ReuseDiffers
from tests.builders import make_node, make_pod
from tests.cycle.small import FILTERS, SmallCluster
from tests.cycle.test_reuse import SETTINGS, RandomRun
from tests.options import by_default

Score = tuple[int, Status | None]
LIMIT = 5


class Emptier(ScorePlugin):
    name: ClassVar[str] = "Emptier"
    node_local: ClassVar[bool] = True

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return max(0, 100 - 7 * len(node.pods)), None


class NotTooMany(FilterPlugin):
    name: ClassVar[str] = "NotTooMany"
    node_local: ClassVar[bool] = True

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        return Status.unschedulable("too many pods") if len(node.pods) >= LIMIT else None


class NotBesideItsLike(FilterPlugin):
    """Reads a label of the pod; says how many are there, so that there are many statuses."""

    name: ClassVar[str] = "NotBesideItsLike"
    node_local: ClassVar[bool] = True

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        app = pod.metadata.labels.get("app")
        alike = sum(1 for each in node.pods if each.pod.metadata.labels.get("app") == app)
        return Status.unschedulable(f"{alike} of the kind") if alike > 1 else None


class ByZone(ScorePlugin, BoundsNormalizer):
    """Fails on nodes without a zone."""

    name: ClassVar[str] = "ByZone"
    node_local: ClassVar[bool] = True

    def score(self, state: CycleState, pod: Pod, node: Any) -> Score:
        return ord(node.node.metadata.labels["topology.kubernetes.io/zone"]) * len(node.pods), None

    def normalize_between(self, scores: NDArray[np.int64], lowest: int, highest: int) -> NDArray[np.int64]:
        return (scores - lowest) * 100 // max(1, highest - lowest)


class ByRank(ScorePlugin, NormalizeScore):
    name: ClassVar[str] = "ByRank"
    node_local: ClassVar[bool] = True

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return -node.non_zero_cpu - (pod.spec.priority or 0), None

    def normalize_score(
        self, state: CycleState, pod: Pod, scores: NDArray[np.int64], rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], Status | None]:
        return np.searchsorted(np.sort(scores), scores) * 100 // max(1, len(scores)), None


class ByName(ScorePlugin):
    """Rests on more than equal pods have in common."""

    name: ClassVar[str] = "ByName"

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return (sum(map(ord, pod.metadata.name)) + len(node.name)) % 100, None


class Counts(FilterPlugin):
    """Has a memory."""

    name: ClassVar[str] = "Counts"
    asked = 0

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        self.asked += 1
        return Status.unschedulable("unlucky") if self.asked % 13 == 0 else None


class Grows(ScorePlugin):
    """Its bonus is set from outside."""

    name: ClassVar[str] = "Grows"
    bonus = 0

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return (self.bonus + len(node.pods)) % 100, None


PROMISE = (Emptier, NotTooMany, NotBesideItsLike, ByZone, ByRank, FewPodsFirst, AtMostAHundred)
PLUGINS = (*PROMISE, ByName, Counts)


@SETTINGS
@given(
    seed=st.integers(0, 10**6),
    percentage=st.sampled_from([100, 60]),
    more=st.lists(st.sampled_from(PLUGINS), min_size=1, max_size=3, unique=True),
)
def test_runs_with_and_without_reuse_are_the_same(seed: int, percentage: int, more: list[type[Plugin]]) -> None:
    used = RandomRun(seed, "used", percentage, more=more).play(60)
    assert used == RandomRun(seed, "off", percentage, more=more).play(60)


def test_every_plugin_of_the_playground_that_promises_is_played_above() -> None:
    registry = built_in_registry()
    classes = [registry.plugin_class(name) for name in registry.names()]
    assert {each for each in classes if each is not None and each.node_local} <= set(PROMISE)
    assert all(each.node_local for each in PROMISE)


def small(plugin: type[Plugin], nodes: int = 4, **node: Any) -> SmallCluster:
    points: dict[str, Sequence[str]] = {}
    if issubclass(plugin, ScorePlugin):
        points["score"] = ("NodeResourcesFit", plugin.name)
    if issubclass(plugin, FilterPlugin):
        points["filter"] = (*FILTERS, plugin.name)
    return SmallCluster([make_node(f"n{i}", **node) for i in range(nodes)], more=[plugin], points=points)


def calls(cluster: SmallCluster, pods: int, first: int = 0) -> int:
    work = cluster.scheduler.profiles["default-scheduler"].columns.work
    before = work.node_calls
    for number in range(first, first + pods):
        assert cluster.schedule(make_pod(f"p{number}", labels={"app": "web"})).selected
    return work.node_calls - before


@pytest.mark.parametrize("plugin", [Emptier, NotTooMany, NotBesideItsLike])
def test_only_nodes_that_changed_are_asked_about(plugin: type[Plugin], monkeypatch: pytest.MonkeyPatch) -> None:
    by_default(monkeypatch, verify_reuse=0)
    cluster = small(plugin, nodes=20)
    calls(cluster, 3)
    assert calls(cluster, 5, first=3) == 5


class Silent(Emptier):
    """Could promise, and does not."""

    node_local: ClassVar[bool] = False


@pytest.mark.parametrize("plugin", [ByName, Counts, Silent])
def test_without_the_promise_a_plugin_is_asked_about_every_node(plugin: type[Plugin]) -> None:
    cluster = small(plugin, nodes=8)
    calls(cluster, 3)
    assert calls(cluster, 3, first=3) == 3 * 8


class MoodyFilter(Counts):
    node_local: ClassVar[bool] = True


class MoodyScore(ByName):
    node_local: ClassVar[bool] = True


class GrowsUnseen(Grows):
    node_local: ClassVar[bool] = True


@pytest.mark.parametrize(
    ("plugin", "says"),
    [(MoodyFilter, r"Counts: Filter of .* on node n\d"), (MoodyScore, r"ByName: Score of .* on node n\d")],
)
def test_a_promise_that_is_broken_is_found(plugin: type[Plugin], says: str) -> None:
    with pytest.raises(ReuseDiffers, match=says):
        calls(small(plugin), 13)


def test_an_answer_follows_the_node_object() -> None:
    class Lights(ScorePlugin):
        name: ClassVar[str] = "Lights"
        node_local: ClassVar[bool] = True

        def score(self, state: CycleState, pod: Pod, node: Any) -> Score:
            return int(node.node.metadata.labels.get("lights", "0")), None

    cluster = small(Lights, nodes=5)
    calls(cluster, 3)
    node = cluster.scheduler.cluster.list(Node)[3]
    labels = {**node.metadata.labels, "lights": "90"}
    cluster.scheduler.cluster.replace(replace(node, metadata=replace(node.metadata, labels=labels)))
    assert cluster.schedule(make_pod("last", labels={"app": "web"})).selected == node.name


class Marked(ScorePlugin):
    """Reads a mark per node, which somebody else sets."""

    name: ClassVar[str] = "Marked"
    node_local: ClassVar[bool] = True

    def __init__(self, args: Any, handle: Any) -> None:
        super().__init__(args, handle)
        self.marks: NodeValues[int] = NodeValues()
        self.node_values = (self.marks,)

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
        return self.marks.get(node.name) or 0, None


class MarkedUnseen(Marked):
    def __init__(self, args: Any, handle: Any) -> None:
        super().__init__(args, handle)
        self.node_values = ()


def test_an_answer_follows_the_values_of_the_node() -> None:
    cluster = small(Marked, nodes=5)
    plugin: Any = cluster.scheduler.profiles["default-scheduler"].plugins["Marked"]
    assert calls(cluster, 3) > 0
    for number, name in enumerate(("n3", "n1", "n4"), start=3):
        for each in range(5):
            plugin.marks.set(f"n{each}", 90 if f"n{each}" == name else 0)
        assert cluster.schedule(make_pod(f"p{number}", labels={"app": "web"})).selected == name


def test_values_that_are_not_named_break_the_promise() -> None:
    cluster = small(MarkedUnseen, nodes=3)
    plugin: Any = cluster.scheduler.profiles["default-scheduler"].plugins["Marked"]
    calls(cluster, 3)
    plugin.marks.set("n1", 50)
    with pytest.raises(ReuseDiffers, match=r"Marked: Score of .* on node n1"):
        calls(cluster, 1, first=3)


def test_an_attribute_that_is_set_between_pods_breaks_the_promise() -> None:
    cluster = small(GrowsUnseen, nodes=3)
    plugin: Any = cluster.scheduler.profiles["default-scheduler"].plugins["Grows"]
    calls(cluster, 3)
    plugin.bonus = 7
    with pytest.raises(ReuseDiffers, match=r"Grows: Score of .* on node n\d"):
        calls(cluster, 1, first=3)


def test_an_attribute_that_is_set_between_pods_counts_where_nothing_was_promised() -> None:
    cluster = small(Grows, nodes=3)
    plugin: Any = cluster.scheduler.profiles["default-scheduler"].plugins["Grows"]
    for number in range(10):
        plugin.bonus = number
        attempt = cluster.schedule(make_pod(f"p{number}", labels={"app": "web"}))
        assert attempt.scores is not None
        (mine,) = (each for each in attempt.scores.plugins if each.plugin == "Grows")
        placed = {node.name: len(node.pods) for node in cluster.scheduler.core.snapshot.list()}
        assert sorted(mine.raw.tolist()) == sorted(number + count for count in placed.values())


def test_pods_that_differ_in_what_only_it_reads_have_answers_of_their_own() -> None:
    class Wished(ScorePlugin, FilterPlugin):
        name: ClassVar[str] = "Wished"
        node_local: ClassVar[bool] = True

        def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
            return Status.unschedulable("unwished") if node.name == pod.metadata.annotations.get("never") else None

        def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> Score:
            return 90 if node.name == pod.metadata.annotations.get("wish") else 0, None

    cluster = small(Wished, nodes=4)
    for number in range(12):
        wish = f"n{number % 4}"
        annotations = {"wish": wish, "never": f"n{(number + 1) % 4}"}
        pod = make_pod(f"p{number}", labels={"app": "web"})
        pod = replace(pod, metadata=replace(pod.metadata, annotations=annotations))
        assert cluster.schedule(pod).selected == wish


def test_a_score_that_is_missing_on_nodes_that_cannot_be_chosen_is_no_error() -> None:
    class ZonedOnly(FilterPlugin, ScorePlugin):
        name: ClassVar[str] = "ZonedOnly"
        node_local: ClassVar[bool] = True

        def filter(self, state: CycleState, pod: Pod, node: Any) -> Status | None:
            return None if "zone" in node.node.metadata.labels else Status.unresolvable("no zone")

        def score(self, state: CycleState, pod: Pod, node: Any) -> Score:
            return len(node.node.metadata.labels["zone"]), None

    cluster = small(ZonedOnly, nodes=3)
    cluster.scheduler.cluster.create_admitted(make_node("zoned", labels={"zone": "a"}))
    cluster.scheduler.cluster.create_admitted(make_node("zoned-too", labels={"zone": "bb"}))
    assert calls(cluster, 5) > 0


def test_a_plugin_that_says_something_else_about_every_node_is_asked_every_time() -> None:
    class Talkative(FilterPlugin):
        name: ClassVar[str] = "Talkative"
        node_local: ClassVar[bool] = True

        def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
            return None if node.name == "n0" else Status.unschedulable(f"{node.name} is not n0")

    nodes = MOST_STATUSES + 200
    cluster = small(Talkative, nodes=nodes)
    calls(cluster, 2)
    assert calls(cluster, 2, first=2) == 2 * nodes

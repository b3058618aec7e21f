"""Snapshot: whatever order changes come in, every input gives what a plain walk over the nodes would give."""

from __future__ import annotations

import pickle
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.columns.snapshot import KEPT_INPUTS
from framework.interface import Codes, Column, HostPort, Input, NodeInfo, PodInfo, WorkOut
from framework.interface.node_info import ports_conflict
from framework.objects import Node
from framework.objects.selectors import NodeSelectorMatcher, matcher_from_labels
from framework.objects.tolerations import find_untolerated_taint
from tests.builders import info, make_node, make_pod

RESOURCES = ("cpu", "memory", "example.com/gpu")
WANTED = (HostPort("0.0.0.0", "TCP", 80), HostPort("10.0.0.1", "TCP", 81))
IMAGES = ("app:1", "db:2", "app:1")
MATCHER = NodeSelectorMatcher(matcher_from_labels({"zone": "a"}))
TOLERANT = make_pod("tolerant", tolerations=[{"key": "dedicated", "operator": "Exists"}])
HARD = ("NoSchedule", "NoExecute")
EFFECTS = (*HARD, "PreferNoSchedule")


@dataclass
class RowChange:
    row: int
    added: tuple[PodInfo, ...] = ()
    removed: tuple[PodInfo, ...] = ()

    @property
    def elsewhere(self) -> list[tuple[int, PodInfo]]:
        return []

    @property
    def port_moves(self) -> list[tuple[PodInfo, bool]]:
        return [*((pod, False) for pod in self.removed), *((pod, True) for pod in self.added)]


def random_node(rng: random.Random, name: str) -> Node:
    labels = {"zone": rng.choice("abc")} if rng.random() < 0.8 else {}
    taints = [
        {
            "key": rng.choice(["dedicated", "other"]),
            "value": rng.choice("xy"),
            "effect": rng.choice([*HARD, "PreferNoSchedule"]),
        }
        for _ in range(rng.choice([0, 0, 1, 2]))
    ]
    images = [{"names": [name], "sizeBytes": rng.randint(1, 10**9)} for name in ("app:1", "db:2") if rng.random() < 0.5]
    extra = {"example.com/gpu": "8"} if rng.random() < 0.5 else {}
    return make_node(
        name,
        labels=labels,
        taints=taints,
        images=images,
        unschedulable=rng.random() < 0.2,
        cpu=rng.choice("1248"),
        scalars=extra,
    )


def random_pod(rng: random.Random, number: int) -> PodInfo:
    requests = {"cpu": f"{rng.randint(0, 2000)}m"} if rng.random() < 0.8 else {}
    if rng.random() < 0.3:
        requests["example.com/gpu"] = "1"
    ports = []
    if rng.random() < 0.3:
        ports.append({"containerPort": 80, "hostPort": rng.choice([80, 81]), "hostIP": rng.choice(["", "10.0.0.1"])})
    return info(make_pod(f"p-{number}", requests=requests, ports=ports))


class World:
    """The same changes in a Snapshot and in plain dictionaries."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.snapshot = Snapshot()
        self.nodes: dict[str, Node] = {}
        self.infos: dict[str, NodeInfo] = {}
        self.number = 0

    def change(self) -> None:
        rng = self.rng
        action = rng.choice(["set", "set", "remove", "add", "add", "add", "add", "delete"])
        name = f"n-{rng.randrange(25)}"
        if action == "set":
            node = random_node(rng, name)
            self.nodes[name] = node
            self.snapshot.set_node(node)
        elif action == "remove" and name in self.nodes:
            del self.nodes[name]
            self.snapshot.remove_node(name)
        elif action == "add":
            self.number += 1
            pod = random_pod(rng, self.number)
            self.infos.setdefault(name, NodeInfo()).add_pod(pod)
            self.snapshot.add_pod(name, pod)
        elif action == "delete" and name in self.infos and self.infos[name].pods:
            gone = rng.choice(self.infos[name].pods)
            self.infos[name].remove_pod(gone.uid)
            self.snapshot.remove_pod(name, gone.uid)

    def refresh(self) -> None:
        names = list(self.nodes)
        self.rng.shuffle(names)
        self.snapshot.set_order(names)
        self.snapshot.finish_refresh()

    def rebuilt(self, name: str) -> NodeInfo:
        built = self.infos.setdefault(name, NodeInfo()).copy()
        built.set_node(self.nodes[name])
        return built


def inputs_of(snapshot: Snapshot) -> dict[str, Input]:
    return {
        "own": snapshot.own_rows(RESOURCES),
        "zone": snapshot.label("zone"),
        "taints": snapshot.taints(),
        "closed": snapshot.unschedulable(),
        "name": snapshot.name(),
        "ports": snapshot.host_ports(WANTED),
        "matching": snapshot.nodes_matching(MATCHER),
        "tolerating": snapshot.tolerating(TOLERANT, HARD),
        "images": snapshot.image_score(IMAGES),
    }


def plain(gathered: Any) -> list[Any]:
    """What was gathered, one comparable value per row."""
    if isinstance(gathered, Column):
        columns = (*gathered.allocatable, *gathered.requested, gathered.non_zero_cpu, gathered.non_zero_memory)
        return list(zip(*(c.tolist() for c in (*columns, gathered.pods, gathered.allowed_pods)), strict=True))
    if isinstance(gathered, Codes):
        return [None if code < 0 else gathered.values[code] for code in gathered.codes.tolist()]
    return list(gathered.tolist())


def expected(world: World, node: NodeInfo) -> dict[str, Any]:
    """What a walk over the node itself gives."""
    assert node.node is not None
    own = (
        *(node.allocatable.get(r, 0) for r in RESOURCES),
        *(node.requested.get(r, 0) for r in RESOURCES),
        node.non_zero_cpu,
        node.non_zero_memory,
        len(node.pods),
        node.allowed_pods,
    )
    labels = node.node.metadata.labels
    return {
        "own": own,
        "zone": labels.get("zone"),
        "taints": node.node.spec.taints,
        "closed": node.node.spec.unschedulable,
        "name": node.name,
        "ports": any(ports_conflict(node.used_ports, wanted) for wanted in WANTED),
        "matching": labels.get("zone") == "a",
        "tolerating": find_untolerated_taint(node.node.spec.taints, TOLERANT.spec.tolerations, HARD) is None,
    }


@pytest.mark.parametrize("seed", range(12))
def test_inputs_equal_a_walk_over_the_nodes_after_any_changes(seed: int) -> None:
    world = World(random.Random(seed))
    snapshot = world.snapshot
    seen: dict[str, tuple[int, list[Any]]] = {}
    for _ in range(40):
        for _ in range(world.rng.randrange(1, 12)):
            world.change()
        world.refresh()
        assert snapshot.order_names == tuple(node.name for node in snapshot.list())
        assert sorted(snapshot.order_names) == sorted(world.nodes)
        rows = snapshot.order
        gathered = {name: plain(each.gather(None)) for name, each in inputs_of(snapshot).items()}
        for name in world.nodes:
            row = snapshot.row(name)
            node = world.rebuilt(name)
            for key, value in expected(world, node).items():
                assert gathered[key][row] == value, (key, name)
            assert snapshot.name_of_row(row) == name
            listed = snapshot.list()[int(snapshot.position_of_row[row])]
            assert [p.uid for p in listed.pods] == [p.uid for p in node.pods]
        for key, each in inputs_of(snapshot).items():
            assert plain(each.gather(rows)) == [gathered[key][row] for row in rows.tolist()], key
            if key in seen:
                version, before = seen[key]
                changed = each.changed_since(version)
                told = set(range(len(gathered[key]))) if changed is None else set(changed.tolist())
                really = {row for row in rows.tolist() if row < len(before) and before[row] != gathered[key][row]}
                assert really <= told, key
            seen[key] = (each.version, gathered[key])


@pytest.mark.parametrize("seed", range(6))
def test_a_what_if_equals_what_would_really_happen(seed: int) -> None:
    world = World(random.Random(seed))
    for _ in range(150):
        world.change()
    world.refresh()
    snapshot = world.snapshot
    for name in list(world.nodes):
        pods = world.rebuilt(name).pods
        removed = tuple(world.rng.sample(pods, min(len(pods), 2)))
        world.number += 1
        added = (random_pod(world.rng, world.number), *removed[:1])
        change = RowChange(snapshot.row(name), added, removed)
        answers = {key: plain(each.gather_changed(change)) for key, each in inputs_of(snapshot).items()}
        node = world.rebuilt(name)
        for pod in removed:
            node.remove_pod(pod.uid)
        for pod in added:
            node.add_pod(pod)
        for key, value in expected(world, node).items():
            assert answers[key] == [value], (key, name)
        assert len(answers["images"]) == 1


@pytest.mark.parametrize("seed", range(4))
def test_what_kernels_worked_out_is_kept_for_rows_that_stay_as_they_are(seed: int) -> None:
    looked_at: list[int] = []

    def packed(column: Column) -> NDArray[np.int64]:
        looked_at.append(len(column.pods))
        return np.array((*column.allocatable, *column.requested, column.non_zero_cpu, column.pods))

    kept = WorkOut(packed)
    world = World(random.Random(seed))
    for _ in range(30):
        world.change()
    world.refresh()
    own = world.snapshot.own_rows(RESOURCES)
    for _ in range(40):
        for _ in range(world.rng.randint(0, 3)):
            world.change()
        world.refresh()
        assert own.gather(None).worked_out(kept).tolist() == packed(own.gather(None)).tolist()
        lines = slice(world.rng.randint(0, 2), None)
        lowest = packed(own.gather(None))[lines].min(axis=1, initial=np.iinfo(np.int64).max).tolist()
        assert own.gather(None).lowest(kept, lines) == lowest
        rows = world.snapshot.order[:2]
        assert own.gather(rows).worked_out(kept).tolist() == packed(own.gather(rows)).tolist()
    world.snapshot.add_pod(next(iter(world.nodes)), info(make_pod("one-more", requests={"cpu": "1"})))
    looked_at.clear()
    for _ in range(2):
        own.gather(None).worked_out(kept)
        own.gather(None).lowest(kept, slice(None))
    assert looked_at == [1]


def test_the_lowest_number_is_known_while_one_row_after_another_changes() -> None:
    """Also when the row that had it has it no more."""
    world = World(random.Random(2))
    for _ in range(30):
        world.change()
    world.refresh()
    own = world.snapshot.own_rows(("cpu",))
    for number in range(60):
        name = world.rng.choice(list(world.nodes))
        found = world.snapshot.get(name)
        assert found is not None
        pods = found.pods
        if pods and world.rng.random() < 0.5:
            world.snapshot.remove_pod(name, pods[0].uid)
        else:
            world.snapshot.add_pod(name, info(make_pod(f"more-{number}", requests={"cpu": "1"})))
        column = own.gather(None)
        assert column.lowest(COUNTS, slice(None)) == counts_of_pods(column).min(axis=1).tolist()


def counts_of_pods(column: Column) -> NDArray[np.int64]:
    return np.array((column.pods, -column.pods))


COUNTS = WorkOut(counts_of_pods)


def test_all_rows_are_gathered_as_they_are_now() -> None:
    """Also resources that no pod asked for before, and nodes that come."""
    world = World(random.Random(1))
    for _ in range(30):
        world.change()
    world.refresh()
    snapshot = world.snapshot
    own = snapshot.own_rows(("cpu", "example.com/late"))
    own.gather(None)
    name = next(iter(world.nodes))
    row = snapshot.row(name)
    for number, requests in enumerate(({"cpu": "1"}, {"example.com/late": "3"}, {"cpu": str(1 << 40)})):
        snapshot.add_pod(name, info(make_pod(f"late-{number}", requests=requests)))
        some, every = own.gather(np.array([row])), own.gather(None)
        assert [each[row] for each in every.requested] == [each[0] for each in some.requested]
        assert every.pods[row] == some.pods[0]
        assert every.largest == some.largest
    for _ in range(200):
        world.change()
    world.refresh()
    every = own.gather(None)
    rows = np.arange(snapshot.row_count)
    some = own.gather(rows)
    for column in ("requested", "allocatable"):
        assert [each.tolist() for each in getattr(every, column)] == [each.tolist() for each in getattr(some, column)]
    assert every.pods.tolist() == some.pods.tolist()


def test_values_add_up_as_gos_int64_does() -> None:
    snapshot = Snapshot()
    snapshot.set_node(make_node("n", scalars={"example.com/huge": str(2**63 - 1)}))
    for i in range(2):
        snapshot.add_pod("n", info(make_pod(f"p-{i}", requests={"example.com/huge": str(2**63 - 1)})))
    snapshot.set_order(["n"])
    snapshot.finish_refresh()
    column = snapshot.own_rows(("example.com/huge",)).gather(None)
    assert column.requested[0].tolist() == [-2]


def test_pods_of_an_unknown_node_wait_for_it() -> None:
    snapshot = Snapshot()
    snapshot.add_pod("late", info(make_pod("early", requests={"cpu": "1"})))
    snapshot.set_order([])
    snapshot.finish_refresh()
    assert list(snapshot.list()) == []
    snapshot.set_node(make_node("late"))
    snapshot.set_order(["late"])
    snapshot.finish_refresh()
    assert snapshot.own_rows(("cpu",)).gather(None).requested[0].tolist() == [1000]
    snapshot.remove_node("late")
    snapshot.set_order([])
    snapshot.finish_refresh()
    assert snapshot.get("late") is None
    snapshot.remove_pod("late", "pods.default.early")
    snapshot.set_node(make_node("late"))
    snapshot.set_order(["late"])
    snapshot.finish_refresh()
    assert snapshot.own_rows(("cpu",)).gather(None).requested[0].tolist() == [0]


def test_placements_tell_of_pods_that_came_and_went_with_their_node() -> None:
    snapshot = Snapshot()
    pod = info(make_pod("p"))
    snapshot.set_node(make_node("n"))
    version = snapshot.placements.version
    snapshot.add_pod("n", pod)
    snapshot.remove_node("n")
    snapshot.set_node(make_node("n"))
    entries = snapshot.placements.since(version)
    assert entries is not None
    assert [(placed.uid, sign) for _, placed, sign in entries] == [(pod.uid, 1), (pod.uid, -1), (pod.uid, 1)]


def test_the_same_question_gives_the_same_input() -> None:
    snapshot = Snapshot()
    assert snapshot.own_rows(("cpu",)) is snapshot.own_rows(("cpu",))
    assert snapshot.nodes_matching(MATCHER) is snapshot.nodes_matching(
        NodeSelectorMatcher(matcher_from_labels({"zone": "a"}))
    )
    other = make_pod("x", tolerations=[{"key": "dedicated", "operator": "Exists"}])
    assert snapshot.tolerating(TOLERANT, HARD) is snapshot.tolerating(other, HARD)


@pytest.mark.parametrize("seed", range(3))
def test_a_snapshot_survives_pickling(seed: int) -> None:
    world = World(random.Random(seed))
    for _ in range(120):
        world.change()
    world.refresh()
    copy = pickle.loads(pickle.dumps(world.snapshot))
    before = {key: plain(each.gather(None)) for key, each in inputs_of(world.snapshot).items()}
    after = {key: plain(each.gather(None)) for key, each in inputs_of(copy).items()}
    assert before == after
    assert copy.order_names == world.snapshot.order_names
    world.snapshot = copy
    for _ in range(60):
        world.change()
    world.refresh()
    for name in world.nodes:
        for key, value in expected(world, world.rebuilt(name)).items():
            assert plain(inputs_of(copy)[key].gather(None))[copy.row(name)] == value


class TestImages:
    """The size is the first node's word; counts freeze when a node changes (docs/semantics/cache.md#images)."""

    GB = 10**9

    def snapshot(self, *names: str) -> Snapshot:
        snapshot = Snapshot()
        for name in names:
            snapshot.set_node(make_node(name, images=[{"names": ["app:1"], "sizeBytes": self.GB}]))
        snapshot.set_order(names)
        snapshot.finish_refresh()
        return snapshot

    def score(self, snapshot: Snapshot, name: str) -> int:
        values = snapshot.image_score(("app:1",)).gather(np.array([snapshot.row(name)]))
        return int(values[0])

    def test_size_is_what_the_first_node_said(self) -> None:
        snapshot = self.snapshot("a")
        snapshot.set_node(make_node("b", images=[{"names": ["app:1"], "sizeBytes": 5}]))
        snapshot.set_order(["a", "b"])
        snapshot.finish_refresh()
        assert self.score(snapshot, "b") == self.GB

    def test_the_count_of_an_unchanged_node_goes_stale(self) -> None:
        snapshot = self.snapshot("a")
        snapshot.set_node(make_node("b", images=[{"names": ["app:1"], "sizeBytes": self.GB}]))
        snapshot.set_order(["a", "b"])
        snapshot.finish_refresh()
        assert self.score(snapshot, "a") == self.GB // 2  # it saw one node of now two
        assert self.score(snapshot, "b") == self.GB
        snapshot.add_pod("a", info(make_pod("p")))
        snapshot.finish_refresh()
        assert self.score(snapshot, "a") == self.GB

    def test_an_image_that_comes_back_has_a_new_size(self) -> None:
        snapshot = self.snapshot("a")
        snapshot.set_node(make_node("a"))
        snapshot.set_node(make_node("a", images=[{"names": ["app:1"], "sizeBytes": 7}]))
        snapshot.finish_refresh()
        assert self.score(snapshot, "a") == 7


def test_inputs_of_single_pods_are_forgotten_after_many_others() -> None:
    snapshot = Snapshot()
    snapshot.set_node(make_node("n", labels={"zone": "a"}))
    snapshot.set_order(["n"])
    snapshot.finish_refresh()
    early, used = snapshot.nodes_matching(MATCHER), snapshot.own_rows(("cpu",))
    snapshot.set_node(make_node("n", labels={"zone": "a"}))
    assert snapshot.own_rows(("cpu",)) is used  # in another cycle
    for i in range(KEPT_INPUTS):
        snapshot.nodes_matching(NodeSelectorMatcher(matcher_from_labels({"zone": f"z-{i}"})))
        assert snapshot.own_rows(("cpu",)) is used  # asked for again and again
    again = snapshot.nodes_matching(MATCHER)
    assert again is not early
    assert plain(again.gather(None)) == plain(early.gather(None)) == [True]

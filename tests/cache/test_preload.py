"""What was replayed before the first cycle is what that cycle would have seen (upstream looks when a cycle begins)."""

from __future__ import annotations

import random

import pytest

from framework.cache import Cache
from framework.columns import Snapshot
from framework.columns.images import ImageOnNode
from framework.interface import PodInfo
from framework.interface.columns import PodQuery
from framework.objects.selectors import matcher_from_labels
from framework.scheduler import Cluster
from tests.advice.worlds import scheduler_over
from tests.builders import make_node, make_pod

IMAGES = ("app:1", "db:2", "web:3")
APPS = ("cart", "web")


class Watched:
    """A cache and the snapshot that follows it."""

    def __init__(self) -> None:
        self.cache = Cache()
        self.snapshot = Snapshot()

    def look(self) -> tuple[object, ...]:
        self.cache.update_snapshot(self.snapshot)
        snapshot = self.snapshot
        listed = [(info.name, [pod.uid for pod in info.pods], self.images(info.name)) for info in snapshot.list()]
        return snapshot.order_names, snapshot.images.total_nodes, listed, [self.counted(app) for app in APPS]

    def images(self, node: str) -> dict[str, ImageOnNode]:
        return self.snapshot.images.of_row(self.snapshot.row(node))

    def counted(self, app: str) -> dict[str, int]:
        query = PodQuery(((frozenset({"default"}), matcher_from_labels({"app": app})),))
        column = self.snapshot.pods_on_node(query)
        values = column.gather(None).tolist()
        return {name: values[self.snapshot.row(name)] for name in self.snapshot.order_names}


def change(rng: random.Random, worlds: list[Watched], nodes: set[str], pods: dict[str, PodInfo], number: int) -> None:
    what = rng.choice(["node", "node", "gone", "pod", "pod", "left"])
    name = f"n-{rng.randrange(6)}"
    if what == "node":
        images = [{"names": [image], "sizeBytes": 1000} for image in IMAGES if rng.random() < 0.5]
        node = make_node(name, labels={"topology.kubernetes.io/zone": rng.choice("ab")}, images=images)
        nodes.add(name)
        for world in worlds:
            world.cache.set_node(node)
    elif what == "gone" and name in nodes:
        nodes.remove(name)
        for world in worlds:
            world.cache.remove_node(name)
    elif what == "pod":
        pod = PodInfo(make_pod(f"p-{number}", labels={"app": rng.choice(APPS)}, node_name=name))
        pods[pod.uid] = pod
        for world in worlds:
            world.cache.add_pod(pod)
    elif what == "left" and pods:
        pod = pods.pop(rng.choice(sorted(pods)))
        for world in worlds:
            world.cache.remove_pod(pod.pod)


@pytest.mark.parametrize("seed", range(60))
def test_a_cycle_sees_the_same_whether_changes_were_preloaded_or_not(seed: int) -> None:
    rng = random.Random(seed)
    eager, lazy = worlds = [Watched(), Watched()]
    nodes: set[str] = set()
    pods: dict[str, PodInfo] = {}
    for number in range(60):
        change(rng, worlds, nodes, pods, number)
        if rng.random() < 0.5:
            eager.cache.preload(eager.snapshot)
        if rng.random() < 0.2:
            assert eager.look() == lazy.look()
    assert eager.look() == lazy.look()


def test_what_is_on_record_of_images_waits_for_the_cycle() -> None:
    """A node whose image another one brings afterwards, before any cycle, counts both.

    Rules: docs/semantics/cache.md#images.
    """
    world = Watched()
    brought = [{"names": ["app:1"], "sizeBytes": 1000}]
    world.cache.set_node(make_node("n1", images=brought))
    world.cache.preload(world.snapshot)
    world.cache.set_node(make_node("n2", images=brought))
    world.cache.preload(world.snapshot)
    world.cache.update_snapshot(world.snapshot)
    assert world.images("n1") == {"app:1": ImageOnNode(1000, 2)}


def test_a_scheduler_loads_before_its_first_cycle_and_not_between_two() -> None:
    """A snapshot is a cycle's: what comes between two of them is not in it before the next begins."""
    cluster = Cluster()
    cluster.create(make_node("n1"), stored=True)
    cluster.create(make_pod("first"), stored=True)
    scheduler = scheduler_over(cluster)
    scheduler.preload()
    assert scheduler.core.snapshot.get("n1") is not None
    assert scheduler.step() is not None
    cluster.create(make_node("n2"), stored=True)
    scheduler.preload()
    assert scheduler.core.snapshot.get("n2") is None

"""NodeResourceTopologyMatch says of many nodes at once what it says of each alone, whatever their zones look like."""

from __future__ import annotations

import pickle
import random
from typing import Any, cast

import pytest

from framework.interface import NodeInfo, NodeValues, Plan, PodInfo, View
from framework.objects import Pod
from framework.objects.catalogue import NodeResourceTopology
from framework.objects.decode import decode_manifest
from framework.plugins.noderesourcetopology.args import STRATEGIES, NodeResourceTopologyMatchArgs
from framework.plugins.noderesourcetopology.caches import DiscardReserved, Passthrough
from framework.plugins.noderesourcetopology.fits import Asking
from framework.plugins.noderesourcetopology.plans import POD, STALE, filter_plan, score_plan
from framework.plugins.noderesourcetopology.plugin import NodeResourceTopologyMatch
from tests.builders import make_node
from tests.plugins.catalogue.test_numa_naive import some_pod, topology
from tests.plugins.catalogue.worlds import GPU, Manifest, container, pod

NODES = [f"n{number}" for number in range(60)]
OFFERS = [make_node(name, scalars={GPU: "4"} if number % 3 else {}) for number, name in enumerate(NODES)]
WEIGHTS = {"cpu": 3, "memory": 1}
STRANGE = ("-1", "-1n", "9Pi", "8192Pi", "16Ei", "1n", "1500000001n")
Shop = dict[str, NodeResourceTopology]


class Handle:
    """The objects of an API server."""

    def __init__(self, shop: Shop) -> None:
        self.objects = self
        self._shop = shop

    def get(self, kind: object, namespace: str, name: str) -> NodeResourceTopology | None:
        return self._shop.get(name)


class Inputs:
    """Of a view; plans are asked here with what their inputs would give."""

    def node_values(self, values: object) -> object:
        return values

    def whole_nodes(self) -> str:
        return "nodes"


VIEW = cast(View, Inputs())


def strange(rng: random.Random, name: str) -> NodeResourceTopology:
    """Also without zones, with zones that share an id or have none, with very many, with amounts beyond arrays."""
    made = topology(rng, name)
    zones: list[Manifest] = made["zones"]
    turn = rng.randrange(9)
    if turn == 0:
        zones.clear()
    elif turn == 1:
        zones.append({**zones[0], "resources": zones[-1]["resources"][:1]})
    elif turn == 2:
        zones.append({**zones[0], "name": "nowhere"})
    elif turn == 3:
        zones += [{**zones[0], "name": f"node-{number}"} for number in range(len(zones), 20)]
    elif turn == 4:
        rng.choice(rng.choice(zones)["resources"])["available"] = rng.choice(STRANGE)
    elif turn < 7:
        rng.shuffle(zones)
    decoded = decode_manifest(made)
    assert isinstance(decoded, NodeResourceTopology)
    return decoded


def infos() -> list[NodeInfo]:
    found = [NodeInfo() for _ in OFFERS]
    for info, each in zip(found, OFFERS, strict=True):
        info.set_node(each)
    return found


def changed(cache: Passthrough, shop: Shop, name: str, to: NodeResourceTopology | None) -> None:
    old = shop.pop(name, None)
    if to is not None:
        shop[name] = to
    cache.changed(old, to)


def compare(plan: Plan, cache: Passthrough, nodes: list[NodeInfo]) -> list[int]:
    """As many and one by one."""
    assert plan.few is not None
    every: list[list[Any]] = [[cache.values.get(name) for name in NODES]]
    if len(plan.inputs) > 1:
        every.append(cast("list[Any]", nodes))
    many = plan.kernel(*every).tolist()
    assert many == [plan.few(*[[each[row]] for each in every]).item() for row in range(len(NODES))]
    return cast("list[int]", many)


@pytest.mark.parametrize("seed", range(12))
def test_many_nodes_are_told_what_each_is_told(seed: int) -> None:
    rng = random.Random(seed)
    shop: Shop = {}
    cache = DiscardReserved(cast(Any, Handle(shop)))
    nodes = infos()
    for name in NODES[::2]:
        changed(cache, shop, name, strange(rng, name))
    seen: set[int] = set()
    for turn in range(25):
        for name in rng.sample(NODES, 6):
            changed(cache, shop, name, strange(rng, name) if rng.random() < 0.9 else None)
        held = decode_manifest(some_pod(rng, f"held-{turn}"))
        assert isinstance(held, Pod)
        (cache.reserve if rng.random() < 0.6 else cache.unreserve)(rng.choice(NODES), held)
        incoming = decode_manifest(some_pod(rng, f"p{turn}"))
        assert isinstance(incoming, Pod)
        asking = Asking.of(incoming)
        if asking.needs_zones:
            seen |= set(compare(filter_plan(asking, cache, VIEW), cache, nodes))
        if asking.qos == "Guaranteed":
            for strategy in STRATEGIES[:-1]:  # groups of many zones are very many
                compare(score_plan(asking, strategy, WEIGHTS, cache, VIEW), cache, nodes)
        if turn == 12:
            cache = pickle.loads(pickle.dumps(cache))
            shop = cast(Any, cache)._handle._shop
    assert {0, POD, STALE} <= seen


def test_a_pod_that_asks_for_more_than_numbers_hold_is_refused() -> None:
    rng = random.Random(1)
    shop: Shop = {}
    cache = Passthrough(cast(Any, Handle(shop)))
    for name in NODES:
        changed(cache, shop, name, strange(rng, name))
    much = decode_manifest(pod("much", container({"cpu": "1", "memory": "9000Pi"}, {"cpu": "1", "memory": "9000Pi"})))
    assert isinstance(much, Pod)
    compare(filter_plan(Asking.of(much), cache, VIEW), cache, infos())


def test_checkpoints_of_before_go_on() -> None:
    """They have a number of a change for each node, and the plugin has the pod that was asked about last."""
    rng = random.Random(2)
    shop: Shop = {name: strange(rng, name) for name in NODES}
    before: NodeValues[int] = NodeValues()
    for number, name in enumerate(reversed(NODES)):
        before.set(name, 7 * number)
    handle = cast(Any, Handle(shop))
    cache = Passthrough.__new__(Passthrough)
    cache.__setstate__({"_handle": handle, "values": before})
    now = Passthrough(handle)
    for topology_ in shop.values():
        now.changed(None, topology_)
    incoming = decode_manifest(pod("p", container({"cpu": "1", "memory": "2Gi"}, {"cpu": "1", "memory": "2Gi"})))
    assert isinstance(incoming, Pod)
    asking = Asking.of(incoming)
    answers = [compare(filter_plan(asking, each, VIEW), each, infos()) for each in (cache, now)]
    assert answers[0] == answers[1]
    assert len(set(answers[0])) > 1

    plugin = NodeResourceTopologyMatch(NodeResourceTopologyMatchArgs().defaulted(), handle)
    restored = NodeResourceTopologyMatch.__new__(NodeResourceTopologyMatch)
    restored.__setstate__({**plugin.__getstate__(), "_asked": None, "_read": {}})
    assert restored.fragment(PodInfo(incoming)) == plugin.fragment(PodInfo(incoming)) == asking.key

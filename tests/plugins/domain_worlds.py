"""Random clusters for the plugins that count pods per domain, and the random changes that happen to them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from framework.columns import Snapshot
from framework.configuration import FeatureGates
from framework.interface import Input, NodeInfo, Plan, PodInfo
from framework.objects import KubernetesObject, Namespace, Node, ObjectMeta
from tests.builders import make_node, make_pod

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
RACK = "rack"
KEYS = (HOSTNAME, ZONE, RACK)
NAMESPACES = ("default", "dev", "prod", "unknown")

K = TypeVar("K", bound=KubernetesObject)


class StoredObjects:
    """The part of a Handle that these plugins use: objects by kind."""

    feature_gates = FeatureGates()

    def __init__(self, *objects: KubernetesObject) -> None:
        self._objects = list(objects)

    @property
    def objects(self) -> StoredObjects:
        return self

    def add(self, obj: KubernetesObject) -> None:
        self._objects.append(obj)

    def get(self, kind: type[K], namespace: str, name: str) -> K | None:
        found = (o for o in self.list(kind) if o.metadata.namespace == namespace and o.metadata.name == name)
        return next(found, None)

    def list(self, kind: type[K], namespace: str | None = None) -> list[K]:
        kept = (o for o in self._objects if isinstance(o, kind))
        return [o for o in kept if namespace is None or o.metadata.namespace == namespace]


def namespace(name: str, **labels: str) -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name, labels={"kubernetes.io/metadata.name": name, **labels}))


@dataclass
class PodsChange:
    row: int
    added: Sequence[PodInfo] = ()
    removed: Sequence[PodInfo] = ()
    elsewhere: Sequence[tuple[int, PodInfo]] = ()

    @property
    def port_moves(self) -> list[tuple[PodInfo, bool]]:
        return [*((pod, False) for pod in self.removed), *((pod, True) for pod in self.added)]


def random_labels(rng: random.Random) -> dict[str, str]:
    labels = {}
    if rng.random() < 0.9:
        labels["app"] = rng.choice(["web", "db"])
    if rng.random() < 0.4:
        labels["tier"] = rng.choice(["front", "back", "edge"])
    return labels


def random_selector(rng: random.Random) -> dict[str, Any] | None:
    kind = rng.random()
    if kind < 0.05:
        return None
    if kind < 0.15:
        return {}
    if kind < 0.7:
        return {"matchLabels": {"app": rng.choice(["web", "db"])}}
    operator = rng.choice(["In", "NotIn", "Exists", "DoesNotExist"])
    # A value may be named twice and still counts once.
    values = rng.choices(["front", "back", "edge"], k=rng.randint(1, 3)) if operator in ("In", "NotIn") else []
    return {"matchExpressions": [{"key": "tier", "operator": operator, "values": values}]}


def random_term(rng: random.Random) -> dict[str, Any]:
    term: dict[str, Any] = {"topologyKey": rng.choice(KEYS), "labelSelector": random_selector(rng)}
    if rng.random() < 0.25:
        term["namespaces"] = rng.sample(NAMESPACES, rng.randint(1, 2))
    if rng.random() < 0.3:
        term["namespaceSelector"] = rng.choice(
            [
                {},
                {"matchLabels": {"env": "dev"}},
                {"matchLabels": {"env": "nowhere"}},
                {"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["dev"]}]},
                {"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]},
            ]
        )
    return term


def random_pod_affinity(rng: random.Random, chance: float) -> dict[str, Any]:
    affinity: dict[str, Any] = {}
    for name in ("podAffinity", "podAntiAffinity"):
        if rng.random() < chance:
            affinity[name] = {
                "requiredDuringSchedulingIgnoredDuringExecution": [random_term(rng) for _ in range(rng.randint(0, 2))],
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": rng.randint(1, 100), "podAffinityTerm": random_term(rng)}
                    for _ in range(rng.randint(0, 2))
                ],
            }
    return affinity


def random_node(rng: random.Random, name: str) -> Node:
    labels = {}
    if rng.random() < 0.95:
        labels[HOSTNAME] = name if rng.random() < 0.9 else "shared"
    if rng.random() < 0.85:
        labels[ZONE] = rng.choice(["a", "b", "c", ""])
    if rng.random() < 0.9:
        labels[RACK] = rng.choice(["1", "2"])
    effects = ["NoSchedule", "NoExecute", "PreferNoSchedule"]
    taints = [{"key": "dedicated", "value": rng.choice("xy"), "effect": rng.choice(effects)}]
    return make_node(name, labels=labels, taints=taints if rng.random() < 0.3 else [])


@dataclass
class World:
    """A snapshot and what it was told, changed at random."""

    rng: random.Random
    snapshot: Snapshot = field(default_factory=Snapshot)
    names: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    """Nodes that went; their pods, if they had any, come back with them."""
    store: StoredObjects = field(default_factory=StoredObjects)
    made: int = 0

    @classmethod
    def random(cls, rng: random.Random) -> World:
        world = cls(rng)
        for each in (namespace("default"), namespace("dev", env="dev"), namespace("prod", env="prod")):
            world.store.add(each)
        for _ in range(rng.randint(1, 7)):
            world._add_node()
        world._refresh()
        for _ in range(rng.randint(0, 12)):
            world._place()
        return world

    def number(self) -> int:
        self.made += 1
        return self.made

    def _add_node(self) -> None:
        name = self.gone.pop() if self.gone and self.rng.random() < 0.6 else f"node-{self.number()}"
        self.snapshot.set_node(random_node(self.rng, name))
        self.names.append(name)

    def _refresh(self) -> None:
        self.snapshot.set_order(self.names)
        self.snapshot.finish_refresh()

    def new_pod(self, chance: float = 0.3) -> PodInfo:
        rng = self.rng
        affinity = random_pod_affinity(rng, chance)
        pod = make_pod(
            f"placed-{self.number()}",
            namespace=rng.choice(NAMESPACES),
            labels=random_labels(rng),
            affinity=affinity or None,
        )
        if rng.random() < 0.1:
            pod = replace(pod, metadata=replace(pod.metadata, deletion_timestamp="2026-01-01T00:00:00Z"))
        return PodInfo(pod)

    def _place(self) -> None:
        if self.names:
            self.snapshot.add_pod(self.rng.choice(self.names), self.new_pod())

    def _take_away(self) -> None:
        holders = [info for info in self.snapshot.list() if info.pods]
        if holders:
            info = self.rng.choice(holders)
            self.snapshot.remove_pod(info.name, self.rng.choice(info.pods).uid)

    def happen(self) -> None:
        """One random change, as the cache would replay it."""
        what = self.rng.random()
        if what < 0.45:
            self._place()
        elif what < 0.75:
            self._take_away()
        elif what < 0.85 and self.names:
            self.snapshot.set_node(random_node(self.rng, self.rng.choice(self.names)))
        elif what < 0.92 or len(self.names) < 2:
            self._add_node()
        else:
            # A node that goes with pods on it leaves a ghost.
            name = self.names.pop(self.rng.randrange(len(self.names)))
            self.snapshot.remove_node(name)
            self.gone.append(name)
        self._refresh()

    def nodes(self) -> Sequence[NodeInfo]:
        return self.snapshot.list()

    def row(self, info: NodeInfo) -> int:
        return self.snapshot.row(info.name)

    def random_change(self, info: NodeInfo) -> PodsChange:
        """Pods that go, as in a dry run, and pods that come, as nominated ones do."""
        rng = self.rng
        removed = [pod for pod in info.pods if rng.random() < 0.5]
        return PodsChange(self.row(info), [self.new_pod(0.6) for _ in range(rng.randint(0, 2))], removed)


def evaluate(plan: Plan, rows: NDArray[np.intp] | None = None) -> NDArray[Any]:
    return plan.kernel(*(each.gather(rows) for each in plan.inputs))


def evaluate_changed(plan: Plan, change: PodsChange) -> int:
    result = plan.kernel(*(each.gather_changed(change) for each in plan.inputs))
    assert len(result) == 1
    return int(result[0])


class ReusedColumn:
    """What a runtime that believes a plan's declared inputs keeps: only rows they name are worked out again."""

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._versions: list[int] = []
        self._values: NDArray[Any] = np.zeros(0)
        self.rows_spared = 0

    def values(self, plan: Plan, row_count: int) -> NDArray[Any]:
        before = self._plan
        rows = None
        if before is not None and before.inputs == plan.inputs and before.constants == plan.constants:
            rows = self._changed(plan.inputs) if len(self._values) == row_count else None
        if rows is None:
            self._values = evaluate(plan).copy()
        else:
            self.rows_spared += row_count - len(rows)
            self._values[rows] = evaluate(plan, rows)
        self._plan = plan
        self._versions = [each.version for each in plan.inputs]
        return self._values

    def _changed(self, inputs: tuple[Input, ...]) -> NDArray[np.intp] | None:
        found = [each.changed_since(version) for each, version in zip(inputs, self._versions, strict=True)]
        kept = [rows for rows in found if rows is not None]
        return np.unique(np.concatenate(kept)) if len(kept) == len(found) else None

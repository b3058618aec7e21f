"""Random clusters for one plugin, played pod by pod as ``decide`` does, with the manifests that each attempt saw."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec
from hypothesis import strategies as st

from framework.cli.cases import parse_case
from framework.cli.decide import decide
from framework.plugins.registry import OPTIONAL, built_in_registry

Manifest = dict[str, Any]
REGISTRY = built_in_registry().with_plugins(OPTIONAL)
SEEDS = st.integers(0, 2**32 - 1)
START = 1767312000
"""Seconds of the clock of every case, 2026-01-02T00:00:00Z."""
FIRST = START - 86400
"""When the first object of a case is created; each after it is a second younger."""
GPU = "example.com/gpu"
_SUFFIXES = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "k": 1000, "M": 10**6, "G": 10**9}


def exact(quantity: str) -> Fraction:
    for suffix, factor in _SUFFIXES.items():
        if quantity.endswith(suffix):
            return Fraction(Decimal(quantity.removesuffix(suffix))) * factor
    if quantity.endswith("m"):
        return Fraction(Decimal(quantity[:-1])) / 1000
    return Fraction(Decimal(quantity))


def whole(resource: str, quantity: str) -> int:
    """cpu in millicores, the rest in units, rounded up."""
    number = exact(quantity) * (1000 if resource == "cpu" else 1)
    return -(-number.numerator // number.denominator)


def metadata(name: str, namespace: str = "", **more: Any) -> Manifest:
    return {"name": name, **({"namespace": namespace} if namespace else {}), **more}


def node(name: str, offers: dict[str, str], labels: dict[str, str] | None = None, **more: Any) -> Manifest:
    offered = {"pods": "110", **offers}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata(name, labels=labels or {}, **more),
        "status": {"allocatable": offered, "capacity": offered},
    }


def pod(name: str, *containers: Manifest, on: str = "", namespace: str = "default", **more: Any) -> Manifest:
    """``more``: ``labels``, ``status``, ``metadata`` and fields of the spec."""
    about = metadata(name, namespace, labels=more.pop("labels", {}), **more.pop("metadata", {}))
    status = more.pop("status", {"phase": "Running"} if on else {})
    named = [{"name": f"c{i}", "image": "app:1", **each} for i, each in enumerate(containers or ({},))]
    for i, each in enumerate(more.get("initContainers", ())):
        each.update({"name": f"i{i}", "image": "app:1"})
    spec = {"containers": named, **more, **({"nodeName": on} if on else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": spec, "status": status}


def container(requests: dict[str, str] | None = None, limits: dict[str, str] | None = None) -> Manifest:
    given = {"requests": requests, "limits": limits}
    return {"resources": {name: amounts for name, amounts in given.items() if amounts is not None}}


def some(rng: random.Random, sizes: Mapping[str, tuple[str, ...]], chance: float) -> dict[str, str]:
    return {name: rng.choice(choices) for name, choices in sizes.items() if rng.random() < chance}


def simple(manifest: Manifest, of: str = "requests") -> dict[str, Fraction]:
    """The catalogue's own sum: containers, or the largest init container, and the overhead."""
    total: dict[str, Fraction] = {}
    for each in manifest["spec"]["containers"]:
        for name, amount in each.get("resources", {}).get(of, {}).items():
            total[name] = total.get(name, Fraction(0)) + exact(amount)
    for each in manifest["spec"].get("initContainers", ()):
        for name, amount in each.get("resources", {}).get(of, {}).items():
            total[name] = max(total.get(name, Fraction(0)), exact(amount))
    for name, amount in manifest["spec"].get("overhead", {}).items():
        total[name] = total.get(name, Fraction(0)) + exact(amount)
    return total


def priority(manifest: Manifest) -> int:
    return int(manifest["spec"].get("priority", 0))


@dataclass
class World:
    """One case. ``placed`` are pods of the cluster with a node, in the order in which they came."""

    plugin: str
    args: Manifest | None = None
    nodes: list[Manifest] = field(default_factory=list)
    others: list[Manifest] = field(default_factory=list)
    """Objects of other kinds."""
    placed: list[Manifest] = field(default_factory=list)
    nominated: list[Manifest] = field(default_factory=list)
    """Pods that wait for a node that was promised to them, and are not tried."""
    incoming: list[Manifest] = field(default_factory=list)
    metrics: Manifest | None = None
    events: dict[int, list[Manifest]] = field(default_factory=dict)
    more: Manifest = field(default_factory=dict)
    """Further keys of the case."""
    beside: tuple[str, ...] = ()
    sorts: str = "PrioritySort"
    """The profile's QueueSort plugin; "" where the plugin itself sorts."""
    clock: int = START
    """Seconds."""

    def case(self) -> Manifest:
        names = [name for name in (self.sorts, *self.beside, self.plugin, "DefaultBinder") if name]
        enabled = {"enabled": [{"name": name} for name in names], "disabled": [{"name": "*"}]}
        plugins = {"multiPoint": enabled, "score": {"disabled": [{"name": name} for name in self.beside]}}
        profile: Manifest = {"schedulerName": "default-scheduler", "plugins": plugins}
        if self.args is not None:
            head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": f"{self.plugin}Args"}
            profile["pluginConfig"] = [{"name": self.plugin, "args": {**head, **self.args}}]
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [profile],
        }
        objects = [*self.nodes, *self.others, *self.placed, *self.nominated, *self._classes()]
        given = {"name": "world", "config": config, "objects": objects, "pods": self.incoming, "metrics": self.metrics}
        return {**given, "before": {str(at): each for at, each in self.events.items()}, **self.more}

    def _classes(self) -> list[Manifest]:
        """Of the priorities of incoming pods, which an API server takes from a class only."""
        head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        classes = {}
        for each in self.incoming:
            spec = each["spec"]
            if spec.get("priority") and spec.setdefault("priorityClassName", f"of-{spec['priority']}").startswith(
                "of-"
            ):
                name = spec["priorityClassName"]
                classes[name] = {**head, "metadata": metadata(name), "value": spec["priority"]}
        return list(classes.values())

    def decided(self) -> Manifest:
        case = parse_case(json.dumps(self.case()), "world")
        report: Manifest = json.loads(msgspec.json.encode(decide(case, REGISTRY)))
        return report

    def attempts(self) -> Iterator[tuple[Manifest, Manifest]]:
        """(the pod, what was decided); meanwhile nodes, objects, load, clock and placed pods are as the attempt saw
        them, and the pod is placed after it."""
        for position, result in enumerate(self.decided()["results"]):
            for event in self.events.get(position, ()):
                self._happens(event)
            tried = next(each for each in self.incoming if key_of(each) == result["pod"])
            yield tried, result
            if result.get("bound"):
                bound = deepcopy(tried)
                bound["spec"]["nodeName"] = result["selected"]
                self.placed.append(bound)

    def _happens(self, event: Manifest) -> None:
        if event["type"] == "metrics":
            self.metrics = event["metrics"]
        elif event["type"] == "clock":
            self.clock = event["seconds"]
        elif event["type"] == "resync":
            pass
        else:
            changed = event["object"]
            lists = {"Node": self.nodes, "Pod": self.placed}
            among = lists.get(changed["kind"], self.others)
            same = [
                i for i, each in enumerate(among) if each["kind"] == changed["kind"] and key_of(each) == key_of(changed)
            ]
            if event["type"] == "add":
                among.append(changed)
            elif event["type"] == "update":
                among[same[0]] = changed
            else:
                del among[same[0]]

    def on(self, name: str) -> list[Manifest]:
        return [each for each in self.placed if each["spec"]["nodeName"] == name]


def key_of(manifest: Manifest) -> str:
    about = manifest["metadata"]
    return f"{about.get('namespace', 'default')}/{about['name']}"


def clock(seconds: int) -> Manifest:
    """The event; ``seconds`` is read by the world only."""
    return {
        "type": "clock",
        "to": datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "seconds": seconds,
    }


def cut(dividend: int, divisor: int) -> int:
    """Go's division of whole numbers."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def between_bounds(scores: dict[str, int]) -> dict[str, int]:
    low, high = min(scores.values()), max(scores.values())
    return {name: 0 if low == high else cut((score - low) * 100, high - low) for name, score in scores.items()}


def less_is_better(scores: dict[str, int]) -> dict[str, int]:
    low, high = min(scores.values()), max(scores.values())
    if low == high:
        return dict.fromkeys(scores, 0 if low == 0 else 100)
    return {name: 100 - int(100 * float(score - low) / float(high - low)) for name, score in scores.items()}


def check_scores(world: World, result: Manifest, raw: dict[str, int], normalized: dict[str, int] | None = None) -> None:
    """Of all feasible nodes, and that the best of them was taken, the first by name among equals."""
    feasible = result["feasible"]
    if len(feasible) < 2:
        return
    assert result["score"][world.plugin] == {name: raw[name] for name in feasible}
    kept = (
        {name: raw[name] for name in feasible} if normalized is None else {name: normalized[name] for name in feasible}
    )
    assert result["normalized"][world.plugin] == kept
    best = max(kept.values())
    assert result["selected"] == min(name for name in feasible if kept[name] == best)

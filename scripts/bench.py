"""Measures the framework's throughput: pods per second through whole scheduling and binding cycles (`make bench`).

The workloads are those of Kubernetes' own scheduler benchmark in miniature: a cluster of equal nodes in three zones, a
first set of pods that is placed untimed, then the measured set. Every node is filtered and scored, and the trace is
kept as a run keeps it. Prints a Markdown table for docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framework.configuration.load import load
from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.plugins.registry import built_in_registry
from framework.scheduler import Cluster, Observer, Scheduler
from framework.trace.attempt import AttemptTrace

ROOT = Path(__file__).resolve().parent.parent
ZONES = ("north", "middle", "south")
START = 1_700_000_000_000_000_000
CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
"""
Spec = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    name: str
    says: str
    first: Callable[[int], Spec]
    measured: Callable[[int], Spec]
    node_cpu: str = "8"


class Kept(Observer):
    """Keeps what a run would store, so that making the trace is part of what is measured."""

    def __init__(self) -> None:
        self.bound = 0
        self.last: AttemptTrace | None = None

    def attempt(self, trace: AttemptTrace) -> None:
        self.last = trace
        self.bound += trace.result == "bound"


def plain(_: int) -> Spec:
    return {}


def low_priority(_: int) -> Spec:
    return {"priority": 0, "cpu": "2"}


def high_priority(_: int) -> Spec:
    return {"priority": 1000, "cpu": "2"}


def all_distinct(number: int) -> Spec:
    return {"cpu": f"{100 + number % 400}m", "labels": {"app": f"distinct-{number}"}}


def selector(color: str) -> Spec:
    return {"labelSelector": {"matchLabels": {"color": color}}, "topologyKey": "topology.kubernetes.io/zone"}


def spreading(when: str) -> Callable[[int], Spec]:
    def spec(_: int) -> Spec:
        constraint = selector("blue") | {"maxSkew": 5, "whenUnsatisfiable": when}
        return {"labels": {"color": "blue"}, "topologySpreadConstraints": [constraint]}

    return spec


def affinity(kind: str, *, preferred: bool, key: str) -> Callable[[int], Spec]:
    def spec(_: int) -> Spec:
        term = selector("green") | {"topologyKey": key}
        rule = (
            {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
            if preferred
            else {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        )
        return {"labels": {"color": "green"}, "affinity": {kind: rule}}

    return spec


def node_affinity(_: int) -> Spec:
    expression = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["north", "south"]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WORKLOADS = (
    Workload("SchedulingBasic", "equal pods", plain, plain),
    Workload("AllDistinct", "no two pods alike", all_distinct, all_distinct),
    Workload("NodeAffinity", "required node affinity", plain, node_affinity),
    Workload("TopologySpreading", "DoNotSchedule over zones", plain, spreading("DoNotSchedule")),
    Workload("PreferredTopologySpreading", "ScheduleAnyway over zones", plain, spreading("ScheduleAnyway")),
    Workload("PodAffinity", "required, zones", plain, affinity("podAffinity", preferred=False, key=ZONE)),
    Workload("PodAntiAffinity", "required, hosts", plain, affinity("podAntiAffinity", preferred=False, key=HOSTNAME)),
    Workload("PreferredPodAffinity", "hosts", plain, affinity("podAffinity", preferred=True, key=HOSTNAME)),
    Workload("Preemption", "every measured pod evicts one", low_priority, high_priority, node_cpu="4"),
)


def node(number: int, cpu: str) -> Node:
    zone = ZONES[number % len(ZONES)]
    quantities = {"cpu": cpu, "memory": "32Gi", "pods": "110"}
    labels = {HOSTNAME: f"node-{number}", ZONE: zone}
    made = decode_manifest(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{number}", "labels": labels},
            "status": {"allocatable": quantities, "capacity": quantities},
        }
    )
    assert isinstance(made, Node)
    return made


def pod(name: str, written: Spec) -> Pod:
    spec = dict(written)
    requests = {"cpu": spec.pop("cpu", "100m"), "memory": "250Mi"}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": spec.pop("labels", {})}
    containers = [{"name": "main", "image": "app:1", "resources": {"requests": requests}}]
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}
    made = decode_manifest(manifest)
    assert isinstance(made, Pod)
    return made


def play(scheduler: Scheduler, pods: Sequence[Pod]) -> None:
    for each in pods:
        scheduler.cluster.create(each, stored=True)
    while scheduler.step() is not None:
        pass


def measure(workload: Workload, nodes: int, first: int, measured: int) -> str:
    loaded = load(CONFIGURATION, built_in_registry())
    assert loaded.effective is not None, loaded
    kept, cluster = Kept(), Cluster()
    for number in range(nodes):
        cluster.create(node(number, workload.node_cpu), stored=True)
    scheduler = Scheduler(
        loaded.effective, built_in_registry(), start=START, seed=1, ties="seeded", observer=kept, cluster=cluster
    )
    placed = nodes * 2 if workload.name == "Preemption" else first
    play(scheduler, [pod(f"first-{number}", workload.first(number)) for number in range(placed)])
    pods = [pod(f"measured-{number}", workload.measured(number)) for number in range(measured)]
    before, attempts = kept.bound, scheduler.attempts
    gc.collect()
    started = time.perf_counter()
    play(scheduler, pods)
    seconds = time.perf_counter() - started
    tried = scheduler.attempts - attempts
    return f"| {workload.name} ({workload.says}) | {tried / seconds:,.0f} | {kept.bound - before} of {measured} |"


def machine() -> str:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    python = f"Python {platform.python_version()}"
    return f"{os.cpu_count()} CPUs, {platform.machine()}, {python}, commit {commit.strip() or 'unknown'}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench", description="Pods per second through the framework.")
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--first", type=int, default=1000, help="pods placed before measuring")
    parser.add_argument("--pods", type=int, default=2000, help="pods measured")
    parser.add_argument("workloads", nargs="*", help="names (default: all)")
    chosen = parser.parse_args(arguments)
    unknown = set(chosen.workloads) - {workload.name for workload in WORKLOADS}
    if unknown:
        parser.error(f"no workload is named {', '.join(sorted(unknown))}")
    print(f"{chosen.nodes:,} nodes, {chosen.first:,} pods placed before, {chosen.pods:,} measured; {machine()}\n")
    print("| workload | attempts/s | bound |\n|---|---|---|")
    for workload in WORKLOADS:
        if not chosen.workloads or workload.name in chosen.workloads:
            print(measure(workload, chosen.nodes, chosen.first, chosen.pods), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""One thousand nodes: 9,400 pods of forty workloads, and 2,500 that arrive; plays at full speed."""

from __future__ import annotations

import random

from framework.sentences import noted
from schedweb.snapshots.samples.manifests import (
    START,
    Arrival,
    Manifest,
    SampleCluster,
    Workload,
    namespace,
    node,
    priority_class,
    spread_over,
    taint,
    toleration,
)

ZONES = ("ap-south-1a", "ap-south-1b", "ap-south-1c")
NODES, PLACED, ARRIVING = 1_000, 9_400, 2_500
SIZES = (("250m", "512Mi"), ("500m", "1Gi"), ("1", "2Gi"), ("1", "6Gi"), ("2", "4Gi"), ("100m", "256Mi"))
POOLS = (("general", "m7i.4xlarge", 16, 64), ("memory", "r7i.2xlarge", 8, 64), ("spot", "c7i.4xlarge", 16, 32))


def one_thousand_nodes() -> SampleCluster:
    chance = random.Random(1_000)
    nodes = [_node(i) for i in range(NODES)]
    free = {n["metadata"]["name"]: _cores(n) for n in nodes}
    workloads = [_workload(i) for i in range(40)]
    placed: list[Manifest] = []
    numbers = dict.fromkeys((w.name for w in workloads), 0)
    everywhere = [n["metadata"]["name"] for n in nodes if n["metadata"]["labels"]["pool"] != "spot"]
    while len(placed) < PLACED:
        workload, name = chance.choice(workloads), chance.choice(everywhere)
        cores = _quantity(workload.requests["cpu"])
        if free[name] < cores:
            continue
        free[name] -= cores
        placed.append(workload.pod(numbers[workload.name], on=name))
        numbers[workload.name] += 1
    arrivals = []
    for i in range(ARRIVING):
        workload = chance.choice(workloads)
        arrivals.append(Arrival(0.01 * i, workload.pod(numbers[workload.name], created=START)))
        numbers[workload.name] += 1
    objects = [
        *(namespace(f"team-{i}") for i in range(8)),
        priority_class("high", 10_000),
        priority_class("low", -10),
        *nodes,
        *(manifest for w in workloads for manifest in w.controller(numbers[w.name])),
        *placed,
    ]
    return SampleCluster(
        name="One thousand nodes",
        description=noted("Plays at full speed; shows what the views do at scale."),
        configuration="default-every-node",
        objects=objects,
        arrivals=arrivals,
    )


def _node(number: int) -> Manifest:
    pool, kind, cores, memory = POOLS[0] if number % 10 < 6 else POOLS[1] if number % 10 < 8 else POOLS[2]
    return node(
        f"node-{number:04}",
        zone=ZONES[number % 3],
        pool=pool,
        instance_type=kind,
        capacity={"cpu": str(cores), "memory": f"{memory}Gi"},
        taints=[taint("spot")] if pool == "spot" else None,
    )


def _workload(number: int) -> Workload:
    cpu, memory = SIZES[number % len(SIZES)]
    name = f"service-{number:02}"
    spec: Manifest = {}
    if number % 4 == 0:
        spec["topologySpreadConstraints"] = [spread_over("topology.kubernetes.io/zone", name, max_skew=5, hard=True)]
    if number % 5 == 0:
        spec["tolerations"] = [toleration("spot")]
    return Workload(
        name,
        f"team-{number % 8}",
        {"cpu": cpu, "memory": memory},
        f"registry.example.com/team/{name}:1",
        priority_class={0: "high", 3: "low"}.get(number % 7, ""),
        spec=spec,
    )


def _cores(manifest: Manifest) -> float:
    return _quantity(manifest["status"]["allocatable"]["cpu"])


def _quantity(cpu: str) -> float:
    return int(cpu[:-1]) / 1000 if cpu.endswith("m") else float(cpu)

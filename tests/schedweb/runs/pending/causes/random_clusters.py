"""Small clusters drawn at random, in which the pod shop/it has no place; several causes usually meet."""

from __future__ import annotations

import random

from tests.schedweb.runs.pending.causes.manifests import (
    WEB,
    ZONE,
    Manifest,
    away,
    beside,
    claims,
    node,
    pod,
    pv,
    pvc,
    spread,
    storage_class,
    tolerates,
)
from tests.schedweb.runs.pending.second_reading import Cluster

POOLS = ("general", "gpu", "spot")
TAINTS = ("dedicated=data:NoSchedule", "spot:NoExecute", "gpu:NoSchedule")
ZONES = ("a", "b", "c")
DB = {"app": "db"}


def random_cluster(dice: random.Random) -> list[Manifest]:
    """Nodes, pods that stand on them, and shop/it at the end. It is drawn again until a plain reading finds no place."""
    while True:
        objects = _drawn(dice)
        placed = {Cluster.key(each): each["spec"]["nodeName"] for each in objects if "nodeName" in each.get("spec", {})}
        cluster = Cluster(objects, placed)
        if not any(_takes(cluster, objects[-1], name) for name in cluster.nodes):
            return objects


def _takes(cluster: Cluster, it: Manifest, name: str) -> bool:
    return (
        cluster.may_use(it, name)
        and cluster.roomy(it, name)
        and not any(cluster.kept_away(it, name))
        and not any(cluster.ports(it) & cluster.ports(each) for each in cluster.on(name))
        and all(
            cluster.value(name, each["topologyKey"]) in cluster.open_domains(it, each)
            for each in it["spec"].get("topologySpreadConstraints", [])
        )
    )


def _drawn(dice: random.Random) -> list[Manifest]:
    nodes = [_node(dice, f"n{at}") for at in range(dice.randint(2, 7))]
    standing = [each for node in nodes for each in _standing(dice, node["metadata"]["name"])]
    more: Manifest = {}
    if dice.random() < 0.4:
        more["nodeSelector"] = {"pool": dice.choice((*POOLS, "gpuu"))}
    if dice.random() < 0.4:
        more["tolerations"] = tolerates(dice.choice(("spot", "gpu", "dedicated")))
    if dice.random() < 0.3:
        more["ports"] = (80,)
    if dice.random() < 0.4:
        more["affinity"] = dice.choice(
            (beside(app="db"), beside(ZONE, app="db"), away(app="web"), away(ZONE, app="db"))
        )
    if dice.random() < 0.3:
        more["topologySpreadConstraints"] = spread()
    volumes: list[Manifest] = []
    if dice.random() < 0.25:
        volumes = [storage_class("fast"), pvc("data", "fast", "v1"), pv("v1", "data", zone=dice.choice(ZONES))]
        more["volumes"] = claims("data")
    return [*nodes, *standing, *volumes, pod(cpu=dice.choice(("500m", "1", "6")), labels=WEB, **more)]


def _node(dice: random.Random, name: str) -> Manifest:
    taints = (dice.choice(TAINTS),) if dice.random() < 0.3 else ()
    labels = {"pool": dice.choice(POOLS), ZONE: dice.choice(ZONES)}
    return node(name, dice.choice(("4", "4", "8")), taints=taints, cordoned=dice.random() < 0.15, labels=labels)


def _standing(dice: random.Random, name: str) -> list[Manifest]:
    found = []
    if dice.random() < 0.6:
        found.append(pod(f"full-{name}", dice.choice(("3500m", "3700m", "3")), on=name))
    if dice.random() < 0.4:
        labels = dice.choice((WEB, DB))
        more: Manifest = {"affinity": away(app="web")} if dice.random() < 0.25 else {}
        found.append(pod(f"app-{name}", "100m", on=name, labels=labels, **more))
    if dice.random() < 0.25:
        found.append(pod(f"port-{name}", "50m", on=name, ports=(80,)))
    return found

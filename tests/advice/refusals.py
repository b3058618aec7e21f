"""Small clusters in which pods stay pending, each for a reason of its own."""

from __future__ import annotations

from typing import Any, Final

from framework.configuration.presets import preset
from tests.advice.test_anew import FAR, NETWORK, app_group
from tests.advice.test_beside_others import ENOUGH, QUOTAS, important, quota, waiting
from tests.schedweb.engine.crowded import ZONE, low, pvc, storage_class, using
from tests.schedweb.engine.test_pod_groups import GROUPS, gang
from tests.schedweb.engine.worlds import DEFAULT, GANGS, Manifest, node, pod

RING: Final = "scheduling.x-k8s.io/pod-group"
World = tuple[list[Manifest], str]


def member(name: str, cpu: str = "1", *gates: str) -> Manifest:
    """Of scheduler-plugins' PodGroup ring."""
    return gated(pod(name, cpu, **{RING: "ring"}), *gates)


def of_gang(name: str, cpu: str = "1", *gates: str) -> Manifest:
    """Of scheduling.k8s.io's PodGroup g."""
    made = gated(pod(name, cpu), *gates)
    return {**made, "spec": {**made["spec"], "schedulingGroup": {"podGroupName": "g"}}}


def gated(manifest: Manifest, *gates: str) -> Manifest:
    if gates:
        manifest["spec"]["schedulingGates"] = [{"name": name} for name in gates]
    return manifest


def ring(members: int, **spec: Any) -> Manifest:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": "ring", "namespace": "shop", "uid": "ring", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"minMember": members, **spec},
    }


def with_spec(manifest: Manifest, **spec: Any) -> Manifest:
    manifest["spec"].update(spec)
    return manifest


def of_preset(id_: str) -> str:
    chosen = preset(id_)
    assert chosen is not None
    return chosen.text


def tainted(name: str, cpu: str = "4") -> Manifest:
    made = node(name, cpu)
    made["spec"] = {"taints": [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]}
    return made


APART: Final = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}
BACKING_OFF: Final = f"""{GANGS}\
  pluginConfig:
  - name: Coscheduling
    args: {{podGroupBackoffSeconds: 30}}
"""
NO_COSTS: Final = [each for each in FAR if each["kind"] != "NetworkTopology"]
TOO_MUCH: Final = {"cpu": "64"}
REFUSALS: Final[dict[str, World]] = {
    # What it is: the objects and the configuration.
    "no nodes": ([pod("a")], DEFAULT),
    "no nodes, and a gate": ([gated(pod("a"), "later")], DEFAULT),
    "too large": ([node("n1"), pod("a", "64")], DEFAULT),
    "too large for any": ([node("n1"), pod("a", "5000")], DEFAULT),
    "a resource that nobody has": (
        [
            node("n1"),
            with_spec(
                pod("a"),
                containers=[{"name": "m", "image": "i", "resources": {"limits": {"example.com/gpu": "1"}}}],
            ),
        ],
        DEFAULT,
    ),
    "full of its equals": ([node("n1"), *(pod(f"w{i}", "3", owner="web") for i in range(3))], DEFAULT),
    "taint": ([tainted("n1"), pod("a")], DEFAULT),
    "taint, and too large": ([tainted("n1"), pod("a", "64")], DEFAULT),
    "selector": ([node("n1"), with_spec(pod("a"), nodeSelector={"disk": "ssd"})], DEFAULT),
    "selector, and too large": ([node("n1"), with_spec(pod("a", "5000"), nodeSelector={"disk": "ssd"})], DEFAULT),
    "node that is not there": (
        [node("n1"), with_spec(pod("a"), nodeSelector={"kubernetes.io/hostname": "x"})],
        DEFAULT,
    ),
    "cordoned": ([{**node("n1"), "spec": {"unschedulable": True}}, pod("a")], DEFAULT),
    "host ports": (
        [
            node("n1"),
            *(
                with_spec(
                    pod(name, owner="web"),
                    containers=[{"name": "m", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}],
                )
                for name in ("w1", "w2")
            ),
        ],
        DEFAULT,
    ),
    "apart": ([node("n1"), *(with_spec(pod(n, app="web"), affinity=APART) for n in ("a", "b"))], DEFAULT),
    "another scheduler": ([node("n1"), with_spec(pod("a"), schedulerName="other")], DEFAULT),
    "another scheduler, and too large": ([node("n1"), with_spec(pod("a", "64"), schedulerName="other")], DEFAULT),
    "gate": ([node("n1"), gated(pod("a"), "later")], DEFAULT),
    "gate, and too large": ([node("n1"), gated(pod("a", "64"), "later")], DEFAULT),
    "gates, and too large for any": ([node("n1"), gated(pod("a", "5000"), "later", "more")], DEFAULT),
    "gate and selector": ([node("n1"), gated(with_spec(pod("a"), nodeSelector={"disk": "ssd"}), "later")], DEFAULT),
    "claim that is missing": ([node("n1", **{ZONE: "eu-1a"}), using(pod("a"), "gone")], DEFAULT),
    "claim without a provisioner": (
        [
            node("n1", **{ZONE: "eu-1a"}),
            storage_class("late", "WaitForFirstConsumer", "kubernetes.io/no-provisioner"),
            pvc("c", "late"),
            using(pod("a"), "c"),
        ],
        DEFAULT,
    ),
    "preempts nobody": ([node("n1", "1"), low("low", "n1", 0, "1"), pod("a", "1")], DEFAULT),
    "group that is not there": ([node("n1"), member("a"), member("b")], GANGS),
    "group of too few": ([node("n1"), ring(3), member("a"), member("b")], GANGS),
    "group with one that is too large": ([node("n1"), ring(2), member("a"), member("b", "8")], GANGS),
    "group that asks for too much": ([node("n1"), ring(2, minResources=TOO_MUCH), member("a"), member("b")], GANGS),
    "group that asks for too much, of those too large": (
        [node("n1"), ring(2, minResources=TOO_MUCH), member("a", "5"), member("b", "5")],
        GANGS,
    ),
    "group that asks for too much, of too few": (
        [node("n1"), ring(3, minResources=TOO_MUCH), member("a"), member("b")],
        GANGS,
    ),
    "group that asks for too much, of those who fit nowhere": (
        [node("n1"), ring(2, minResources={"cpu": "5000"}), member("a", "5000"), member("b", "5000")],
        GANGS,
    ),
    "group with a gate": ([node("n1"), ring(2), member("a", "1", "later"), member("b")], GANGS),
    "group of gates": ([node("n1"), ring(2), member("a", "1", "later"), member("b", "1", "later")], GANGS),
    "group of several gates": (
        [node("n1"), ring(3), member("a", "1", "later"), member("b", "1", "other"), member("c")],
        GANGS,
    ),
    "group of gates that asks for too much": (
        [node("n1"), ring(2, minResources=TOO_MUCH), member("a", "1", "later"), member("b", "1", "other")],
        GANGS,
    ),
    "group of gates that is not there": ([node("n1"), member("a", "1", "later"), member("b", "1", "later")], GANGS),
    "group of gates, too few": ([node("n1"), ring(3), member("a", "1", "later"), member("b", "1", "later")], GANGS),
    "group of gates, too large": ([node("n1"), ring(2), member("a", "5", "later"), member("b", "5", "later")], GANGS),
    "group that backs off, of gates, that asks for too much": (
        [
            node("n1"),
            ring(2, minResources=TOO_MUCH),
            member("a", "1", "later"),
            member("b", "1", "other"),
            member("c", "64"),
        ],
        BACKING_OFF,
    ),
    "group that backs off, of those who fit nowhere": (
        [node("n1"), ring(2), member("a", "5000"), member("b", "5000")],
        BACKING_OFF,
    ),
    "gang of too few": ([node("n1"), gang(3), of_gang("a"), of_gang("b")], GROUPS),
    "gang that is not there": ([node("n1"), of_gang("a")], GROUPS),
    "gang with one that is too large": ([node("n1"), gang(2), of_gang("a"), of_gang("b", "8")], GROUPS),
    "gang that wants for two nodes": ([node("n1"), gang(2), of_gang("a", "5"), of_gang("b", "5")], GROUPS),
    "gang that fits nowhere": ([node("n1"), gang(2), of_gang("a", "5000"), of_gang("b", "5000")], GROUPS),
    "gang with a gate": ([node("n1"), gang(2), of_gang("a", "1", "later"), of_gang("b")], GROUPS),
    "gang of gates, too few": ([node("n1"), gang(3), of_gang("a", "1", "later"), of_gang("b", "1", "later")], GROUPS),
    "gang of gates": ([node("n1"), gang(2), of_gang("a", "1", "later"), of_gang("b", "1", "later")], GROUPS),
    "quota": (waiting(quota(ENOUGH, "4")), QUOTAS),
    "quotas": (waiting(quota("4", "4"), important(pod("urgent", "1"))), QUOTAS),
    "quota, and the nodes are full": ([node("n1", "6"), quota(ENOUGH, "4"), *waiting()[1:]], QUOTAS),
    "quota of nothing": ([node("n1"), quota("0", "0"), pod("a", "5000")], QUOTAS),
    "network": ([*FAR, app_group(db=5)], NETWORK),
    "network of which nothing is known": ([*NO_COSTS, app_group(db=5)], NETWORK),
    "load": ([node("n1"), pod("a", "64")], of_preset("load-aware")),
    "numa": ([node("n1"), pod("a", "64")], of_preset("numa")),
    "reservations": ([node("n1"), pod("a", "64")], of_preset("reservations")),
}

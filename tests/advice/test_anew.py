"""Changes that help a pod of which no event tells: it is made anew then, and a fork shows the same."""

from __future__ import annotations

from typing import Final

import pytest

from tests.advice.asking import changed, helped, of_kind, places_of, played, texts, tried
from tests.schedweb.engine.worlds import GANGS, Manifest, node, pod

ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
NETWORK: Final = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: NetworkOverhead}]
  pluginConfig:
  - name: NetworkOverhead
    args: {namespaces: [shop]}
"""
ANEW: Final = ", and make the pod anew, as no event has it tried again"


def in_zone(name: str, zone: str, cpu: str, region: str = "eu") -> Manifest:
    return node(name, cpu, **{ZONE: zone, REGION: region})


def member(name: str, workload: str, node_name: str = "", cpu: str = "1") -> Manifest:
    labels = {"appgroup.diktyo.x-k8s.io": "app", "appgroup.diktyo.x-k8s.io.workload": workload}
    return pod(name, cpu, node_name=node_name, **labels)


def app_group(**most: int) -> Manifest:
    """``most``: what web may pay at most, by the workload that it talks to."""

    def workload(name: str) -> Manifest:
        return {"kind": "Deployment", "name": name, "selector": name, "apiVersion": "apps/v1", "namespace": "shop"}

    dependencies = [
        {"workload": workload(name), "minBandwidth": "1", "maxNetworkCost": cost} for name, cost in most.items()
    ]
    return {
        "apiVersion": "appgroup.diktyo.x-k8s.io/v1alpha1",
        "kind": "AppGroup",
        "metadata": {"name": "app", "namespace": "shop"},
        "spec": {
            "numMembers": 1 + len(most),
            "topologySortingAlgorithm": "KahnSort",
            "workloads": [
                {"workload": workload("web"), "dependencies": dependencies},
                *({"workload": workload(name)} for name in most),
            ],
        },
    }


def costs(by_zone: dict[str, dict[str, int]], by_region: dict[str, dict[str, int]] | None = None) -> Manifest:
    def listed(key: str, of: dict[str, dict[str, int]]) -> Manifest:
        origins = [
            {"origin": origin, "costList": [{"destination": to, "networkCost": cost} for to, cost in row.items()]}
            for origin, row in of.items()
        ]
        return {"topologyKey": key, "originList": origins}

    weights = [{"name": "UserDefined", "topologyList": [listed(REGION, by_region or {}), listed(ZONE, by_zone)]}]
    return {
        "apiVersion": "networktopology.diktyo.x-k8s.io/v1alpha1",
        "kind": "NetworkTopology",
        "metadata": {"name": "nt-default", "namespace": "shop"},
        "spec": {"configmapName": "costs", "weights": weights},
    }


FAR: Final = [
    in_zone("near", "z1", "2"),
    in_zone("far", "z2", "4"),
    costs({"z1": {"z2": 10, "z3": 30}, "z2": {"z1": 10}}),
    member("db", "db", "near", "2"),
    member("web", "web"),
]


@pytest.mark.parametrize(
    ("objects", "text", "where"),
    [
        ([*FAR, app_group(db=5)], "Allow web a network cost of 10 to db in AppGroup shop/app", "far"),
        (
            [
                in_zone("near", "z1", "2"),
                in_zone("abroad", "z2", "4", "us"),
                costs({"z1": {"z2": 10}}, {"eu": {"us": 80}, "us": {"eu": 80}}),
                member("db", "db", "near", "2"),
                member("web", "web"),
                app_group(db=5),
            ],
            "Allow web a network cost of 80 to db in AppGroup shop/app",
            "abroad",
        ),
        (
            # As many may be out of reach as are in reach: one of the two is enough.
            [*FAR, in_zone("full", "z1", "1"), member("cache", "cache", "full"), app_group(db=5, cache=4)],
            "Allow web a network cost of 10 to db in AppGroup shop/app",
            "far",
        ),
        (
            [
                *FAR,
                in_zone("full", "z1", "2"),
                *(member(f"cache-{i}", "cache", "full") for i in range(2)),
                in_zone("third", "z1", "1"),
                member("queue", "queue", "third"),
                app_group(db=5, cache=4, queue=5),
            ],
            "Allow web a network cost of 10 to cache in AppGroup shop/app",
            "far",
        ),
        (
            [
                *FAR,
                in_zone("full", "z1", "1"),
                in_zone("third", "z1", "1"),
                member("cache", "cache", "full"),
                member("queue", "queue", "third"),
                app_group(db=5, cache=4, queue=5),
            ],
            "Allow web a network cost of 10 to db, cache and queue in AppGroup shop/app",
            "far",
        ),
    ],
    ids=["another zone", "another region", "one of two", "the one that counts", "all of them"],
)
def test_a_workload_may_pay_more_and_is_made_anew(objects: list[Manifest], text: str, where: str) -> None:
    found = helped(played(objects, NETWORK), "web")
    remedy = of_kind(found, "network")
    assert str(remedy.text) == text + ANEW
    assert [command.split(" ", 3)[:2] for command in remedy.commands] == [["kubectl", "apply"], ["kubectl", "get"]]
    assert places_of(tried(objects, remedy, NETWORK))["shop/web"] == remedy.node == where
    alone = [each for each in remedy.operations if each.manifest["kind"] == "AppGroup"]
    assert places_of(changed(played(objects, NETWORK), alone))["shop/web"] == "", "no plugin listens for AppGroups"


def test_no_price_is_named_where_paying_does_not_help() -> None:
    objects = [*FAR, app_group(db=5)]
    objects[1] = in_zone("far", "z2", "0")
    assert not any("network cost" in text for text in texts(helped(played(objects, NETWORK), "web")))


def test_who_fits_by_now_but_was_not_told_is_made_anew() -> None:
    """The price was raised by hand: that alone wakes nobody."""
    objects = [*FAR, app_group(db=5)]
    game = played(objects, NETWORK)
    first = of_kind(helped(game, "web"), "network")
    alone = [each for each in first.operations if each.manifest["kind"] == "AppGroup"]
    changed(game, alone)
    found = helped(game, "web")
    assert found.fits_on == ""
    remedy = of_kind(found, "again")
    assert str(remedy.text) == "Make the pod anew: it fits, but no event has it tried again"
    assert remedy.commands == ("kubectl get pod web -n shop -o json | kubectl replace --force -f -",)
    assert places_of(changed(game, remedy.operations))["shop/web"] == remedy.node == "far"


def test_replicas_are_made_anew_together() -> None:
    """Coscheduling listens for no node, which is what their minResources lack."""
    label = "scheduling.x-k8s.io/pod-group"
    group: Manifest = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": "ring", "namespace": "shop"},
        "spec": {"minMember": 2, "minResources": {"cpu": "6"}},
    }
    objects = [node("n1", "4"), group, *(pod(name, "1", owner="ring", **{label: "ring"}) for name in ("a", "b"))]
    found = helped(played(objects, GANGS), "a")
    remedy = of_kind(found, "node")
    assert str(remedy.text) == (
        "Add a node like n1 (4 cpu, 16 Gi memory), and make the 2 pods anew, as no event has them tried again"
    )
    assert (remedy.placed, remedy.commands) == (2, ())
    assert places_of(tried(objects, remedy, GANGS))["shop/a"] == remedy.node
    assert not any("anew" in text for text in texts(found) if "minResources" in text), "a PodGroup wakes its pods"

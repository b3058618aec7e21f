"""What one pod is given another takes, if it comes first: then there has to be enough for both."""

from __future__ import annotations

from typing import Final

import pytest

from framework.configuration.presets import preset
from tests.advice.asking import helped, of_kind, places_of, played, texts, tried
from tests.schedweb.engine.worlds import Manifest, node, pod

QUOTAS: Final = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled: [{name: CapacityScheduling}]
"""
ENOUGH: Final = "100"


def quota(least: str, most: str, namespace: str = "shop") -> Manifest:
    bounds = {name: {"cpu": cpu, "memory": "1Ti", "pods": "100"} for name, cpu in (("min", least), ("max", most))}
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": "team", "namespace": namespace},
        "spec": bounds,
    }


def important(manifest: Manifest, namespace: str = "shop") -> Manifest:
    manifest["spec"]["priority"] = 10
    manifest["metadata"]["namespace"] = namespace
    return manifest


def waiting(*more: Manifest) -> list[Manifest]:
    return [node("n1", "32"), pod("placed", "4", node_name="n1"), pod("first", "2"), pod("second", "3"), *more]


@pytest.mark.parametrize(
    ("objects", "asked", "text"),
    [
        (waiting(quota(ENOUGH, "4")), "first", "Raise cpu max from 4 to 6 in ElasticQuota shop/team"),
        (
            waiting(quota(ENOUGH, "4")),
            "second",
            "Raise cpu max from 4 to 9 in ElasticQuota shop/team: enough for shop/first as well, which comes first",
        ),
        (
            waiting(quota("4", ENOUGH)),
            "second",
            "Raise cpu min from 4 to 9 in ElasticQuota shop/team: enough for shop/first as well, which comes first",
        ),
        (
            waiting(quota("4", "4")),
            "second",
            "Raise cpu max from 4 to 9 and cpu min from 4 to 9 in ElasticQuota shop/team: enough for shop/first as "
            "well, which comes first",
        ),
        (
            waiting(quota(ENOUGH, "4"), important(pod("urgent", "1"))),
            "second",
            "Raise cpu max from 4 to 10 in ElasticQuota shop/team: enough for shop/first and shop/urgent as well, "
            "which come first",
        ),
        (
            waiting(quota(ENOUGH, "4"), pod("last", "1")),
            "second",
            "Raise cpu max from 4 to 9 in ElasticQuota shop/team: enough for shop/first as well, which comes first",
        ),
        (
            # All quotas together guarantee 8: what another namespace takes first counts.
            [
                node("n1", "32"),
                quota("4", ENOUGH),
                quota("4", ENOUGH, "lab"),
                pod("placed", "8", node_name="n1"),
                pod("second", "3"),
                important(pod("other", "2"), "lab"),
            ],
            "second",
            "Raise cpu min from 4 to 9 in ElasticQuota shop/team: enough for lab/other as well, which comes first",
        ),
    ],
    ids=["the first", "max", "min", "both", "two come first", "one comes later", "of another namespace"],
)
def test_a_quota_is_raised_for_all_that_come_first(objects: list[Manifest], asked: str, text: str) -> None:
    remedy = of_kind(helped(played(objects, QUOTAS), asked), "quota")
    assert str(remedy.text) == text
    assert places_of(tried(objects, remedy, QUOTAS))[f"shop/{asked}"] == remedy.node == "n1"


def test_replicas_are_counted_one_by_one() -> None:
    objects = [
        node("n1", "32"),
        quota(ENOUGH, "4"),
        pod("placed", "4", node_name="n1"),
        *(pod(f"web-{i}", "2", owner="web") for i in range(3)),
    ]
    remedy = of_kind(helped(played(objects, QUOTAS), "web-2"), "quota")
    assert str(remedy.text) == (
        "Raise cpu max from 4 to 10 in ElasticQuota shop/team: enough for shop/web-0 and shop/web-1 as well, "
        "which come first"
    )
    assert remedy.placed == 3
    assert places_of(tried(objects, remedy, QUOTAS))["shop/web-2"] == "n1"


def test_no_quota_is_raised_where_the_others_take_all_nodes() -> None:
    objects = [node("n1", "6"), quota(ENOUGH, "4"), *waiting()[1:]]
    assert not any(
        text.startswith("Raise cpu max from 4 to 9 in") for text in texts(helped(played(objects, QUOTAS), "second"))
    )


def test_a_tree_of_quotas_is_raised_for_all_that_come_first() -> None:
    chosen = preset("quota-tree")
    assert chosen is not None
    team: Manifest = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": "team", "namespace": "teams"},
        "spec": {"min": {"cpu": "0"}, "max": {"cpu": "4"}},
    }
    web: Manifest = {
        **team,
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"quota.scheduling.koordinator.sh/parent": "team"},
        },
        "spec": {"min": {"cpu": "0"}, "max": {"cpu": "5"}},
    }
    objects = waiting(team, web)
    remedy = of_kind(helped(played(objects, chosen.text), "second"), "quota")
    assert str(remedy.text) == (
        "Raise cpu max from 4 to 9 in ElasticQuota teams/team and cpu max from 5 to 9 in ElasticQuota shop/web: "
        "enough for shop/first as well, which comes first"
    )
    assert places_of(tried(objects, remedy, chosen.text))["shop/second"] == remedy.node == "n1"

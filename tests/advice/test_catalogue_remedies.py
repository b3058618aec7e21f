"""Remedies for refusals of scheduler-plugins' plugins, played to their end on the sample that shows them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from framework.advice import Help, Remedy, what_would_help
from framework.configuration.presets import preset
from framework.objects import Pod
from schedweb.engine import commands
from schedweb.engine.played_on import PlayedOn
from schedweb.engine.player import Player
from schedweb.snapshots.samples.shared import shared_cluster
from tests.advice.asking import of_kind, places_of, texts
from tests.schedweb.engine.worlds import Manifest, Table, play, player


def the_sample(**changed: Manifest) -> list[Manifest]:
    """``changed``: name → an object that takes the place of the one of this name and kind."""
    objects = shared_cluster().objects
    return [
        other if (other := changed.get(each["metadata"]["name"])) and other["kind"] == each["kind"] else each
        for each in objects
    ]


def played(objects: list[Manifest]) -> Player:
    shared = preset("shared-cluster")
    assert shared is not None
    game = player(objects, configuration=shared.text)
    play(game)
    return game


def pending(game: Player, workload: str) -> Pod:
    (found,) = (
        pod
        for pod in game.world.cluster.list(Pod)
        if pod.metadata.labels.get("app") == workload and not pod.spec.node_name
    )
    return found


def helped(game: Player, workload: str) -> Help:
    return what_would_help(game.scheduler, pending(game, workload), PlayedOn(game, seconds=600, seconds_each=600))


def place_after(objects: list[Manifest], pod: Pod, remedy: Remedy) -> str:
    game = played(objects)
    table = Table(game)
    for each in remedy.operations:
        table.order(commands.command_from(commands.of_operation(each.verb, json.loads(json.dumps(each.manifest)))))
    play(game)
    return places_of(game)[pod.key]


@pytest.mark.parametrize(
    ("workload", "kind", "text", "patch"),
    [
        (
            "analysis",
            "quota",
            "Raise cpu max from 8 to 10 in ElasticQuota lab/lab",
            ('kubectl patch elasticquota lab -n lab --type=merge -p \'{"spec":{"max":{"cpu":"10"}}}\'',),
        ),
        (
            "sweep",
            "quota",
            "Raise cpu min from 64 to 77.5 in ElasticQuota ml/ml",
            ('kubectl patch elasticquota ml -n ml --type=merge -p \'{"spec":{"min":{"cpu":"77500m"}}}\'',),
        ),
        ("mesh-sim", "zone", "Free 1 cpu in NUMA zone node-1 of numa-5", ()),
    ],
)
def test_the_smallest_change_of_what_refused_it(workload: str, kind: str, text: str, patch: tuple[str, ...]) -> None:
    objects = the_sample()
    game = played(objects)
    remedy = of_kind(helped(game, workload), kind)
    assert (str(remedy.text), remedy.commands) == (text, patch)
    assert remedy.node
    assert place_after(objects, pending(game, workload), remedy) == remedy.node


def test_a_guaranteed_pod_asks_for_what_a_zone_has() -> None:
    objects = the_sample()
    game = played(objects)
    remedy = of_kind(helped(game, "mesh-sim"), "lower")
    assert str(remedy.text) == "Lower the request of cpu from 16 to 15"
    _, changed = remedy.operations
    assert changed.manifest["spec"]["containers"][0]["resources"]["limits"]["cpu"] == "15"
    assert remedy.node == "numa-5"


def test_both_bounds_are_raised_where_one_is_not_enough() -> None:
    ml: dict[str, Any] = next(
        each for each in the_sample() if each["kind"] == "ElasticQuota" and each["metadata"]["name"] == "ml"
    )
    ml["spec"]["max"]["cpu"] = "80"
    game = played(the_sample(ml=ml))
    assert texts(helped(game, "sweep"))[0] == (
        "Raise cpu max from 80 to 98 and cpu min from 64 to 77.5 in ElasticQuota ml/ml"
    )


def test_a_quota_that_leaves_memory_out_allows_none() -> None:
    lab: dict[str, Any] = next(
        each for each in the_sample() if each["kind"] == "ElasticQuota" and each["metadata"]["name"] == "lab"
    )
    del lab["spec"]["max"]["memory"]
    remedy = of_kind(helped(played(the_sample(lab=lab)), "analysis"), "quota")
    assert str(remedy.text) == "Raise cpu max from 8 to 10 and memory max from 0 to 40 Gi in ElasticQuota lab/lab"


def test_a_workload_may_pay_more_for_the_network() -> None:
    """Nodes of the zone of whom it talks to are taken by a selector of its own that leaves them out."""
    objects = the_sample()
    for each in objects:
        if each["kind"] == "Pod" and each["metadata"]["labels"].get("app") == "basket":
            each["spec"]["nodeSelector"] = {"topology.kubernetes.io/zone": "eu-1c"}
    first = next(
        each for each in objects if each["kind"] == "Pod" and each["metadata"]["labels"].get("app") == "basket"
    )
    alone = [
        each
        for each in objects
        if each is first or each["kind"] != "Pod" or each["metadata"]["labels"].get("app") != "basket"
    ]
    game = played(alone)
    remedy = of_kind(helped(game, "basket"), "network")
    assert str(remedy.text) == "Allow basket a network cost of 12 to pricing in AppGroup shop/checkout"
    assert place_after(alone, pending(game, "basket"), remedy) == remedy.node

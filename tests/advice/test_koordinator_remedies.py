"""Remedies for refusals of the plugins after koordinator, each played to its end on a small cluster."""

from __future__ import annotations

import json

from framework.advice import Remedy, what_would_help
from framework.configuration.presets import preset
from framework.objects import Pod
from framework.objects.reservations import Reservation
from schedweb.engine import commands
from schedweb.engine.played_on import PlayedOn
from schedweb.engine.player import Player
from tests.advice.asking import of_kind, places_of, pod_of
from tests.schedweb.engine.worlds import Manifest, Table, node, play, player, pod


def load(**cpu: float) -> Manifest:
    measured = {
        name.replace("_", "-"): {"metrics": [{"type": "CPU", "operator": "AVG", "value": value}]}
        for name, value in cpu.items()
    }
    return {
        "apiVersion": "load-watcher.paypal.com/v1",
        "kind": "LoadMetrics",
        "metadata": {"name": "load-watcher"},
        "window": {"start": 1_699_999_100, "end": 1_700_000_000},
        "data": {"NodeMetricsMap": measured},
    }


def played(id_: str, objects: list[Manifest]) -> Player:
    chosen = preset(id_)
    assert chosen is not None
    game = player(objects, configuration=chosen.text)
    play(game)
    return game


def remedy_for(id_: str, objects: list[Manifest], name: str, kind: str) -> Remedy:
    """And it is one: with it the pod has the node that the remedy names."""
    game = played(id_, objects)
    waiting = pod_of(game, name)
    assert not waiting.spec.node_name
    found = what_would_help(game.scheduler, waiting, PlayedOn(game, seconds=600, seconds_each=600))
    remedy = of_kind(found, kind)
    again = played(id_, objects)
    table = Table(again)
    for each in remedy.operations:
        table.order(commands.command_from(commands.of_operation(each.verb, json.loads(json.dumps(each.manifest)))))
    play(again)
    assert places_of(again)[waiting.key] == remedy.node
    return remedy


def test_a_busy_node_may_be_busier() -> None:
    remedy = remedy_for("load-aware", [node("a"), node("b"), load(a=70, b=60), pod("x", cpu="1")], "x", "threshold")
    # 60 % and 85 % of a quarter of the node.
    assert str(remedy.text) == "Raise the usage threshold of cpu from 65 to 81 % on b"
    assert remedy.commands == (
        "kubectl annotate node b --overwrite "
        '\'scheduling.koordinator.sh/usage-thresholds={"usageThresholds":{"cpu":81}}\'',
    )
    assert "scheduling.koordinator.sh/usage-thresholds" in remedy.diff


def quota(name: str, least: str, most: str, *, parent: str = "", weight: str = "") -> Manifest:
    """Of the namespace of the pods, below the quotas of others."""
    metadata: Manifest = {"name": name, "namespace": "shop" if parent else "teams"}
    if parent:
        metadata["labels"] = {"quota.scheduling.koordinator.sh/parent": parent}
    if weight:
        metadata["annotations"] = {"quota.scheduling.koordinator.sh/shared-weight": f'{{"cpu": {weight}}}'}
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": metadata,
        "spec": {"min": {"cpu": least}, "max": {"cpu": most}},
    }


OVER_MAX = [
    node("a", cpu="8"),
    quota("team", "0", "4"),
    quota("web", "0", "3", parent="team"),
    pod("p", cpu="3", node_name="a"),
    pod("x", cpu="2"),
]


def test_bounds_on_the_way_up_are_raised_as_far_as_is_needed() -> None:
    remedy = remedy_for("quota-tree", OVER_MAX, "x", "quota")
    assert str(remedy.text) == (
        "Raise cpu max from 4 to 5 in ElasticQuota teams/team and cpu max from 3 to 5 in ElasticQuota shop/web"
    )
    assert len(remedy.commands) == 2


def reservation(name: str, cpu: str = "4", **spec: object) -> Manifest:
    """For pods with app=web."""
    container = {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Reservation",
        "metadata": {"name": name},
        "spec": {
            "template": {"spec": {"containers": [container], "priority": 10}},
            "owners": [{"labelSelector": {"matchLabels": {"app": "web"}}}],
            **spec,
        },
    }


def test_a_reservation_that_is_in_the_way_goes() -> None:
    remedy = remedy_for("reservations", [node("a", cpu="8"), reservation("r", cpu="6"), pod("x", cpu="3")], "x", "free")
    assert str(remedy.text) == "Delete Reservation r on a"
    assert remedy.commands == ("kubectl delete reservation r",)
    assert remedy.others_count == 0


def test_a_reservation_that_finds_no_node_is_helped() -> None:
    """Its pod is gone when it has found one."""
    placed = pod("x", "3", node_name="a")
    placed["spec"]["priority"] = 100
    objects = [node("a", cpu="4"), placed, reservation("r", cpu="3")]
    game = played("reservations", objects)
    [seeking] = [each for each in game.world.cluster.list(Pod) if each.metadata.name == "reservation-r"]
    found = what_would_help(game.scheduler, seeking, PlayedOn(game, seconds=600, seconds_each=600))
    remedy = of_kind(found, "node")
    assert (str(remedy.text), remedy.node) == ("Add a node like a (4 cpu, 16 Gi memory)", "a-more-1")
    again = played("reservations", objects)
    table = Table(again)
    for each in remedy.operations:
        table.order(commands.command_from(commands.of_operation(each.verb, each.manifest)))
    play(again)
    [held] = again.world.cluster.list(Reservation)
    assert (held.status.phase, held.status.node_name) == ("Available", "a-more-1")

"""Remedies for what Coscheduling refuses, played to their end."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from framework.advice import Help, Remedy, states, what_would_help
from framework.advice.trial import Trial
from framework.objects import Pod
from framework.objects.timestamps import SECOND
from schedweb.engine import commands
from schedweb.engine.played_on import OVER, PlayedOn
from schedweb.engine.player import TOO_MANY_ERRORS, Happened, Player
from schedweb.runs.forking.forks import change_of
from tests.advice.asking import of_kind, places_of, pod_of, texts
from tests.schedweb.engine.worlds import GANGS, START, Manifest, Table, node, play, player, pod

LABEL = "scheduling.x-k8s.io/pod-group"


def member(name: str, cpu: str = "1") -> Manifest:
    made = pod(name, cpu)
    made["metadata"].setdefault("labels", {})[LABEL] = "ring"
    return made


def group(members: int, **spec: Any) -> Manifest:
    metadata = {"name": "ring", "namespace": "shop", "uid": "ring", "creationTimestamp": "2026-01-01T00:00:00Z"}
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": {"minMember": members, **spec},
    }


def played(objects: list[Manifest]) -> Player:
    game = player(objects, configuration=GANGS)
    play(game)
    return game


def helped(objects: list[Manifest], name: str) -> Help:
    game = played(objects)
    [asked] = [each for each in game.world.cluster.list(Pod) if each.metadata.name == name]
    assert not asked.spec.node_name
    return what_would_help(game.scheduler, asked, PlayedOn(game, seconds=600, seconds_each=600))


def do(table: Table, remedy: Remedy) -> None:
    """As a fork does, which is told of the changes in JSON."""
    for each in remedy.operations:
        content = change_of(json.loads(json.dumps(msgspec.to_builtins(each))))
        assert table.order(commands.command_from(content)) is not None


def place_after(objects: list[Manifest], name: str, remedy: Remedy) -> str:
    game = played(objects)
    table = Table(game)
    do(table, remedy)
    play(game)
    return places_of(game)[f"shop/{name}"]


@pytest.mark.parametrize(
    ("objects", "kind", "text"),
    [
        (
            [node("n1", "8"), member("a"), member("b")],
            "create",
            "Create PodGroup shop/ring with minMember 2",
        ),
        (
            [node("n1", "8"), group(3), member("a"), member("b")],
            "relax",
            "Lower minMember of PodGroup shop/ring to 2",
        ),
        (
            [node("n1", "2"), group(3), member("a"), member("b"), member("c", "4")],
            "relax",
            "Lower minMember of PodGroup shop/ring to 2",
        ),
        (
            [node("n1", "4"), group(2, minResources={"cpu": "64"}), member("a"), member("b")],
            "relax",
            "Leave minResources out of PodGroup shop/ring",
        ),
    ],
    ids=["no group", "too few members", "one is too large", "more than there is"],
)
def test_a_group_that_fits_what_there_is(objects: list[Manifest], kind: str, text: str) -> None:
    found = helped(objects, "a")
    assert text in texts(found)
    remedy = of_kind(found, kind)
    assert str(remedy.text) == text
    assert remedy.commands
    assert place_after(objects, "a", remedy) == remedy.node == "n1"


def test_pods_without_a_group_are_told_of_none() -> None:
    found = helped([node("n1", "1"), pod("a", "4")], "a")
    assert not any("PodGroup" in text for text in texts(found))


def test_a_pod_that_waits_for_the_rest_of_its_group_is_told_what_would_help_the_group() -> None:
    game = player([node("n1", "2"), group(3), member("a"), member("b"), member("c")], configuration=GANGS)
    while [each.key for each in game.scheduler.waiting_pods()] != ["shop/a", "shop/b"]:
        game.operate(whole=True)
    asked = pod_of(game, "a")
    assert states(game.scheduler)["shop/a"].node == "", "it holds n1, and may lose it"
    found = what_would_help(game.scheduler, asked, PlayedOn(game, seconds=600, seconds_each=1))
    assert found.fits_on == ""
    added = of_kind(found, "node")
    assert str(added.text) == "Add a node like n1 (2 cpu, 16 Gi memory)"
    assert added.node
    assert str(of_kind(found, "relax").text) == "Lower minMember of PodGroup shop/ring to 2"


ONE_MAY_BE_LATE = (
    GANGS.rstrip()
    + """
  pluginConfig:
  - name: Coscheduling
    args: {permitWaitingTimeSeconds: 60, podGroupBackoffSeconds: 30, podGroupRejectPercentage: 20}
"""
)
RING = [node("n1", "5"), group(6), *(member(f"p{number}") for number in range(6))]


def backing_off(seconds: int) -> list[Any]:
    args = f"{{permitWaitingTimeSeconds: 60, podGroupBackoffSeconds: {seconds}, podGroupRejectPercentage: 0}}"
    return [GANGS.rstrip() + f"\n  pluginConfig:\n  - name: Coscheduling\n    args: {args}\n", seconds]


@pytest.mark.parametrize(("configuration", "backoff"), [backing_off(30), backing_off(900)], ids=["short", "long"])
@pytest.mark.parametrize("name", ["p0", "p5"])
def test_a_group_that_backs_off_is_helped_when_it_is_tried_again(configuration: str, backoff: int, name: str) -> None:
    """Whatever is done meanwhile, PreFilter refuses its members, and no event comes afterwards."""
    objects = [node("n1", "4"), group(6), *(member(f"p{number}") for number in range(6))]
    game = player(objects, configuration=configuration)
    play(game)
    found = what_would_help(game.scheduler, pod_of(game, name), PlayedOn(game, seconds=600, seconds_each=600))
    wait = ", and wait until its group is tried again"
    helps = [f"Add a node like n1 (4 cpu, 16 Gi memory){wait}"]
    helps += [f"Lower minMember of PodGroup shop/ring to 4{wait}"] if name == "p0" else []
    assert set(helps) <= set(texts(found))
    for remedy in found.remedies:
        fork = player(objects, configuration=configuration)
        play(fork)
        do(Table(fork), remedy)
        play(fork)
        assert places_of(fork)[f"shop/{name}"] == remedy.node
        assert fork.now - START > (300 + min(backoff, 1)) * SECOND


def test_a_group_that_is_tried_again_by_itself_only_has_to_wait() -> None:
    """The node came while it backed off: nothing but the flush of leftovers brings its members back."""
    configuration, _ = backing_off(30)
    game = player(
        [node("n1", "4"), group(6), *(member(f"p{number}") for number in range(6))], configuration=configuration
    )
    play(game)
    Table(game).order(commands.Change("add", node("n2", "4")))
    play(game)
    found = what_would_help(game.scheduler, pod_of(game, "p0"), PlayedOn(game, seconds=600, seconds_each=600))
    first = found.remedies[0]
    assert str(first.text) == "Wait: pods that are unschedulable for more than five minutes are tried again"
    do(Table(game), first)
    play(game)
    assert places_of(game)["shop/p0"] == first.node


def in_vain() -> Player:
    """At the moment at which the run is about to pause, as its members held their nodes and lost them again and again:
    there its page asks what would help, and a fork begins."""
    game = player(RING, configuration=ONE_MAY_BE_LATE)
    while game.endless is None:
        game.operate()
    return game


@pytest.mark.parametrize("name", ["p0", "p5"])
def test_where_a_gang_was_tried_in_vain_a_remedy_holds_on_the_fork_that_begins_there(name: str) -> None:
    game = in_vain()
    found = what_would_help(game.scheduler, pod_of(game, name), PlayedOn(game, seconds=600, seconds_each=600))
    added = of_kind(found, "node")
    assert added.node
    assert ("Lower minMember of PodGroup shop/ring to 5" in texts(found)) == (name == "p0"), "the sixth has no room"
    for remedy in found.remedies:
        fork = in_vain()
        table = Table(fork)
        do(table, remedy)
        while (happened := fork.operate()) not in OVER:
            pass
        assert happened is not Happened.ERRORS, "it would be paused, and nobody pressed Pause"
        assert places_of(fork)[f"shop/{name}"] == remedy.node


def test_what_happens_without_a_remedy_does_not_end_where_the_run_paused() -> None:
    game = player([node("n1"), pod("a")])
    game.endless = TOO_MANY_ERRORS
    played_on = PlayedOn(game, seconds=600, seconds_each=600)(())
    assert played_on is not None
    assert played_on.pods["shop/a"].node == "n1"


def test_a_member_that_waits_in_vain_is_not_said_to_fit() -> None:
    game = in_vain()
    tried = Trial(game.scheduler, pod_of(game, "p0")).beside_its_group()
    assert (tried.node, tried.waits_for, tried.in_place) == ("n1", ("Coscheduling",), 5)
    sixth = Trial(game.scheduler, pod_of(game, "p5")).beside_its_group()
    assert (sixth.node, sixth.waits_for) == ("", ())


def test_a_quota_is_raised_for_the_whole_group() -> None:
    """Alone each of them is within it."""
    configuration = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint: {enabled: [{name: Coscheduling}, {name: CapacityScheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
"""
    bounds = {"cpu": "2", "memory": "64Gi"}
    quota = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": "shop", "namespace": "shop"},
        "spec": {"min": bounds, "max": bounds},
    }
    objects = [node("n1", "8"), quota, group(3), *(member(name) for name in "abc")]

    def game() -> Player:
        made = player(objects, configuration=configuration)
        while made.operate() not in OVER:
            pass
        return made

    for name in "ac":
        here = game()
        found = what_would_help(here.scheduler, pod_of(here, name), PlayedOn(here, seconds=600, seconds_each=600))
        remedy = of_kind(found, "quota")
        assert str(remedy.text) == "Raise cpu max from 2 to 3 and cpu min from 2 to 3 in ElasticQuota shop/shop"
        fork = game()
        do(Table(fork), remedy)
        play(fork)
        assert places_of(fork)[f"shop/{name}"] == remedy.node == "n1"

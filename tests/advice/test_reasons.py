"""Nobody who asks what would help is left without a word: there are remedies, or it is said why there are none."""

from __future__ import annotations

import random

import pytest

from framework.advice import Help, what_would_help
from framework.advice.pod_changes import HIGHEST_PRIORITY
from framework.objects import Pod
from framework.objects.decode import to_manifest
from framework.sentences import ENGLISH, in_words
from schedweb.configurations.builtins import BUILTINS
from schedweb.engine.played_on import PlayedOn
from schedweb.engine.player import Happened, Player
from schedweb.snapshots.samples import SAMPLES, Sample
from tests.advice.asking import done, places_of, pod_of, texts
from tests.advice.refusals import REFUSALS, World, gated, of_gang
from tests.advice.test_beside_others import ENOUGH, QUOTAS, quota
from tests.advice.worlds import random_scheduler
from tests.schedweb.engine.crowded import ZONE, of_priority, pv, pvc, using
from tests.schedweb.engine.test_pod_groups import GROUPS, gang
from tests.schedweb.engine.worlds import DEFAULT, Manifest, departure, node, player, pod

OVER = (Happened.WAITS, Happened.FINISHED, Happened.IDLE, Happened.ERRORS)


def played(world: World) -> Player:
    return to_its_end(player(world[0], configuration=world[1]))


def to_its_end(game: Player) -> Player:
    for _ in range(100_000):
        if game.operate(whole=True) in OVER:
            return game
    raise AssertionError("it never ends")


def pending(game: Player) -> list[Pod]:
    return [pod for pod in game.world.cluster.list(Pod) if not pod.spec.node_name]


def helped(game: Player, asked: Pod, seconds: float = 600) -> Help:
    return what_would_help(game.scheduler, asked, PlayedOn(game, seconds, seconds_each=600))


def why(found: Help) -> str:
    return in_words(found.why, ENGLISH)


def said(found: Help) -> bool:
    """An empty reason beside an empty list is no answer."""
    return bool(found.fits_on or found.remedies or why(found).strip())


@pytest.mark.parametrize("name", REFUSALS)
def test_remedies_hold_or_it_is_said_why_there_are_none(name: str) -> None:
    game = played(REFUSALS[name])
    waiting = pending(game)
    assert waiting
    for each in waiting:
        found = helped(game, each)
        assert said(found), each.key
        assert found.complete
        for remedy in found.remedies:
            after = to_its_end(done(played(REFUSALS[name]), remedy.operations))
            assert places_of(after).get(each.key, "") == remedy.node, str(remedy.text)


@pytest.mark.parametrize("seed", range(12))
def test_in_clusters_made_by_chance_something_is_said(seed: int) -> None:
    made = random_scheduler(random.Random(seed), pending=4)
    game = played(([to_manifest(each) for each in made.cluster.all()], DEFAULT))
    for each in pending(game):
        assert said(helped(game, each)), each.key


@pytest.mark.parametrize(
    "sample", [each for each in SAMPLES if each.slug != "one-thousand-nodes"], ids=lambda each: each.slug
)
def test_of_every_sample_something_is_said(sample: Sample) -> None:
    cluster = sample.build()
    (configuration,) = (each.text for each in BUILTINS if each.slug == cluster.configuration)
    game = played((cluster.objects, configuration))
    waiting = pending(game)
    assert waiting
    for each in waiting[:6]:
        assert said(helped(game, each)), each.key


@pytest.mark.parametrize(
    ("name", "asked", "words"),
    [
        ("no nodes", "a", "Nothing that was tried helps: no nodes available to schedule pods"),
        (
            "too large for any",
            "a",
            "Nothing that was tried helps. As things are it is refused by NodeResourcesFit: 0/1 nodes are available: "
            "1 Insufficient cpu.",
        ),
        (
            "gate, and too large",
            "a",
            "Its scheduling gate later holds it back, and without it this is so: Nothing that was tried helps. As "
            "things are it is refused by NodeResourcesFit: 0/1 nodes are available: 1 Insufficient cpu.",
        ),
        (
            "another scheduler, and too large",
            "a",
            "No profile of the configuration is called other, and it was given no node under another name either.",
        ),
        (
            "network of which nothing is known",
            "web",
            'An attempt to schedule it ends with an error: running PreFilter plugin "NetworkOverhead": networktopology '
            '"nt-default" not found',
        ),
        (
            "group that asks for too much, of those who fit nowhere",
            "a",
            "Nothing that was tried helps. As things are it is refused by Coscheduling: 0/1 nodes are available: "
            "resource gap: map[cpu:{{4996000 -3} {<nil>}  DecimalSI}].",
        ),
    ],
)
def test_why_nothing_helps(name: str, asked: str, words: str) -> None:
    game = played(REFUSALS[name])
    found = helped(game, pod_of(game, asked))
    assert (found.remedies, why(found)) == ((), words)


def test_who_leaves_or_is_not_scheduled_any_more_is_told_so() -> None:
    large = pod("large", "5000")
    game = player([node("n1"), large], [departure(10_000, large)])
    while not game.traces:
        game.operate(whole=True)
    assert why(helped(game, pod_of(game, "large"))) == (
        "It leaves before it has a node: what is still to come in the run deletes it."
    )
    ended: Manifest = {**pod("ended", "5000"), "status": {"phase": "Failed"}}
    game = played(([node("n1"), ended], DEFAULT))
    assert why(helped(game, pod_of(game, "ended"))) == "It has ended, and is not scheduled any more."
    leaving = pod("leaving", "5000")
    leaving["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/kept"]}
    game = played(([node("n1"), leaving], DEFAULT))
    assert why(helped(game, pod_of(game, "leaving"))) == "It is being deleted, and is not scheduled any more."


def sharing(*names: str) -> list[Manifest]:
    """Pods of which one alone may use the claim that all of them name, none less important than the highest."""
    volume, claim = pv("v", "z1", "one", "fast"), pvc("one", "fast", "v")
    for each in (volume, claim):
        each["spec"]["accessModes"] = ["ReadWriteOncePod"]
    pods = [using(pod(name), "one") for name in names]
    return [node("n1", **{ZONE: "z1"}), volume, claim, *(of_priority(each, HIGHEST_PRIORITY) for each in pods)]


def test_who_fits_alone_is_told_beside_whom_it_does_not() -> None:
    game = player(sharing("first", "second"))
    found = helped(game, pod_of(game, "second"))
    assert (found.fits_on, found.remedies) == ("", ())
    assert why(found) == (
        "Alone it would go to n1. Beside shop/first, for which a node is found, it has none, and nothing that was "
        "tried changes that."
    )


def test_who_is_helped_instead_is_named() -> None:
    game = played(([*sharing("first", "second"), quota(ENOUGH, "0")], QUOTAS))
    found = helped(game, pod_of(game, "second"))
    assert (found.fits_on, found.remedies) == ("", ())
    assert why(found).startswith(
        "Nothing that was tried helps: a node is found for shop/first then, not for it. As things are it is refused by "
        "CapacityScheduling: "
    )


def test_without_time_that_is_said() -> None:
    game = played(([node("n1"), pod("a", "64")], DEFAULT))
    found = helped(game, pod_of(game, "a"), seconds=0)
    assert not found.complete
    assert why(found) == "There was no time to try anything: playing the run on takes too long."


@pytest.mark.parametrize(
    ("name", "asked", "first"),
    [
        ("group with a gate", "b", "Remove the scheduling gate later of shop/a"),
        ("group of gates", "a", "Remove the scheduling gate later of shop/a and shop/b"),
        ("group of several gates", "c", "Remove the scheduling gates later, other of shop/a and shop/b"),
        ("gang of gates", "b", "Remove the scheduling gate later of shop/b and shop/a"),
        ("gang that is not there", "a", "Create PodGroup shop/g with minCount 1"),
        ("gang that wants for two nodes", "a", "Add 2 nodes larger than n1 (8 cpu, 32 Gi memory)"),
        (
            "group that asks for too much, of too few",
            "a",
            "Leave minResources out of PodGroup shop/ring and lower its minMember to 2",
        ),
        (
            "gate and selector",
            "a",
            "Remove the scheduling gate later. Add a node like n1 (4 cpu, 16 Gi memory), with disk=ssd.",
        ),
        (
            "group of gates that is not there",
            "a",
            "Remove the scheduling gate later of shop/a and shop/b. Create PodGroup shop/ring with minMember 2.",
        ),
    ],
)
def test_a_group_that_is_not_tried_at_all_is_helped(name: str, asked: str, first: str) -> None:
    game = played(REFUSALS[name])
    assert first in texts(helped(game, pod_of(game, asked)))


def test_as_few_gates_as_are_enough_are_removed() -> None:
    objects, configuration = REFUSALS["group of gates"]
    third = gated(pod("c", **{"scheduling.x-k8s.io/pod-group": "ring"}), "later")
    game = played(([*objects, third], configuration))
    (remedy, *_) = helped(game, pod_of(game, "c")).remedies
    assert str(remedy.text) == "Remove the scheduling gate later of shop/c and shop/a"
    assert len(remedy.commands) == 2


def test_a_large_gang_is_tried_often_enough_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = [node("n1", "8"), gang(4), *(of_gang(name, "1", "later") for name in "abcd")]
    game = played((objects, GROUPS))
    (remedy,) = helped(game, pod_of(game, "b")).remedies
    assert str(remedy.text) == "Remove the scheduling gate later of shop/b, shop/a, shop/c and 1 more"
    monkeypatch.setattr("framework.advice.trial.GANG_ATTEMPTS", 0)
    found = helped(game, pod_of(game, "b"))
    assert (found.complete, found.remedies) == (False, ())
    assert why(found)

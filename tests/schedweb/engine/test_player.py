"""The player: what a run's next operation is, how its clock moves, when it waits and when it is finished."""

from __future__ import annotations

import pytest

from framework.objects import Pod
from framework.sentences import ENGLISH, in_words
from schedweb.engine import commands
from schedweb.engine.batch import Gatherer
from schedweb.engine.player import ERRORS_IN_A_ROW, Approvals, Happened, Player, RunRefused
from schedweb.engine.shapes import QUEUES
from tests.advice.asking import helped
from tests.schedweb.engine.crowded import VICTIMS, pvc, storage_class, using
from tests.schedweb.engine.misbehaving import CostFilter
from tests.schedweb.engine.worlds import (
    ASKING,
    DEFAULT,
    GANGS,
    SECOND,
    START,
    Manifest,
    Table,
    arrival,
    departure,
    node,
    places,
    play,
    player,
    pod,
)

MILLISECOND = 1_000_000


def crew(name: str, size: int) -> Manifest:
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"minMember": size, "scheduleTimeoutSeconds": 60},
    }


CREW: list[Manifest] = [
    crew("crew", 2),
    *(pod(name, **{"scheduling.x-k8s.io/pod-group": "crew"}) for name in ("one", "two")),
]


def test_a_cycle_takes_a_millisecond_of_virtual_time() -> None:
    game = player([node("a"), pod("one"), pod("two"), pod("three")])
    assert play(game) is Happened.FINISHED
    assert game.now == START + 3 * MILLISECOND
    assert places(game) == {"one": "bound", "two": "bound", "three": "bound"}


def test_an_idle_clock_jumps_to_the_next_arrival() -> None:
    game = player([node("a")], [arrival(10, pod("early")), arrival(12_900_000, pod("late"))])
    operations = 0
    while game.operate() is not Happened.FINISHED:
        operations += 1
    assert game.now == START + 12_900_000 * SECOND + MILLISECOND
    assert operations < 60, "no tick per second"
    assert places(game) == {"early": "bound", "late": "bound"}


def test_departures_free_what_pods_held() -> None:
    first, second = pod("first", "3"), pod("second", "3")
    game = player([node("a")], [arrival(1, first), arrival(2, second), departure(50, first)])
    play(game)
    assert places(game) == {"second": "bound"}
    assert game.projection.nodes.views["a"].requested[0] == 3000


def test_an_arrival_that_the_cluster_refuses_is_told_and_the_timeline_goes_on() -> None:
    game = player([node("a")], [arrival(1, pod("twin")), arrival(2, pod("twin")), arrival(3, pod("other"))])
    play(game)
    assert places(game) == {"twin": "bound", "other": "bound"}
    said = [in_words(line.item.parts, ENGLISH) for line in game.projection.feed.take(game.now)]
    assert any("uid-twin is that of pod shop/twin" in line for line in said)


def test_the_five_minute_flush_does_not_keep_a_run_alive() -> None:
    game = player([node("a", cpu="1"), pod("large", "2")])
    assert play(game) is Happened.FINISHED
    assert places(game) == {"large": "unschedulable"}
    assert game.now < START + 300 * SECOND


def test_the_flush_happens_when_something_else_lets_time_pass() -> None:
    game = player([node("a", cpu="1"), pod("large", "2")], [arrival(1000, pod("late"))])
    play(game)
    large = game.projection.views["uid-large"]
    assert large.attempts > 1
    assert any("five minutes" in str(step[2]) for step in large.journey)


@pytest.mark.parametrize("approvals", ["hold", "timeout", "auto"])
def test_a_person_is_waited_for_as_the_run_says(approvals: Approvals) -> None:
    game = player([node("a"), pod("asks", ask="person")], configuration=ASKING, approvals=approvals)
    want = {
        "hold": (Happened.WAITS, "waiting"),
        "timeout": (Happened.FINISHED, "unschedulable"),
        "auto": (Happened.FINISHED, "bound"),
    }[approvals]
    assert (play(game), places(game)["asks"]) == want
    if approvals == "hold":
        assert game.now == START + MILLISECOND, "none of the person's minute is used up"


def test_the_clock_stops_before_a_held_deadline_though_arrivals_are_left() -> None:
    timeline = [arrival(30, pod("before")), arrival(90, pod("after"))]
    game = player([node("a"), pod("asks", ask="person")], timeline, configuration=ASKING)
    assert play(game) is Happened.WAITS
    assert places(game) == {"asks": "waiting", "before": "bound"}
    assert game.now < START + 60 * SECOND


def test_cycles_do_not_carry_the_clock_over_a_held_deadline() -> None:
    timeline = [arrival(60 - 0.001 * left, pod(f"p{left}", "1m")) for left in (5, 4, 3, 2)]
    game = player([node("a"), pod("asks", ask="person")], timeline, configuration=ASKING)
    assert play(game) is Happened.WAITS
    assert places(game)["asks"] == "waiting"
    assert game.now < START + 60 * SECOND


def test_a_gang_binds_together_when_its_last_member_arrives() -> None:
    game = player([node("a"), *CREW], configuration=GANGS)
    waited = False
    while game.operate() is not Happened.FINISHED:
        waiting = [view for view in game.projection.views.values() if view.column == "waiting"]
        if waiting:
            waited = True
            gang = game.projection.gang_of(waiting[0])
            assert gang is not None
            assert (gang.name, gang.need) == ("crew", 2)
    assert waited
    assert places(game) == {"one": "bound", "two": "bound"}


def test_nothing_is_kept_of_pods_that_are_gone() -> None:
    """A run of a long trace sees many more jobs than there ever are at a time."""
    names = [f"job-{index}" for index in range(12)]
    jobs = [pod(name, **{"scheduling.x-k8s.io/pod-group": name}) for name in names]
    timeline = [
        *(arrival(index, job) for index, job in enumerate(jobs)),
        departure(20, node("a")),
        *(departure(30 + index, job) for index, job in enumerate(jobs)),
    ]
    game = player([node("a"), *(crew(name, 1) for name in names)], timeline, configuration=GANGS)
    play(game)
    projection = game.projection
    kept = (projection.views, projection.gangs, projection.nodes.placed, projection.nodes.homeless)
    assert [len(each) for each in kept] == [0, 0, 0, 0]


def test_every_pod_is_in_exactly_one_place_after_every_operation() -> None:
    timeline = [
        *(arrival(index / 2, pod(f"p{index}", "900m")) for index in range(12)),
        *(departure(20 + index, pod(f"p{index}")) for index in range(6)),
    ]
    game = player([node("a"), node("b", cpu="2"), pod("asks", ask="person")], timeline, configuration=ASKING)
    happened = Happened.POINT
    while happened is not Happened.WAITS:
        happened = game.operate()
        board = game.projection.board
        shown = [uid for column in QUEUES for uid in board.pods[column]]
        stored = sorted(each.uid for each in game.world.cluster.list(Pod))
        assert sorted(shown) == stored
        on_nodes = {uid for uid, _ in game.projection.nodes.placed.items()}
        assert set(board.pods["bound"]) | set(board.pods["waiting"]) <= on_nodes


def test_what_nodes_hold_is_the_sum_of_what_their_pods_ask_for() -> None:
    timeline = [arrival(index, pod(f"p{index}", f"{100 + index}m")) for index in range(20)]
    game = player([node("a"), node("b")], [*timeline, departure(30, pod("p3"))])
    play(game)
    for name, view in game.projection.nodes.views.items():
        pods = [each for each in game.projection.views.values() if each.node == name]
        assert view.requested[0] == sum(each.amounts["cpu"] for each in pods)
        assert view.pods == [len(pods), 0, 0]
        assert view.reserved == [0] * len(view.reserved)


def test_the_same_seed_gives_the_same_run_and_another_seed_may_not() -> None:
    manifests = [node("a"), node("b"), node("c"), *(pod(f"p{index}") for index in range(9))]
    digests = []
    for seed in (7, 7, 8):
        game = player(manifests, seed=seed)
        play(game)
        digests.append(game.digest)
    assert digests[0] == digests[1] != digests[2]


def test_a_real_clock_does_nothing_by_itself() -> None:
    game = player([node("a"), pod("one")], [arrival(10, pod("late"))], clock="real")
    assert play(game) is Happened.IDLE
    assert game.now == START
    game.advance(START + 10 * SECOND)
    assert play(game) is Happened.FINISHED
    assert places(game) == {"one": "bound", "late": "bound"}


def test_a_pod_of_an_unknown_profile_is_pending_and_says_why() -> None:
    foreign = pod("foreign")
    foreign["spec"]["schedulerName"] = "elsewhere"
    game = player([node("a"), foreign])
    assert play(game) is Happened.FINISHED
    view = game.projection.views["uid-foreign"]
    assert (view.column, str(view.headline)) == (
        "unschedulable",
        "No profile is called elsewhere, so nobody tries it.",
    )


def test_a_configuration_that_is_wrong_is_refused_with_upstreams_words() -> None:
    with pytest.raises(RunRefused, match="NoSuchPlugin"):
        player([node("a")], configuration=ASKING.replace("ManualApproval", "NoSuchPlugin"))


def test_a_plugin_that_raises_fails_its_pods_and_does_not_keep_the_run_busy_for_ever() -> None:
    configuration = ASKING.replace("name: ManualApproval\n  pluginConfig", "name: CostFilter\n  pluginConfig")
    configuration = configuration[: configuration.index("  pluginConfig")]
    manifests = [node("a"), pod("priced", app="web"), pod("free", app="gift")]
    game = player(manifests, configuration=configuration, plugins=(CostFilter,))
    happened = Happened.POINT
    while happened is not Happened.ERRORS:
        happened = game.operate()
        assert game.recorded <= ERRORS_IN_A_ROW + 2
    assert places(game)["priced"] == "bound"
    assert game.projection.views["uid-free"].message == "running \"CostFilter\" filter plugin: KeyError: 'gift'"
    assert game.operate() is not Happened.ERRORS, "whoever plays on may"


def test_volumes_that_are_never_bound_pause_the_run_also_where_they_wake_others() -> None:
    """No volume can be called by this claim's uid, so its pod fails in PreBind again and again."""
    late = storage_class("late", "WaitForFirstConsumer", "ebs.csi.aws.com")
    claim = pvc("data", "late")
    claim["metadata"]["uid"] = "Not_A_Name"
    game = player([node("a"), late, claim, using(pod("db"), "data"), pod("large", "24")])
    happened = Happened.POINT
    while happened is not Happened.ERRORS:
        happened = game.operate(whole=True)
        assert game.recorded <= 10 * ERRORS_IN_A_ROW
    assert game.projection.views["uid-large"].attempts > 1
    found = helped(game, "db")
    assert not [remedy for remedy in found.remedies if remedy.node], "it waits for its volume everywhere"


def test_a_new_seed_is_taken_before_the_first_step_only() -> None:
    manifests = [node("a"), node("b"), node("c"), *(pod(f"p{index}") for index in range(9))]
    seeded, told = player(manifests, seed=8), Table(player(manifests, seed=7))
    told.order(commands.SetSeed(8))
    play(seeded)
    play(told.game)
    assert [view.node for view in told.game.projection.views.values()] == [
        view.node for view in seeded.projection.views.values()
    ]
    refused = told.order(commands.SetSeed(9))
    assert str(refused.text) == "The seed can be set only before the first step."


def told(game: Player, *, whole: bool) -> tuple[object, ...]:
    """What a batch says after everything was played."""
    while game.operate(whole=whole) not in (Happened.WAITS, Happened.FINISHED):
        pass
    gatherer = Gatherer(game)
    rows = gatherer.attempts(), gatherer.pods(last=True), gatherer.nodes(), game.projection.feed.take(game.now)
    return game.position, game.now, game.digest, game.scheduler.points, rows, gatherer.columns(whole=True)


@pytest.mark.parametrize(
    ("manifests", "configuration", "approvals"),
    [
        (VICTIMS, DEFAULT, "hold"),
        ([node("a"), *CREW], GANGS, "hold"),
        ([node("a", "2"), *(pod(f"web-{index}", "700m") for index in range(5))], DEFAULT, "hold"),
        ([node("a"), pod("asks", ask="person"), pod("free")], ASKING, "hold"),
        ([node("a"), pod("asks", ask="person"), pod("free")], ASKING, "auto"),
        ([node("a"), pod("asks", ask="person"), pod("free")], ASKING, "timeout"),
    ],
)
def test_whole_cycles_lead_to_what_their_points_lead_to(
    manifests: list[Manifest], configuration: str, approvals: Approvals
) -> None:
    timeline = [arrival(1, pod("late", "100m")), arrival(2, pod("later", "900m"))]
    by_point, by_cycle = (player(manifests, timeline, configuration=configuration, approvals=approvals) for _ in "12")
    assert told(by_point, whole=False) == told(by_cycle, whole=True)

"""A Reservation that goes, expires or changes: who comes back, what a checkpoint keeps, what is refused."""

from __future__ import annotations

import pickle

from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.objects.reservations import (
    Reservation,
    reservation_errors,
)
from framework.objects.timestamps import format_timestamp
from framework.plugins.reservation.plugin import ReservationPlugin
from tests.builders import make_node, make_pod
from tests.plugins.playing import START
from tests.plugins.reserving import CONFIGURATION, found, held, owner, play_of, reservation, stranger


def test_a_stranger_comes_back_when_the_reservation_goes_or_expires() -> None:
    play = play_of(make_node("n", cpu="4"), held("r", "n", "3"), stranger("s", "2"))
    assert play.unschedulable == {"s"}
    play.scheduler.cluster.delete(found(play, "r"))
    play.seconds(20)
    assert play.bound == {"s": "n"}

    play = play_of(make_node("n", cpu="4"), held("r", "n", "3", ttl="1m"), stranger("s", "2"))
    play.seconds(59)
    assert play.bound == {}
    play.seconds(21)
    assert found(play, "r").status.phase == "Expired"
    assert play.bound == {"s": "n"}


def test_reservations_last_a_day_unless_they_or_the_arguments_say_otherwise() -> None:
    def phases(configuration: str = CONFIGURATION) -> list[str]:
        play = play_of(
            make_node("n", cpu="8"),
            held("day", "n", "1"),
            held("ever", "n", "1", ttl="0s"),
            held("until", "n", "1", ttl="1h", expires=format_timestamp(START + 10**9)),
            reservation("waits", "99", ttl="2s"),
            configuration=configuration,
        )
        play.scheduler.advance(START + 86_400 * 10**9)
        assert play.scheduler.cluster.list(Pod) == []
        return [found(play, name).status.phase for name in ("day", "ever", "until", "waits")]

    assert phases() == ["Expired", "Available", "Expired", "Expired"]
    never = CONFIGURATION + "  pluginConfig: [{name: Reservation, args: {defaultTtlSeconds: 0}}]\n"
    assert phases(never) == ["Available", "Available", "Expired", "Expired"]


def test_an_owner_comes_back_when_another_leaves_the_reservation() -> None:
    play = play_of(
        make_node("n", cpu="4"),
        held("r", "n", "2", allocateOnce=False),
        stranger("s", "2"),
        owner("first", "2"),
    )
    play.create(owner("second", "2"))
    play.cycles()
    assert play.unschedulable == {"second"}
    first = play.scheduler.cluster.get(Pod, "default", "first")
    assert first is not None
    play.scheduler.cluster.delete(first)
    assert found(play, "r").status.current_owners == ()
    play.seconds(20)
    assert play.bound == {"s": "n", "second": "n"}


def test_hints_ignore_what_changes_nothing() -> None:
    play = play_of(
        make_node("n", cpu="4"), make_node("m", cpu="1"), held("r", "n", "3"), stranger("s", "2"), stranger("on-m", "1")
    )
    plugin = play.scheduler.profiles["default-scheduler"].plugins["Reservation"]
    assert isinstance(plugin, ReservationPlugin)
    pod = stranger("s", "2")
    of_others = held("q", "m", owners={"gpu": "no"})
    assert plugin._after_reservation_change(pod, None, of_others).name == "SKIP"
    elsewhere = make_pod("gone", node_name="m", requests={"cpu": "1"})
    assert plugin._after_pod_change(pod, elsewhere, None).name == "SKIP"
    assert plugin._after_pod_change(pod, make_pod("gone", node_name="n"), None).name == "QUEUE"
    must = owner("o", must={"name": "r"})
    assert plugin._after_node_change(must, None, make_node("new")).name == "SKIP"
    assert plugin._after_reservation_change(must, held("r", "n"), None).name == "SKIP"
    assert plugin._after_reservation_change(must, None, found(play, "r")).name == "QUEUE"


def test_a_node_that_goes_takes_its_reservation_along() -> None:
    play = play_of(make_node("n", cpu="4"), held("r", "n"))
    node = play.scheduler.cluster.get(Node, "", "n")
    assert node is not None
    play.scheduler.cluster.delete(node)
    assert found(play, "r").status.phase == "Failed"


def test_a_checkpoint_goes_on_as_the_run_did() -> None:
    play = play_of(make_node("n", cpu="4"), held("r", "n", "2", allocateOnce=False), owner("o", "1"))
    again = pickle.loads(pickle.dumps(play.scheduler))
    for scheduler in (play.scheduler, again):
        scheduler.cluster.create(stranger("s", "3"))
        scheduler.cluster.create(owner("p", "3"))
        while scheduler.step() is not None:
            pass
        bound = {pod.metadata.name for pod in scheduler.cluster.list(Pod) if pod.spec.node_name}
        assert bound == {"o", "p"}
        known = scheduler.cluster.get(Reservation, "", "r")
        assert known is not None
        assert known.status.allocated == {"cpu": "4"}


def test_what_is_wrong_with_a_reservation_is_told() -> None:
    wrong = reservation("r", owners=[{}], ttl="1 day", expires="soon", allocatePolicy="Some")
    texts = [str(each) for each in reservation_errors(wrong)]
    assert texts == [
        "spec.owners[0]: Required value: one of object, controller and labelSelector must be given",
        'spec.ttl: Invalid value: "1 day": must be a duration that is not negative, as 30m or 24h',
        texts[2],
        'spec.allocatePolicy: Unsupported value: "Some": supported values: "Default", "Aligned", "Restricted"',
    ]
    assert texts[2].startswith('spec.expires: Invalid value: "soon"')
    empty = decode_manifest({"apiVersion": Reservation.api_version, "kind": "Reservation", "metadata": {"name": "r"}})
    assert isinstance(empty, Reservation)
    assert [str(each) for each in reservation_errors(empty)] == [
        "spec.template: Required value",
        "spec.owners: Required value",
    ]

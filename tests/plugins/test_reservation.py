"""Reservation against a naive evaluation, and runs in which one is made, used and used up."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.configuration.load import load
from framework.objects import Node, ObjectMeta, OwnerReference, Pod
from framework.objects.reservations import (
    RESERVATION_AFFINITY,
    Reservation,
    allocated_to,
)
from framework.objects.resources import pod_requests
from framework.plugins.registry import built_in_registry
from framework.plugins.reservation.args import ReservationArgs
from framework.plugins.reservation.plugin import ReservationPlugin
from tests.builders import make_node, make_pod
from tests.plugins.evaluation import NO_HANDLE, cluster, run_filter
from tests.plugins.reserving import (
    CONFIGURATION,
    GPU,
    WITHOUT,
    found,
    held,
    owner,
    play_of,
    reservation,
    stranger,
    using,
)

# --- a naive evaluation -----------------------------------------------------------------------------------------------

HELD = st.tuples(
    st.integers(0, 2),  # the node
    st.integers(1, 3),  # cpu
    st.booleans(),  # for owners
    st.booleans(),  # allocateOnce
    st.booleans(),  # Restricted
)
PLACED = st.tuples(st.integers(0, 2), st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3)))


@settings(max_examples=120, deadline=None)
@given(
    st.lists(HELD, max_size=4),
    st.lists(PLACED, max_size=5),
    st.integers(0, 4),
    st.booleans(),
    st.booleans(),
)
def test_it_says_what_the_rules_say(
    holds: list[tuple[int, int, bool, bool, bool]],
    placed: list[tuple[int, int, int | None]],
    asked: int,
    owns: bool,
    must: bool,
) -> None:
    """The rules again, hold by hold, with the pods of each added up anew. Nodes may be full or more than full."""
    plugin = ReservationPlugin(ReservationArgs(), NO_HANDLE)
    nodes = [make_node(f"n-{i}", cpu="4", pods="6") for i in range(3)]
    for i, (node, cpu, for_owners, once, restricted) in enumerate(holds):
        plugin.object_changed(
            None,
            held(
                f"h-{i}",
                f"n-{node}",
                str(cpu),
                owners=GPU if for_owners else {"gpu": "no"},
                allocateOnce=once,
                allocatePolicy="Restricted" if restricted else "",
            ),
        )
    pods, users = [], {i: list[int]() for i in range(len(holds))}
    for i, (node, cpu, uses) in enumerate(placed):
        pod = make_pod(f"p-{i}", node_name=f"n-{node}", requests={"cpu": str(cpu)})
        if uses is not None and uses < len(holds) and holds[uses][0] == node:
            pod = using(pod, f"h-{uses}")
            users[uses].append(cpu)
        pods.append(pod)
        plugin.object_changed(None, pod)
    asking = owner("asking", str(asked), must={} if must else None) if owns else stranger("asking", str(asked))
    if must and not owns:
        asking = replace(asking, metadata=replace(asking.metadata, annotations={RESERVATION_AFFINITY: "{}"}))

    refused = run_filter(plugin, asking, cluster(nodes, pods))

    for number in range(3):
        here = [i for i, hold in enumerate(holds) if hold[0] == number]
        left = {i: max(0, holds[i][1] - sum(users[i])) for i in here}
        free = 4 - sum(cpu for node, cpu, _ in placed if node == number)
        slots = 6 - sum(node == number for node, _, _ in placed)
        may = [i for i in here if owns and holds[i][2] and not (holds[i][3] and users[i]) and (must or asked)]

        def fits(own: int | None, here: list[int] = here, left: dict[int, int] = left, room: int = free) -> bool:
            others = [i for i in here if i != own]
            for_others = sum(left[i] for i in others)
            return not for_others or asked == 0 or asked <= room - for_others

        def has_place(own: int | None, here: list[int] = here, room: int = slots) -> bool:
            unused = [i for i in here if i != own and not users[i]]
            return not unused or room > len(unused)

        usable = [i for i in may if fits(i) and has_place(i) and (not holds[i][4] or asked <= left[i])]
        passes = bool(usable) or (not must and fits(None) and has_place(None))
        assert (f"n-{number}" not in refused) == passes, (number, refused)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.booleans()), max_size=3),
    st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.booleans()), max_size=7),
    st.lists(st.integers(0, 9), max_size=3),
)
def test_what_is_held_is_there(
    wanted: list[tuple[int, bool, bool]], pods: list[tuple[int, bool, bool]], leaving: list[int]
) -> None:
    """Whatever comes and goes: on no node pods use and reservations hold more than there is, and who uses a
    reservation says so."""
    play = play_of(*[make_node(f"n-{i}", cpu="4") for i in range(2)])
    for i, (cpu, once, restricted) in enumerate(wanted):
        play.create(
            reservation(f"r-{i}", str(cpu), allocateOnce=once, allocatePolicy="Restricted" if restricted else "")
        )
    play.cycles()
    for i, (cpu, owns, high) in enumerate(pods):
        make = owner if owns else stranger
        play.create(make(f"p-{i}", str(cpu), priority=100 if high else 0))
    play.seconds(30)
    for number in leaving:
        bound = play.scheduler.cluster.list(Pod)
        if number < len(bound):
            play.scheduler.cluster.delete(bound[number])
        play.seconds(30)
    cluster_ = play.scheduler.cluster
    for node in cluster_.list(Node):
        here = [pod for pod in cluster_.list(Pod) if pod.spec.node_name == node.metadata.name]
        used = sum(pod_requests(pod)["cpu"] for pod in here)
        for each in cluster_.list(Reservation):
            if each.status.phase == "Available" and each.status.node_name == node.metadata.name:
                users = [pod for pod in here if allocated_to(pod) == (each.metadata.name, each.metadata.uid)]
                assert {pod.metadata.uid for pod in users} == {one.uid for one in each.status.current_owners}
                assert not (each.is_used_once and users)
                capacity = pod_requests(make_pod("x", requests={"cpu": str((each.status.allocatable or {})["cpu"])}))[
                    "cpu"
                ]
                used += max(0, capacity - sum(pod_requests(pod)["cpu"] for pod in users))
        assert used <= 4000


# --- a reservation finds its place ------------------------------------------------------------------------------------


def test_a_reservation_is_scheduled_like_a_pod() -> None:
    play = play_of(
        make_node("small", cpu="1"),
        make_node("large", cpu="4"),
        reservation("r", template={"nodeSelector": {}}),
    )
    status = found(play, "r").status
    assert (status.phase, status.node_name, status.allocatable) == ("Available", "large", {"cpu": "2"})
    assert play.scheduler.cluster.list(Pod) == []
    assert play.seen.attempts[0].pod == "default/reservation-r"


def test_one_that_finds_no_node_waits_and_comes_back() -> None:
    play = play_of(make_node("n", cpu="1"), reservation("r"))
    assert found(play, "r").status.phase == "Pending"
    assert "Insufficient cpu" in play.message("reservation-r")
    play.create(make_node("larger", cpu="4"))
    play.seconds(20)
    assert found(play, "r").status.node_name == "larger"


def test_its_pod_comes_again_and_goes_with_it() -> None:
    play = play_of(make_node("n", cpu="1"), reservation("r"))
    pods = play.scheduler.cluster.list
    play.scheduler.cluster.delete(pods(Pod)[0])
    assert [pod.metadata.name for pod in pods(Pod)] == ["reservation-r"]
    changed = reservation("r", "1")
    play.scheduler.cluster.replace(replace(found(play, "r"), spec=changed.spec))
    play.seconds(20)
    assert found(play, "r").status.node_name == "n"
    play.create(reservation("s"))
    play.cycles()
    play.scheduler.cluster.delete(found(play, "s"))
    assert pods(Pod) == []


def test_a_template_that_is_no_pod_ends_it() -> None:
    play = play_of(make_node("n"), reservation("r", "-1"))
    status = found(play, "r").status
    assert status.phase == "Failed"
    assert status.conditions[0].message.startswith(
        'spec.template.spec.containers[0].resources.requests[cpu]: Invalid value: "-1"'
    )
    play.create(reservation("s", template={"priorityClassName": "unknown"}))
    assert found(play, "s").status.conditions[0].message == "its pod default/reservation-s was refused"


def test_without_the_plugin_nobody_looks_for_a_place() -> None:
    play = play_of(make_node("n"), reservation("r"), stranger("p", "4"), configuration=WITHOUT)
    assert found(play, "r").status.phase == ""
    assert play.bound == {"p": "n"}


def test_a_profile_that_begins_to_keep_reservations_hears_of_those_that_are_there() -> None:
    play = play_of(make_node("n"), reservation("r"), configuration=WITHOUT)
    effective = load(CONFIGURATION, built_in_registry()).effective
    assert effective is not None
    play.scheduler.replace_configuration(effective)
    play.cycles()
    assert found(play, "r").status.node_name == "n"


# --- it holds ---------------------------------------------------------------------------------------------------------


def test_a_stranger_is_kept_off_and_an_owner_let_in() -> None:
    play = play_of(make_node("n", cpu="4"), held("r", "n", "3", allocateOnce=False), stranger("s", "2"))
    assert play.message("s").startswith("0/1 nodes are available: 1 Insufficient cpu beside reservations.")
    play.create(owner("o", "2"))
    play.cycles()
    assert play.bound == {"o": "n"}
    status = found(play, "r").status
    assert (status.phase, status.allocated) == ("Available", {"cpu": "2"})
    assert [(each.namespace, each.name) for each in status.current_owners] == [("default", "o")]
    placed = play.scheduler.cluster.get(Pod, "default", "o")
    assert placed is not None
    assert allocated_to(placed) == ("r", "r-r")
    # One cpu is left of it, one beside it.
    play.create(stranger("t", "1"), stranger("u", "1"))
    play.cycles()
    assert play.bound == {"o": "n", "t": "n"}


def test_an_owner_may_use_the_node_beside_its_reservation() -> None:
    play = play_of(make_node("n", cpu="4"), held("r", "n", "3", allocateOnce=False), owner("o", "4"))
    assert play.bound == {"o": "n"}
    restricted = held("r", "n", "3", allocateOnce=False, allocatePolicy="Restricted")
    play = play_of(make_node("n", cpu="4"), restricted, owner("o", "4"))
    assert play.bound == {}


def test_owners_are_led_to_their_reservation() -> None:
    nodes = [make_node(f"n-{i}", cpu="8") for i in range(4)]
    play = play_of(*nodes, held("r", "n-2", "3", allocateOnce=False), owner("o"), stranger("s"))
    assert play.bound["o"] == "n-2"


def test_its_first_pod_uses_it_up() -> None:
    play = play_of(make_node("n", cpu="4"), held("r", "n", "3"), stranger("s", "2"), owner("o", "1"))
    play.seconds(20)
    assert found(play, "r").status.phase == "Succeeded"
    # What the owner did not need is free again.
    assert play.bound == {"o": "n", "s": "n"}


def test_an_attempt_that_fails_gives_the_place_back() -> None:
    gated = CONFIGURATION.replace(
        "{name: Reservation, weight: 5000}", "{name: Reservation, weight: 5000}, {name: ManualApproval}"
    )
    gated += "  pluginConfig: [{name: ManualApproval, args: {minimumRequests: {cpu: '1'}}}]\n"
    play = play_of(make_node("n", cpu="4"), held("r", "n", "3"), owner("o", "1"), configuration=gated)
    plugin = play.scheduler.profiles["default-scheduler"].plugins["Reservation"]
    assert isinstance(plugin, ReservationPlugin)
    assert list(play.waiting) == ["o"]
    (hold,) = plugin._holds.get("n") or ()
    assert hold.is_used_up
    play.scheduler.reject(play.scheduler.waiting_pods()[0].uid, "ManualApproval", "no")
    (hold,) = plugin._holds.get("n") or ()
    assert not hold.users
    assert found(play, "r").status.phase == "Available"


def test_owners_are_named_in_three_ways() -> None:
    by_object = [{"object": {"kind": "Pod", "namespace": "default", "name": "o"}}]
    by_controller = [{"controller": {"kind": "ReplicaSet", "name": "web", "namespace": "default"}}]
    either = [*by_object, *by_controller]
    of_web = replace(
        stranger("x", "2"),
        metadata=ObjectMeta(
            name="x",
            namespace="default",
            uid="x",
            owner_references=(OwnerReference(api_version="apps/v1", kind="ReplicaSet", name="web", controller=True),),
        ),
    )
    for owners, expected in ((by_object, {"o"}), (by_controller, {"x"}), (either, {"o", "x"})):
        play = play_of(
            make_node("n", cpu="4"),
            held("r", "n", "4", owners=owners, allocateOnce=False),
            stranger("o", "2"),
            of_web,
            stranger("s", "2"),
        )
        assert set(play.bound) == expected


def test_a_pod_that_must_use_one_is_refused_elsewhere() -> None:
    nodes = [make_node("n", cpu="4"), make_node("m", cpu="4")]
    play = play_of(*nodes, owner("o", must={"name": "r"}))
    assert play.message("o").startswith("0/2 nodes are available: 2 node(s) no reservations match")
    play.create(held("r", "m", "3"))
    play.seconds(20)
    assert play.bound == {"o": "m"}


def test_affinity_by_labels_of_reservations() -> None:
    terms = [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["a"]}]}]
    wants: list[dict[str, Any]] = [
        {"reservationSelector": {"pool": "a"}},
        {"requiredDuringSchedulingIgnoredDuringExecution": {"reservationSelectorTerms": terms}},
    ]
    for must in wants:
        play = play_of(
            make_node("n", cpu="4"),
            make_node("m", cpu="4"),
            held("r", "n", "3", labels={"pool": "b"}),
            held("s", "m", "2", labels={"pool": "a"}),
            owner("o", must=must),
        )
        assert play.bound == {"o": "m"}


def test_an_affinity_that_cannot_be_read_is_told() -> None:
    pod = owner("o", must={})
    broken = replace(pod, metadata=replace(pod.metadata, annotations={RESERVATION_AFFINITY: "{name"}))
    play = play_of(make_node("n"), broken)
    assert "the pod's reservation affinity cannot be read: JSON is malformed" in play.message("o")


def test_one_that_is_closed_is_used_by_name_only() -> None:
    closed = held("r", "n", "4", unschedulable=True, allocateOnce=False)
    play = play_of(make_node("n", cpu="4"), closed, owner("o"), owner("named", must={"name": "r"}))
    assert play.bound == {"named": "n"}


def test_the_lowest_order_is_used_first() -> None:
    play = play_of(
        make_node("n", cpu="8"),
        held("full", "n", "1"),
        held("first", "n", "4", labels={"scheduling.koordinator.sh/reservation-order": "1"}),
        owner("o"),
    )
    assert found(play, "first").status.phase == "Succeeded"
    assert found(play, "full").status.phase == "Available"


# --- preemption -------------------------------------------------------------------------------------------------------


def test_preemption_does_not_take_the_hold_for_free_room() -> None:
    """Evicting the owner gives its reservation back what it used: nothing is won, so nobody is evicted."""
    play = play_of(make_node("n", cpu="4"), held("r", "n", "4", allocateOnce=False), owner("o", "2"))
    play.create(stranger("high", "2", priority=1000))
    play.seconds(60)
    assert play.bound == {"o": "n"}


def test_preemption_evicts_whom_it_helps() -> None:
    play = play_of(make_node("n", cpu="4"), held("r", "n", "2"), stranger("low", "2"))
    assert play.bound == {"low": "n"}
    play.create(stranger("high", "2", priority=1000))
    play.seconds(60)
    assert play.bound == {"high": "n"}
    assert found(play, "r").status.phase == "Available"

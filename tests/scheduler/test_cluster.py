"""The simulated API server: its answers, and what the scheduler gets to see."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from framework.objects import Node, Pod, PodCondition, PodStatus
from framework.profiles import Clock
from framework.queue import Nomination
from framework.scheduler import (
    AlreadyExists,
    Cluster,
    InformerEvent,
    NotFound,
    ObjectAdded,
    ObjectDeleted,
    ObjectRefused,
    ObjectUpdated,
    Observer,
)
from framework.scheduler.cluster import rfc3339, with_condition
from framework.scheduler.controllers import ControlledCluster, Controller
from framework.scheduler.store import Store, as_seen
from tests.builders import make_node, make_pod


class Recorded:
    """Takes the scheduler's place."""

    def __init__(self) -> None:
        self.events: list[InformerEvent] = []

    def before_change(self) -> None: ...

    def apply(self, event: InformerEvent) -> None:
        self.events.append(event)


def connected() -> tuple[Cluster, Recorded]:
    cluster, told = Cluster(), Recorded()
    cluster.connect(told, Clock(90_000_000_000), Observer())
    return cluster, told


def test_writes_come_back_as_events_with_growing_resource_versions() -> None:
    cluster, told = connected()
    created = cluster.create(make_pod("p"))
    updated = cluster.replace(replace(created, metadata=replace(created.metadata, labels={"a": "b"})))
    cluster.delete(updated)
    assert told.events == [ObjectAdded(created), ObjectUpdated(created, updated), ObjectDeleted(updated)]
    assert (created.metadata.resource_version, updated.metadata.resource_version) == ("1", "2")


def test_what_is_not_there_or_there_already_is_said_in_the_servers_words() -> None:
    cluster, _ = connected()
    cluster.create(make_node("n1"))
    with pytest.raises(AlreadyExists, match=r'^nodes "n1" already exists$'):
        cluster.create(make_node("n1"))
    with pytest.raises(NotFound, match=r'^pods "p" not found$'):
        cluster.delete(make_pod("p"))
    assert cluster.bind(make_pod("p"), "n1") == 'pods "p" not found'
    with pytest.raises(ObjectRefused, match="no PriorityClass with name gold was found"):
        cluster.create(make_pod("p", priorityClassName="gold"))
    assert cluster.find(make_pod("p")) is None


def test_a_binding_sets_node_and_condition_and_takes_the_nomination_away() -> None:
    cluster, _ = connected()
    pod = cluster.create(make_pod("p"))
    assert cluster.patch_pod_status(pod, None, Nomination("n1")) is None
    assert cluster.bind(pod, "n1") is None
    bound = cluster.get(type(pod), "default", "p")
    assert bound is not None
    assert (bound.spec.node_name, bound.status.nominated_node_name) == ("n1", "")
    assert [(c.type, c.status, c.last_transition_time) for c in bound.status.conditions] == [
        ("PodScheduled", "True", "1970-01-01T00:01:30Z")
    ]
    assert cluster.bind(pod, "n2") == (
        'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"'
    )


def test_a_patch_that_changes_nothing_is_not_sent() -> None:
    cluster, told = connected()
    pod = cluster.create(make_pod("p"))
    condition = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message="no room")
    assert cluster.patch_pod_status(pod, condition, Nomination("")) is None
    live = cluster.get(type(pod), "default", "p")
    assert live is not None
    sent = len(told.events)
    assert cluster.patch_pod_status(live, condition, Nomination("")) is None
    assert len(told.events) == sent == 2


def test_a_condition_keeps_its_transition_time_while_its_status_stays() -> None:
    false = PodCondition(type="PodScheduled", status="False", message="a")
    status = with_condition(PodStatus(), false, "t1")
    assert status is not None
    later = with_condition(status, replace(false, message="b"), "t2")
    assert later is not None
    assert (later.conditions[0].message, later.conditions[0].last_transition_time) == ("b", "t1")
    turned = with_condition(later, replace(false, status="True"), "t3")
    assert turned is not None
    assert turned.conditions[0].last_transition_time == "t3"
    assert with_condition(turned, replace(false, status="True"), "t4") is None


def test_finished_pods_leave_the_informer() -> None:
    running = make_pod("p", node_name="n1")
    done = replace(running, status=replace(running.status, phase="Succeeded"))
    assert as_seen(ObjectUpdated(running, done)) == ObjectDeleted(running)
    assert as_seen(ObjectUpdated(done, running)) == ObjectAdded(running)
    assert as_seen(ObjectAdded(done)) is None
    assert as_seen(ObjectDeleted(done)) is None
    assert as_seen(ObjectUpdated(done, done)) is None


def test_pods_by_label_follow_every_change() -> None:
    store = Store()

    def found() -> list[str]:
        return [pod.name for pod in store.pods_with_label("default", "group", "g")]

    store.put(make_pod("a", labels={"group": "g"}))
    assert found() == ["a"]
    store.put(make_pod("b", labels={"group": "g"}))
    store.put(make_pod("c", labels={"group": "g"}, namespace="other"))
    assert found() == ["a", "b"]
    store.put(make_pod("a", labels={"group": "h"}))
    store.remove(make_pod("b"))
    assert found() == []


def test_times_of_metadata_have_whole_seconds() -> None:
    assert rfc3339(1_767_225_601_999_999_999) == "2026-01-01T00:00:01Z"


def test_a_put_made_from_an_older_version_conflicts() -> None:
    cluster, told = connected()
    first = cluster.create(make_pod("p"))
    second = replace(first, metadata=replace(first.metadata, labels={"a": "b"}))
    assert cluster.update(second) is None
    assert cluster.update(second) == (
        'Operation cannot be fulfilled on pods "p": '
        "the object has been modified; please apply your changes to the latest version and try again"
    )
    assert cluster.update(make_pod("q")) == 'pods "q" not found'
    assert len(told.events) == 2


def test_controllers_hear_each_change_after_the_scheduler_and_of_their_own_writes_in_turn() -> None:
    heard: list[str] = []

    class Told(Recorded):
        def apply(self, event: InformerEvent) -> None:
            heard.append(f"scheduler: {_named(event)}")

    def doubles(cluster: ControlledCluster, event: InformerEvent) -> None:
        heard.append(f"doubles: {_named(event)}")
        if isinstance(event, ObjectAdded) and event.object.name == "a":
            cluster.post(make_pod("b"))

    def listens(cluster: ControlledCluster, event: InformerEvent) -> None:
        heard.append(f"listens: {_named(event)}")

    cluster = Cluster()
    cluster.set_controllers((Controller(doubles, (Pod,)), Controller(listens, (Pod,))))
    cluster.create(make_pod("before"))
    cluster.connect(Told(), Clock(0), Observer())
    cluster.create(make_pod("a"))
    assert heard == [
        "scheduler: a",
        "doubles: a",
        "scheduler: b",
        "listens: a",
        "doubles: b",
        "listens: b",
    ]


def test_controllers_hear_of_what_is_there_when_a_run_begins() -> None:
    heard: list[str] = []

    def listens(cluster: ControlledCluster, event: InformerEvent) -> None:
        heard.append(_named(event))

    cluster = Cluster()
    cluster.set_controllers((Controller(listens, (Pod,)),), of_changes=(Controller(listens, (Node,)),))
    cluster.create(make_node("there"))
    cluster.create(make_pod("before"))
    cluster.connect(Recorded(), Clock(0), Observer())
    assert heard == []
    cluster.start_controllers()
    assert heard == ["before"]
    cluster.create(make_node("comes"))
    assert heard == ["before", "comes"]


def test_controllers_hear_of_their_kinds_and_events_alone() -> None:
    heard: list[str] = []

    def listens(cluster: ControlledCluster, event: InformerEvent) -> None:
        heard.append(f"{type(event).__name__} {_named(event)}")

    cluster = Cluster()
    cluster.set_controllers((Controller(listens, (Pod,), (ObjectAdded, ObjectDeleted)), Controller(listens, (Node,))))
    cluster.connect(Recorded(), Clock(0), Observer())
    node = cluster.create(make_node("n"))
    pod = cluster.create(make_pod("p"))
    cluster.replace(pod)
    cluster.replace(node)
    cluster.delete(pod)
    assert heard == ["ObjectAdded n", "ObjectAdded p", "ObjectUpdated n", "ObjectDeleted p"]


def _named(event: InformerEvent) -> str:
    return (event.new if isinstance(event, ObjectUpdated) else event.object).name

"""Series of Events, and preemption against a cluster that may have moved on."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from framework.objects.timestamps import SECOND
from schedweb.clusters.writing import preempting
from schedweb.clusters.writing.events import ENDS_AFTER, TOLD_EVERY, Events
from tests.apiserver import ApiServer
from tests.apiserver.manifests import pod
from tests.apiserver.players import Kubelets
from tests.schedweb.clusters.writing.conftest import MakeWriter, pod_at

NOW = 1_790_000_000 * SECOND
EVENTS: Any = {"resource": "events"}


def series_in(server: ApiServer) -> list[Any]:
    return [each.body["series"]["count"] for each in server.requests.select(verb="patch", **EVENTS)]


def test_the_second_makes_a_series_and_the_rest_is_counted(writable: ApiServer, make_writer: MakeWriter) -> None:
    events, known = Events(make_writer().send, "host"), pod_at(writable)
    for second in range(5):
        events.write("Warning", "FailedScheduling", known, f"attempt {second}", NOW + second * SECOND)
    assert [each.method for each in writable.requests.select(**EVENTS)] == ["POST", "PATCH"]
    assert series_in(writable) == [2]
    events.tick(NOW + ENDS_AFTER)
    assert series_in(writable) == [2], "it goes on"
    events.tick(NOW + 4 * SECOND + ENDS_AFTER)
    assert series_in(writable) == [2, 5]
    # It has ended, so the next is an Event of its own.
    events.write("Warning", "FailedScheduling", known, "again", NOW + 2 * ENDS_AFTER)
    assert len(writable.requests.select(verb="create", **EVENTS)) == 2


def test_a_long_series_is_told_every_half_hour(writable: ApiServer, make_writer: MakeWriter) -> None:
    events, known = Events(make_writer().send, "host"), pod_at(writable)
    for minute in range(32):
        now = NOW + minute * 60 * SECOND
        events.write("Warning", "FailedScheduling", known, "no", now)
        events.tick(now)
    assert series_in(writable) == [2, 1 + (TOLD_EVERY + 60 * SECOND) // (60 * SECOND)]


def test_another_version_of_the_pod_is_another_event(writable: ApiServer, make_writer: MakeWriter) -> None:
    events, known = Events(make_writer().send, "host"), pod_at(writable)
    events.write("Warning", "FailedScheduling", known, "no", NOW)
    newer = replace(known, metadata=replace(known.metadata, resource_version="999999"))
    events.write("Warning", "FailedScheduling", newer, "no", NOW + 1)
    assert [each.method for each in writable.requests.select(**EVENTS)] == ["POST", "POST"]


def test_a_series_whose_event_expired_is_written_again(writable: ApiServer, make_writer: MakeWriter) -> None:
    events, known = Events(make_writer().send, "host"), pod_at(writable)
    events.write("Warning", "FailedScheduling", known, "no", NOW)
    [stored] = writable.all("Event")
    writable.remove("Event", stored["metadata"]["name"], "default")
    events.write("Warning", "FailedScheduling", known, "no", NOW + SECOND)
    [again] = writable.all("Event")
    assert again["metadata"]["name"] == stored["metadata"]["name"]
    assert again["series"]["count"] == 2


@pytest.fixture
def crowded(writable: ApiServer) -> ApiServer:
    writable.play(Kubelets(stop_after=None))
    writable.add(*(pod(f"low{number}", on="n1") for number in range(3)), pod("high", spec={"priority": 1000}))
    writable.settle()
    writable.requests.clear()
    return writable


def names(server: ApiServer, method: str) -> list[str]:
    return [each.name for each in server.requests.writes() if each.method == method and each.resource != "events"]


def test_victims_are_told_deleted_and_reported_the_last_one_last(crowded: ApiServer, make_writer: MakeWriter) -> None:
    writer = make_writer()
    victims = [pod_at(crowded, f"low{number}") for number in range(3)]
    done = preempting.preempt(
        writer, Events(writer.send, "host"), pod_at(crowded, "high"), victims, "n1", iter(range(NOW, NOW + 99)).__next__
    )
    assert [(each.victim, each.makes_room) for each in done] == [(each.metadata.uid, True) for each in victims]
    assert names(crowded, "DELETE")[-1] == names(crowded, "PATCH")[-1] == "low2"
    for name in ("low0", "low1", "low2"):
        mine = [each for each in crowded.requests.writes() if name in str(each.body) or each.name == name]
        assert [(each.method, each.resource) for each in mine] == [
            ("PATCH", "pods/status"),
            ("DELETE", "pods"),
            ("POST", "events"),
        ]
    assert {each["reason"] for each in crowded.all("Event")} == {"Preempted"}


def test_a_victim_that_is_gone_makes_room_and_nothing_is_said(crowded: ApiServer, make_writer: MakeWriter) -> None:
    writer, victims = make_writer(), [pod_at(crowded, "low0"), pod_at(crowded, "low1")]
    crowded.remove("Pod", "low0", "default")
    done = preempting.preempt(
        writer, Events(writer.send, "host"), pod_at(crowded, "high"), victims, "n1", iter(range(NOW, NOW + 99)).__next__
    )
    assert [(each.outcome.result, each.makes_room) for each in done] == [("gone", True), ("done", True)]
    assert len(crowded.all("Event")) == 1


def test_where_one_cannot_be_evicted_the_last_one_stays(crowded: ApiServer, make_writer: MakeWriter) -> None:
    writer, victims = make_writer(), [pod_at(crowded, "low0"), pod_at(crowded, "low1")]
    with crowded.faults.forbid(verb="delete", name="low0"):
        done = preempting.preempt(
            writer, Events(writer.send, "host"), pod_at(crowded, "high"), victims, "n1", lambda: NOW
        )
    assert [(each.outcome.result, each.makes_room) for each in done] == [("forbidden", False)]
    assert not names(crowded, "DELETE") or names(crowded, "DELETE") == ["low0"]
    assert "deletionTimestamp" not in crowded.get("Pod", "low1", "default")["metadata"]


def test_victims_that_terminate_are_left_alone(crowded: ApiServer, make_writer: MakeWriter) -> None:
    crowded.delete("Pod", "low0", "default")
    writer = make_writer()
    victims = [pod_at(crowded, "low0")]
    assert victims[0].metadata.deletion_timestamp is not None
    done = preempting.preempt(writer, Events(writer.send, "host"), pod_at(crowded, "high"), victims, "n1", lambda: NOW)
    assert done == []
    assert not crowded.requests.writes()

"""Series of Events."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from framework.objects import Pod
from framework.objects.timestamps import SECOND
from schedweb.clusters.writing.events import ENDS_AFTER, TOLD_EVERY, Events
from schedweb.writes.events import event
from tests.apiserver import ApiServer
from tests.schedweb.clusters.writing.conftest import MakeWriter, pod_at

NOW = 1_790_000_000 * SECOND
EVENTS: Any = {"resource": "events"}


def failed(events: Events, pod: Pod, note: str, now: int) -> None:
    events.take(event("Warning", "FailedScheduling", pod, note, host="host", now=now), now)


def series_in(server: ApiServer) -> list[Any]:
    return [each.body["series"]["count"] for each in server.requests.select(verb="patch", **EVENTS)]


def test_the_second_makes_a_series_and_the_rest_is_counted(writable: ApiServer, make_writer: MakeWriter) -> None:
    events, known = Events(make_writer().send), pod_at(writable)
    for second in range(5):
        failed(events, known, f"attempt {second}", NOW + second * SECOND)
    assert [each.method for each in writable.requests.select(**EVENTS)] == ["POST", "PATCH"]
    assert series_in(writable) == [2]
    events.tick(NOW + ENDS_AFTER)
    assert series_in(writable) == [2], "it goes on"
    events.tick(NOW + 4 * SECOND + ENDS_AFTER)
    assert series_in(writable) == [2, 5]
    # It has ended, so the next is an Event of its own.
    failed(events, known, "again", NOW + 2 * ENDS_AFTER)
    assert len(writable.requests.select(verb="create", **EVENTS)) == 2


def test_a_long_series_is_told_every_half_hour(writable: ApiServer, make_writer: MakeWriter) -> None:
    events, known = Events(make_writer().send), pod_at(writable)
    for minute in range(32):
        now = NOW + minute * 60 * SECOND
        failed(events, known, "no", now)
        events.tick(now)
    assert series_in(writable) == [2, 1 + (TOLD_EVERY + 60 * SECOND) // (60 * SECOND)]


def test_another_version_of_the_pod_is_another_event(writable: ApiServer, make_writer: MakeWriter) -> None:
    events, known = Events(make_writer().send), pod_at(writable)
    failed(events, known, "no", NOW)
    newer = replace(known, metadata=replace(known.metadata, resource_version="999999"))
    failed(events, newer, "no", NOW + 1)
    assert [each.method for each in writable.requests.select(**EVENTS)] == ["POST", "POST"]


def test_a_series_whose_event_expired_is_written_again(writable: ApiServer, make_writer: MakeWriter) -> None:
    events, known = Events(make_writer().send), pod_at(writable)
    failed(events, known, "no", NOW)
    [stored] = writable.all("Event")
    writable.remove("Event", stored["metadata"]["name"], "default")
    failed(events, known, "no", NOW + SECOND)
    [again] = writable.all("Event")
    assert again["metadata"]["name"] == stored["metadata"]["name"]
    assert again["series"]["count"] == 2

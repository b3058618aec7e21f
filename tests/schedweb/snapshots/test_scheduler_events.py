"""Events of a real cluster's scheduler: which are kept, in which form, and how they come to a snapshot."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from framework.objects.timestamps import parse_timestamp
from schedweb.accounts import services as accounts
from schedweb.accounts.roles import Role
from schedweb.snapshots.models import Snapshot, SnapshotEvents
from schedweb.snapshots.reading import read_cluster
from schedweb.snapshots.scheduler_events import decode_events, encode_events
from tests.schedweb.snapshots.events import assigned, event_list, failed, make_event, newer, shop_events
from tests.schedweb.snapshots.files import EXPORT_JSON, make_node, make_pod, told
from tests.schedweb.snapshots.test_api import editor, read_at_once, upload

__all__ = ["editor", "read_at_once"]
pytestmark = pytest.mark.django_db


def test_both_api_groups_say_the_same() -> None:
    old = failed("shop/web-1", "0/2 nodes are available: 2 Insufficient cpu.", count=3)
    old |= {"firstTimestamp": "2026-11-20T10:00:00Z", "lastTimestamp": "2026-11-20T10:05:00Z", "eventTime": None}
    [one] = read_cluster([old]).events
    assert read_cluster([newer(old)]).events == [one]
    assert (one.namespace, one.name, one.count, one.reporter) == ("shop", "web-1", 3, "default-scheduler")
    assert (one.first, one.last) == (parse_timestamp("2026-11-20T10:00:00Z"), parse_timestamp("2026-11-20T10:05:00Z"))
    assert decode_events(encode_events([one])) == [one]


def test_a_series_counts_with_its_last_time() -> None:
    series = {"count": 9, "lastObservedTime": "2026-11-20T11:00:00.000001Z"}
    [one] = read_cluster([failed("shop/web-1", "no", series=series)]).events
    assert (one.count, one.last) == (9, parse_timestamp("2026-11-20T11:00:00.000001Z"))


def test_only_what_schedulers_say_of_pods_is_kept() -> None:
    mine = make_pod("a", "x")
    mine["spec"]["schedulerName"] = "volcano"
    other: dict[str, Any] = {"reportingComponent": "kubelet", "source": {"component": "kubelet"}}
    theirs: dict[str, Any] = {"reportingComponent": "volcano", "source": {}}
    about_node = make_event("x/n1", "Scheduled", "odd")
    about_node["involvedObject"]["kind"] = "Node"
    cluster = read_cluster(
        [
            make_event("x/a", "Pulled", "image", **other),
            make_event("x/a", "Unschedulable", "0/1 tasks", **theirs),
            make_event("x/a", "Scheduled", "by whom", reportingComponent="", source={}),
            make_event("x/a", "Killing", "nobody's", reportingComponent="", source={}),
            make_event("x/a", "Preempted", "Preempted by pod 7 on node n1"),
            about_node,
            mine,
        ]
    )
    assert sorted(each.reason for each in cluster.events) == ["Preempted", "Scheduled", "Unschedulable"]
    assert cluster.other_events == 3
    assert [each.kind for each in cluster.objects()] == ["Pod", "Namespace"]


def test_an_event_exported_twice_is_one_with_its_newer_count() -> None:
    early = failed("x/a", "no", count=1, firstTimestamp="2026-11-20T10:00:00Z", lastTimestamp="2026-11-20T10:00:00Z")
    late = {**early, "count": 5, "lastTimestamp": "2026-11-20T10:09:00Z"}
    [one] = read_cluster([late, early]).events
    assert one.count == 5


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({**assigned("x/a", "n"), "involvedObject": None}, "involvedObject is missing"),
        ({**assigned("x/a", "n"), "eventTime": "yesterday"}, "eventTime must be a time"),
        ({**assigned("x/a", "n"), "eventTime": None}, "it has no time"),
        ({**assigned("x/a", "n"), "count": "3"}, "count must be a whole number"),
        ({**assigned("x/a", "n"), "message": 5}, "message must be a text"),
        ({**assigned("x/a", "n"), "involvedObject": {"kind": "Pod"}}, "involvedObject.namespace must be a text"),
    ],
)
def test_a_broken_event_is_named_with_its_field(event: dict[str, Any], words: str) -> None:
    assert re.search(f"Event x/a.*{words}", told(read_cluster([event])))


def commit(client: Client, content: bytes, **body: Any) -> Snapshot:
    found = upload(client, content)
    made = client.post(f"/api/v1/imports/{found['id']}/commit/", body, content_type="application/json")
    assert made.status_code == 201, made.content
    return Snapshot.objects.get(pk=made.json()["id"])


def stored(snapshot: Snapshot) -> set[str]:
    blob = SnapshotEvents.objects.get(snapshot=snapshot).payload
    return {f"{each.namespace}/{each.name}" for each in decode_events(bytes(blob))}


def test_a_file_with_cluster_and_events_keeps_both(editor: Client) -> None:
    export = json.loads(gzip.decompress(EXPORT_JSON.read_bytes()))
    events = shop_events()
    export["items"] += events
    body = upload(editor, json.dumps(export).encode())
    counted = body["counts"]["events"]
    assert counted["reasons"].keys() <= {"Scheduled", "FailedScheduling", "Preempted"}
    assert (counted["kept"], counted["others"]) == (len(events), 0)
    assert "Event" not in body["counts"]["kinds"]
    made = editor.post(f"/api/v1/imports/{body['id']}/commit/", {}, content_type="application/json").json()
    assert made["event_count"] == len(events)
    assert len(stored(Snapshot.objects.get(pk=made["id"]))) == counted["pods"]


def test_events_of_pods_that_are_left_out_go_too(editor: Client) -> None:
    items = [
        make_node("n1"),
        make_pod("a", "x", labels={"app": "web"}),
        make_pod("b", "x", labels={"app": "db"}),
        assigned("x/a", "n1"),
        assigned("x/b", "n1"),
        assigned("y/gone", "n1"),
        assigned("x/gone", "n1"),
    ]
    assert stored(commit(editor, event_list(*items))) == {"x/a", "x/b", "y/gone", "x/gone"}
    assert stored(commit(editor, event_list(*items), exclude_namespaces=["y"])) == {"x/a", "x/b", "x/gone"}
    # The labels of a pod that is not in the file are not known, so it may be one of those that have to go.
    assert stored(commit(editor, event_list(*items), label_selector="app=web")) == {"x/a"}


def test_events_are_added_to_a_snapshot_later(editor: Client) -> None:
    snapshot = commit(editor, event_list(make_node("n1"), make_pod("a", "x")))
    assert (snapshot.event_count, SnapshotEvents.objects.exists()) == (0, False)
    url = f"/api/v1/snapshots/{snapshot.pk}/events/"
    first = event_list(assigned("x/a", "n1"), make_event("x/a", "Pulled", "image", reportingComponent="kubelet"))
    added = editor.post(url, {"file": SimpleUploadedFile("events.json", first)})
    assert added.json() == {"kept": 1, "others": 1, "pods": 1, "reasons": {"Scheduled": 1}, "added": 1}
    again = event_list(assigned("x/a", "n1"), failed("x/b", "0/1 nodes are available: 1 Insufficient cpu."))
    added = editor.post(url, {"text": again.decode()}, content_type="application/json")
    assert (added.json()["kept"], added.json()["added"]) == (2, 1)
    snapshot.refresh_from_db()
    assert (snapshot.event_count, snapshot.counts["events"]["pods"]) == (2, 2)
    assert stored(snapshot) == {"x/a", "x/b"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "it ends in the middle"),
        (event_list(make_node("n1")), "The file holds no event of a scheduler about a pod."),
        (event_list(make_event("x/a", "Pulled", "i", reportingComponent="kubelet")), "the 1 event in it comes from"),
    ],
)
def test_files_without_scheduler_events_add_nothing(editor: Client, content: bytes, words: str) -> None:
    snapshot = commit(editor, event_list(make_node("n1")))
    refused = editor.post(f"/api/v1/snapshots/{snapshot.pk}/events/", {"file": SimpleUploadedFile("e.json", content)})
    assert refused.status_code == 422
    assert words in refused.json()["error"]["message"]
    assert not SnapshotEvents.objects.exists()


def test_only_editors_add_events(client: Client, editor: Client) -> None:
    snapshot = commit(editor, event_list(make_node("n1")))
    editor.force_login(accounts.account_create(username="opa", role=Role.OPERATOR, password=None))
    assert editor.post(f"/api/v1/snapshots/{snapshot.pk}/events/", {}).status_code == 403


def test_a_file_of_events_alone_is_no_cluster(editor: Client) -> None:
    body = upload(editor, event_list(assigned("x/a", "n1")))
    assert body["state"] == "failed"
    assert body["error"].startswith("The file holds only events.")

"""Lists and watches of the stand-in: what kube-apiserver 1.36 answers to the ways clients ask."""

from __future__ import annotations

import pytest
import requests

from tests.apiserver import ApiServer
from tests.apiserver.client import Client
from tests.apiserver.kinds import Json
from tests.apiserver.manifests import node, pod

PODS = "/api/v1/pods"
UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"


def names(events: list[Json]) -> list[tuple[str, str]]:
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


def test_a_list_has_items_without_kind_and_the_latest_version(api_server: ApiServer) -> None:
    api_server.add(pod("b"), pod("a", "x"), pod("a"))
    found = Client(api_server).get(PODS)
    assert found.status == 200
    assert found.body["kind"] == "PodList"
    assert found.body["metadata"] == {"resourceVersion": str(api_server.version)}
    assert [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in found.body["items"]] == [
        ("default", "a"),
        ("default", "b"),
        ("x", "a"),
    ]
    assert not any({"kind", "apiVersion"} & set(item) for item in found.body["items"])


def test_pages_show_the_state_of_the_first_one(api_server: ApiServer) -> None:
    api_server.add(*(pod(f"p{i}") for i in range(5)))
    client = Client(api_server)
    first = client.get(PODS, limit=2).body
    assert first["metadata"]["remainingItemCount"] == 3
    api_server.remove("pods", "p3")
    api_server.add(pod("p2a"))
    second = client.get(PODS, limit=2, **{"continue": first["metadata"]["continue"]}).body
    third = client.get(PODS, limit=2, **{"continue": second["metadata"]["continue"]}).body
    pages = [[item["metadata"]["name"] for item in page["items"]] for page in (first, second, third)]
    assert pages == [["p0", "p1"], ["p2", "p3"], ["p4"]]
    assert {page["metadata"]["resourceVersion"] for page in (first, second, third)} == {
        first["metadata"]["resourceVersion"]
    }
    assert "continue" not in third["metadata"]


def test_a_page_that_is_too_old_offers_to_go_on_inconsistently(api_server: ApiServer) -> None:
    api_server.add(*(pod(f"p{i}") for i in range(3)))
    client = Client(api_server)
    token = client.get(PODS, limit=1).body["metadata"]["continue"]
    api_server.add(pod("p9"))
    api_server.forget_history()
    gone = client.get(PODS, limit=1, **{"continue": token})
    assert (gone.status, gone.body["reason"]) == (410, "Expired")
    rest = client.get(PODS, **{"continue": gone.body["metadata"]["continue"]})
    assert [item["metadata"]["name"] for item in rest.body["items"]] == ["p1", "p2", "p9"]


def test_selectors(api_server: ApiServer) -> None:
    labels = {"labels": {"app": "web", "tier": "front"}}
    api_server.add(pod("a", on="n1", metadata=labels), pod("b"), pod("c", status={"phase": "Succeeded"}), node("n1"))
    client = Client(api_server)

    def selected(**query: str) -> list[str]:
        return [item["metadata"]["name"] for item in client.get(PODS, **query).body["items"]]

    assert selected(fieldSelector=UNFINISHED) == ["a", "b"]
    assert selected(fieldSelector="spec.nodeName=n1") == ["a"]
    assert selected(fieldSelector="metadata.name=b,metadata.namespace=default") == ["b"]
    assert selected(labelSelector="app in (web, db),tier") == ["a"]
    assert selected(labelSelector="app!=web") == ["b", "c"]
    assert selected(labelSelector="!app,tier notin (front)") == ["b", "c"]
    refused = client.get(PODS, fieldSelector="spec.hostname=x")
    assert (refused.status, refused.body["reason"]) == (400, "BadRequest")
    assert "field label not supported: spec.hostname" in refused.body["message"]


def test_versions_of_lists(api_server: ApiServer) -> None:
    api_server.add(pod("a"))
    before = api_server.version
    api_server.add(pod("b"))
    client = Client(api_server)
    exact = client.get(PODS, resourceVersion=before, resourceVersionMatch="Exact").body
    assert [item["metadata"]["name"] for item in exact["items"]] == ["a"]
    assert len(client.get(PODS, resourceVersion=before).body["items"]) == 2
    assert len(client.get(PODS, resourceVersion=0, limit=1).body["items"]) == 2
    assert client.get(PODS, resourceVersionMatch="Exact").status == 422
    assert client.get(PODS, resourceVersion="x").status == 400
    api_server.limits.fresh_within = 0.1
    future = client.get(PODS, resourceVersion=api_server.version + 100)
    assert (future.status, future.headers["Retry-After"]) == (504, "1")
    assert future.body["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


def test_a_streaming_list_goes_on_as_a_watch(api_server: ApiServer) -> None:
    api_server.add(pod("a"), pod("done", status={"phase": "Failed"}))
    with Client(api_server).streaming_list(PODS, fieldSelector=UNFINISHED) as events:
        first = events.until_bookmark()
        assert names(first) == [("ADDED", "a"), ("BOOKMARK", "")]
        assert first[0]["object"]["kind"] == "Pod"
        marked = first[1]["object"]["metadata"]
        assert marked == {
            "resourceVersion": str(api_server.version),
            "annotations": {"k8s.io/initial-events-end": "true"},
        }
        api_server.add(pod("b"))
        api_server.change("pods", "b", by=lambda found: found["spec"].update(nodeName="n1"))
        api_server.change("pods", "a", by=lambda found: found["status"].update(phase="Succeeded"))
        api_server.change("pods", "a", by=lambda found: found["metadata"].update(labels={"unseen": "yes"}))
        api_server.remove("pods", "b")
        later = events.take(4)
    assert names(later) == [("ADDED", "b"), ("MODIFIED", "b"), ("DELETED", "a"), ("DELETED", "b")]
    left = later[2]["object"]
    assert left["status"]["phase"] == "Pending", "what leaves the selector is shown as it was"
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in later]
    assert versions == sorted(versions)
    assert versions[-1] == api_server.version


def test_a_watch_goes_on_from_a_version(api_server: ApiServer) -> None:
    api_server.add(pod("a"))
    seen = api_server.version
    api_server.add(pod("b"), node("n1"), pod("c"))
    with Client(api_server).watch(PODS, resourceVersion=seen) as events:
        assert names(events.take(2)) == [("ADDED", "b"), ("ADDED", "c")]


def test_a_watch_without_a_version_begins_with_what_is_there(api_server: ApiServer) -> None:
    api_server.add(pod("a"))
    with Client(api_server).watch("/api/v1/namespaces/default/pods") as events:
        assert names(events.take(1)) == [("ADDED", "a")]


def test_too_old_is_an_event_of_a_watch_that_was_accepted(api_server: ApiServer) -> None:
    api_server.add(pod("a"))
    seen = api_server.version
    api_server.add(pod("b"))
    api_server.forget_history()
    with Client(api_server).watch(PODS, resourceVersion=seen) as events:
        assert events.status == 200
        assert list(events) == [
            {
                "type": "ERROR",
                "object": {
                    "kind": "Status",
                    "apiVersion": "v1",
                    "metadata": {},
                    "status": "Failure",
                    "message": f"too old resource version: {seen} ({api_server.version})",
                    "reason": "Expired",
                    "code": 410,
                },
            }
        ]


def test_history_is_bounded() -> None:
    with ApiServer(tls=False, history=20) as server:
        server.add(pod("a"))
        seen = server.version
        server.load(pod(f"p{i}") for i in range(200))
        with Client(server).watch(PODS, resourceVersion=seen) as events:
            assert [event["object"]["code"] for event in events] == [410]
        with Client(server).watch(PODS, resourceVersion=server.version - 20) as events:
            assert len(events.take(20)) == 20


def test_versions_that_went_back(api_server: ApiServer) -> None:
    api_server.limits.fresh_within = 0.1
    backup = api_server.backup()
    api_server.add(pod("a"))
    seen = api_server.version
    api_server.restore(backup)
    client = Client(api_server)
    assert client.get(PODS).body["items"] == []
    with client.streaming_list(PODS, resourceVersion=seen) as events:
        assert [event["object"]["reason"] for event in events] == ["Timeout"]
    with client.watch(PODS, resourceVersion=seen, timeoutSeconds=1) as events:
        assert list(events) == []


def test_bookmarks_and_the_end_of_a_watch(api_server: ApiServer) -> None:
    with Client(api_server).watch(PODS, resourceVersion=api_server.version, allowWatchBookmarks="true") as events:
        api_server.requests.wait_for(verb="watch")
        api_server.add(node("n1"))
        api_server.send_bookmarks()
        assert events.take(1)[0]["object"]["metadata"]["resourceVersion"] == str(api_server.version)
        api_server.add(pod("a"))
        assert names(events.take(1)) == [("ADDED", "a")], "one bookmark was asked for"
        api_server.end_watches()
        assert list(events) == []


def test_a_server_without_streaming_lists(api_server: ApiServer) -> None:
    api_server.limits.streaming_lists = False
    with Client(api_server).streaming_list(PODS) as events:
        assert events.status == 422
        assert events.response.json()["details"]["causes"][0]["field"] == "sendInitialEvents"


def test_events_are_one_store_in_two_forms(api_server: ApiServer) -> None:
    event = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "p1.1", "namespace": "default"},
        "eventTime": "2026-11-23T03:26:11.321613Z",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-host",
        "action": "Binding",
        "reason": "Scheduled",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p1"},
        "note": "Successfully assigned default/p1 to n1",
        "type": "Normal",
    }
    client = Client(api_server)
    assert client.send("POST", "/apis/events.k8s.io/v1/namespaces/default/events", event).status == 201
    [core] = client.get("/api/v1/events", fieldSelector="involvedObject.name=p1,reason=Scheduled").body["items"]
    assert (core["message"], core["reportingComponent"]) == (event["note"], "default-scheduler")
    [new] = client.get("/apis/events.k8s.io/v1/events", fieldSelector="regarding.name=p1").body["items"]
    assert (new["note"], new["regarding"]) == (event["note"], event["regarding"])
    legacy = {"metadata": {"name": "old"}, "involvedObject": {"name": "p2"}, "message": "m", "reason": "r"}
    assert client.send("POST", "/api/v1/namespaces/default/events", legacy).status == 201
    [shown] = client.get("/apis/events.k8s.io/v1/events", fieldSelector="regarding.name=p2").body["items"]
    assert "reportingInstance" not in shown
    with client.watch("/apis/events.k8s.io/v1/events") as events:
        assert events.take(1)[0]["object"]["apiVersion"] == "events.k8s.io/v1"


def test_large_answers_are_compressed_where_that_is_wanted(api_server: ApiServer) -> None:
    api_server.load(pod(f"p{i}", metadata={"annotations": {"filler": "x" * 2000}}) for i in range(100))
    client = Client(api_server)
    assert client.get(PODS).headers["Content-Encoding"] == "gzip"
    client.session.headers["Accept-Encoding"] = "identity"
    assert "Content-Encoding" not in client.get(PODS).headers


def test_half_an_object(api_server: ApiServer) -> None:
    api_server.add(pod("a"))
    with Client(api_server).watch(PODS, resourceVersion=api_server.version) as events:
        api_server.requests.wait_for(verb="watch")
        api_server.cut_watches(within_object=True)
        with pytest.raises(requests.exceptions.RequestException):
            list(events)
        assert events.rest.startswith(b'{"type":"MODIFIED","object":{"kind":"Pod"')

"""A kind is kept up to date whatever happens on the way: what it holds is what the API server has."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from schedweb.clusters.reading import reflector as module
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.following import Following
from schedweb.clusters.reading.kinds import WATCHED, Resource
from schedweb.clusters.reading.reducing import Key, Reduced
from schedweb.clusters.reading.reflector import Change, Reflector, State
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import pod
from tests.schedweb.clusters.conftest import CONTEXT, SECRET, until
from tests.schedweb.clusters.test_schedule_over_time import claimed

PODS = next(each for each in WATCHED if each.plural == "pods")


class Told:
    """What listeners hear."""

    def __init__(self) -> None:
        self.changes: list[tuple[Change, str]] = []

    def __call__(self, resource: Resource, change: Change, key: Key, reduced: Reduced | None) -> None:
        assert (reduced is None) == (change == "DELETED")
        self.changes.append((change, key[1]))


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def reflector(cluster: ApiServer, told: Told, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reflector]:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.05)
    made = Reflector(Access(CONTEXT), PODS, streams=True, listener=told)
    yield made
    made.stop()
    cluster.end_watches()


def same(cluster: ApiServer, reflector: Reflector) -> Callable[[], bool]:
    """Whether it holds what the server has, in the same versions."""

    def is_same() -> bool:
        there = {
            (each["metadata"]["namespace"], each["metadata"]["name"]): each["metadata"]["resourceVersion"]
            for each in cluster.all("pods")
            if each["status"]["phase"] not in ("Succeeded", "Failed")
        }
        return {key: each.version for key, each in reflector.objects.items()} == there

    return is_same


def running(cluster: ApiServer, reflector: Reflector) -> None:
    reflector.start()
    until(lambda: reflector.state.state == "live")
    assert same(cluster, reflector)()


def test_a_streaming_list_goes_on_as_the_watch(cluster: ApiServer, reflector: Reflector, told: Told) -> None:
    running(cluster, reflector)
    assert (reflector.state.objects, reflector.pending, len(told.changes)) == (25, 3, 25)
    cluster.add(pod("new", "shop"))
    cluster.change("pods", "new", "shop", by=lambda each: each["spec"].update(nodeName="n1"))
    cluster.remove("pods", "web-1", "shop")
    until(lambda: told.changes[25:] == [("ADDED", "new"), ("MODIFIED", "new"), ("DELETED", "web-1")])
    assert (reflector.pending, reflector.state.changes) == (3, 3)
    assert [each.query.get("sendInitialEvents") for each in cluster.requests.select(resource="pods")] == ["true"]
    assert reflector.state.lag is not None


def test_what_is_over_leaves(cluster: ApiServer, reflector: Reflector) -> None:
    running(cluster, reflector)
    cluster.change("pods", "web-1", "shop", by=lambda each: each["status"].update(phase="Succeeded"))
    until(lambda: ("shop", "web-1") not in reflector.objects)


def test_nothing_that_an_import_would_not_keep_is_held(cluster: ApiServer, reflector: Reflector) -> None:
    running(cluster, reflector)
    held = b"".join(bytes(each.text.metadata) for each in reflector.objects.values())  # type: ignore[union-attr]
    assert SECRET.encode() not in held + b"".join(reflector.reducer.packer.specs)


def test_a_change_that_says_no_new_time_is_no_lag(cluster: ApiServer, reflector: Reflector) -> None:
    """As a binding: the object has the times of older writes."""
    cluster.add(pod("old", "shop", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"}))
    running(cluster, reflector)
    cluster.change("pods", "old", "shop", by=lambda it: it["spec"].update(nodeName="n1"))
    until(same(cluster, reflector))
    assert reflector.state.lag is None
    cluster.add(pod("new", "shop"))
    until(lambda: reflector.state.lag is not None)


def test_without_streaming_lists_it_is_listed_in_pages(
    cluster: ApiServer, reflector: Reflector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedweb.clusters.reading.listing.PAGE", 10)
    cluster.limits.streaming_lists = False
    running(cluster, reflector)
    assert len(cluster.requests.select(verb="list", resource="pods")) == 3
    cluster.add(pod("new", "shop"))
    until(same(cluster, reflector))


def test_so_it_is_where_the_storage_is_too_old_for_streaming_lists(cluster: ApiServer, reflector: Reflector) -> None:
    """A real server says so in the stream."""
    cluster.limits.storage_progress = False
    running(cluster, reflector)
    assert not reflector.state.streams
    cluster.add(pod("new", "shop"))
    until(same(cluster, reflector))


def test_who_may_only_list_is_told_so(cluster: ApiServer, reflector: Reflector) -> None:
    cluster.revoke("reader")
    cluster.grant("reader", [{**rule, "verbs": ["get", "list"]} for rule in READER])
    reflector.start()
    until(lambda: reflector.state.state == "refused")
    assert "cannot watch" in str(reflector.state.problem)


def test_a_version_that_is_too_old_is_listed_again_and_differences_are_changes(
    cluster: ApiServer, reflector: Reflector, told: Told
) -> None:
    running(cluster, reflector)
    with cluster.stopped():
        cluster.remove("pods", "web-1", "shop")
        cluster.add(pod("new", "shop"))
        cluster.change("pods", "web-2", "shop", by=lambda each: each["spec"].update(priority=7))
        cluster.forget_history()
    until(same(cluster, reflector))
    until(lambda: reflector.state.state == "live")
    assert sorted(told.changes[25:]) == [("ADDED", "new"), ("DELETED", "web-1"), ("MODIFIED", "web-2")]


def test_a_connection_that_breaks_within_an_object_goes_on_where_it_was(
    cluster: ApiServer, reflector: Reflector
) -> None:
    running(cluster, reflector)
    cluster.cut_watches(within_object=True)
    cluster.add(pod("new", "shop"))
    until(same(cluster, reflector))
    assert reflector.state.lists == 1


def test_a_server_that_is_away_is_told_since_when_and_found_again(cluster: ApiServer, reflector: Reflector) -> None:
    running(cluster, reflector)
    with cluster.stopped():
        until(lambda: reflector.state.state == "stale" and reflector.state.tries > 2)
        assert "cannot be reached" in str(reflector.state.problem)
        assert len(reflector.objects) == 25, "what is known stays"
    until(lambda: reflector.state.state == "live" and not reflector.state.problem)


def test_a_restart_that_refuses_good_credentials_for_a_moment_is_no_refusal(
    cluster: ApiServer, reflector: Reflector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.8)
    seen: set[str] = set()
    enter = reflector._enter

    def noted(state: State) -> None:
        seen.add(state)
        enter(state)

    monkeypatch.setattr(reflector, "_enter", noted)
    running(cluster, reflector)
    cluster.restart(forbidden_for=1.0)
    cluster.add(pod("new", "shop"))
    until(same(cluster, reflector))
    assert "refused" not in seen


def test_a_right_that_is_taken_away_is_refused_and_noticed_when_it_comes_back(
    cluster: ApiServer, reflector: Reflector
) -> None:
    running(cluster, reflector)
    cluster.revoke("reader")
    cluster.cut_watches()
    until(lambda: reflector.state.state == "refused")
    assert 'User "reader" cannot' in str(reflector.state.problem)
    assert len(reflector.objects) == 25
    cluster.grant("reader", READER)
    reflector.try_now()
    until(lambda: reflector.state.state == "live")
    assert same(cluster, reflector)()


def test_a_backup_of_etcd_that_was_put_back_is_followed(cluster: ApiServer, reflector: Reflector) -> None:
    backup = cluster.backup()
    for number in range(20):
        cluster.add(pod(f"later-{number}", "shop"))
    running(cluster, reflector)
    cluster.restore(backup)
    until(same(cluster, reflector))


class Lists:
    """All kinds of a cluster, and the lists that are told after ``clear``, by kind."""

    def __init__(self, cluster: ApiServer) -> None:
        self.cluster = cluster
        self.told: list[str] = []
        self.following = Following(CONTEXT, lambda *_: None, self._list)

    def _list(self, resource: Resource, asked_at: int | None) -> None:
        if asked_at is None:
            self.told.append(resource.plural)

    def start(self) -> None:
        self.following.start()
        until(lambda: self.following.reflectors and self.are_live())

    def are_live(self) -> bool:
        return all(each.state.state in ("live", "absent") for each in self.following.reflectors)

    def kind(self, plural: str) -> Reflector:
        until(lambda: self.following.reflectors)
        return next(each for each in self.following.reflectors if each.resource.plural == plural)

    def asked(self, plural: str) -> int:
        return len(self.cluster.requests.select(resource=plural))


@pytest.fixture
def lists(cluster: ApiServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lists]:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.05)
    cluster.add(*claimed("kubernetes.io/no-provisioner"))
    made = Lists(cluster)
    yield made
    made.following.stop()
    cluster.end_watches()


def change_claim(cluster: ApiServer) -> None:
    cluster.change("persistentvolumeclaims", "c1", "default", by=lambda it: it["spec"].update(volumeName="v"))


def test_pods_of_an_earlier_state_are_told_after_all_else_of_it(cluster: ApiServer, lists: Lists) -> None:
    backup = cluster.backup()
    cluster.add(pod("later", "shop"))
    change_claim(cluster)
    lists.start()
    lists.told.clear()
    asked = lists.asked("pods")
    with cluster.faults.hold(resource="persistentvolumeclaims") as claims:
        cluster.restore(backup)
        claims.wait_hit()
        until(lambda: lists.asked("pods") >= asked + 2)  # its version, and its list
        until(lambda: "nodes" in lists.told)
        assert "pods" not in lists.told
    until(lambda: "pods" in lists.told)
    assert lists.told.index("persistentvolumeclaims") < lists.told.index("pods")


def test_a_kind_that_cannot_be_listed_keeps_pods_for_some_time_only(
    cluster: ApiServer, lists: Lists, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TOGETHER_SECONDS", 0.5)
    backup = cluster.backup()
    cluster.add(pod("later", "shop"))
    change_claim(cluster)
    lists.start()
    lists.told.clear()
    with cluster.faults.hold(resource="persistentvolumeclaims"):
        cluster.restore(backup)
        until(lambda: "pods" in lists.told)
        assert "persistentvolumeclaims" not in lists.told
    until(lambda: "persistentvolumeclaims" in lists.told)


def test_what_was_written_since_has_the_versions_of_what_was_lost(cluster: ApiServer, lists: Lists) -> None:
    """The claims' watch goes on at a version that is there again, with another content."""
    backup = cluster.backup()
    change_claim(cluster)
    lists.start()
    for number in range(10):
        cluster.add(pod(f"later-{number}", "shop"))
    until(lambda: len(lists.kind("pods").objects) == 35)
    with cluster.faults.hold(resource="persistentvolumeclaims") as claims:
        cluster.restore(backup)
        claims.wait_hit()
        until(lambda: lists.kind("pods").state.state != "live")
        for number in range(5):
            cluster.add(pod(f"other-{number}", "shop"))
    there = cluster.get("PersistentVolumeClaim", "c1", "default")["metadata"]["resourceVersion"]
    until(lambda: [each.version for each in lists.kind("persistentvolumeclaims").objects.values()] == [there])


def test_a_server_that_asks_for_patience_gets_it(
    cluster: ApiServer, reflector: Reflector, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float | None] = []

    class Waits(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout)
            return True

    monkeypatch.setattr(reflector, "_again", Waits())
    with cluster.faults.answer(429, retry_after=7, resource="pods", times=1):
        running(cluster, reflector)
    assert pauses == [7.0]


def test_a_connection_that_is_dead_on_the_other_side_is_opened_again(
    cluster: ApiServer, reflector: Reflector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENT_SECONDS", 0.5)
    running(cluster, reflector)
    cluster.pause()
    until(lambda: reflector.state.state == "stale")
    cluster.resume()
    cluster.add(pod("new", "shop"))
    until(same(cluster, reflector))


def test_a_kind_that_the_server_does_not_have_is_absent(cluster: ApiServer) -> None:
    unknown = Reflector(Access(CONTEXT), Resource("apps/v1", "nothings", "Nothing"), streams=True)
    cluster.grant("reader", [{"verbs": ["*"], "apiGroups": ["apps"], "resources": ["nothings"]}])
    unknown.start()
    until(lambda: unknown.state.state == "absent")
    unknown.stop()


def test_a_silent_watch_moves_on_with_bookmarks(cluster: ApiServer, reflector: Reflector) -> None:
    running(cluster, reflector)
    cluster.add(pod("elsewhere", "shop", status={"phase": "Succeeded"}))
    before: Any = reflector.state.heard_at
    cluster.send_bookmarks()
    until(lambda: reflector.state.heard_at != before)
    until(lambda: reflector._version == str(cluster.version))
    assert reflector.state.changes == 0

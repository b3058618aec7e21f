"""Two schedulers that share nodes overfill them: the kubelet rejects a pod, and the page of the run says so."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import msgspec
import pytest
from django.test import Client

from schedweb.clusters.reading import following as module
from schedweb.clusters.reading.following import ClusterState, Following
from schedweb.clusters.reading.rejected import Rejected
from schedweb.runs.models import Followed
from tests.apiserver import ApiServer
from tests.apiserver.manifests import pod
from tests.schedweb.clusters.conftest import CONTEXT, until
from tests.schedweb.clusters.scheduled import begun, state

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]


@pytest.fixture
def following(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Following]:
    monkeypatch.setattr(module, "REJECTED_SECONDS", 0.1)
    made = Following(CONTEXT, lambda *_: None, lambda *_: None)
    made.start()
    yield made
    made.stop()
    server.end_watches()


def test_a_pod_for_which_there_was_no_room_is_seen(server: ApiServer, following: Following) -> None:
    server.add(pod("first", on="n1", cpu="3"), pod("failed", status={"phase": "Failed", "reason": "Evicted"}))
    server.settle()
    server.add(pod("second", on="n1", cpu="3", scheduler="theirs", status={"phase": "Pending"}))
    until(lambda: following.state().rejected)
    (seen,) = following.state().rejected
    assert (seen.namespace, seen.name, seen.node, seen.reason) == ("default", "second", "n1", "OutOfcpu")
    assert (seen.scheduler, "requested: 3000" in seen.message) == ("theirs", True)
    assert datetime.datetime.fromisoformat(seen.at).tzinfo is not None
    server.remove("Pod", "second", "default")
    until(lambda: not following.state().rejected)


def test_who_may_not_list_them_follows_all_the_same(server: ApiServer, following: Following) -> None:
    with server.faults.forbid(resource="pods", verb="list"):
        until(lambda: following.state().pods == 0 and following.state().nodes == 2)
        server.add(pod("late", on="n1"))
        until(lambda: following.state().pods == 1)
    assert following.state().rejected == []


def test_the_run_tells_of_those_since_it_began(server: ApiServer, operator: Client, version: str) -> None:
    run = begun(operator, version)

    def rejected(name: str, scheduler: str, ago: float) -> Rejected:
        at = f"{run.created_at - datetime.timedelta(hours=ago):%Y-%m-%dT%H:%M:%SZ}"
        return Rejected("default", name, "n1", "OutOfcpu", "no room", at, scheduler)

    told = [rejected("ours", "ours", -1), rejected("theirs", "default-scheduler", -1), rejected("old", "x", 1)]
    stored = msgspec.json.encode(ClusterState(at=run.created_at.timestamp(), rejected=told)).decode()
    Followed.objects.filter(run=run).update(state=stored)
    assert [(each["name"], each["is_ours"]) for each in state(operator, run)["rejected"]] == [
        ("ours", True),
        ("theirs", False),
    ]

"""Evictions that are proposed are told of once, with who would be evicted for whom, and not when they are decided."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from schedweb.notices.models import Notice
from schedweb.notices.sending import notify
from schedweb.runs.models import EvictionProposal
from tests.schedweb.engine.test_evictions import EVICTIONS, crowded
from tests.schedweb.notices.conftest import SECRET, Received
from tests.schedweb.runs.conftest import Game, played_out

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def proposed(operator: User) -> Game:
    """For shop/vip pods of node a would be evicted."""
    made = played_out(operator, crowded(), configuration=EVICTIONS)
    assert EvictionProposal.objects.filter(run=made.run, is_open=True).count() == 1
    return made


def test_a_proposed_eviction_is_told_once_with_its_victims(
    proposed: Game, receiver: Received, telling: Callable[..., None]
) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    notify()
    notify()
    (body,) = receiver.bodies()
    link = f"https://playground.example.com/waiting?run={proposed.id}"
    assert (body["type"], body["data"]["link"], body["data"]["more"]) == ("evictions.proposed", link, 0)
    (eviction,) = body["data"]["evictions"]
    row = EvictionProposal.objects.get(run=proposed.run)
    victims = [f"{each['namespace']}/{each['name']}" for each in row.body["victims"]]
    assert victims, "somebody is evicted"
    assert eviction == {
        "number": row.number,
        "namespace": "shop",
        "name": "vip",
        "uid": row.pod_uid,
        "node": row.node,
        "link": link,
        "victims": victims,
        "victim_count": len(victims),
        "violations": row.body["violations"],
    }
    assert list(Notice.objects.values_list("state", "proposal")) == [("sent", row.number)]


def test_an_eviction_that_is_decided_meanwhile_is_not_told(
    proposed: Game, receiver: Received, telling: Callable[..., None]
) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    receiver.statuses = [500]
    notify()
    row = EvictionProposal.objects.get(run=proposed.run)
    proposed.command(
        "decide_eviction",
        decision="reject",
        reason="not now",
        evictions=[{"number": row.number, "namespace": row.namespace, "name": row.name}],
    )
    proposed.play()
    Notice.objects.update(at=row.run.created_at)
    notify()
    assert len(receiver.requests) == 1
    assert list(Notice.objects.values_list("state", flat=True)) == ["over"]


def test_pods_and_evictions_of_a_run_are_messages_of_their_own(
    waiting: Game, receiver: Received, telling: Callable[..., None]
) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    pod = waiting.run.pod_records.get(name="asks-1")
    victim = {"namespace": "shop", "name": "web"}
    EvictionProposal.objects.create(
        run=waiting.run,
        number=pod.attempts,
        pod_uid=pod.uid,
        namespace="shop",
        name="asks-1",
        node="a",
        since=0,
        is_open=True,
        body={"victims": [victim] * 7, "violations": 2},
    )
    notify()
    notify()
    assert sorted(each["type"] for each in receiver.bodies()) == ["evictions.proposed", "pods.waiting"]
    (eviction,) = next(each["data"]["evictions"] for each in receiver.bodies() if "evictions" in each["data"])
    assert (len(eviction["victims"]), eviction["victim_count"]) == (5, 7)

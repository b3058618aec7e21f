"""People are told once when a shadow agrees too little, and again only when it had recovered meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from schedweb.notices.models import Notice
from schedweb.notices.sending import notify
from schedweb.runs.models import Followed, Run
from schedweb.runs.storing import judgements
from schedweb.runs.storing.upserts import identifier
from tests.apiserver import ApiServer
from tests.schedweb.clusters.conftest import cluster, olga
from tests.schedweb.clusters.conftest import operator as olgas_desk
from tests.schedweb.clusters.followed import followed
from tests.schedweb.clusters.test_shadow import row_of
from tests.schedweb.notices.conftest import SECRET, Received, is_signed, mail_server

__all__ = ["cluster", "olga", "olgas_desk"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shadow(cluster: ApiServer, olgas_desk: Client) -> Run:
    """Its threshold is 90 %."""
    return followed(olgas_desk, shadow=True)


def decided(run: Run, first: int, *kinds: str) -> None:
    """Seconds apart, so all are of one hour."""
    row = Followed.objects.get(run=run)
    rows = [row_of(first + number, kind) for number, kind in enumerate(kinds)]
    judgements.store_judgements(identifier(Run, run.pk), rows)
    row.refresh_from_db()
    assert row.judgements_stored == first + len(kinds), "what is looked at first is what is counted"


def states() -> list[str]:
    return list(Notice.objects.order_by("pk").values_list("state", flat=True))


def test_the_webhook_is_told_once_and_again_after_it_recovered(
    shadow: Run, olgas_desk: Client, receiver: Received, telling: Callable[..., None]
) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    decided(shadow, 0, *["same"] * 9)
    notify()
    assert receiver.requests == []
    decided(shadow, 9, "other_node", "other_node")
    notify()
    notify()
    [(headers, body)] = receiver.requests
    assert is_signed(headers, body)
    [said] = receiver.bodies()
    row = Followed.objects.get(run=shadow)
    assert row.below_since is not None
    assert said["type"] == "shadow.below"
    data = said["data"]
    assert data.pop("since")[:19] == row.below_since.isoformat()[:19]
    assert data == {
        "run": str(shadow.pk),
        "run_number": str(shadow),
        "link": f"https://playground.example.com/runs/{shadow.pk}/shadow",
        "context": "prod",
        "configuration": "kube-scheduler",
        "agreed": 9,
        "decisions": 11,
        "percent": 81.8,
        "alert_below": 90,
    }

    # Lower still is nothing new; neither is another threshold that it is below, too.
    decided(shadow, 11, "stays_pending")
    url = f"/api/v1/runs/{shadow.pk}/shadow/"
    assert olgas_desk.put(url, {"alert_below": 95}, content_type="application/json").json()["is_below"]
    notify()
    assert len(receiver.requests) == 1

    decided(shadow, 12, *["tie"] * 60)
    notify()
    assert Followed.objects.get(run=shadow).below_since is None
    decided(shadow, 72, "preempts")
    notify()
    assert len(receiver.requests) == 2
    assert (receiver.bodies()[-1]["data"]["agreed"], receiver.bodies()[-1]["data"]["decisions"]) == (69, 73)
    assert states() == ["sent", "sent"]


def test_without_a_threshold_nobody_is_told_until_there_is_one(
    shadow: Run, olgas_desk: Client, receiver: Received, telling: Callable[..., None]
) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    url = f"/api/v1/runs/{shadow.pk}/shadow/"
    decided(shadow, 0, "same", "other_node")
    olgas_desk.put(url, {"alert_below": None}, content_type="application/json")
    notify()
    assert receiver.requests == []
    olgas_desk.put(url, {"alert_below": 75}, content_type="application/json")
    notify()
    assert len(receiver.requests) == 1
    for below in (None, 80):
        olgas_desk.put(url, {"alert_below": below}, content_type="application/json")
    notify()
    assert [each["data"]["alert_below"] for each in receiver.bodies()] == [75, 80], "it was asked for anew"


def test_what_recovered_before_it_could_be_told_is_not_told(
    shadow: Run, receiver: Received, telling: Callable[..., None]
) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    receiver.statuses = [503]
    decided(shadow, 0, "other_node")
    notify()
    assert states() == ["pending"]
    decided(shadow, 1, *["same"] * 50)
    Notice.objects.update(at="2026-01-01T00:00:00Z")
    notify()
    assert (len(receiver.requests), states()) == (1, ["over"])


def test_a_shadow_that_ended_or_agrees_is_nobodys_concern(
    shadow: Run, receiver: Received, telling: Callable[..., None]
) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    decided(shadow, 0, *["same"] * 9, "other_node")
    notify()
    decided(shadow, 10, "other_node")
    Run.objects.filter(pk=shadow.pk).update(state=Run.State.STOPPED)
    notify()
    assert receiver.requests == []


def test_mail_says_it_in_words(shadow: Run, telling: Callable[..., None]) -> None:
    decided(shadow, 0, "same", "other_node")
    with mail_server() as (port, delivered):
        telling(notice_urls=(f"mailto://127.0.0.1:{port}?from=us@example.com&to=team@example.com&format=text",))
        notify()
    [mail] = delivered
    assert "kube-scheduler agrees with prod in 50.0 %, below 90 %" in mail.replace("=\n", "")
    assert f"https://playground.example.com/runs/{shadow.pk}/shadow" in mail.replace("=\r\n", "").replace("=\n", "")

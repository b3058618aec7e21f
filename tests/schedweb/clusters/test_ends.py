"""A shadow for a day: it ends by itself at its time, whoever plays it then, and can go on longer."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from schedweb.accounts.models import AuditEntry
from schedweb.runs.following.ends import end_due
from schedweb.runs.models import Followed, JournalEntry, Run
from tests.apiserver import ApiServer
from tests.schedweb.clusters.conftest import Worker, until
from tests.schedweb.clusters.followed import URL, followed, live, replay_is_the_same, state

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
DAY = 24 * 60


def is_over(run: Run) -> bool:
    return Run.objects.get(pk=run.pk).state == Run.State.STOPPED


def stops(run: Run) -> list[str]:
    return list(JournalEntry.objects.filter(run=run, type="stop").values_list("status", flat=True))


def time_passes(run: Run) -> None:
    """As if its end were a moment ago."""
    Followed.objects.filter(run=run).update(ends_at=timezone.now() - datetime.timedelta(seconds=1))


def test_it_ends_at_its_time_and_says_so(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    began = timezone.now().replace(microsecond=0)
    run = followed(operator, shadow=True, minutes=DAY)
    ends_at = parse_datetime(state(operator, run)["until"])
    assert ends_at is not None
    day = datetime.timedelta(days=1)
    assert began + day <= ends_at <= timezone.now() + day
    worker = workers(run)
    live(operator, run)
    assert end_due() == []
    assert stops(run) == []
    time_passes(run)
    assert end_due() == [run]
    assert end_due() == [], "another worker looks as well"
    until(lambda: is_over(run))
    worker.join()
    assert stops(run) == ["applied"]
    said = state(operator, run)
    assert said["state"] == "ended"
    assert said["problem"].startswith("It was to go on until ")
    replay_is_the_same(run)


def test_who_takes_over_after_the_time_ends_it(
    cluster: ApiServer, operator: Client, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator, shadow=True, way="on_its_own", minutes=1)
    first = workers(run)
    live(operator, run)
    first.lose_the_lease()
    time_passes(run)
    assert end_due() == [run], "nobody plays it at the moment"
    assert not is_over(run)
    workers(run).join()
    assert is_over(run)
    assert stops(run) == ["applied"]


def test_a_person_lets_it_go_on_longer(
    cluster: ApiServer, operator: Client, olga: User, workers: Callable[[Run], Worker]
) -> None:
    run = followed(operator, shadow=True, minutes=DAY)
    url = f"/api/v1/runs/{run.pk}/follow/"

    def change(**wanted: Any) -> tuple[int, Any]:
        answer = operator.put(url, wanted, content_type="application/json")
        return answer.status_code, answer.json()

    time_passes(run)
    later = "2099-01-01T00:00:00Z"
    status, said = change(until=later)
    assert (status, said["until"]) == (200, later)
    assert end_due() == []
    noted = AuditEntry.objects.get(action="run.until")
    assert (noted.username, noted.details["until"]) == ("olga", "2099-01-01T00:00:00+00:00")
    assert change(until=None)[1]["until"] is None
    status, said = change(until=later, megabytes=90)
    assert (status, said["until"], said["most_bytes"]) == (200, later, 90_000_000)
    status, said = change(until="2020-01-01T00:00:00Z")
    assert (status, said["error"]["code"], said["error"]["path"]) == (400, "passed", "until")
    for wrong in ({}, {"until": "soon"}):
        assert change(**wrong)[0] == 400
    assert Followed.objects.get(run=run).ends_at == parse_datetime(later)

    # Told to stop, it is over, also while nobody plays it yet.
    time_passes(run)
    assert end_due() == [run]
    status, said = change(until=later)
    assert (status, said["error"]["code"]) == (409, "stopped")
    workers(run).join()
    assert is_over(run)
    assert change(until=later)[0] == 409


def test_without_a_time_it_goes_on_and_one_that_cannot_be_is_refused(cluster: ApiServer, operator: Client) -> None:
    run = followed(operator, shadow=True)
    assert state(operator, run)["until"] is None
    assert end_due() == []
    for wrong in (0, -5, 366 * DAY + 1, "a day"):
        answer = operator.post(URL, {"shadow": True, "minutes": wrong}, content_type="application/json")
        assert (answer.status_code, answer.json()["error"]["path"]) == (400, "minutes")

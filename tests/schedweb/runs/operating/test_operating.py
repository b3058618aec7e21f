"""What operators read of a run: /metrics for Prometheus, Events as kubectl prints them, the debugger's dump."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from schedweb.runs.models import RunMetrics
from tests.schedweb.engine.crowded import VICTIMS
from tests.schedweb.runs.conftest import Game, played_out
from tests.schedweb.runs.test_api import check_shape, get

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def preempted(operator: User) -> Game:
    """Played to its end: vip takes the place of cheap on b."""
    return played_out(operator, VICTIMS)


def scraped(client: Client, address: str) -> dict[str, float]:
    answer = client.get(address, headers={"accept": "text/plain;version=0.0.4"})
    assert answer.status_code == 200, answer.content
    assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        sample.name + str(sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def of(samples: dict[str, float], name: str, **labels: str) -> float | None:
    return samples.get(name + str(sorted(labels.items())))


def test_a_run_is_scraped_under_kube_scheduler_s_names(preempted: Game, client: Client) -> None:
    samples = scraped(client, f"/api/v1/runs/{preempted.id}/metrics/")
    attempts = {"profile": "default-scheduler"}
    assert of(samples, "scheduler_schedule_attempts_total", result="scheduled", **attempts) == 1
    assert of(samples, "scheduler_schedule_attempts_total", result="unschedulable", **attempts) == 1
    assert of(samples, "scheduler_preemption_victims_sum") == 1
    assert of(samples, "scheduler_pending_pods", queue="active") == 0
    assert of(samples, "scheduler_event_handling_duration_seconds_count", event="AssignedPodDelete") == 1
    assert RunMetrics.objects.get(run=preempted.id).position == preempted.run.position


def test_requests_of_its_pods_are_scraped_too(preempted: Game, client: Client) -> None:
    samples = scraped(client, f"/api/v1/runs/{preempted.id}/metrics/resources/")
    pods = {name for name in samples if "('pod', 'vip')" in name and "cpu" in name}
    assert len(pods) == 1
    assert "('node', 'b')" in pods.pop()
    assert not any("('pod', 'cheap')" in name for name in samples), "it was evicted"


def test_what_nobody_counted_is_said_in_a_sentence(preempted: Game, client: Client) -> None:
    RunMetrics.objects.all().delete()
    answer = client.get(f"/api/v1/runs/{preempted.id}/metrics/", headers={"accept": "text/plain"})
    assert answer.status_code == 404
    assert "older version" in answer.content.decode()


def test_events_are_what_kubectl_would_print(preempted: Game, client: Client) -> None:
    body = get(client, f"/api/v1/runs/{preempted.id}/events/")
    check_shape("/api/v1/runs/{run}/events/", body)
    told = [(each["reason"], each["name"], each["type"]) for each in reversed(body["results"])]
    assert sorted(told[:2]) == [("FailedScheduling", "vip", "Warning"), ("Preempted", "cheap", "Normal")]
    assert told[2:] == [("Scheduled", "vip", "Normal")]
    assert body["left_out"] == 0
    only = get(client, f"/api/v1/runs/{preempted.id}/events/?reason=Scheduled&q=VIP")
    assert [each["message"] for each in only["results"]] == ["Successfully assigned shop/vip to b"]


def test_events_are_downloaded_as_a_table_or_a_list(preempted: Game, client: Client) -> None:
    table = client.get(f"/api/v1/runs/{preempted.id}/events/file/?as=table")
    lines = table.content.decode().splitlines()
    assert lines[0].split() == ["NAMESPACE", "LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert len(lines) == 4
    listed = client.get(f"/api/v1/runs/{preempted.id}/events/file/?as=json").json()
    assert {each["reason"] for each in listed["items"]} == {"FailedScheduling", "Preempted", "Scheduled"}
    assert client.get(f"/api/v1/runs/{preempted.id}/events/file/?as=csv").status_code == 400

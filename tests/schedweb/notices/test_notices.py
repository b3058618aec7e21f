"""People are told of each waiting pod once, with where to decide and how long there is; and nothing secret is told."""

from __future__ import annotations

import datetime
import io
import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from prometheus_client import REGISTRY

from schedweb.environment import read_environment
from schedweb.notices import sending
from schedweb.notices.messages import Message, duration
from schedweb.notices.models import Notice
from schedweb.notices.sending import LOST_AFTER, TRIES, notify
from schedweb.notices.targets import targets
from tests.schedweb.notices.conftest import PATH, SECRET, Received, is_signed, mail_server
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)
Telling = Callable[..., None]


def states() -> list[str]:
    return list(Notice.objects.order_by("pod_uid").values_list("state", flat=True))


def due_now() -> None:
    """As if the pause were over."""
    Notice.objects.filter(state=Notice.State.PENDING).update(at=timezone.now())


def counted(outcome: str) -> float:
    return REGISTRY.get_sample_value("playground_notices_total", {"kind": "webhook", "outcome": outcome}) or 0.0


def test_the_webhook_is_told_once_signed_with_link_and_time_left(
    waiting: Game, receiver: Received, telling: Telling
) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    before = counted("sent")
    notify()
    notify()
    [(headers, body)] = receiver.requests
    assert is_signed(headers, body)
    assert not is_signed(headers, body.replace(b"asks-1", b"asks-9"))
    assert not is_signed({**headers, "webhook-timestamp": "1"}, body)
    assert not is_signed(headers, body, b"another key")
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 3600
    said = json.loads(body)
    assert said["type"] == "pods.waiting"
    assert said["data"]["run_number"] == str(waiting.run)
    assert sorted(each["link"] for each in said["data"]["pods"]) == [
        f"https://playground.example.com/runs/{waiting.id}/pods/shop/asks-{number}" for number in (1, 2)
    ]
    for pod in said["data"]["pods"]:
        record = waiting.run.pod_records.get(name=pod["name"])
        assert (pod["node"], pod["deadline"]) == (record.node, record.card["waiting"][0]["deadline"])
        assert 0 < pod["seconds_left"] <= record.card["waiting"][0]["total_seconds"]
        assert pod["clock_stands"]
    assert states() == ["sent", "sent"]
    assert counted("sent") == before + 1


def test_what_fails_is_tried_again_later_and_seen_without_secrets(
    waiting: Game, receiver: Received, telling: Telling, caplog: pytest.LogCaptureFixture
) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    before = counted("failed")
    # Whoever leads elsewhere is not followed.
    receiver.statuses = [503, 302]
    with caplog.at_level(logging.DEBUG, "schedweb"):
        notify()
        notify()
        assert (len(receiver.requests), states()) == (1, ["pending", "pending"])
        pauses = {each.at - timezone.now() > datetime.timedelta(0) for each in Notice.objects.all()}
        assert pauses == {True}
        due_now()
        notify()
        assert states() == ["pending", "pending"]
        due_now()
        notify()
    assert (len(receiver.requests), states()) == (3, ["sent", "sent"])
    # The same message again has the same id, so that a receiver can tell.
    assert len({headers["webhook-id"] for headers, _ in receiver.requests}) == 1
    assert counted("failed") == before + 2
    assert "it answered 503" in caplog.text
    assert "it answered 302" in caplog.text
    assert PATH not in caplog.text
    assert SECRET not in caplog.text


def test_after_many_tries_it_is_given_up(waiting: Game, receiver: Received, telling: Telling) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    receiver.statuses = [500] * (TRIES + 5)
    for _ in range(TRIES + 2):
        due_now()
        notify()
    assert (len(receiver.requests), states()) == (TRIES, ["given_up", "given_up"])


def test_what_is_decided_meanwhile_is_not_told(waiting: Game, receiver: Received, telling: Telling) -> None:
    telling(notice_webhook=receiver.url, notice_secret=SECRET)
    receiver.statuses = [500]
    notify()
    waiting.decide("approve", "asks-1", reason="fine")
    waiting.play()
    due_now()
    notify()
    assert [each["name"] for each in receiver.bodies()[-1]["data"]["pods"]] == ["asks-2"]
    assert states() == ["over", "sent"]


@dataclass
class Another:
    """A target that does something while it sends."""

    does: Callable[[], object]
    sent: list[Message] = field(default_factory=list)
    kind: str = "another"
    key: str = "of-another"

    def send(self, message: Message, identity: str) -> None:
        self.sent.append(message)
        self.does()


def test_another_worker_does_not_send_what_one_is_sending(waiting: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    target = Another(notify)
    monkeypatch.setattr(sending, "targets", lambda: (target,))
    notify()
    assert (len(target.sent), states()) == (1, ["sent", "sent"])


def test_what_a_worker_was_sending_when_it_died_is_not_sent_again(
    waiting: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies() -> None:
        raise SystemExit

    target = Another(dies)
    monkeypatch.setattr(sending, "targets", lambda: (target,))
    with pytest.raises(SystemExit):
        notify()
    notify()
    assert (len(target.sent), states()) == (1, ["sending", "sending"])
    Notice.objects.update(at=timezone.now() - 2 * LOST_AFTER)
    notify()
    assert (len(target.sent), states()) == (1, ["unknown", "unknown"])


def test_mail_and_other_services_are_told_by_apprise(waiting: Game, receiver: Received, telling: Telling) -> None:
    with mail_server() as (port, delivered):
        service = receiver.url.replace("http://", "json://")
        telling(notice_urls=(f"mailto://127.0.0.1:{port}?from=us@example.com&to=team@example.com&format=text", service))
        assert [each.kind for each in targets()] == ["mailto", "json"]
        notify()
    [mail] = delivered
    assert "team@example.com" in mail
    [said] = receiver.bodies()
    assert said["title"] == f"2 pods wait for a decision in {waiting.run}"
    assert f"https://playground.example.com/runs/{waiting.id}/pods/shop/asks-1" in said["message"]
    assert "left by the run's clock" in said["message"]
    assert states() == ["sent"] * 4


def test_a_trial_says_who_was_told_and_who_was_not(
    transactional_db: None, receiver: Received, telling: Telling
) -> None:
    with pytest.raises(CommandError, match="Nobody is told"):
        call_command("notices", "--test")
    gone = "json://127.0.0.1:9/T0KEN"
    telling(notice_webhook=receiver.url, notice_secret=SECRET, notice_urls=(gone,))
    out, complaints = io.StringIO(), io.StringIO()
    with pytest.raises(CommandError, match="1 of 2 could not be told"):
        call_command("notices", "--test", stdout=out, stderr=complaints)
    assert (out.getvalue(), complaints.getvalue()) == ("webhook: sent\n", "json: it was not delivered\n")
    [(headers, body)] = receiver.requests
    assert is_signed(headers, body)
    assert not Notice.objects.exists()


def test_settings_that_cannot_work_are_refused_without_the_address(telling: Telling) -> None:
    hook = {"PLAYGROUND_NOTICE_WEBHOOK": "https://example.com/T0KEN"}
    assert read_environment(hook).problem == "PLAYGROUND_NOTICE_WEBHOOK is set but PLAYGROUND_NOTICE_SECRET is not."
    ftp = read_environment({"PLAYGROUND_NOTICE_WEBHOOK": "ftp://example.com"}).notice_problem
    assert ftp == "PLAYGROUND_NOTICE_WEBHOOK must start with http:// or https://."
    listed = read_environment({"PLAYGROUND_NOTICE_URLS": "json://a, json://b"}).notice_problem
    assert listed == "PLAYGROUND_NOTICE_URLS: between addresses are spaces, and nothing else."
    telling(notice_webhook="https://example.com/T0KEN", notice_secret="short")
    with pytest.raises(ValueError, match="at least 24 bytes in base64"):
        targets()
    telling(notice_webhook="", notice_urls=("json://127.0.0.1", "nonsense://T0KEN"))
    with pytest.raises(ValueError, match=r"address 2 \(nonsense://…\)") as refused:
        targets()
    assert "T0KEN" not in str(refused.value)


@pytest.mark.parametrize(
    ("seconds", "said"), [(0, "0 s"), (59, "59 s"), (300, "5 min"), (3_725, "1 h 2 min"), (90_061, "1 d 1 h")]
)
def test_durations_are_said_by_their_largest_units(seconds: int, said: str) -> None:
    assert duration(seconds) == said

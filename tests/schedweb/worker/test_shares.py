"""Places for each kind of work, taken in turn; how much of it one person may have under way."""

from __future__ import annotations

import datetime
import threading
import time
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from schedweb.accounts.roles import Role
from schedweb.accounts.services import account_create
from schedweb.configurations.models import ConfigurationVersion
from schedweb.runs.models import Analysis, Run
from schedweb.runs.playing.dispatch import UNHEARD_RENEWALS, next_run, runs_unheard_of
from schedweb.runs.playing.services import run_create
from schedweb.runs.records.analyses import next_question
from schedweb.runs.storing.lease import claim
from schedweb.snapshots import queue
from schedweb.snapshots.models import Import, Snapshot
from schedweb.turns import Waits, next_in_turn
from schedweb.worker.giving_way import make_room
from schedweb.worker.playing import RUNNING
from schedweb.worker.shares import Share
from schedweb.worker.supervisor import Supervisor
from tests.schedweb.runs.conftest import Game
from tests.schedweb.runs.conftest import viewer as viewer

MINUTE = datetime.timedelta(minutes=1)


def browser_of(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


# --- places --------------------------------------------------------------------------------------------------------


def test_no_more_is_worked_on_at_once_than_there_are_places_and_nothing_that_waits_is_forgotten() -> None:
    waiting, done, most = list(range(40)), list[int](), [0, 0]
    lock = threading.Lock()

    def work_on_next() -> bool:
        with lock:
            if not waiting:
                return False
            one = waiting.pop(0)
            most[0] += 1
            most[1] = max(most)
        time.sleep(0.002)
        with lock:
            most[0] -= 1
            done.append(one)
        return True

    share = Share("tests", 3, work_on_next)
    looks = [threading.Thread(target=share.look) for _ in range(40)]
    for each in looks:
        each.start()
    for each in looks:
        each.join(60)
    assert sorted(done) == list(range(40))
    assert most[1] <= 3
    assert not share.is_full


def test_what_comes_while_the_last_one_is_looking_in_vain_is_looked_for_once_more() -> None:
    looked, asked = [0], threading.Event()

    def work_on_next() -> bool:
        looked[0] += 1
        if looked[0] == 1:
            # Nothing is there; before this one leaves, something comes, and its look finds all places taken.
            other = threading.Thread(target=share.look)
            other.start()
            other.join(60)
            asked.set()
        return False

    share = Share("tests", 1, work_on_next)
    share.look()
    assert asked.is_set()
    assert looked[0] == 2


def test_work_that_fails_gives_its_place_back() -> None:
    def work_on_next() -> bool:
        raise RuntimeError("it broke")

    share = Share("tests", 1, work_on_next)
    with pytest.raises(RuntimeError):
        share.look()
    assert not share.is_full


def test_all_that_wait_are_worked_on_at_once_as_far_as_there_are_places() -> None:
    """As where a worker died that had many runs: each of them keeps who takes it busy for long."""
    waiting, together, over = list(range(5)), threading.Semaphore(0), threading.Event()
    lock = threading.Lock()

    def work_on_next() -> bool:
        with lock:
            if not waiting:
                return False
            waiting.pop()
        together.release()
        over.wait(60)
        return True

    share = Share("tests", 4, work_on_next)
    share.look_beside(len(waiting))
    for _ in range(4):
        assert together.acquire(timeout=60)
    assert share.free == 0
    assert len(waiting) == 1
    share.wait_until_empty(0.01)
    assert share.free == 0, "it does not wait for ever"
    over.set()
    assert together.acquire(timeout=60)
    share.wait_until_empty(60)
    assert share.free == 4


# --- turns ---------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_runs_whose_holder_is_not_heard_of_are_known_before_their_leases_run_out(
    game: Game, settings: Settings
) -> None:
    settings.ENGINE_LEASE_SECONDS, settings.ENGINE_RENEW_SECONDS = 1300, 100
    game.command("play", speed="max")
    assert claim(game.id, "another") is not None
    assert runs_unheard_of("me") == [], "it was heard of just now"
    missed = (UNHEARD_RENEWALS + 1) * settings.ENGINE_RENEW_SECONDS
    late = timezone.now() + datetime.timedelta(seconds=settings.ENGINE_LEASE_SECONDS - missed)
    Run.objects.update(lease_expires=late)
    assert runs_unheard_of("me") == [game.id]
    assert runs_unheard_of("another") == [], "who holds it knows"
    assert next_run() is None, "it is not to be taken yet"


def test_people_take_turns_however_many_one_of_them_has_waiting() -> None:
    now = timezone.now()
    waiting = [Waits(uuid4(), "first", now + n * MINUTE) for n in range(6)]
    waiting += [Waits(uuid4(), "second", now + n * MINUTE) for n in range(10, 12)]
    whose = {each.id: each.person for each in waiting}
    last: dict[Any, Any] = {}
    order = []
    while waiting:
        found = next_in_turn(waiting, {}, last)
        assert found is not None
        order.append(whose[found])
        last[whose[found]] = now + len(order) * MINUTE
        waiting = [each for each in waiting if each.id != found]
    assert order == ["first", "second", "first", "second", "first", "first", "first", "first"]


def test_who_has_nothing_under_way_comes_before_who_has() -> None:
    mine, theirs = Waits(uuid4(), "me", None), Waits(uuid4(), "them", timezone.now())
    assert next_in_turn([mine, theirs], {"me": 1}, {}) == theirs.id
    assert next_in_turn([mine, theirs], {"me": 1, "them": 1}, {"them": timezone.now()}) == mine.id
    assert next_in_turn([], {}, {}) is None


# --- questions -----------------------------------------------------------------------------------------------------

pods = [f"web-{index}" for index in range(6)]


def ask(browser: Client, run: UUID, pod: str) -> Any:
    question = {"name": "what_would_help", "arguments": {"namespace": "shop", "name": pod}}
    return browser.post(f"/api/v1/runs/{run}/analyses/", question, content_type="application/json")


@pytest.mark.django_db(transaction=True)
def test_one_person_s_questions_have_a_limit_that_is_said_and_others_come_in_turn(
    game: Game, viewer: User, settings: Settings
) -> None:
    settings.PER_PERSON = {**settings.PER_PERSON, "questions": 3}
    many = browser_of(viewer)
    answers = [ask(many, game.id, pod) for pod in pods]
    assert [each.status_code for each in answers] == [202, 202, 202, 429, 429, 429]
    refused = answers[3]
    assert refused.json()["error"] == {
        "code": "too_many_questions",
        "message": "3 questions of yours are being answered, which is the most. "
        "Ask again when one is answered, or cancel one.",
    }
    assert refused.headers["Retry-After"] == "5"
    assert Analysis.objects.count() == 3, "what was refused is not kept"
    assert ask(many, game.id, pods[0]).status_code == 202, "that one is being answered already"

    mine = ask(browser_of(game.user), game.id, "large")
    assert mine.status_code == 202, "the limit is each person's own"
    first = next_question()
    assert first is not None
    Analysis.objects.filter(pk=first).update(status="running")
    assert str(next_question()) == mine.json()["id"], "it does not wait for the others of who came first"

    Analysis.objects.filter(asked_by="vera").update(expires=timezone.now() - MINUTE)
    assert ask(many, game.id, pods[4]).status_code == 202, "what nobody answers any more does not count"


@pytest.mark.django_db(transaction=True)
def test_who_asked_cancels_a_question_or_an_operator(game: Game, viewer: User) -> None:
    other = browser_of(account_create(username="victor", role=Role.VIEWER, password=None))

    def cancel(browser: Client, asked: Any) -> Any:
        return browser.delete(f"/api/v1/runs/{game.id}/analyses/{asked.json()['id']}/")

    asked = ask(browser_of(viewer), game.id, "web-0")
    refused = cancel(other, asked)
    assert refused.status_code == 403
    assert refused.json()["error"]["message"] == "Who asked a question cancels it, or an operator or editor."
    assert Analysis.objects.get().status == "pending"
    assert cancel(browser_of(viewer), asked).json()["status"] == "cancelled"
    again = ask(other, game.id, "web-0")
    assert again.json()["asked_by"] == "victor", "who asks anew is who asked"
    assert cancel(browser_of(viewer), again).status_code == 403
    assert cancel(browser_of(game.user), again).json()["status"] == "cancelled"


@pytest.mark.django_db(transaction=True)
def test_moments_count_as_questions_of_who_looks_and_are_made_later_instead_of_refused(
    game: Game, settings: Settings
) -> None:
    game.command("play", speed="max")
    game.play()
    settings.PER_PERSON = {**settings.PER_PERSON, "questions": 2}
    browser = browser_of(game.user)
    seen = [browser.get(f"/api/v1/runs/{game.id}@{position}/board/").status_code for position in range(1, 5)]
    assert seen == [202] * 4
    assert list(Analysis.objects.order_by("position").values_list("position", "asked_by")) == [(1, "mira"), (2, "mira")]
    Analysis.objects.filter(position=1).delete()
    browser.get(f"/api/v1/runs/{game.id}@3/board/")
    assert set(Analysis.objects.values_list("position", flat=True)) == {2, 3}


# --- imports -------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_one_person_s_imports_have_a_limit_and_others_come_in_turn(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PER_PERSON = {**settings.PER_PERSON, "imports": 2}
    monkeypatch.setattr(queue, "announce", lambda: None)
    eda, ema = (browser_of(account_create(username=name, role=Role.EDITOR, password=None)) for name in ("eda", "ema"))

    def send(browser: Client) -> Any:
        return browser.post("/api/v1/imports/", {"file": SimpleUploadedFile("a.json", b"{}")})

    answers = [send(eda) for _ in range(3)]
    assert [each.status_code for each in answers] == [201, 201, 429]
    assert answers[2].json()["error"]["code"] == "too_many_imports"
    other = send(ema).json()["id"]
    first = queue.next_import()
    assert first is not None
    Import.objects.filter(pk=first).update(lease_expires=timezone.now() + MINUTE)
    assert str(queue.next_import()) == other


# --- runs ----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_one_person_s_playing_runs_have_a_limit_and_others_come_in_turn(
    operator: User, snapshot: Snapshot, version: ConfigurationVersion, settings: Settings
) -> None:
    settings.PER_PERSON = {**settings.PER_PERSON, "runs": 2}
    other = account_create(username="otto", role=Role.OPERATOR, password=None)
    wanted = {"snapshot": str(snapshot.pk), "configuration_version": str(version.pk), "paused": False}

    def start(user: User, **more: Any) -> Any:
        return browser_of(user).post("/api/v1/runs/", {**wanted, **more}, content_type="application/json")

    answers = [start(operator) for _ in range(3)]
    assert [each.status_code for each in answers] == [201, 201, 429]
    assert answers[2].json()["error"] == {
        "code": "too_many_runs",
        "message": "2 runs of mira play already, which is the most. Pause or stop one of them, then play this one.",
    }
    paused = start(operator, paused=True)
    assert paused.status_code == 201, "a run that does not play is no load"
    path = f"/api/v1/runs/{paused.json()['id']}/commands/"
    play = browser_of(other).post(path, {"type": "play"}, content_type="application/json")
    assert play.json()["error"]["code"] == "too_many_runs", "whoever presses the button: it is hers"
    theirs = start(other).json()["id"]

    first = next_run()
    assert first is not None
    Run.objects.filter(pk=first).update(
        lease_owner="somewhere", lease_expires=timezone.now() + MINUTE, worker_since=timezone.now()
    )
    assert str(next_run()) == theirs


@pytest.mark.django_db(transaction=True)
def test_a_full_worker_gives_a_run_that_rests_back_early_and_then_one_of_who_has_more(
    operator: User, snapshot: Snapshot, version: ConfigurationVersion, settings: Settings
) -> None:  # fmt: skip
    def run_of(user: User, **more: Any) -> Run:
        return run_create(user=user, snapshot=snapshot.pk, configuration_version=version.pk, **more)

    def held(run: Run) -> Supervisor:
        lease = claim(run.pk, "here")
        assert lease is not None
        RUNNING[run.pk] = supervisor = Supervisor(lease)
        return supervisor

    settings.ENGINE_LEASE_SECONDS = 1000.0
    settings.RUN_TURN_SECONDS = 0.0
    other = account_create(username="otto", role=Role.OPERATOR, password=None)
    try:
        first, second, resting = (held(run_of(operator)) for _ in range(3))
        for each in (first, second, resting):
            each.ready, each.state = True, "playing"
        make_room()
        assert all(each.events.empty() for each in (first, second, resting)), "nobody waits"
        run_of(other)
        resting.state = "paused"
        make_room()
        assert resting.may_rest()
        assert not first.may_rest()
        resting.state = "playing"
        make_room()
        shut = [each for each in (first, second, resting) if "Shutdown" in str(list(each.events.queue))]
        assert len(shut) == 1, "one of three gives way to somebody who has none"
    finally:
        RUNNING.clear()

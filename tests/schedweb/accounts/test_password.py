"""People change their own password: the old one is asked, and all their other sessions end."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from schedweb.accounts import services
from schedweb.accounts.models import AuditEntry, OpenIdIdentity, SessionInfo
from schedweb.accounts.roles import Role
from tests.schedweb.runs.test_api import check_shape

pytestmark = pytest.mark.django_db
OLD, NEW = "correct horse battery", "staple under the moon"
PASSWORD, ME = "/api/v1/me/password/", "/api/v1/me/"


@pytest.fixture
def mira() -> User:
    return services.account_create(username="mira", role=Role.VIEWER, password=OLD)


def log_in(browser: Client, password: str) -> int:
    return browser.post("/login", {"username": "mira", "password": password}).status_code


def logged_in(address: str = "192.0.2.7") -> Client:
    browser = Client(REMOTE_ADDR=address)
    assert log_in(browser, OLD) == 302
    return browser


def told(browser: Client) -> dict[str, Any]:
    answer = browser.get(PASSWORD)
    assert answer.status_code == 200, answer.content
    check_shape(PASSWORD, answer.json())
    body: dict[str, Any] = answer.json()
    return body


def change(browser: Client, status: int, **body: Any) -> Any:
    answer = browser.post(PASSWORD, body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def newest() -> AuditEntry:
    found = AuditEntry.objects.first()
    assert found is not None
    return found


def test_the_new_one_logs_in_and_all_other_sessions_have_ended(mira: User) -> None:
    desk, phone, tablet = (logged_in(f"192.0.2.{number}") for number in (7, 8, 9))
    _, token = services.bearer_token_create(user=mira, name="ci")
    key = desk.cookies["playground_session"].value
    assert told(desk) == {"asks_old": True, "refused": ""}
    assert change(desk, 200, old=OLD, new=NEW) == {"ended": 2}
    assert [each.get(ME).status_code for each in (desk, phone, tablet)] == [200, 401, 401]
    # A cookie that somebody copied is good for nothing any more.
    assert desk.cookies["playground_session"].value != key
    assert [(each.how, each.address) for each in SessionInfo.objects.all()] == [("password", "192.0.2.7")]
    assert desk.get("/api/v1/sessions/").json()[0]["current"]
    assert Client(headers={"Authorization": f"Bearer {token}"}).get(ME).status_code == 200
    assert (log_in(Client(), OLD), log_in(Client(), NEW)) == (401, 302)
    entry = AuditEntry.objects.get(action="account.password")
    assert (entry.username, entry.via, entry.target, entry.result) == ("mira", "session", "mira", "done")
    assert entry.details == {"ended": 2}


@pytest.mark.parametrize(
    ("body", "path", "said"),
    [
        ({"old": "guess", "new": NEW}, "old", "not your password"),
        ({"new": NEW}, "old", "not your password"),
        ({"old": OLD, "new": OLD}, "new", "already"),
        ({"old": OLD, "new": "short"}, "new", "too short"),
        ({"old": OLD, "new": "password123"}, "new", "too common"),
        ({"old": OLD, "new": ""}, "new", "blank"),
        ({"old": OLD}, "new", "required"),
        ({"old": OLD, "new": ["a", "b"]}, "new", "string"),
        ({"old": OLD, "new": "x" * 5000}, "new", "4096"),
    ],
)
def test_what_is_refused_changes_nothing(mira: User, body: dict[str, Any], path: str, said: str) -> None:
    desk, phone = logged_in(), logged_in("192.0.2.8")
    error = change(desk, 400, **body)["error"]
    assert (error["path"], said in error["message"]) == (path, True), error
    assert (desk.get(ME).status_code, phone.get(ME).status_code) == (200, 200)
    assert log_in(Client(), OLD) == 302


def test_guessing_the_old_one_waits_as_guessing_at_the_login_does(mira: User) -> None:
    desk = logged_in()
    for _ in range(4):
        change(desk, 400, old="guess", new=NEW)
    assert (newest().action, newest().result, newest().details) == ("account.password", "refused", {"why": "wrong"})
    answer = desk.post(PASSWORD, {"old": OLD, "new": NEW}, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many_tries")
    assert int(answer["Retry-After"]) >= 1
    assert newest().details == {"why": "wrong"}, "a refusal like the last one is written once a minute"
    assert log_in(Client(REMOTE_ADDR="192.0.2.7"), OLD) == 429


def test_an_account_of_a_provider_changes_it_there(mira: User) -> None:
    desk = logged_in()
    OpenIdIdentity.objects.create(user=mira, issuer="https://id.example", subject="1")
    assert "OpenID Connect" in told(desk)["refused"]
    assert change(desk, 409, old=OLD, new=NEW)["error"]["code"] == "no_password_here"
    assert log_in(Client(), OLD) == 302


def test_an_account_without_one_sets_its_first_soon_after_its_login_link() -> None:
    user = services.account_create(username="mira", role=Role.VIEWER, password=None)
    browser = Client(REMOTE_ADDR="192.0.2.7")
    assert browser.get(f"/login?token={services.login_link_create(user=user)}").status_code == 302
    assert told(browser) == {"asks_old": False, "refused": ""}
    SessionInfo.objects.update(started_at=timezone.now() - datetime.timedelta(hours=2))
    assert "login link" in told(browser)["refused"]
    assert change(browser, 409, new=NEW)["error"]["code"] == "no_password_here"
    SessionInfo.objects.update(started_at=timezone.now())
    assert change(browser, 200, new=NEW) == {"ended": 0}
    assert told(browser) == {"asks_old": True, "refused": ""}
    assert log_in(Client(), NEW) == 302


def test_a_token_changes_no_password(mira: User) -> None:
    _, token = services.bearer_token_create(user=mira, name="ci")
    script = Client(headers={"Authorization": f"Bearer {token}"})
    assert script.get(PASSWORD).status_code == 403
    change(script, 403, old=OLD, new=NEW)

"""Sessions are listed and ended by their owner; what ended is out at once."""

from __future__ import annotations

import datetime
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from schedweb.accounts import seen, services
from schedweb.accounts.models import SessionInfo
from schedweb.accounts.roles import Role
from tests.schedweb.runs.test_api import check_shape

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
SESSIONS, ME = "/api/v1/sessions/", "/api/v1/me/"
upgrade = import_module("schedweb.accounts.migrations.0006_owner_is_admin_audit_is_append_only")


@pytest.fixture
def mira() -> User:
    return services.account_create(username="mira", role=Role.VIEWER, password=PASSWORD)


def logged_in(address: str, agent: str = "Firefox") -> Client:
    browser = Client(REMOTE_ADDR=address, HTTP_USER_AGENT=agent)
    assert browser.post("/login", {"username": "mira", "password": PASSWORD}).status_code == 302
    return browser


def listed(browser: Client) -> list[dict[str, Any]]:
    answer = browser.get(SESSIONS)
    assert answer.status_code == 200, answer.content
    check_shape(SESSIONS, answer.json())
    found: list[dict[str, Any]] = answer.json()
    return found


def test_they_say_where_from_and_which_one_asks(mira: User) -> None:
    desk, phone = logged_in("192.0.2.7"), logged_in("192.0.2.8", "Phone")
    told = {each["address"]: each for each in listed(desk)}
    assert set(told) == {"192.0.2.7", "192.0.2.8"}
    assert [told[each]["current"] for each in sorted(told)] == [True, False]
    assert (told["192.0.2.8"]["agent"], told["192.0.2.8"]["how"]) == ("Phone", "password")
    assert {each["current"] for each in listed(phone) if each["address"] == "192.0.2.7"} == {False}
    key = phone.cookies["playground_session"].value
    assert key not in desk.get(SESSIONS).content.decode()


def test_one_is_ended_by_its_owner_only(mira: User) -> None:
    desk, phone = logged_in("192.0.2.7"), logged_in("192.0.2.8")
    other = Client()
    other.force_login(services.account_create(username="vera", role=Role.ADMIN, password=None))
    [ended] = [each["id"] for each in listed(desk) if not each["current"]]
    assert other.delete(f"{SESSIONS}{ended}/").status_code == 404
    assert phone.get(ME).status_code == 200
    assert desk.delete(f"{SESSIONS}{ended}/").status_code == 204
    assert (phone.get(ME).status_code, desk.get(ME).status_code) == (401, 200)
    assert desk.delete(f"{SESSIONS}{ended}/").status_code == 404
    assert len(listed(desk)) == 1


def test_all_others_are_ended(mira: User) -> None:
    desk, *others = (logged_in(f"192.0.2.{number}") for number in (7, 8, 9))
    assert desk.post(f"{SESSIONS}end-others/").json() == {"ended": 2}
    assert [each.get(ME).status_code for each in (desk, *others)] == [200, 401, 401]
    assert Session.objects.count() == SessionInfo.objects.count() == 1


def test_logging_out_takes_it_from_the_list(mira: User) -> None:
    desk, phone = logged_in("192.0.2.7"), logged_in("192.0.2.8")
    phone.post("/logout")
    assert [each["address"] for each in listed(desk)] == ["192.0.2.7"]


def test_last_seen_moves_with_requests_and_not_with_each(mira: User, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = logged_in("192.0.2.7")
    long_ago = timezone.now() - datetime.timedelta(hours=1)

    def seen_again() -> bool:
        SessionInfo.objects.update(last_seen_at=long_ago)
        desk.get(ME, REMOTE_ADDR="192.0.2.99")
        return SessionInfo.objects.get().last_seen_at > long_ago

    monkeypatch.setattr(seen, "LATELY", seen.Lately())
    assert seen_again()
    assert SessionInfo.objects.get().address == "192.0.2.99"
    assert not seen_again()


def test_what_is_remembered_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "MOST_REMEMBERED", 2)
    lately = seen.Lately()
    assert lately.due(["a", "b", "a"]) == ["a", "b", "a"]
    assert lately.due(["c"]) == ["c"]
    assert lately.due(["c", "b"]) == ["b"]


def test_a_token_manages_no_sessions(mira: User) -> None:
    _, token = services.bearer_token_create(user=mira, name="ci")
    script = Client(headers={"Authorization": f"Bearer {token}"})
    for method, path in (("get", SESSIONS), ("post", f"{SESSIONS}end-others/"), ("delete", f"{SESSIONS}1/")):
        assert getattr(script, method)(path).status_code == 403


def test_an_upgrade_lists_sessions_and_makes_the_owner_an_admin(mira: User) -> None:
    """As the migration finds them: no SessionInfo, an owner who was an editor with a token as good as himself."""
    owner = services.account_create(username="owner", role=Role.EDITOR, password=None)
    services.bearer_token_create(user=owner, name="nightly")
    desk = logged_in("192.0.2.7")
    SessionInfo.objects.all().delete()
    upgrade.owner_is_admin(apps, None)
    upgrade.sessions_listed(apps, None)
    assert [each["current"] for each in listed(desk)] == [True]
    browser = Client()
    browser.force_login(User.objects.get(username="owner"))
    assert browser.get(ME).json()["role"] == "admin"
    assert browser.get("/api/v1/tokens/").json()[0]["role"] == "editor"
    assert desk.get(ME).json()["role"] == "viewer"

"""Accounts are listed, disabled, enabled and changed with `manage.py account`, and that holds at once."""

from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from schedweb.accounts import services
from schedweb.accounts.roles import Role

pytestmark = pytest.mark.django_db
PASSWORD, OTHER = "correct horse battery", "staple of the other kind"
ME = "/api/v1/me/"


@pytest.fixture
def mira() -> User:
    return services.account_create(username="mira", role=Role.OPERATOR, password=PASSWORD)


@pytest.fixture
def browser(mira: User) -> Client:
    return logged_in()


def logged_in(password: str = PASSWORD) -> Client:
    browser = Client()
    browser.post("/login", {"username": "mira", "password": password})
    return browser


def account(*words: str) -> str:
    printed = StringIO()
    call_command("account", *words, stdout=printed)
    return printed.getvalue()


def test_a_disabled_account_has_nothing_left(mira: User, browser: Client) -> None:
    _, token = services.bearer_token_create(user=mira, name="ci")
    link = services.login_link_create(user=mira)
    script = Client(headers={"Authorization": f"Bearer {token}"})
    vera = Client()
    vera.force_login(services.account_create(username="vera", role=Role.VIEWER, password=None))
    assert (browser.get(ME).status_code, script.get(ME).status_code) == (200, 200)
    assert "disabled" in account("disable", "mira")
    for _ in ("disabled", "enabled again"):
        assert (browser.get(ME).status_code, script.get(ME).status_code) == (401, 401)
        assert Client().get(f"/login?token={link}").status_code == 401
        assert vera.get(ME).status_code == 200
        if not User.objects.get(pk=mira.pk).is_active:
            assert logged_in().get(ME).status_code == 401
        account("enable", "mira")
    assert logged_in().get(ME).status_code == 200


def test_another_role_holds_at_once(browser: Client) -> None:
    assert account("role", "mira", "viewer") == "mira is a viewer now.\n"
    assert browser.get(ME).json()["role"] == "viewer"
    account("role", "mira", "editor")
    assert browser.get(ME).json()["role"] == "editor"


def test_another_password_ends_sessions(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("short\n"))
    with pytest.raises(CommandError, match="too short"):
        account("password", "mira")
    assert browser.get(ME).status_code == 200
    monkeypatch.setattr("sys.stdin", StringIO(f"{OTHER}\n"))
    account("password", "mira")
    assert browser.get(ME).status_code == 401
    assert (logged_in().get(ME).status_code, logged_in(OTHER).get(ME).status_code) == (401, 200)


def test_they_are_listed(browser: Client) -> None:
    account("disable", "mira")
    assert account("list").startswith("mira: operator, disabled, last login 20")
    with pytest.raises(CommandError, match="no account named ghost"):
        account("disable", "ghost")

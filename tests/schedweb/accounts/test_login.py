"""Who gets in: one-time links, accounts, bearer tokens, roles; and nobody else."""

from __future__ import annotations

import datetime

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from schedweb.accounts import services
from schedweb.accounts.models import LoginLink
from schedweb.accounts.roles import Role

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture
def mira() -> User:
    return services.account_create(username="mira.lund", role=Role.OPERATOR, password=PASSWORD)


def test_a_link_works_once(client: Client) -> None:
    token = services.login_link_create(user=services.owner_get())
    assert client.get(f"/login?token={token}").headers["Location"] == "/"
    assert client.get("/api/v1/me/").json()["role"] == "admin"
    stranger = Client()
    answer = stranger.get(f"/login?token={token}")
    assert answer.status_code == 401
    assert "used already or has expired" in answer.content.decode()
    assert stranger.get("/api/v1/me/").status_code == 401


def test_reloading_the_spent_link_keeps_its_holder_in(client: Client) -> None:
    token = services.login_link_create(user=services.owner_get())
    client.get(f"/login?token={token}")
    assert client.get(f"/login?token={token}").status_code == 302
    assert client.get("/api/v1/me/").status_code == 200


def test_an_expired_link_is_refused(client: Client) -> None:
    token = services.login_link_create(user=services.owner_get())
    LoginLink.objects.update(expires_at=timezone.now() - datetime.timedelta(seconds=1))
    assert client.get(f"/login?token={token}").status_code == 401


def test_tokens_are_stored_as_hashes() -> None:
    token = services.login_link_create(user=services.owner_get())
    assert token not in LoginLink.objects.get().token_hash


def test_name_and_password(client: Client, mira: User) -> None:
    wrong = client.post("/login", {"username": "mira.lund", "password": "guess"})
    assert wrong.status_code == 401
    assert "do not match" in wrong.content.decode()
    right = client.post("/login", {"username": "mira.lund", "password": PASSWORD, "next": "/waiting"})
    assert right.headers["Location"] == "/waiting"
    me = client.get("/api/v1/me/").json()
    assert (me["username"], me["initials"], me["role"]) == ("mira.lund", "ML", "operator")
    client.post("/logout")
    assert client.get("/api/v1/me/").status_code == 401


def test_login_never_leads_to_another_site(client: Client, mira: User) -> None:
    answer = client.post("/login", {"username": "mira.lund", "password": PASSWORD, "next": "https://evil.example.com/"})
    assert answer.headers["Location"] == "/"


def test_an_account_without_a_role_is_told(client: Client) -> None:
    User.objects.create_user("nobody", password=PASSWORD)
    answer = client.post("/login", {"username": "nobody", "password": PASSWORD})
    assert "no role yet" in answer.content.decode()


def test_posting_needs_a_csrf_token(mira: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/login", {"username": "mira.lund", "password": PASSWORD}).status_code == 403


def test_link_of_an_unknown_account() -> None:
    with pytest.raises(CommandError, match="no account named ghost"):
        call_command("login_link", user="ghost")

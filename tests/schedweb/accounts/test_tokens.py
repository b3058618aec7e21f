"""Bearer tokens: shown once, kept as a hash, never worth more than their owner, dead when they should be."""

from __future__ import annotations

import datetime
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from schedweb.accounts import services
from schedweb.accounts.models import BearerToken
from schedweb.accounts.roles import Role
from tests.schedweb.runs.test_api import check_shape

pytestmark = pytest.mark.django_db
TOKENS = "/api/v1/tokens/"


@pytest.fixture
def mira() -> User:
    return services.account_create(username="mira", role=Role.OPERATOR, password=None)


@pytest.fixture
def client(mira: User) -> Client:
    browser = Client()
    browser.force_login(mira)
    return browser


def make(client: Client, status: int = 201, **body: Any) -> Any:
    answer = client.post(TOKENS, {"name": "ci", **body}, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def with_token(token: str, path: str = "/api/v1/me/", method: str = "get", **body: Any) -> Any:
    """By a script: no cookies."""
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
    return getattr(Client(enforce_csrf_checks=True), method)(path, body, content_type="application/json", **headers)


def test_a_token_is_answered_once_and_kept_as_a_hash(client: Client, mira: User) -> None:
    made = make(client, expires_at="2200-01-01T00:00:00Z")
    row = BearerToken.objects.get()
    assert row.token_hash == services.hash_of(made["token"])
    listed = client.get(TOKENS)
    check_shape(TOKENS, listed.json())
    assert made["token"] not in listed.content.decode()
    [told] = listed.json()
    assert (told["name"], told["role"], told["expired"], told["last_used_at"]) == ("ci", None, False, None)
    assert told["expires_at"] == "2200-01-01T00:00:00Z"
    assert with_token(made["token"]).json()["username"] == "mira"
    assert client.get(TOKENS).json()[0]["last_used_at"] is not None


def test_what_is_no_token_is_refused(mira: User) -> None:
    refused = with_token("nonsense")
    assert (refused.status_code, refused.json()["error"]["message"]) == (401, "This bearer token is not valid.")


def test_a_revoked_token_is_dead_at_once(client: Client) -> None:
    made = make(client)
    assert with_token(made["token"]).status_code == 200
    assert client.delete(f"{TOKENS}{made['id']}/").status_code == 204
    assert with_token(made["token"]).status_code == 401
    assert client.get(TOKENS).json() == []
    assert client.delete(f"{TOKENS}{made['id']}/").status_code == 404
    # Its name is free again.
    make(client)


def test_an_expired_token_says_so(client: Client) -> None:
    made = make(client, expires_at="2200-01-01T00:00:00Z")
    BearerToken.objects.update(expires_at=timezone.now() - datetime.timedelta(seconds=1))
    refused = with_token(made["token"])
    assert refused.status_code == 401
    assert refused.json()["error"]["message"].startswith("This bearer token expired on ")
    assert client.get(TOKENS).json()[0]["expired"] is True


def test_an_inactive_account_is_out_at_once(client: Client, mira: User) -> None:
    made = make(client)
    User.objects.filter(pk=mira.pk).update(is_active=False)
    assert with_token(made["token"]).status_code == 401


@pytest.mark.parametrize(
    ("role", "most", "now", "is_now"),
    [
        ("editor", None, "editor", "editor"),
        ("operator", None, "operator", "operator"),
        ("operator", "viewer", "operator", "viewer"),
        ("editor", None, "viewer", "viewer"),
        ("editor", "operator", "viewer", "viewer"),
        ("editor", "operator", "editor", "operator"),
    ],
)
def test_a_token_may_do_no_more_than_its_owner_and_itself(role: str, most: str | None, now: str, is_now: str) -> None:
    """Also when its owner lost a role after it was made."""
    account = services.account_create(username="eda", role=Role[role.upper()], password=None)
    browser = Client()
    browser.force_login(account)
    made = make(browser, role=most)
    account.groups.set([Group.objects.get_or_create(name=now)[0]])
    assert with_token(made["token"]).json()["role"] == is_now
    told = with_token(made["token"], "/api/v1/configurations/", "post").status_code
    assert told == (400 if is_now == "editor" else 403)


def test_a_superusers_token_is_held_to_its_role_too() -> None:
    browser = Client()
    browser.force_login(User.objects.create_superuser("root"))
    assert with_token(make(browser, role="viewer")["token"]).json()["role"] == "viewer"


def test_an_account_without_a_role_has_a_token_that_opens_nothing(client: Client, mira: User) -> None:
    made = make(client, role="viewer")
    mira.groups.clear()
    assert with_token(made["token"]).status_code == 403


def test_tokens_are_not_made_seen_or_revoked_with_a_token(client: Client) -> None:
    made = make(client)
    for method, path in (("get", TOKENS), ("post", TOKENS), ("delete", f"{TOKENS}{made['id']}/")):
        refused = with_token(made["token"], path, method, name="another")
        assert (refused.status_code, "not with a token" in refused.json()["error"]["message"]) == (403, True)
    assert BearerToken.objects.count() == 1


def test_nobody_sees_or_revokes_anothers(client: Client) -> None:
    made = make(client)
    other = Client()
    other.force_login(services.account_create(username="vera", role=Role.EDITOR, password=None))
    assert other.get(TOKENS).json() == []
    assert other.delete(f"{TOKENS}{made['id']}/").status_code == 404
    assert with_token(made["token"]).status_code == 200


def test_nobody_has_tokens_without_logging_in(db: None) -> None:
    assert Client().get(TOKENS).status_code == 401


@pytest.mark.parametrize(
    ("body", "path", "said"),
    [
        ({"name": ""}, "name", "blank"),
        ({"name": "x" * 101}, "name", "100"),
        ({"role": "editor"}, "role", "You are no editor"),
        ({"role": "king"}, "role", "king"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at", "in the future"),
        ({"expires_at": "soon"}, "expires_at", "expires_at"),
    ],
)
def test_a_token_that_cannot_be(client: Client, body: dict[str, Any], path: str, said: str) -> None:
    error = make(client, 400, **body)["error"]
    assert (error["path"], said in error["message"]) == (path, True), error
    assert not BearerToken.objects.exists()


def test_two_tokens_of_one_account_have_two_names(client: Client) -> None:
    make(client)
    assert make(client, 400)["error"]["message"] == "mira has a token named ci already."


def test_there_is_an_end_to_them(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MOST_TOKENS", 1)
    make(client)
    assert "revoke one first" in make(client, 400, name="another")["error"]["message"]


def test_a_token_from_the_command_line(mira: User) -> None:
    printed = StringIO()
    call_command("bearer_token", "nightly", user="mira", role="viewer", days=30, stdout=printed)
    assert with_token(printed.getvalue().strip()).json()["role"] == "viewer"
    row = BearerToken.objects.get(name="nightly")
    assert row.expires_at is not None
    for refused, said in (({"role": "editor"}, "no editor"), ({"days": 0}, "between 1 and"), ({}, "already")):
        with pytest.raises(CommandError, match=said):
            call_command("bearer_token", "nightly", user="mira", **refused)

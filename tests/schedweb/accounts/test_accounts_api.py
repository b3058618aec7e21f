"""Admins manage accounts: made with a link, disabled, enabled, given roles; the last admin stays one."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from schedweb.accounts import services
from schedweb.accounts.models import AuditEntry
from schedweb.accounts.roles import Role
from tests.schedweb.runs.test_api import check_shape

pytestmark = pytest.mark.django_db
ACCOUNTS, ME = "/api/v1/accounts/", "/api/v1/me/"


@pytest.fixture
def ada() -> User:
    return services.account_create(username="ada", role=Role.ADMIN, password=None)


@pytest.fixture
def admin(ada: User) -> Client:
    return browser_of(ada)


def browser_of(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def send(client: Client, method: str, path: str, status: int, **body: Any) -> Any:
    answer = getattr(client, method)(path, body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def listed(admin: Client) -> dict[str, Any]:
    body = send(admin, "get", ACCOUNTS, 200)
    check_shape(ACCOUNTS, body)
    return {each["username"]: each for each in body["results"]}


def test_an_account_is_made_with_a_link_that_works_once(admin: Client) -> None:
    made = send(admin, "post", ACCOUNTS, 201, username="mira.lund", role="operator")
    assert (made["role"], made["active"], made["has_password"], made["last_login"]) == ("operator", True, False, None)
    mira = Client()
    assert mira.get(made["link"]["path"]).status_code == 302
    assert mira.get(ME).json()["role"] == "operator"
    assert Client().get(made["link"]["path"]).status_code == 401
    told = listed(admin)["mira.lund"]
    assert (told["sessions"], told["tokens"]) == (1, 0)
    assert told["last_login"] is not None
    another = send(admin, "post", f"{ACCOUNTS}{made['id']}/login-link/", 201)
    assert Client().get(another["path"]).status_code == 302


@pytest.mark.parametrize(
    ("body", "path", "said"),
    [
        ({"username": "", "role": "viewer"}, "username", "blank"),
        ({"username": "two words", "role": "viewer"}, "username", "no spaces"),
        ({"username": "ADA", "role": "viewer"}, "username", "already"),
        ({"username": "eve", "role": "king"}, "role", "king"),
        ({"username": "eve"}, "role", "required"),
    ],
)
def test_an_account_that_cannot_be(admin: Client, body: dict[str, Any], path: str, said: str) -> None:
    error = send(admin, "post", ACCOUNTS, 400, **body)["error"]
    assert (error["path"], said in error["message"]) == (path, True), error
    assert list(User.objects.values_list("username", flat=True)) == ["ada"]


def test_disabling_ends_what_it_had_and_enabling_lets_it_in_again(admin: Client) -> None:
    mira = services.account_create(username="mira", role=Role.OPERATOR, password=None)
    browser = browser_of(mira)
    _, token = services.bearer_token_create(user=mira, name="ci")
    script = Client(headers={"Authorization": f"Bearer {token}"})
    assert (browser.get(ME).status_code, script.get(ME).status_code) == (200, 200)
    path = f"{ACCOUNTS}{mira.pk}/"
    assert send(admin, "patch", path, 200, active=False)["active"] is False
    assert (browser.get(ME).status_code, script.get(ME).status_code) == (401, 401)
    assert send(admin, "post", f"{path}login-link/", 409)["error"]["code"] == "disabled"
    assert send(admin, "patch", path, 200, active=True)["tokens"] == 0
    assert browser.get(ME).status_code == 401


def test_another_role_holds_at_once(admin: Client) -> None:
    mira = services.account_create(username="mira", role=Role.OPERATOR, password=None)
    browser = browser_of(mira)
    assert send(admin, "patch", f"{ACCOUNTS}{mira.pk}/", 200, role="viewer")["role"] == "viewer"
    assert browser.get(ME).json()["role"] == "viewer"


def test_the_last_admin_stays_one(ada: User, admin: Client) -> None:
    path = f"{ACCOUNTS}{ada.pk}/"
    for change in ({"active": False}, {"role": "editor"}):
        error = send(admin, "patch", path, 409, **change)["error"]
        assert (error["code"], "ada is the last admin" in error["message"]) == ("last_admin", True)
        assert admin.get(ME).json()["role"] == "admin"
    for words in (("disable", "ada"), ("role", "ada", "viewer")):
        with pytest.raises(CommandError, match="last admin"):
            call_command("account", *words)
    assert AuditEntry.objects.filter(result="refused", action__startswith="account.").count() == 2
    # Somebody who may not log in is no second one.
    other = services.account_create(username="bo", role=Role.ADMIN, password=None)
    services.account_disable(user=other)
    send(admin, "patch", path, 409, active=False)
    services.account_enable(user=other)
    send(admin, "patch", path, 200, role="editor")
    assert admin.get(ME).json()["role"] == "editor"


def test_a_superuser_is_an_admin_and_stays_one(admin: Client) -> None:
    root = User.objects.create_superuser("root")
    assert browser_of(root).get(ACCOUNTS).status_code == 200
    assert "superuser" in send(admin, "patch", f"{ACCOUNTS}{root.pk}/", 409, role="viewer")["error"]["message"]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.EDITOR])
def test_nobody_else_manages_or_sees_them(role: Role, ada: User) -> None:
    browser = browser_of(services.account_create(username="eda", role=role, password=None))
    for method, path in (
        ("get", ACCOUNTS), ("post", ACCOUNTS), ("get", f"{ACCOUNTS}{ada.pk}/"), ("patch", f"{ACCOUNTS}{ada.pk}/"),
        ("post", f"{ACCOUNTS}{ada.pk}/login-link/"), ("get", "/api/v1/audit/"), ("get", "/api/v1/audit/export/?as=csv"),
    ):  # fmt: skip
        send(browser, method, path, 403)
    assert Client().get(ACCOUNTS).status_code == 401


def test_with_a_token_they_are_read_at_most(ada: User) -> None:
    _, token = services.bearer_token_create(user=ada, name="ci")
    script = Client(headers={"Authorization": f"Bearer {token}"})
    assert script.get(ACCOUNTS).status_code == 200
    refused = send(script, "post", ACCOUNTS, 403, username="eve", role="admin")
    assert "not with a token" in refused["error"]["message"]
    send(script, "patch", f"{ACCOUNTS}{ada.pk}/", 403, active=True)
    send(script, "post", f"{ACCOUNTS}{ada.pk}/login-link/", 403)


def test_the_owner_is_an_admin() -> None:
    assert browser_of(services.owner_get()).get(ME).json()["role"] == "admin"

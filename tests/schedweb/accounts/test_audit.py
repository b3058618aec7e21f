"""The audit log: who, when, from where, what, with what result; for admins, without secrets, filtered, exported."""

from __future__ import annotations

import csv
import datetime
import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from schedweb.accounts import services
from schedweb.accounts.audit import recording
from schedweb.accounts.audit.settings_noted import settings_noted
from schedweb.accounts.models import AuditEntry
from schedweb.accounts.roles import Role
from tests.schedweb.runs.test_api import check_shape

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
AUDIT = "/api/v1/audit/"


@pytest.fixture
def mira() -> User:
    return services.account_create(username="mira", role=Role.EDITOR, password=PASSWORD)


@pytest.fixture
def admin() -> Client:
    browser = Client(REMOTE_ADDR="192.0.2.1")
    browser.force_login(services.account_create(username="ada", role=Role.ADMIN, password=None))
    return browser


def listed(admin: Client, **asked: str) -> list[dict[str, Any]]:
    answer = admin.get(AUDIT, asked)
    assert answer.status_code == 200, answer.content
    check_shape(AUDIT, answer.json())
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def told(entry: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(entry[name] for name in ("username", "via", "address", "action", "result", "target"))


def test_logins_and_failures(admin: Client, mira: User) -> None:
    browser = Client(REMOTE_ADDR="192.0.2.7")
    browser.post("/login", {"username": "mira", "password": "a guess"})
    browser.post("/login", {"username": PASSWORD, "password": "typed in the wrong place"})
    browser.post("/login", {"username": "mira", "password": PASSWORD})
    browser.post("/logout")
    found = [each for each in listed(admin) if each["address"] == "192.0.2.7"]
    assert [told(each) for each in reversed(found)] == [
        ("", "", "192.0.2.7", "login", "refused", "mira"),
        ("", "", "192.0.2.7", "login", "refused", ""),
        ("mira", "session", "192.0.2.7", "login", "done", ""),
        ("mira", "session", "192.0.2.7", "logout", "done", ""),
    ]
    assert [each["details"].get("why") for each in reversed(found)][:2] == ["wrong", "no_such_account"]
    everything = admin.get(AUDIT).content.decode()
    for secret in (PASSWORD, "a guess", "wrong place"):
        assert secret not in everything


def test_what_anybody_can_repeat_fills_no_disk(admin: Client) -> None:
    stranger = Client(REMOTE_ADDR="192.0.2.66")
    for number in range(30):
        stranger.get(f"/login?token=guess-{number}")
    [entry] = [each for each in listed(admin, action="login") if each["address"] == "192.0.2.66"]
    assert (entry["result"], entry["details"]) == ("refused", {"how": "link", "why": "no_such_link"})
    assert "guess" not in json.dumps(entry)


def test_tokens_shares_and_accounts_without_their_secrets(admin: Client, mira: User) -> None:
    browser = Client(REMOTE_ADDR="192.0.2.7")
    browser.force_login(mira)
    made = browser.post("/api/v1/tokens/", {"name": "ci"}, content_type="application/json").json()
    created = admin.post(
        "/api/v1/accounts/", {"username": "bo", "role": "viewer"}, content_type="application/json"
    ).json()
    path = f"/api/v1/accounts/{created['id']}/"
    admin.patch(path, {"role": "operator"}, content_type="application/json")
    admin.patch(path, {"active": False}, content_type="application/json")
    browser.delete(f"/api/v1/tokens/{made['id']}/")
    found = listed(admin)
    assert [told(each) for each in found[:6]] == [
        ("mira", "session", "192.0.2.7", "token.revoke", "done", "ci"),
        ("ada", "session", "192.0.2.1", "account.disable", "done", "bo"),
        ("ada", "session", "192.0.2.1", "account.role", "done", "bo"),
        ("ada", "session", "192.0.2.1", "account.link", "done", "bo"),
        ("ada", "session", "192.0.2.1", "account.create", "done", "bo"),
        ("mira", "session", "192.0.2.7", "token.create", "done", "ci"),
    ]
    assert found[2]["details"] == {"role": "operator", "before": "viewer"}
    everything = json.dumps(found)
    assert made["token"] not in everything
    assert created["link"]["path"].partition("token=")[2] not in everything


def test_a_scripts_doing_names_its_token(admin: Client, mira: User) -> None:
    _, token = services.bearer_token_create(user=mira, name="nightly")
    script = Client(REMOTE_ADDR="192.0.2.9", headers={"Authorization": f"Bearer {token}"})
    made = script.post(
        "/api/v1/configurations/", {"name": "tight", "preset": "default"}, content_type="application/json"
    )
    assert made.status_code == 201, made.content
    assert script.delete(f"/api/v1/configurations/{made.json()['id']}/").status_code == 204
    assert [told(each) for each in listed(admin)[:2]] == [
        ("mira", "token nightly", "192.0.2.9", "configuration.delete", "done", "tight"),
        ("mira", "token nightly", "192.0.2.9", "configuration.create", "done", "tight"),
    ]


def test_what_a_role_does_not_allow_is_told_once_a_minute(admin: Client) -> None:
    vera = Client(REMOTE_ADDR="192.0.2.5")
    vera.force_login(services.account_create(username="vera", role=Role.VIEWER, password=None))
    for _ in range(3):
        assert vera.get(AUDIT).status_code == 403
    assert [told(each) for each in listed(admin, action="request")] == [
        ("vera", "session", "192.0.2.5", "request", "refused", "GET /api/v1/audit/")
    ]


def test_a_command_on_the_server_is_the_servers(admin: Client, mira: User) -> None:
    call_command("account", "role", "mira", "viewer")
    assert told(listed(admin)[0]) == ("", "server", "", "account.role", "done", "mira")


def test_what_is_undone_is_not_told(admin: Client, mira: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what cannot be written down is not done."""

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("the disk is full")

    before = AuditEntry.objects.count()
    monkeypatch.setattr(services, "record", broken)
    with pytest.raises(RuntimeError, match="disk"):
        services.account_disable(user=mira)
    assert User.objects.get(pk=mira.pk).is_active
    assert AuditEntry.objects.count() == before


def test_filters(admin: Client, mira: User) -> None:
    Client(REMOTE_ADDR="192.0.2.7").post("/login", {"username": "mira", "password": "a guess"})
    services.account_set_role(user=mira, role=Role.VIEWER)
    now = timezone.now().isoformat()

    def actions(**asked: str) -> set[str]:
        return {each["action"] for each in listed(admin, **asked)}

    assert actions(action="account") == {"account.create", "account.role"}
    assert actions(action="account.role") == {"account.role"}
    assert actions(result="refused") == {"login"}
    assert actions(q="192.0.2.7 mira") == {"login"}
    assert actions(until=now) == {"account.create", "account.role", "login"}
    assert actions(since=now) == set()
    admin.post("/logout")
    services.account_create(username="bo", role=Role.ADMIN, password=None)
    other = Client()
    other.force_login(User.objects.get(username="bo"))
    assert {each["username"] for each in listed(other, who="ADA")} == {"ada"}


@pytest.mark.parametrize(
    "asked", [{"action": "murder"}, {"result": "perhaps"}, {"since": "yesterday"}, {"who": "x" * 151}]
)
def test_a_filter_that_cannot_be(admin: Client, asked: dict[str, str]) -> None:
    answer = admin.get(AUDIT, asked)
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, next(iter(asked)))


def test_exports(admin: Client) -> None:
    recording.record("run.delete", target="=HYPERLINK(1)", target_id="7", count=1)
    answer = admin.get(f"{AUDIT}export/", {"as": "csv", "action": "run"})
    rows = list(csv.DictReader(StringIO(answer.content.decode())))
    assert [(each["action"], each["target"], each["details"]) for each in rows] == [
        ("run.delete", "'=HYPERLINK(1)", '{"count": 1}')
    ]
    assert answer.headers["Content-Disposition"] == 'attachment; filename="audit.csv"'
    exported = admin.get(f"{AUDIT}export/", {"as": "json"}).json()
    assert exported["count"] == len(exported["entries"]) == AuditEntry.objects.count() - 1
    newest = exported["entries"][0]
    assert (newest["action"], newest["username"]) == ("audit.export", "ada")
    assert newest["details"] == {"count": 1, "format": "csv", "filter": {"action": "run"}}
    assert admin.get(f"{AUDIT}export/", {"as": "xls"}).status_code == 400


def test_an_export_has_an_end(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedweb.accounts.audit.api.MOST_EXPORTED", 1)
    monkeypatch.setattr("schedweb.accounts.audit.selectors.BATCH", 1)
    recording.record("run.delete", target="r-0001")
    refused = admin.get(f"{AUDIT}export/", {"as": "csv"})
    assert (refused.status_code, "shorter time" in refused.json()["error"]["message"]) == (413, True)


def test_settings_are_told_when_they_change(settings: Any) -> None:
    settings_noted()
    settings_noted()
    assert AuditEntry.objects.filter(action="settings").count() == 1
    settings.VERSION = "another"
    settings_noted()
    newest = AuditEntry.objects.filter(action="settings").first()
    assert newest is not None
    assert (newest.via, newest.details["settings"]["version"]) == ("server", "another")
    assert settings.SECRET_KEY not in json.dumps(newest.details)


def test_old_entries_go_by_command_only(admin: Client) -> None:
    recording.record("run.delete", target="r-0001")
    old = timezone.now() - datetime.timedelta(days=400)
    AuditEntry.objects.filter(target="r-0001").update(at=old)
    printed = StringIO()
    before = str((timezone.now() - datetime.timedelta(days=365)).date())
    call_command("prune_audit", "--before", before, dry_run=True, stdout=printed)
    assert printed.getvalue().startswith("1 entries")
    call_command("prune_audit", "--before", before, stdout=printed)
    assert not AuditEntry.objects.filter(target="r-0001").exists()
    assert listed(admin)[0]["details"] == {"count": 1, "before": before}
    with pytest.raises(CommandError, match="last 30 days stay"):
        call_command("prune_audit", "--before", str(timezone.now().date()))

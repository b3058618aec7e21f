"""Login by OpenID Connect, against a provider that is a process of its own and signs what it says."""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.test import Client

from schedweb.accounts import openid, services
from schedweb.accounts.models import AuditEntry, OpenIdIdentity
from schedweb.accounts.roles import Role
from schedweb.environment import OpenIdSettings, read_environment
from scripts.processes import ROOT
from tests.schedweb.accounts.openid_provider import CLIENT_ID, CLIENT_SECRET, LIES

pytestmark = pytest.mark.django_db
BEGIN, ME = "/login/openid", "/api/v1/me/"
MIRA = {"sub": "subject-1", "preferred_username": "mira", "roles": ["staff", "operator"]}


class NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class ProviderProcess:
    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.schedweb.accounts.openid_provider"]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.issuer = self.process.stdout.readline().strip()

    def says(self, claims: dict[str, Any], lie: str = "", **userinfo: Any) -> None:
        body = json.dumps({"claims": claims, "lie": lie, "userinfo": userinfo}).encode()
        with build_opener().open(Request(f"{self.issuer}/control", body)) as answer:
            assert answer.status == 200

    def authorize(self, url: str) -> str:
        """Where it sends the browser back to."""
        opener = build_opener(NoRedirects)
        with pytest.raises(OSError) as caught:
            opener.open(url)
        location: str = caught.value.headers["Location"]  # type: ignore[attr-defined]  # an HTTPError
        return location

    def stop(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture(scope="module")
def running() -> Iterator[ProviderProcess]:
    started = ProviderProcess()
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture
def provider(running: ProviderProcess, settings: Any) -> ProviderProcess:
    use(settings, running.issuer)
    running.says(MIRA)
    return running


def use(settings: Any, issuer: str, **more: Any) -> None:
    variables = {"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": CLIENT_ID, "OIDC_CLIENT_SECRET": CLIENT_SECRET, **more}
    settings.ENVIRONMENT = dataclasses.replace(
        settings.ENVIRONMENT, openid=read_environment({**variables, "SECRET_KEY": "x"}).openid
    )
    openid.client_of.cache_clear()
    openid.Resting.until = 0.0


def come_back(browser: Client, provider: ProviderProcess, begin: str = BEGIN) -> Any:
    left = browser.get(begin)
    assert left.status_code == 302, left.content
    return browser.get(path_of(provider.authorize(left.headers["Location"])))


def path_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def told(answer: Any) -> str:
    assert answer.status_code in (401, 503), (answer.status_code, answer.content)
    text: str = answer.content.decode()
    return text


def test_it_is_off_by_default() -> None:
    assert Client().get(BEGIN).status_code == 404
    assert Client().get(f"{BEGIN}/back").status_code == 404
    assert "/login/openid" not in Client().get("/login").content.decode()


def test_who_the_provider_knows_gets_in_with_the_role_it_says(provider: ProviderProcess) -> None:
    browser = Client(REMOTE_ADDR="192.0.2.7")
    assert 'href="/login/openid?next=/runs"' in browser.get("/login?next=/runs").content.decode()
    left = browser.get(f"{BEGIN}?next=/runs")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(left.headers["Location"]).query).items()}
    assert (asked["code_challenge_method"], len(asked["state"]) > 20, len(asked["nonce"]) >= 20) == ("S256", True, True)
    cookie = left.cookies["playground_openid"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["max-age"]) == (True, "Lax", BEGIN, 600)
    assert not Session.objects.exists()
    back = browser.get(path_of(provider.authorize(left.headers["Location"])))
    assert (back.status_code, back.headers["Location"]) == (302, "/runs")
    me = browser.get(ME).json()
    assert (me["username"], me["role"]) == ("mira", "operator")
    assert browser.get("/api/v1/sessions/").json()[0]["how"] == "openid"
    # The role is said anew, and no second account is made when the name changes.
    provider.says({**MIRA, "preferred_username": "mira.lund", "roles": "viewer"})
    come_back(browser, provider)
    assert (User.objects.count(), browser.get(ME).json()["role"]) == (1, "viewer")
    newest = AuditEntry.objects.filter(action="login").first()
    assert newest is not None
    assert (newest.username, newest.address, newest.details) == ("mira", "192.0.2.7", {"how": "openid"})


@pytest.mark.parametrize("lie", LIES)
def test_no_lie_is_believed(provider: ProviderProcess, lie: str) -> None:
    use_userinfo = {"preferred_username": "mira"} if lie == "somebody_else" else {}
    claims = {name: value for name, value in MIRA.items() if not use_userinfo or name != "preferred_username"}
    provider.says(claims, lie, **use_userinfo)
    browser = Client()
    said = told(come_back(browser, provider))
    assert ("did not log you in (access_denied)" if lie == "error" else "is not believed") in said
    assert browser.get(ME).status_code == 401
    assert not User.objects.exists()
    assert AuditEntry.objects.filter(action="login", result="refused").count() == 1


def test_an_answer_belongs_to_the_browser_that_asked(provider: ProviderProcess) -> None:
    """Also against somebody who sends another person a link that logs them in as the sender."""
    mine, theirs = Client(), Client()
    back = path_of(provider.authorize(mine.get(BEGIN).headers["Location"]))
    assert "not begun in this browser" in told(theirs.get(back))
    theirs.get(BEGIN)
    assert "not begun in this browser" in told(theirs.get(back))
    assert "not begun in this browser" in told(mine.get(f"{BEGIN}/back?code=x"))
    assert not User.objects.exists()


def test_an_answer_works_once(provider: ProviderProcess) -> None:
    browser = Client()
    left = browser.get(BEGIN)
    remembered = browser.cookies["playground_openid"].value
    back = path_of(provider.authorize(left.headers["Location"]))
    assert browser.get(back).status_code == 302
    assert browser.cookies["playground_openid"].value == ""
    again = Client()
    again.cookies["playground_openid"] = remembered
    told(again.get(back))
    assert again.get(ME).status_code == 401


def test_a_cookie_that_was_made_up_is_no_cookie(provider: ProviderProcess) -> None:
    browser = Client()
    browser.cookies["playground_openid"] = json.dumps({"state": "x", "nonce": "x", "verifier": "x", "next": "/"})
    assert "not begun in this browser" in told(browser.get(f"{BEGIN}/back?code=x&state=x"))


@pytest.mark.parametrize("elsewhere", ["https://evil.example.com/", "//evil.example.com", "/\\evil.example.com"])
def test_nobody_is_led_to_another_site(provider: ProviderProcess, elsewhere: str) -> None:
    back = come_back(Client(), provider, f"{BEGIN}?next={elsewhere}")
    assert back.headers["Location"] == "/"


def test_claims_of_groups_names_and_within_others(provider: ProviderProcess, settings: Any) -> None:
    use(
        settings,
        provider.issuer,
        OIDC_ROLE_CLAIM="realm_access.groups",
        OIDC_ROLES="cn=admins,ou=groups=admin; sre=editor",
        OIDC_USERNAME_CLAIM="email",
    )
    # Where they are not in the token they are asked for.
    provider.says(
        {"sub": "subject-2"}, realm_access={"groups": ["sre", "cn=admins,ou=groups"]}, email="ann@example.com"
    )
    browser = Client()
    come_back(browser, provider)
    me = browser.get(ME).json()
    assert (me["username"], me["role"]) == ("ann@example.com", "admin")


@pytest.mark.parametrize("roles", [None, [], "king", ["king"], 7, {"admin": True}])
def test_without_a_role_nobody_gets_in(provider: ProviderProcess, settings: Any, roles: Any) -> None:
    claims = {**MIRA, "roles": roles}
    provider.says(claims)
    browser = Client()
    assert "names no role for you" in told(come_back(browser, provider))
    assert not User.objects.exists()
    use(settings, provider.issuer, OIDC_DEFAULT_ROLE="viewer")
    come_back(browser, provider)
    assert browser.get(ME).json()["role"] == "viewer"


def test_who_loses_the_role_there_loses_what_they_have_here(provider: ProviderProcess) -> None:
    browser, other = Client(), Client()
    come_back(browser, provider)
    come_back(other, provider)
    _, token = services.bearer_token_create(user=User.objects.get(), name="ci")
    provider.says({**MIRA, "roles": []})
    assert "no role yet" in told(come_back(Client(), provider))
    script = Client(headers={"Authorization": f"Bearer {token}"})
    assert [each.get(ME).status_code for each in (browser, other, script)] == [401, 401, 403]


def test_a_disabled_account_stays_out(provider: ProviderProcess) -> None:
    come_back(Client(), provider)
    services.account_disable(user=User.objects.get())
    assert "disabled" in told(come_back(Client(), provider))


def test_the_last_admin_is_not_demoted_by_the_provider(provider: ProviderProcess) -> None:
    provider.says({**MIRA, "roles": ["admin"]})
    come_back(Client(), provider)
    provider.says(MIRA)
    assert "last admin" in told(come_back(Client(), provider))
    services.account_create(username="ada", role=Role.ADMIN, password=None)
    browser = Client()
    come_back(browser, provider)
    assert browser.get(ME).json()["role"] == "operator"


def test_a_name_that_is_somebodys_is_not_taken_over(provider: ProviderProcess) -> None:
    mira = services.account_create(username="Mira", role=Role.ADMIN, password=None)
    assert "manage.py account identity mira subject-1" in told(come_back(Client(), provider))
    assert not OpenIdIdentity.objects.exists()
    call_command("account", "identity", "Mira", "subject-1")
    services.account_create(username="ada", role=Role.ADMIN, password=None)
    browser = Client()
    come_back(browser, provider)
    assert (browser.get(ME).json()["username"], OpenIdIdentity.objects.get().user) == ("Mira", mira)
    with pytest.raises(CommandError, match="is Mira already"):
        call_command("account", "identity", "ada", "subject-1")


def test_a_name_that_cannot_be(provider: ProviderProcess) -> None:
    for name, said in ((None, "does not say your name"), ("two words", "no spaces"), (7, "does not say your name")):
        provider.says({**MIRA, "preferred_username": name})
        assert said in told(come_back(Client(), provider))
    assert not User.objects.exists()


def test_a_provider_that_is_frozen_or_gone_is_said(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openid, "SECONDS", 0.3)
    started = ProviderProcess()
    try:
        use(settings, started.issuer)
        started.process.send_signal(signal.SIGSTOP)
        answer = Client().get(BEGIN)
        assert (answer.status_code, "does not answer" in told(answer)) == (503, True)
        assert answer.headers["Retry-After"] == "5"
        # It is left alone for a while, so that those who try do not all wait.
        started.process.send_signal(signal.SIGCONT)
        assert Client().get(BEGIN).status_code == 503
        openid.Resting.until = 0.0
        assert Client().get(BEGIN).status_code == 302
        started.stop()
        use(settings, started.issuer)
        assert Client().get(BEGIN).status_code == 503
    finally:
        started.stop()


def test_a_provider_that_calls_itself_otherwise_is_not_believed(provider: ProviderProcess, settings: Any) -> None:
    use(settings, f"{provider.issuer}/")
    assert "not believed" in told(Client().get(BEGIN))


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"OIDC_ISSUER": "http://login.example.com"}, "https://"),
        ({"OIDC_CLIENT_ID": ""}, "OIDC_CLIENT_ID"),
        ({"OIDC_SCOPES": "profile"}, "openid"),
        ({"OIDC_ROLES": "staff=king"}, "'king'"),
        ({"OIDC_ROLES": "staff"}, "OIDC_ROLES"),
        ({"OIDC_DEFAULT_ROLE": "king"}, "'king'"),
        ({}, None),
    ],
)
def test_settings_that_cannot_be(variables: dict[str, str], problem: str | None) -> None:
    given = {"OIDC_ISSUER": "https://login.example.com", "OIDC_CLIENT_ID": "x", "SECRET_KEY": "x", **variables}
    found = read_environment(given)
    assert isinstance(found.openid, OpenIdSettings)
    assert found.problem is None if problem is None else problem in str(found.problem)

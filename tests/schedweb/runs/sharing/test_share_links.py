"""Share links: who makes them, what they open, and that they open nothing else."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from schedweb.accounts.services import hash_of
from schedweb.accounts.visitor import SESSION_KEY
from schedweb.runs.live.consumers import BrowserConsumer
from schedweb.runs.models import Run, ShareLink
from schedweb.runs.playing.services import run_create
from schedweb.runs.sharing.pages import MOST_UNKNOWN
from schedweb.runs.sharing.services import share_link_create, share_link_revoke
from schedweb.runs.sharing.visiting import VisitorThrottle
from schedweb.runs.wire.messages import RunResync, WaitingCount
from schedweb.runs.wire.publisher import EVERYONE, PUBLISHER, run_group
from tests.schedweb.runs.browser import Browser
from tests.schedweb.runs.conftest import Game
from tests.schedweb.runs.test_api import check_shape

pytestmark = pytest.mark.django_db(transaction=True)
LINKS = "/api/v1/runs/{run}/share-links/"


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def make(client: Client, run: UUID, **body: Any) -> dict[str, Any]:
    answer = client.post(LINKS.format(run=run), {"name": "review", **body}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    made: dict[str, Any] = answer.json()
    return made


@pytest.fixture
def visitor(played: Game, client: Client) -> Client:
    """A browser that opened a link to the run that was played."""
    browser = Client()
    opened = browser.get(make(client, played.id)["path"])
    assert (opened.status_code, opened["Location"]) == (302, f"/runs/{played.id}")
    return browser


@pytest.fixture
def other_run(played: Game) -> Run:
    run = played.run
    return run_create(
        user=played.user, snapshot=run.snapshot_id, configuration_version=run.configuration_version_id, seed=1
    )


# Making, listing, revoking --------------------------------------------------------------------------------------------


def test_the_token_is_answered_once_and_kept_as_a_hash(game: Game, client: Client) -> None:
    made = make(client, game.id, expires_at="2200-01-01T00:00:00Z")
    token = made["path"].removeprefix("/share/")
    # 256 random bits in base64.
    assert len(token) == 43
    link = ShareLink.objects.get()
    assert link.token_hash == hash_of(token)
    listed = client.get(LINKS.format(run=game.id))
    check_shape("/api/v1/runs/{run}/share-links/", listed.json())
    assert token not in listed.content.decode()
    [row] = listed.json()
    assert (row["name"], row["created_by"], row["open"], row["revoked_at"]) == ("review", "mira", True, None)
    assert row["expires_at"].startswith("2200-01-01")


def test_a_link_is_revoked_and_stays_in_the_list(game: Game, client: Client) -> None:
    made = make(client, game.id)
    at = LINKS.format(run=game.id) + f"{made['id']}/"
    assert client.delete(at).status_code == 204
    assert client.delete(at).status_code == 204
    [row] = client.get(LINKS.format(run=game.id)).json()
    assert (row["open"], row["revoked_at"] is not None) == (False, True)
    gone = Client().get(made["path"])
    assert gone.status_code == 410
    assert "This share link was revoked on" in gone.content.decode()
    assert "review" not in gone.content.decode()
    assert "Ask mira for another" in gone.content.decode()
    assert client.delete(LINKS.format(run=game.id) + f"{uuid4()}/").status_code == 404


def test_a_link_of_another_run_is_not_revoked(played: Game, other_run: Run, client: Client) -> None:
    made = make(client, played.id)
    assert client.delete(LINKS.format(run=other_run.pk) + f"{made['id']}/").status_code == 404
    assert Client().get(made["path"]).status_code == 302


def test_what_is_refused(game: Game, client: Client, viewer: User) -> None:
    at = LINKS.format(run=game.id)
    for body, path in (({}, "name"), ({"name": "x", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at")):
        refused = client.post(at, body, content_type="application/json")
        assert (refused.status_code, refused.json()["error"]["path"]) == (400, path)
    browser = Client()
    browser.force_login(viewer)
    assert browser.post(at, {"name": "x"}, content_type="application/json").status_code == 403
    assert not ShareLink.objects.exists()


# Opening --------------------------------------------------------------------------------------------------------------


def test_an_expired_link_says_so_and_ends_a_visit(played: Game, client: Client) -> None:
    made = make(client, played.id, expires_at="2200-01-01T00:00:00Z")
    browser = Client()
    assert browser.get(made["path"]).status_code == 302
    board = f"/api/v1/runs/{played.id}/board/"
    assert browser.get(board).status_code == 200
    ShareLink.objects.update(expires_at=timezone.now() - datetime.timedelta(seconds=1))
    for path in (board, "/api/v1/me/"):
        refused = browser.get(path)
        assert refused.status_code == 403
        assert "This share link expired on" in refused.json()["error"]["message"]
    opened = Client().get(made["path"])
    assert opened.status_code == 410
    assert "expired on" in opened.content.decode()


def test_an_unknown_link_opens_nothing_and_too_many_are_held_up(played: Game, client: Client) -> None:
    path = make(client, played.id)["path"]
    browser = Client()
    answers = [browser.get(f"/share/{'x' * 43}") for _ in range(MOST_UNKNOWN + 1)]
    assert [each.status_code for each in answers] == [404] * MOST_UNKNOWN + [429]
    assert "There is no such share link" in answers[0].content.decode()
    assert (answers[-1]["Retry-After"], "Wait a minute" in answers[-1].content.decode()) == ("60", True)
    assert SESSION_KEY not in browser.session
    # One that exists is not held up by those that do not.
    assert browser.get(path).status_code == 302


def test_a_link_goes_with_its_run(played: Game, client: Client) -> None:
    path = make(client, played.id)["path"]
    Run.objects.filter(pk=played.id).delete()
    assert Client().get(path).status_code == 404


def test_who_has_an_account_stays_who_they_are(played: Game, client: Client) -> None:
    assert client.get(make(client, played.id)["path"]).status_code == 302
    assert SESSION_KEY not in client.session
    assert client.get("/api/v1/me/").json()["role"] == "operator"


def test_a_visitor_is_told_what_is_shared(visitor: Client, played: Game) -> None:
    me = visitor.get("/api/v1/me/")
    check_shape("/api/v1/me/", me.json())
    assert (me.json()["role"], me.json()["username"]) == ("visitor", "")
    assert me.json()["shared"] == [{"run": str(played.id), "number": str(played.run)}]


def test_several_links_open_several_runs(visitor: Client, other_run: Run, played: Game, client: Client) -> None:
    comparison = f"/api/v1/runs/{played.id}/comparison/{other_run.pk}/"
    assert visitor.get(comparison).status_code == 403
    second = make(client, other_run.pk)
    visitor.get(second["path"])
    assert visitor.get(comparison).status_code == 200
    share_link_revoke(run=other_run, link=UUID(second["id"]))
    assert visitor.get(comparison).status_code == 403
    assert visitor.get(f"/api/v1/runs/{played.id}/").status_code == 200


def test_a_visitor_may_not_ask_without_end(
    visitor: Client, played: Game, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(VisitorThrottle, "rate", "3/min")
    path = f"/api/v1/runs/{played.id}/"
    answers = [visitor.get(path) for _ in range(4)]
    assert [each.status_code for each in answers] == [200, 200, 200, 429]
    assert answers[-1].json()["error"]["code"] == "throttled"
    assert "This share link was asked more than" in answers[-1].json()["error"]["message"]
    assert int(answers[-1]["Retry-After"]) > 0
    assert client.get(path).status_code == 200


# Default deny ---------------------------------------------------------------------------------------------------------

#: Below /api/v1/: everything that a share link opens. What is added here can be read by strangers.
SHARED = {
    "me/",
    "storage/trouble/",
    "runs/<run:run>/",
    "runs/<run:run>/board/",
    "runs/<run:run>/feed/",
    "runs/<run:run>/pods/",
    "runs/<run:run>/pods/<str:namespace>/<str:name>/",
    "runs/<run:run>/pods/<str:namespace>/<str:name>/yaml/",
    "runs/<run:run>/nodes/",
    "runs/<run:run>/nodes/<str:name>/",
    "runs/<run:run>/nodes/<str:name>/yaml/",
    "runs/<run:run>/selection/",
    "runs/<run:run>/preemptions/",
    "runs/<run:run>/objects/",
    "runs/<run:run>/objects/quotas/",
    "runs/<run:run>/objects/yaml/",
    "runs/<run:run>/timing/",
    "runs/<run:run>/attempts/",
    "runs/<run:run>/attempts/<int:number>/",
    "runs/<run:run>/attempts/<int:number>/difference/<int:other>/",
    "runs/<run:run>/attempts/<int:number>/filter/",
    "runs/<run:run>/attempts/<int:number>/log/",
    "runs/<run:run>/attempts/<int:number>/preemption/",
    "runs/<run:run>/attempts/<int:number>/scores/",
    "runs/<uuid:run>/comparison/<uuid:other>/",
    "runs/<uuid:run>/comparison/<uuid:other>/pods/",
    "runs/<uuid:run>/comparison/<uuid:other>/export/",
    "runs/<uuid:run>/real/",
    "runs/<uuid:run>/real/pods/",
    "runs/<uuid:run>/real/export/",
    "runs/<uuid:run>/metrics/",
    "runs/<uuid:run>/metrics/resources/",
    "runs/<uuid:run>/events/",
    "runs/<uuid:run>/events/file/",
    "runs/<uuid:run>/annotations/",
}
#: Pages outside the API; they show nothing of what is stored.
PAGES = {
    "healthz",
    "livez",
    "readyz",
    "login",
    "login/openid",
    "login/openid/back",
    "logout",
    "share/<str:token>",
    r"^api(/[\s\S]*)?$",
    "^(?!static/|assets/|ws/).*$",
}


def patterns(within: URLResolver | None = None, before: str = "") -> Iterator[str]:
    for each in (within or get_resolver()).url_patterns:
        address = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from patterns(each, address)
        else:
            assert isinstance(each, URLPattern)
            yield address


def address(pattern: str, run: UUID | str, other: UUID | str) -> str:
    filled = pattern.replace("<run:run>", str(run)).replace("<uuid:run>", str(run)).replace("<uuid:other>", str(other))
    values = {
        "<str:namespace>": "shop",
        "<str:name>": "a" if "nodes/" in pattern else "large",
        "<int:number>": "1",
        "<int:other>": "1",
        "<int:position>": "1",
    }
    for part, value in values.items():
        filled = filled.replace(part, value)
    while "<" in filled:
        # Ids of what is neither the run nor part of it.
        start, end = filled.index("<"), filled.index(">")
        filled = filled[:start] + str(uuid4()) + filled[end + 1 :]
    asks = {
        "selection/": "?namespace=shop&name=large",
        "export/": "?as=csv",
        "annotations/": "?as=json",
        "events/file/": "?as=json",
    }
    return "/" + filled + next((query for ending, query in asks.items() if filled.endswith(ending)), "")


def test_a_share_link_opens_what_is_listed_and_nothing_else(visitor: Client, played: Game, other_run: Run) -> None:
    every = set(patterns())
    below = {each.removeprefix("api/v1/") for each in every if each.startswith("api/v1/")}
    assert below >= SHARED
    assert len(below) > len(SHARED) + 20
    for pattern in sorted(below):
        mine = address(f"api/v1/{pattern}", played.id, played.id)
        status = visitor.get(mine).status_code
        if pattern in SHARED:
            # 404: an object, or scores, that this run does not have.
            assert status in (200, 400, 404), (mine, status)
        else:
            assert status in (403, 404, 405), (mine, status)
        if "run>" in pattern:
            theirs = visitor.get(address(f"api/v1/{pattern}", other_run.pk, played.id)).status_code
            assert theirs in (403, 405), (pattern, theirs)
            then = visitor.get(address(f"api/v1/{pattern}", f"{played.id}@0", played.id)).status_code
            assert then in (403, 404), (pattern, then)
        for method in (visitor.post, visitor.put, visitor.patch, visitor.delete):
            wrote = method(mine, {}, content_type="application/json").status_code
            assert wrote in (403, 404, 405), (mine, method, wrote)
    for pattern in every - {f"api/v1/{each}" for each in below} - PAGES:
        assert visitor.get(address(pattern, played.id, played.id)).status_code == 403, pattern
    played.run.refresh_from_db()
    assert (played.run.journal.filter(author=None).exclude(type="clock").count(), Run.objects.count()) == (0, 2)


def test_what_is_listed_really_opens(visitor: Client, played: Game) -> None:
    opened = [
        each for each in SHARED if visitor.get(address(f"api/v1/{each}", played.id, played.id)).status_code == 200
    ]
    shut = SHARED - set(opened)
    # The run has one attempt per pod, no other objects, and nobody was preempted.
    assert shut <= {"runs/<run:run>/objects/yaml/", "runs/<run:run>/attempts/<int:number>/scores/"}, shut


def test_nobody_without_a_link_reads_it(played: Game, client: Client) -> None:
    make(client, played.id)
    assert Client().get(f"/api/v1/runs/{played.id}/").status_code == 401
    assert Client().get("/api/v1/me/").status_code == 401


# The socket -----------------------------------------------------------------------------------------------------------


def link_to(run: Run, user: User, **more: Any) -> str:
    return str(share_link_create(run=run, user=user, name="review", **more)[0].pk)


def session_with(links: Sequence[str]) -> SessionStore:
    session = SessionStore()
    session[SESSION_KEY] = list(links)
    session.save()
    return session


async def connect(*links: str) -> Browser:
    browser = Browser(BrowserConsumer.as_asgi())
    browser.scope["session"] = await sync_to_async(session_with)(links)
    assert await browser.connect()
    return browser


async def subscribed(browser: Browser, run: Run) -> Any:
    await browser.say({"type": "subscribe", "run": str(run.pk)})
    return await browser.told()


async def test_a_visitor_hears_of_its_run_alone(played: Game, other_run: Run, operator: User) -> None:
    browser = await connect(await sync_to_async(link_to)(played.run, operator))
    assert (await browser.told())["type"] == "hello"
    assert (await subscribed(browser, played.run))["type"] == "subscribed"
    assert await subscribed(browser, other_run) == {
        "type": "error",
        "code": "forbidden",
        "message": "A share link shows one run only.",
    }
    await sync_to_async(PUBLISHER.publish)(EVERYONE, WaitingCount(3, 1))
    await sync_to_async(PUBLISHER.publish)(run_group(other_run.pk), RunResync(str(other_run.pk)))
    await sync_to_async(PUBLISHER.publish)(run_group(played.id), RunResync(str(played.id)))
    assert await browser.told() == {"type": "run.resync", "run": str(played.id)}
    assert await browser.hears_nothing()
    await browser.close()


async def test_revoking_ends_the_connection(played: Game, operator: User) -> None:
    link = await sync_to_async(link_to)(played.run, operator)
    browser = await connect(link)
    await browser.told()
    await subscribed(browser, played.run)
    await sync_to_async(share_link_revoke)(run=played.run, link=UUID(link))
    assert await browser.hung_up() == 4403
    again = await connect(link)
    assert await again.hung_up() == 4401


async def test_expiry_ends_the_connection_before_the_next_message(played: Game, operator: User) -> None:
    soon = timezone.now() + datetime.timedelta(seconds=0.5)
    browser = await connect(await sync_to_async(link_to)(played.run, operator, expires_at=soon))
    await browser.told()
    if (await subscribed(browser, played.run))["type"] == "subscribed":
        while timezone.now() <= soon:
            assert await browser.hears_nothing()
        await sync_to_async(PUBLISHER.publish)(run_group(played.id), RunResync(str(played.id)))
        assert await browser.hung_up() == 4403
    assert "expired" in (await subscribed(await connected_after(soon, played, operator), played.run))["message"]


async def test_a_run_that_is_deleted_ends_the_connection_of_who_looks_at_others_too(
    played: Game, other_run: Run, operator: User
) -> None:
    links = [await sync_to_async(link_to)(run, operator) for run in (played.run, other_run)]
    browser = await connect(*links)
    await browser.told()
    await subscribed(browser, played.run)
    await Run.objects.filter(pk=played.id).adelete()
    await browser.say({"type": "subscribe", "run": str(other_run.pk)})
    assert await browser.hung_up() == 4403


async def connected_after(soon: datetime.datetime, played: Game, operator: User) -> Browser:
    """With an open link to another run, and one to this that has expired."""
    expired = await ShareLink.objects.filter(expires_at=soon).afirst()
    assert expired is not None
    other = await sync_to_async(run_create)(
        user=operator,
        snapshot=played.run.snapshot_id,
        configuration_version=played.run.configuration_version_id,
        seed=2,
    )
    browser = await connect(str(expired.pk), await sync_to_async(link_to)(other, operator))
    await browser.told()
    return browser

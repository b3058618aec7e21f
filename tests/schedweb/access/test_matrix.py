"""Who may do what, for every operation and page: the product against matrix.md, and matrix.md against the product."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import copy
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.schedweb.access.requests import request_for
from tests.schedweb.access.table import FILE, Part, parts
from tests.schedweb.access.world import CALLERS, Caller, World, build, everybody
from tests.schedweb.runs.sharing.test_share_links import patterns
from tests.schedweb.runs.test_api import schema

pytestmark = pytest.mark.django_db(transaction=True)

LETS_IN = "yes"
#: What a refusal may write: who asked, and that they did.
MAY_BE_NOTED = ("django_session", "accounts_bearertoken", "accounts_loginfailures", "accounts_sessioninfo", "audit")
WRITES = ("INSERT INTO", "UPDATE", "DELETE FROM")


#: Addresses beside the API, as Django routes them → how the matrix names one.
PAGES = {
    r"^api(/[\s\S]*)?$": "GET /api/",
    "api/docs/": "GET /api/docs/",
    "api/schema/": "GET /api/schema/",
    "healthz": "GET /healthz",
    "livez": "GET /livez",
    "login/openid": "GET /login/openid",
    "login/openid/back": "GET /login/openid/back",
    "login": "GET /login",
    "logout": "POST /logout",
    "metrics": "GET /metrics",
    "readyz": "GET /readyz",
    "share/<str:token>": "GET /share/{token}",
    "^(?!static/|assets/|ws/).*$": "GET /",
}


def operations() -> Iterator[tuple[str, str, str]]:
    """(operation id, method, path), as the API describes itself."""
    for path, methods in schema()["paths"].items():
        for method, operation in methods.items():
            yield operation["operationId"], method, path


def must_be_all(part: Part, there: set[str]) -> None:
    missing, too_many = sorted(there - set(part.rows)), sorted(set(part.rows) - there)
    assert not missing, f"{FILE.name} does not say who may: {missing}"
    assert not too_many, f"{FILE.name} speaks of what is not there: {too_many}"
    assert set(part.callers) == set(CALLERS)


def test_every_operation_is_in_the_matrix() -> None:
    must_be_all(parts()["The API"], {f"{method.upper()} {path}" for _, method, path in operations()})


def test_every_page_is_in_the_matrix() -> None:
    beside = {each for each in patterns() if not each.startswith("api/v1/")}
    assert beside == set(PAGES), "PAGES does not name every page"
    must_be_all(parts()["Pages"], set(PAGES.values()))


@pytest.fixture
def world() -> World:
    return build()


async def streamed(answer: Any) -> bytes:
    return b"".join([part async for part in answer.streaming_content])


def ask(caller: Caller, method: str, address: str, body: Any) -> tuple[int, bytes, list[str]]:
    """Status, content and what was written; afterwards everything is as before."""
    text = b"" if body is None else json.dumps(body).encode()
    cookies = copy(caller.browser.cookies)
    with transaction.atomic(), CaptureQueriesContext(connection) as asked:
        try:
            answer = caller.browser.generic(
                method.upper(), address, text, content_type="application/json", headers=caller.headers
            )
            content = async_to_sync(streamed)(answer) if answer.streaming else answer.content
        finally:
            transaction.set_rollback(True)
            caller.browser.cookies = cookies
    written = [each["sql"] for each in asked.captured_queries if each["sql"].startswith(WRITES)]
    return answer.status_code, content, [sql for sql in written if not any(name in sql for name in MAY_BE_NOTED)]


def fault(want: str, status: int, content: bytes, written: list[str]) -> str:
    """What is wrong about an answer; "" if nothing is."""
    if want == LETS_IN:
        return "" if 200 <= status < 400 else f"was refused: {status} {content[:200]!r}"
    if str(status) != want:
        return f"was answered {status} {content[:200]!r} and not {want}"
    if written:
        return f"was refused, and yet it wrote {written[0][:200]}"
    return ""


def test_everybody_may_do_what_the_matrix_says_and_nothing_else(world: World) -> None:
    rows = parts()["The API"].rows
    callers = everybody(world)
    faults = []
    for operation, method, path in operations():
        for name, ways in callers.items():
            for caller in ways:
                address, body = request_for(operation, path, world, caller)
                found = fault(rows[f"{method.upper()} {path}"][name], *ask(caller, method, address, body))
                if found:
                    faults.append(f"{name} ({caller.way}): {method.upper()} {address} {found}")
    assert not faults, "\n".join(faults)


def test_everybody_sees_the_pages_that_the_matrix_says(world: World) -> None:
    callers, faults = everybody(world), []
    for page, cells in parts()["Pages"].rows.items():
        method, _, path = page.partition(" ")
        address = path.replace("/share/{token}", world.shared[0]).replace("/readyz", "/readyz?exclude=workers")
        for name, want in cells.items():
            for caller in callers[name]:
                if found := fault(want, *ask(caller, method, address, None)):
                    faults.append(f"{name} ({caller.way}): {page} {found}")
    assert not faults, "\n".join(faults)


def test_a_browser_writes_nothing_without_its_token_against_forgery(world: World) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(world.editor)
    caller = Caller("a page of somebody else's", browser, world.editor)
    faults = []
    for operation, method, path in operations():
        if method != "get":
            address, body = request_for(operation, path, world, caller)
            found = fault("403", *ask(caller, method, address, body))
            if found:
                faults.append(f"{method.upper()} {address} {found}")
    assert not faults, "\n".join(faults)

"""Logins that fail make the next one wait, and nobody is kept out by what others do."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from schedweb.accounts import services, throttle
from schedweb.accounts.models import LoginFailures
from schedweb.accounts.roles import Role

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"
HERE, ELSEWHERE = "192.0.2.7", "198.51.100.9"


@pytest.fixture(autouse=True)
def mira() -> User:
    return services.account_create(username="mira", role=Role.OPERATOR, password=PASSWORD)


def attempt(password: str = "guess", *, at: str = HERE, name: str = "mira") -> Any:
    return Client().post("/login", {"username": name, "password": password}, REMOTE_ADDR=at)


def waited(seconds: float) -> None:
    """As if so much time had gone by."""
    for row in LoginFailures.objects.all():
        row.last_at -= datetime.timedelta(seconds=seconds)
        row.save()


def fail(times: int, **how: Any) -> Any:
    answer = None
    for _ in range(times):
        answer = attempt(**how)
        waited(int(answer.headers.get("Retry-After", 0)))
    return answer


def test_who_fails_waits_and_then_gets_in() -> None:
    assert {fail(1).status_code for _ in range(3)} == {401}
    fourth = attempt()
    assert fourth.status_code == 401
    assert "do not match an account. The next one is looked at in 1 second." in fourth.content.decode()
    refused = attempt(PASSWORD)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert "Too many logins failed. Wait 1 second, then try again" in refused.content.decode()
    waited(1)
    assert attempt(PASSWORD).status_code == 302
    # What was counted here is forgotten.
    assert {attempt().status_code for _ in range(3)} == {401}


def test_waiting_grows_and_has_an_end() -> None:
    waits: list[int] = []
    while len(waits) < 13:
        answer = attempt()
        if answer.status_code == 429:
            waits.append(int(answer.headers["Retry-After"]))
            waited(waits[-1])
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]
    attempt()
    assert "Wait 15 minutes" in attempt(PASSWORD).content.decode()
    LoginFailures.objects.update(last_at=timezone.now() - throttle.FORGOTTEN - datetime.timedelta(seconds=1))
    assert attempt(PASSWORD).status_code == 302
    assert not LoginFailures.objects.filter(failures__gt=0).exists()


def test_names_that_nobody_has_are_counted_alike() -> None:
    for name in ("mira", "nobody"):
        assert [attempt(name=name).status_code for _ in range(5)] == [401] * 4 + [429]


@pytest.mark.parametrize("written", ["MIRA", "\N{FULLWIDTH LATIN SMALL LETTER M}ira"])
def test_another_spelling_is_no_way_around(written: str) -> None:
    fail(4)
    assert attempt(name=written).status_code == 429


def test_an_address_that_tries_many_accounts_waits() -> None:
    for number in range(throttle.ADDRESS.free + 1):
        assert attempt(name=f"somebody{number}").status_code == 401
    assert attempt(PASSWORD).status_code == 429
    assert attempt(PASSWORD, at=ELSEWHERE).status_code == 302
    # Whoever has an account of their own cannot wipe that away.
    waited(1)
    services.account_create(username="eve", role=Role.VIEWER, password=PASSWORD)
    assert attempt(PASSWORD, name="eve").status_code == 302
    assert attempt(name="another").status_code == 429


def test_a_network_of_one_caller_is_one_address() -> None:
    for number in range(throttle.ADDRESS.free + 1):
        attempt(name=f"somebody{number}", at=f"2001:db8::{number:x}")
    assert attempt(at="2001:db8::ffff").status_code == 429
    assert attempt(at="2001:db8:0:1::1").status_code == 401


def test_who_is_attacked_from_everywhere_gets_in_after_a_minute_at_most() -> None:
    """Each of many addresses tries once and would hold the next one up; the owner comes to an address of their own."""
    for number in range(40):
        attempt(at=f"203.0.113.{number}")
    refused = attempt(PASSWORD, at=ELSEWHERE)
    assert refused.status_code == 429
    wait = int(refused.headers["Retry-After"])
    assert 0 < wait <= throttle.ACCOUNT.most
    waited(wait)
    for number in range(40, 80):
        # Whatever others do meanwhile.
        attempt(at=f"203.0.113.{number}")
    assert attempt(PASSWORD, at=ELSEWHERE).status_code == 302


def test_nothing_that_was_typed_is_kept() -> None:
    attempt(name="my-password-in-the-wrong-field")
    kept = str(list(LoginFailures.objects.values_list()))
    assert "password" not in kept
    assert HERE not in kept

"""Clients of each role."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.accounts import services as accounts
from schedweb.accounts.roles import Role


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def eda(db: None) -> User:
    return accounts.account_create(username="eda", role=Role.EDITOR, password=None)


@pytest.fixture
def editor(eda: User) -> Client:
    return client_of(eda)


@pytest.fixture
def mira(db: None) -> Client:
    return client_of(accounts.account_create(username="mira", role=Role.EDITOR, password=None))


@pytest.fixture
def viewer(db: None) -> Client:
    return client_of(accounts.account_create(username="vic", role=Role.VIEWER, password=None))

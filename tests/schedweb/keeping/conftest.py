"""What is kept, seen with runs that tests of runs make."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.accounts.roles import Role
from schedweb.accounts.services import account_create
from tests.schedweb.runs.conftest import _short_waits as _short_waits
from tests.schedweb.runs.conftest import client as client
from tests.schedweb.runs.conftest import game as game
from tests.schedweb.runs.conftest import in_background as in_background
from tests.schedweb.runs.conftest import operator as operator
from tests.schedweb.runs.conftest import played as played
from tests.schedweb.runs.conftest import snapshot as snapshot
from tests.schedweb.runs.conftest import version as version
from tests.schedweb.runs.conftest import viewer as viewer


def browser_of(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


@pytest.fixture
def editor(transactional_db: None) -> Client:
    return browser_of(account_create(username="edda", role=Role.EDITOR, password=None))


@pytest.fixture
def colleague(transactional_db: None) -> Client:
    return browser_of(account_create(username="colin", role=Role.OPERATOR, password=None))

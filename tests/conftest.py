"""What every test gets: the browser and the services of this machine, and a loud summary of what was skipped."""

from __future__ import annotations

import gc
import os
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connections
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

from framework.scheduler import options
from schedweb.engine.sums import VERIFY, Sums
from scripts.chromium import SKIPPED, find_chromium
from scripts.services import Services, missing_services, scratch_database, scratch_redis
from tests.apiserver import ApiServer
from tests.first_start import FirstStart

COLLECTOR = (50_000, 20, 50)
"""Objects made and not yet freed between two looks for garbage; Python's own are (700, 10, 10). What is made while
tests are collected stays: looking at it again and again was a fifth of all that the tests computed."""
gc.set_threshold(*COLLECTOR)
DEPLOY = Path(__file__).parent / "deploy"
# An example that took long says how busy the machine is.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
os.environ[VERIFY] = "1"
Sums.verifies = True
"""Whatever engine a test starts, here or as a process, compares all accounts of its nodes before every batch."""
options.DEFAULT = replace(options.DEFAULT, verify_reuse=1)
"""Whatever a test plays, every attempt that reused something is held against one that did not."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that start whole installations first: what takes longest is begun while both workers have enough to do."""
    items.sort(key=lambda item: DEPLOY not in item.path.parents)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


def pytest_runtest_setup() -> None:
    """Again, where a test played what a worker or a web process does when it has begun (schedweb/processes)."""
    gc.set_threshold(*COLLECTOR)


@pytest.fixture(scope="session")
def chromium() -> Path:
    """The Chromium that browser tests drive."""
    found = find_chromium()
    if found is None:
        pytest.skip(SKIPPED)
    return found


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file, as in the product: threads that share SQLite's database in memory get "table is locked" at once. On
    PostgreSQL a database of this process's own."""
    test = connections["default"].settings_dict["TEST"]
    if connections["default"].vendor == "postgresql":
        test["NAME"] = f"playground_test_{uuid.uuid4().hex[:12]}"
    else:
        test["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Every test begins with empty tables, the audit log, too, that PostgreSQL empties for nobody."""
    with django_db_blocker.unblock():
        if connections["default"].vendor == "postgresql":
            with connections["default"].cursor() as cursor:
                cursor.execute("ALTER TABLE accounts_auditentry DISABLE TRIGGER append_only")


@pytest.fixture(scope="session")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirstStart]:
    """What the first start of an installation leaves, to be copied; one folder for all workers."""
    base = tmp_path_factory.getbasetemp()
    started = FirstStart((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "first-start")
    yield started
    started.close()


@pytest.fixture
def services() -> Iterator[Services]:
    """An empty PostgreSQL database and an empty Redis database of the test's own."""
    missing = missing_services()
    if missing is not None:
        pytest.skip(missing)
    with scratch_database() as database_url, scratch_redis() as redis_url:
        yield Services(database_url=database_url, redis_url=redis_url)


@pytest.fixture
def migrated_services(first_start: FirstStart) -> Iterator[Services]:
    """The same with what a first start leaves in the database."""
    missing = missing_services()
    if missing is not None:
        pytest.skip(missing)
    with first_start.database() as (database_url, login), scratch_redis() as redis_url:
        yield Services(database_url=database_url, redis_url=redis_url, login=login)


@pytest.fixture
def api_server() -> Iterator[ApiServer]:
    """A Kubernetes API server of the test's own, empty but for the usual namespaces."""
    with ApiServer() as server:
        yield server


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A test that did not run proves nothing, so a run with skips must not look like one without."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason.removeprefix("Skipped: ")] += 1
    if reasons:
        terminalreporter.section("NOT TESTED ON THIS MACHINE", sep="!", red=True, bold=True)
        for reason, count in sorted(reasons.items()):
            terminalreporter.line(f"{count} skipped: {reason}", red=True)

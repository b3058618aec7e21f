"""The database of the distributed mode goes away, or is held by somebody who stands still."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from scripts.processes import ROOT, Playground
from scripts.services import Services
from scripts.site import Site, eventually
from tests.deploy.crowd import play_to_its_end, run_for_a_crowd

pytestmark = pytest.mark.services

#: Takes a run's row as a worker does that stores a batch, and then stands still as its host does.
FREEZE = """
import os, signal, sys
from django.db import transaction
from schedweb.runs.models import Run
with transaction.atomic():
    Run.objects.select_for_update().get(pk={run!r})
    print("has it", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.fixture
def services(migrated_services: Services) -> Services:
    return migrated_services


@pytest.fixture
def playground(services: Services, tmp_path: Path) -> Iterator[Playground]:
    started = Playground(tmp_path, REDIS_URL=services.redis_url, DATABASE_URL=services.database_url)
    try:
        yield started
    finally:
        started.process.stop()


@pytest.fixture
def site(playground: Playground) -> Site:
    opened = Site(playground.origin)
    opened.open_link(playground.link)
    return opened


def test_who_stands_still_in_a_transaction_does_not_hold_a_run(playground: Playground, site: Site) -> None:
    run = run_for_a_crowd(site)
    command = [sys.executable, "manage.py", "shell", "--no-imports", "--command", FREEZE.format(run=run)]
    with subprocess.Popen(command, cwd=ROOT, env=playground.environment, stdout=subprocess.PIPE, text=True) as frozen:
        try:
            assert frozen.stdout is not None
            assert frozen.stdout.readline().strip() == "has it"
            assert play_to_its_end(site, run) > 0
        finally:
            frozen.kill()


def test_cut_connections_cost_no_lease(playground: Playground, site: Site, services: Services) -> None:
    run = run_for_a_crowd(site)
    site.command(run, {"type": "play", "speed": 10})
    site.run_until(run, "it plays", lambda seen: seen["attempts"] > 0)
    epoch = held(services, run)
    for _ in range(3):
        with psycopg.connect(services.database_url) as connection:
            cut(connection, name_of(services))
        before = site.get(f"/api/v1/runs/{run}/")["position"]
        goes_on_from(site, run, before)
    last = site.run_until(run, "the run is finished", ended)
    assert last["state"] == "finished"
    assert held(services, run) == epoch, playground.process.output()


def goes_on_from(site: Site, run: str, position: int) -> None:
    site.run_until(run, "it goes on", lambda seen: seen["position"] > position or ended(seen))


def ended(run: dict[str, str]) -> bool:
    return run["state"] in ("finished", "parked")


def held(services: Services, run: str) -> int:
    """How many workers have had the run."""
    with psycopg.connect(services.database_url) as connection:
        row = connection.execute("SELECT epoch FROM runs_run WHERE id = %s", [run]).fetchone()
    assert row is not None
    return int(row[0])


def test_the_api_says_as_json_that_the_database_is_gone(playground: Playground, site: Site, services: Services) -> None:
    name = name_of(services)
    server = services.database_url.replace(f"/{name}", "/postgres")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        try:
            cut(connection, name)
            gone = site.ask("GET", "/api/v1/runs/")
        finally:
            connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
    assert (gone.status, gone.body["error"]["code"]) == (503, "unavailable")
    assert eventually("it answers again", lambda: site.ask("GET", "/api/v1/runs/").status == 200 or None)


def name_of(services: Services) -> str:
    return services.database_url.rpartition("/")[2]


def cut(connection: psycopg.Connection, name: str) -> None:
    """All connections to the database but this one."""
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()", [name]
    )

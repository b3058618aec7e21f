"""What web and workers count of their sockets, leases and engines, while these things happen to them; and that sockets
share the connections of their process to Redis."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
import redis

from scripts.bench_sockets import Reader, opened
from scripts.compose import read_compose
from scripts.deployment import Deployment
from scripts.kinds import of_worker
from scripts.processes import free_port
from scripts.services import Services
from scripts.site import Site, eventually
from tests.deploy.test_operation import scraped
from tests.schedweb.worker.test_takeover import Table

pytestmark = pytest.mark.services
TOKEN: Final = "for-prometheus"
VARIABLES: Final = {
    "POSTGRES_PASSWORD": "correct-horse",
    "SECRET_KEY": "battery-staple-battery-staple-battery-staple-battery",
    "METRICS_TOKEN": TOKEN,
}
SOCKETS: Final = 60
MOST_CONNECTIONS: Final = SOCKETS // 4
"""To Redis, of a process: one that waits for messages, and those of its threads that send some, about seven."""


@pytest.fixture
def deployment(migrated_services: Services, tmp_path: Path) -> Iterator[Deployment]:
    deployed = Deployment(read_compose(VARIABLES), migrated_services, tmp_path)
    try:
        deployed.start("web")
        deployed.wait_until_begun("web")
        yield deployed
    finally:
        deployed.stop()


@pytest.fixture
def site(deployment: Deployment, migrated_services: Services) -> Site:
    found = Site(deployment.origin)
    found.open_link(deployment.origin + migrated_services.login)
    return found


def counted(address: str, name: str) -> float:
    return scraped(f"{address}/metrics", TOKEN)[name,]


def wait_until_counted(address: str, name: str, number: float) -> None:
    eventually(f"{name} is {number}", lambda: True if counted(address, name) == number else None)


def run_of_a_sample(site: Site) -> str:
    """Of what the first start brings along."""
    snapshot = site.get("/api/v1/snapshots/")["results"][0]["id"]
    version = site.get("/api/v1/configurations/")["results"][0]["latest"]["id"]
    run: str = site.post("/api/v1/runs/", {"snapshot": snapshot, "configuration_version": version, "seed": 7})["id"]
    return run


def connections(services: Services) -> list[str]:
    """To the test's own database of Redis, by their addresses, but for the one that asks."""
    with redis.Redis.from_url(services.redis_url) as database:
        own, number = database.client_id(), str(database.get_connection_kwargs()["db"])
        return [each["addr"] for each in database.client_list() if each["db"] == number and each["id"] != str(own)]


async def with_sockets(site: Site, runs: list[str], meanwhile: Callable[[list[Reader]], Awaitable[None]]) -> None:
    """As many as there are runs, each of which follows one."""
    readers = [reader for run in set(runs) for reader in await opened(site, run, runs.count(run))]
    assert {reader.closed for reader in readers} == {None}
    try:
        await meanwhile(readers)
        assert {reader.closed for reader in readers} == {None}
    finally:
        for reader in readers:
            reader.leave()


def test_sixty_sockets_of_a_web_process_are_counted_and_share_its_connections_to_redis(
    migrated_services: Services, site: Site
) -> None:
    """Nobody plays: the only process that is connected to this database of Redis is web."""
    runs = [run_of_a_sample(site), run_of_a_sample(site)]
    seen: list[str] = []

    async def count_meanwhile(readers: list[Reader]) -> None:
        heard = [reader.received for reader in readers]
        # Told to everybody: what waits for messages and what sends one are both at work.
        await asyncio.to_thread(site.post, f"/api/v1/runs/{runs[0]}/star/", None)
        async with asyncio.timeout(60):
            while any(reader.received == before for reader, before in zip(readers, heard, strict=True)):
                await asyncio.sleep(0.05)
        await asyncio.to_thread(wait_until_counted, site.origin, "playground_sockets", len(readers))
        seen.extend(await asyncio.to_thread(connections, migrated_services))

    assert counted(site.origin, "playground_sockets") == 0
    asyncio.run(with_sockets(site, runs * (SOCKETS // 2), count_meanwhile))
    wait_until_counted(site.origin, "playground_sockets", 0)
    assert 0 < len(seen) <= MOST_CONNECTIONS, seen


def test_an_engine_s_death_and_a_run_that_is_taken_over_are_counted_by_their_workers(
    deployment: Deployment, site: Site
) -> None:
    addresses = [f"http://127.0.0.1:{free_port()}" for _ in range(2)]
    ports = [address.rpartition(":")[2] for address in addresses]
    deaths, takeovers = "playground_engine_deaths_total", "playground_lease_takeovers_total"
    first = deployment.start("worker", more={"METRICS_PORT": ports[0]})
    deployment.wait_until_begun("worker")
    table = Table(site)
    run = table.start(10)
    table.until_attempts(run, 5)
    assert (counted(addresses[0], deaths), counted(addresses[0], takeovers)) == (0, 0)

    [engine] = of_worker(first.child.pid, "engine")
    os.kill(engine, signal.SIGKILL)
    wait_until_counted(addresses[0], deaths, 1)
    table.until_attempts(run, table.read(run)["attempts"] + 1)
    assert counted(addresses[0], deaths) == 1
    assert counted(addresses[0], takeovers) == 0, "it still is its own run"

    first.signal(signal.SIGKILL)
    first.child.wait()
    deployment.start("worker", copy=2, more={"METRICS_PORT": ports[1]})
    reached = table.read(run)["attempts"]
    table.until_attempts(run, reached + 1)
    assert (counted(addresses[1], takeovers), counted(addresses[1], deaths)) == (1, 0)

"""A worker stands still in the middle of a transaction, or its connection to PostgreSQL does: another one has its runs,
commands wait for nobody, and what comes back writes nothing."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from scripts.compose import read_compose
from scripts.deployment import Deployment
from scripts.processes import Process
from scripts.services import Services
from scripts.site import Site, eventually
from scripts.tcp_proxy import Mode, TcpProxy
from tests.schedweb.worker.test_takeover import PODS, VARIABLES, Table, check

pytestmark = pytest.mark.services
SHORT_SECONDS: Final = 3.0
CUT_SECONDS: Final = 4.0
"""Shorter than a lease, which was renewed just before."""
IN_TRANSACTION: Final = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = %s "
    "AND state = 'idle in transaction'"
)


class Cluster:
    """A web process and workers, and what the database says of their run."""

    def __init__(self, deployed: Deployment, services: Services) -> None:
        self.deployed = deployed
        self.url = services.database_url
        deployed.start("web")
        deployed.wait_until_begun("web")
        self.site = Site(deployed.origin)
        self.site.open_link(deployed.origin + services.login)

    def worker(self, copy: int, database_url: str = "") -> Process:
        named = f"{database_url or self.url}?application_name=worker-{copy}"
        started = self.deployed.start("worker", copy=copy, more={"DATABASE_URL": named})
        eventually("the worker is there", lambda: True if " ready." in started.output() else None)
        return started

    def row(self, query: str, *values: str) -> tuple[object, ...]:
        with psycopg.connect(self.url) as connection:
            found = connection.execute(query.encode(), values).fetchone()
        assert found is not None
        return tuple(found)

    def epoch(self, run: str) -> int:
        return int(str(self.row("SELECT epoch FROM runs_run WHERE id = %s", run)[0]))

    def expires(self, run: str) -> object:
        return self.row("SELECT lease_expires FROM runs_run WHERE id = %s", run)[0]

    def holder(self, run: str, workers: list[Process]) -> Process:
        owner = str(self.row("SELECT lease_owner FROM runs_run WHERE id = %s", run)[0])
        return next(worker for worker in workers if f":{worker.child.pid}:" in owner)

    def is_in_transaction(self, copy: int) -> bool:
        """Whether PostgreSQL waits for that worker in the middle of a transaction, whatever others are at."""
        return self.row(IN_TRANSACTION, f"worker-{copy}")[0] != 0

    def wait_for_another(self, run: str, epoch: int) -> None:
        eventually("another one has the run", lambda: True if self.epoch(run) > epoch else None)


def proxied(services: Services) -> tuple[TcpProxy, str]:
    """To the database, and its URL through it."""
    split = urlsplit(services.database_url)
    proxy = TcpProxy(split.hostname or "", split.port or 5432)
    return proxy, urlunsplit(split._replace(netloc=f"{split.username or 'postgres'}@127.0.0.1:{proxy.port}"))


@pytest.fixture
def services(migrated_services: Services) -> Services:
    return migrated_services


@pytest.fixture
def cluster(services: Services, tmp_path: Path) -> Iterator[Cluster]:
    deployed = Deployment(read_compose(VARIABLES), services, tmp_path)
    try:
        yield Cluster(deployed, services)
    finally:
        for process in deployed.running.values():
            process.signal(signal.SIGCONT)
        deployed.stop()


def freeze_in_a_transaction(cluster: Cluster, worker: Process, copy: int) -> None:
    def look() -> bool | None:
        worker.child.send_signal(signal.SIGSTOP)
        # The server ends what it has heard of already; what is still open then stays so.
        if cluster.is_in_transaction(copy) and cluster.is_in_transaction(copy):
            return True
        worker.child.send_signal(signal.SIGCONT)
        return None

    eventually("it stands still in a transaction", look)


def test_who_stands_still_in_a_transaction_keeps_nobody_waiting_and_writes_nothing(cluster: Cluster) -> None:
    workers = [cluster.worker(1), cluster.worker(2)]
    table = Table(cluster.site)
    calm = table.start("max")
    want = table.end(calm)
    run = table.start(100)
    table.until_attempts(run, 40)
    epoch, frozen = cluster.epoch(run), cluster.holder(run, workers)
    copy = workers.index(frozen) + 1
    freeze_in_a_transaction(cluster, frozen, copy)
    accepted = cluster.site.command(run, {"type": "node_cordon", "name": "node-3"})["id"]
    assert cluster.is_in_transaction(copy), "the command did not wait for the one that stands still"
    assert cluster.epoch(run) == epoch
    cluster.wait_for_another(run, epoch)
    reached = table.read(run)["attempts"]
    assert reached < PODS, "it is still in the middle"
    frozen.child.send_signal(signal.SIGCONT)
    done = eventually(
        "the command is done by the other one",
        lambda: seen if (seen := cluster.site.get(f"/api/v1/runs/{run}/journal/{accepted}/"))["position"] else None,
    )
    assert done["status"] == "applied"
    got = table.end(run)
    assert any("another took over" in line for line in table.notices(run))
    # Cordoning a node that is cordoned changes nothing.
    check(got, want | {key: got[key] for key in ("digest", "points")})
    assert cluster.epoch(run) == epoch + 1, frozen.output()


def test_who_hears_nothing_of_the_database_loses_its_run_and_writes_nothing(
    cluster: Cluster, services: Services
) -> None:
    proxy, through = proxied(services)
    try:
        cut_off = cluster.worker(1, through)
        table = Table(cluster.site)
        calm = table.start("max")
        want = table.end(calm)
        run = table.start(10)
        table.until_attempts(run, 10)

        # Shorter than its lease: it keeps the run, whether connections go silent or are closed.
        epoch = cluster.epoch(run)
        modes: tuple[Mode, ...] = ("silent", "cut")
        for mode in modes:
            proxy.mode = mode
            time.sleep(SHORT_SECONDS)
            proxy.mode = "open"
            table.until_attempts(run, table.read(run)["attempts"] + 10)
        assert cluster.epoch(run) == epoch, cut_off.output()

        cluster.worker(2)
        proxy.mode = "silent"
        cluster.wait_for_another(run, epoch)
        assert table.read(run)["attempts"] < PODS, "it is still in the middle"
        eventually("it lets go of the run", lambda: True if "ended by surprise" in cut_off.output() else None)
        proxy.mode = "open"
        check(table.end(run), want)
        assert table.read(run)["digest"] == table.read(calm)["digest"]
        assert cluster.epoch(run) == epoch + 1, cut_off.output()
    finally:
        proxy.close()


def test_a_cut_of_four_seconds_costs_no_lease(cluster: Cluster, services: Services) -> None:
    """Connections are closed and none is taken, while the run plays and another worker would take it."""
    proxies = [proxied(services), proxied(services)]
    try:
        workers = [cluster.worker(copy, through) for copy, (_, through) in enumerate(proxies, start=1)]
        table = Table(cluster.site)
        run = table.start(10)
        table.until_attempts(run, 10)
        holder = cluster.holder(run, workers)
        proxy, _ = proxies[workers.index(holder)]
        epoch, until = cluster.epoch(run), cluster.expires(run)
        eventually("the lease is renewed", lambda: True if cluster.expires(run) != until else None)
        proxy.mode = "cut"
        time.sleep(CUT_SECONDS)
        proxy.mode = "open"
        table.until_attempts(run, table.read(run)["attempts"] + 10)
        assert cluster.epoch(run) == epoch, holder.output()
        assert "tried again" in holder.output(), "it did hear of the cut"
        assert not table.notices(run), "no engine died, and nobody took over"
    finally:
        for proxy, _ in proxies:
            proxy.close()

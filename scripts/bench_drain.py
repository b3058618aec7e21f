"""What a rolling restart costs runs that play: until another worker has them, until they move again, until the worker
that was told to end is gone.

Web and two workers as docker-compose.yml starts them, on the real PostgreSQL and Redis of this machine. By turns the
worker that plays every run is told to end (SIGTERM), as a container is, and another one is started in its place.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

import psycopg

from scripts.bench_cluster import configured, created, imported, write_cluster
from scripts.chaos.cluster import VARIABLES
from scripts.compose import read_compose
from scripts.deployment import Deployment
from scripts.processes import Process
from scripts.services import Services, scratch_database, scratch_redis
from scripts.site import Site, eventually

PATIENCE: Final = 60.0
LOOK_SECONDS: Final = 0.01
PODS: Final = 5000
ROWS: Final = "SELECT id::text, lease_owner, position FROM runs_run WHERE wanted ORDER BY id"


@dataclass
class Drained:
    """Seconds after SIGTERM."""

    held: list[float]
    """Until another worker had the run; one for each."""
    moved: list[float]
    """Until the run was at a later step with it."""
    gone: float
    status: int


class Watch:
    def __init__(self, database: str) -> None:
        self.database = psycopg.connect(database, autocommit=True)

    def rows(self) -> dict[str, tuple[str, int]]:
        return {run: (owner, position) for run, owner, position in self.database.execute(ROWS).fetchall()}

    def until_one_holds_all(self) -> str:
        def look() -> str | None:
            owners = {owner for owner, _ in self.rows().values()}
            return owners.pop() if len(owners) == 1 and "" not in owners else None

        return eventually("one worker plays every run", look, seconds=PATIENCE)

    def drain(self, worker: Process) -> Drained:
        """``worker``: who holds every run."""
        owner = self.until_one_holds_all()
        began = time.monotonic()
        worker.child.send_signal(signal.SIGTERM)
        held: dict[str, tuple[float, int]] = {}
        moved: dict[str, float] = {}
        gone = None
        while gone is None or len(moved) < len(self.rows()):
            now = time.monotonic() - began
            assert now < PATIENCE, (owner, self.rows(), worker.output()[-2000:])
            for run, (holder, position) in self.rows().items():
                if holder in ("", owner):
                    continue
                _, before = held.setdefault(run, (now, position))
                if position > before:
                    moved.setdefault(run, now)
            if gone is None and not worker.is_running():
                gone = now
            time.sleep(LOOK_SECONDS)
        return Drained([at for at, _ in held.values()], list(moved.values()), gone, worker.child.wait())


def measured(deployed: Deployment, watch: Watch, first: Process, turns: int) -> Iterator[Drained]:
    playing = first
    for turn in range(turns):
        other = started(deployed, turn + 2)
        yield watch.drain(playing)
        playing = other


def started(deployed: Deployment, copy: int) -> Process:
    worker = deployed.start("worker", copy=copy)
    eventually("the worker listens", lambda: True if " ready." in worker.output() else None)
    return worker


def line(what: str, seconds: list[float]) -> str:
    return f"| {what} | {len(seconds)} | {median(seconds):.2f} | {max(seconds):.2f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--speed", choices=["1", "10", "100", "max"], default="10")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, scratch_database() as database, scratch_redis() as redis:
        folder = Path(temporary)
        write_cluster(folder / "cluster.json", 100, 0, 10, PODS)
        deployed = Deployment(read_compose(VARIABLES), Services(database, redis), folder)
        try:
            migrated = deployed.run_once("migrate")
            assert migrated.returncode == 0, migrated.stdout + migrated.stderr
            deployed.start("web")
            first = started(deployed, 1)
            deployed.wait_until_healthy("web")
            site = Site(deployed.origin)
            site.open_link(deployed.run("web", ["python", "manage.py", "login_link"]).stdout.strip())
            snapshot = imported(site, folder / "cluster.json", "drained")
            version = configured(site, "Default")
            runs = [created(site, snapshot, version, pending=PODS) for _ in range(chosen.runs)]
            for run in runs:
                site.command(run, {"type": "play", "speed": chosen.speed})
                site.run_until(run, "it plays", lambda seen: seen["attempts"] > 0)
            watch = Watch(database)
            load = os.getloadavg()[0]
            drained = list(measured(deployed, watch, first, chosen.turns))
            states = {site.get(f"/api/v1/runs/{run}/")["state"] for run in runs}
            watch.database.close()
        finally:
            deployed.stop()
    print(f"{chosen.runs} runs, speed {chosen.speed}, at the end {', '.join(sorted(states))}; exit codes "
          f"{sorted({each.status for each in drained})}; {os.cpu_count()} processors, load {load:.1f} before, "
          f"{os.getloadavg()[0]:.1f} after\n")  # fmt: skip
    print("| after SIGTERM | times | median s | worst s |\n|---|---|---|---|")
    print(line("another worker has the run", [at for each in drained for at in each.held]))
    print(line("the run moves there", [at for each in drained for at in each.moved]))
    print(line("the worker is gone", [each.gone for each in drained]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

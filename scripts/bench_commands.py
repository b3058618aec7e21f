"""How long a command waits while its run plays as fast as it can: until it is accepted, stored and told.

Web and worker as docker-compose.yml starts them, on the real PostgreSQL and Redis of this machine .
One person sends commands of several kinds with pauses between them; a socket follows the run. All of it shares the
processors of one machine. A run that is through is followed by another one.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
import psycopg

from scripts.bench_cluster import created, imported, pod, write_cluster
from scripts.bench_sockets import Reader, handshake
from scripts.chaos.cluster import VARIABLES
from scripts.compose import read_compose
from scripts.deployment import Deployment
from scripts.services import Services, scratch_database, scratch_redis
from scripts.site import CONFIGURATION, Site, eventually

PATIENCE: Final = 30.0
LOOK_SECONDS: Final = 0.002


@dataclass
class Sent:
    kind: str
    at: float
    """Of time.monotonic, as what follows."""
    accepted: float = 0.0
    stored: float = 0.0
    told: float = 0.0


class Outcome(msgspec.Struct):
    id: str


class Told(msgspec.Struct):
    outcomes: list[Outcome] = []
    outcome: Outcome | None = None


TOLD: Final = msgspec.json.Decoder(Told)


class Listener(Reader):
    """Notes when the outcome of each command came."""

    def __init__(self, request: bytes, run: str, told: dict[str, float]) -> None:
        super().__init__(request, run)
        self.told = told

    def hear_text(self, payload: bytes) -> None:
        super().hear_text(payload)
        message = TOLD.decode(payload)
        now = time.monotonic()
        for each in [*message.outcomes, *([message.outcome] if message.outcome else [])]:
            self.told.setdefault(each.id, now)


class Following(threading.Thread):
    """One browser's socket, in a thread of its own."""

    def __init__(self, site: Site, run: str, told: dict[str, float]) -> None:
        super().__init__(name="socket", daemon=True)
        self.site, self.run_id, self.told = site, run, told
        self.ready = threading.Event()
        self.over = threading.Event()

    def run(self) -> None:
        asyncio.run(self.follow())

    async def follow(self) -> None:
        where = urlsplit(self.site.origin)
        request = handshake(self.site)
        _, reader = await asyncio.get_running_loop().create_connection(
            lambda: Listener(request, self.run_id, self.told), where.hostname or "", where.port or 80
        )
        while not self.over.is_set():
            await asyncio.sleep(0.01)
            if reader.subscribed_after is not None:
                self.ready.set()
            assert reader.closed is None, reader.closed
        reader.leave()


class Person:
    """Sends one command after the other, and looks when the journal has it as done."""

    def __init__(self, site: Site, database: str, nodes: int) -> None:
        self.site = site
        self.database = psycopg.connect(database, autocommit=True)
        self.nodes = nodes
        self.numbers = itertools.count()
        self.asks = 0
        self.chance = random.Random(1)
        self.told: dict[str, float] = {}

    def bodies(self, run: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """In turn, for ever."""
        while True:
            name = f"node-{self.chance.randrange(self.nodes)}"
            yield "node_cordon", {"type": "node_cordon", "name": name}
            yield "pod_add", {"type": "pod_add", "manifest": json.dumps(self.asking())}
            yield "node_uncordon", {"type": "node_uncordon", "name": name}
            waiting = self.site.get(f"/api/v1/waiting/?run={run}&limit=1")["rows"]
            if waiting:
                named = [{"namespace": waiting[0]["namespace"], "name": waiting[0]["name"]}]
                yield "decide", {"type": "decide", "decision": "approve", "pods": named}
            yield "set_speed", {"type": "set_speed", "speed": "max"}
            yield "step", {"type": "step", "what": "cycle"}
            yield "play", {"type": "play", "speed": "max"}

    def asking(self) -> dict[str, Any]:
        self.asks += 1
        made = pod(10**6 + self.asks, self.nodes, 1, placed=False)
        made["metadata"]["labels"]["ask"] = "person"
        made["spec"]["priority"] = 1000  # before the thousands that wait
        return made

    def send(self, run: str, kind: str, body: dict[str, Any]) -> Sent:
        sent = Sent(kind, time.monotonic())
        entry = str(self.site.command(run, body)["id"])
        sent.accepted = time.monotonic()
        query = "SELECT status FROM runs_journalentry WHERE id = %s"
        while not (sent.stored and sent.told):
            now = time.monotonic()
            assert now - sent.at < PATIENCE, f"{kind} is not done after {PATIENCE:.0f} s: {sent}"
            if not sent.stored and self.database.execute(query, [entry]).fetchone() != ("pending",):
                sent.stored = time.monotonic()
            sent.told = self.told.get(entry, 0.0)
            time.sleep(LOOK_SECONDS)
        return sent


def measured(person: Person, start: Any, commands: int, pause: float) -> tuple[list[Sent], float, int]:
    """(The commands; attempts per second while they were sent; how many runs it took)."""
    sent: list[Sent] = []
    attempts, seconds, runs = 0, 0.0, 0
    while len(sent) < commands:
        run = start()
        runs += 1
        following = Following(person.site, run, person.told)
        following.start()
        assert following.ready.wait(PATIENCE)
        person.site.command(run, {"type": "play", "speed": "max"})
        before, began = person.site.get(f"/api/v1/runs/{run}/")["attempts"], time.monotonic()
        for kind, body in person.bodies(run):
            time.sleep(pause * person.chance.uniform(0.5, 1.5))
            sent.append(person.send(run, kind, body))
            seen = person.site.get(f"/api/v1/runs/{run}/")
            if len(sent) >= commands or seen["counts"]["active"] < 100:
                break
        attempts, seconds = attempts + seen["attempts"] - before, seconds + time.monotonic() - began
        following.over.set()
        person.site.command(run, {"type": "stop"})
        person.site.run_until(run, "it is stopped", lambda seen: seen["state"] == "stopped")
    return sent, attempts / seconds, runs


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def table(sent: list[Sent]) -> Iterator[str]:
    yield "| from the click to | p50 ms | p99 ms | worst ms |"
    yield "|---|---|---|---|"
    for what, of in (
        ("202", [each.accepted - each.at for each in sent]),
        ("stored with its place", [each.stored - each.at for each in sent]),
        ("told at the socket", [each.told - each.at for each in sent]),
    ):
        yield f"| {what} | {percentile(of, 0.5) * 1e3:.0f} | {percentile(of, 0.99) * 1e3:.0f} | {max(of) * 1e3:.0f} |"


def by_kind(sent: list[Sent]) -> Iterator[str]:
    for kind in sorted({each.kind for each in sent}):
        told = [each.told - each.at for each in sent if each.kind == kind]
        p50, worst = percentile(told, 0.5) * 1e3, max(told) * 1e3
        yield f"{kind}: {len(told)} times, told p50 {p50:.0f} ms, worst {worst:.0f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=30_000)
    parser.add_argument("--commands", type=int, default=210)
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between two commands, on average")
    parser.add_argument("--keep-logs", type=Path, help="a folder")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, scratch_database() as database, scratch_redis() as redis:
        folder = Path(temporary)
        write_cluster(folder / "cluster.json", chosen.nodes, 0, max(10, chosen.pods // 40), chosen.pods)
        deployed = Deployment(read_compose(VARIABLES), Services(database, redis), folder)
        try:
            migrated = deployed.run_once("migrate")
            assert migrated.returncode == 0, migrated.stdout + migrated.stderr
            worker = deployed.start("worker")
            deployed.start("web")
            deployed.wait_until_healthy("web")
            eventually("the worker listens", lambda: True if " ready." in worker.output() else None)
            site = Site(deployed.origin)
            site.open_link(deployed.run("web", ["python", "manage.py", "login_link"]).stdout.strip())
            snapshot = imported(site, folder / "cluster.json", "commands")
            made = site.post("/api/v1/configurations/", {"name": "asks", "text": CONFIGURATION})
            version = made["latest"]["id"]
            person = Person(site, database, chosen.nodes)

            def start() -> str:
                return created(site, snapshot, version, pending=chosen.pods)

            load = os.getloadavg()[0]
            sent, rate, runs = measured(person, start, chosen.commands, chosen.pause)
            person.database.close()
        finally:
            deployed.stop()
            if chosen.keep_logs:
                for log in folder.glob("*.log"):
                    (chosen.keep_logs / log.name).write_bytes(log.read_bytes())
    print(
        f"{chosen.nodes:,} nodes, {chosen.pods:,} queued pods, {len(sent)} commands in {runs} runs, {rate:,.0f} "
        f"attempts/s meanwhile; {os.cpu_count()} processors, load {load:.1f} before, {os.getloadavg()[0]:.1f} after\n"
    )
    print("\n".join(table(sent)) + "\n")
    print("\n".join(by_kind(sent)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

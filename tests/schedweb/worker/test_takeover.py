"""SIGKILL in the middle of a run, with real processes: nothing is lost or placed twice, the digest is the same.

Embedded: the engine's process, and the whole product. Distributed: a whole worker, on real Redis and PostgreSQL.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.compose import read_compose
from scripts.deployment import Deployment
from scripts.kinds import of_worker
from scripts.processes import Playground
from scripts.services import Services
from scripts.site import Site, eventually
from tests.first_start import FirstStart
from tests.schedweb.engine.worlds import ASKING, Manifest, node, pod

VARIABLES = {"POSTGRES_PASSWORD": "correct-horse", "SECRET_KEY": "battery-staple-battery-staple-battery-staple-battery"}
PODS = 800
CLUSTER: list[Manifest] = [
    *(node(f"node-{index}", "32") for index in range(10)),
    *(pod(f"web-{index}", "250m", app="web") for index in range(PODS)),
    *(pod(f"asks-{index}", "250m", ask="person") for index in range(3)),
]


class Table:
    """A person with runs of one snapshot and configuration."""

    def __init__(self, site: Site) -> None:
        self.site = site
        items = {"apiVersion": "v1", "kind": "List", "items": CLUSTER}
        self.snapshot = site.import_snapshot(json.dumps(items), "takeover")["id"]
        self.version = site.post("/api/v1/configurations/", {"name": "asks", "text": ASKING})["latest"]["id"]

    def start(self, speed: str | int) -> str:
        wanted = {"snapshot": self.snapshot, "configuration_version": self.version, "seed": 11, "approvals": "hold"}
        run: str = self.site.post("/api/v1/runs/", wanted)["id"]
        # A journal with a decision of every kind in it, so that replay has something to be exact about.
        self.command(run, {"type": "node_cordon", "name": "node-3"})
        self.command(run, {"type": "play", "speed": speed})
        return run

    def command(self, run: str, body: dict[str, Any]) -> dict[str, Any]:
        """Answered when the engine has done it."""
        entry = self.site.command(run, body)["id"]
        path = f"/api/v1/runs/{run}/journal/{entry}/"
        done: dict[str, Any] = eventually(
            f"{body['type']} is applied",
            lambda: seen if (seen := self.site.get(path))["status"] != "pending" else None,
        )
        assert done["status"] == "applied", done
        return done

    def read(self, run: str) -> Any:
        return self.site.get(f"/api/v1/runs/{run}/")

    def until_attempts(self, run: str, count: int) -> int:
        seen = self.site.run_until(run, f"{count} attempts are made", lambda seen: seen["attempts"] >= count)
        return int(seen["attempts"])

    def end(self, run: str) -> dict[str, Any]:
        """Plays to the end, decides the three that wait; everything that is stored of it then."""
        self.command(run, {"type": "set_speed", "speed": "max"})
        self.site.run_until(run, "it waits for a person", lambda seen: seen["state"] == "waiting_for_person")
        named = [{"namespace": "shop", "name": f"asks-{index}"} for index in range(3)]
        self.command(run, {"type": "decide", "decision": "approve", "pods": named[:2]})
        self.command(run, {"type": "decide", "decision": "reject", "pods": named[2:], "reason": "no"})
        seen = self.site.run_until(run, "it is finished", lambda seen: seen["state"] == "finished")
        attempts = self.window(run, "attempts")
        return {
            "digest": seen["digest"],
            "points": seen["points"],
            "attempts": [(each["number"], each["pod"]["name"], each["result"], each["node"]) for each in attempts],
            "pods": sorted((each["name"], each["column"], each.get("node")) for each in self.window(run, "pods")),
            "decisions": sorted(
                (each["name"], each["decision"], each["outcome"])
                for each in self.site.get(f"/api/v1/decisions/?run={run}")["results"]
            ),
        }

    def window(self, run: str, what: str) -> list[Any]:
        rows: list[Any] = []
        while True:
            page = self.site.get(f"/api/v1/runs/{run}/{what}/?offset={len(rows)}&limit=200")
            rows += page["results"]
            if len(rows) >= page["count"]:
                return rows

    def notices(self, run: str) -> list[str]:
        items: list[Any] = []
        page = self.site.get(f"/api/v1/runs/{run}/feed/?limit=200")
        while page:
            items += page
            page = self.site.get(f"/api/v1/runs/{run}/feed/?limit=200&before={page[-1]['id']}")
        return ["".join(part["v"] for part in item["parts"]) for item in items if item["kind"] == "engine"]


def check(disturbed: dict[str, Any], undisturbed: dict[str, Any]) -> None:
    numbers = [number for number, *_ in disturbed["attempts"]]
    assert sorted(numbers) == list(range(1, len(numbers) + 1)), "no attempt is lost or there twice"
    bound = [name for _, name, result, _ in disturbed["attempts"] if result == "bound"]
    assert len(bound) == len(set(bound)), "no pod is placed twice"
    assert len(bound) == PODS + 2
    assert disturbed == undisturbed


def deaths(table: Table, run: str) -> int:
    """How many deaths of its engines the run's page tells of."""
    return sum("The engine died" in line for line in table.notices(run))


def wait_until_told(table: Table, run: str, before: int) -> None:
    eventually("the page says what happened", lambda: True if deaths(table, run) > before else None)


def is_gone(pid: int) -> bool:
    try:
        return "Z" in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return True


@pytest.fixture
def playground(tmp_path: Path, first_start: FirstStart) -> Iterator[Playground]:
    started = Playground(first_start.into(tmp_path))
    try:
        yield started
    finally:
        started.process.stop()


def test_the_engine_s_process_is_killed_in_the_middle_of_a_run(playground: Playground) -> None:
    site = Site(playground.origin)
    site.open_link(playground.link)
    table = Table(site)
    calm = table.start("max")
    want = table.end(calm)

    run = table.start(100)
    for made in (40, 110):
        reached = table.until_attempts(run, made)
        assert reached < PODS, "it is still in the middle"
        before = deaths(table, run)
        for pid in of_worker(playground.process.child.pid, "engine"):
            os.kill(pid, signal.SIGKILL)
        wait_until_told(table, run, before)
    check(table.end(run), want)
    assert table.read(run)["digest"] == table.read(calm)["digest"]


def test_the_whole_product_is_killed_and_goes_on_at_its_next_start(tmp_path: Path, first_start: FirstStart) -> None:
    first = Playground(first_start.into(tmp_path))
    second = None
    try:
        site = Site(first.origin)
        site.open_link(first.link)
        table = Table(site)
        want = table.end(table.start("max"))
        run = table.start(100)
        table.until_attempts(run, 60)
        orphans = of_worker(first.process.child.pid, "engine")
        first.process.signal(signal.SIGKILL)
        first.process.child.wait()
        eventually("its engines end with it", lambda: True if all(is_gone(pid) for pid in orphans) else None)

        second = Playground(tmp_path)
        table.site = Site(second.origin)
        table.site.open_link(second.link)
        reached = table.until_attempts(run, 61)
        assert reached >= 60
        check(table.end(run), want)
        assert any("another took over" in line for line in table.notices(run))
    finally:
        first.process.stop()
        if second is not None:
            second.process.stop()


def test_stopped_in_order_it_gives_its_runs_back_with_a_checkpoint(playground: Playground, tmp_path: Path) -> None:
    site = Site(playground.origin)
    site.open_link(playground.link)
    table = Table(site)
    run = table.start(100)
    table.until_attempts(run, 20)
    playground.process.stop()
    with contextlib.closing(sqlite3.connect(tmp_path / "playground.sqlite3")) as database:
        stored = database.execute("SELECT lease_owner, wanted, state, position FROM runs_run").fetchone()
        kept = [position for (position,) in database.execute("SELECT position FROM runs_checkpoint")]
    assert stored[:3] == ("", 1, "playing"), "somebody has to go on with it"
    assert stored[3] in kept


@pytest.mark.services
def test_a_whole_worker_is_killed_and_another_one_takes_over(migrated_services: Services, tmp_path: Path) -> None:
    deployed = Deployment(read_compose(VARIABLES), migrated_services, tmp_path)
    try:
        deployed.start("web")
        first = deployed.start("worker")
        deployed.wait_until_begun("web")
        deployed.wait_until_begun("worker")
        site = Site(deployed.origin)
        site.open_link(deployed.origin + migrated_services.login)
        table = Table(site)
        want = table.end(table.start("max"))

        run = table.start(100)
        table.until_attempts(run, 60)
        orphans = of_worker(first.child.pid, "engine")
        assert orphans
        first.signal(signal.SIGKILL)
        first.child.wait()
        reached = table.read(run)["attempts"]
        assert reached < PODS, "it is still in the middle"
        # Taken while nobody plays: accepted, and done by whoever comes next.
        accepted = site.command(run, {"type": "node_uncordon", "name": "node-3"})["id"]
        assert site.get(f"/api/v1/runs/{run}/journal/{accepted}/")["status"] == "pending"
        eventually("its engines end with it", lambda: True if all(is_gone(pid) for pid in orphans) else None)
        eventually(
            "the page says that it is lost",
            lambda: True if table.read(run)["worker"]["state"] == "lost" else None,
        )

        deployed.start("worker", copy=2)
        eventually(
            "the command is done by the other worker",
            lambda: True if site.get(f"/api/v1/runs/{run}/journal/{accepted}/")["status"] == "applied" else None,
        )
        got = table.end(run)
        assert any("another took over" in line for line in table.notices(run))
        bound = [name for _, name, result, _ in got["attempts"] if result == "bound"]
        assert (len(bound), len(set(bound))) == (PODS + 2, PODS + 2)
        assert [each[:2] for each in got["decisions"]] == [each[:2] for each in want["decisions"]]

        # The same without a command in between: identical to the undisturbed run.
        calm = table.start(100)
        table.until_attempts(calm, 60)
        second = deployed.running["worker-2"]
        second.signal(signal.SIGKILL)
        second.child.wait()
        deployed.start("worker", copy=3)
        check(table.end(calm), want)
    finally:
        deployed.stop()

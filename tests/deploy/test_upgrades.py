"""A database that a released version left behind, opened by this one: what is in it can be read, looked back at, forked
and played on, or the page says in a sentence why not.

The databases are made by scripts/release_fixture.py, with the code of each release.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import zstandard

from framework.trace.attempt import AttemptTrace
from framework.trace.encoding import decode_attempts
from scripts.processes import Playground, link_in
from scripts.release_fixture import RELEASES
from scripts.site import Site, eventually

FIXTURES: Final = sorted(RELEASES.glob("*.sqlite3.zst"))
COUNTED_OTHERWISE: Final = "engine-2"
"""Its positions are not today's, so its runs can be read and played again from their start, but not gone on with."""


def name_of(fixture: Path) -> str:
    return fixture.name.removesuffix(".sqlite3.zst")


def unpacked(fixture: Path, folder: Path) -> Path:
    target = folder / "playground.sqlite3"
    target.write_bytes(zstandard.decompress(fixture.read_bytes()))
    return target


@dataclass
class Opened:
    site: Site

    def look(self, path: str) -> Any:
        """What stands there, also when it has to be made first."""

        def made() -> Any:
            answer = self.site.ask("GET", path)
            if answer.status == 202:
                return None
            assert answer.status == 200, (path, answer)
            return answer.body

        return eventually(f"{path} is made", made)

    def runs(self) -> dict[str, Any]:
        """By their number."""
        return {run["number"]: run for run in self.site.get("/api/v1/runs/?limit=50")["results"]}

    def settled(self, run: str, command: dict[str, Any]) -> str:
        entry = self.site.command(run, command)["id"]

        def status() -> str | None:
            found: str = self.site.get(f"/api/v1/runs/{run}/journal/{entry}/")["status"]
            return None if found == "pending" else found

        return eventually(f"{command} is done", status)


@pytest.mark.parametrize("fixture", FIXTURES, ids=name_of)
def test_a_database_of_a_release_is_opened(fixture: Path, tmp_path: Path) -> None:
    unpacked(fixture, tmp_path)
    playground = Playground(tmp_path)
    try:
        site = Site(playground.origin)
        site.open_link(link_in(playground.printed()))
        opened = Opened(site)
        everything_can_be_read(opened)
        if name_of(fixture) == COUNTED_OTHERWISE:
            runs_can_be_read_only(opened)
        else:
            runs_are_looked_back_at(opened)
            forks_come_to_the_same(opened, (0, 20, opened.runs()["r-0001"]["position"]))
            runs_go_on(opened)
    finally:
        playground.process.stop()


def everything_can_be_read(opened: Opened) -> None:
    for run in opened.runs().values():
        base = f"/api/v1/runs/{run['id']}/"
        for part in ("", "board/", "feed/", "timeline/", "journal/", "nodes/?limit=50", "preemptions/", "timing/"):
            opened.site.get(base + part)
        assert run["attempts"] > 5
        for number in range(1, run["attempts"] + 1):
            assert opened.site.get(f"{base}attempts/{number}/")["pod"]["name"]
            assert opened.site.get(f"{base}attempts/{number}/filter/?limit=50")["count"] <= 6
            assert opened.site.ask("GET", f"{base}attempts/{number}/scores/").status in (200, 404)
        for pod in opened.site.get(f"{base}pods/?limit=50")["results"]:
            assert opened.site.get(f"{base}pods/{pod['namespace']}/{pod['name']}/")["column"] == pod["column"]


def runs_are_looked_back_at(opened: Opened) -> None:
    runs = opened.runs()
    for run, position in ((runs["r-0001"], 20), (runs["r-0003"], runs["r-0003"]["position"])):
        base = f"/api/v1/runs/{run['id']}@{position}"
        assert opened.look(f"{base}/board/")["columns"].keys() >= {"bound", "unschedulable"}
        assert opened.look(f"{base}/pods/shop/too-large/")["name"] == "too-large"


def forks_come_to_the_same(opened: Opened, positions: tuple[int, ...]) -> None:
    run = opened.runs()["r-0001"]
    for position in positions:
        fork = opened.site.post(f"/api/v1/runs/{run['id']}/forks/", {"position": position})["id"]
        opened.settled(fork, {"type": "play", "speed": "max"})
        ended = opened.site.run_until(fork, "the fork is finished", lambda seen: seen["state"] == "finished")
        assert (ended["attempts"], ended["counts"]) == (run["attempts"], run["counts"])


def runs_go_on(opened: Opened) -> None:
    runs = opened.runs()
    stepped, waits = runs["r-0002"]["id"], runs["r-0003"]["id"]
    opened.settled(stepped, {"type": "play", "speed": "max"})
    ended = opened.site.run_until(stepped, "the run is finished", lambda seen: seen["state"] == "finished")
    # The same cluster, seed and configuration.
    assert ended["counts"] == runs["r-0001"]["counts"]

    named = {"namespace": "shop", "name": "asks-2", "uid": "uid-asks-2"}
    assert opened.settled(waits, {"type": "decide", "decision": "approve", "pods": [named]}) == "applied"

    def bound() -> bool | None:
        return opened.site.get(f"/api/v1/runs/{waits}/pods/shop/asks-2/")["column"] == "bound" or None

    eventually("who was approved is bound", bound)


def runs_can_be_read_only(opened: Opened) -> None:
    """And played again from their start."""
    run = opened.runs()["r-0001"]
    for answer in (
        opened.site.ask("GET", f"/api/v1/runs/{run['id']}@20/board/"),
        opened.site.ask("POST", f"/api/v1/runs/{run['id']}/forks/", {"position": 20}),
    ):
        assert answer.status == 422, answer
        assert "a fork at step 0 plays it again" in answer.body["error"]["message"]
    forks_come_to_the_same(opened, (0,))

    waits = opened.runs()["r-0003"]["id"]

    def why() -> str | None:
        found: str | None = opened.site.get(f"/api/v1/runs/{waits}/")["error"]
        return found

    said = eventually("it is said why the run that a worker was to go on with does not", why)
    assert said.startswith("Version 2 of the engine played this run, and version "), said
    assert "a fork at step 0 plays it again" in said


def attempts_of(fixture: Path, folder: Path) -> list[AttemptTrace]:
    """Of the run that was played to its end without a person."""
    with sqlite3.connect(unpacked(fixture, folder)) as database:
        chunks = database.execute(
            "SELECT traces FROM runs_attemptchunk JOIN runs_run ON runs_run.id = run_id WHERE number = 1 ORDER BY first"
        ).fetchall()
    return [attempt for (blob,) in chunks for attempt in decode_attempts(blob)]


def test_attempts_are_read_as_they_were_whatever_their_format(tmp_path: Path) -> None:
    """All releases decided the same about this cluster; engine 2 had no plugin for devices, which scores 0 here."""

    def content(attempt: AttemptTrace) -> Any:
        assert attempt.filter is not None
        verdicts = [attempt.filter.verdicts[each] for each in attempt.filter.verdict]
        scores = attempt.scores
        if scores is None:
            return attempt.pod, attempt.result, verdicts
        plugins = [
            (each.plugin, each.weight, each.raw.tolist(), each.normalized.tolist())
            for each in scores.plugins
            if each.plugin != "DynamicResources"
        ]
        arrays = (scores.positions, scores.total, scores.candidates)
        return attempt.pod, attempt.result, attempt.selected, verdicts, plugins, [each.tolist() for each in arrays]

    newest = [content(each) for each in attempts_of(FIXTURES[-1], tmp_path)]
    assert len(newest) == 18
    for fixture in FIXTURES[:-1]:
        assert [content(each) for each in attempts_of(fixture, tmp_path)] == newest, fixture.name

"""A run whose engines die, through the whole product in both modes: parked, told, and tried again by its operator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.processes import Playground
from scripts.services import Services
from scripts.site import Site, eventually
from tests.first_start import FirstStart
from tests.schedweb.engine.worlds import Manifest, node, pod
from tests.schedweb.worker.poison import CONFIGURATION, installed

PODS = 60
CLUSTER: list[Manifest] = [
    node("a", "32"),
    node("b", "32"),
    *(pod(f"web-{index}", "250m", app="web") for index in range(PODS)),
]


@pytest.fixture(params=["embedded", pytest.param("distributed", marks=pytest.mark.services)])
def playground(request: pytest.FixtureRequest, tmp_path: Path, first_start: FirstStart) -> Iterator[Playground]:
    variables = installed(tmp_path)
    if request.param == "distributed":
        services: Services = request.getfixturevalue("migrated_services")
        variables |= {"DATABASE_URL": services.database_url, "REDIS_URL": services.redis_url}
    else:
        first_start.into(tmp_path)
    started = Playground(tmp_path, **variables)
    try:
        yield started
    finally:
        started.process.stop()


def test_a_run_that_cannot_be_played_is_parked_and_goes_on_when_it_is_tried_again(playground: Playground) -> None:
    sick = playground.folder / "sick"
    site = Site(playground.origin)
    site.open_link(playground.link)
    cluster = {"apiVersion": "v1", "kind": "List", "items": CLUSTER}
    snapshot = site.import_snapshot(json.dumps(cluster), "parking")["id"]
    version = site.post("/api/v1/configurations/", {"name": "poison", "text": CONFIGURATION})["latest"]["id"]
    run = site.post("/api/v1/runs/", {"snapshot": snapshot, "configuration_version": version, "seed": 3})["id"]
    site.command(run, {"type": "play", "speed": 10})
    deadly = site.command(run, {"type": "pod_add", "manifest": json.dumps(pod("kills-1"))})["id"]
    harmless = site.command(run, {"type": "pod_add", "manifest": json.dumps(pod("harmless", "250m"))})["id"]

    def entry(id_: str) -> Any:
        return site.get(f"/api/v1/runs/{run}/journal/{id_}/")

    refused = eventually("it is set aside", lambda: seen if (seen := entry(deadly))["status"] == "refused" else None)
    assert "goes on without it" in refused["text"]
    eventually("the next one is done", lambda: True if entry(harmless)["status"] == "applied" else None)
    assert site.get(f"/api/v1/runs/{run}/")["parked"] is None

    sick.touch()
    seen = site.run_until(run, "it is parked", lambda seen: seen["state"] == "parked")
    assert seen["attempts"] < PODS, "it is still in the middle"
    assert seen["parked"]["ended"] == "It was ended by signal 9 (SIGKILL)."
    assert "the last line of the poison" in seen["parked"]["lines"]
    kept = [site.command(run, {"type": "node_cordon", "name": name}) for name in ("a", "b")]
    kept.append(site.command(run, {"type": "node_uncordon", "name": "a"}))
    kept.append(site.command(run, {"type": "set_speed", "speed": "max"}))
    assert [(each["status"], each["kept"]) for each in kept] == [("pending", True)] * 4
    assert site.get(f"/api/v1/runs/{run}/")["parked"]["kept"] == 4

    sick.unlink()
    assert site.command(run, {"type": "try_again"})["status"] == "applied"
    ended = site.run_until(run, "it is finished", lambda seen: seen["state"] == "finished")
    assert [entry(each["id"])["status"] for each in kept] == ["applied"] * 4
    assert (ended["counts"]["bound"], ended["attempts"]) == (PODS + 1, PODS + 1), "each was placed once"
    assert ended["error"] is None

"""24 questions of one person and a run of another, through the whole product in both modes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from scripts.processes import Playground
from scripts.services import Services
from scripts.site import Site, eventually
from tests.first_start import FirstStart
from tests.schedweb.engine.worlds import Manifest, node, pod

QUESTIONS = 24
CLUSTER: list[Manifest] = [
    *(node(f"node-{index}", "8") for index in range(200)),
    *(pod(f"web-{index}", "250m", app="web") for index in range(40)),
    *(pod(f"large-{index}", "64", app=f"large-{index}") for index in range(QUESTIONS)),
]


@pytest.fixture(params=["embedded", pytest.param("distributed", marks=pytest.mark.services)])
def playground(request: pytest.FixtureRequest, tmp_path: Path, first_start: FirstStart) -> Iterator[Playground]:
    variables: dict[str, str] = {}
    if request.param == "distributed":
        services: Services = request.getfixturevalue("migrated_services")
        variables = {"DATABASE_URL": services.database_url, "REDIS_URL": services.redis_url}
    else:
        first_start.into(tmp_path)
    started = Playground(tmp_path, **variables)
    try:
        yield started
    finally:
        started.process.stop()


def test_many_questions_of_one_person_keep_nobody_s_run_waiting(playground: Playground) -> None:
    site = Site(playground.origin)
    site.open_link(playground.link)
    cluster = {"apiVersion": "v1", "kind": "List", "items": CLUSTER}
    snapshot = site.import_snapshot(json.dumps(cluster), "fairness")["id"]
    configurations = site.get("/api/v1/configurations/")["results"]
    version = configurations[0]["latest"]["id"]
    wanted = {"snapshot": snapshot, "configuration_version": version, "speed": "max", "paused": False}
    asked_about = site.post("/api/v1/runs/", wanted)["id"]
    site.run_until(asked_about, "there is something to ask about", lambda seen: seen["state"] == "finished")

    made = site.post("/api/v1/accounts/", {"username": "vera", "role": "viewer"})
    viewer = Site(playground.origin)
    viewer.open_link(f"{playground.origin}{made['link']['path']}")
    path = f"/api/v1/runs/{asked_about}/analyses/"
    answers = [
        viewer.ask(
            "POST", path, {"name": "what_would_help", "arguments": {"namespace": "shop", "name": f"large-{index}"}}
        )
        for index in range(QUESTIONS)
    ]
    taken = [each for each in answers if each.status in (200, 202)]
    refused = [each for each in answers if each.status == 429]
    assert len(taken) + len(refused) == QUESTIONS
    assert refused, "there is a limit"
    assert {each.body["error"]["code"] for each in refused} == {"too_many_questions"}

    run = site.post("/api/v1/runs/", wanted)["id"]
    site.run_until(run, "it is finished", lambda seen: seen["state"] == "finished")
    statuses = [site.get(f"{path}{each.body['id']}/")["status"] for each in taken]
    assert {"pending", "running"} & set(statuses), "the run had not to wait for the questions"
    for each in taken:
        eventually("every question that was taken is answered", partial(answered, site, f"{path}{each.body['id']}/"))


def answered(site: Site, path: str) -> bool | None:
    return True if site.get(path)["status"] == "done" else None

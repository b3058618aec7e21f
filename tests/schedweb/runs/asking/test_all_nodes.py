"""Who would have won a sampled attempt at 100 %: replayed to the attempt, and tried there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client

from framework.interface.status import SUCCESS
from framework.trace.attempt import AttemptTrace, FilterTrace, PreFilterOutcome
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.asking.questions import why_not_sampled
from schedweb.runs.attempts.selectors import was_sampled
from schedweb.runs.models import Analysis, Attempt
from schedweb.runs.playing.services import run_create
from schedweb.snapshots.models import Snapshot
from schedweb.snapshots.services import snapshot_from_manifests
from schedweb.worker.analyst import analyse
from tests.schedweb.engine.worlds import DEFAULT, START, node, pod
from tests.schedweb.runs.conftest import Game

pytestmark = pytest.mark.django_db(transaction=True)
NODES = 120
LOOKED = FilterTrace(("a",), np.zeros(1, dtype=np.int32))
NARROWED = PreFilterOutcome("NodeAffinity", SUCCESS, ("a",))


def played_with(operator: User, percentage: int, name: str) -> Game:
    """Small nodes come first; who looks at all of them finds the large ones."""
    manifests = [node(f"n{index:03}", "2" if index < 100 else "64") for index in range(NODES)]
    manifests += [pod(f"web-{index}", "500m") for index in range(4)]
    snapshot = snapshot_from_manifests(
        name=name, description="", source=Snapshot.Source.IMPORT, objects=manifests, timeline=[], taken_at=START
    )
    configuration = Configuration.objects.create(name=name, slug=name)
    text = f"{DEFAULT}percentageOfNodesToScore: {percentage}\n"
    version = ConfigurationVersion.objects.create(configuration=configuration, number=1, text=text)
    run = run_create(user=operator, snapshot=snapshot.pk, configuration_version=version.pk, seed=7, speed="max")
    game = Game(run, operator)
    game.command("play", speed="max")
    game.play()
    assert game.run.state == "finished"
    return game


def ask(client: Client, game: Game, attempt: int) -> Any:
    body = {"name": "all_nodes", "arguments": {"attempt": attempt}}
    return client.post(f"/api/v1/runs/{game.id}/analyses/", body, content_type="application/json")


def test_the_first_attempt_is_that_of_a_run_that_looks_at_all_nodes(client: Client, operator: User) -> None:
    sampled, whole = played_with(operator, 1, "sampled"), played_with(operator, 100, "whole")
    wanted = Attempt.objects.get(run=whole.run, number=1)
    real = Attempt.objects.get(run=sampled.run, number=1)
    assert wanted.node != real.node
    sampling = client.get(f"/api/v1/runs/{sampled.id}/attempts/1/").json()["sampling"]
    assert sampling == {
        "checked": 100,
        "feasible": 100,
        "of": NODES,
        "sampled": True,
        "nominated": None,
        "batched_with": None,
    }
    asked = ask(client, sampled, 1).json()
    assert analyse(Analysis.objects.get(pk=asked["id"]).pk)
    answered = client.get(f"/api/v1/runs/{sampled.id}/analyses/{asked['id']}/").json()
    assert answered["status"] == "done", answered["error"]
    found = answered["result"]
    assert (found["node"], found["total"]) == (wanted.node, wanted.score)
    assert (found["checked"], found["feasible"], found["of"]) == (NODES, NODES, NODES)
    assert found["node_total"] < found["total"]
    assert ask(client, sampled, 1).status_code == 200


def test_a_later_attempt_is_met_too(client: Client, operator: User) -> None:
    game = played_with(operator, 1, "sampled")
    asked = ask(client, game, 4).json()
    assert analyse(Analysis.objects.get(pk=asked["id"]).pk)
    answered = client.get(f"/api/v1/runs/{game.id}/analyses/{asked['id']}/").json()
    assert answered["status"] == "done", answered["error"]
    assert answered["result"]["checked"] == NODES


def test_an_attempt_that_saw_every_node_is_not_tried(client: Client, played: Game) -> None:
    assert client.get(f"/api/v1/runs/{played.id}/attempts/1/").json()["sampling"]["sampled"] is False
    answer = ask(client, played, 1)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "Attempt 1 looked at every node."
    assert ask(client, played, 4000).status_code == 404


@pytest.mark.parametrize(
    ("trace", "why"),
    [
        (AttemptTrace("shop/web", "u", "p", 1, 1, 0), "Attempt 7 ended before any node was looked at."),
        (
            AttemptTrace("shop/web", "u", "p", 1, 1, 0, filter=LOOKED, nominated_node_used="a"),
            "Attempt 7 looked at a only, to which the pod was nominated.",
        ),
        (
            AttemptTrace("shop/web", "u", "p", 1, 1, 0, filter=LOOKED, batched_with="shop/other"),
            "Attempt 7 took the node that shop/other, a pod like it, left for it, and looked at no other.",
        ),
        (
            AttemptTrace("shop/web", "u", "p", 1, 1, 0, filter=LOOKED, pre_filter=(NARROWED,)),
            "Attempt 7 looked at every node that came into question.",
        ),
        (AttemptTrace("shop/web", "u", "p", 1, 1, 0, filter=LOOKED), "Attempt 7 looked at every node."),
    ],
)
def test_why_nothing_was_left_out(trace: AttemptTrace, why: str) -> None:
    assert not was_sampled(trace)
    assert why_not_sampled(trace, 7) == why

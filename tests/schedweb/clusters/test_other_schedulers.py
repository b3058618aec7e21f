"""A run that schedules the stand-in's cluster says which other schedulers place pods there meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from schedweb.runs.models import Run
from tests.apiserver import ApiServer
from tests.apiserver.client import Client as Apiserver
from tests.apiserver.manifests import pod
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.followed import replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import Begin, at_rest, begun, state
from tests.schedweb.clusters.scheduling.conftest import ours

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]


def place(server: ApiServer, name: str, on: str = "n1") -> None:
    """As another scheduler does: a pod of its own comes, and is bound."""
    server.add(pod(name, scheduler="batch"))
    body: Any = {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "target": {"kind": "Node", "name": on},
    }
    assert Apiserver(server).send("POST", f"/api/v1/namespaces/default/pods/{name}/binding", body).status == 201


def seen(operator: Client, run: Run) -> list[tuple[str, int]]:
    return [(each["scheduler"], each["count"]) for each in state(operator, run)["other_schedulers"]]


def test_others_are_named_with_how_many_pods_they_placed_also_by_who_takes_over(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.add(pod("before", scheduler="batch", on="n1"))
    run = begun(operator, version)
    first = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    server.add(ours("mine"))
    place(server, "one")
    until(stands(run, "mine", "bound"))
    until(lambda: seen(operator, run) == [("batch", 1)])
    assert state(operator, run)["other_schedulers"][0]["last_at"].endswith("Z")
    first.lose_the_lease()
    place(server, "two", "n2")
    second = workers(run)
    until(lambda: seen(operator, run) == [("batch", 2)])
    at_rest(run)
    assert seen(operator, run) == [("batch", 2)], "a list tells no pod twice"
    second.end()
    replay_is_the_same(run)

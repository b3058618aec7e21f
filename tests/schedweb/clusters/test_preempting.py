"""Victims of a run that schedules, at the stand-in: in the order that was recorded of kube-scheduler."""

from __future__ import annotations

import pytest
from django.test import Client

from schedweb.runs.models import Run
from tests.apiserver import ApiServer
from tests.schedweb.clusters.conftest import Worker, until
from tests.schedweb.clusters.followed import replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import Begin, at_rest, begun, state
from tests.schedweb.clusters.scheduling.conftest import node_of, ours, reasons

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
VICTIMS = ("low-a", "low-b")


def written(server: ApiServer) -> list[tuple[str, str, int | None]]:
    """(verb, victim, status), without Events."""
    sent = [each for each in server.requests.writes() if each.name in VICTIMS and each.resource != "events"]
    return [(each.verb, each.name, each.status) for each in sent]


@pytest.fixture
def crowded(server: ApiServer) -> ApiServer:
    """One node, full of two pods."""
    server.remove("nodes", "n2")
    server.change("nodes", "n1", by=lambda it: it["status"]["allocatable"].update(cpu="1"))
    # Of different importance: among equals the order is that of the node's list, which a change of one of them changes.
    server.add(*(ours(name, cpu="450m", on="n1", spec={"priority": place}) for place, name in enumerate(VICTIMS)))
    server.settle()
    return server


def begins(server: ApiServer, operator: Client, version: str, workers: Begin) -> tuple[Run, Worker]:
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    server.requests.clear()
    return run, worker


def makes_room(server: ApiServer, run: Run, worker: Worker) -> None:
    for name in VICTIMS:
        server.remove("Pod", name, "default")
    until(lambda: node_of(server, "high") == "n1")
    until(stands(run, "high", "bound"))
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_the_last_victim_is_told_when_the_others_were_deleted(
    crowded: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    run, worker = begins(crowded, operator, version, workers)
    with crowded.faults.hold(verb="delete", resource="pods") as held:
        crowded.add(ours("high", cpu="900m", spec={"priority": 1000}))
        held.wait_hit()
        crowded.settle()
        (first,) = {name for _, name, _ in written(crowded)}
        held.release()
    until(lambda: all("Preempted" in reasons(crowded, name) for name in VICTIMS))
    (last,) = set(VICTIMS) - {first}
    assert written(crowded) == [
        ("patch", first, 200),
        ("delete", first, 200),
        ("patch", last, 200),
        ("delete", last, 200),
    ]
    makes_room(crowded, run, worker)


def test_where_the_first_deletion_is_refused_the_last_victim_stays_until_it_is_tried_again(
    crowded: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    run, worker = begins(crowded, operator, version, workers)
    with crowded.faults.forbid(verb="delete", resource="pods", times=1) as refused:
        crowded.add(ours("high", cpu="900m", spec={"priority": 1000}))
        refused.wait_hit()
        until(lambda: all("Preempted" in reasons(crowded, name) for name in VICTIMS))
    sent = written(crowded)
    first = sent[0][1]
    (last,) = set(VICTIMS) - {first}
    assert sent[:2] == [("patch", first, 200), ("delete", first, 403)]
    of_last = [index for index, (_, name, _) in enumerate(sent) if name == last]
    assert sent.index(("delete", first, 200)) < of_last[0], "nothing was written of it before the first one went"
    makes_room(crowded, run, worker)

"""Runs that schedule with the rights that deploy/kubernetes gives a worker, those and no others."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.apiserver import ApiServer
from tests.apiserver.recordings import SCHEDULER
from tests.deploy.test_kubernetes import granted
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.followed import stands
from tests.schedweb.clusters.scheduled import Begin, asks, begun, decide, state
from tests.schedweb.clusters.scheduling.conftest import condition, node_of, ours, reasons

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]


@pytest.fixture
def deployed(server: ApiServer) -> ApiServer:
    server.revoke(SCHEDULER)
    for namespace, group, resource, name, verb in sorted(granted("overlays/schedule", "worker")):
        rule = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
        server.grant(SCHEDULER, [{**rule, "resourceNames": [name]} if name else rule], namespace=namespace)
    return server


def evicted(server: ApiServer) -> list[str]:
    return [name for name in ("victim-1", "victim-2") if "Preempted" in reasons(server, name)]


def test_a_worker_in_the_cluster_binds_what_people_approve_and_evicts(
    deployed: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    deployed.add(ours("victim-1", cpu="3"), ours("victim-2", cpu="3"))
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: node_of(deployed, "victim-1") and node_of(deployed, "victim-2"))
    assert state(operator, run)["lacks"] is None
    deployed.add(asks("good"), asks("bad"))
    until(stands(run, "good", "waiting"))
    until(stands(run, "bad", "waiting"))
    decide(operator, run, "approve", "good")
    until(lambda: node_of(deployed, "good"))
    decide(operator, run, "reject", "bad", "not today")
    until(lambda: "not today" in condition(deployed, "bad").get("message", ""))
    urgent = ours("urgent", cpu="3")
    urgent["spec"]["priority"] = 1000
    deployed.add(urgent)
    until(lambda: evicted(deployed))
    deployed.remove("Pod", evicted(deployed)[0], "default")  # its kubelet is done
    until(lambda: node_of(deployed, "urgent"))
    found = state(operator, run)
    assert (found["state"], found["refused"], found["lacks"]) == ("scheduling", 0, None)
    worker.end()

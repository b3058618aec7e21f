"""A run sends what kube-scheduler 1.36.2 was recorded to send in the same scenario, in the same order.

Bodies are held against the recordings in writing/test_recorded.py; here it is who is written to, when and what is said.
Events go their own way, in the recordings as here, and so do patches of the status, which nobody waits for: each order
is compared apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.apiserver import ApiServer
from tests.apiserver.manifests import node
from tests.apiserver.players import Volumes
from tests.apiserver.recordings import load
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.followed import replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import Begin, at_rest, begun, state
from tests.schedweb.clusters.scheduling.conftest import ours
from tests.schedweb.clusters.test_schedule_over_time import claimed, local_volume, with_claim

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
Said = tuple[str, ...]
TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def said(method: str, path: str, body: Any) -> Said:
    """(method, object, what is said of it). Our writes of volumes are patches (live-clusters.md)."""
    where = re.sub(r"\?.*|/api/v1/|namespaces/default/", "", path)
    if "events.k8s.io" in path:
        return "Event", body["regarding"]["name"], body["reason"], body["note"]
    if where.startswith("persistentvolume"):
        return "volume", where
    if where.endswith("/status"):
        status = body["status"]
        conditions = [(each.get("type", ""), each.get("message", "")) for each in status.get("conditions", [])]
        return method, where, str(conditions), status.get("nominatedNodeName") or ""
    return method, where


def orders(listed: list[Said]) -> tuple[list[Said], ...]:
    """Of what is waited for, of statuses, of Events."""
    statuses = [each for each in listed if each[0] == "PATCH"]
    told = [each for each in listed if each[0] == "Event"]
    return [each for each in listed if each[0] not in ("PATCH", "Event")], statuses, told


def recorded(scenario: str) -> list[Said]:
    return [
        said(each["verb"], each["path"], each["body"])
        for each in load(scenario)["requests"]
        if each.get("verb") not in (None, "GET") and "userAgent" in each and "/leases" not in each["path"]
    ]


def sent(server: ApiServer) -> list[Said]:
    writes = [each for each in server.requests.writes() if each.resource != "leases"]
    return [
        said(each.method, each.path, each.body)
        for each in writes
        if each.resource != "selfsubjectaccessreviews" and each.namespace != "kube-system"
    ]


def tainted(server: ApiServer, name: str, *taints: dict[str, str]) -> None:
    server.change("nodes", name, by=lambda it: it["spec"].update(taints=list(taints)))


def conditions(server: ApiServer, name: str) -> str:
    return str(server.get("Pod", name, "default")["status"].get("conditions", ""))


def one_node(server: ApiServer) -> None:
    server.remove("nodes", "n2")  # which of two equal ones is a matter of chance


def create(server: ApiServer) -> None:
    server.add(ours("p1"))


def no_room(server: ApiServer) -> None:
    server.change("nodes", "n1", by=lambda it: it["status"]["allocatable"].update(cpu="1"))
    tainted(server, "n2", {"key": "dedicated", "effect": "NoSchedule"})


def create_and_add_a_node(server: ApiServer) -> None:
    server.add(ours("p1", cpu="2"))
    until(lambda: "0/2 nodes" in conditions(server, "p1"))
    server.add(node("n3", spec={"taints": [TAINT]}))
    until(lambda: "0/3 nodes" in conditions(server, "p1"))
    tainted(server, "n3")


def local_volumes(server: ApiServer) -> None:
    server.play(Volumes())
    server.add(local_volume("n2"), *claimed("kubernetes.io/no-provisioner"))


def create_with_claim(server: ApiServer) -> None:
    server.add(with_claim(ours("p1")))


Act = Callable[[ApiServer], None]
SCENARIOS: dict[str, tuple[Act, Act]] = {
    "placed": (one_node, create),
    "unschedulable": (no_room, create_and_add_a_node),
    "volume_static": (local_volumes, create_with_claim),
}
"""What is there before the run, and what happens in it."""


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_order_is_the_recorded_one(
    server: ApiServer, operator: Client, version: str, workers: Begin, scenario: str
) -> None:
    before, during = SCENARIOS[scenario]
    before(server)
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    server.requests.clear()
    during(server)
    until(stands(run, "p1", "bound"))
    at_rest(run)
    until(lambda: len(sent(server)) >= len(recorded(scenario)))
    assert orders(sent(server)) == orders(recorded(scenario))
    worker.end()
    replay_is_the_same(run)

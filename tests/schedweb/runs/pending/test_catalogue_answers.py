"""First sentences about pods that quotas, NUMA zones and the network keep out, of a run that was really played."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from framework.configuration.presets import preset
from schedweb.api.windows import Window
from schedweb.runs.models import PodRecord
from schedweb.runs.nodes.selectors import node_body
from schedweb.runs.pods.page import pod_body
from schedweb.runs.records.runs import run_get
from schedweb.snapshots.samples.shared import shared_cluster
from tests.schedweb.runs.conftest import Game, played_out

FAR = {"topology.kubernetes.io/zone": "eu-1c"}


@pytest.fixture
def game(operator: User) -> Game:
    objects = shared_cluster().objects
    for each in objects:
        if each["kind"] == "Pod" and each["metadata"]["labels"].get("app") == "basket":
            each["spec"]["nodeSelector"] = FAR
    shared = preset("shared-cluster")
    assert shared is not None
    return played_out(operator, objects, configuration=shared.text)


def body_of(game: Game, workload: str) -> dict[str, Any]:
    record = PodRecord.objects.filter(run=game.run, labels__app=workload, node="").order_by("name")[0]
    return pod_body(run_get(game.run.pk), record.namespace, record.name)


def test_who_refused_it_and_what_is_lacking(game: Game) -> None:
    said = {
        of: (answer["headline"], answer["detail"])
        for of in ("analysis", "sweep", "mesh-sim", "basket")
        for answer in [body_of(game, of)["answer"]]
    }
    again = "The pod is tried again when a pod goes or an ElasticQuota changes."
    assert said["analysis"] == (
        "lab may use 8 cpu at most; it uses 6, and this pod asks for 4.",
        f"It is the max of ElasticQuota lab. {again}",
    )
    assert said["sweep"] == (
        "It asks for 20 cpu; of the 188 that all ElasticQuotas guarantee 7.5 are left to give out.",
        f"ml already borrows 14 cpu from others. {again}",
    )
    headline, detail = said["mesh-sim"]
    assert headline == "On no node that it may use one NUMA zone has all that it asks for."
    assert detail.startswith("node-1 of numa-5 is nearest, short of 1 cpu.")
    headline, detail = said["basket"]
    assert headline == "Every node that it may use is too far from the pods that it talks to."
    assert detail.startswith("Nearest is numa-2: of 1 pod it reaches 0; 1 cost more than its AppGroup allows.")


def test_a_node_tells_its_numa_zones_and_its_load(game: Game) -> None:
    run = run_get(game.run.pk)
    body = node_body(run, "numa-5", Window(limit=5, offset=0))
    assert (body["numa"]["policy"], body["numa"]["scope"]) == ("single-numa-node", "pod")
    zones = {zone["name"]: zone for zone in body["numa"]["zones"]}
    assert zones["node-1"]["costs"] == [{"name": "node-0", "value": 21}]
    cpu = next(each for each in zones["node-1"]["resources"] if each["name"] == "cpu")
    assert (cpu["free"]["text"], cpu["allocatable"]["text"], cpu["asked"]) == ("15", "24", None)
    assert (body["load"]["source"], body["load"]["until"]) == ("Prometheus", "2026-11-20T10:00:00.000Z")
    assert body["load"]["figures"] == [
        {"type": "CPU", "average": 71.0, "deviation": 7.0, "step": 0, "history": []},
        {"type": "Memory", "average": 65.0, "deviation": None, "step": 0, "history": []},
    ]
    assert node_body(run, "general-1", Window(limit=5, offset=0))["numa"] is None


def test_what_each_zone_would_cost_is_told_beside_a_network_refusal(game: Game) -> None:
    network = body_of(game, "basket")["network"]
    assert (network["group"], network["topology"]) == (
        {"namespace": "shop", "name": "checkout"},
        {"namespace": "shop", "name": "nt-default"},
    )
    assert (network["workload"], network["weights"]) == ("basket", "UserDefined")
    (peer,) = network["peers"]
    assert (peer["workload"], peer["most"], peer["pods"]) == ("pricing", 5, 1)
    (place,) = network["places"]
    assert (place["zone"], place["satisfied"], place["violated"]) == ("eu-1c", 0, 1)
    cost = {"eu-1a": 12, "eu-1b": 9}[peer["zone"]]
    assert place["reaches"] == [{"cost": cost, "near": False}]
    assert place["nodes"] > 0
    assert body_of(game, "mesh-sim")["network"] is None

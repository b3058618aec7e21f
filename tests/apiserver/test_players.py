"""Kubelets and controllers that play along."""

from __future__ import annotations

from typing import Any

from tests.apiserver import ApiServer
from tests.apiserver.client import Client
from tests.apiserver.kinds import Json
from tests.apiserver.manifests import node, pod
from tests.apiserver.patches import MERGE
from tests.apiserver.players import SELECTED_NODE, DeviceClaims, Kubelets, Volumes

POD = "/api/v1/namespaces/default/pods/p1"
CLAIM = "/api/v1/namespaces/default/persistentvolumeclaims/c1"


def claim() -> Json:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "dyn"}
    metadata: Json = {"name": "c1", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec, "status": {}}


def conditions(body: Json) -> list[tuple[str, str]]:
    return [(each["type"], each["status"]) for each in body["status"]["conditions"]]


def test_a_bound_pod_runs_and_a_deleted_one_goes(api_server: ApiServer) -> None:
    api_server.play(Kubelets())
    api_server.add(node("n1"), pod("p1"))
    client = Client(api_server)
    binding = {"metadata": {"name": "p1"}, "target": {"kind": "Node", "name": "n1"}}
    assert client.send("POST", f"{POD}/binding", binding).status == 201
    api_server.settle()
    running = api_server.get("pods", "p1")
    assert running["status"]["phase"] == "Running"
    assert conditions(running)[-1] == ("PodScheduled", "True")
    client.send("DELETE", POD)
    api_server.settle()
    assert api_server.find("pods", "p1") is None


def test_a_pod_that_does_not_fit_any_more_is_rejected(api_server: ApiServer) -> None:
    api_server.play(Kubelets())
    api_server.add(node("n1", cpu="1"), pod("p0", cpu="600m", on="n1"), pod("p1", cpu="500m"))
    binding = {"metadata": {"name": "p1"}, "target": {"kind": "Node", "name": "n1"}}
    Client(api_server).send("POST", f"{POD}/binding", binding)
    api_server.settle()
    status = api_server.get("pods", "p1")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "OutOfcpu")
    assert status["message"].endswith("resource: cpu, requested: 500, used: 600, capacity: 1000")


def test_a_claim_is_bound_where_the_scheduler_said(api_server: ApiServer) -> None:
    api_server.play(Volumes(refuses=1))
    api_server.add(node("n1"), claim())
    client = Client(api_server)
    chosen: Any = {"metadata": {"annotations": {SELECTED_NODE: "n1"}}}
    client.send("PATCH", CLAIM, chosen, content_type=MERGE)
    api_server.settle()
    assert SELECTED_NODE not in api_server.get("persistentvolumeclaims", "c1")["metadata"]["annotations"]
    client.send("PATCH", CLAIM, chosen, content_type=MERGE)
    api_server.settle()
    bound = api_server.get("persistentvolumeclaims", "c1")
    [volume] = api_server.all("persistentvolumes")
    assert bound["status"]["phase"] == volume["status"]["phase"] == "Bound"
    assert bound["spec"]["volumeName"] == volume["metadata"]["name"]


def test_a_claim_from_a_template_lives_as_long_as_its_pod(api_server: ApiServer) -> None:
    api_server.play(DeviceClaims())
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "gpu", "namespace": "default"},
        "spec": {"spec": {"devices": {"requests": [{"name": "g"}]}}},
    }
    wanted = [{"name": "g", "resourceClaimTemplateName": "gpu"}]
    api_server.add(template, pod("p1", spec={"resourceClaims": wanted}))
    api_server.settle()
    [made] = api_server.all("resourceclaims")
    assert api_server.get("pods", "p1")["status"]["resourceClaimStatuses"] == [
        {"name": "g", "resourceClaimName": made["metadata"]["name"]}
    ]
    api_server.remove("pods", "p1")
    api_server.settle()
    assert api_server.all("resourceclaims") == []


def test_a_reservation_ends_with_its_pod(api_server: ApiServer) -> None:
    api_server.play(DeviceClaims())
    pods = api_server.add(pod("p1"), pod("p2"))
    reserved = [{"resource": "pods", "name": each["metadata"]["name"], "uid": each["metadata"]["uid"]} for each in pods]
    held = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "gc", "namespace": "default"},
        "spec": {},
        "status": {"allocation": {"devices": {}}, "reservedFor": reserved},
    }
    api_server.add(held)
    api_server.remove("pods", "p1")
    api_server.settle()
    assert [each["name"] for each in api_server.get("resourceclaims", "gc")["status"]["reservedFor"]] == ["p2"]
    api_server.remove("pods", "p2")
    api_server.settle()
    assert api_server.get("resourceclaims", "gc")["status"] == {}

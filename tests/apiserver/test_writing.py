"""Writes that no recording has: preconditions, conflicts, dry runs, evictions, admission, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver import ApiServer
from tests.apiserver.client import Answer, Client
from tests.apiserver.kinds import Json
from tests.apiserver.manifests import node, pod
from tests.apiserver.patches import MERGE, STRATEGIC

NAMESPACE = "/api/v1/namespaces/default"
POD = f"{NAMESPACE}/pods/p1"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
LEASE: Json = {
    "kind": "Lease",
    "apiVersion": "coordination.k8s.io/v1",
    "metadata": {"name": "ours", "namespace": "kube-system"},
    "spec": {"holderIdentity": "a"},
}


def bind(client: Client, node_name: str, *, uid: str | None = None, **query: str) -> Answer:
    metadata: Json = {"name": "p1", **({"uid": uid} if uid else {})}
    body = {"kind": "Binding", "apiVersion": "v1", "metadata": metadata, "target": {"kind": "Node", "name": node_name}}
    return client.send("POST", f"{POD}/binding", body, **query)


def test_a_lease_is_written_by_who_saw_its_latest_version(api_server: ApiServer) -> None:
    client = Client(api_server)
    made = client.send("POST", LEASES, LEASE)
    assert made.status == 201
    assert client.send("POST", LEASES, LEASE).body["reason"] == "AlreadyExists"
    taken = {**made.body, "spec": {"holderIdentity": "b"}}
    assert client.send("PUT", f"{LEASES}/ours", taken).status == 200
    late = client.send("PUT", f"{LEASES}/ours", {**made.body, "spec": {"holderIdentity": "c"}})
    assert (late.status, late.body["reason"]) == (409, "Conflict")
    assert late.body["message"] == (
        'Operation cannot be fulfilled on leases.coordination.k8s.io "ours": the object has been modified; please '
        "apply your changes to the latest version and try again"
    )
    assert late.body["details"] == {"name": "ours", "group": "coordination.k8s.io", "kind": "leases"}
    assert api_server.get("leases", "ours", "kube-system")["spec"] == {"holderIdentity": "b"}


def test_a_put_makes_a_lease_that_is_not_there_and_no_pod(api_server: ApiServer) -> None:
    client = Client(api_server)
    assert client.send("PUT", f"{LEASES}/ours", LEASE).status == 201
    assert client.send("PUT", POD, pod("p1")).status == 404


def test_a_patch_with_a_version_that_is_not_the_latest(api_server: ApiServer) -> None:
    [stored] = api_server.add(pod("p1"))
    seen = stored["metadata"]["resourceVersion"]
    client = Client(api_server)
    patch = {"metadata": {"resourceVersion": seen, "annotations": {"a": "1"}}}
    assert client.send("PATCH", POD, patch, content_type=MERGE).status == 200
    assert client.send("PATCH", POD, patch, content_type=MERGE).body["reason"] == "Conflict"
    foreign = {"metadata": {"uid": "another"}}
    refused = client.send("PATCH", POD, foreign, content_type=STRATEGIC)
    assert (refused.status, refused.body["details"]["causes"][0]["field"]) == (422, "metadata.uid")


def test_a_write_that_changes_nothing_is_none(api_server: ApiServer) -> None:
    [stored] = api_server.add(pod("p1", metadata={"labels": {"a": "1"}}))
    before = api_server.version
    answer = Client(api_server).send("PATCH", POD, {"metadata": {"labels": {"a": "1"}}}, content_type=MERGE)
    assert answer.body["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]
    assert api_server.version == before


def test_status_and_the_rest_are_written_apart(api_server: ApiServer) -> None:
    api_server.add(pod("p1"))
    client = Client(api_server)
    both = {"status": {"phase": "Failed"}, "metadata": {"labels": {"a": "1"}}, "spec": {"schedulerName": "x"}}
    main = client.send("PATCH", POD, both, content_type=MERGE).body
    assert (main["status"]["phase"], main["spec"]["schedulerName"]) == ("Pending", "x")
    assert main["metadata"]["generation"] == 2
    status = client.send("PATCH", f"{POD}/status", {**both, "spec": {"schedulerName": "y"}}, content_type=MERGE).body
    assert (status["status"]["phase"], status["spec"]["schedulerName"]) == ("Failed", "x")
    assert status["metadata"]["generation"] == 2


def test_strategic_patches_merge_lists_by_their_keys(api_server: ApiServer) -> None:
    conditions = [{"type": "Ready", "status": "True"}, {"type": "PodScheduled", "status": "False", "reason": "x"}]
    api_server.add(pod("p1", status={"conditions": conditions}, metadata={"finalizers": ["a/b"]}))
    client = Client(api_server)

    def patched(path: str, patch: Json) -> Json:
        answer = client.send("PATCH", path, patch, content_type=STRATEGIC)
        assert answer.status == 200, answer.body
        found: Json = answer.body
        return found

    changed = patched(f"{POD}/status", {"status": {"conditions": [{"type": "PodScheduled", "reason": "y"}]}})
    times = {"lastProbeTime": None, "lastTransitionTime": None}
    assert changed["status"]["conditions"] == [{**conditions[0], **times}, {**conditions[1], **times, "reason": "y"}]

    def order_after(status: Json) -> list[str]:
        return [each["type"] for each in patched(f"{POD}/status", {"status": status})["status"]["conditions"]]

    # kube-apiserver 1.36.2 was asked: what is new comes first.
    assert order_after({"conditions": [{"type": "New", "status": "True"}]}) == ["New", "Ready", "PodScheduled"]
    swapped = ["Ready", "PodScheduled", "New"]
    assert order_after({"$setElementOrder/conditions": [{"type": "PodScheduled"}, {"type": "New"}]}) == swapped
    assert order_after({"$setElementOrder/conditions": [{"type": "Ready"}]}) == swapped, "others keep their places"
    patched(f"{POD}/status", {"status": {"conditions": [{"type": "New", "$patch": "delete"}]}})
    removed = {"status": {"conditions": [{"type": "Ready", "$patch": "delete"}]}}
    assert len(patched(f"{POD}/status", removed)["status"]["conditions"]) == 1
    assert patched(POD, {"metadata": {"finalizers": ["c/d"]}})["metadata"]["finalizers"] == ["a/b", "c/d"]
    emptied = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/b"]}}
    assert patched(POD, emptied)["metadata"]["finalizers"] == ["c/d"]
    replaced = {"status": {"conditions": [{"$patch": "replace"}, {"type": "Only", "status": "True"}]}}
    assert [each["type"] for each in patched(f"{POD}/status", replaced)["status"]["conditions"]] == ["Only"]
    keyless = client.send("PATCH", f"{POD}/status", {"status": {"conditions": [{"a": 1}]}}, content_type=STRATEGIC)
    assert keyless.status == 400


@pytest.mark.parametrize(
    ("spoilt", "status", "says"),
    [
        ({"spec": {"nodeName": "n2"}}, 409, 'pod p1 is already assigned to node "n2"'),
        ({"spec": {"schedulingGates": [{"name": "g"}]}}, 409, "pod p1 has non-empty .spec.schedulingGates"),
        ({"metadata": {"deletionTimestamp": "2026-11-23T03:28:32Z"}}, 409, "pod p1 is being deleted"),
    ],
)
def test_bindings_that_are_refused(api_server: ApiServer, spoilt: Any, status: int, says: str) -> None:
    api_server.add(pod("p1", **spoilt))
    answer = bind(Client(api_server), "n1")
    assert answer.status == status
    assert says in answer.body["message"]


def test_a_binding_in_full(api_server: ApiServer) -> None:
    zone = {"labels": {"topology.kubernetes.io/zone": "a", "other": "b"}}
    api_server.add(node("n1", metadata=zone))
    [stored] = api_server.add(pod("p1", status={"nominatedNodeName": "n1"}))
    client = Client(api_server)
    wrong = bind(client, "n1", uid="another")
    assert (wrong.status, "UID in precondition: another" in wrong.body["message"]) == (409, True)
    assert bind(client, "").status == 422
    assert bind(client, "n1", dryRun="All").status == 201
    assert bind(client, "n1", dryRun="Some").status == 422
    assert api_server.get("pods", "p1") == stored
    assert bind(client, "n1", uid=stored["metadata"]["uid"]).body["status"] == "Success"
    bound = api_server.get("pods", "p1")
    assert bound["spec"]["nodeName"] == "n1"
    assert "nominatedNodeName" not in bound["status"]
    assert [(each["type"], each["status"]) for each in bound["status"]["conditions"]] == [("PodScheduled", "True")]
    assert bound["metadata"]["labels"] == {"topology.kubernetes.io/zone": "a"}
    moved = client.send("PATCH", POD, {"spec": {"nodeName": "n2"}}, content_type=MERGE)
    assert moved.status == 422


def test_deletions(api_server: ApiServer) -> None:
    client = Client(api_server)
    [running] = api_server.add(pod("p1", on="n1", spec={"terminationGracePeriodSeconds": 7}))
    uid, version = running["metadata"]["uid"], running["metadata"]["resourceVersion"]
    recreated = client.send("DELETE", POD, {"preconditions": {"uid": "another"}})
    assert recreated.status == 409
    assert recreated.body["message"] == (
        f'Operation cannot be fulfilled on Pod "p1": the UID in the precondition (another) does not match the UID in '
        f"record ({uid}). The object might have been deleted and then recreated"
    )
    assert client.send("DELETE", POD, {"preconditions": {"resourceVersion": "1"}}).status == 409
    assert client.send("DELETE", POD, dryRun="All").status == 200
    assert api_server.get("pods", "p1") == running
    gone = client.send("DELETE", POD, {"preconditions": {"uid": uid, "resourceVersion": version}}).body
    assert (gone["kind"], gone["metadata"]["deletionGracePeriodSeconds"]) == ("Pod", 7)
    assert gone["metadata"]["generation"] == 2
    again = client.send("DELETE", POD).body
    assert again["metadata"]["resourceVersion"] == gone["metadata"]["resourceVersion"]
    assert client.send("DELETE", POD, gracePeriodSeconds=0).status == 200
    assert client.send("DELETE", POD).status == 404


def test_the_query_of_a_deletion_that_has_a_body_is_not_looked_at(api_server: ApiServer) -> None:
    client = Client(api_server)
    api_server.add(pod("p1", on="n1"))
    assert client.send("DELETE", POD, {"dryRun": ["All"]}).status == 200
    assert "deletionTimestamp" not in api_server.get("pods", "p1")["metadata"]
    assert client.send("DELETE", POD, {"kind": "DeleteOptions"}, dryRun="All", gracePeriodSeconds=0).status == 200
    assert api_server.get("pods", "p1")["metadata"]["deletionGracePeriodSeconds"] == 30


def test_a_pending_pod_goes_at_once_and_a_finalizer_holds_it(api_server: ApiServer) -> None:
    client = Client(api_server)
    api_server.add(pod("p1"))
    assert client.send("DELETE", POD).body["kind"] == "Pod"
    assert api_server.find("pods", "p1") is None
    api_server.add(pod("p1", metadata={"finalizers": ["a/b"]}))
    assert client.send("DELETE", POD).body["metadata"]["deletionGracePeriodSeconds"] == 0
    assert client.send("PATCH", POD, {"metadata": {"finalizers": None}}, content_type=MERGE).status == 200
    assert api_server.find("pods", "p1") is None
    api_server.add({**LEASE, "metadata": {**LEASE["metadata"]}})
    lease = client.send("DELETE", f"{LEASES}/ours").body
    assert (lease["kind"], lease["status"], lease["details"]["kind"]) == ("Status", "Success", "leases")


def test_evictions_ask_the_budget(api_server: ApiServer) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 0, "desiredHealthy": 2, "currentHealthy": 2},
    }
    api_server.add(budget, pod("p1", metadata={"labels": {"app": "web"}}))
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p1"}}
    client = Client(api_server)
    refused = client.send("POST", f"{POD}/eviction", eviction)
    assert (refused.status, refused.body["reason"]) == (429, "TooManyRequests")
    assert refused.body["details"]["causes"][0]["message"] == (
        "The disruption budget web needs 2 healthy pods and has 2 currently"
    )
    api_server.change("poddisruptionbudgets", "web", by=lambda body: body["status"].update(disruptionsAllowed=1))
    assert client.send("POST", f"{POD}/eviction", eviction).status == 201
    assert api_server.find("pods", "p1") is None


def test_pods_are_admitted(api_server: ApiServer) -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    api_server.add({**high, "preemptionPolicy": "Never"})
    client = Client(api_server)
    gates = [{"name": "example.com/wait"}]
    body = {
        "metadata": {"generateName": "p-"},
        "spec": {"containers": [{"name": "c"}], "priorityClassName": "high", "schedulingGates": gates},
        "status": {"phase": "Running"},
    }
    made = client.send("POST", f"{NAMESPACE}/pods", body).body
    assert made["metadata"]["name"].startswith("p-")
    assert (made["spec"]["priority"], made["spec"]["preemptionPolicy"]) == (9, "Never")
    assert (made["spec"]["schedulerName"], made["status"]["phase"]) == ("default-scheduler", "Pending")
    assert [each["reason"] for each in made["status"]["conditions"]] == ["SchedulingGated"]
    unknown = {**body, "spec": {**body["spec"], "priorityClassName": "none"}}  # type: ignore[dict-item]
    assert (
        "no PriorityClass with name none was found" in client.send("POST", f"{NAMESPACE}/pods", unknown).body["message"]
    )
    elsewhere = client.send("POST", "/api/v1/namespaces/nowhere/pods", body)
    assert (elsewhere.status, elsewhere.body["details"]) == (404, {"name": "nowhere", "kind": "namespaces"})


def test_what_cannot_be_read_is_refused(api_server: ApiServer) -> None:
    api_server.add(pod("p1"))
    client = Client(api_server)
    protobuf = client.send("POST", f"{NAMESPACE}/pods", b"k8s\0", content_type="application/vnd.kubernetes.protobuf")
    assert (protobuf.status, protobuf.body["reason"]) == (415, "UnsupportedMediaType")
    assert client.send("PATCH", POD, [], content_type="application/json-patch+json").status == 415
    assert client.send("POST", f"{NAMESPACE}/pods", []).status == 400
    assert client.send("POST", f"{NAMESPACE}/pods", {**LEASE}).status == 400
    assert client.send("DELETE", f"{NAMESPACE}/pods").status == 405
    assert client.send("POST", f"{NAMESPACE}/pods/p1/exec", {}).status == 405
    assert client.get("/apis/example.com/v1/things").status == 404
    event = {"apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"}, "note": "x" * 1025}
    refused = client.send("POST", "/apis/events.k8s.io/v1/namespaces/default/events", event)
    assert {cause["field"] for cause in refused.body["details"]["causes"]} >= {"eventTime", "action", "note"}

"""The command at a stand-in: claims of devices are protected, allocated and reserved before their pods are bound."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from schedweb.clusters.reading.rights import roles_yaml
from schedweb.clusters.writing.answers import holds
from schedweb.writes.claims import PROTECTION
from schedweb.writes.writes import Outcome
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.devices import DRIVER, claiming, device_claim, device_class, device_slice, wanting
from tests.apiserver.kinds import Json
from tests.apiserver.manifests import node
from tests.apiserver.recordings import SCHEDULER
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.scheduling.conftest import BINDINGS, OURS, Played, condition, node_of, reasons

CLAIM: Any = {"resource": "resourceclaims"}
STATUS: Any = {"resource": "resourceclaims/status"}
EXTENDED = "example.com/gpu"


@pytest.fixture
def equipped(server: ApiServer) -> ApiServer:
    """One node with one device."""
    server.add(node("n1"), device_class(), device_slice("n1", "gpu0"))
    return server


def claims_of(server: ApiServer, name: str = "gc") -> Json:
    found: Json = server.get("ResourceClaim", name, "default")
    return found


def reserved(server: ApiServer, name: str = "gc") -> list[str]:
    return [each["name"] for each in claims_of(server, name).get("status", {}).get("reservedFor", [])]


def written(server: ApiServer) -> list[tuple[str, str]]:
    """Of claims and bindings."""
    found = [each for each in server.requests.writes() if each.resource.startswith(("resourceclaims", "pods/binding"))]
    return [(each.method, each.resource) for each in found]


BOUND = [("PATCH", "resourceclaims"), ("PATCH", "resourceclaims/status"), ("POST", "pods/binding")]


def test_a_claim_is_allocated_and_shared(equipped: ApiServer, played: Played) -> None:
    """As recorded (dra_claim): the first pod brings the allocation, the second joins, and a third finds no device."""
    equipped.add(device_claim("gc"), device_claim("other"), claiming("gc", "p1", scheduler=OURS))
    played.start()
    until(lambda: node_of(equipped, "p1") == "n1")
    assert written(equipped) == BOUND
    claim = claims_of(equipped)
    assert claim["metadata"]["finalizers"] == [PROTECTION]
    allocation = claim["status"]["allocation"]
    assert allocation["devices"]["results"] == [{"request": "g", "driver": DRIVER, "pool": "n1", "device": "gpu0"}]
    only = {"key": "metadata.name", "operator": "In", "values": ["n1"]}
    assert allocation["nodeSelector"] == {"nodeSelectorTerms": [{"matchFields": [only]}]}
    assert allocation["allocationTimestamp"]
    equipped.add(claiming("gc", "p2", scheduler=OURS), claiming("other", "p3", scheduler=OURS))
    until(lambda: node_of(equipped, "p2") == "n1")
    assert reserved(equipped) == ["p1", "p2"]
    assert written(equipped) == [*BOUND, *BOUND[1:]]
    until(lambda: "cannot allocate all claims" in condition(equipped, "p3").get("message", ""))


def test_a_claim_that_changed_meanwhile_is_looked_at_and_written_as_it_is(equipped: ApiServer, played: Played) -> None:
    equipped.add(device_claim("gc"))
    with equipped.faults.hold(verb="patch", **STATUS) as held:
        equipped.add(claiming("gc", "p1", scheduler=OURS))
        played.start()
        until(lambda: held.hits)
        equipped.change("ResourceClaim", "gc", "default", by=lambda it: it["metadata"].update(labels={"a": "b"}))
    until(lambda: node_of(equipped, "p1") == "n1")
    first, second = equipped.requests.select(verb="patch", **STATUS)
    assert (first.status, second.status) == (409, 200)
    assert reserved(equipped) == ["p1"]
    until(lambda: reasons(equipped, "p1") == ["Scheduled"])


def test_a_claim_that_somebody_else_allocates_is_used_as_they_did(equipped: ApiServer, played: Played) -> None:
    equipped.add(device_claim("gc"))
    results = [{"request": "g", "driver": DRIVER, "pool": "n1", "device": "gpu0"}]
    theirs = {"allocation": {"devices": {"results": results}, "allocationTimestamp": "2026-11-23T03:27:45Z"}}
    with equipped.faults.hold(verb="patch", **STATUS) as held:
        equipped.add(claiming("gc", "p1", scheduler=OURS))
        played.start()
        until(lambda: held.hits)
        equipped.change("ResourceClaim", "gc", "default", by=lambda it: it.update(status=theirs))
    until(lambda: condition(equipped, "p1").get("reason") == "SchedulerError")
    assert "claim default/gc got allocated elsewhere in the meantime" in condition(equipped, "p1")["message"]
    until(lambda: node_of(equipped, "p1") == "n1")
    assert claims_of(equipped)["status"]["allocation"] == theirs["allocation"]


def test_a_lost_answer_reserves_once(equipped: ApiServer, played: Played) -> None:
    equipped.add(device_claim("gc"), claiming("gc", "p1", scheduler=OURS))
    lost = equipped.faults.drop_answer(times=1, verb="patch", **STATUS)
    played.start()
    until(lambda: node_of(equipped, "p1") == "n1")
    assert lost.hits == 1
    assert len(equipped.requests.select(verb="patch", **STATUS)) == 1, "it is looked at before it is sent again"
    assert reserved(equipped) == ["p1"]


def test_what_is_given_back_is_recognised_after_a_lost_answer() -> None:
    """By what is left: reservations and finalizers of others do not count."""
    mine, theirs = {"resource": "pods", "name": "p1", "uid": "u1"}, {"resource": "pods", "name": "p2", "uid": "u2"}
    left = {"metadata": {"uid": "c"}, "status": {"reservedFor": [{"$patch": "delete", "uid": "u1"}]}}
    taken = {"metadata": {"$deleteFromPrimitiveList/finalizers": [PROTECTION]}}
    freed = {"status": {"allocation": None, "reservedFor": None, "devices": None}}

    def found(reserved: list[Json], *finalizers: str) -> Json:
        status: Json = {"reservedFor": reserved, "allocation": {"devices": {}}} if reserved else {}
        return {"metadata": {"uid": "c", "finalizers": list(finalizers)}, "status": status}

    assert [holds(found(each), left) for each in ([mine, theirs], [theirs], [])] == [False, True, True]
    assert [holds(found([], *each), taken) for each in ((PROTECTION, "a/b"), ("a/b",), ())] == [False, True, True]
    assert [holds(found(each), freed) for each in ([mine], [])] == [False, True]


def test_who_is_not_bound_leaves_the_claim(equipped: ApiServer, played: Played) -> None:
    equipped.add(device_claim("gc"), claiming("gc", "p1", scheduler=OURS))
    fault = equipped.faults.forbid(**BINDINGS)
    played.start()
    until(lambda: condition(equipped, "p1").get("reason") == "SchedulerError")
    left = [each.body for each in equipped.requests.select(verb="patch", **STATUS)][1]
    uid = equipped.get("Pod", "p1", "default")["metadata"]["uid"]
    assert left["status"] == {"reservedFor": [{"$patch": "delete", "uid": uid}]}
    equipped.faults.remove(fault)
    until(lambda: node_of(equipped, "p1") == "n1")
    assert reserved(equipped) == ["p1"]


def test_a_claim_of_nobody_on_another_node_is_deallocated(equipped: ApiServer, played: Played) -> None:
    held = device_claim("gc")
    only = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]}
    results = [{"request": "g", "driver": DRIVER, "pool": "gone", "device": "gpu0"}]
    held["status"] = {"allocation": {"devices": {"results": results}, "nodeSelector": only}}
    equipped.add(held, claiming("gc", "p1", scheduler=OURS))
    played.start()
    until(lambda: node_of(equipped, "p1") == "n1")
    (result,) = claims_of(equipped)["status"]["allocation"]["devices"]["results"]
    assert result["pool"] == "n1"


@pytest.fixture
def extended(server: ApiServer) -> ApiServer:
    server.add(node("n1"), device_class(extended=EXTENDED), device_slice("n1", "gpu0"))
    return server


def test_a_claim_is_made_for_an_extended_resource(extended: ApiServer, played: Played) -> None:
    """As recorded (dra_extended_resource)."""
    extended.add(wanting(EXTENDED, "p1", scheduler=OURS))
    played.start()
    until(lambda: node_of(extended, "p1") == "n1")
    assert written(extended) == [("POST", "resourceclaims"), *BOUND]
    (claim,) = extended.all("ResourceClaim")
    pod = extended.get("Pod", "p1", "default")
    assert claim["metadata"]["name"].startswith("p1-extended-resources-")
    assert claim["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "Pod", "name": "p1", "uid": pod["metadata"]["uid"], "controller": True}
    ]
    assert [each["uid"] for each in claim["status"]["reservedFor"]] == [pod["metadata"]["uid"]]
    told = pod["status"]["extendedResourceClaimStatus"]
    assert told["resourceClaimName"] == claim["metadata"]["name"]
    names = {"containerName": "main", "requestName": "container-0-request-1", "resourceName": EXTENDED}
    assert told["requestMappings"] == [names]


def test_a_claim_that_was_made_in_vain_is_deleted(extended: ApiServer, played: Played) -> None:
    extended.add(wanting(EXTENDED, "p1", scheduler=OURS))
    fault = extended.faults.forbid(**BINDINGS)
    played.start()
    until(lambda: condition(extended, "p1").get("reason") == "SchedulerError")
    until(lambda: [each.status for each in extended.requests.select(verb="delete", **CLAIM)][:1] == [200])
    gone = extended.requests.select(verb="delete", **CLAIM)[0]
    extended.faults.remove(fault)
    until(lambda: node_of(extended, "p1") == "n1")
    (claim,) = extended.all("ResourceClaim")
    assert claim["metadata"]["name"] != gone.name


def test_a_dry_run_changes_no_claim(extended: ApiServer, played: Played) -> None:
    extended.add(device_claim("gc"), claiming("gc", "p1", scheduler=OURS))
    played.start(dry_run=True)
    until(lambda: extended.requests.select(**BINDINGS))
    assert written(extended) == BOUND
    assert "finalizers" not in claims_of(extended)["metadata"]
    assert not claims_of(extended).get("status")


def test_a_missing_right_is_said(equipped: ApiServer, played: Played) -> None:
    """API servers ask for it when they look at the claim (DRAResourceClaimGranularStatusAuthorization)."""
    rules = [rule for role in yaml.safe_load_all(roles_yaml("schedule")) for rule in role["rules"]]
    for rule in rules:
        rule["resources"] = [each for each in rule["resources"] if each != "resourceclaims/binding"]
    equipped.revoke(SCHEDULER)
    equipped.grant(SCHEDULER, [*READER, *rules])
    equipped.add(device_claim("gc"), claiming("gc", "p1", scheduler=OURS))
    played.start()
    until(lambda: condition(equipped, "p1").get("reason") == "SchedulerError")
    assert 'cannot patch resource "resourceclaims/binding"' in condition(equipped, "p1")["message"]
    refused = [each for each in played.steps if isinstance(each, Outcome) and each.status == 422]
    assert {each.result for each in refused} == {"forbidden"}

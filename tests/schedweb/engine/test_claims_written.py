"""Devices in a run that schedules a real cluster: what is written of claims, one answer after another."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from framework.objects import ResourceClaim
from framework.objects.decode import to_manifest
from framework.objects.devices import EXTENDED_RESOURCE_CLAIM_ANNOTATION
from framework.plugins.registry import built_in_registry
from schedweb.engine.checkpoint import load_checkpoint, save_checkpoint
from schedweb.engine.claims_written import MOST_TRIES
from schedweb.engine.commands import ClusterChanges, ObservedChange, Unfollow, WriteOutcome, WriteOutcomes
from schedweb.engine.live import Scheduling, WriteRow
from schedweb.engine.pace import Pace
from schedweb.writes.claims import PROTECTION
from schedweb.writes.writes import Outcome, Result
from tests.schedweb.engine.test_restored import ANSWERED, TERMS, Desk
from tests.schedweb.engine.worlds import SECOND, Manifest, node, places, play, pod

DEVICES = Scheduling("us", ("default-scheduler",), writes_claims=True)
BOUND = ["protect_claim", "devices", "bind"]
GIVEN_BACK = ("unreserve", "deallocate", "unprotect_claim", "delete_claim")
ALL = (*BOUND, "create_claim", "claim_of_pod", *GIVEN_BACK)
EXTENDED = "example.com/gpu"


def resource(kind: str, name: str, spec: Any, namespace: str = "") -> Manifest:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}


def devices(*names: str, extended: str = "") -> list[Manifest]:
    """A node with these devices, and their class."""
    pool = {"name": "a", "generation": 1, "resourceSliceCount": 1}
    found = [{"name": name} for name in names]
    spec = {"driver": "gpu.example.com", "nodeName": "a", "pool": pool, "devices": found}
    chooses = {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}
    class_ = resource("DeviceClass", "gpu", {**chooses, **({"extendedResourceName": extended} if extended else {})})
    return [node("a"), resource("ResourceSlice", "s1", spec), class_]


def claim(name: str = "gc") -> Manifest:
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    return resource("ResourceClaim", name, {"devices": {"requests": [{"name": "g", "exactly": exactly}]}}, "shop")


def user(name: str, of: str = "gc") -> Manifest:
    made = pod(name)
    made["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimName": of}]
    return made


class Devices(Desk):
    def __init__(self, *manifests: Manifest, terms: Scheduling = DEVICES) -> None:
        super().__init__(*manifests, terms=terms)
        self.version = 100
        self.said: list[WriteRow] = []

    def next(self) -> list[WriteRow]:
        play(self.game)
        rows, self.live.outbox = self.live.outbox, []
        self.said += rows
        return [each for each in rows if each.write.purpose in ALL]

    def later(self, seconds: int) -> None:
        self.table.order(ClusterChanges(max(self.game.now, ANSWERED) + seconds * SECOND, ()))

    def conditions(self) -> list[Any]:
        rows = [each.write.body["status"] for each in self.said if each.write.purpose == "status"]
        return [each for status in rows for each in status.get("conditions", [])]

    def one(self, purpose: str) -> WriteRow:
        (row,) = self.next()
        assert row.write.purpose == purpose
        return row

    def done(
        self, row: WriteRow, result: Result = "done", *, message: str = "", found: Any = None, **more: Any
    ) -> None:
        """Each answer has a version of its own."""
        self.version += 1
        outcome = Outcome(
            result, message=message, resource_version=str(self.version) if result == "done" else "", **more
        )
        self.table.order(WriteOutcomes((WriteOutcome(row.number, outcome, ANSWERED, found),)))

    def claim(self, name: str = "gc") -> ResourceClaim:
        found = self.live.get(ResourceClaim, "shop", name)
        assert found is not None
        return found

    def reserved(self, name: str = "gc") -> list[str]:
        return [each.name for each in self.claim(name).status.reserved_for]


def test_a_claim_is_protected_then_allocated_and_reserved_then_the_pod_is_bound() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    row = desk.one("protect_claim")
    assert row.is_awaited
    version = desk.claim().metadata.resource_version
    assert row.write.body == {"metadata": {"resourceVersion": version, "finalizers": [PROTECTION]}}
    desk.done(row)
    row = desk.one("devices")
    status = row.write.body["status"]
    assert row.write.body["metadata"] == {"resourceVersion": "101"}
    (result,) = status["allocation"]["devices"]["results"]
    assert result == {"request": "g", "driver": "gpu.example.com", "pool": "a", "device": "gpu0"}
    assert status["reservedFor"] == [{"resource": "pods", "name": "p1", "uid": "uid-p1"}]
    assert desk.reserved() == [], "nobody has said that it is so"
    desk.done(row)
    assert desk.reserved() == ["p1"]
    assert desk.claim().metadata.resource_version == "102"
    desk.done(desk.one("bind"))
    assert places(desk.game) == {"p1": "bound"}
    desk.is_replayed()


def test_a_second_pod_joins_after_the_first_and_a_third_claim_finds_no_device() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    for purpose in BOUND:
        desk.done(desk.one(purpose))
    other = claim("other")
    other["metadata"] |= {"uid": "uid-other", "resourceVersion": "50"}
    made = [user("p2"), user("p3", "other")]
    for each in made:
        each["metadata"] |= {"uid": f"uid-{each['metadata']['name']}", "resourceVersion": "51"}
    desk.tell(*(ObservedChange("added", each) for each in (other, *made)))
    row = desk.one("devices")
    assert row.write.body == {
        "metadata": {"resourceVersion": "102"},
        "status": {
            "$setElementOrder/reservedFor": [{"uid": "uid-p1"}, {"uid": "uid-p2"}],
            "reservedFor": [{"resource": "pods", "name": "p2", "uid": "uid-p2"}],
        },
    }
    desk.done(row)
    assert desk.reserved() == ["p1", "p2"]
    desk.done(desk.one("bind"))
    assert places(desk.game) == {"p1": "bound", "p2": "bound", "p3": "unschedulable"}
    desk.is_replayed()


def test_devices_on_their_way_are_taken() -> None:
    """While the API server has not answered, and when what a watch brings is from before."""
    old = claim("a")
    desk = Devices(*devices("gpu0"), old, claim("b"), user("p1", "a"), user("p2", "b"))
    row = desk.one("protect_claim")
    assert places(desk.game)["p2"] == "unschedulable"
    desk.done(row)
    desk.tell(ObservedChange("modified", old))
    desk.done(desk.one("devices"))
    desk.tell(ObservedChange("modified", old))
    assert desk.reserved("a") == ["p1"]
    desk.done(desk.one("bind"))
    assert places(desk.game) == {"p1": "bound", "p2": "unschedulable"}
    desk.is_replayed()


def conflicting(desk: Devices, change: Any) -> None:
    """The claim was changed by somebody else; it is read once more."""
    row = desk.one("protect_claim")
    found = claim()
    found["metadata"] |= {"uid": "uid-gc", "resourceVersion": "70"}
    change(found)
    why = 'Operation cannot be fulfilled on resourceclaims.resource.k8s.io "gc": the object has been modified'
    desk.done(row, "conflict", message=why, found=found)


def test_a_claim_that_changed_is_written_as_it_is_now() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    conflicting(desk, lambda found: found["metadata"].update(finalizers=[PROTECTION]))
    row = desk.one("devices")
    assert row.write.body["metadata"] == {"resourceVersion": "70"}
    desk.done(row)
    desk.done(desk.one("bind"))
    assert places(desk.game) == {"p1": "bound"}
    desk.is_replayed()


def allocated(found: Manifest) -> None:
    results = [{"request": "g", "driver": "gpu.example.com", "pool": "a", "device": "gpu0"}]
    found["status"] = {"allocation": {"devices": {"results": results}}}


def test_a_claim_that_somebody_else_allocated_fails_and_is_used_as_they_did() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    conflicting(desk, allocated)
    assert desk.next() == []
    (condition,) = [each for each in desk.conditions() if each["reason"] == "SchedulerError"]
    assert "claim shop/gc got allocated elsewhere in the meantime" in condition["message"]
    desk.later(10)
    row = desk.one("devices")
    assert "allocation" not in row.write.body["status"]
    desk.is_replayed()


def fails_to_bind(desk: Devices, *before: str, **named: Any) -> None:
    for purpose in before:
        desk.done(desk.one(purpose), **(named if purpose == "create_claim" else {}))
    desk.done(desk.one("bind"), "forbidden", message="no right")


def test_a_pod_that_is_not_bound_gives_its_reservation_back_and_takes_it_anew() -> None:
    """In between the reservation counts as given back: the next attempt writes it once more, after that."""
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    fails_to_bind(desk, "protect_claim", "devices")
    row = desk.one("unreserve")
    assert row.is_awaited, "what comes late would take away what was written since"
    assert row.write.body == {
        "metadata": {"uid": "uid-gc"},
        "status": {"reservedFor": [{"$patch": "delete", "uid": "uid-p1"}]},
    }
    assert desk.reserved() == []
    desk.later(2)
    again = desk.one("devices")
    assert again.write.body["metadata"] == {"resourceVersion": "102"}
    desk.done(row)
    desk.done(again)
    assert desk.reserved() == ["p1"]
    desk.done(desk.one("bind"))
    assert places(desk.game) == {"p1": "bound"}
    desk.is_replayed()


def test_a_reservation_that_could_not_be_given_back_is_there() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    fails_to_bind(desk, "protect_claim", "devices")
    desk.done(desk.one("unreserve"), "forbidden", message="no right")
    assert desk.reserved() == ["p1"]
    desk.later(2)
    desk.done(desk.one("bind"))
    assert places(desk.game) == {"p1": "bound"}
    desk.is_replayed()


def conflicts(desk: Devices, row: WriteRow, *, version: str, found: bool = True) -> None:
    """409, and the claim as it was read afterwards: with a label that somebody gave it."""
    seen = to_manifest(desk.claim())
    seen["metadata"] |= {"resourceVersion": version, "labels": {"by": "somebody"}}
    seen["status"]["reservedFor"] = [{"resource": "pods", "name": "p1", "uid": "uid-p1"}]
    desk.version = int(version)
    desk.done(row, "conflict", message="the object has been modified", found=seen if found else None)


def test_a_reservation_whose_return_conflicts_is_given_back_once_more() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    fails_to_bind(desk, "protect_claim", "devices")
    first = desk.one("unreserve")
    conflicts(desk, first, version="500")
    again = desk.one("unreserve")
    assert again.write.body == first.write.body
    assert again.is_awaited
    assert desk.reserved() == [], "it counts as given back"
    assert desk.claim().metadata.labels == {"by": "somebody"}
    desk.done(again)
    assert desk.next() == []
    desk.later(2)
    desk.done(desk.one("devices"))
    desk.done(desk.one("bind"))
    assert desk.reserved() == ["p1"]
    desk.is_replayed()


def test_it_is_not_tried_for_ever() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    fails_to_bind(desk, "protect_claim", "devices")
    for number in range(MOST_TRIES):
        conflicts(desk, desk.one("unreserve"), version=str(500 + number))
    assert desk.next() == []
    assert desk.reserved() == ["p1"], "as the API server has it"
    desk.is_replayed()


def test_what_the_next_attempt_takes_anew_is_not_taken_away() -> None:
    """Its write follows the one that conflicted: another return would come after it."""
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    fails_to_bind(desk, "protect_claim", "devices")
    row = desk.one("unreserve")
    desk.later(2)
    anew = desk.one("devices")
    conflicts(desk, row, version="500")
    assert desk.next() == []
    desk.done(anew)
    desk.done(desk.one("bind"))
    assert desk.reserved() == ["p1"]
    desk.is_replayed()


def test_journals_of_before_number_their_writes_without_a_second_return() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    fails_to_bind(desk, "protect_claim", "devices")
    conflicts(desk, desk.one("unreserve"), version="500", found=False)
    assert desk.next() == []
    assert desk.reserved() == ["p1"]


def on_another_node() -> tuple[Devices, WriteRow]:
    """A claim of nobody, allocated where its pod cannot go."""
    held = claim()
    allocated(held)
    only = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]}
    held["status"]["allocation"]["nodeSelector"] = only
    held["status"]["allocation"]["devices"]["results"][0] |= {"pool": "gone"}
    desk = Devices(*devices("gpu0"), held, user("p1"))
    return desk, desk.one("deallocate")


def test_a_claim_of_nobody_that_is_elsewhere_is_deallocated_then_allocated_anew() -> None:
    desk, row = on_another_node()
    assert row.write.body["status"] == {"allocation": None, "reservedFor": None, "devices": None}
    assert row.write.body["metadata"] == {"resourceVersion": desk.claim().metadata.resource_version}
    assert places(desk.game) == {"p1": "unschedulable"}
    assert desk.claim().status.allocation is not None
    desk.done(row)
    desk.later(2)
    for purpose in BOUND:
        desk.done(desk.one(purpose))
    assert places(desk.game) == {"p1": "bound"}
    desk.is_replayed()


def test_who_wants_a_claim_that_could_not_be_deallocated_is_tried_again() -> None:
    desk, row = on_another_node()
    desk.done(row, "forbidden", message="no right")
    desk.later(2)
    assert desk.one("deallocate").write.body == row.write.body
    desk.is_replayed()


def wanting_extended(name: str) -> Manifest:
    made = pod(name)
    amounts = made["spec"]["containers"][0]["resources"]
    amounts["requests"] = {**amounts["requests"], EXTENDED: "1"}
    amounts["limits"] = {EXTENDED: "1"}
    return made


MADE = {"name": "p1-extended-resources-x", "uid": "uid-made"}
EXTENDED_BOUND = ["create_claim", "protect_claim", "devices", "claim_of_pod", "bind"]


def test_a_claim_is_made_for_an_extended_resource_and_the_pod_is_told() -> None:
    desk = Devices(*devices("gpu0", extended=EXTENDED), wanting_extended("p1"))
    rows = {}
    for purpose in EXTENDED_BOUND:
        rows[purpose] = desk.one(purpose)
        if purpose == "create_claim":
            desk.done(rows[purpose], name=MADE["name"], uid=MADE["uid"])
        else:
            desk.done(rows[purpose])
    body = rows["create_claim"].write.body
    assert body["metadata"]["generateName"] == "p1-extended-resources-"
    assert body["metadata"]["annotations"] == {EXTENDED_RESOURCE_CLAIM_ANNOTATION: "true"}
    assert rows["protect_claim"].write.path.endswith("/resourceclaims/p1-extended-resources-x")
    assert rows["protect_claim"].write.body["metadata"]["resourceVersion"] == "101"
    assert rows["devices"].write.body["metadata"]["resourceVersion"] == "102"
    told = rows["claim_of_pod"].write.body["status"]["extendedResourceClaimStatus"]
    assert told["resourceClaimName"] == "p1-extended-resources-x"
    (mapping,) = told["requestMappings"]
    assert mapping == {"containerName": "main", "resourceName": EXTENDED, "requestName": "container-0-request-1"}
    assert desk.reserved(MADE["name"]) == ["p1"]
    assert places(desk.game) == {"p1": "bound"}
    # When both are gone the device is free: nothing of the time in memory is left.
    gone = pod("p1")
    made = resource("ResourceClaim", MADE["name"], {}, "shop")
    new = wanting_extended("p2")
    new["metadata"]["resourceVersion"] = "200"
    desk.tell(ObservedChange("deleted", made), ObservedChange("deleted", gone), ObservedChange("added", new))
    assert desk.one("create_claim").write.body["metadata"]["generateName"] == "p2-extended-resources-"
    desk.is_replayed()


def test_a_claim_that_was_made_in_vain_is_unprotected_and_deleted() -> None:
    desk = Devices(*devices("gpu0", extended=EXTENDED), wanting_extended("p1"))
    fails_to_bind(desk, *EXTENDED_BOUND[:-1], **MADE)
    row = desk.one("unprotect_claim")
    assert row.write.body["metadata"] == {
        "resourceVersion": "103",
        "$deleteFromPrimitiveList/finalizers": [PROTECTION],
    }
    why = "Operation cannot be fulfilled"
    found = resource("ResourceClaim", MADE["name"], {"devices": {}}, "shop")
    found["metadata"] |= {"uid": MADE["uid"], "resourceVersion": "120", "finalizers": [PROTECTION]}
    desk.done(row, "conflict", message=why, found=found)
    row = desk.one("unprotect_claim")
    assert row.write.body["metadata"]["resourceVersion"] == "120"
    desk.version = 120
    desk.done(row)
    row = desk.one("delete_claim")
    assert (row.write.method, row.write.body["preconditions"]) == ("DELETE", {"uid": MADE["uid"]})
    desk.done(row)
    assert desk.live.get(ResourceClaim, "shop", MADE["name"]) is None
    desk.later(2)
    desk.done(desk.one("create_claim"), name="p1-extended-resources-y", uid="uid-again")
    desk.is_replayed()


def test_an_engine_that_begins_again_between_two_answers_goes_on() -> None:
    desk = Devices(*devices("gpu0", "gpu1"), claim(), claim("other"), user("p1"), user("p2", "other"))
    first, second = desk.next()
    desk.done(first)
    row = desk.one("devices")
    restored, _ = load_checkpoint(save_checkpoint(desk.game, Pace()))
    restored.restored([], built_in_registry())
    desk.game = desk.table.game = restored
    desk.done(row)
    bind = desk.one("bind")
    desk.done(second)
    others = desk.one("devices")
    desk.done(others)
    (chosen,) = others.write.body["status"]["allocation"]["devices"]["results"]
    assert chosen["device"] == "gpu1"
    desk.done(bind)
    desk.done(desk.one("bind"))
    assert places(desk.game) == {"p1": "bound", "p2": "bound"}
    desk.is_replayed()


def test_a_fork_carries_out_what_was_on_its_way() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"))
    desk.done(desk.one("protect_claim"))
    desk.one("devices")
    desk.table.order(Unfollow())
    play(desk.game)
    found = desk.game.world.cluster.get(ResourceClaim, "shop", "gc")
    assert found is not None
    assert [each.name for each in found.status.reserved_for] == ["p1"]
    assert places(desk.game)["p1"] == "bound"


def test_a_dry_run_asks_for_all_of_it_and_sees_nothing() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"), terms=replace(DEVICES, dry_run=True))
    for purpose in ("protect_claim", "devices", "bind"):
        desk.done(desk.one(purpose), dry_run=True)
    assert desk.reserved() == []
    assert desk.claim().metadata.finalizers == ()
    desk.is_replayed()


def test_a_run_from_before_fails_as_its_journal_has_it() -> None:
    desk = Devices(*devices("gpu0"), claim(), user("p1"), terms=TERMS)
    assert desk.next() == []
    assert "ResourceClaims are not written by this scheduler" in desk.conditions()[0]["message"]

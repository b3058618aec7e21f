"""Pods with claims of devices in a run that schedules the stand-in's cluster: two engines, people, lost answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from schedweb.engine.commands import WriteOutcome
from schedweb.runs.models import ClusterWrite
from schedweb.writes.claims import PROTECTION
from tests.apiserver import ApiServer
from tests.apiserver.devices import DRIVER, claiming, device_claim, device_class, device_slice, wanting
from tests.apiserver.kinds import Json
from tests.apiserver.log import Request
from tests.apiserver.manifests import node
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.followed import replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import Begin, at_rest, begun, bindings, decide, state
from tests.schedweb.clusters.scheduling.conftest import BINDINGS, OURS, condition, node_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
STATUS: Any = {"resource": "resourceclaims/status", "verb": "patch"}
EXTENDED = "example.com/gpu"
SECRET = "s3cret-token"


def opaque(parameters: Json) -> Json:
    return {"opaque": {"driver": DRIVER, "parameters": parameters}}


@pytest.fixture
def equipped(server: ApiServer) -> ApiServer:
    """A node with devices, whose driver wants to be told something."""
    configured = [opaque({"mode": "shared"}), opaque({"token": SECRET})]
    server.add(
        node("n1"), device_class(config=configured, extended=EXTENDED), device_slice("n1", "gpu0", "gpu1", "gpu2")
    )
    return server


def asks(claim: str, name: str) -> Json:
    made = claiming(claim, name, scheduler=OURS)
    made["metadata"]["labels"] = {"approval": "needed"}
    return made


def reserved(server: ApiServer, name: str) -> list[str]:
    claim = server.get("ResourceClaim", name, "default")
    return [each["name"] for each in claim.get("status", {}).get("reservedFor", [])]


def test_claims_are_reserved_when_people_approve_and_untouched_when_they_reject(
    equipped: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    equipped.add(
        device_claim("one", config=[opaque({"watts": 70})]),
        device_claim("two"),
        asks("one", "good"),
        asks("two", "bad"),
        wanting(EXTENDED, "plain", scheduler=OURS),
    )
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "good", "waiting"))
    until(stands(run, "bad", "waiting"))
    assert reserved(equipped, "one") == []
    decide(operator, run, "reject", "bad", "not today")
    until(lambda: "not today" in condition(equipped, "bad").get("message", ""))
    decide(operator, run, "approve", "good")
    until(lambda: node_of(equipped, "good") == "n1")
    until(lambda: node_of(equipped, "plain") == "n1")
    assert reserved(equipped, "one") == ["good"]
    two = equipped.get("ResourceClaim", "two", "default")
    assert not two.get("status")
    assert "finalizers" not in two["metadata"]

    # What a run does not keep is in the allocation all the same.
    one = equipped.get("ResourceClaim", "one", "default")
    assert one["metadata"]["finalizers"] == [PROTECTION]
    entries = one["status"]["allocation"]["devices"]["config"]
    assert [each["opaque"]["parameters"] for each in entries] == [{"mode": "shared"}, {"token": SECRET}, {"watts": 70}]
    stored = [str(each) for each in ClusterWrite.objects.filter(run=run).values_list("write", flat=True)]
    assert stored
    assert SECRET not in "".join(stored)

    joins = claiming("one", "joins", scheduler=OURS)
    equipped.add(joins)
    until(lambda: node_of(equipped, "joins") == "n1")
    assert reserved(equipped, "one") == ["good", "joins"]
    made = equipped.get("Pod", "plain", "default")["status"]["extendedResourceClaimStatus"]["resourceClaimName"]
    assert reserved(equipped, made) == ["plain"]
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_a_claim_that_changes_meanwhile_is_read_and_written_as_it_is(
    equipped: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    equipped.add(device_claim("one"))
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    with equipped.faults.hold(times=1, **STATUS) as held:
        equipped.add(claiming("one", "p1", scheduler=OURS))
        until(lambda: held.hits)
        equipped.change("ResourceClaim", "one", "default", by=lambda it: it["metadata"].update(labels={"a": "b"}))
    until(lambda: node_of(equipped, "p1") == "n1")
    assert reserved(equipped, "one") == ["p1"]
    until(stands(run, "p1", "bound"))
    results = [each["result"] for each in _outcomes(run, "devices")]
    assert results == ["conflict", "done"]
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def _outcomes(run: Any, purpose: str) -> list[Any]:
    return list(
        ClusterWrite.objects.filter(run=run, purpose=purpose).order_by("number").values_list("outcome", flat=True)
    )


def test_who_is_not_bound_gives_back_and_takes_anew(
    equipped: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    equipped.add(device_claim("one"))
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    fault = equipped.faults.answer(400, **BINDINGS, body={"kind": "Status", "message": "no"})
    equipped.add(claiming("one", "p1", scheduler=OURS), wanting(EXTENDED, "p2", scheduler=OURS))
    until(lambda: condition(equipped, "p1").get("reason") == "SchedulerError")
    until(lambda: condition(equipped, "p2").get("reason") == "SchedulerError")
    until(lambda: ClusterWrite.objects.filter(run=run, purpose="unreserve", outcome__result="done").exists())
    until(lambda: ClusterWrite.objects.filter(run=run, purpose="delete_claim", outcome__result="done").exists())
    equipped.faults.remove(fault)
    until(lambda: node_of(equipped, "p1") == "n1")
    until(lambda: node_of(equipped, "p2") == "n1")
    assert reserved(equipped, "one") == ["p1"]
    made = equipped.get("Pod", "p2", "default")["status"]["extendedResourceClaimStatus"]["resourceClaimName"]
    assert [each["metadata"]["name"] for each in equipped.all("ResourceClaim")] == ["one", made]
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def gives_back(request: Request) -> bool:
    return "$patch" in str(request.body)


def test_a_reservation_whose_return_conflicts_is_given_back_once_more(
    equipped: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    equipped.add(device_claim("one"))
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    equipped.faults.answer(400, times=1, **BINDINGS, body={"kind": "Status", "message": "no"})
    conflict = {"kind": "Status", "reason": "Conflict", "message": "the object has been modified"}
    equipped.faults.answer(409, times=1, **STATUS, also=gives_back, body=conflict)
    equipped.add(claiming("one", "p1", scheduler=OURS))
    until(lambda: [each["result"] for each in _outcomes(run, "unreserve") if each] == ["conflict", "done"])
    until(lambda: node_of(equipped, "p1") == "n1")
    assert reserved(equipped, "one") == ["p1"]
    kinds = ["back" if gives_back(each) else "taken" for each in equipped.requests.select(**STATUS)]
    assert kinds == ["taken", "back", "back", "taken"]
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_a_lost_answer_reserves_once(equipped: ApiServer, operator: Client, version: str, workers: Begin) -> None:
    equipped.add(device_claim("one"), claiming("one", "p1", scheduler=OURS))
    lost = equipped.faults.drop_answer(times=1, **STATUS)
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: node_of(equipped, "p1") == "n1")
    assert lost.hits == 1
    assert len(equipped.requests.select(**STATUS)) == 1
    worker.end()


def test_a_worker_that_dies_between_the_reservation_and_its_outcome_is_taken_over(
    equipped: ApiServer, operator: Client, version: str, workers: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next one looks at the claim, finds it reserved, and binds; an engine killed afterwards loses nothing."""
    equipped.add(device_claim("one"), device_claim("two"))
    run = begun(operator, version)
    first = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    outcomes = first.supervisor.watching._outcomes
    give = outcomes.give

    def until_the_reservation() -> Iterator[list[WriteOutcome]]:
        if not reserved(equipped, "one"):
            yield from give()

    monkeypatch.setattr(outcomes, "give", until_the_reservation)
    equipped.add(claiming("one", "p1", scheduler=OURS))
    until(lambda: reserved(equipped, "one") == ["p1"])
    row = ClusterWrite.objects.get(run=run, purpose="devices")
    assert row.outcome is None, "nobody knows what became of it"
    assert bindings(equipped) == []
    first.lose_the_lease()

    second = workers(run)
    until(lambda: node_of(equipped, "p1") == "n1")
    assert ClusterWrite.objects.filter(pk=row.pk, outcome__result="done", outcome__looked=True).exists()
    assert reserved(equipped, "one") == ["p1"]
    second.supervisor.child.child.kill()
    equipped.add(claiming("two", "p2", scheduler=OURS))
    until(lambda: node_of(equipped, "p2") == "n1")
    results = {
        each["metadata"]["name"]: each["status"]["allocation"]["devices"]["results"][0]["device"]
        for each in equipped.all("ResourceClaim")
    }
    assert len(set(results.values())) == 2
    at_rest(run)
    second.end()
    replay_is_the_same(run)

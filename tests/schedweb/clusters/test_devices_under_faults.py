"""Claims of devices in a run that schedules, while the API server refuses, is busy or loses answers, while workers die,
and while drivers make people wait: nothing is reserved twice, and nothing stays reserved for who does not run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from schedweb.runs.models import ClusterWrite, Run
from tests.apiserver import ApiServer
from tests.apiserver.devices import DRIVER, claiming, device_claim, device_class, device_slice
from tests.apiserver.faults import Fault
from tests.apiserver.kinds import Json
from tests.apiserver.manifests import node
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.followed import replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import Begin, at_rest, begun, bindings, state
from tests.schedweb.clusters.scheduling.conftest import BINDINGS, OURS, condition, node_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
STATUS: Any = {"resource": "resourceclaims/status", "verb": "patch"}
NO: Json = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no"}
CONFLICT: Json = {**NO, "reason": "Conflict", "code": 409, "message": "the object has been modified"}
GoesWrong = Callable[[ApiServer], Fault]
WRONG: dict[str, GoesWrong] = {
    "409": lambda server: server.faults.answer(409, body=CONFLICT, times=2, **STATUS),
    "429": lambda server: server.faults.answer(429, retry_after=1, times=3, **STATUS),
    "503": lambda server: server.faults.answer(503, times=2, **STATUS),
    "lost": lambda server: server.faults.drop_answer(times=1, **STATUS),
    "cut": lambda server: server.faults.cut_answer(times=1, **STATUS),
}


@pytest.fixture
def equipped(server: ApiServer) -> ApiServer:
    server.add(node("n1"), device_class(), device_slice("n1", "gpu0", "gpu1"), device_claim("one"), device_claim("two"))
    return server


def begins(operator: Client, version: str, workers: Begin) -> tuple[Run, Any]:
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    return run, worker


def reserved(server: ApiServer, name: str) -> list[str]:
    status = server.get("ResourceClaim", name, "default").get("status") or {}
    return [each["name"] for each in status.get("reservedFor") or []]


def device_of(server: ApiServer, name: str) -> str:
    allocation = server.get("ResourceClaim", name, "default")["status"]["allocation"]
    device: str = allocation["devices"]["results"][0]["device"]
    return device


def sent(server: ApiServer) -> list[str]:
    """What was written of the status of claims, in the order in which it came: ``+`` reserves, ``-`` gives back."""
    patches = [each.body["status"]["reservedFor"] for each in server.requests.select(**STATUS)]
    return ["-" if any("$patch" in entry for entry in each) else "+" for each in patches]


@pytest.mark.parametrize("wrong", ["409", "429", "cut"])
def test_each_claim_is_reserved_once_whatever_the_api_server_answers(
    equipped: ApiServer, operator: Client, version: str, workers: Begin, wrong: str
) -> None:
    run, worker = begins(operator, version, workers)
    fault = WRONG[wrong](equipped)
    equipped.add(claiming("one", "p1", scheduler=OURS))
    until(lambda: node_of(equipped, "p1") == "n1")
    equipped.add(claiming("two", "p2", scheduler=OURS))
    until(lambda: node_of(equipped, "p2") == "n1")
    assert fault.hits
    assert (reserved(equipped, "one"), reserved(equipped, "two")) == (["p1"], ["p2"])
    assert device_of(equipped, "one") != device_of(equipped, "two")
    assert sorted(bindings(equipped)) == ["p1", "p2"]
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


@pytest.mark.parametrize("wrong", ["409", "429", "lost"])
def test_what_is_given_back_is_so_before_the_next_attempt_takes_it_again(
    equipped: ApiServer, operator: Client, version: str, workers: Begin, wrong: str
) -> None:
    run, worker = begins(operator, version, workers)
    with equipped.faults.hold(times=1, **BINDINGS) as binding:
        # After the hold: faults are met in the order in which they were added.
        equipped.faults.answer(400, body=NO, times=1, **BINDINGS)
        equipped.add(claiming("one", "p1", scheduler=OURS))
        until(lambda: binding.hits)
        assert reserved(equipped, "one") == ["p1"]
        fault = WRONG[wrong](equipped)
    until(lambda: node_of(equipped, "p1") == "n1")
    assert fault.hits
    until(stands(run, "p1", "bound"))
    assert reserved(equipped, "one") == ["p1"]
    order = sent(equipped)
    assert order[:2] == ["+", "-"]
    taken_again = order.index("+", 1) if "+" in order[1:] else len(order)
    assert "-" not in order[taken_again:], "nothing is given back after it was taken again"
    rows = ClusterWrite.objects.filter(run=run, purpose="unreserve").order_by("number")
    given = [each.outcome for each in rows if each.outcome is not None]
    assert [each["result"] for each in given] == ["conflict"] * (2 if wrong == "409" else 0) + ["done"]
    assert given[-1].get("looked", False) == (wrong in ("lost", "cut"))
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_worker_that_dies_between_reservation_and_binding(
    equipped: ApiServer, operator: Client, version: str, workers: Begin, is_deleted: bool
) -> None:
    run, first = begins(operator, version, workers)
    with equipped.faults.hold(**BINDINGS) as binding:
        equipped.add(claiming("one", "p1", scheduler=OURS))
        until(lambda: binding.hits)
        until(lambda: ClusterWrite.objects.filter(run=run, purpose="devices", outcome__result="done").exists())
        first.lose_the_lease(binding.break_off)  # it would wait for the answer for half a minute
        assert not node_of(equipped, "p1"), "nothing of what broke off was carried out"
        if is_deleted:
            equipped.remove("Pod", "p1", "default")
        second = workers(run)
    if is_deleted:
        until(lambda: reserved(equipped, "one") == [])
        equipped.add(claiming("one", "next", scheduler=OURS))
        until(lambda: node_of(equipped, "next") == "n1")
        assert reserved(equipped, "one") == ["next"]
    else:
        until(lambda: node_of(equipped, "p1") == "n1")
        assert reserved(equipped, "one") == ["p1"]
        assert sent(equipped) == ["+"]
    at_rest(run)
    second.end()
    replay_is_the_same(run)


# --- binding conditions -----------------------------------------------------------------------------------------------


@pytest.fixture
def attached(server: ApiServer) -> ApiServer:
    """A device that its driver makes ready when it was chosen."""
    offered = device_slice("n1", "gpu0")
    conditions = {"bindingConditions": ["Attached"], "bindingFailureConditions": ["Broken"]}
    offered["spec"]["devices"] = [{"name": "gpu0", **conditions}]
    server.add(node("n1"), device_class(), offered, device_claim("one"))
    return server


def driver_says(server: ApiServer, type_: str) -> None:
    told = {"type": type_, "status": "True", "reason": "Driver", "message": "", "lastTransitionTime": None}
    device = {"driver": DRIVER, "pool": "n1", "device": "gpu0", "conditions": [told]}
    server.change("ResourceClaim", "one", "default", by=lambda it: it["status"].update(devices=[device]))


def test_a_device_that_is_to_be_made_ready_holds_the_binding_until_its_driver_says_so(
    attached: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    run, first = begins(operator, version, workers)
    attached.add(claiming("one", "p1", scheduler=OURS))
    until(lambda: reserved(attached, "one") == ["p1"])
    result = attached.get("ResourceClaim", "one", "default")["status"]["allocation"]["devices"]["results"][0]
    assert (result["bindingConditions"], result["bindingFailureConditions"]) == (["Attached"], ["Broken"])
    # Others are not held, nor does it bind with the next worker.
    attached.add(claiming("one", "other", scheduler="nobody's"))
    first.lose_the_lease()
    second = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    assert bindings(attached) == []
    driver_says(attached, "Attached")
    until(lambda: node_of(attached, "p1") == "n1")
    assert sent(attached) == ["+"]
    at_rest(run)
    second.end()
    replay_is_the_same(run)


def test_a_device_that_its_driver_cannot_make_ready_fails_the_attempt_and_is_given_back(
    attached: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    run, worker = begins(operator, version, workers)
    attached.add(claiming("one", "p1", scheduler=OURS))
    until(lambda: reserved(attached, "one") == ["p1"])
    driver_says(attached, "Broken")
    until(lambda: condition(attached, "p1").get("reason") == "SchedulerError")
    assert "device binding failed: claim=one" in condition(attached, "p1")["message"]
    until(lambda: "-" in sent(attached))
    assert bindings(attached) == []
    worker.end()
    replay_is_the_same(run)

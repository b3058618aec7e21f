"""The Lease, against the recorded one of kube-scheduler and against whoever else wants it."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from schedweb.clusters.reading.access import LOADED_SECONDS
from schedweb.clusters.writing import lease as leases
from schedweb.clusters.writing.access import WritingAccess
from schedweb.clusters.writing.lease import LeaseHolder
from schedweb.clusters.writing.permission import Permission
from tests.apiserver import ApiServer
from tests.apiserver.client import Client
from tests.apiserver.recordings import load, timeless
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.writing.conftest import CONTEXT

NAME = "kube-scheduler"
PATH = f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{NAME}"
LEASE: Any = {"resource": "leases"}


class Clock:
    """The monotonic clock, moved on by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        real = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: real() + self.ahead)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def holder(identity: str = "host_1", **options: Any) -> LeaseHolder:
    access = WritingAccess(Permission(CONTEXT))
    return LeaseHolder(access, namespace="kube-system", name=NAME, identity=identity, **options)


def spec_at(server: ApiServer) -> Any:
    return server.get("Lease", NAME, "kube-system")["spec"]


def recorded(scenario: str) -> list[tuple[str, str, str, Any]]:
    """Requests about the lease of the scheduler that got it, until it is renewed."""
    found = [each for each in load(scenario)["requests"] if "/leases" in each["path"]]
    return [(each["verb"], each["path"], each["query"], _shape(each.get("body"))) for each in found[:4]]


def _shape(body: Any) -> Any:
    """Of the metadata what the recording kept; identities and versions differ."""
    if not isinstance(body, dict):
        return None
    shown = timeless({**body, "metadata": dict.fromkeys(sorted(set(body["metadata"]) - {"managedFields"}))})
    shown["spec"]["holderIdentity"] = bool(shown["spec"]["holderIdentity"])
    return shown


def sent(server: ApiServer) -> list[tuple[str, str, str, Any]]:
    return [
        (each.method, each.path, "&".join(f"{key}={value}" for key, value in each.query.items()), _shape(each.body))
        for each in server.requests.select(namespace="kube-system", also=lambda one: "/leases" in one.path)
    ]


def test_it_is_made_and_renewed_as_kube_scheduler_does(writable: ApiServer) -> None:
    ours = holder()
    assert not ours.is_held()
    assert [ours.try_once() for _ in range(3)] == [True] * 3
    assert ours.is_held()
    assert sent(writable) == recorded("startup_no_lease_yet")
    assert spec_at(writable)["leaseTransitions"] == 0


def test_it_is_given_back_and_taken_as_kube_scheduler_does(writable: ApiServer) -> None:
    first, second = holder("a"), holder("b")
    assert first.try_once()
    assert not second.try_once()
    assert first.release()
    assert not first.is_held()
    found = [each for each in load("leader_election")["requests"] if "/leases" in each["path"] and each.get("body")]
    given_back = next(each["body"] for each in found if not each["body"]["spec"]["holderIdentity"])
    taken = found[[each["body"] for each in found].index(given_back) + 1]["body"]
    body = writable.requests.select(verb="update", **LEASE)[-1].body
    assert _shape(body) == {**_shape(given_back), "spec": {**_shape(given_back)["spec"], "leaseTransitions": 0}}
    assert second.try_once()
    body = writable.requests.select(verb="update", **LEASE)[-1].body
    assert _shape(body) == {**_shape(taken), "spec": {**_shape(taken)["spec"], "leaseTransitions": 1}}
    assert second.is_held()


def test_one_that_is_held_is_not_taken_until_it_has_expired_by_our_own_clock(writable: ApiServer, clock: Clock) -> None:
    first, second = holder("a"), holder("b")
    first.try_once()
    assert not second.try_once()
    clock.ahead += 14
    first.try_once()
    assert not second.try_once(), "it was renewed, which is seen only now"
    clock.ahead += 14
    assert not second.try_once()
    clock.ahead += 2
    assert second.try_once()
    assert spec_at(writable)["holderIdentity"] == "b"
    assert not first.is_held(), "ten seconds without a renewal"
    assert not first.try_once()
    assert not first.is_held()


def test_two_that_want_it_at_once(writable: ApiServer) -> None:
    holders = [holder(f"h{number}") for number in range(6)]
    threads = [threading.Thread(target=each.try_once) for each in holders]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert sum(each.is_held() for each in holders) == 1


def test_a_renewal_whose_answer_was_lost_is_looked_at(writable: ApiServer) -> None:
    ours = holder()
    ours.try_once()
    with writable.faults.drop_answer(times=1, verb="update", **LEASE):
        assert not ours.try_once()
    assert ours.is_held()
    assert ours.try_once()
    assert writable.requests.select(verb="get", **LEASE)
    assert spec_at(writable)["leaseTransitions"] == 0


def test_what_it_does_not_know_of_a_lease_stays(writable: ApiServer) -> None:
    ours = holder()
    ours.try_once()
    writable.change(
        "Lease", NAME, "kube-system", by=lambda body: body["spec"].update(strategy="OldestEmulationVersion")
    )
    assert ours.try_once()
    assert spec_at(writable)["strategy"] == "OldestEmulationVersion"


def test_its_thread_tells_when_it_is_got_and_when_it_is_lost(
    writable: ApiServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "RETRY", 0.05)
    got, lost = threading.Event(), threading.Event()
    ours = holder(on_acquired=lambda lease: got.set(), on_lost=lost.set)
    ours.start()
    assert got.wait(60)
    assert ours.is_held()
    with writable.faults.answer(500, **LEASE):
        clock.ahead += 11
        assert not ours.is_held()
        assert lost.wait(60)
    # For good: whoever lost it starts anew.
    assert not ours.is_held()
    ours.stop()


def test_stopping_gives_it_back(writable: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RETRY", 0.05)
    ours = holder()
    ours.start()
    until(ours.is_held)
    ours.stop()
    assert spec_at(writable)["holderIdentity"] == ""
    assert Client(writable).get(PATH).body["spec"]["leaseDurationSeconds"] == 1


def test_a_silent_server_does_not_keep_it_from_stopping(writable: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "RETRY", 0.05)
    ours = holder()
    ours.start()
    until(ours.is_held)
    writable.pause()
    until(lambda: ours.problem)
    stopping = threading.Thread(target=ours.stop, daemon=True)
    stopping.start()
    stopping.join(60)
    assert not stopping.is_alive()
    writable.resume()


def test_credentials_are_read_again_before_it_is_lost() -> None:
    assert 3 * LOADED_SECONDS < leases.RENEW_DEADLINE


def test_why_it_cannot_be_had_is_told_once(writable: ApiServer) -> None:
    told: list[str] = []
    ours = holder(on_problem=lambda why: told.append(str(why)))
    with writable.faults.forbid(**LEASE):
        assert not ours.try_once()
        assert not ours.try_once()
    [why] = told
    assert why.startswith("The credentials may not: ")
    with writable.faults.forbid(resource="leases", verb="create"):
        assert not ours.try_once()
    assert " cannot create " in told[1]
    assert ours.try_once()
    assert (told[2:], ours.problem) == ([""], "")
    assert not holder("host_2", on_problem=lambda why: told.append(str(why))).try_once()
    assert len(told) == 3, "somebody else has it, which is no problem"

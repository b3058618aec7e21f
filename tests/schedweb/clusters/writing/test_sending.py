"""A Writer at a cluster where things go wrong: nothing is bound twice, nothing is said that is not so."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from framework.objects import PodCondition
from framework.sentences import Sentence
from schedweb.clusters.reading.access import Access
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.writing import sending
from schedweb.clusters.writing.permission import VARIABLE, Permission, permission
from schedweb.clusters.writing.sending import Limits
from schedweb.writes import pods
from schedweb.writes.events import event
from schedweb.writes.writes import Outcome, Write
from tests.apiserver import ApiServer
from tests.apiserver.client import Client
from tests.apiserver.manifests import node, pod
from tests.apiserver.recordings import SCHEDULER
from tests.schedweb.clusters.test_access import written
from tests.schedweb.clusters.writing.conftest import CONTEXT, MakeWriter, Told, pod_at

BINDING: Any = {"resource": "pods/binding"}
NOW = 1_790_000_000_000_000_000
FULL = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message="0/2 nodes are available")


def node_of(server: ApiServer, name: str = "p1") -> str:
    return str(server.get("Pod", name, "default")["spec"].get("nodeName", ""))


def gate(body: Any) -> None:
    body["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]


def bind_elsewhere(server: ApiServer, name: str = "p1", to: str = "n2") -> None:
    body = {
        "kind": "Binding",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "target": {"kind": "Node", "name": to},
    }
    assert Client(server).send("POST", f"/api/v1/namespaces/default/pods/{name}/binding", body).status == 201


def test_a_write_is_told_before_it_is_sent_and_its_outcome_afterwards(
    writable: ApiServer, make_writer: MakeWriter, told: Told
) -> None:
    sent_when_told: list[int] = []
    writer = make_writer()

    def record(number: int, what: Write | Outcome) -> None:
        sent_when_told.append(len(writable.requests.writes()))
        told(number, what)

    writer._record = record
    outcome = writer.send(pods.bind(pod_at(writable), "n1"))
    assert outcome.result == "done"
    assert (outcome.status, outcome.node_name, outcome.tries) == (201, "n1", 1)
    assert node_of(writable) == "n1"
    assert sent_when_told == [0, 1]
    (one, write), (two, said) = told.steps
    assert one == two
    for value in (write, said):
        assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value


def test_what_cannot_be_recorded_is_not_sent(writable: ApiServer, make_writer: MakeWriter) -> None:
    def record(number: int, what: Write | Outcome) -> None:
        raise OSError("the journal is gone")

    writer = make_writer()
    writer._record = record
    with pytest.raises(OSError, match="journal"):
        writer.send(pods.bind(pod_at(writable), "n1"))
    assert not writable.requests.writes()


def test_a_lost_answer_is_looked_at_and_nothing_is_bound_twice(writable: ApiServer, make_writer: MakeWriter) -> None:
    with writable.faults.drop_answer(times=1, **BINDING):
        outcome = make_writer().send(pods.bind(pod_at(writable), "n1"))
    assert (outcome.result, outcome.node_name, outcome.looked, outcome.tries) == ("done", "n1", True, 1)
    assert len(writable.requests.select(**BINDING)) == 1
    assert not outcome.fails_the_pod


def test_a_request_that_was_lost_is_sent_again(writable: ApiServer, make_writer: MakeWriter) -> None:
    """The server fails before it does anything: looked at, not bound, sent again."""
    with writable.faults.answer(500, times=1, **BINDING):
        outcome = make_writer().send(pods.bind(pod_at(writable), "n1"))
    assert (outcome.result, outcome.tries) == ("done", 2)
    assert [each.status for each in writable.requests.select(**BINDING)] == [500, 201]
    assert writable.requests.select(verb="get", resource="pods", name="p1")


def test_an_answer_that_stays_lost_is_unknown(writable: ApiServer, make_writer: MakeWriter) -> None:
    pod_ = pod_at(writable)
    with writable.faults.answer(500, **BINDING):
        outcome = make_writer().send(pods.bind(pod_, "n1"))
    assert (outcome.result, outcome.tries) == ("unknown", 3)
    assert not outcome.fails_the_pod


def test_nobody_can_be_asked_what_became_of_it(writable: ApiServer, make_writer: MakeWriter) -> None:
    pod_ = pod_at(writable)
    with writable.faults.drop_answer(**BINDING), writable.faults.answer(500, verb="get", resource="pods"):
        outcome = make_writer(patience=0.3).send(pods.bind(pod_, "n1"))
    assert (outcome.result, outcome.looked, outcome.tries) == ("unknown", True, 1)


def test_it_is_asked_until_somebody_answers(writable: ApiServer, make_writer: MakeWriter) -> None:
    with writable.faults.drop_answer(**BINDING), writable.faults.answer(500, times=2, verb="get", resource="pods"):
        outcome = make_writer().send(pods.bind(pod_at(writable), "n1"))
    assert outcome.result == "done"
    assert len(writable.requests.select(**BINDING)) == 1


def test_a_pod_that_somebody_else_bound(writable: ApiServer, make_writer: MakeWriter) -> None:
    known = pod_at(writable)
    bind_elsewhere(writable)
    outcome = make_writer().send(pods.bind(known, "n1"))
    assert (outcome.result, outcome.status, outcome.node_name) == ("bound_elsewhere", 409, "n2")
    assert outcome.message == (
        'Operation cannot be fulfilled on pods/binding "p1": pod p1 is already assigned to node "n2"'
    )
    assert not outcome.fails_the_pod
    assert node_of(writable) == "n2"


def test_a_pod_that_is_bound_where_we_wanted_is_done(writable: ApiServer, make_writer: MakeWriter) -> None:
    known = pod_at(writable)
    bind_elsewhere(writable, to="n1")
    outcome = make_writer().send(pods.bind(known, "n1"))
    assert (outcome.result, outcome.node_name, outcome.message) == ("done", "n1", "")


@pytest.mark.parametrize(
    ("happens", "result", "fails"),
    [
        ("deleted", "gone", True),
        ("made again", "replaced", False),
        ("terminates", "terminating", True),
        ("gated", "gated", True),
    ],
)
def test_a_pod_that_changed_meanwhile(
    writable: ApiServer, make_writer: MakeWriter, happens: str, result: str, fails: bool
) -> None:
    known = pod_at(writable)
    match happens:
        case "deleted":
            writable.remove("Pod", "p1", "default")
        case "made again":
            writable.remove("Pod", "p1", "default")
            writable.add(pod("p1"))
        case "terminates":
            writable.change("Pod", "p1", "default", by=lambda body: body["metadata"].update(finalizers=["a/b"]))
            writable.delete("Pod", "p1", "default")
        case "gated":
            writable.change(
                "Pod", "p1", "default", by=lambda body: body["spec"].update(schedulingGates=[{"name": "g"}])
            )
    outcome = make_writer().send(pods.bind(known, "n1"))
    assert (outcome.result, outcome.fails_the_pod) == (result, fails)
    assert outcome.status == (404 if happens == "deleted" else 409)
    assert outcome.message
    assert "nodeName" not in (writable.find("Pod", "p1", "default") or {"spec": {}})["spec"]


def test_a_right_that_was_taken_away(writable: ApiServer, make_writer: MakeWriter) -> None:
    writable.revoke(SCHEDULER)
    outcome = make_writer().send(pods.bind(pod_at(writable), "n1"))
    assert (outcome.result, outcome.status, outcome.fails_the_pod) == ("forbidden", 403, True)
    assert 'cannot create resource "pods/binding"' in str(outcome.message)


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_waited_for_and_the_same_is_sent_again(
    writable: ApiServer, make_writer: MakeWriter, status: int
) -> None:
    pod_ = pod_at(writable)
    with writable.faults.answer(status, times=2, retry_after=0, **BINDING):
        outcome = make_writer().send(pods.bind(pod_, "n1"))
    assert (outcome.result, outcome.tries, outcome.looked) == ("done", 3, False)
    first, *others = writable.requests.select(**BINDING)
    assert all(each.body == first.body for each in others)


def test_a_server_that_stays_busy(writable: ApiServer, make_writer: MakeWriter) -> None:
    pod_ = pod_at(writable)
    with writable.faults.answer(429, retry_after=0, **BINDING):
        outcome = make_writer().send(pods.bind(pod_, "n1"))
    assert (outcome.result, outcome.status, outcome.tries) == ("busy", 429, 10)


def test_a_server_that_is_not_there(writable: ApiServer, make_writer: MakeWriter) -> None:
    pod_, writer = pod_at(writable), make_writer()
    with writable.stopped():
        outcome = writer.send(pods.bind(pod_, "n1"))
    assert outcome.result == "unreached"
    assert outcome.message
    assert node_of(writable) == ""


def test_a_proxy_that_is_not_there(writable: ApiServer, make_writer: MakeWriter, tmp_path: Path) -> None:
    """Nothing has left, so nothing is looked at."""
    written(tmp_path / "config", cluster=lambda it: {**it, "proxy-url": "http://127.0.0.1:1"})
    assert make_writer(patience=1.0).send(pods.bind(pod_at(writable), "n1")).result == "unreached"
    assert not writable.requests.select()


def test_stop_takes_effect_before_the_next_write_and_between_tries(
    writable: ApiServer, make_writer: MakeWriter, told: Told
) -> None:
    writer, first, second = make_writer(), pod_at(writable), pod_at(writable, "p2")
    with writable.faults.answer(429, retry_after=3600, **BINDING) as fault:
        waiting = threading.Thread(target=writer.send, args=(pods.bind(first, "n1"),))
        waiting.start()
        fault.wait_hit()
        writer.stop()
        waiting.join(60)
    assert writer.send(pods.bind(second, "n1")).message == Sentence("Scheduling was stopped.")
    assert [each.result for each in told.outcomes()] == ["withheld", "withheld"]
    assert len(writable.requests.select(**BINDING)) == 1
    assert node_of(writable) == node_of(writable, "p2") == ""


def test_whoever_lost_the_lease_writes_nothing(writable: ApiServer, make_writer: MakeWriter) -> None:
    outcome = make_writer(is_held=lambda: False).send(pods.bind(pod_at(writable), "n1"))
    assert (outcome.result, outcome.tries) == ("withheld", 0)
    assert "Lease" in str(outcome.message)
    assert not writable.requests.writes()


def test_namespaces_that_are_not_allowed(writable: ApiServer, make_writer: MakeWriter) -> None:
    writer = make_writer(limits=Limits(namespaces=frozenset(["shop"])))
    writable.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}, pod("s", "shop"))
    victim = pod_at(writable)
    for write in (pods.bind(victim, "n1"), pods.evict(victim), event("Normal", "A", victim, "b", host="h", now=NOW)):
        assert writer.send(write).result == "withheld"
    assert not writable.requests.writes()
    found: Any = writable.get("Pod", "s", "shop")
    allowed = msgspec.structs.replace(
        victim,
        metadata=msgspec.structs.replace(victim.metadata, name="s", namespace="shop", uid=found["metadata"]["uid"]),
    )
    assert writer.send(pods.bind(allowed, "n1")).result == "done"


def test_a_dry_run_changes_nothing(writable: ApiServer, make_writer: MakeWriter) -> None:
    writer, known = make_writer(limits=Limits(dry_run=True)), pod_at(writable)
    told = pods.patch_status(known, FULL, "n1", NOW)
    assert told is not None
    writes = [pods.bind(known, "n1"), told, pods.evict(known), event("Normal", "A", known, "b", host="h", now=NOW)]
    version = writable.version
    outcomes = [writer.send(each) for each in writes]
    assert [(each.result, each.dry_run) for each in outcomes] == [("done", True)] * 4
    assert all(each.dry_run for each in writable.requests.writes())
    assert writable.version == version


def test_no_more_bindings_than_allowed_in_a_minute(
    writable: ApiServer, make_writer: MakeWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make_writer(limits=Limits(bindings_per_minute=1))
    assert writer.binding_free_in() == 0
    writer.send(pods.bind(pod_at(writable), "n1"))
    assert 0 < writer.binding_free_in() <= 60
    second = threading.Thread(target=writer.send, args=(pods.bind(pod_at(writable, "p2"), "n1"),))
    second.start()
    # What is no binding goes on meanwhile.
    assert writer.send(event("Normal", "A", pod_at(writable), "b", host="h", now=NOW)).result == "done"
    assert len(writable.requests.select(**BINDING)) == 1
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 61)
    assert writer.binding_free_in() == 0
    monkeypatch.undo()
    writer.stop()
    second.join(60)
    assert node_of(writable, "p2") == ""


def test_lost_answers_of_all_that_is_no_binding(writable: ApiServer, make_writer: MakeWriter) -> None:
    writer, known = make_writer(), pod_at(writable)
    told = pods.patch_status(known, FULL, "n1", NOW)
    assert told is not None
    said = event("Warning", "FailedScheduling", known, "no", host="h", now=NOW)
    for write, verb in ((told, "patch"), (pods.evict(known), "delete")):
        with writable.faults.drop_answer(times=1, verb=verb):
            outcome = writer.send(write)
        assert (outcome.result, outcome.looked, outcome.tries) == ("done", True, 1), write
    # A scheduler may not read Events; its name makes the second try harmless.
    with writable.faults.drop_answer(times=1, verb="create"):
        outcome = writer.send(said)
    assert (outcome.result, outcome.looked, outcome.tries) == ("done", False, 2)
    assert len(writable.all("Event")) == 1


def test_a_deletion_never_reaches_a_pod_that_came_after(writable: ApiServer, make_writer: MakeWriter) -> None:
    known = pod_at(writable)
    writable.remove("Pod", "p1", "default")
    writable.add(pod("p1"))
    assert make_writer().send(pods.evict(known)).result == "replaced"
    assert writable.find("Pod", "p1", "default") is not None


def test_what_a_pod_says_already_is_not_written(writable: ApiServer, make_writer: MakeWriter) -> None:
    first = pods.patch_status(pod_at(writable), FULL, None, NOW)
    assert first is not None
    make_writer().send(first)
    assert pods.patch_status(pod_at(writable), FULL, None, NOW + 10**10) is None
    assert pods.patch_status(pod_at(writable), FULL, "", NOW) is None
    nominated = pods.patch_status(pod_at(writable), None, "n1", NOW)
    assert nominated is not None
    assert nominated.body == {"status": {"nominatedNodeName": "n1"}}


def test_many_threads_bind_each_pod_once_while_answers_get_lost(
    writable: ApiServer, make_writer: MakeWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Threads that the machine plays one after the other leave all faults to one pod.
    monkeypatch.setattr(sending, "MOST_LOST", 20)
    names = [f"m{number}" for number in range(24)]
    writable.add(node("big", cpu="64", memory="64Gi"), *(pod(name) for name in names))
    writer = make_writer()
    outcomes: list[Outcome] = []
    with (
        writable.faults.drop_answer(times=6, **BINDING),
        writable.faults.answer(500, times=6, **BINDING),
        writable.faults.cut_answer(times=3, **BINDING),
    ):
        known = [pod_at(writable, name) for name in names]
        threads = [
            threading.Thread(target=lambda one=one: outcomes.append(writer.send(pods.bind(one, "big"))))
            for one in known
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
    assert [each.result for each in outcomes] == ["done"] * len(names)
    assert {node_of(writable, name) for name in names} == {"big"}
    succeeded = [each.name for each in writable.requests.select(**BINDING) if each.status == 201]
    assert sorted(succeeded) == sorted(names), "each took effect exactly once"


def test_who_may_write_is_named_by_whoever_starts_the_server() -> None:
    assert permission(CONTEXT, CONTEXT, {VARIABLE: f"other, {CONTEXT}"}) == Permission(CONTEXT)
    for named, variables in ((CONTEXT, {}), (CONTEXT, {VARIABLE: "other"}), ("prd", {VARIABLE: CONTEXT})):
        with pytest.raises(ClusterProblem) as caught:
            permission(CONTEXT, named, variables)
        assert caught.value.code == "not_allowed"


def test_what_reads_cannot_write(writable: ApiServer) -> None:
    access = Access(CONTEXT)
    write = pods.bind(pod_at(writable), "n1")
    with pytest.raises(ValueError, match="nothing that may be sent"):
        access._exchanged(write.method, write.path, msgspec.json.encode(write.body), write.content_type, 5)
    assert not hasattr(access, "exchange")
    assert not writable.requests.writes()

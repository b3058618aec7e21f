"""A scheduler of a real cluster, at the stand-in: what it places, what it says, and when it stops."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from framework.configuration import load_value
from framework.extenders import Answer
from framework.objects import Node
from framework.plugins.registry import built_in_registry
from framework.scheduler import Scheduler
from schedweb.clusters.reading.problems import ClusterProblem
from schedweb.clusters.scheduling.driver import Driver
from schedweb.clusters.scheduling.informers import Changed
from schedweb.clusters.writing.access import WritingAccess
from schedweb.clusters.writing.permission import Permission
from schedweb.clusters.writing.sending import Limits
from schedweb.engine.asked import Asking
from schedweb.writes.writes import Outcome, Write
from tests.apiserver import ApiServer
from tests.apiserver.client import Client
from tests.apiserver.manifests import node, pod
from tests.apiserver.players import Volumes
from tests.apiserver.recordings import SCHEDULER
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.scheduling.conftest import (
    BINDINGS,
    CONTEXT,
    NODES,
    OURS,
    Played,
    condition,
    driver_of,
    node_of,
    ours,
    reasons,
)


def test_pods_are_placed_and_events_say_so(server: ApiServer, played: Played) -> None:
    server.add(node("n1", cpu="1"), node("n2", cpu="1"), pod("other"), *(ours(f"p{i}", cpu="450m") for i in range(3)))
    played.start()
    until(lambda: all(node_of(server, f"p{i}") for i in range(3)))
    server.add(ours("late", cpu="450m"))
    until(lambda: node_of(server, "late") and reasons(server, "late"))
    assert sorted(node_of(server, f"p{i}") for i in range(3)).count("n1") in (1, 2)
    assert {name: [node_of(server, p) for p in ("p0", "p1", "p2", "late")].count(name) for name in ("n1", "n2")} == {
        "n1": 2,
        "n2": 2,
    }
    assert node_of(server, "other") == "", "it is another scheduler's"
    until(lambda: all(reasons(server, f"p{i}") == ["Scheduled"] for i in range(3)))
    assert [each.status for each in server.requests.select(**BINDINGS)] == [201] * 4


def test_a_pod_that_does_not_fit_is_told_why_and_placed_when_it_does(server: ApiServer, played: Played) -> None:
    server.add(node("n1", cpu="1"), ours("big", cpu="2"))
    played.start()
    until(lambda: condition(server, "big"))
    said = condition(server, "big")
    assert (said["status"], said["reason"], said["observedGeneration"]) == ("False", "Unschedulable", 1)
    assert said["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    until(lambda: reasons(server, "big"))
    server.add(node("n2", cpu="4"))
    until(lambda: node_of(server, "big") == "n2")
    until(lambda: reasons(server, "big")[-1:] == ["Scheduled"])
    assert condition(server, "big")["status"] == "True"


def test_victims_go_for_a_pod_of_higher_priority(server: ApiServer, played: Played) -> None:
    server.add(node("n1", cpu="1"), *(ours(f"low{i}", cpu="500m", on="n1") for i in range(2)))
    server.add(ours("high", cpu="900m", spec={"priority": 1000}))
    played.start()
    until(lambda: all("deletionTimestamp" in server.get("Pod", f"low{i}", "default")["metadata"] for i in range(2)))
    high = server.get("Pod", "high", "default")
    until(lambda: server.get("Pod", "high", "default")["status"].get("nominatedNodeName") == "n1")
    for each in server.requests.select(verb="delete", resource="pods"):
        uid = server.get("Pod", each.name, "default")["metadata"]["uid"]
        assert each.body == {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": uid}}
    assert condition(server, "high")["reason"] == "Unschedulable"
    assert not node_of(server, "high"), "they still terminate"
    for i in range(2):
        disrupted = server.get("Pod", f"low{i}", "default")["status"]["conditions"][-1]
        assert (disrupted["type"], disrupted["reason"]) == ("DisruptionTarget", "PreemptionByScheduler")
        server.remove("Pod", f"low{i}", "default")
    until(lambda: node_of(server, "high") == "n1")
    assert server.get("Pod", "high", "default")["metadata"]["uid"] == high["metadata"]["uid"]
    assert "nominatedNodeName" not in server.get("Pod", "high", "default")["status"]
    until(lambda: all("Preempted" in reasons(server, f"low{i}") for i in range(2)))


def test_a_volume_is_bound_before_its_pod(server: ApiServer, played: Played) -> None:
    server.play(Volumes())
    storage = {"accessModes": ["ReadWriteOnce"], "storageClassName": "local", "volumeMode": "Filesystem"}
    on_n2 = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n2"]}]}
    server.add(
        node("n1"),
        node("n2"),
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "local"},
            "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "pv-a"},
            "spec": {
                **storage,
                "capacity": {"storage": "1Gi"},
                "local": {"path": "/mnt", "fsType": "ext4"},
                "mountOptions": ["noatime"],
                "nodeAffinity": {"required": {"nodeSelectorTerms": [on_n2]}},
            },
            "status": {"phase": "Available"},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c1", "namespace": "default"},
            "spec": {**storage, "resources": {"requests": {"storage": "1Gi"}}},
            "status": {"phase": "Pending"},
        },
        ours("p1", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c1"}}]}),
    )
    played.start()
    until(lambda: node_of(server, "p1") == "n2")
    sent = [
        (each.method, each.resource) for each in server.requests.writes() if each.resource not in ("leases", "events")
    ]
    # Nobody waits for the nomination, in the recordings neither: it may come before the volume or after it.
    assert sorted(sent[:2]) == [("PATCH", "persistentvolumes"), ("PATCH", "pods/status")]
    assert sent[2:] == [("POST", "pods/binding")]
    volume = server.get("PersistentVolume", "pv-a")["spec"]
    assert volume["claimRef"]["name"] == "c1"
    assert (volume["mountOptions"], volume["local"]["fsType"]) == (["noatime"], "ext4"), "nothing is lost"


def test_a_volume_is_provisioned_where_its_pod_goes(server: ApiServer, played: Played) -> None:
    server.play(Volumes())
    server.add(
        node("n1"),
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "dyn"},
            "provisioner": "example.com/prov",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c1", "namespace": "default"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "dyn",
                "volumeMode": "Filesystem",
                "resources": {"requests": {"storage": "1Gi"}},
            },
            "status": {"phase": "Pending"},
        },
        ours("p1", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c1"}}]}),
    )
    played.start()
    until(lambda: node_of(server, "p1") == "n1")
    assert server.get("PersistentVolumeClaim", "c1", "default")["status"]["phase"] == "Bound"
    until(lambda: reasons(server, "p1") == ["Scheduled"])


def test_a_pod_that_somebody_else_binds_gets_no_condition_and_its_room_is_free(
    server: ApiServer, played: Played
) -> None:
    server.add(node("n1", cpu="1"), node("n2", cpu="1", spec={"unschedulable": True}))
    driver = played.start()
    until(lambda: driver.lease.is_held())
    with server.faults.hold(times=1, **BINDINGS, user=SCHEDULER) as held:
        server.add(ours("p1", cpu="900m"))
        held.wait_hit()
        body = {"kind": "Binding", "apiVersion": "v1", "metadata": {"name": "p1"}}
        path = "/api/v1/namespaces/default/pods/p1/binding"
        assert Client(server).send("POST", path, {**body, "target": {"kind": "Node", "name": "n2"}}).status == 201
    server.add(ours("p2", cpu="900m"))
    until(lambda: node_of(server, "p2") == "n1")
    assert node_of(server, "p1") == "n2"
    assert condition(server, "p1")["status"] == "True"
    assert not server.requests.select(verb="patch", name="p1", user=SCHEDULER)


def test_others_are_bound_while_one_waits_for_its_answer(server: ApiServer, played: Played) -> None:
    server.add(node("n1"))
    driver = played.start()
    until(lambda: driver.lease.is_held())
    with server.faults.hold(times=1, **BINDINGS, user=SCHEDULER) as held:
        server.add(ours("p1"))
        held.wait_hit()
        names = [f"q{number}" for number in range(8)]
        server.add(*map(ours, names))
        # But for those that follow it in its lane.
        until(lambda: sum(bool(node_of(server, name)) for name in names) > 4)
        assert not node_of(server, "p1")
    until(lambda: all(node_of(server, name) for name in ("p1", *names)))
    assert len(server.requests.select(**BINDINGS)) == 9


def test_a_lost_answer_is_no_failure(server: ApiServer, played: Played) -> None:
    server.add(node("n1"), ours("p1"))
    with server.faults.drop_answer(times=1, **BINDINGS):
        played.start()
        until(lambda: "Scheduled" in reasons(server, "p1"))
    assert len(server.requests.select(**BINDINGS)) == 1
    assert "FailedScheduling" not in reasons(server, "p1")


def test_stop_takes_effect_at_once_and_gives_the_lease_back(server: ApiServer, played: Played) -> None:
    server.add(node("n1"), ours("p1"))
    driver = played.start()
    until(lambda: node_of(server, "p1"))
    played.stop()
    assert played.ended == ["stopped"]
    before = len(server.requests.writes())
    server.add(ours("p2"))
    server.settle()
    assert len(server.requests.writes()) == before
    assert server.get("Lease", driver.lease.name, "kube-system")["spec"]["holderIdentity"] == ""


def test_whoever_loses_the_lease_writes_nothing_and_ends(server: ApiServer, played: Played) -> None:
    server.add(node("n1"), ours("p1"))
    driver = played.start()
    until(lambda: node_of(server, "p1"))
    until(lambda: "Scheduled" in reasons(server, "p1"))

    def take(body: Any) -> None:
        body["spec"]["holderIdentity"] = "another"

    server.change("Lease", driver.lease.name, "kube-system", by=take)
    until(lambda: played.ended)
    assert played.ended == ["lease_lost"]
    server.add(ours("p2"))
    server.settle()
    assert node_of(server, "p2") == ""
    assert server.get("Lease", driver.lease.name, "kube-system")["spec"]["holderIdentity"] == "another"


def test_a_second_one_stands_by(server: ApiServer, played: Played) -> None:
    server.add(node("n1"))
    first = played.start()
    until(first.lease.is_held)
    second = played.start()
    until(lambda: second.lease.holder == first.lease.identity)
    server.add(ours("p1"))
    until(lambda: node_of(server, "p1"))
    first.stop()
    until(second.lease.is_held)
    server.add(ours("p2"))
    until(lambda: node_of(server, "p2"))
    assert [each.status for each in server.requests.select(**BINDINGS)] == [201, 201]


def test_a_dry_run_takes_no_lease_and_changes_nothing(server: ApiServer, played: Played) -> None:
    server.add(node("n1"), ours("p1"), ours("huge", cpu="64"))
    version = server.version
    played.start(dry_run=True)
    until(lambda: server.requests.select(**BINDINGS))
    until(lambda: server.requests.select(verb="patch", resource="pods/status", name="huge"))
    played.stop()
    assert server.version == version
    assert server.requests.writes()
    assert all(each.dry_run for each in server.requests.writes())


def test_only_pods_of_allowed_namespaces(server: ApiServer, played: Played) -> None:
    server.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    server.add(node("n1"), ours("p1"), pod("p2", "shop", scheduler=OURS))
    played.start(namespaces=frozenset(["shop"]))
    until(lambda: server.get("Pod", "p2", "shop")["spec"].get("nodeName"))
    played.stop()
    assert not [each for each in server.requests.writes() if each.namespace == "default"]


def test_the_api_server_restarts(server: ApiServer, played: Played) -> None:
    server.add(node("n1"), ours("p1"))
    played.start()
    until(lambda: node_of(server, "p1"))
    server.restart()
    server.add(ours("p2"))
    until(lambda: node_of(server, "p2"))


def test_what_it_cannot_play_is_said_before_anything_is_written(server: ApiServer) -> None:
    registry = built_in_registry()
    effective = load_value(None, registry).effective
    assert effective is not None
    rest: Any = {"limits": Limits(), "record": lambda number, what: None, "seed": 1, "ask": list}
    with pytest.raises(ClusterProblem, match="name each of them"):
        Driver(Permission(CONTEXT), effective, registry, scheduler_names=["another"], **rest)
    extenders = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": OURS}],
        "extenders": [{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter", "bindVerb": "bind"}],
    }
    with pytest.raises(ClusterProblem, match="Extenders that bind"):
        driver_of(configuration=extenders)
    assert not server.requests.writes()


def test_a_plugin_that_waits_for_a_person_needs_a_run(server: ApiServer) -> None:
    asking = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": OURS, "plugins": {"multiPoint": {"enabled": [{"name": "ManualApproval"}]}}}],
    }
    with pytest.raises(ClusterProblem, match="waits for a person"):
        driver_of(configuration=asking).run()
    assert not server.requests.writes()


def test_what_cannot_be_recorded_ends_it(server: ApiServer) -> None:
    server.add(node("n1"), ours("p1"))

    def record(number: int, what: Write | Outcome) -> None:
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space left"):
        driver_of(record=record).run()
    assert {each.resource for each in server.requests.writes()} == {"leases"}
    assert node_of(server, "p1") == ""


def test_who_brings_a_pod_decides_about_it(server: ApiServer, played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    by: list[str] = []
    step = Scheduler.step

    def watched(scheduler: Scheduler) -> object:
        found = step(scheduler)
        if found is not None:
            by.append(threading.current_thread().name)
        return found

    monkeypatch.setattr(Scheduler, "step", watched)
    server.add(node("n1"), ours("first"))
    played.start()
    until(lambda: "Scheduled" in reasons(server, "first"))
    for name in ("second", "third", "fourth"):  # the machine may be at something else just then
        server.add(ours(name))
        until(partial(node_of, server, name))
    assert by[0] != "reflector-pods"
    assert "reflector-pods" in by


def test_a_fault_while_a_pod_is_heard_ends_it(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the thread that reads pods ran the machine, which would take it for a fault of its watch."""
    server.add(node("n1"), ours("first"))
    driver = driver_of()
    found: list[BaseException] = []

    def run() -> None:
        try:
            driver.run()
        except ValueError as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    until(lambda: node_of(server, "first"))

    def fails(scheduler: Scheduler) -> object:
        raise ValueError(f"by {threading.current_thread().name}")

    monkeypatch.setattr(Scheduler, "step", fails)
    server.add(ours("second"))
    thread.join(30)
    assert not thread.is_alive()
    assert [str(each).startswith("by ") for each in found] == [True]
    assert node_of(server, "second") == ""


def test_a_cycle_that_an_extender_has_answered_keeps_its_snapshot(server: ApiServer) -> None:
    """Also where it may not go on just then, and its nodes are gone meanwhile."""
    server.add(node("n1"), node("n2"), node("n3"), ours("p1"))
    extenders = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": OURS}],
        "extenders": [{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter", "nodeCacheCapable": True}],
    }
    is_asked, answers, may = threading.Event(), threading.Event(), threading.Event()
    may.set()

    def ask(asked: Sequence[Asking]) -> list[Answer]:
        is_asked.set()
        assert answers.wait(60)
        return [Answer(body=b'{"NodeNames": ["n1", "n2", "n3"], "FailedNodes": {}}') for _ in asked]

    driver = driver_of(configuration=extenders, ask=ask, may_bind=may.is_set)
    thread = threading.Thread(target=driver.run, daemon=True)
    thread.start()
    assert is_asked.wait(60)
    scheduler = driver.scheduler
    assert scheduler is not None
    for name in ("n1", "n2"):
        server.remove("Node", name)
    until(lambda: [each.metadata.name for each in scheduler.cluster.list(Node)] == ["n3"])
    may.clear()
    answers.set()
    until(lambda: not scheduler.asks)
    driver._wake.set()
    until(lambda: not driver._wake.is_set())
    may.set()
    until(lambda: node_of(server, "p1") == "n3")
    driver.stop()
    thread.join(60)
    assert not thread.is_alive()


def test_an_answer_that_does_not_come_does_not_keep_it_from_ending(
    server: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = WritingAccess.exchange

    def patient(access: WritingAccess, *asked: Any) -> Any:
        method, path, query, body, content_type, *_ = asked
        return exchange(access, method, path, query, body, content_type, 600.0)

    monkeypatch.setattr(WritingAccess, "exchange", patient)
    held = server.faults.hold(**BINDINGS)
    server.add(node("n1"), ours("p1"))
    driver = driver_of()
    thread = threading.Thread(target=driver.run, daemon=True)
    thread.start()
    held.wait_hit()
    driver.stop()
    thread.join(60)
    assert not thread.is_alive()
    held.release()


def test_its_clock_goes_on_where_the_wall_s_is_set_back(server: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = driver_of()
    first = driver._clock()
    monkeypatch.setattr(time, "time_ns", lambda: first - 120 * 10**9)
    second = driver._clock()
    time.sleep(0.001)
    assert first <= second < driver._clock()


def test_bindings_are_limited_per_minute(server: ApiServer, played: Played) -> None:
    server.add(node("n1"), ours("p1"), ours("p2"))
    driver = played.start(bindings_per_minute=1)
    until(lambda: node_of(server, "p1") or node_of(server, "p2"))
    until(lambda: driver.writer.binding_free_in() > 0)
    # Whatever else it does, no second binding leaves: told by more of the loop's turns than a pod needs.
    for _ in range(20):
        driver._changed(Changed(NODES, ("", "nothing"), None))
    until(lambda: not driver._inbox)
    assert len(server.requests.select(**BINDINGS)) == 1

"""A scheduler of a cluster as a run: a real supervisor, engine, reader and writer at the stand-in."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from pytest_django import Settings

from schedweb.accounts.models import AuditEntry
from schedweb.accounts.scheduling import GROUP, may_schedule, scheduling_allow
from schedweb.accounts.services import owner_get
from schedweb.clusters.writing.permission import VARIABLE
from schedweb.configurations.models import Configuration, ConfigurationVersion
from schedweb.runs.deleting.services import run_delete, run_restore
from schedweb.runs.models import ClusterWrite, JournalEntry, Run
from schedweb.runs.playing.commands import command_append
from schedweb.snapshots.models import Import
from tests.apiserver import ApiServer
from tests.apiserver.manifests import pod
from tests.schedweb.clusters.conftest import CONTEXT, until
from tests.schedweb.clusters.followed import column, replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import URL, Begin, asks, at_rest, begun, bindings, decide, state
from tests.schedweb.clusters.scheduling.conftest import BINDINGS, OURS, condition, node_of, ours, reasons

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]


def test_pods_are_bound_with_approvals_and_replay_is_the_same(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.add(ours("plain"), pod("other"), asks("good"), asks("bad"), ours("big", cpu="900"))
    run = begun(operator, version)
    assert AuditEntry.objects.filter(action="cluster.schedule", target=CONTEXT).exists()
    worker = workers(run)
    until(lambda: node_of(server, "plain"))
    until(stands(run, "good", "waiting"))
    until(stands(run, "bad", "waiting"))
    until(lambda: state(operator, run)["state"] == "scheduling")
    assert not node_of(server, "good"), "a person has to approve"
    waiting = operator.get(f"/api/v1/waiting/?run={run.pk}").json()
    assert {"good", "bad"} <= set(str(waiting).replace("'", " ").split())

    decide(operator, run, "approve", "good")
    until(lambda: node_of(server, "good"))
    decide(operator, run, "reject", "bad", "not today")
    until(lambda: "not today" in condition(server, "bad").get("message", ""))
    assert condition(server, "bad")["reason"] == "Unschedulable"
    until(lambda: {"Approved", "Scheduled"} <= set(reasons(server, "good")))
    until(lambda: {"Rejected", "FailedScheduling"} <= set(reasons(server, "bad")))
    notes = [each["message"] for each in server.all("Event") if each["reason"] == "Rejected"]
    assert notes == ["Rejected by olga: not today"]
    until(lambda: condition(server, "big").get("reason") == "Unschedulable")
    until(stands(run, "good", "bound"))
    assert column(run, "other") == "active", "it is another scheduler's"
    assert node_of(server, "other") == ""
    assert sorted(bindings(server)) == ["good", "plain"]

    command_append(run_id=run.pk, user=User.objects.get(username="olga"), body={"type": "stop"})
    until(lambda: Run.objects.get(pk=run.pk).state == "stopped")
    worker.join()
    assert state(operator, run)["state"] == "stopped"
    assert state(operator, run)["written"] >= 3
    server.add(ours("late"))
    assert not ClusterWrite.objects.filter(run=run, outcome__isnull=True, purpose="bind").exists()
    replay_is_the_same(run)


def test_who_is_bound_elsewhere_or_deleted_waits_no_longer(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.add(asks("taken"), asks("gone"))
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "taken", "waiting"))
    until(stands(run, "gone", "waiting"))

    server.change("pods", "taken", "default", by=lambda it: it["spec"].update(nodeName="n2"))
    server.remove("pods", "gone", "default")
    until(stands(run, "taken", "bound"))
    until(lambda: column(run, "gone") == "")
    assert condition(server, "taken").get("reason") != "SchedulerError", "it runs"
    assert "FailedScheduling" not in reasons(server, "taken")
    server.add(ours("next"))
    until(lambda: node_of(server, "next"))
    assert bindings(server) == ["next"]
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_a_worker_that_dies_between_a_write_and_its_outcome_binds_once(
    server: ApiServer, operator: Client, version: str, workers: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(operator, version, dry_run=False)
    first = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    scheduling = first.supervisor.watching
    monkeypatch.setattr(scheduling._outcomes, "give", lambda: iter(()))
    server.add(ours("once"))
    until(lambda: node_of(server, "once"))
    row = ClusterWrite.objects.get(run=run, purpose="bind")
    assert row.outcome is None, "nobody knows what became of it"
    first.lose_the_lease()

    second = workers(run)
    until(lambda: ClusterWrite.objects.filter(pk=row.pk, outcome__result="done", outcome__looked=True).exists())
    until(stands(run, "once", "bound"))
    until(lambda: "Scheduled" in reasons(server, "once"))
    assert bindings(server) == ["once"]
    second.supervisor.child.child.kill()
    server.add(ours("after"))
    until(lambda: node_of(server, "after"))
    assert sorted(bindings(server)) == ["after", "once"]
    at_rest(run)
    second.end()
    replay_is_the_same(run)


def test_a_stored_write_that_never_left_is_sent_by_the_next_worker(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    run = begun(operator, version)
    first = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    first.supervisor.watching._lanes._closing.set()  # as if it stood still right before it sends
    server.add(ours("once"))
    until(lambda: ClusterWrite.objects.filter(run=run, purpose="bind").exists())
    assert bindings(server) == []
    first.lose_the_lease()
    second = workers(run)
    until(lambda: node_of(server, "once"))
    until(stands(run, "once", "bound"))
    assert bindings(server) == ["once"]
    second.end()


def test_a_dry_run_changes_nothing_and_limits_hold(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.add(ours("p1"), pod("elsewhere", "shop", scheduler=OURS))
    run = begun(operator, version, dry_run=True, namespaces=["default"], bindings_per_minute=1)
    worker = workers(run)
    until(lambda: ClusterWrite.objects.filter(run=run, purpose="bind", outcome__result="done").exists())
    server.add(ours("p2"))
    until(stands(run, "p2", "active"))
    sent = [each for each in server.requests.writes() if each.resource != "selfsubjectaccessreviews"]
    assert {each.query["dryRun"] for each in sent} == {"All"}
    assert node_of(server, "p1") == ""
    assert column(run, "elsewhere") == "", "its namespace is not allowed"
    assert bindings(server) == ["p1"], "one a minute"
    assert state(operator, run)["dry_run"] is True
    worker.end()


def test_a_fork_writes_nothing(server: ApiServer, operator: Client, olga: User, version: str, workers: Begin) -> None:
    server.add(asks("waits"), ours("plain"))
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "waits", "waiting"))
    until(stands(run, "plain", "bound"))
    worker.end()
    answer = operator.post(f"/api/v1/runs/{run.pk}/forks/", {}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    fork = Run.objects.get(pk=answer.json()["id"])
    assert (answer.json()["schedules"], fork.follows) == (False, "")
    server.requests.clear()
    command_append(run_id=fork.pk, user=olga, body={"type": "play", "speed": "max"})
    player = workers(fork)
    until(stands(fork, "waits", "waiting"))
    decide(operator, fork, "approve", "waits")
    until(stands(fork, "waits", "bound"))
    assert not server.requests.writes()
    assert not ClusterWrite.objects.filter(run=fork).exists()
    assert node_of(server, "waits") == ""
    player.end()
    replay_is_the_same(fork)


def test_nobody_schedules_by_accident(
    server: ApiServer, operator: Client, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = {"typed": CONTEXT, "configuration_version": version, "scheduler_names": [OURS]}

    def refused(code: int, **changes: Any) -> str:
        answer = operator.post(URL, {**good, **changes}, content_type="application/json")
        assert answer.status_code == code, answer.content
        return str(answer.json()["error"]["message"])

    assert "not prod" in refused(409, typed="prd")
    assert "schedules for ours" in refused(409, scheduler_names=["default-scheduler"])
    monkeypatch.setenv(VARIABLE, "another")
    assert VARIABLE in refused(409)
    monkeypatch.setenv(VARIABLE, CONTEXT)
    Group.objects.get(name=GROUP).user_set.clear()
    assert "may not schedule" in refused(403)
    assert not Run.objects.exists()
    assert not server.requests.writes()


def test_a_refusal_names_its_field_and_the_cluster_says_what_is_missing(
    server: ApiServer, operator: Client, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = {"typed": CONTEXT, "configuration_version": version, "scheduler_names": [OURS]}

    def path(**changes: Any) -> str | None:
        answer = operator.post(URL, {**good, **changes}, content_type="application/json")
        assert answer.status_code in (400, 409), answer.content
        found: str | None = answer.json()["error"].get("path")
        return found

    def missing() -> tuple[bool, bool]:
        told = operator.get(f"/api/v1/clusters/{CONTEXT}/").json()["scheduling"]
        return not told["is_allowed"], not told["may"]

    assert path(typed="prd") == "typed"
    assert path(scheduler_names=["default-scheduler"]) == "scheduler_names"
    assert (path(namespaces=["ml", "Not one"]) or "").startswith("namespaces")
    assert path(bindings_per_minute=-1) == "bindings_per_minute"
    assert path(node_selector={"pool": "not a value"}) == "node_selector"
    assert missing() == (False, False)
    monkeypatch.setenv(VARIABLE, "another")
    assert path() is None, "no field of the form can mend that"
    Group.objects.get(name=GROUP).user_set.clear()
    assert missing() == (True, True)
    assert not Import.objects.exists()


def test_writes_are_listed_with_what_became_of_them(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.add(ours("plain"), asks("bad"))
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: node_of(server, "plain"))
    until(stands(run, "bad", "waiting"))
    waiting = operator.get(f"/api/v1/waiting/?run={run.pk}").json()["rows"]
    assert [(row["name"], row["binds_in"], row["dry_run"]) for row in waiting] == [("bad", CONTEXT, False)]
    decide(operator, run, "reject", "bad", "not today")
    until(lambda: "not today" in condition(server, "bad").get("message", ""))
    at_rest(run)

    def writes(**query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = operator.get(f"/api/v1/runs/{run.pk}/schedule/writes/", query).json()["results"]
        return found

    assert {row["purpose"] for row in writes()} == {"bind", "status"}, "Events are apart"
    assert {row["purpose"] for row in writes(purpose="all")} > {"bind", "event"}
    assert [row["number"] for row in writes()] == sorted((row["number"] for row in writes()), reverse=True)
    (bound,) = writes(purpose="bind")
    assert (bound["name"], bound["node"], bound["result"]) == ("plain", node_of(server, "plain"), "done")
    assert (bound["method"], bound["status"]) == ("POST", 201)
    assert bound["path"].endswith("/pods/plain/binding")
    assert {row["name"] for row in writes(q="bad")} == {"bad"}
    assert writes(outcome="refused") == writes(outcome="on_their_way") == []
    assert operator.get(f"/api/v1/runs/{run.pk}/schedule/writes/", {"outcome": "lost"}).status_code == 400

    with server.faults.hold(**BINDINGS) as held:
        server.add(ours("late"))
        held.wait_hit()
        command_append(run_id=run.pk, user=User.objects.get(username="olga"), body={"type": "stop"})
        told = state(operator, run)
        assert (told["state"], told["stopped_by"], told["on_their_way"]) == ("stopped", "olga", 1)
        assert [row["name"] for row in writes(outcome="on_their_way")] == ["late"]
    until(lambda: Run.objects.get(pk=run.pk).state == "stopped")
    worker.join()


def test_a_right_that_is_taken_away_is_told(server: ApiServer, operator: Client, version: str, workers: Begin) -> None:
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    assert state(operator, run)["problem"] == ""
    with server.faults.forbid(**BINDINGS):
        server.add(ours("p1"))
        until(lambda: "may not do what was tried last" in state(operator, run)["problem"])
        assert state(operator, run)["refused"] >= 1
    until(lambda: node_of(server, "p1"))
    until(lambda: state(operator, run)["problem"] == "")
    worker.end()


def test_that_the_lease_may_not_be_taken_is_told(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.add(ours("p1"))
    run = begun(operator, version)
    with server.faults.forbid(resource="leases"):
        worker = workers(run)
        until(lambda: "leases.coordination.k8s.io" in state(operator, run)["problem"])
        assert state(operator, run)["state"] == "standing_by"
        assert not bindings(server)
    until(lambda: node_of(server, "p1"))
    until(lambda: state(operator, run)["problem"] == "")
    worker.end()


def test_stop_comes_before_the_next_write(
    server: ApiServer, operator: Client, olga: User, version: str, workers: Begin
) -> None:
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    with server.faults.hold(**BINDINGS) as held:
        server.add(*(ours(f"p{i}") for i in range(3)))
        held.wait_hit()
        command_append(run_id=run.pk, user=olga, body={"type": "stop"})
        sent = len(bindings(server))
        server.add(ours("late"))
    until(lambda: Run.objects.get(pk=run.pk).state == "stopped")
    worker.join()
    assert "late" not in bindings(server)
    assert len(bindings(server)) <= max(sent, 3)
    assert not JournalEntry.objects.filter(run=run, type="stop", status="pending").exists()


def test_who_brings_a_deleted_run_back_schedules_nothing(
    server: ApiServer, operator: Client, version: str, workers: Begin, olga: User
) -> None:
    server.add(ours("plain"))
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: node_of(server, "plain"))
    run_delete(run=run.pk, user=olga)
    worker.join()
    server.add(ours("late"))
    run_restore(run=run.pk, user=olga)
    workers(run).join()
    assert Run.objects.get(pk=run.pk).state == "stopped"
    assert bindings(server) == ["plain"]


def test_a_victim_is_told_and_deleted_and_its_preemptor_bound(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    for name in ("n1", "n2"):
        server.change("nodes", name, by=lambda it: it["status"]["allocatable"].update(cpu="1"))
        server.add(ours(f"low-{name}", cpu="900m", on=name))
    run = begun(operator, version)
    worker = workers(run)
    server.add(ours("high", cpu="900m", spec={"priority": 1000}))
    until(lambda: server.requests.select(verb="delete", resource="pods"))
    (deletion,) = server.requests.select(verb="delete", resource="pods")
    victim = server.get("Pod", deletion.name, "default")
    assert deletion.body["preconditions"] == {"uid": victim["metadata"]["uid"]}
    assert victim["status"]["conditions"][-1]["type"] == "DisruptionTarget"
    until(lambda: "Preempted" in reasons(server, deletion.name))
    server.remove("Pod", deletion.name, "default")
    until(lambda: node_of(server, "high"))
    until(stands(run, "high", "bound"))
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_on_ones_own_machine_the_owner_may_elsewhere_nobody_may_by_their_role(olga: User, settings: Settings) -> None:
    owner_user = owner_get()
    assert may_schedule(owner_user)
    assert not may_schedule(olga)
    settings.MODE = "distributed"
    assert not may_schedule(owner_user)
    scheduling_allow(olga, may=True)
    assert may_schedule(User.objects.get(pk=olga.pk))
    scheduling_allow(olga, may=False)
    assert not may_schedule(User.objects.get(pk=olga.pk))


EVICTIONS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: ours
  plugins:
    postFilter: {enabled: [{name: EvictionApproval}]}
"""


def test_nothing_is_deleted_before_a_person_approves_and_once_after(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    asking = ConfigurationVersion.objects.create(
        configuration=Configuration.objects.get(slug="ours"), number=2, text=EVICTIONS
    )
    server.change("nodes", "n1", by=lambda it: it["status"]["allocatable"].update(cpu="1"))
    server.change("nodes", "n2", by=lambda it: it["spec"].update(unschedulable=True))
    server.add(ours("low", cpu="900m", on="n1"))
    run = begun(operator, str(asking.pk))
    worker = workers(run)
    server.add(ours("high", cpu="900m", spec={"priority": 1000}))
    listed = f"/api/v1/evictions/?run={run.pk}"
    until(lambda: operator.get(listed).json()["count"])
    assert operator.get("/api/v1/waiting/count/").json()["evictions"] == 1
    [row] = operator.get(listed).json()["results"]
    assert (row["name"], row["node"], row["follows"]) == ("high", "n1", CONTEXT)
    assert [(each["name"], each["since"] is not None) for each in row["victims"]] == [("low", True)]
    until(lambda: "waits for a person: would evict 1 pod on node n1" in condition(server, "high").get("message", ""))
    at_rest(run)
    assert not server.requests.select(verb="delete", resource="pods")
    told = server.get("Pod", "low", "default")["status"].get("conditions", [])
    assert "DisruptionTarget" not in [each["type"] for each in told]
    assert "nominatedNodeName" not in server.get("Pod", "high", "default")["status"]

    command = {
        "type": "decide_eviction",
        "decision": "approve",
        "reason": "agreed with its owner",
        "evictions": [{"number": row["number"], "namespace": "default", "name": "high"}],
    }
    answer = operator.post(f"/api/v1/runs/{run.pk}/commands/", command, content_type="application/json")
    assert answer.status_code == 202, answer.content
    until(lambda: server.requests.select(verb="delete", resource="pods"))
    until(lambda: "Preempted" in reasons(server, "low"))
    notes = [each["message"] for each in server.all("Event") if each["reason"] == "EvictionApproved"]
    assert notes == ["Eviction of default/low from node n1 approved by olga: agreed with its owner"]
    server.remove("Pod", "low", "default")
    until(stands(run, "high", "bound"))
    assert operator.get(listed).json()["count"] == 0
    at_rest(run)
    assert len(server.requests.select(verb="delete", resource="pods")) == 1
    worker.end()
    replay_is_the_same(run)

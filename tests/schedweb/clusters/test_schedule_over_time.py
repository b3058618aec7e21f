"""A scheduler of a cluster as a run: its volumes, a Lease that comes and goes, its past."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from schedweb.accounts.scheduling import scheduling_allow
from schedweb.clusters.writing import lease
from schedweb.configurations.models import ConfigurationVersion
from schedweb.runs.models import Analysis, ClusterWrite, Run
from schedweb.worker.analyst import analyse
from tests.apiserver import ApiServer
from tests.apiserver.players import Volumes
from tests.schedweb.clusters.conftest import CONTEXT, until
from tests.schedweb.clusters.followed import replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import URL, Begin, asks, at_rest, begun, bindings, decide, state
from tests.schedweb.clusters.scheduling.conftest import OURS, condition, node_of, ours

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]


def claimed(provisioner: str) -> list[dict[str, Any]]:
    """A class whose volumes wait for their pod, and a claim of it."""
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "late",
        "volumeMode": "Filesystem",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "late"},
            "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer",
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c1", "namespace": "default"},
            "spec": spec,
            "status": {"phase": "Pending"},
        },
    ]


def local_volume(node: str) -> dict[str, Any]:
    there = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv-a"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "late",
            "volumeMode": "Filesystem",
            "capacity": {"storage": "1Gi"},
            "local": {"path": "/mnt"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [there]}},
        },
        "status": {"phase": "Available"},
    }


def with_claim(made: dict[str, Any]) -> dict[str, Any]:
    made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "c1"}}]
    return made


@pytest.mark.parametrize("provisioner", ["kubernetes.io/no-provisioner", "example.com/prov"])
def test_a_volume_is_bound_before_its_pod_and_after_its_approval(
    server: ApiServer, operator: Client, version: str, workers: Begin, provisioner: str
) -> None:
    server.play(Volumes())
    if provisioner.startswith("kubernetes.io"):
        server.add(local_volume("n2"))
    server.add(*claimed(provisioner), with_claim(asks("p1")))
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "p1", "waiting"))
    server.settle()
    written = set(ClusterWrite.objects.filter(run=run).values_list("purpose", flat=True))
    assert written <= {"status"}, "before a person approved, no more than which node is kept for it"
    decide(operator, run, "approve", "p1")
    until(lambda: node_of(server, "p1"))
    assert node_of(server, "p1") == "n2" or provisioner.startswith("example.com")
    assert server.get("PersistentVolumeClaim", "c1", "default")["status"]["phase"] == "Bound"
    sent = [each.resource for each in server.requests.writes()]
    volume = "persistentvolumes" if provisioner.startswith("kubernetes.io") else "persistentvolumeclaims"
    assert sent.index(volume) < sent.index("pods/binding")
    until(stands(run, "p1", "bound"))
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_who_leads_is_told_as_an_event_of_the_lease(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    until(lambda: [each for each in server.all("Event") if each["reason"] == "LeaderElection"])
    (event,) = (each for each in server.all("Event") if each["reason"] == "LeaderElection")
    (held,) = server.all("Lease")
    assert event["message"] == f"{held['spec']['holderIdentity']} became leader"
    assert (event["involvedObject"]["name"], event["source"]) == (held["metadata"]["name"], {"component": OURS})
    worker.end()


def test_nothing_is_written_until_a_lost_lease_is_ours_again(
    server: ApiServer, operator: Client, version: str, workers: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "RETRY", 0.1)
    server.add(asks("waits"))
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "waits", "waiting"))
    until(lambda: state(operator, run)["state"] == "scheduling")
    held = next(each["metadata"]["name"] for each in server.all("Lease"))

    def given_to(holder: str) -> None:
        server.change("Lease", held, "kube-system", by=lambda it: it["spec"].update(holderIdentity=holder))

    given_to("another")
    until(lambda: state(operator, run)["state"] in ("lease_lost", "standing_by"))
    decide(operator, run, "approve", "waits")
    server.add(ours("meanwhile"))
    until(stands(run, "meanwhile", "active"))
    server.settle()
    assert bindings(server) == []
    told = ClusterWrite.objects.filter(run=run, purpose="event", outcome__isnull=True)
    until(told.exists)

    given_to("")  # as a scheduler that ends in order leaves it
    until(lambda: node_of(server, "meanwhile"))
    # What was approved is decided anew, as others may have scheduled meanwhile, so the person is asked again.
    until(stands(run, "waits", "waiting"))
    assert node_of(server, "waits") == ""
    decide(operator, run, "approve", "waits")
    until(lambda: node_of(server, "waits"))
    assert sorted(bindings(server)) == ["meanwhile", "waits"]
    until(stands(run, "waits", "bound"))
    until(stands(run, "meanwhile", "bound"))
    assert state(operator, run)["state"] == "scheduling"
    at_rest(run)
    worker.end()
    # The approval stays true whoever schedules meanwhile, so its Event waited for the Lease.
    assert not told.exists()
    outcomes = ClusterWrite.objects.filter(purpose="event").values_list("outcome__result", flat=True)
    assert set(outcomes) == {"done"}
    assert [each["reason"] for each in server.all("Event")].count("Approved") >= 1
    replay_is_the_same(run)


def test_why_a_pod_is_pending_is_told_when_the_lease_is_ours_again(
    server: ApiServer, operator: Client, version: str, workers: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "RETRY", 0.1)
    server.add(asks("refused"), asks("taken"))
    run = begun(operator, version)
    worker = workers(run)
    for name in ("refused", "taken"):
        until(stands(run, name, "waiting"))
    until(lambda: state(operator, run)["state"] == "scheduling")
    held = next(each["metadata"]["name"] for each in server.all("Lease"))

    def given_to(holder: str) -> None:
        server.change("Lease", held, "kube-system", by=lambda it: it["spec"].update(holderIdentity=holder))

    given_to("another")
    until(lambda: state(operator, run)["state"] in ("lease_lost", "standing_by"))
    for name in ("refused", "taken"):
        decide(operator, run, "reject", name, "not today")
    written = ClusterWrite.objects.filter(run=run, purpose="status", write__body__icontains="not today")
    until(lambda: written.count() == 2)
    server.settle()
    assert not condition(server, "refused"), "the Lease is another's"
    server.change("pods", "taken", "default", by=lambda it: it["spec"].update(nodeName="n2"))
    until(stands(run, "taken", "bound"))

    given_to("")
    until(lambda: "not today" in condition(server, "refused").get("message", ""))
    until(lambda: not written.filter(outcome__isnull=True).exists())
    assert not condition(server, "taken"), "it runs by now"
    outcome = written.get(name="taken").outcome
    assert outcome is not None
    assert outcome["result"] == "conflict"
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_why_a_pod_is_pending_is_told_when_the_server_can_be_reached_again(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.add(asks("refused"))
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "refused", "waiting"))
    until(lambda: state(operator, run)["state"] == "scheduling")
    with server.faults.drop_answer(resource="pods/status"), server.faults.answer(500, resource="pods/status"):
        decide(operator, run, "reject", "refused", "not today")
        until(lambda: len(server.requests.select(resource="pods/status")) > 3)
    until(lambda: "not today" in condition(server, "refused").get("message", ""))
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_the_past_can_be_looked_at(server: ApiServer, operator: Client, version: str, workers: Begin) -> None:
    """Where the pod stood, and why the other one was pending, before what happened later."""
    server.add(asks("waits"), ours("big", cpu="900"))
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "waits", "waiting"))
    until(stands(run, "big", "unschedulable"))
    at_rest(run)
    run.refresh_from_db()
    then = run.position
    decide(operator, run, "approve", "waits")
    until(stands(run, "waits", "bound"))
    server.remove("pods", "big", "default")
    until(lambda: not run.pod_records.filter(name="big").exclude(column="deleted").exists())
    at_rest(run)
    worker.end()

    first = operator.get(f"/api/v1/runs/{run.pk}@{then}/board/")
    assert first.status_code == 202, "it is being made"
    assert analyse(Analysis.objects.get(run=run.pk, position=then, name="moment").pk)

    def seen(name: str) -> Any:
        answer = operator.get(f"/api/v1/runs/{run.pk}@{then}/pods/default/{name}/")
        assert answer.status_code == 200, answer.content
        return answer.json()

    assert seen("waits")["column"] == "waiting"
    assert seen("big")["column"] == "unschedulable"
    assert "900 cpu" in seen("big")["answer"]["headline"]


def test_who_may_not_schedule_has_a_parked_run_not_tried_again(
    server: ApiServer, operator: Client, olga: User, version: str
) -> None:
    run = begun(operator, version)
    Run.objects.filter(pk=run.pk).update(
        state="parked", parked={"at": None, "state": "paused", "ended": "", "lines": ""}
    )
    url = f"/api/v1/runs/{run.pk}/commands/"
    scheduling_allow(olga, may=False)
    refused = operator.post(url, {"type": "try_again"}, content_type="application/json")
    assert refused.status_code == 403
    assert "olga may not schedule" in refused.json()["error"]["message"]
    assert Run.objects.get(pk=run.pk).state == "parked"
    scheduling_allow(olga, may=True)
    assert operator.post(url, {"type": "try_again"}, content_type="application/json").status_code == 202
    assert Run.objects.get(pk=run.pk).state == "paused"


def test_it_keeps_to_the_nodes_that_it_was_given(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.change("nodes", "n2", by=lambda it: it["metadata"].setdefault("labels", {}).update(pool="ours"))
    server.add(*(ours(f"early-{number}") for number in range(3)))
    run = begun(operator, version, node_selector={"pool": "ours"})
    worker = workers(run)
    for number in range(3):
        until(lambda name=f"early-{number}": node_of(server, name))  # type: ignore[misc]
    assert {node_of(server, name) for name in bindings(server)} == {"n2"}
    assert state(operator, run)["node_selector"] == {"pool": "ours"}
    server.change("nodes", "n2", by=lambda it: it["metadata"]["labels"].pop("pool"))
    server.add(ours("torn"))
    until(lambda: "didn't match scheduler-enforced node affinity" in condition(server, "torn").get("message", ""))
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_labels_keep_nobody_where_affinity_is_not_filtered_by(
    operator: Client, version: str, server: ApiServer
) -> None:
    text = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"profiles: [{{schedulerName: {OURS}, plugins: {{filter: {{disabled: [{{name: NodeAffinity}}]}}}}}}]\n"
    )
    known = ConfigurationVersion.objects.get(pk=version)
    other = ConfigurationVersion.objects.create(configuration=known.configuration, number=2, text=text)
    asked = {"typed": CONTEXT, "configuration_version": str(other.pk), "scheduler_names": [OURS]}
    answer = operator.post(URL, {**asked, "node_selector": {"pool": "ours"}}, content_type="application/json")
    assert answer.status_code == 409, answer.content
    assert answer.json()["error"]["path"] == "node_selector"

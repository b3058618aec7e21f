"""etcd restored from a backup under a run of a real cluster: versions go back, pods bound since then have no node."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from schedweb.runs.models import Run
from tests.apiserver import ApiServer
from tests.apiserver.manifests import pod
from tests.apiserver.players import Volumes
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.followed import bind, followed, live, replay_is_the_same, same_as_the_cluster, stands
from tests.schedweb.clusters.scheduled import Begin, asks, at_rest, begun, bindings, decide, state
from tests.schedweb.clusters.scheduling.conftest import node_of, ours
from tests.schedweb.clusters.test_schedule_over_time import claimed, local_volume, with_claim

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]


def told(run: Run) -> list[Any]:
    return [each for each in run.feed.values_list("item", flat=True) if "etcd is restored from a backup" in str(each)]


def test_pods_bound_since_the_backup_are_bound_anew_and_no_other_is(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.add(ours("before"), ours("gone"), asks("waits"))
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "before", "bound"))
    until(stands(run, "gone", "bound"))
    until(stands(run, "waits", "waiting"))
    server.add(asks("late"))
    until(stands(run, "late", "waiting"))
    at_rest(run)
    backup = server.backup()
    decide(operator, run, "approve", "late")
    until(stands(run, "late", "bound"))
    server.add(ours("after"))
    until(stands(run, "after", "bound"))
    server.remove("pods", "gone", "default")
    until(lambda: not run.pod_records.filter(name="gone").exclude(column="deleted").exists())
    at_rest(run)

    server.restore(backup)
    assert (node_of(server, "late"), server.find("Pod", "after", "default")) == ("", None)
    # Its approval was for what is no more: the person is asked again.
    until(stands(run, "late", "waiting"))
    until(stands(run, "gone", "bound"))
    until(lambda: not run.pod_records.filter(name="after").exclude(column="deleted").exists())
    assert node_of(server, "late") == ""
    until(lambda: told(run))
    until(lambda: state(operator, run)["state"] == "scheduling")
    decide(operator, run, "approve", "late")
    until(lambda: node_of(server, "late"))
    until(stands(run, "late", "bound"))
    assert sorted(bindings(server)) == ["after", "before", "gone", "late", "late"]
    until(stands(run, "waits", "waiting"))
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_a_volume_bound_since_the_backup_is_bound_anew(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    server.play(Volumes())
    server.add(local_volume("n2"), *claimed("kubernetes.io/no-provisioner"), with_claim(asks("p1")))
    run = begun(operator, version)
    worker = workers(run)
    until(stands(run, "p1", "waiting"))
    at_rest(run)
    backup = server.backup()
    for _ in range(30):  # what is written now has higher versions than all that comes after the backup
        server.change("nodes", "n1", by=lambda it: it["metadata"].setdefault("labels", {}).update(x="y"))
    decide(operator, run, "approve", "p1")
    until(stands(run, "p1", "bound"))
    at_rest(run)

    # Whoever is asked again knows that the claim is not bound any more, however late that is told.
    with server.faults.delay(1.0, resource="persistentvolumeclaims"):
        server.restore(backup)
        until(stands(run, "p1", "waiting"))
    decide(operator, run, "approve", "p1")
    until(lambda: node_of(server, "p1") == "n2")
    assert server.get("PersistentVolumeClaim", "c1", "default")["status"]["phase"] == "Bound"
    until(stands(run, "p1", "bound"))
    at_rest(run)
    worker.end()
    replay_is_the_same(run)


def test_a_run_that_follows_goes_back_with_its_cluster(cluster: ApiServer, operator: Client, workers: Begin) -> None:
    cluster.add(pod("late", "shop"))
    run = followed(operator)
    worker = workers(run)
    live(operator, run)
    backup = cluster.backup()
    bind(cluster, "late", "n1")
    until(stands(run, "late", "bound"))
    cluster.restore(backup)
    until(stands(run, "late", "active"))
    until(same_as_the_cluster(cluster, run))
    until(lambda: told(run))
    worker.end()
    replay_is_the_same(run)

"""A gang in a run that schedules the stand-in's cluster: its condition is written, once, whoever plays the run."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from schedweb.configurations.models import ConfigurationVersion
from schedweb.runs.models import ClusterWrite, NodeRecord, Run
from tests.apiserver import ApiServer
from tests.apiserver.kinds import Json
from tests.apiserver.manifests import node
from tests.apiserver.pod_groups import GATES, POD_GROUPS, READS_POD_GROUPS, member, pod_group
from tests.apiserver.recordings import SCHEDULER
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.followed import replay_is_the_same
from tests.schedweb.clusters.scheduled import Begin, at_rest, begun, state
from tests.schedweb.clusters.scheduling.conftest import OURS, node_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
STATUS: Any = {"resource": "podgroups/status", "verb": "patch"}
RIGHT = {"apiGroups": ["scheduling.k8s.io"], "resources": ["podgroups/status"], "verbs": ["patch"]}


@pytest.fixture
def grouping(server: ApiServer) -> ApiServer:
    server.register(POD_GROUPS)
    server.grant(SCHEDULER, READS_POD_GROUPS)
    server.grant(SCHEDULER, [RIGHT])
    return server


@pytest.fixture
def gangs(version: str) -> str:
    """The configuration with approvals, and pod groups switched on."""
    found = ConfigurationVersion.objects.get(pk=version)
    made = ConfigurationVersion.objects.create(configuration=found.configuration, number=2, text=GATES + found.text)
    return str(made.pk)


def add_gang(server: ApiServer, run: Run) -> None:
    """Its pods come when the run knows where there is room: otherwise it may be refused first, and say so."""
    server.add(node("n3", cpu="10"), pod_group("g", 3))
    until(NodeRecord.objects.filter(run=run, name="n3").exists)
    server.add(*(member("g", f"p{i}", cpu="3", scheduler=OURS) for i in (1, 2, 3)))


def are_bound(server: ApiServer) -> bool:
    return all(node_of(server, f"p{i}") for i in (1, 2, 3))


def conditions(server: ApiServer) -> list[tuple[str, str]]:
    found: list[Json] = server.get("PodGroup", "g", "default").get("status", {}).get("conditions", [])
    return [(each["type"], each["status"]) for each in found]


def rows(run: Run) -> list[ClusterWrite]:
    return list(ClusterWrite.objects.filter(run=run, purpose="pod_group").order_by("number"))


def test_a_gang_is_bound_and_its_condition_is_a_write_of_the_run(
    grouping: ApiServer, operator: Client, gangs: str, workers: Begin
) -> None:
    run = begun(operator, gangs)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    add_gang(grouping, run)
    until(lambda: are_bound(grouping) and conditions(grouping) == [("PodGroupScheduled", "True")])
    until(lambda: [each.outcome and each.outcome["result"] for each in rows(run)] == ["done"])
    listed = operator.get(f"/api/v1/runs/{run.pk}/schedule/writes/?purpose=pod_group").json()["results"]
    assert [(each["namespace"], each["name"], each["result"]) for each in listed] == [("default", "g", "done")]
    assert listed[0]["body"]["status"]["conditions"][0]["reason"] == "Scheduled"
    at_rest(run)
    worker.end()
    assert len(grouping.requests.select(**STATUS)) == 1
    replay_is_the_same(run)


def test_a_worker_that_dies_before_it_knows_the_answer_is_taken_over(
    grouping: ApiServer, operator: Client, gangs: str, workers: Begin
) -> None:
    run = begun(operator, gangs)
    first = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    with grouping.faults.hold(times=1, **STATUS) as held:
        add_gang(grouping, run)
        until(lambda: held.hits)
        until(lambda: are_bound(grouping))
        (row,) = rows(run)
        assert row.outcome is None
        epoch = first.supervisor.lease.epoch + 1
        Run.objects.filter(pk=run.pk).update(lease_expires=None, lease_owner="", epoch=epoch)
    first.supervisor.lose()
    first.join()
    until(lambda: conditions(grouping) == [("PodGroupScheduled", "True")])
    ClusterWrite.objects.filter(pk=row.pk).update(outcome=None, answered_at=None)
    second = workers(run)
    until(lambda: rows(run)[0].outcome is not None)
    outcome = rows(run)[0].outcome
    assert outcome is not None
    assert (outcome["result"], outcome["looked"]) == ("done", True)
    assert len(grouping.requests.select(**STATUS)) == 1
    at_rest(run)
    second.end()
    replay_is_the_same(run)


def test_without_the_right_the_run_says_so_and_goes_on(
    grouping: ApiServer, operator: Client, gangs: str, workers: Begin
) -> None:
    grants = grouping._handling.access.grants
    kept = [dict(rule) for each in grants if each.subject == SCHEDULER for rule in each.rules if rule != RIGHT]
    grouping.revoke(SCHEDULER)
    grouping.grant(SCHEDULER, kept)
    run = begun(operator, gangs)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    add_gang(grouping, run)
    until(lambda: are_bound(grouping))
    lacks = state(operator, run)["lacks"]
    assert [each["resource"] for each in lacks["rules"]] == ["podgroups/status"]
    assert "podgroups/status" in lacks["yaml"]
    worker.end()

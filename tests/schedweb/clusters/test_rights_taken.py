"""A right that is taken away from a run that schedules is named, with since when; it goes on when that is back."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client

from framework.sentences import sentence
from schedweb.clusters.reading.rights import Answered, lacking_yaml, rules_to_schedule
from schedweb.runs.following.anew import follow_anew
from schedweb.runs.models import ClusterWrite, Followed, Run
from schedweb.runs.storing.lease import Lease
from schedweb.worker import rights
from tests.apiserver import ApiServer
from tests.apiserver.recordings import SCHEDULER
from tests.schedweb.clusters.conftest import until
from tests.schedweb.clusters.followed import replay_is_the_same, stands
from tests.schedweb.clusters.scheduled import Begin, asks, at_rest, begun, bindings, decide, state
from tests.schedweb.clusters.scheduling.conftest import node_of, ours

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching", "soon")]


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rights, "SOON_SECONDS", 0.2)
    monkeypatch.setattr(rights, "LEAST_SECONDS", 0.1)


def granted(server: ApiServer) -> list[dict[str, Any]]:
    return [
        dict(rule) for grant in server._handling.access.grants if grant.subject == SCHEDULER for rule in grant.rules
    ]


def take(server: ApiServer, *resources: str) -> list[dict[str, Any]]:
    """These rights away; what was there before."""
    before = granted(server)
    kept = []
    for rule in before:
        is_read = "watch" in rule["verbs"]
        left = rule["resources"] if is_read else [each for each in rule["resources"] if each not in resources]
        if left:
            kept.append({**rule, "resources": left})
    server.revoke(SCHEDULER)
    server.grant(SCHEDULER, kept)
    return before


def give(server: ApiServer, rules: list[dict[str, Any]]) -> None:
    server.revoke(SCHEDULER)
    server.grant(SCHEDULER, rules)


def lacks(operator: Client, run: Run) -> Any:
    found: dict[str, Any] | None = state(operator, run)["lacks"]
    return found


def test_without_the_right_to_bind_nothing_is_decided_until_it_is_back(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    run = begun(operator, version)
    worker = workers(run)
    server.add(ours("before"), asks("waits"))
    until(lambda: node_of(server, "before"))
    until(stands(run, "waits", "waiting"))
    assert lacks(operator, run) is None

    before = take(server, "pods/binding")
    server.add(ours("meanwhile"))
    until(lambda: state(operator, run)["state"] == "lacks_rights")
    found = lacks(operator, run)
    (rule,) = found["rules"]
    assert (rule["resource"], rule["missing"]) == ("pods/binding", ["create"])
    role, binding = yaml.safe_load_all(found["yaml"])
    assert role["rules"] == [{"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]}]
    assert binding["subjects"] == [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": SCHEDULER}]
    assert "waits" not in bindings(server)
    since = rule["since"]

    # Whoever goes on knows since when.
    worker.lose_the_lease()
    second = workers(run)
    until(lambda: state(operator, run)["state"] == "lacks_rights")
    assert lacks(operator, run)["rules"][0]["since"] == since
    sent = len(server.requests.select(resource="pods/binding"))

    give(server, before)
    until(lambda: node_of(server, "meanwhile"))
    until(lambda: state(operator, run)["state"] == "scheduling")
    assert lacks(operator, run) is None
    assert len(server.requests.select(resource="pods/binding")) <= sent + 1, "nothing was tried in vain meanwhile"
    decide(operator, run, "approve", "waits")
    until(lambda: node_of(server, "waits"))
    assert sorted(bindings(server)).count("waits") == 1
    at_rest(run)
    second.end()
    replay_is_the_same(run)


def test_what_needs_no_such_right_goes_on(server: ApiServer, operator: Client, version: str, workers: Begin) -> None:
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    before = take(server, "pods/status", "persistentvolumes")
    server.add(ours("large", cpu="900"), ours("small"))
    until(lambda: lacks(operator, run))
    until(lambda: node_of(server, "small"))
    found = lacks(operator, run)
    assert [each["resource"] for each in found["rules"]] == ["pods/status", "persistentvolumes"]
    assert state(operator, run)["state"] == "scheduling"
    until(ClusterWrite.objects.filter(run=run, outcome__result="forbidden").exists)
    until(lambda: "may not do" in state(operator, run)["problem"])
    give(server, before)
    until(lambda: lacks(operator, run) is None)
    assert state(operator, run)["problem"] == "", "what was refused before is no fault any more"
    worker.end()


def test_a_run_that_goes_on_in_place_of_another_is_asked_too(
    server: ApiServer, operator: Client, olga: User, version: str, workers: Begin
) -> None:
    old = begun(operator, version)
    Run.objects.filter(pk=old.pk).update(lease_owner="w", epoch=7, wanted=True)
    before = take(server, "pods/binding", "leases")
    old.refresh_from_db()
    lease = Lease(old.pk, 7, "w", False, None)
    run = follow_anew(old, lease, sentence("The base is of another version."))
    assert run is not None
    assert Followed.objects.filter(run=run).exists()
    server.add(ours("new"))
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "lacks_rights")
    until(lambda: {each["resource"] for each in lacks(operator, run)["rules"]} == {"pods/binding", "leases"})
    assert bindings(server) == []
    give(server, before)
    until(lambda: node_of(server, "new"))
    worker.end()


def test_what_lacks_in_several_namespaces_is_one_rule() -> None:
    rules = rules_to_schedule(["default-scheduler"], ["ml", "shop"], dry_run=False)
    missing = [Answered(each, each.verbs) for each in rules if each.resource in ("pods/binding", "leases")]
    documents = list(yaml.safe_load_all(lacking_yaml(missing, "system:serviceaccount:ops:us", "prod")))
    granted = [rule for each in documents if each["kind"] == "ClusterRole" for rule in each["rules"]]
    assert [(each["resources"], each["verbs"]) for each in granted] == [
        (["pods/binding"], ["create"]),
        (["leases"], ["create"]),
        (["leases"], ["get", "update"]),
    ]
    account = {"kind": "ServiceAccount", "namespace": "ops", "name": "us"}
    assert [each["subjects"] for each in documents if each["kind"] == "ClusterRoleBinding"] == [[account], [account]]


def test_stopped_runs_lack_nothing(server: ApiServer, operator: Client, version: str, workers: Begin) -> None:
    run = begun(operator, version)
    worker = workers(run)
    until(lambda: state(operator, run)["state"] == "scheduling")
    take(server, "pods/binding")
    worker.supervisor.watching._rights.refused()
    until(lambda: lacks(operator, run))
    url = f"/api/v1/runs/{run.pk}/commands/"
    operator.post(url, {"type": "stop"}, content_type="application/json")
    assert state(operator, run)["state"] == "stopped"
    assert lacks(operator, run) is None
    worker.join()

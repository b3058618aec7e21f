"""A dry run that is ended into the real thing: same terms, asked anew, and never both at once."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from schedweb.accounts.models import AuditEntry
from schedweb.accounts.scheduling import GROUP
from schedweb.clusters.services import import_read_anyhow
from schedweb.runs.models import ClusterWrite, Followed, JournalEntry, Run
from schedweb.snapshots.models import Import
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.recordings import SCHEDULER
from tests.schedweb.clusters.conftest import CONTEXT, until
from tests.schedweb.clusters.scheduled import Begin, begun, state
from tests.schedweb.clusters.scheduling.conftest import BINDINGS, node_of, ours

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]
TERMS = ("schedulers", "namespaces", "bindings_per_minute", "node_selector")


def ask(operator: Client, dry: Run, **wanted: Any) -> Any:
    url = f"/api/v1/runs/{dry.pk}/schedule/real/"
    return operator.post(url, {"typed": CONTEXT, **wanted}, content_type="application/json")


def for_real(operator: Client, dry: Run) -> Any:
    """The second answer; the cluster is read in between."""
    first = ask(operator, dry)
    assert first.status_code == 202, first.content
    row = Import.objects.get(pk=first.json()["reading"]["id"])
    import_read_anyhow(import_id=row.pk)
    return ask(operator, dry, import_id=str(row.pk))


def stops(run: Run) -> int:
    return JournalEntry.objects.filter(run=run, type="stop").count()


def test_the_dry_run_ends_and_a_real_one_begins_on_its_terms(
    server: ApiServer, operator: Client, version: str, workers: Begin
) -> None:
    for name in ("n1", "n2"):
        server.change("nodes", name, by=lambda it: it["metadata"].setdefault("labels", {}).update(pool="ours"))
    terms = {"namespaces": ["default"], "bindings_per_minute": 50, "node_selector": {"pool": "ours"}, "megabytes": 70}
    dry = begun(operator, version, dry_run=True, **terms)
    tries = workers(dry)
    until(lambda: state(operator, dry)["state"] == "scheduling")
    server.add(ours("plain"))
    until(lambda: state(operator, dry)["written"] >= 1)
    assert node_of(server, "plain") == ""

    answer = for_real(operator, dry)
    assert answer.status_code == 201, answer.content
    real = Run.objects.get(pk=answer.json()["run"]["id"])
    until(lambda: Run.objects.get(pk=dry.pk).state == "stopped")
    tries.join()
    before, after = state(operator, dry), state(operator, real)
    assert (before["dry_run"], after["dry_run"]) == (True, False)
    assert before["lease"] is None
    stop = JournalEntry.objects.get(run=dry, type="stop")
    assert operator.get(f"/api/v1/runs/{dry.pk}/follow/").json()["since"][:19] == stop.created_at.isoformat()[:19]
    assert {name: after[name] for name in TERMS} == {name: before[name] for name in TERMS}
    assert real.configuration_version == dry.configuration_version
    assert Followed.objects.get(run=real).most_bytes == 70_000_000
    assert before["problem"] == f"{CONTEXT} is scheduled for real by {real} now."
    assert before["stopped_by"] == "olga"
    noted = AuditEntry.objects.filter(action="cluster.schedule").order_by("pk").last()
    assert noted is not None
    assert (noted.username, noted.details["run"], noted.details["dry_run"]) == ("olga", str(real), False)

    workers(real)
    until(lambda: node_of(server, "plain"))
    bound = ClusterWrite.objects.filter(run=real, purpose="bind")
    until(lambda: bound.filter(outcome__result="done").exists())
    for ago, count in ((5, 1), (61, 0)):
        bound.update(answered_at=timezone.now() - datetime.timedelta(seconds=ago))
        assert state(operator, real)["bound_last_minute"] == count
    lease = state(operator, real)["lease"]
    assert (lease["name"], lease["is_ours"], lease["seconds"]) == ("kube-system/scheduling-playground", True, 15)
    there = server.get("Lease", "scheduling-playground", "kube-system")["spec"]
    assert (lease["holder"], lease["transitions"]) == (there["holderIdentity"], there["leaseTransitions"])
    assert lease["since"] == there["acquireTime"]
    until(lambda: state(operator, real)["lease"]["renewed_at"] != lease["renewed_at"])
    listed = operator.get("/api/v1/runs/?beside=true").json()["results"]
    assert [(each["id"], each["schedules"], each["dry_run"]) for each in listed] == [(str(real.pk), True, False)]
    assert operator.get("/api/v1/runs/?beside=false").json()["results"][0]["id"] == str(dry.pk)
    sent = server.requests.select(**BINDINGS)
    assert [each.name for each in sent if not each.dry_run] == ["plain"]
    assert [each.name for each in sent if each.dry_run], "it was tried before"


def test_it_is_refused_for_the_reasons_for_which_scheduling_is(
    server: ApiServer, operator: Client, version: str, olga: User
) -> None:
    dry = begun(operator, version, dry_run=True)

    def refused(**wanted: Any) -> tuple[int, str, str | None]:
        answer = ask(operator, dry, **wanted)
        error = answer.json()["error"]
        return answer.status_code, error["code"], error.get("path")

    assert refused(typed="prd")[0::2] == (409, "typed")
    assert refused(typed="")[0::2] == (400, "typed")
    olga.groups.remove(Group.objects.get(name=GROUP))
    assert refused()[0] == 403
    olga.groups.add(Group.objects.get(name=GROUP))
    assert stops(dry) == 0
    # Rights are asked of the API server anew.
    server.revoke(SCHEDULER)
    server.grant(SCHEDULER, READER)
    answer = for_real(operator, dry)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "not_read")
    assert "pods/binding" in answer.json()["error"]["message"]
    assert stops(dry) == 0, "the dry run goes on"
    assert Run.objects.count() == 1

    tried: dict[str, Any] = dry.scheduling or {}
    Run.objects.filter(pk=dry.pk).update(scheduling={**tried, "dry_run": False})
    assert refused()[:2] == (409, "no_dry_run")
    Run.objects.filter(pk=dry.pk).update(scheduling=None)
    assert refused()[0] == 404

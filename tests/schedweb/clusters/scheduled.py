"""Runs that schedule the stand-in's cluster, played by workers in threads (fixtures: conftest.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.test import Client

from schedweb.clusters.services import import_read_anyhow
from schedweb.runs.models import ClusterWrite, JournalEntry, Run
from schedweb.snapshots.models import Import
from tests.apiserver import ApiServer
from tests.schedweb.clusters.conftest import CONTEXT, Worker, until
from tests.schedweb.clusters.scheduling.conftest import BINDINGS, OURS, ours

URL = f"/api/v1/clusters/{CONTEXT}/schedule/"
Begin = Callable[[Run], Worker]


def asks(name: str, **changes: Any) -> Any:
    made = ours(name, **changes)
    made["metadata"].setdefault("labels", {})["approval"] = "needed"
    return made


def begin_answered(operator: Client, version: str, **terms: Any) -> Any:
    """The answer to the second of the two requests that begin a run: the cluster was read in between."""
    asked = {"typed": CONTEXT, "configuration_version": version, "scheduler_names": [OURS], **terms}
    began = operator.post(URL, asked, content_type="application/json")
    assert began.status_code == 202, began.content
    row = Import.objects.get(pk=began.json()["reading"]["id"])
    import_read_anyhow(import_id=row.pk)
    return operator.post(URL, {**asked, "import_id": str(row.pk)}, content_type="application/json")


def begun(operator: Client, version: str, **terms: Any) -> Run:
    answer = begin_answered(operator, version, **terms)
    assert answer.status_code == 201, answer.content
    assert answer.json()["run"]["schedules"] is True
    return Run.objects.get(pk=answer.json()["run"]["id"])


def state(operator: Client, run: Run) -> dict[str, Any]:
    body: dict[str, Any] = operator.get(f"/api/v1/runs/{run.pk}/schedule/").json()
    return body


def decide(operator: Client, run: Run, decision: str, name: str, reason: str = "") -> None:
    pods = [{"namespace": "default", "name": name}]
    command = {"type": "decide", "decision": decision, "reason": reason, "pods": pods}
    answer = operator.post(f"/api/v1/runs/{run.pk}/commands/", command, content_type="application/json")
    assert answer.status_code == 202, answer.content


def bindings(server: ApiServer) -> list[str]:
    return [each.name for each in server.requests.select(**BINDINGS)]


LOOKS: Final = 15


def at_rest(run: Run) -> None:
    """Nothing is on its way: what was heard last has led to nothing new for a while."""
    seen = [0, 0]

    def rests() -> bool:
        found = Run.objects.get(pk=run.pk)
        waits = (
            ClusterWrite.objects.filter(run=run, outcome__isnull=True).exists()
            or JournalEntry.objects.filter(run=run, status="pending").exists()
            or found.obeying
        )
        seen[:] = [0, found.seq] if waits or found.seq != seen[1] else [seen[0] + 1, found.seq]
        return seen[0] > LOOKS

    until(rests)

"""Runs that follow the stand-in's cluster, played by workers in threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client

from schedweb.clusters.services import import_read_anyhow
from schedweb.engine.moments import moment
from schedweb.runs.models import Run
from schedweb.runs.storing.stored import begin_of
from schedweb.snapshots.models import Import
from tests.apiserver import ApiServer
from tests.apiserver.manifests import pod
from tests.schedweb.clusters.conftest import CONTEXT, until

URL = f"/api/v1/clusters/{CONTEXT}/follow/"
MESSAGE = "0/3 nodes are available: 3 Insufficient cpu."


def followed(operator: Client, **wanted: Any) -> Run:
    """The run, which nobody plays yet."""
    began = operator.post(URL, {}, content_type="application/json")
    assert began.status_code == 202, began.content
    reading = began.json()["reading"]["id"]
    asked = {"import_id": reading, **wanted}
    assert operator.post(URL, asked, content_type="application/json").json()["reading"]["state"] == "reading"
    import_read_anyhow(import_id=Import.objects.get(pk=reading).pk)
    answer = operator.post(URL, asked, content_type="application/json")
    assert answer.status_code == 201, answer.content
    body = answer.json()["run"]
    assert (body["follows"], body["clock"]["mode"]) == (CONTEXT, "real")
    return Run.objects.get(pk=body["id"])


def state(operator: Client, run: Run) -> dict[str, Any]:
    body: dict[str, Any] = operator.get(f"/api/v1/runs/{run.pk}/follow/").json()
    return body


def live(operator: Client, run: Run) -> None:
    until(lambda: state(operator, run)["state"] == "live")


def column(run: Run, name: str) -> str:
    found = run.pod_records.filter(name=name).exclude(column="deleted").values_list("column", flat=True).first()
    return found or ""


def stands(run: Run, name: str, where: str) -> Callable[[], bool]:
    return lambda: column(run, name) == where


def bind(cluster: ApiServer, name: str, on: str) -> None:
    """As the real scheduler's binding leaves a pod."""

    def bound(it: dict[str, Any]) -> None:
        it["spec"]["nodeName"] = on
        it["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]

    cluster.change("pods", name, "shop", by=bound)


def unschedulable(name: str, namespace: str = "shop") -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": MESSAGE}
    condition["lastTransitionTime"] = "2026-11-20T10:00:00Z"
    containers = [{"name": "main", "image": "web:1", "resources": {"requests": {"cpu": "900"}}}]
    status = {"phase": "Pending", "conditions": [condition]}
    return pod(name, namespace, spec={"containers": containers}, status=status)


def same_as_the_cluster(cluster: ApiServer, run: Run) -> Callable[[], bool]:
    def is_same() -> bool:
        there = {
            (each["metadata"]["name"], each["spec"].get("nodeName", ""))
            for each in cluster.all("pods")
            if each["status"].get("phase") not in ("Succeeded", "Failed")
        }
        shown = run.pod_records.exclude(column__in=("deleted", "completed")).values_list("name", "node")
        return set(shown) == there

    return is_same


def replay_is_the_same(run: Run) -> None:
    """From the beginning, without any checkpoint.

    Up to where it is stored: a worker that ends may leave what the cluster told last with its place and not yet done.
    """
    run.checkpoints.all().delete()
    run.refresh_from_db()
    again = moment(begin_of(run))
    assert (again.digest, again.position) == (run.digest, run.position)
    moment(begin_of(run, run.position // 2))

"""Nothing that logs in, and nothing that only an application needs, is stored, answered or logged by a live run."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client
from pytest_django import Settings

from schedweb.runs.models import Checkpoint, Run
from tests.apiserver import ApiServer
from tests.apiserver.manifests import pod
from tests.schedweb.clusters.conftest import CONTEXT, SECRET, until
from tests.schedweb.clusters.everything_stored import everything_stored
from tests.schedweb.clusters.followed import followed, live, stands
from tests.schedweb.clusters.scheduled import Begin, asks, at_rest, begun, decide

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_watching")]

APPLIED = json.dumps({"spec": {"containers": [{"env": [{"name": "PASSWORD", "value": SECRET}]}]}})


def with_secrets(made: dict[str, Any]) -> dict[str, Any]:
    made["metadata"].setdefault("annotations", {}).update(
        {"vault.example.com/token": SECRET, "kubectl.kubernetes.io/last-applied-configuration": APPLIED}
    )
    main = made["spec"]["containers"][0]
    main.update(env=[{"name": "PASSWORD", "value": SECRET}], args=["--password", SECRET])
    return made


def are_nowhere(secrets: Sequence[str], client: Client, run: Run, log: str) -> None:
    stored = everything_stored()
    packed = stored["runs_checkpoint"], stored["runs_podrecord"], stored["runs_journalentry"]
    assert all(b"telltale" in each for each in packed), "what is packed is searched"
    forms = [form for each in secrets for form in (each.encode(), base64.b64encode(each.encode()))]
    assert not [table for table, content in stored.items() if any(form in content for form in forms)]
    api = f"/api/v1/runs/{run.pk}"
    paths = ("", "/follow", "/pods", "/pods/default/telltale", "/journal", "/events", "/nodes", "/export", "/attempts")
    answers = [client.get(f"{api}{path}/") for path in paths]
    assert sum(answer.status_code == 200 for answer in answers) >= 6, [answer.status_code for answer in answers]
    for answer in answers:
        content = answer.getvalue()
        assert not any(form in content for form in forms)
    assert not any(each in log for each in secrets)


def quickly(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.ENGINE_CHECKPOINT_SECONDS = 0.1
    caplog.set_level(logging.DEBUG)


def test_of_a_run_that_schedules(
    server: ApiServer,
    operator: Client,
    version: str,
    workers: Begin,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    quickly(settings, caplog)
    server.add(with_secrets(asks("telltale")), with_secrets(asks("no")))
    run = begun(operator, version)
    worker = workers(run)
    for name in ("telltale", "no"):
        until(stands(run, name, "waiting"))
    decide(operator, run, "approve", "telltale")
    decide(operator, run, "reject", "no", "not today")
    until(stands(run, "telltale", "bound"))
    server.add(with_secrets(asks("another")))
    until(stands(run, "another", "waiting"))
    at_rest(run)
    worker.end()
    assert Checkpoint.objects.filter(run=run).exists()
    token = yaml.safe_load((tmp_path / "config").read_text())["users"][0]["user"]["token"]
    are_nowhere((SECRET, token), operator, run, caplog.text)
    assert CONTEXT.encode() in everything_stored()["runs_run"]


def test_of_a_run_that_follows(
    cluster: ApiServer,
    operator: Client,
    workers: Begin,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    quickly(settings, caplog)
    cluster.add(with_secrets(pod("telltale")))
    run = followed(operator)
    worker = workers(run)
    live(operator, run)
    until(stands(run, "telltale", "active"))
    cluster.change("pods", "telltale", "default", by=lambda it: it["spec"].update(nodeName="n1"))
    until(stands(run, "telltale", "bound"))
    worker.end()
    token = yaml.safe_load((tmp_path / "config").read_text())["users"][0]["user"]["token"]
    are_nowhere((SECRET, token), operator, run, caplog.text)

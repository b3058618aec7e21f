"""Requests that the tests of this package share, and runs to count."""

from __future__ import annotations

import datetime
from typing import Any

from django.test import Client

from schedweb.configurations.models import ConfigurationVersion
from schedweb.runs.models import Run
from schedweb.snapshots.models import Snapshot

URL = "/api/v1/configurations/"
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
TEXT = f"""\
# Ours.
{HEAD}parallelism: 16
profiles:
  - schedulerName: default-scheduler
    plugins:
      score:
        enabled:
          - name: NodeResourcesFit
            weight: 5   # packing
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: MostAllocated
            resources: [{{name: cpu, weight: 1}}]
"""
NOW = datetime.datetime(2026, 11, 20, 10, tzinfo=datetime.UTC)


def post(client: Client, url: str, **body: Any) -> Any:
    return client.post(url, body, content_type="application/json")


def make(client: Client, name: str = "Bin-pack GPU", text: str = TEXT, **more: Any) -> dict[str, Any]:
    answer = post(client, URL, name=name, text=text, **more)
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def save(client: Client, configuration: dict[str, Any], text: str, base: int, comment: str = "") -> Any:
    return post(client, f"{URL}{configuration['id']}/versions/", text=text, base_version=base, comment=comment)


def make_run(version: ConfigurationVersion, number: int = 1, first: ConfigurationVersion | None = None) -> Run:
    snapshot = Snapshot.objects.create(name="cluster", source="import", taken_at=NOW, digest="0", payload=b"")
    return Run.objects.create(
        number=number,
        snapshot=snapshot,
        configuration_version=version,
        first_configuration_version=first or version,
        started_by_name="eda",
        engine_version="1",
        clock_start=0,
        clock=0,
    )

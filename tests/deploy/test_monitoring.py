"""The dashboard and the alerts ask for metrics that exist, and every alert is explained."""

from __future__ import annotations

import json
import re
from typing import Final

import pytest
import yaml
from prometheus_client import REGISTRY

import schedweb.observing.metrics  # noqa: F401 - they register themselves
from schedweb.api.room import KINDS
from schedweb.operation.collector import FAMILIES
from schedweb.operation.readiness import CHECKS
from scripts.processes import ROOT
from tests.reports.recorded_scenarios import played

MONITORING: Final = ROOT / "deploy" / "monitoring"
OPERATING: Final = (ROOT / "docs" / "operating.md").read_text()
SUFFIXES: Final = re.compile(r"_(bucket|count|sum)$")


@pytest.fixture
def known(db: None) -> set[str]:
    counted = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in REGISTRY.collect()
        if family.name.startswith("playground_")
    }
    return counted | {family().name for family in FAMILIES}


@pytest.mark.parametrize("file", ["alerts.yaml", "grafana-dashboard.json"])
def test_it_asks_for_metrics_that_exist(file: str, known: set[str]) -> None:
    asked = {SUFFIXES.sub("", name) for name in re.findall(r"playground_[a-z_]+", (MONITORING / file).read_text())}
    assert asked
    assert asked <= known


def test_every_metric_and_every_alert_is_in_the_operator_s_page(known: set[str]) -> None:
    rules = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"][0]["rules"]
    _, _, explained = OPERATING.partition("\n## What to do about an alert\n")
    explained, _, _ = explained.partition("\n## ")
    rows = [row.split("|")[1:-1] for row in explained.splitlines() if row.startswith("| `")]
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row[0])) == sorted(
        rule["alert"] for rule in rules
    )
    assert [row[0] for row in rows if not all(cell.strip() for cell in row)] == []
    _, _, kinds = OPERATING.partition("\n## When storage is full\n")
    assert [kind for kind in KINDS if f"`{kind}`" not in kinds.partition("\n## ")[0]] == []
    assert [name for name in sorted(known) if f"`{name}`" not in OPERATING] == []


def test_what_alerts_select_exists() -> None:
    """Jobs by the names of the operator's page, checks of /readyz, the namespace of the manifests."""
    rules = (MONITORING / "alerts.yaml").read_text()
    jobs = {job for value in re.findall(r'job=~?"([^"]+)"', rules) for job in value.split("|")}
    assert jobs == set(re.findall(r"job_name: (playground-\w+)", OPERATING)) == {"playground-web", "playground-worker"}
    assert set(re.findall(r'check!?="(\w+)"', rules)) == {"storage"} <= set(CHECKS)
    namespace = yaml.safe_load((ROOT / "deploy/kubernetes/base/namespace.yaml").read_text())["metadata"]["name"]
    assert set(re.findall(r'namespace="([^"]+)"', rules)) == {namespace}


def test_the_dashboard_of_a_scheduler_asks_for_what_a_run_tells() -> None:
    """By kube-scheduler's names, so that it shows the one and the other."""
    asked = set(re.findall(r"scheduler_[a-z_]+", (MONITORING / "kube-scheduler-dashboard.json").read_text()))
    told: set[str] = set()
    for scenario in ("mix", "churn"):
        told |= {re.split(r"[{ ]", line)[0] for line in played(scenario, lambda *_: None).lines()}
    assert len(asked) > 10
    assert asked <= told


@pytest.mark.parametrize("file", ["grafana-dashboard.json", "kube-scheduler-dashboard.json"])
def test_no_two_panels_of_a_dashboard_share_a_place(file: str) -> None:
    panels = json.loads((MONITORING / file).read_text())["panels"]
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
    assert len(places) == len(panels) == len({panel["id"] for panel in panels})

"""Evictions that a person is asked about: who would go is shown, nobody goes before, and the pods of one are kept."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit


def low(name: str, node: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": name}},
        "spec": {
            "nodeName": node,
            "priority": 0,
            "containers": [{"name": "main", "image": "app:1", "resources": {"requests": {"cpu": "2"}}}],
        },
    }


def objects() -> list[dict[str, Any]]:
    amounts = {"cpu": "2", "memory": "8Gi", "pods": "20"}
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": amounts}}
        for name in ("n1",)
    ]
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "etl-budget", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "etl"}}},
        "status": {"disruptionsAllowed": 1},
    }
    classes = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "urgent"},
        "value": 1000,
    }
    waiting = low("trainer", "")
    del waiting["spec"]["nodeName"]
    waiting["spec"] |= {"priorityClassName": "urgent", "priority": 1000}
    return [*nodes, classes, budget, low("etl", "n1"), waiting]


@pytest.fixture
def asking_run(site: Site) -> str:
    snapshot: str = site.import_snapshot(stages.listed(objects()), "evictions")["id"]
    return stages.play(site, stages.start(site, snapshot, stages.configuration(site, "Ask before preempting")))


def test_a_person_keeps_the_pods_of_one_eviction_and_approves_another(asking_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{asking_run}/pods/shop/trainer")
    expect(page.get_by_role("heading", name=re.compile("Waits for a person: would evict 1 pod on n1"))).to_be_visible()

    page = desk.go(f"/waiting?run={asking_run}")
    proposed = page.get_by_role("region", name="Proposed evictions")
    item = proposed.get_by_role("listitem", name="Evict 1 pod on n1 for trainer")
    expect(item.get_by_role("row", name=re.compile("etl"))).to_contain_text("etl-budget")
    expect(item).to_contain_text("No disruption budget is violated.")

    item.get_by_role("button", name="Keep the pods that would go for trainer").click()
    drawer = page.get_by_role("dialog")
    keep = drawer.get_by_role("button", name="Keep 1 pod")
    expect(keep).to_be_disabled()
    drawer.get_by_role("textbox", name=re.compile("^Reason")).fill("its report is due")
    keep.click()
    expect(drawer).to_have_count(0)
    decided = page.get_by_role("region", name="Decided")
    expect(decided.get_by_role("listitem").filter(has_text="Eviction rejected")).to_contain_text("its report is due")
    expect(proposed).to_have_count(0)


def test_an_approval_by_keyboard_evicts_and_binds(asking_run: str, site: Site, desk: Visit) -> None:
    page = desk.go(f"/waiting?run={asking_run}")
    expect(page.get_by_role("region", name="Proposed evictions")).to_be_visible()
    assert [each["name"] for each in site.get(f"/api/v1/runs/{asking_run}/pods/?column=bound")["results"]] != []
    page.keyboard.press("e")
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("textbox", name=re.compile("^Reason")).fill("agreed")
    page.keyboard.press("Control+Enter")
    expect(drawer).to_have_count(0)
    decided = page.get_by_role("region", name="Decided").get_by_role("listitem")
    expect(decided.filter(has_text="Eviction approved")).to_contain_text("1 pod evicted")
    page = desk.go(f"/runs/{asking_run}/pods/shop/trainer")
    expect(page.get_by_text("Bound to n1").first).to_be_visible()

"""A preemption followed from the victim to the candidates, and over the run."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit
from tests.schedweb.engine.crowded import VICTIMS


@pytest.fixture(scope="session")
def victims_run(site: Site) -> str:
    return stages.play_objects(site, "victims", VICTIMS)


def test_from_the_victim_to_why_it_was_chosen(victims_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{victims_run}/pods/shop/cheap")
    answer = page.get_by_role("region", name="What became of this pod")
    expect(answer.get_by_role("heading")).to_have_text("Preempted by shop/vip, which fitted nowhere.")
    answer.get_by_role("link", name="why this pod, in attempt 1 of vip").click()
    expect(page.get_by_role("heading", level=1, name="vip")).to_be_visible()
    panel = page.get_by_role("tabpanel", name=re.compile("^PostFilter"))
    expect(panel).to_contain_text("1 pod had to leave b, the best of 3 candidates")
    rows = panel.get_by_role("region", name="3 candidates of preemption").locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_contain_text(re.compile("^bchosen.*cheap.*1"))
    expect(rows.nth(1)).to_contain_text("a victim of priority 50, 1 on the chosen node")
    expect(rows.nth(2)).to_contain_text("1 budget violated, 0 on the chosen node")
    expect(panel.get_by_role("region", name="1 node: No preemption victims found for incoming pod")).to_contain_text(
        "d"
    )
    unhelpful = panel.get_by_role("region", name="2 nodes: Preemption is not helpful for scheduling")
    expect(unhelpful.get_by_role("link", name="small")).to_be_visible()


def test_who_preempted_whom_stands_beside_the_nodes(victims_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{victims_run}")
    inspector = page.get_by_role("region", name="Inspector")
    activity = inspector.get_by_role("tabpanel", name="Activity")
    expect(activity).to_contain_text(re.compile("vip preempted .*cheap on b"))
    inspector.get_by_role("button", name="Options of this panel").click()
    inspector.get_by_role("button", name="Preemptions").click()
    told = page.get_by_role("region", name="Preemptions")
    expect(told).to_contain_text("1 victim")
    expect(told.get_by_role("listitem")).to_contain_text(re.compile("vip.*100.*preempted.*cheap.*1.*on b"))
    assert "side=preemptions" in page.url
    told.get_by_role("link", name="shop/cheap").click()
    expect(page.get_by_role("heading", level=1, name="cheap")).to_be_visible()

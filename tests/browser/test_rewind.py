"""Looking back: the timeline leads to any step, every page stays there, and a fork goes on from it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit

QUEUES = "Gated", "Active", "Backoff", "Unschedulable", "In flight", "Waiting on Permit", "Bound"


def preview_tells(site: Site, page: Page, run: str, step: int) -> None:
    """The time and the counts that the board of that step has."""
    noted = site.get(f"/api/v1/runs/{run}/timeline/{step}/")["step"]
    preview = page.get_by_role("tooltip")
    expect(preview).to_contain_text(f"Step {step}")
    numbers = zip(QUEUES, noted["counts"].values(), strict=True)
    expect(preview.get_by_role("listitem")).to_have_text([f"{queue} {number}" for queue, number in numbers])
    expect(preview).to_contain_text(noted["clock"].partition("T")[2].removesuffix("Z"))


def test_scrub_to_a_step_look_around_and_go_on_with_a_fork(cluster_shop_run: str, site: Site, desk: Visit) -> None:
    last = site.get(f"/api/v1/runs/{cluster_shop_run}/")["position"]
    page = desk.go(f"/runs/{cluster_shop_run}")
    expect(desk.column("Unschedulable", 46)).to_be_visible()
    slider = page.get_by_role("slider", name="Step of the run")
    expect(slider).to_have_attribute("aria-valuetext", f"now, step {last}")
    slider.focus()
    page.keyboard.press("Home")
    expect(desk.column("Active", 46)).to_be_visible()
    told = page.get_by_role("region", name="Timeline")
    expect(told).to_contain_text(f"step 0 of {last}")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_disabled()
    expect(slider).to_be_focused()
    assert page.url.endswith(f"/runs/{cluster_shop_run}@0")
    preview_tells(site, page, cluster_shop_run, 0)
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_have_count(0)
    box = slider.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60 / last * box["width"], box["y"] + 10)
    preview_tells(site, page, cluster_shop_run, 60)

    page.goto(f"{site.origin}/runs/{cluster_shop_run}?at=30")
    expect(told).to_contain_text(f"step 30 of {last}")
    expect(desk.column("Active")).to_be_visible()
    then = site.get(f"/api/v1/runs/{cluster_shop_run}@30/")
    assert then["counts"]["active"] < 46
    expect(desk.column("Active", then["counts"]["active"])).to_be_visible()
    page.get_by_role("link", name="46 pods in Unschedulable, as a list").or_(
        page.get_by_role("link", name=re.compile("pods? in Active, as a list"))
    ).first.click()
    expect(page.get_by_text(re.compile("You look at step 30 of"))).to_be_visible()
    page.get_by_role("link", name="Back to now").click()
    expect(desk.column("Unschedulable", 46)).to_be_visible()

    desk.go(f"/runs/{cluster_shop_run}@30")
    expect(told).to_contain_text("step 30")
    page.keyboard.press("f")
    badge = page.get_by_role("link", name=re.compile("^Fork of r-.* at step 30"))
    expect(badge).to_be_visible()
    expect(desk.column("Active", then["counts"]["active"])).to_be_visible()
    desk.play()
    expect(desk.column("Unschedulable", 46)).to_be_visible()
    fork = page.url.rpartition("/")[2]
    ended = site.run_until(fork, "the fork has ended", lambda seen: seen["state"] in stages.QUIET)
    parent = site.get(f"/api/v1/runs/{cluster_shop_run}/")
    assert (ended["digest"], ended["position"]) == (parent["digest"], parent["position"])
    assert parent["position"] == last
    badge.click()
    expect(page).to_have_url(re.compile(rf"/compare\?a={cluster_shop_run}&b={fork}"))

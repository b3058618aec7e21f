"""The page of what is stored: a star keeps a run."""

from __future__ import annotations

from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit


def test_a_star_keeps_a_run_until_it_is_taken_away(site: Site, desk: Visit) -> None:
    run = stages.start(site, stages.sample(site, "Three-zone shop"), stages.configuration(site, "Default, every node"))
    number = site.get(f"/api/v1/runs/{run}/")["number"]
    site.command(run, {"type": "stop"})
    site.run_until(run, "the run has ended", lambda seen: seen["state"] == "stopped")

    page = desk.go("/runs")
    page.get_by_role("link", name="Storage", exact=True).click()
    expect(page.get_by_role("heading", name="The database has")).to_be_visible()
    row = page.get_by_role("listitem").filter(has_text=f"{number}, ")
    row.get_by_role("button", name=f"Keep {number}: set a star", exact=True).click()
    expect(row).to_contain_text("starred: stays")
    assert site.get(f"/api/v1/runs/{run}/")["starred"] is not None
    row.get_by_role("button", name=f"Keep {number}: take the star away", exact=True).click()
    expect(row).not_to_contain_text("starred")
    assert site.get(f"/api/v1/runs/{run}/")["starred"] is None

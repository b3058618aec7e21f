"""The list of runs: found, narrowed, chosen, compared and deleted."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.conftest import Opener
from tests.browser.looks import HAND, SIDEWAYS, ZOOMED, lasting, resize
from tests.browser.turns import in_turn
from tests.browser.visits import Visit
from tests.schedweb.engine.worlds import node


@pytest.fixture(scope="module")
def four_runs(site: Site) -> list[str]:
    """Two of each of two clusters, not begun; their numbers."""
    numbers = []
    for name in ("list-of-runs one", "list-of-runs two"):
        snapshot = site.import_snapshot(stages.listed([node("a")]), name)["id"]
        for configured in ("Default", "Bin-pack"):
            run = stages.start(site, snapshot, stages.configuration(site, configured))
            numbers.append(site.get(f"/api/v1/runs/{run}/")["number"])
    return numbers


def test_runs_are_found_compared_and_deleted(four_runs: list[str], site: Site, desk: Visit) -> None:
    page = desk.go("/runs")
    rows = page.get_by_role("region", name="Runs").locator("tbody > tr")
    expect(rows.first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("list-of-runs")
    expect(page).to_have_url(re.compile("q=list-of-runs"))
    expect(rows).to_have_count(4)
    page.get_by_label("Configuration").select_option(label="Bin-pack")
    expect(rows).to_have_count(2)
    page.get_by_label("State").select_option(label="Parked")
    expect(page.get_by_text("No run matches.")).to_be_visible()
    page.get_by_role("link", name="Show every run").click()
    expect(page.get_by_label("Search runs")).to_have_value("")
    page.wait_for_timeout(500)  # what is typed goes into the address after a moment; what was typed must not come back
    expect(page).to_have_url(re.compile("/runs$"))

    page = desk.go("/runs?q=list-of-runs")
    compare = page.get_by_role("link", name="Compare", exact=True)
    for number in four_runs[:2]:
        page.get_by_role("checkbox", name=f"Choose {number}").check()
    compare.click()
    expect(page.get_by_role("button", name=re.compile("^Run A:"))).to_contain_text(f"Default · {four_runs[0]}")
    expect(page.get_by_role("button", name=re.compile("^Run B:"))).to_contain_text(f"Bin-pack · {four_runs[1]}")

    page = desk.go("/runs?q=list-of-runs")
    for number in four_runs[1:]:
        page.get_by_role("checkbox", name=f"Choose {number}").check()
    expect(page.get_by_text("3 chosen")).to_be_visible()
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog", name="Delete 3 runs")
    expect(dialog.get_by_role("listitem")).to_have_count(3)
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(dialog).to_be_hidden()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text(four_runs[0])
    left = site.get("/api/v1/runs/?q=list-of-runs")["results"]
    assert [run["number"] for run in left] == four_runs[:1]

    # The notice has the way back; what is not taken by it stands under Recently deleted.
    notice = page.get_by_role("alert").filter(has_text="3 runs were deleted.")
    notice.get_by_role("button", name="Undo").click()
    expect(rows).to_have_count(4)
    expect(page.get_by_text("3 are back.")).to_be_visible()


def test_a_run_that_somebody_looks_at_is_deleted_and_comes_back(site: Site, desk: Visit, open_page: Opener) -> None:
    snapshot = site.import_snapshot(stages.listed([node("a")]), "deleted while seen")["id"]
    run = stages.start(site, snapshot, stages.configuration(site, "Default"))
    number = site.get(f"/api/v1/runs/{run}/")["number"]
    onlooker = open_page(site.origin, site.cookies())
    seen = onlooker.go(f"/runs/{run}")
    expect(seen.get_by_text("deleted while seen").first).to_be_visible()
    for visit in (onlooker, desk):
        # Both hear of it, and ask.
        visit.expect_complaint("404")

    page = desk.go(f"/runs/{run}")
    page.get_by_role("button", name="More: pods, nodes, configuration, stop").click()
    page.get_by_role("menuitem", name="Delete the run").click()
    drawer = page.get_by_role("dialog", name="Delete the run")
    drawer.get_by_role("button", name="Delete the run").click()
    expect(page).to_have_url(re.compile("/runs$"))
    expect(page.get_by_text(f"{number} was deleted.")).to_be_visible()
    expect(seen.get_by_text("This run was deleted.")).to_be_visible()
    expect(seen.get_by_text(f"{number} was deleted by owner on")).to_be_visible()

    page.get_by_role("link", name="Recently deleted").click()
    row = page.get_by_role("listitem").filter(has_text="deleted while seen")
    expect(row).to_contain_text(f"{number} of deleted while seen")
    row.get_by_role("button", name=f"Remove for good: {number}").click()
    row.get_by_role("button", name="Keep").click()
    row.get_by_role("button", name=f"Bring back {number}").click()
    expect(page.get_by_text(f"{number} is back.")).to_be_visible()
    expect(row).to_have_count(0)
    assert site.get(f"/api/v1/runs/{run}/")["number"] == number
    seen.reload()
    expect(seen.get_by_text("deleted while seen").first).to_be_visible()


def test_a_long_name_keeps_the_page_in_its_width(site: Site, desk: Visit) -> None:
    """Of a configuration and a cluster; on Home, too, which lists the newest runs."""
    name = (
        "a configuration that somebody described in its name to the last detail, so that nobody confuses it with others"
    )
    made = site.post("/api/v1/configurations/", {"name": name, "preset": "default"})
    snapshot = site.import_snapshot(stages.listed([node("a")]), f"cluster-{'long-' * 20}name")["id"]
    run = stages.start(site, snapshot, made)
    for address in ("/", "/runs", f"/compare?a={run}&b={run}", "/configurations"):
        page = desk.go(address)
        expect(page.get_by_role("heading").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        for window in ("1024 px", ZOOMED, HAND):
            resize(page, window)
            assert lasting(page, SIDEWAYS) == [], f"{address} at {window}"


def test_runs_are_found_and_deleted_in_every_window(site: Site, desk: Visit) -> None:
    snapshot = site.import_snapshot(stages.listed([node("a")]), "deleted in every window")["id"]
    configured = stages.configuration(site, "Default")
    page = desk.page
    for turn in in_turn(desk, "/runs"):
        runs = [stages.start(site, snapshot, configured) for _ in range(2)]
        numbers = [site.get(f"/api/v1/runs/{run}/")["number"] for run in runs]
        page.reload()
        page.get_by_label(turn.named("components", "cluster")).select_option(snapshot)
        boxes = [page.get_by_role("checkbox", name=turn.named("components", "chooseRun", run=one)) for one in numbers]
        for box in boxes:
            box.check()
        page.get_by_role("searchbox", name=turn.named("components", "searchRuns")).fill(numbers[0])
        expect(boxes[1]).to_have_count(0)
        page.get_by_role("button", name=turn.named("runs", "deleteChosen")).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name=turn.named("runs", "delete"), exact=True).click()
        expect(dialog).to_be_hidden()
        left = site.get(f"/api/v1/runs/?snapshot={snapshot}")["results"]
        assert {run["number"] for run in left}.isdisjoint(numbers[:1])
        for run in runs:
            site.ask("DELETE", f"/api/v1/runs/{run}/")

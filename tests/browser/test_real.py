"""A run beside its real cluster: nothing known, events added, what differs and why, the pod's own page, the exports."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit
from tests.schedweb.snapshots.events import assigned, event_list, shop_events


@pytest.fixture(scope="session")
def unknown_run(site: Site) -> str:
    """The export once more, with nothing known of its scheduler yet."""
    snapshot = stages.import_cluster_shop(site, "cluster-shop and its events")
    return stages.play(site, stages.start(site, snapshot, stages.configuration(site, "Default")))


def test_events_are_added_and_laid_beside(unknown_run: str, site: Site, desk: Visit, tmp_path: Path) -> None:
    events = tmp_path / "events.json"
    pending = site.get(f"/api/v1/runs/{unknown_run}/pods/?column=unschedulable&limit=1")["results"][0]
    name = f"{pending['namespace']}/{pending['name']}"
    events.write_bytes(event_list(*shop_events(), assigned(name, "gone-since", at="2026-11-20T11:00:00Z")))
    page = desk.go(f"/runs/{unknown_run}")
    page.get_by_role("button", name=re.compile("^More")).click()
    page.get_by_role("menuitem", name="Real against simulated…").click()
    expect(page.get_by_text("Nothing is known of what the real scheduler did.")).to_be_visible()
    page.locator("input[type=file]").set_input_files(events)
    answer = page.get_by_role("region", name="The difference")
    expect(answer).to_be_visible()
    found = site.get(f"/api/v1/runs/{unknown_run}/real/")
    expect(answer.get_by_role("heading")).to_contain_text(
        f"{found['alike']} of {found['decided']} pods ended as in the"
    )

    page.get_by_role("link", name=re.compile("^Placed there only")).click()
    expect(page).to_have_url(re.compile("kind=only_real"))
    kinds = page.get_by_role("navigation", name="Kinds")
    expect(kinds.locator("[aria-current]")).to_have_text(re.compile("^Placed there only"))
    row = page.get_by_role("row").filter(has_text="gone-since")
    expect(row).to_contain_text("This run has no node gone-since: it is not in the snapshot.")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert [each["real"]["node"] for each in saved["pods"] if each["pod"]["name"] == pending["name"]] == ["gone-since"]

    row.get_by_role("link").click()
    beside = page.get_by_role("region", name="In the real cluster")
    expect(beside).to_contain_text("The real scheduler placed it on gone-since")

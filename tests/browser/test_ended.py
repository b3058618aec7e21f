"""Pods whose containers have ended: every cluster with Jobs has some, and they are in no queue."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit
from tests.schedweb.engine.worlds import node, pod


@pytest.fixture(scope="session")
def jobs_run(site: Site) -> str:
    ended = {**pod("import-27", node_name="a"), "status": {"phase": "Succeeded"}}
    return stages.play_objects(site, "jobs", [node("a"), ended, pod("web")])


def test_a_pod_that_has_ended_says_so_on_its_page_and_in_lists(jobs_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{jobs_run}/pods/shop/import-27")
    answer = page.get_by_role("region", name="What became of this pod")
    expect(answer.get_by_role("heading")).to_have_text("Completed.")
    expect(page.get_by_text("It was not tried in this run.")).to_be_visible()
    page = desk.go(f"/runs/{jobs_run}/pods")
    row = page.get_by_role("row").filter(has_text="import-27")
    expect(row).to_contain_text("Completed")
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("import-27")
    expect(page.get_by_role("dialog").get_by_text("Completed")).to_be_visible()

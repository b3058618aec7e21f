"""The server goes away and comes back: the page says so, holds decisions, and goes on by itself."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from scripts.processes import Playground
from scripts.site import Site
from tests.browser import stages
from tests.browser.conftest import Opener

# What Chromium itself writes when a connection is refused or cut.
CUT = re.compile(r"WebSocket connection to|net::ERR_(CONNECTION_(REFUSED|RESET|CLOSED)|EMPTY_RESPONSE)")


def test_the_page_says_when_it_is_cut_off_and_goes_on_by_itself(open_page: Opener, tmp_path: Path) -> None:
    playground = Playground(tmp_path)
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        run = stages.start(
            site, stages.sample(site, "Three-zone shop"), stages.configuration(site, "Default + approvals")
        )
        stages.play(site, run)
        visit = open_page(playground.origin, site.cookies())
        page = visit.go(f"/waiting?run={run}")
        status = page.get_by_role("banner").get_by_role("status")
        expect(status).to_have_text("Live")
        approve = page.get_by_role("button", name="Approve postgres-2")
        expect(approve).to_be_enabled()

        playground.process.stop()
        expect(status).to_have_text(re.compile(r"^Reconnecting, try \d"))
        expect(status).to_have_text(re.compile(r"^Stale since \d\d:\d\d"))
        expect(approve).to_have_count(0)

        playground.start()
        playground.printed()
        status.get_by_role("button").click()
        expect(status).to_have_text("Live")
        expect(approve).to_be_enabled()
        approve.click()
        decided = page.get_by_role("region", name="Decided")
        expect(decided.get_by_role("listitem").filter(has_text="postgres-2")).to_contain_text("bound")
        assert any(CUT.search(complaint) for complaint in visit.complaints)
        page.close()  # before the server goes for good
        visit.complaints[:] = [complaint for complaint in visit.complaints if not CUT.search(complaint)]
    finally:
        playground.process.stop()

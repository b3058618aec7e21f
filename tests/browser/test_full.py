"""The disk is full, or read-only: every page says so for as long as it lasts, and there is a way out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from scripts.site import Site, eventually
from tests.browser import stages
from tests.browser.conftest import Opener
from tests.disks import fill, read_only, small_disk
from tests.first_start import FirstStart

FREE = 8
"""MiB: less than new things need, enough for what was taken before."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as found:
        yield found


def storage_of(site: Site, status: int) -> str:
    def look() -> str | None:
        answer = site.ask("GET", "/readyz?exclude=workers")
        return str(answer.body["checks"]["storage"]) if answer.status == status else None

    return eventually(f"/readyz answers {status}", look)


def test_a_full_disk_stands_on_every_page_until_there_is_room(
    built_ui: None, disk: Path, open_page: Opener, first_start: FirstStart
) -> None:
    playground = stages.playground_in(first_start.into(disk))
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        shown = stages.configuration(site, "Default")
        run = stages.start(site, stages.sample(site, "Three-zone shop"), shown)
        visit = open_page(site.origin, site.cookies())
        page = visit.go("/runs")
        banner = page.get_by_role("alert").filter(has_text="Nothing can be stored since")
        expect(page.get_by_role("heading", name="Runs")).to_be_visible()
        expect(banner).to_have_count(0)

        ballast = fill(disk, free=FREE)
        expect(banner).to_contain_text("is full: 16 MiB have to be free. What was accepted is safe.")
        visit.go(f"/runs/{run}")
        expect(banner).to_be_visible()
        assert "16 MiB" in storage_of(site, 503)
        refused = site.ask("POST", f"/api/v1/runs/{run}/commands/", {"type": "play", "speed": "max"})
        assert (refused.status, refused.body["error"]["code"]) == (503, "storage_full")
        assert int(refused.headers["Retry-After"]) > 0
        visit.go("/configurations")
        expect(banner).to_be_visible()
        # A run can still be stopped, and what is not needed deleted.
        site.command(run, {"type": "stop"})
        site.run_until(run, "the run has ended", lambda seen: seen["state"] == "stopped")
        assert site.ask("DELETE", f"/api/v1/runs/{run}/").status == 204

        ballast.unlink()
        expect(banner).to_have_count(0)
        assert storage_of(site, 200) == "ok"
        stages.start(site, stages.sample(site, "Three-zone shop"), shown)
        page.close()  # before the server, which it would miss
    finally:
        playground.process.stop()


def test_a_folder_that_becomes_read_only_stands_on_every_page_until_it_can_be_written(
    built_ui: None, disk: Path, open_page: Opener, first_start: FirstStart
) -> None:
    folder = disk / "data"
    folder.mkdir()
    playground = stages.playground_in(first_start.into(folder))
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        configured = stages.configuration(site, "Default")
        run = stages.start(site, stages.sample(site, "Three-zone shop"), configured)
        visit = open_page(site.origin, site.cookies())
        # What the browser says of the refusal.
        visit.expect_complaint("503")
        page = visit.go(f"/runs/{run}")
        banner = page.get_by_role("alert").filter(has_text="Nothing can be stored since")
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_enabled()
        expect(banner).to_have_count(0)

        with read_only(folder):
            expect(banner).to_contain_text("cannot be written. What was accepted is safe.")
            assert "cannot be written" in storage_of(site, 503)
            with page.expect_response(lambda answer: answer.url.endswith(f"/runs/{run}/commands/")) as answered:
                page.get_by_role("button", name="Play", exact=True).click()
            assert answered.value.status == 503
            expect(page.get_by_text("nothing can be written")).to_be_visible()
            for path in ("/runs", "/storage"):
                visit.go(path)
                expect(page.get_by_role("heading", level=1)).to_be_visible()
                expect(banner).to_be_visible()
        expect(banner).to_have_count(0)
        assert storage_of(site, 200) == "ok"
        visit.go(f"/runs/{run}")
        visit.play()
        site.run_until(run, "it has played", lambda seen: seen["attempts"] > 0)
        page.close()  # before the server, which it would miss
    finally:
        playground.process.stop()

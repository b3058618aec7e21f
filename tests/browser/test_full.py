"""The disk is full: every page says so for as long as it lasts, and there is a way out."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from scripts.site import Site, eventually
from tests.browser import stages
from tests.browser.conftest import Opener
from tests.first_start import FirstStart

MIB = 1024 * 1024
FREE = 8
"""MiB: less than new things need, enough for what was taken before."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, 64 MiB large."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here, so no disk is filled")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


def fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(disk).free - FREE * MIB))
    return ballast


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

        ballast = fill(disk)
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

"""Takes the pictures of docs/screenshots from the running product (`make screenshots`).

Starts a playground of its own, plays the three-zone sample until it waits for a person, and visits every page in both
themes at 1440 × 900, and the run and the inbox at phone width.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

from scripts.chromium import SKIPPED, find_chromium
from scripts.processes import Playground
from scripts.site import Site

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "screenshots"
DESKTOP, PHONE = (1440, 900), (390, 844)
SAMPLE = "three-zone"
SETTLED_MILLISECONDS = 700


@dataclass(frozen=True)
class Picture:
    name: str
    path: str
    size: tuple[int, int] = DESKTOP


@dataclass(frozen=True)
class Stage:
    """A run that waits for a person, and the pods worth opening in it."""

    run: str
    configuration: str
    pending: str
    bound: str

    def pictures(self) -> tuple[Picture, ...]:
        run = f"/runs/{self.run}"
        return (
            Picture("home", "/"),
            Picture("run", run),
            Picture("run-selected", f"{run}?pod={self.pending.replace('/', '%2F')}"),
            Picture("pods", f"{run}/pods"),
            Picture("pod", f"{run}/pods/{self.pending}"),
            Picture("pod-scores", f"{run}/pods/{self.bound}?point=Score"),
            Picture("waiting", "/waiting"),
            Picture("configurations", "/configurations"),
            Picture("configuration", f"/configurations/{self.configuration}"),
            Picture("configuration-yaml", f"/configurations/{self.configuration}?view=yaml"),
            Picture("run-phone", run, PHONE),
            Picture("waiting-phone", "/waiting", PHONE),
        )


def pod_in(site: Site, run: str, column: str) -> str:
    window = site.get(f"/api/v1/runs/{run}/pods/?column={column}&limit=1")
    assert window["results"], f"no pod is in {column}"
    return f"{window['results'][0]['namespace']}/{window['results'][0]['name']}"


def set_the_stage(site: Site) -> Stage:
    snapshots: list[Any] = site.get("/api/v1/snapshots/?limit=50")["results"]
    sample = next(entry for entry in snapshots if SAMPLE in entry["name"].lower().replace(" ", "-"))
    configurations: list[Any] = site.get("/api/v1/configurations/?limit=50")["results"]
    chosen = next((entry for entry in configurations if "approval" in entry["name"].lower()), configurations[0])
    body = {"snapshot": sample["id"], "configuration_version": chosen["latest"]["id"], "seed": 7, "paused": True}
    run = site.post("/api/v1/runs/", body)["id"]
    site.command(run, {"type": "play", "speed": "max"})
    quiet = ("waiting_for_person", "finished", "paused")
    site.run_until(run, "the sample has been played", lambda seen: seen["attempts"] > 0 and seen["state"] in quiet)
    pending, bound = pod_in(site, run, "unschedulable"), pod_in(site, run, "bound")
    return Stage(run=run, configuration=chosen["id"], pending=pending, bound=bound)


def take(page: Page, origin: str, picture: Picture, theme: str, target: Path) -> list[str]:
    """Answers what the browser complained of while the page stood."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_viewport_size({"width": picture.size[0], "height": picture.size[1]})
    page.goto(origin + picture.path, wait_until="load")
    page.locator("main").first.wait_for()
    page.wait_for_timeout(SETTLED_MILLISECONDS)
    page.screenshot(path=target / f"{picture.name}{'-dark' if theme == 'dark' else ''}.png")
    return [f"{picture.name} ({theme}): {complaint}" for complaint in complaints]


def take_all(context: BrowserContext, origin: str, stage: Stage, theme: str, only: Sequence[str]) -> list[str]:
    complaints = []
    for picture in stage.pictures():
        if only and picture.name not in only:
            continue
        page = context.new_page()
        complaints += take(page, origin, picture, theme, TARGET)
        page.close()
        print(f"docs/screenshots/{picture.name} ({theme})", flush=True)
    return complaints


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make screenshots", description="Pictures of the running product.")
    parser.add_argument("only", nargs="*", help="names of pictures (default: all)")
    chosen = parser.parse_args(arguments)
    chromium = find_chromium()
    if chromium is None:
        print(SKIPPED, file=sys.stderr)
        return 1
    TARGET.mkdir(parents=True, exist_ok=True)
    complaints: list[str] = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        playground = Playground(Path(folder))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            site = Site(playground.origin)
            site.open_link(playground.link)
            stage = set_the_stage(site)
            for theme in ("light", "dark"):
                context = browser.new_context(color_scheme="dark" if theme == "dark" else "light")
                context.add_cookies(
                    [{"name": name, "value": value, "url": playground.origin} for name, value in site.cookies().items()]
                )
                complaints += take_all(context, playground.origin, stage, theme, chosen.only)
                context.close()
        finally:
            browser.close()
            playground.process.stop()
    for complaint in complaints:
        print(f"the browser complained: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

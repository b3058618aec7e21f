"""Takes the pictures of docs/screenshots from the running product (`make screenshots`).

Starts a playground of its own, steps the three-zone sample to a moment when every queue has something to show, imports
the export of the tests, and visits every page in both themes at 1440 × 900, and the run and the inbox at phone width.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

from schedweb.clusters.writing.permission import VARIABLE
from scripts.chromium import SKIPPED, find_chromium
from scripts.pictured_cluster import CONTEXT, pictured_cluster, scheduled, shadowed
from scripts.processes import Playground
from scripts.site import Site
from tests.apiserver import ApiServer

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "screenshots"
DESKTOP, PHONE = (1440, 900), (390, 844)
SCALE, QUALITY = 1.5, 80
SAMPLE, THOUSAND = "Three-zone shop", "One thousand nodes"
APPROVALS, EVERY_NODE = "Default + approvals", "Default, every node"
DEFAULT, PACKED = "Default", "Bin-pack"
EXPORT = ROOT / "tests/data/cluster-shop/kubectl-export.json.gz"
TRAINER = "ml/trainer-9d9cf4ccc-8zklc"
# So far the sample is stepped: the gang lacks its sixth member, a database waits for a person, others are tried again.
CYCLES, POINTS = 20, 3
SETTLED_MILLISECONDS = 700
QUIET = ("waiting_for_person", "finished", "paused")


@dataclass(frozen=True)
class Picture:
    name: str
    path: str
    size: tuple[int, int] = DESKTOP


@dataclass(frozen=True)
class Stage:
    """Runs with something to see: one stopped between two points, one finished, one on a thousand nodes."""

    sample: str
    export: str
    thousand: str
    scored: str
    configuration: str
    compared: tuple[str, str]
    """The sample, spread and packed."""
    shadowed: str
    scheduled: str
    """Of a real cluster, as is the one before."""

    def pictures(self) -> tuple[Picture, ...]:
        run, editor = f"/runs/{self.sample}", f"/configurations/{self.configuration}"
        return (
            Picture("home", "/"),
            Picture("run", run),
            Picture("run-selected", f"{run}?pod=data%2Fpostgres-2"),
            Picture("runs", "/runs"),
            Picture("pods", f"/runs/{self.export}/pods?column=unschedulable"),
            Picture("pod", f"/runs/{self.export}/pods/{TRAINER}"),
            Picture("pod-scores", f"/runs/{self.thousand}/pods/{self.scored}?point=Score"),
            Picture("pod-weights", f"/runs/{self.thousand}/pods/{self.scored}?point=Score&trying=true"),
            Picture("times", f"/runs/{self.export}/attempts?view=timing"),
            Picture("compare", f"/compare?a={self.compared[0]}&b={self.compared[1]}"),
            Picture("waiting", f"/waiting?run={self.sample}"),
            Picture("configurations", "/configurations"),
            Picture("configuration", f"{editor}?plugin=NodeResourcesFit"),
            Picture("configuration-yaml", f"{editor}?view=yaml"),
            Picture("cluster", f"/clusters/{CONTEXT}"),
            Picture("follow", f"/runs/{self.shadowed}"),
            Picture("shadow", f"/runs/{self.shadowed}/shadow"),
            Picture("schedule", f"/runs/{self.scheduled}"),
            Picture("writes", f"/runs/{self.scheduled}/writes"),
            Picture("run-phone", run, PHONE),
            Picture("waiting-phone", f"/waiting?run={self.sample}", PHONE),
        )


def named(site: Site, kind: str, name: str) -> Any:
    return next(one for one in site.get(f"/api/v1/{kind}/?limit=50")["results"] if one["name"] == name)


def start(site: Site, snapshot: Any, configuration: Any) -> str:
    body = {"snapshot": snapshot["id"], "configuration_version": configuration["latest"]["id"], "seed": 7}
    run: str = site.post("/api/v1/runs/", {**body, "paused": True})["id"]
    site.run_until(run, "the run is set up", lambda seen: sum(seen["counts"].values()) > 0)
    return run


def played(site: Site, snapshot: Any, configuration: str) -> str:
    run = start(site, snapshot, named(site, "configurations", configuration))
    site.command(run, {"type": "play", "speed": "max"})
    site.run_until(run, "the run is played", lambda seen: seen["attempts"] > 0 and seen["state"] in QUIET)
    return run


def step(site: Site, run: str, what: str, counted: str) -> None:
    """``counted`` is the run's field in which the step is seen to have been taken."""
    before = site.get(f"/api/v1/runs/{run}/")[counted]
    site.command(run, {"type": "step", "what": what})
    site.run_until(run, f"one {what} more", lambda seen: bool(seen[counted] > before))


def set_the_stage(site: Site, server: ApiServer) -> Stage:
    approvals = named(site, "configurations", APPROVALS)
    sample = start(site, named(site, "snapshots", SAMPLE), approvals)
    for _ in range(CYCLES):
        step(site, sample, "cycle", "attempts")
    for _ in range(POINTS):
        step(site, sample, "point", "points")

    export = site.import_snapshot(gzip.decompress(EXPORT.read_bytes()).decode(), "cluster-shop")
    exported = played(site, export, DEFAULT)
    spread, packed = (played(site, named(site, "snapshots", SAMPLE), each) for each in (DEFAULT, PACKED))

    thousand = start(site, named(site, "snapshots", THOUSAND), named(site, "configurations", EVERY_NODE))
    step(site, thousand, "cycle", "attempts")
    placed = site.get(f"/api/v1/runs/{thousand}/pods/?column=bound&sort=-attempts&limit=1")["results"][0]

    edited = site.post("/api/v1/configurations/", {"name": "shop", "preset": "approvals"})
    site.post(f"/api/v1/clusters/{CONTEXT}/connect/", {})
    return Stage(
        sample,
        exported,
        thousand,
        f"{placed['namespace']}/{placed['name']}",
        edited["id"],
        (spread, packed),
        shadowed(site, server),
        scheduled(site, server),
    )


def write(page: Page, picture: Path) -> None:
    """As WebP, which Playwright itself does not write: a third of the size of PNG."""
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    picture.write_bytes(base64.b64decode(taken["data"]))
    session.detach()


def take(page: Page, origin: str, picture: Picture, theme: str) -> list[str]:
    """Answers what the browser complained of while the page stood."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_viewport_size({"width": picture.size[0], "height": picture.size[1]})
    page.goto(origin + picture.path, wait_until="load")
    page.locator("main").first.wait_for()
    page.wait_for_load_state("networkidle")
    # Answers that are still being worked out are no picture.
    page.wait_for_function("() => document.querySelector('[aria-busy=true]') === null")
    page.wait_for_timeout(SETTLED_MILLISECONDS)
    write(page, TARGET / f"{picture.name}{'-dark' if theme == 'dark' else ''}.webp")
    return [f"{picture.name} ({theme}): {complaint}" for complaint in complaints]


def take_all(context: BrowserContext, origin: str, stage: Stage, theme: str, only: Sequence[str]) -> list[str]:
    complaints = []
    for picture in stage.pictures():
        if only and picture.name not in only:
            continue
        page = context.new_page()
        complaints += take(page, origin, picture, theme)
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
    with (
        tempfile.TemporaryDirectory() as folder,
        pictured_cluster(EXPORT, Path(folder) / "kubeconfig") as server,
        sync_playwright() as playwright,
    ):
        known = {"KUBECONFIG": str(Path(folder) / "kubeconfig"), VARIABLE: CONTEXT}
        playground = Playground(Path(folder), **known)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            site = Site(playground.origin)
            site.open_link(playground.link)
            stage = set_the_stage(site, server)
            for theme in ("light", "dark"):
                context = browser.new_context(
                    color_scheme="dark" if theme == "dark" else "light", device_scale_factor=SCALE
                )
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

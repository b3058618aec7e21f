"""Whether the live path keeps up: a run at full speed with nobody looking, and with browsers attached.

A playground of its own (embedded mode, SQLite) and real headless Chromium on the same machine, so browsers take
processor time from the engine. Two things are told apart: what the product loses by telling browsers (CPU time of its
processes per attempt), and what the page in front of a person feels like meanwhile (bench_page.py).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, WebSocket, sync_playwright

from scripts.bench_cluster import configured, created, imported, write_cluster
from scripts.bench_page import PATIENCE, PHASES, SIZE, responsiveness
from scripts.bench_processes import Watched
from scripts.chromium import find_chromium
from scripts.processes import Playground
from scripts.site import Site

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]


@dataclass
class Seen:
    """What came to one browser."""

    page: Page
    messages: list[tuple[float, int]] = field(default_factory=list)

    def listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda text: self.messages.append((time.monotonic(), len(text))))


@dataclass
class Played:
    attempts: int
    seconds: float
    cpu: float
    cpu_engine: float


def opened(browser: Browser, site: Site, path: str) -> Seen:
    context = browser.new_context(viewport=SIZE)
    context.set_default_timeout(PATIENCE)
    context.add_cookies([{"name": name, "value": value, "url": site.origin} for name, value in site.cookies().items()])
    seen = Seen(context.new_page())
    seen.page.on("websocket", seen.listen)
    seen.page.goto(site.origin + path, wait_until="load")
    seen.page.locator("[data-column='active'] [data-card]").first.wait_for()
    return seen


def play(site: Site, run: str, watched: Watched, meanwhile: Callable[[], object]) -> Played:
    """From Play to the end; `meanwhile` is called over and over and must take its time."""
    before, began = watched.cpu_by_name(), time.monotonic()
    site.command(run, {"type": "play", "speed": "max"})
    while True:
        meanwhile()
        body = site.get(f"/api/v1/runs/{run}/")
        if body["state"] == "finished":
            break
        assert body["state"] in ("created", "playing", "paused"), f"{body['state']}: {body['error']}"
    seconds = time.monotonic() - began
    after = watched.cpu_by_name()
    # The engine of the run before may end meanwhile: its parent then counts it, so it is taken off with `before`.
    used = sum(after.values()) - sum(before.values())
    engine = max((cpu - before.get(pid, 0.0) for pid, cpu in after.items() if pid != watched.root), default=0.0)
    return Played(body["attempts"], seconds, used, engine)


def waiting_with(seen: list[Seen]) -> Callable[[], object]:
    """Playwright hears of messages only while it is waited with. Asking after the run is work for the product, too."""
    if not seen:
        return lambda: time.sleep(1)
    return lambda: seen[0].page.wait_for_timeout(1000)


def throughput(site: Site, watched: Watched, browser: Browser, start: Callable[[], str], counts: list[int]) -> None:
    print(
        "| browsers | attempts/s | product CPU µs per attempt | engine's share of it | messages/s and browser | KiB/s |"
    )
    print("|---|---|---|---|---|---|")
    for count in counts:
        run = start()
        seen = [opened(browser, site, f"/runs/{run}") for _ in range(count)]
        for each in seen:
            each.messages.clear()

        played = play(site, run, watched, waiting_with(seen))
        received = [each.messages for each in seen]
        messages = max((len(one) for one in received), default=0) / played.seconds
        kib = max((sum(size for _, size in one) for one in received), default=0) / played.seconds / 1024
        print(
            f"| {count} | {played.attempts / played.seconds:,.0f} | {played.cpu / played.attempts * 1e6:,.0f} "
            f"| {played.cpu_engine / played.cpu:.0%} | {messages:.1f} | {kib:,.0f} |",
            flush=True,
        )
        for each in seen:
            each.page.context.close()


def cycles(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--workloads", type=int, default=500)
    parser.add_argument("--browsers", type=int, nargs="*", default=[0, 3], help="none: nothing of throughput")
    parser.add_argument("--only", nargs="*", default=list(PHASES), choices=[*PHASES], help="none: nothing of the page")
    parser.add_argument(
        "--speed", type=cycles, default="max", help="of the run in front of the page: one, 10, 100 (cycles/s) or max"
    )
    parser.add_argument("--seconds", type=float, default=15, help="of each phase of the page")
    parser.add_argument("--runs", type=int, default=2, help="for each phase of the page")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        write_cluster(folder / "cluster.json", chosen.nodes, 0, chosen.workloads, chosen.pods)
        playground = Playground(folder)
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        try:
            site = Site(playground.origin)
            site.open_link(playground.link)
            snapshot = imported(site, folder / "cluster.json", "live")
            configuration = configured(site, "Default, every node")
            print(f"{chosen.nodes:,} nodes, {chosen.pods:,} queued pods\n")

            def start() -> str:
                return created(site, snapshot, configuration, pending=chosen.pods)

            with Watched(playground.process.child.pid) as watched:
                if chosen.browsers:
                    throughput(site, watched, browser, start, chosen.browsers)
            if chosen.only:
                responsiveness(site, browser, start, chosen.speed, chosen.only, chosen.seconds, chosen.runs)
        finally:
            browser.close()
            playground.process.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())

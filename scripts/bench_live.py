"""Whether the live path keeps up: a run at full speed with nobody looking, and with browsers attached.

A playground of its own (embedded mode, SQLite) and real headless Chromium on the same machine, so browsers take
processor time from the engine. Two things are told apart: what the product loses by telling browsers (CPU time of its
processes per attempt), and what the page in front of a person feels like meanwhile (long tasks, Event Timing).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, ViewportSize, WebSocket, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from scripts.bench_cluster import configured, created, imported, write_cluster
from scripts.bench_processes import Watched
from scripts.chromium import find_chromium
from scripts.processes import Playground
from scripts.site import Site

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
SIZE: ViewportSize = {"width": 1440, "height": 900}
PATIENCE = 120_000
#: Long tasks, and how long every key press and click took up to the next picture.
OBSERVE = """
window.__tasks = []; window.__events = [];
new PerformanceObserver((list) => window.__tasks.push(...list.getEntries().map((e) => e.duration)))
  .observe({ type: "longtask", buffered: true });
new PerformanceObserver((list) => window.__events.push(...list.getEntries().filter((e) => e.interactionId > 0)
  .map((e) => [e.interactionId, e.duration]))).observe({ type: "event", durationThreshold: 16, buffered: true });
"""
TAKE = """() => {
  const most = new Map();
  for (const [id, duration] of window.__events) most.set(id, Math.max(most.get(id) ?? 0, duration));
  const taken = [window.__tasks, [...most.values()]];
  window.__tasks = []; window.__events = [];
  return taken;
}"""
#: The longest gaps between pictures while the queue is scrolled.
SCROLL = """async () => {
  const list = [...document.querySelectorAll("[data-column] ul")].find((one) => one.scrollHeight > one.clientHeight);
  if (!list) return [];
  const gaps = []; let last = performance.now();
  for (let turn = 0; turn < 30; turn += 1) {
    list.scrollTop = (turn % 10) * 80;
    await new Promise(requestAnimationFrame);
    const now = performance.now(); gaps.push(now - last); last = now;
  }
  return gaps;
}"""


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
    context.add_init_script(OBSERVE)
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
        assert body["state"] in ("created", "playing", "paused"), body["state"]
    seconds = time.monotonic() - began
    after = watched.cpu_by_name()
    used = {pid: cpu - before.get(pid, 0.0) for pid, cpu in after.items()}
    engine = max((cpu for pid, cpu in used.items() if pid != watched.root), default=0.0)
    return Played(body["attempts"], seconds, sum(used.values()), engine)


def waiting_with(seen: list[Seen]) -> Callable[[], object]:
    """Playwright hears of messages only while it is waited with."""
    if not seen:
        return lambda: time.sleep(0.25)
    return lambda: seen[0].page.wait_for_timeout(250)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


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
        told = [each.messages for each in seen]
        messages = max((len(one) for one in told), default=0) / played.seconds
        kib = max((sum(size for _, size in one) for one in told), default=0) / played.seconds / 1024
        print(
            f"| {count} | {played.attempts / played.seconds:,.0f} | {played.cpu / played.attempts * 1e6:,.0f} "
            f"| {played.cpu_engine / played.cpu:.0%} | {messages:.1f} | {kib:,.0f} |",
            flush=True,
        )
        for each in seen:
            each.page.context.close()


def pressed(what: Locator) -> bool:
    """False: it moved on before it could be reached, as it may for a person."""
    try:
        what.click(force=True, timeout=5000)
    except PlaywrightError:
        return False
    return True


def interactions(seen: Seen, run: str) -> dict[str, Callable[[], Any]]:
    page = seen.page
    board = page.locator("[data-column='active'] [data-card]")
    turns = [0, 1, 2] * 200

    def select() -> None:
        pressed(board.nth(turns.pop()))
        page.wait_for_timeout(150)

    def open_pod() -> None:
        if not (pressed(board.nth(turns.pop())) and pressed(page.locator("a[href*='/pods/team-']").first)):
            return
        page.wait_for_url("**/pods/**")
        page.wait_for_timeout(300)
        page.go_back()
        page.wait_for_timeout(300)

    def search() -> None:
        page.keyboard.press("/")
        page.wait_for_timeout(200)
        for letter in "app-12":
            page.keyboard.press(letter)
            page.wait_for_timeout(60)
        page.keyboard.press("Escape")
        page.wait_for_timeout(200)

    def sort_nodes() -> None:
        heads = page.locator("table thead button")
        heads.nth(0).click()
        page.wait_for_timeout(150)
        heads.nth(1).click()
        page.wait_for_timeout(150)

    return {
        "selecting a pod": select,
        "opening a pod's page": open_pod,
        "typing in the search": search,
        "sorting the node table": sort_nodes,
    }


def responsiveness(site: Site, watched: Watched, browser: Browser, start: Callable[[], str]) -> None:
    run = start()
    seen = opened(browser, site, f"/runs/{run}")
    table = opened(browser, site, f"/runs/{run}?table=true")
    table.page.locator("table tbody tr").first.wait_for()
    for each in (seen, table):
        each.page.wait_for_timeout(1000)
        each.page.evaluate(TAKE)
    acts = interactions(seen, run)
    acts["sorting the node table"] = interactions(table, run)["sorting the node table"]
    took: dict[str, list[float]] = {name: [] for name in acts}
    tasks: list[float] = []
    gaps: list[float] = []
    turn = 0

    def act() -> None:
        nonlocal turn
        name = list(acts)[turn % len(acts)]
        turn += 1
        on = table if name == "sorting the node table" else seen
        acts[name]()
        found, events = on.page.evaluate(TAKE)
        took[name] += events
        if on is seen:
            tasks.extend(found)
            gaps.extend(seen.page.evaluate(SCROLL))

    played = play(site, run, watched, act)
    print(f"\nmeanwhile, in {played.seconds:.0f} s of play ({played.attempts / played.seconds:,.0f} attempts/s):\n")
    print("| interaction | measured | p50 ms | p95 ms | most ms |")
    print("|---|---|---|---|---|")
    rows = {**took, "scrolling a queue (between two pictures)": gaps}
    for name, values in rows.items():
        most = max(values, default=0)
        print(
            f"| {name} | {len(values)} | {percentile(values, 0.5):.0f} | {percentile(values, 0.95):.0f} | {most:.0f} |"
        )
    long = sorted(tasks)[-5:]
    print(f"\n{len(tasks)} tasks over 50 ms; the longest: {', '.join(f'{each:.0f}' for each in long) or 'none'} ms")
    for each in (seen, table):
        each.page.context.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--workloads", type=int, default=500)
    parser.add_argument("--browsers", type=int, nargs="*", default=[0, 3])
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
                throughput(site, watched, browser, start, chosen.browsers)
                responsiveness(site, watched, browser, start)
        finally:
            browser.close()
            playground.process.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())

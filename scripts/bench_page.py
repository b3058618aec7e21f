"""What a page in front of a person feels like while its run plays: one tab, one thing done over and over.

Every phase has a run and a browser tab of its own. How long an interaction took up to the next picture is Event
Timing's figure, which a busy machine makes worse; tasks of the page's main thread are told by wall time and by thread
time, which it hardly does.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from playwright.sync_api import Browser, CDPSession, Locator, Page, ViewportSize
from playwright.sync_api import Error as PlaywrightError

from scripts.site import Site, eventually

SIZE: Final[ViewportSize] = {"width": 1440, "height": 900}
PATIENCE: Final = 120_000
#: How long a run plays before a phase is measured, so that lists are as long as they get.
WARM_SECONDS: Final = 4
LONG_MS: Final = 50
TOO_LONG_MS: Final = 200
OBSERVE: Final = """
window.__events = [];
new PerformanceObserver((list) => window.__events.push(...list.getEntries().filter((e) => e.interactionId > 0)
  .map((e) => [e.interactionId, e.duration]))).observe({ type: "event", durationThreshold: 16, buffered: true });
"""
#: The longest event of every interaction.
TAKE: Final = """() => {
  const most = new Map();
  for (const [id, duration] of window.__events) most.set(id, Math.max(most.get(id) ?? 0, duration));
  window.__events = [];
  return [...most.values()];
}"""
#: The gaps between pictures while a queue is scrolled.
SCROLL: Final = """async () => {
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
ACTIVE: Final = "[data-column='active'] [data-card]"

#: Does something once and lets it settle; what it answers are milliseconds that count beside Event Timing's.
Act = Callable[[Page, int], list[float]]


def pressed(what: Locator) -> bool:
    """False: it moved on before it could be reached, as it may for a person."""
    try:
        what.click(force=True, timeout=5000)
    except PlaywrightError:
        return False
    return True


def look(page: Page, turn: int) -> list[float]:
    page.wait_for_timeout(500)
    return []


def select(page: Page, turn: int) -> list[float]:
    pressed(page.locator(ACTIVE).nth(turn % 3))
    page.wait_for_timeout(400)
    return []


def open_pod(page: Page, turn: int) -> list[float]:
    if not (pressed(page.locator(ACTIVE).nth(turn % 3)) and pressed(page.locator("a[href*='/pods/team-']").first)):
        return []
    page.wait_for_url("**/pods/**")
    page.wait_for_timeout(400)
    page.go_back()
    # Not its first card: the run may have finished meanwhile.
    page.locator("[data-column='active']").wait_for()
    page.wait_for_timeout(400)
    return []


def search(page: Page, turn: int) -> list[float]:
    page.keyboard.press("/")
    field = page.get_by_placeholder("Find pods, nodes, runs")
    field.wait_for()
    for letter in "app-12":
        page.keyboard.press(letter)
        page.wait_for_timeout(80)
    page.keyboard.press("Escape")
    field.wait_for(state="hidden")
    page.wait_for_timeout(300)
    return []


def sort_nodes(page: Page, turn: int) -> list[float]:
    page.locator("table thead button").nth((0, 3, 1, 4)[turn % 4]).click()
    page.wait_for_timeout(300)
    return []


def scroll(page: Page, turn: int) -> list[float]:
    gaps: list[float] = page.evaluate(SCROLL)
    return gaps


def slide(page: Page, turn: int) -> list[float]:
    slider = page.locator("aside input[type='range']").nth(turn % 2)
    slider.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowLeft"):
        slider.press(key)
        page.wait_for_timeout(100)
    return []


def switch(page: Page, turn: int) -> list[float]:
    page.locator("aside input[type='checkbox']").nth(turn // 2 % 2).click()
    page.wait_for_timeout(300)
    return []


#: Name → where it is done (``pod``: the page of a pod that has its node, with weights to try) and what.
PHASES: Final[dict[str, tuple[str, Act]]] = {
    "watching": ("", look),
    "selecting a pod": ("", select),
    "opening a pod's page": ("", open_pod),
    "typing in the search": ("", search),
    "sorting the node table": ("?table=true", sort_nodes),
    "scrolling a queue": ("", scroll),
    "pulling a weight's slider": ("pod", slide),
    "switching a plugin off and on": ("pod", switch),
}


class Tasks:
    """Those of a page's main thread while it is entered: milliseconds of wall time and of the thread's own."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.events: list[dict[str, Any]] = []
        self.complete = False
        self.wall: list[float] = []
        self.cpu: list[float] = []
        self.session.on("Tracing.dataCollected", lambda event: self.events.extend(event["value"]))
        self.session.on("Tracing.tracingComplete", lambda event: setattr(self, "complete", True))

    def __enter__(self) -> Tasks:
        config = {"includedCategories": ["toplevel"]}
        self.session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": config})
        return self

    def __exit__(self, *raised: object) -> None:
        self.session.send("Tracing.end")
        while not self.complete:
            self.page.wait_for_timeout(50)
        threads = {
            (each["pid"], each["tid"])
            for each in self.events
            if each["name"] == "thread_name" and each["args"]["name"] == "CrRendererMain"
        }
        tasks = [each for each in self.events if each["name"] == "ThreadControllerImpl::RunTask" and each["ph"] == "X"]
        mine = Counter((each["pid"], each["tid"]) for each in tasks if (each["pid"], each["tid"]) in threads)
        [(thread, _)] = mine.most_common(1)
        found = [each for each in tasks if (each["pid"], each["tid"]) == thread]
        self.wall = [each["dur"] / 1000 for each in found]
        self.cpu = [each.get("tdur", 0) / 1000 for each in found]


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def page_for(browser: Browser, site: Site, run: str, where: str) -> Page:
    context = browser.new_context(viewport=SIZE)
    context.set_default_timeout(PATIENCE)
    context.add_cookies([{"name": name, "value": value, "url": site.origin} for name, value in site.cookies().items()])
    context.add_init_script(OBSERVE)
    page = context.new_page()
    if where == "pod":

        def bound() -> Any:
            return next(iter(site.get(f"/api/v1/runs/{run}/pods/?column=bound&limit=1")["results"]), None)

        pod = eventually("a pod has its node", bound)
        names = f"{quote(pod['namespace'])}/{quote(pod['name'])}"
        page.goto(f"{site.origin}/runs/{run}/pods/{names}?point=Score&trying=true", wait_until="load")
        page.locator("aside input[type='range']").first.wait_for()
    else:
        page.goto(f"{site.origin}/runs/{run}{where}", wait_until="load")
        page.locator("table tbody tr" if where else ACTIVE).first.wait_for()
    return page


@dataclass
class Seen:
    """Of one run while it played: milliseconds that interactions took, those of tasks by wall and by CPU, seconds."""

    took: list[float]
    wall: list[float]
    cpu: list[float]
    attempts: int
    seconds: float


def once(site: Site, browser: Browser, run: str, speed: int | str, where: str, act: Act, seconds: float) -> Seen:
    """Ends with the run: what is done on one that has finished would be a better figure than it is."""
    site.command(run, {"type": "play", "speed": speed})
    page = page_for(browser, site, run, where)
    page.wait_for_timeout(WARM_SECONDS * 1000)
    page.evaluate(TAKE)
    took: list[float] = []
    turn, began = 0, time.monotonic()
    seen = site.get(f"/api/v1/runs/{run}/")
    before = seen["attempts"]
    with Tasks(page) as tasks:
        while time.monotonic() - began < seconds:
            done = act(page, turn)
            done += page.evaluate(TAKE)
            seen = site.get(f"/api/v1/runs/{run}/")
            if seen["state"] != "playing":
                break
            took += done
            turn += 1
        lasted = time.monotonic() - began
    page.context.close()
    if seen["state"] == "playing":
        site.command(run, {"type": "stop"})
    return Seen(took, tasks.wall, tasks.cpu, seen["attempts"] - before, lasted)


def responsiveness(
    site: Site, browser: Browser, start: Callable[[], str], speed: int | str, only: list[str], seconds: float, runs: int
) -> None:
    print(f"\n| one tab, the run's speed: {speed} | measured | p50 ms | p95 ms | most ms | attempts/s ", end="")
    print("| main thread: CPU | tasks over 50 ms by wall, by CPU | over 200 ms | longest by wall, by CPU |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in only:
        where, act = PHASES[name]
        every = [once(site, browser, start(), speed, where, act, seconds) for _ in range(runs)]
        took = [each for seen in every for each in seen.took]
        wall = [each for seen in every for each in seen.wall]
        cpu = [each for seen in every for each in seen.cpu]
        lasted = sum(seen.seconds for seen in every)
        over = [sum(each > limit for each in times) for limit in (LONG_MS, TOO_LONG_MS) for times in (wall, cpu)]
        cells = [
            name,
            f"{len(took)}",
            *(f"{each:.0f}" for each in (percentile(took, 0.5), percentile(took, 0.95), max(took, default=0))),
            f"{sum(seen.attempts for seen in every) / lasted:,.0f}",
            f"{sum(cpu) / lasted / 10:.0f} %",
            f"{over[0]}, {over[1]}",
            f"{over[2]}, {over[3]}",
            f"{max(wall, default=0):.0f}, {max(cpu, default=0):.0f}",
        ]
        print(f"| {' | '.join(cells)} |", flush=True)

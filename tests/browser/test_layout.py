"""Attempts as cards and as rows, and that nothing that happens to a run moves the parts of its page."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

from playwright.sync_api import Page, expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.conftest import Opener
from tests.browser.looks import SIDEWAYS, settled, texts
from tests.browser.turns import EVERY, TURNS, Turn, in_turn
from tests.browser.visits import Visit
from tests.schedweb.engine.worlds import node, pod

# Of the regions that are always there, as whole pixels.
PLACES: Final = """([timeline, cycle, points, nodes, inspector]) => Object.fromEntries([
  ['header', 'main header'], ['timeline', `[aria-label="${timeline}"]`], ['slider', '[role=slider]'],
  ['strip', `[aria-label="${cycle}"]`], ['points', `[aria-label="${points}"]`],
  ['board', '[data-column=active]'], ['nodes', `section[aria-label="${nodes}"]`],
  ['inspector', `section[aria-label="${inspector}"]`],
  ['fork', 'button[aria-keyshortcuts=f]'], ['play', 'button[aria-keyshortcuts=p]'],
].map(([name, selector]) => {
  const {left, top, width, height} = document.querySelector(selector).getBoundingClientRect();
  return [name, [left, top, width, height].map(Math.round)];
}))"""
# The edges of each control of a run, as whole pixels: its transport and fork.
CONTROLS: Final = """() => [...document.querySelectorAll('main header [role=toolbar] > *, button[aria-keyshortcuts=f]')]
  .filter((one) => one.checkVisibility()).map((one) => one.getBoundingClientRect())
  .map((one) => [one.left, one.top, one.right, one.bottom].map(Math.round))"""
LABELS: Final = (
    ("rewind", "timeline"),
    ("run", "currentCycle"),
    ("run", "extensionPointsOfThisCycle"),
    ("run", "nodes"),
    ("run", "besideTheNodes"),
)


def test_attempts_are_cards_on_a_phone_and_rows_elsewhere(cluster_shop_run: str, desk: Visit) -> None:
    phones = [turn for turn in EVERY if turn.is_phone]
    for turn in in_turn(
        desk, f"/runs/{cluster_shop_run}/attempts", [*phones, *(turn for turn in TURNS if not turn.is_phone)]
    ):
        rows = desk.page.get_by_role("region", name=turn.named("history", "rowsOfAttempts"))
        expect(rows.locator("tbody tr").first).to_be_visible()
        assert desk.page.evaluate(SIDEWAYS) == [], turn
        if turn.is_phone:
            assert rows.evaluate("one => one.scrollWidth - one.clientWidth") == 0, turn
        cards = rows.evaluate("""one => [...one.querySelectorAll('tbody tr')].map((row) => {
          const {left, right} = row.getBoundingClientRect();
          const boxes = [...row.children].map((cell) => cell.getBoundingClientRect()).filter(({width}) => width > 0);
          const isIn = boxes.length >= 4 && boxes.every((cell) => cell.left >= left && cell.right <= right);
          return isIn && new Set(boxes.map(({top}) => Math.round(top))).size > 1;
        })""")
        assert cards, turn
        assert set(cards) == {turn.is_phone}, turn


def test_nothing_that_happens_to_a_run_moves_its_page(desk: Visit, site: Site, open_page: Opener) -> None:
    """On the page of who plays it, and on pages that look on: one in each window, all languages among them."""
    objects: list[Any] = [
        *(node(f"n{number}", "4") for number in range(9)),
        *(pod(f"p{number}", "1") for number in range(20)),
    ]
    snapshot = site.import_snapshot(stages.listed([*objects, pod("too-big", "64")]), "stays in its place")["id"]
    run = stages.start(site, snapshot, stages.configuration(site, "Default, every node"))
    page = desk.go(f"/runs/{run}")
    expect(desk.column("Active", 21)).to_be_visible()
    points = page.get_by_role("list", name="Extension points of this cycle")
    onlookers = {turn: open_page(site.origin, site.cookies()) for turn in TURNS}
    for turn, onlooker in onlookers.items():
        for _ in in_turn(onlooker, f"/runs/{run}?queue=active", [turn]):
            expect(onlooker.page.locator("[data-column=active]")).to_be_visible()
            settled(onlooker.page)
    seen: dict[str, dict[str, Any]] = {}

    def look_at_all(name: str, area: str | None = None, key: str = "") -> None:
        """Onlookers once they say it, too."""
        seen[name] = {"who plays": places(page, Turn("en", "1440 px"))}
        for turn, onlooker in onlookers.items():
            if area is not None:
                said = onlooker.page.get_by_role("region", name=turn.named("run", "currentCycle"))
                expect(said).to_contain_text(turn.says(area, key))
            seen[name][str(turn)] = places(onlooker.page, turn)

    look_at_all("before")

    page.get_by_role("button", name="Point", exact=True).click()
    expect(points).to_contain_text(", now")
    look_at_all("one point", "run", "standsHere")
    for _ in range(3):
        page.get_by_role("button", name="Point", exact=True).click()
    expect(page.get_by_role("region", name="The cycle so far")).to_contain_text("of 9 nodes left")
    look_at_all("filtered")
    page.keyboard.press("b")
    box = page.get_by_role("dialog", name="Breakpoints")
    look_at_all("breakpoints open")
    box.get_by_label("Pause when one").select_option("rejection")
    box.get_by_role("button", name="Set").click()
    expect(box.get_by_role("listitem")).to_contain_text("NodeResourcesFit")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    expect(page.get_by_role("button", name="Breakpoints 1")).to_be_focused()
    desk.play()
    look_at_all("playing")
    strip = page.get_by_role("region", name="Current cycle")
    expect(strip).to_contain_text("at breakpoint 1: ")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    look_at_all("at a breakpoint")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(strip).to_contain_text("Finished")
    # Ticks of a run that went at full speed are there without anybody asking.
    expect(page.get_by_role("region", name="Timeline")).to_contain_text("1 found no node")
    look_at_all("finished", "components", "finished")
    page.get_by_role("slider").press("PageDown")
    expect(page.get_by_role("region", name="Timeline")).to_contain_text("Back to now")
    expect(strip).to_contain_text("As it was")
    look_at_all("rewound")
    for turn, onlooker in onlookers.items():
        onlooker.page.get_by_role("slider").press("PageDown")
        expect(onlooker.page.get_by_text(turn.says("rewind", "backToNow")).first).to_be_visible()
        expect(onlooker.page.get_by_text(turn.says("rewind", "readingStep"))).to_have_count(0)
        seen["rewound"][str(turn)] = places(onlooker.page, turn)
    found = {
        (name, who): moved(seen["before"][who], at) for name, everybody in seen.items() for who, at in everybody.items()
    }
    assert [f"{who}: {name}: {changes}" for (name, who), changes in found.items() if changes] == []


def test_the_controls_of_a_run_are_as_wide_playing_as_paused(desk: Visit, site: Site) -> None:
    """And none reaches into another: they are one line on the narrowest phone in the language of the longest words."""
    objects = [node("n0", "4"), *(pod(f"p{number}", "100m") for number in range(30))]
    snapshot = site.import_snapshot(stages.listed(objects), "plays slowly")["id"]
    run = stages.start(site, snapshot, stages.configuration(site, "Default, every node"))
    for turn in in_turn(desk, f"/runs/{run}", [each for each in EVERY if each.is_phone or each.window == "768 px"]):
        page = desk.page
        expect(page.get_by_role("button", name=turn.named("run", "play"))).to_be_visible()
        paused = page.evaluate(CONTROLS)
        assert [pair for pair in combinations(paused, 2) if overlap(*pair)] == [], turn
        site.command(run, {"type": "play", "speed": "one"})
        expect(page.get_by_role("button", name=turn.named("run", "pause"))).to_be_visible()
        playing = page.evaluate(CONTROLS)
        site.command(run, {"type": "pause"})
        expect(page.get_by_role("button", name=turn.named("run", "play"))).to_be_visible()
        assert playing == paused, turn


def overlap(one: list[int], other: list[int]) -> bool:
    """Of boxes by their left, top, right and bottom edge."""
    return all(one[axis] < other[axis + 2] and other[axis] < one[axis + 2] for axis in (0, 1))


def places(page: Page, turn: Turn) -> Any:
    """Without what is last on a narrow page and as long as what is in it; its points hide in a room that stays."""
    found = page.evaluate(PLACES, [texts(turn.language, area)[key] for area, key in LABELS])
    if turn.window == "1440 px":
        return found
    del found["points"]
    found["nodes"] = found["nodes"][:3]
    if turn.is_phone:
        found["board"] = found["board"][:3]
        found["nodes"] = found["nodes"][:1]
    return found


def moved(before: Any, now: Any) -> dict[str, str]:
    return {name: f"{before[name]} → {now[name]}" for name in before if before[name] != now[name]}

"""The Run page in every language and size of the window: its keys, looking back, its queues, and what stands out."""

from __future__ import annotations

import re
from typing import Any, Final

from playwright.sync_api import Page, Route, expect

from tests.browser.looks import CUT, LANGUAGES, WINDOWS, resize, settled
from tests.browser.turns import Turn, in_turn
from tests.browser.visits import Visit

QUEUES: Final = ("gated", "active", "backoff", "unschedulable", "inFlight", "waitingOnPermit", "bound")
WIDE: Final = "1440 px"
# Of the largest letters and the thickest line of either.
DOMINANCE: Final = """() => {
  const seen = (box) => [box, ...box.querySelectorAll('*')].filter((one) => one.checkVisibility());
  const letters = (box) => Math.max(...seen(box).map((one) => parseFloat(getComputedStyle(one).fontSize)));
  const timeline = document.querySelector('[role=slider]').closest('section');
  const title = document.querySelector('main h1');
  return {
    title: letters(title), timeline: letters(timeline),
    header: title.closest('header').getBoundingClientRect().height, line: timeline.getBoundingClientRect().height,
    above: title.getBoundingClientRect().bottom <= timeline.getBoundingClientRect().top,
  };
}"""


def test_enter_on_the_link_to_the_selected_pod_opens_it(shop_run: str, desk: Visit) -> None:
    for turn in in_turn(desk, f"/runs/{shop_run}?pod=data%2Fpostgres-2"):
        desk.page.get_by_role("link", name=turn.named("run", "openPod")).press("Enter")
        expect(desk.page).to_have_url(re.compile(r"/pods/data/postgres-2$"))
        expect(desk.page.get_by_role("heading", level=1)).to_contain_text("postgres")


def test_escape_closes_the_breakpoints_and_gives_the_focus_back(cluster_shop_run: str, desk: Visit) -> None:
    page = desk.page
    for turn in in_turn(desk, f"/runs/{cluster_shop_run}"):
        button = page.get_by_role("button", name=turn.says("rewind", "breakpoints")).filter(visible=True)
        box = page.get_by_role("dialog", name=turn.says("rewind", "breakpoints"))
        button.click()
        expect(box).to_be_visible()
        box.get_by_role("combobox").first.focus()
        page.keyboard.press("Escape")
        expect(box).to_have_count(0)
        expect(button).to_be_focused()


def test_a_page_that_looks_back_says_so_before_it_shows_the_moment(cluster_shop_run: str, desk: Visit) -> None:
    page = desk.page
    held: list[Route] = []
    page.route(re.compile(rf"/api/v1/runs/{cluster_shop_run}(@|%40)0/"), lambda route: held.append(route))
    for turn in in_turn(desk, f"/runs/{cluster_shop_run}"):
        timeline = page.get_by_role("region", name=turn.named("rewind", "timeline"))
        expect(timeline).to_contain_text(turn.says("rewind", "stepNow"))
        settled(page)
        held.clear()
        page.get_by_role("slider").press("Home")
        expect(timeline).to_contain_text(turn.says("rewind", "readingStep", at="0"))
        while page.get_by_text(turn.says("rewind", "readingStep")).count() > 0:
            for route in held:
                route.continue_()
            held.clear()
            page.wait_for_timeout(50)
        expect(timeline).to_contain_text(turn.says("rewind", "stepOfLast", at="0"))
        expect(timeline.get_by_role("link", name=turn.named("rewind", "backToNow"))).to_be_visible()
        strip = page.get_by_role("region", name=turn.named("run", "currentCycle"))
        expect(strip).to_contain_text(turn.says("run", "asItWas"))


def test_queues_have_their_names_and_the_title_stands_out_in_every_window(cluster_shop_run: str, desk: Visit) -> None:
    wrong = []
    for language in LANGUAGES:
        page = desk.go(f"/runs/{cluster_shop_run}?lang={language}")
        expect(page.locator(f"html[lang={language}] [data-column=bound]")).to_have_count(1)
        for window in WINDOWS:
            resize(page, window)
            turn = Turn(language, window)
            wrong += [f"{turn}: {each}" for each in queues_without_a_name(page, turn)]
            wrong += [f"{turn}: {each}" for each in page.evaluate(CUT)]
            seen = page.evaluate(DOMINANCE)
            if not (seen["title"] > seen["timeline"] and seen["header"] >= seen["line"] and seen["above"]):
                wrong.append(f"{turn}: the timeline outdoes the title: {seen}")
    assert wrong == []


def queues_without_a_name(page: Page, turn: Turn) -> list[str]:
    """A narrow window has a tab for each and shows one, another shows them all."""
    tabs = page.get_by_role("tablist", name=turn.named("run", "queues"))
    columns = page.locator("[data-column]").filter(visible=True)
    found: list[Any] = []
    if turn.window != WIDE:
        names = tabs.get_by_role("tab").evaluate_all("(all) => all.map((one) => one.title)")
        words = tabs.get_by_role("tab").evaluate_all("(all) => all.map((one) => one.querySelector('span').innerText)")
        found += [
            names for key, name in zip(QUEUES, names, strict=True) if not turn.says("components", key).match(name)
        ]
        found += [f"a tab without a word: {words}"] if not all(word.strip() for word in words) else []
        expect(columns).to_have_count(1)
    else:
        expect(tabs).not_to_be_visible()
        expect(columns).to_have_count(len(QUEUES))
    return [str(each) for each in found]

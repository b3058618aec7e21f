"""The server is killed or freezes, and comes back: every page says so, holds or refuses, and goes on by itself."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle

import pytest
from playwright.sync_api import Locator, Page, expect

from scripts.processes import Playground
from scripts.site import Site
from tests.browser import stages
from tests.browser.conftest import Opener
from tests.browser.looks import WINDOWS
from tests.browser.routes import unvisited
from tests.browser.turns import EVERY, Turn
from tests.browser.visits import Visit, another
from tests.first_start import FirstStart

NOT_SENT = ("live", "notSentTheServerDoes")
# What Chromium itself writes when a connection is refused or cut.
CUT = r"WebSocket connection to|net::ERR_(CONNECTION_(REFUSED|RESET|CLOSED)|EMPTY_RESPONSE)"
#: The last of the parts that are fetched after the first picture.
# A function: Playwright evaluates anything else again at each look, which the Content-Security-Policy forbids.
ALL_THERE = (
    "() => performance.getEntriesByType('resource')"
    ".some((one) => one.name.includes('/ArgsForm-') && one.responseEnd > 0)"
)
#: Milliseconds until every part of a page is there: two dozen pages are opened at once.
PATIENCE = 120_000
PAGES = {
    "run": "/runs/{begins}",
    "home": "/",
    "runs": "/runs",
    "moment": "/runs/{waits}@3",
    "pods": "/runs/{waits}/pods",
    "attempts": "/runs/{waits}/attempts",
    "objects": "/runs/{waits}/objects",
    "real": "/runs/{waits}/real",
    "shadow": "/runs/{waits}/shadow",
    "writes": "/runs/{waits}/writes",
    "capacity": "/runs/{waits}/capacity",
    "operators": "/runs/{waits}/operators",
    "pod": "/runs/{waits}/pods/data/postgres-3",
    "configurations": "/configurations",
    "waiting": "/waiting?run={waits}",
    "configuration": "/configurations/{configured}",
    "compare": "/compare?a={waits}&b={begins}",
    "deleted": "/deleted",
    "storage": "/storage",
    "clusters": "/clusters",
    "cluster": "/clusters/lab",
    "tokens": "/tokens",
    "sessions": "/sessions",
    "accounts": "/accounts",
    "audit": "/audit",
}


@dataclass
class Stage:
    playground: Playground
    site: Site
    waits: str
    """A run that waits for a person."""
    begins: str
    """A run that was not played yet."""
    configured: str


@dataclass
class Open:
    """A page in its language and size."""

    page: Page
    turn: Turn


@pytest.fixture(scope="module")
def stage(
    chromium: object, built_ui: None, tmp_path_factory: pytest.TempPathFactory, first_start: FirstStart
) -> Iterator[Stage]:
    playground = stages.playground_in(first_start.into(tmp_path_factory.mktemp("away")))
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        configured = stages.configuration(site, "Default + approvals")
        snapshot = stages.sample(site, "Three-zone shop")
        waits = stages.play(site, stages.start(site, snapshot, configured))
        begins = stages.start(site, snapshot, stages.configuration(site, "Default"))
        yield Stage(playground, site, waits, begins, configured["id"])
    finally:
        playground.process.stop()


@pytest.fixture
def away(stage: Stage, opened: list[Visit]) -> Iterator[Stage]:
    """What Chromium says about the cut is no complaint, and pages go before their server does."""
    yield stage
    for visit in opened:
        visit.page.close()
        visit.expect_complaint(CUT)


def test_every_route_has_a_page_here() -> None:
    assert unvisited(PAGES.values()) == []
    assert unvisited(path for path in PAGES.values() if path != "/tokens") == ["/tokens"]


def test_every_page_outlives_a_server_that_is_killed_and_one_that_freezes(
    open_page: Opener, opened: list[Visit], away: Stage
) -> None:
    """A page in every language and size of window, and on one of them a decision that is due while nobody takes it."""
    pages = opened_in_turn(open_page, opened, away)
    for one in pages.values():
        one.page.wait_for_function(ALL_THERE, timeout=PATIENCE)
        expect(status_of(one.page)).to_have_text(one.turn.named("shell", "live"))
        one.page.evaluate("window.sameDocument = true")
    an_approval_is_pressed(pages["waiting"])
    away.playground.process.signal(signal.SIGKILL)
    away.playground.process.child.wait()
    for one in pages.values():
        expect(status_of(one.page)).to_have_text(says_it_is_away(one.turn))
    for one in pages.values():
        look_around(one)
    commands_are_refused(pages)
    home_is_opened(pages["runs"])
    something_is_begun(pages)
    expect(
        pages["waiting"].page.get_by_text(pages["waiting"].turn.says("decisions", "heldUntilTheServer"))
    ).to_be_visible()
    restart(away)
    all_go_on(pages)
    what_was_begun_is_ended(pages)

    away.playground.process.signal(signal.SIGSTOP)
    try:
        for one in pages.values():
            expect(status_of(one.page)).to_have_text(says_it_is_away(one.turn))
        commands_are_refused(pages)
    finally:
        away.playground.process.signal(signal.SIGCONT)
    all_go_on(pages)
    pages["run"].page.keyboard.press("s")
    away.site.run_until(away.begins, "one cycle is done", lambda seen: seen["attempts"] == 1)
    decided = pages["waiting"].page.get_by_role("region", name=pages["waiting"].turn.named("waiting", "decided"))
    expect(decided.get_by_role("listitem").filter(has_text="postgres-2")).to_be_visible()
    away.site.run_until(away.waits, "what was held is done", lambda seen: seen["counts"]["waiting"] == 1)


def opened_in_turn(open_page: Opener, opened: list[Visit], stage: Stage) -> dict[str, Open]:
    """The pages of one language are of one profile."""
    profiles: dict[str, Visit] = {}
    pages = {}
    for (name, path), turn in zip(PAGES.items(), cycle(EVERY), strict=False):
        if turn.language in profiles:
            visit = another(profiles[turn.language])
            opened.append(visit)
        else:
            visit = profiles[turn.language] = open_page(stage.playground.origin, stage.site.cookies())
        visit.page.set_viewport_size(WINDOWS[turn.window])
        address = path.format(waits=stage.waits, begins=stage.begins, configured=stage.configured)
        visit.page.goto(
            f"{visit.origin}{address}{'&' if '?' in address else '?'}lang={turn.language}", wait_until="commit"
        )
        pages[name] = Open(visit.page, turn)
    return pages


def status_of(page: Page) -> Locator:
    return page.get_by_role("banner").get_by_role("status")


def says_it_is_away(turn: Turn) -> re.Pattern[str]:
    said = (turn.says("shell", key).pattern for key in ("reconnectingTry", "staleSince"))
    return re.compile(f"^(?:{'|'.join(said)})")


def restart(stage: Stage) -> None:
    stage.playground.start()
    stage.playground.printed()


def notice(one: Open, area: str, key: str) -> Locator:
    return one.page.get_by_role("alert").filter(has_text=one.turn.says(area, key))


def look_around(one: Open) -> None:
    """What was not opened yet opens, and the page stays what it is."""
    page = one.page
    heading = page.get_by_role("main").get_by_role("heading", level=1)
    said = heading.text_content() or ""
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name=one.turn.named("shell", "keys"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(heading).to_have_text(said)


def home_is_opened(one: Open) -> None:
    one.page.keyboard.press("g")
    one.page.keyboard.press("h")
    expect(one.page.get_by_role("heading", name=one.turn.named("home", "clusters"))).to_be_visible()


def an_approval_is_pressed(one: Open) -> None:
    """It would be sent in five seconds."""
    one.page.get_by_role("button", name=one.turn.named("waiting", "approveName", name="postgres-2")).click()
    expect(one.page.get_by_text(one.turn.says("decisions", "approving"))).to_be_visible()


def commands_are_refused(pages: dict[str, Open]) -> None:
    run = pages["run"]
    play = run.page.get_by_role("button", name=run.turn.named("run", "play")).first
    expect(play).to_be_disabled()
    expect(play).to_have_attribute("title", run.turn.says(*NOT_SENT))
    run.page.keyboard.press("p")
    expect(notice(run, "run", "theRunDidNotStart").filter(has_text=run.turn.says(*NOT_SENT)).first).to_be_visible()

    waiting = pages["waiting"]
    expect(
        waiting.page.get_by_role("button", name=waiting.turn.named("waiting", "approveName", name="postgres-3"))
    ).to_be_disabled()
    waiting.page.keyboard.press("j")
    waiting.page.keyboard.press("a")
    expect(notice(waiting, *NOT_SENT).first).to_be_visible()

    pages["pod"].page.keyboard.press("a")
    expect(notice(pages["pod"], *NOT_SENT).first).to_be_visible()


def something_is_begun(pages: dict[str, Open]) -> None:
    """What was typed stays, what would be sent is off and says why, and what can be looked at opens and closes."""
    for name, area, field, button in (
        ("tokens", "tokens", "name", "make"),
        ("home", "home", "yAMLOrJSONOfA", "readIt"),
    ):
        one = pages[name]
        if name == "home":
            one.page.get_by_role("button", name=one.turn.named("home", "paste")).click()
        one.page.get_by_label(one.turn.named(area, field)).fill("typed meanwhile")
        sends = one.page.get_by_role("button", name=one.turn.named(area, button))
        expect(sends).to_have_attribute("title", one.turn.says(*NOT_SENT))
        expect(sends).to_be_disabled()
    tokens = pages["tokens"]
    tokens.page.get_by_label(tokens.turn.named("tokens", "name")).press("Enter")
    expect(notice(tokens, *NOT_SENT).first).to_be_visible()
    run = pages["run"].page
    run.keyboard.press("b")
    expect(run.get_by_role("dialog")).to_be_visible()
    run.keyboard.press("Escape")
    expect(run.get_by_role("dialog")).to_have_count(0)
    run.keyboard.press("f")
    expect(
        notice(pages["run"], "rewind", "noForkWasMade").filter(has_text=pages["run"].turn.says(*NOT_SENT))
    ).to_be_visible()
    pages["moment"].page.keyboard.press("]")
    expect(pages["moment"].page).to_have_url(re.compile("@4"))
    expect(notice(pages["moment"], "run", "noAnswerStillStep")).to_contain_text("3")
    expect(pages["moment"].page.locator("[data-card]").first).to_be_attached()


def what_was_begun_is_ended(pages: dict[str, Open]) -> None:
    tokens, home, moment = pages["tokens"], pages["home"], pages["moment"]
    expect(tokens.page.get_by_label(tokens.turn.named("tokens", "name"))).to_have_value("typed meanwhile")
    tokens.page.get_by_role("button", name=tokens.turn.named("tokens", "make")).click()
    expect(tokens.page.get_by_role("listitem").filter(has_text="typed meanwhile")).to_be_visible()
    expect(home.page.get_by_label(home.turn.named("home", "yAMLOrJSONOfA"))).to_have_value("typed meanwhile")
    home.page.get_by_role("button", name=home.turn.named("home", "readIt")).click()
    expect(notice(home, "home", "nothingWasImported")).to_be_visible()
    timeline = moment.page.get_by_role("region", name=moment.turn.named("rewind", "timeline"))
    expect(timeline).to_contain_text(moment.turn.says("rewind", "stepOfLast", at="4"))
    expect(notice(moment, "run", "noAnswerStillStep")).to_have_count(0)


def all_go_on(pages: dict[str, Open]) -> None:
    for one in pages.values():
        # As a browser says when its network is back: the wait of up to 15 s between two tries ends.
        one.page.evaluate("window.dispatchEvent(new Event('online'))")
    for name, one in pages.items():
        expect(status_of(one.page)).to_have_text(one.turn.named("shell", "live"))
        expect(one.page.get_by_text(one.turn.says("api", "theServerDoesNotAnswer"))).to_have_count(0)
        expect(one.page.get_by_role("main").get_by_role("heading", level=1)).to_be_visible()
        assert one.page.evaluate("window.sameDocument"), f"{name} was loaded anew"

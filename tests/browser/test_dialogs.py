"""What opens over a page, in every language, theme and size, and what a visitor of a share link sees: as accessible."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from scripts.site import Site
from tests.browser.looks import in_every_language, texts, what_is_wrong, what_is_wrong_in_any_language
from tests.browser.visits import Visit, remember_nothing, visit, watched

Open = Callable[[Page, str], None]
OPENED = "[role=dialog], dialog, [role=menu]"


def named(language: str, area: str, key: str) -> re.Pattern[str]:
    return re.compile("^" + re.escape(texts(language, area)[key].partition("{{")[0]))


def by_key(key: str) -> Open:
    return lambda page, language: page.keyboard.press(key)


def from_the_menu(area: str, key: str) -> Open:
    def opened(page: Page, language: str) -> None:
        the_menu(page, language)
        page.get_by_role("menuitem", name=named(language, area, key)).click()

    return opened


def the_menu(page: Page, language: str) -> None:
    page.get_by_role("button", name=named(language, "run", "morePodsNodesConfigurationStop")).click()
    expect(page.get_by_role("menu")).to_be_visible()


def a_button(area: str, key: str) -> Open:
    return lambda page, language: page.get_by_role("button", name=named(language, area, key)).first.click()


def the_breakpoints(page: Page, language: str) -> None:
    page.keyboard.press("b")
    expect(page.get_by_role("dialog")).to_be_visible()


def saving_another_weight(page: Page, language: str) -> None:
    page.get_by_label(texts(language, "configuration")["weightAtScore"], exact=True).fill("5")
    page.get_by_role("button", name=named(language, "configuration", "save")).click()


DIALOGS: dict[str, tuple[str, Open]] = {
    "keys": ("/runs/{shop}", by_key("?")),
    "search": ("/runs/{shop}", by_key("/")),
    "share": ("/runs/{export}", from_the_menu("exchange", "share")),
    "add a pod": ("/runs/{shop}", from_the_menu("run", "menuAddAPod")),
    "another configuration": ("/runs/{shop}", from_the_menu("run", "menuSwitchTheConfiguration")),
    "delete": ("/runs/{shop}", from_the_menu("run", "menuDeleteTheRun")),
    "reject": ("/runs/{shop}/pods/data/postgres-2", by_key("r")),
    "manifest": ("/runs/{shop}/pods/data/postgres-2", by_key("y")),
    "start a run": ("/", a_button("home", "run")),
    "save": ("/configurations/{own}?plugin=NodeResourcesFit", saving_another_weight),
}


@pytest.fixture(scope="session")
def addresses(site: Site, cluster_shop_run: str, shop_run: str) -> dict[str, str]:
    made = site.post("/api/v1/configurations/", {"name": "saved in dialogs", "preset": "default"})
    return {"export": cluster_shop_run, "shop": shop_run, "own": made["id"]}


def wrong_in_any_language(page: Page, opens: Open, closes: Callable[[], object]) -> list[str]:
    """The pages below are looked at in test_accessibility.py."""

    def look(language: str) -> list[str]:
        expect(page.locator("main h1").first).to_be_visible()
        opens(page, language)
        wrong = what_is_wrong(page, colours=language == "en", opened=OPENED)
        closes()
        return wrong

    return in_every_language(page, look)


@pytest.mark.parametrize("name", DIALOGS)
def test_a_dialog_is_accessible_in_every_language(name: str, addresses: dict[str, str], desk: Visit) -> None:
    path, asks = DIALOGS[name]
    page = desk.go(path.format(**addresses))
    dialog = page.get_by_role("dialog").filter(visible=True)

    def opens(page: Page, language: str) -> None:
        asks(page, language)
        expect(dialog).to_be_visible()

    def closes() -> None:
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)

    assert wrong_in_any_language(page, opens, closes) == []


@pytest.mark.parametrize("opens", [the_menu, the_breakpoints])
def test_what_opens_in_the_head_of_a_run_is_accessible(opens: Open, addresses: dict[str, str], desk: Visit) -> None:
    page = desk.go(f"/runs/{addresses['shop']}")
    assert wrong_in_any_language(page, opens, page.reload) == []


VISITED: dict[str, tuple[str, str]] = {
    "run": ("/runs/{export}", "Unschedulable"),
    "pods": ("/runs/{export}/pods?column=unschedulable", "trainer"),
    "pod": ("/runs/{export}/pods/ml/trainer-9d9cf4ccc-8zklc", "Insufficient nvidia"),
    "attempts": ("/runs/{export}/attempts", "trainer"),
    "where the time goes": ("/runs/{export}/attempts?view=timing", "Half of the cycles"),
    "real against simulated": ("/runs/{export}/real", "Nothing is known"),
    "what is not shared": ("/configurations", "A share link shows one run"),
}


@pytest.fixture(scope="module")
def invited(browser: Browser, site: Site, cluster_shop_run: str) -> Iterator[BrowserContext]:
    """A profile that has followed a share link."""
    made = site.post(f"/api/v1/runs/{cluster_shop_run}/share-links/", {"name": "looked at", "expires_at": None})
    guest = visit(browser, site.origin, {})
    expect(guest.go(made["path"]).locator("main h1").first).to_be_visible()
    assert guest.complaints == []
    guest.page.close()
    yield guest.page.context
    guest.page.context.close()


@pytest.mark.parametrize("name", VISITED)
def test_a_visitors_page_is_accessible_in_every_language(
    name: str, invited: BrowserContext, addresses: dict[str, str], site: Site, opened: list[Visit]
) -> None:
    path, said = VISITED[name]
    guest = watched(invited.new_page(), site.origin)
    opened.append(guest)
    remember_nothing(guest)
    page = guest.go(path.format(**addresses))
    expect(page.get_by_text(said).filter(visible=True).first).to_be_visible()
    wrong = what_is_wrong_in_any_language(page)
    page.close()
    assert wrong == []

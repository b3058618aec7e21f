"""What opens over a page, in every language, theme and size, and what a visitor of a share link sees: as accessible."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from scripts.site import Site
from tests.browser.conftest import Opener
from tests.browser.looks import LANGUAGES, change_language, texts, what_is_wrong, what_is_wrong_in_any_language
from tests.browser.visits import Visit

Open = Callable[[Page, str], None]


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
    wrong = []
    for language in LANGUAGES:
        expect(page.locator("main h1").first).to_be_visible()
        if language != "en":
            change_language(page, language)
        opens(page, language)
        wrong += [f"{language}, {each}" for each in what_is_wrong(page, colours=language == "en")]
        closes()
    return wrong


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


@pytest.fixture(scope="session")
def link(site: Site, cluster_shop_run: str) -> str:
    made = site.post(f"/api/v1/runs/{cluster_shop_run}/share-links/", {"name": "looked at", "expires_at": None})
    address: str = made["path"]
    return address


@pytest.mark.parametrize("name", VISITED)
def test_a_visitors_page_is_accessible_in_every_language(
    name: str, link: str, addresses: dict[str, str], site: Site, open_page: Opener
) -> None:
    path, said = VISITED[name]
    guest = open_page(site.origin)
    guest.go(link)
    page = guest.go(path.format(**addresses))
    expect(page.get_by_text(said).filter(visible=True).first).to_be_visible()
    assert what_is_wrong_in_any_language(page) == []

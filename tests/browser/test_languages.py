"""Another language is chosen in the top bar: every page follows, keeps it, and stays accessible."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from scripts.site import Site
from tests.browser.conftest import Opener
from tests.browser.test_accessibility import what_is_wrong
from tests.browser.visits import DESKTOP, Visit

HEADINGS = {
    "en": ("Clusters", "Nodes", "Configurations"),
    "uk": ("Кластери", "Вузли", "Конфігурації"),
    "zh-CN": ("集群", "节点", "配置"),
}


def reads(page: Page, language: str, heading: str) -> None:
    expect(page.get_by_role("heading", name=heading, exact=True).first).to_be_visible()
    assert page.locator("html").get_attribute("lang") == language


def test_the_picker_changes_every_page_and_is_kept(desk: Visit, shop_run: str) -> None:
    page = desk.go("/")
    reads(page, "en", HEADINGS["en"][0])
    picker = page.locator("header select:visible")
    for language in ("uk", "zh-CN"):
        picker.select_option(language)
        reads(page, language, HEADINGS[language][0])
        expect(picker).to_be_focused()
    desk.go(f"/runs/{shop_run}")
    reads(page, "zh-CN", HEADINGS["zh-CN"][1])
    picker.select_option("en")
    reads(page, "en", HEADINGS["en"][1])


def test_requests_say_the_language(desk: Visit) -> None:
    with desk.page.expect_request("**/api/v1/runs/**") as asked:
        desk.go("/?lang=uk")
    assert asked.value.headers["accept-language"] == "uk"


def test_the_browsers_own_language_is_taken(open_page: Opener, site: Site) -> None:
    page = open_page(site.origin, site.cookies(), locale="zh-Hans-CN").go("/")
    reads(page, "zh-CN", HEADINGS["zh-CN"][0])


@pytest.mark.parametrize("language", ["uk", "zh-CN"])
def test_pages_are_accessible_and_not_too_wide(desk: Visit, shop_run: str, language: str) -> None:
    pages = zip(("/", f"/runs/{shop_run}", "/configurations"), HEADINGS[language], strict=True)
    for path, heading in pages:
        desk.page.set_viewport_size(DESKTOP)
        page = desk.go(f"{path}?lang={language}")
        reads(page, language, heading)
        assert what_is_wrong(page) == [], path

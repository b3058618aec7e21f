"""Another language is chosen in the top bar: every page follows and keeps it."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from scripts.site import Site
from tests.browser.conftest import Opener
from tests.browser.looks import LANGUAGES, change_language, texts
from tests.browser.visits import Visit

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


def test_the_table_of_nodes_says_its_columns_and_verdicts(desk: Visit, shop_run: str) -> None:
    page = desk.go(f"/runs/{shop_run}?table=true&pod=data%2Fpostgres-2")
    table = page.get_by_role("table").first
    expect(table.get_by_role("columnheader", name="For the selected pod")).to_be_visible()
    for language in LANGUAGES:
        if language != "en":
            change_language(page, language)
        said = texts(language, "run")
        for key in ("node", "zone", "type", "forTheSelectedPod", "marks"):
            expect(table.get_by_role("columnheader", name=said[key], exact=True)).to_be_visible()
        expect(table.get_by_role("cell", name=said["verdict.chosen"])).to_be_visible()

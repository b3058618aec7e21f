"""A page older than its server: what is missing there comes by loading the page anew, once, and costs no text."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.browser.looks import WINDOWS
from tests.browser.turns import Turn
from tests.browser.visits import Visit

POD = "/pods/ml/trainer-9d9cf4ccc-8zklc"


class Upgraded:
    """The server no longer has the file of one part; ``for_good``: the page it sends now asks for that file too."""

    def __init__(self, visit: Visit, part: str, for_good: bool = False) -> None:
        self.documents = 0
        self.refused = 0
        self.for_good = for_good
        visit.expect_complaint(rf"the server responded with a status of 404 .*/assets/{part}-")
        visit.page.on("request", self.seen)
        visit.page.route(re.compile(rf"/assets/{part}-[^/]*\.js$"), self.answer)

    def seen(self, request: Request) -> None:
        self.documents += request.is_navigation_request()

    def answer(self, route: Route) -> None:
        if self.documents > 1 and not self.for_good:
            route.continue_()
            return
        self.refused += 1
        route.fulfill(status=404, body="Not Found")


def arrive(desk: Visit, turn: Turn, path: str) -> Page:
    desk.page.set_viewport_size(WINDOWS[turn.window])
    return desk.go(f"{path}?lang={turn.language}")


@pytest.mark.parametrize("turn", [Turn("uk", "390 px"), Turn("zh-CN", "200 %")], ids=str)
def test_a_missing_part_comes_with_the_page_loaded_anew(cluster_shop_run: str, desk: Visit, turn: Turn) -> None:
    upgraded = Upgraded(desk, "YamlDrawer")
    page = arrive(desk, turn, f"/runs/{cluster_shop_run}{POD}")
    page.get_by_role("button", name=re.compile("YAML")).first.click()
    expect(page.get_by_role("dialog")).to_contain_text("trainer-9d9cf4ccc")
    assert upgraded.documents == 2
    assert upgraded.refused > 0


def test_a_missing_page_comes_with_the_page_loaded_anew(desk: Visit) -> None:
    upgraded = Upgraded(desk, "WaitingPage")
    turn = Turn("uk", "1440 px")
    page = arrive(desk, turn, "/")
    page.get_by_role("banner").get_by_role("link", name=turn.says("shell", "waiting")).click()
    expect(page.get_by_role("heading", name=turn.named("waiting", "waitingOnPermit"))).to_be_visible()
    assert upgraded.documents == 2
    assert upgraded.refused > 0


@pytest.mark.parametrize(
    ("typed", "turn"),
    [(False, Turn("en", "1024 px")), (True, Turn("zh-CN", "768 px"))],
    ids=["nothing typed", "a filter typed"],
)
def test_what_stays_missing_is_said_and_not_tried_without_end(
    cluster_shop_run: str, desk: Visit, typed: bool, turn: Turn
) -> None:
    upgraded = Upgraded(desk, "YamlDrawer", for_good=True)
    page = arrive(desk, turn, f"/runs/{cluster_shop_run}/objects")
    field = page.get_by_label(turn.named("run", "filterObjects"))
    rows = page.get_by_role("region", name=turn.named("run", "rowsOfObjects")).get_by_role("link")
    expect(rows.first).to_be_visible()
    name = (rows.first.text_content() or "") if typed else ""
    field.press_sequentially(name)
    rows.first.click()
    said = page.get_by_role("alert").filter(has_text=turn.says("parts", "thisPageIsOlderThan"))
    expect(said).to_be_visible()
    page.wait_for_timeout(1_000)  # a page that loads itself without end would have done it again
    assert upgraded.documents == (1 if typed else 2)
    expect(field).to_have_value(name)
    if not typed:
        with page.expect_event("load"):
            said.get_by_role("button", name=turn.named("parts", "loadAnew")).click()
        expect(said).to_be_visible()
        page.wait_for_timeout(1_000)
        assert upgraded.documents == 3

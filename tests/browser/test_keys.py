"""The keyboard: every key does what `?` says of it, and none works while somebody types."""

from __future__ import annotations

import re

from playwright.sync_api import Route, expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit


def test_two_keys_go_to_a_page(desk: Visit) -> None:
    page = desk.go("/")
    expect(page.get_by_role("heading", name="Clusters")).to_be_visible()
    for keys, path in (("gr", "/runs"), ("gw", "/waiting"), ("gc", "/configurations"), ("gh", "/")):
        for key in keys:
            page.keyboard.press(key)
        expect(page).to_have_url(re.compile(rf"{path}$"))


def test_the_keys_of_a_run(desk: Visit, site: Site) -> None:
    configured = stages.configuration(site, "Default + approvals")
    run = stages.start(site, stages.sample(site, "Three-zone shop"), configured)
    page = desk.go(f"/runs/{run}")
    points = page.get_by_role("list", name="Extension points of this cycle")
    expect(desk.column("Active")).to_be_visible()
    page.keyboard.press("x")
    expect(points).to_contain_text(re.compile("(Filter|QueueSort), now"))
    page.keyboard.press("s")
    expect(points).not_to_contain_text(", now")
    page.keyboard.press("3")
    expect(desk.column("Backoff").get_by_role("link")).to_be_focused()
    page.keyboard.press("7")
    bound = desk.column("Bound").locator("[data-card]")
    expect(bound.first).to_be_focused()
    page.keyboard.press("j")
    expect(bound.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(bound.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?.*pod="))
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("pod="))
    page.keyboard.press("h")
    expect(page.get_by_role("button", name=re.compile("^Order held"))).to_be_visible()
    page.keyboard.press("h")

    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    for does in ("One scheduling cycle", "One extension point", "Hold the order", "Search", "Next card", "Home"):
        expect(keys.get_by_text(re.compile(does, re.IGNORECASE)).first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    field = page.get_by_role("dialog").get_by_role("textbox")
    expect(field).to_be_focused()
    page.keyboard.type("px1")
    expect(field).to_have_value("px1")
    page.keyboard.press("Escape")
    assert site.get(f"/api/v1/runs/{run}/")["attempts"] == 1
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()


def test_what_is_typed_before_the_search_is_there_goes_into_it(desk: Visit, site: Site) -> None:
    configured = stages.configuration(site, "Default, every node")
    run = stages.start(site, stages.sample(site, "Three-zone shop"), configured)
    page = desk.go(f"/runs/{run}")
    expect(desk.column("Active")).to_be_visible()
    held: list[Route] = []
    the_search = re.compile(r"/Search-[^/]*\.js")
    page.route(the_search, lambda route: held.append(route))
    with page.expect_request(the_search):
        page.keyboard.press("/")
        page.keyboard.type("pxy")
        page.keyboard.press("Backspace")
    # The request is told of before it is stopped.
    for _ in range(500):
        if held:
            break
        page.wait_for_timeout(20)
    held[0].continue_()
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_have_value("px")
    assert site.get(f"/api/v1/runs/{run}/")["position"] == 0

"""The keyboard: every key does what `?` says of it, and none works while somebody types."""

from __future__ import annotations

import re

from playwright.sync_api import Route, expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import PHONE, Visit


def test_two_keys_go_to_a_page(desk: Visit) -> None:
    page = desk.go("/")
    expect(page.get_by_role("heading", name="Clusters")).to_be_visible()
    for keys, path in (("gr", "/runs"), ("gw", "/waiting"), ("gc", "/configurations"), ("gh", "/")):
        for key in keys:
            page.keyboard.press(key)
        expect(page).to_have_url(re.compile(rf"{path}$"))


def test_the_menu_of_a_cluster(desk: Visit) -> None:
    page = desk.go("/")
    more = page.get_by_role("button", name=re.compile("^More about Three-zone shop"))
    for _ in range(2):  # the first time it is fetched
        more.press("Enter")
        expect(page.get_by_role("menu")).to_contain_text("stored")
        page.keyboard.press("Escape")
        expect(page.get_by_role("menu")).to_have_count(0)
        expect(more).to_be_focused()
    more.press("Enter")
    page.get_by_role("menuitem", name="Runs of this cluster").press("Enter")
    expect(page).to_have_url(re.compile(r"/runs\?snapshot="))


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
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/pods/[^/]+/[^/?]+$"))
    page.go_back()
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
    expect(keys).to_have_count(0)
    for opens, button in (("b", "Breakpoints"), ("Enter", "More: pods")):
        opener = page.get_by_role("button", name=re.compile(f"^{button}"))
        if opens == "Enter":
            opener.focus()
        page.keyboard.press(opens)
        expect(page.get_by_role("dialog").or_(page.get_by_role("menu"))).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog").or_(page.get_by_role("menu"))).to_have_count(0)
        expect(opener).to_be_focused()
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
    typed = page.get_by_role("dialog").get_by_role("textbox")
    for is_typed in (False, True):
        page.keyboard.press("Enter")
        page.get_by_role("menuitem", name="Add a pod").press("Enter")
        if not is_typed:
            typed.fill("kind: Pod # not sent")
        expect(typed).to_have_value("kind: Pod # not sent")
        page.keyboard.press("Escape")
        expect(typed).to_have_count(0)
        expect(opener).to_be_focused()
    page.keyboard.press("/")
    field = page.get_by_role("dialog").get_by_role("textbox")
    expect(field).to_be_focused()
    page.keyboard.type("px1")
    expect(field).to_have_value("px1")
    page.keyboard.press("Escape")
    assert site.get(f"/api/v1/runs/{run}/")["attempts"] == 1
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()


def test_a_moment_lists_the_keys_that_work_there(cluster_shop_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{cluster_shop_run}@3")
    expect(desk.column("Active")).to_be_visible()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys.get_by_text("Back to now")).to_be_visible()
    expect(keys.get_by_text("One scheduling cycle")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(rf"/runs/{cluster_shop_run}$"))


def test_esc_leads_back_from_a_page_that_is_still_being_read(cluster_shop_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{cluster_shop_run}")
    expect(desk.column("Unschedulable", 46)).to_be_visible()
    held: list[Route] = []
    page.route(re.compile(r"/pods/staging/.*summary|/pods/staging/[^/]*/"), lambda route: held.append(route))
    desk.column("Unschedulable").locator("[data-card]").first.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/pods/staging/[^/?]+$"))
    # The run's own panel reads the pod, too: it is the pod's page once the board has gone.
    expect(page.locator("[data-column]")).to_have_count(0)
    expect(page.get_by_text("Reading the pod")).to_be_attached()
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"\?.*pod=staging"))
    assert held


def test_on_a_phone_the_speed_is_chosen_in_the_menu(site: Site, desk: Visit) -> None:
    run = stages.start(site, stages.sample(site, "Three-zone shop"), stages.configuration(site, "Default"))
    desk.page.set_viewport_size(PHONE)
    page = desk.go(f"/runs/{run}")
    page.get_by_role("button", name=re.compile("^More: pods")).click()
    speeds = page.get_by_role("group", name="Speed").get_by_role("menuitemradio")
    expect(speeds).to_have_text(["1 by 1", "10/s", "100/s", "Max"])
    expect(speeds.nth(1)).to_have_attribute("aria-checked", "true")
    assert all((box := each.bounding_box()) is not None and box["height"] >= 44 for each in speeds.all())
    menu = page.get_by_role("menu").bounding_box()
    assert menu is not None
    assert menu["y"] + menu["height"] <= PHONE["height"]
    speeds.nth(2).click()
    # At 200 % a low window still has the first line of the sheet.
    page.set_viewport_size({"width": 720, "height": 450})
    expect(
        page.get_by_role("button", name=re.compile("^Activity")).and_(page.locator("[aria-expanded]"))
    ).to_be_in_viewport()
    site.run_until(run, "the speed is another", lambda seen: seen["clock"]["speed"] == 100)


def test_what_is_typed_before_the_search_is_there_goes_into_it(desk: Visit, site: Site) -> None:
    configured = stages.configuration(site, "Default, every node")
    run = stages.start(site, stages.sample(site, "Three-zone shop"), configured)
    held: list[Route] = []
    # From the beginning: the page fetches it by itself when it is idle.
    desk.page.route(re.compile(r"/Search-[^/]*\.js"), lambda route: held.append(route))
    page = desk.go(f"/runs/{run}")
    expect(desk.column("Active")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("pxy")
    page.keyboard.press("Backspace")
    for _ in range(500):
        if held:
            break
        page.wait_for_timeout(20)
    for each in held:
        each.continue_()
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_have_value("px")
    assert site.get(f"/api/v1/runs/{run}/")["position"] == 0

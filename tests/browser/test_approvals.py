"""The inbox: one pod is approved and bound, another rejected with a reason that stays with it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.conftest import Opener
from tests.browser.turns import in_turn
from tests.browser.visits import PHONE, Visit

REASON = "not before the backup"


@pytest.fixture
def waiting_run(site: Site) -> str:
    configured = stages.configuration(site, "Default + approvals")
    return stages.play(site, stages.start(site, stages.sample(site, "Three-zone shop"), configured))


def test_one_pod_is_approved_and_bound_the_other_goes_back_with_the_reason(waiting_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{waiting_run}")
    waiting = desk.column("Waiting on Permit", 2)
    expect(waiting).to_be_visible()
    page.get_by_role("link", name="Decide in the inbox").click()
    inbox = page.get_by_role("region", name="Pods that wait on Permit")
    expect(inbox.get_by_role("row", name=re.compile("postgres-2"))).to_contain_text("memory ≥ 16Gi")

    inbox.get_by_role("button", name="Approve postgres-2").click()
    expect(page.get_by_text("Approving 1 pod")).to_be_visible()
    inbox.get_by_role("button", name="Reject postgres-3").click()
    drawer = page.get_by_role("dialog", name="Reject 1 pod")
    reject = drawer.get_by_role("button", name="Reject 1 pod")
    expect(reject).to_be_disabled()
    drawer.get_by_role("textbox", name=re.compile("^Reason")).fill(REASON)
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(inbox.get_by_role("button", name="Reject postgres-3")).to_be_focused()
    page.keyboard.press("Enter")
    expect(drawer.get_by_role("textbox", name=re.compile("^Reason"))).to_have_value(REASON)
    reject.click()
    expect(drawer).to_have_count(0)

    decided = page.get_by_role("region", name="Decided")
    rejected = decided.get_by_role("listitem").filter(has_text="postgres-3")
    expect(rejected).to_contain_text(REASON)
    expect(rejected).to_contain_text("back in the queue")
    expect(decided.get_by_role("listitem").filter(has_text="postgres-2")).to_contain_text("bound")
    expect(inbox).to_contain_text("No pod waits on Permit in this run.")
    expect(inbox.get_by_role("link")).to_have_count(0)

    decided.get_by_role("link", name="postgres-2").click()
    expect(page.get_by_text("Bound to data-c-1").first).to_be_visible()
    page.go_back()
    decided.get_by_role("link", name="postgres-3").click()
    expect(page.get_by_role("region", name="Why is this pod pending").get_by_role("heading")).to_have_text(
        f"owner rejected it on data-a-2: {REASON}."
    )

    desk.go(f"/runs/{waiting_run}")
    expect(desk.column("Waiting on Permit", 0)).to_be_visible()
    expect(desk.column("Unschedulable").get_by_role("link", name="data/postgres-3")).to_be_visible()
    expect(desk.column("Bound").get_by_role("link", name="data/postgres-2")).to_be_visible()


def test_an_approval_can_be_taken_back_while_its_toast_stands(waiting_run: str, site: Site, desk: Visit) -> None:
    page = desk.go(f"/waiting?run={waiting_run}")
    approve = page.get_by_role("button", name="Approve postgres-2")
    approve.click()
    toast = page.get_by_text("Approving 1 pod")
    expect(toast).to_be_visible()
    page.keyboard.press("z")
    expect(toast).to_have_count(0)
    expect(approve).to_be_visible()
    page.wait_for_timeout(5_500)  # the toast would have stood for five seconds
    assert site.get(f"/api/v1/waiting/?run={waiting_run}")["person"] == 2
    assert site.get(f"/api/v1/decisions/?run={waiting_run}")["results"] == []


def test_the_inbox_is_worked_with_the_keyboard_alone(waiting_run: str, site: Site, desk: Visit) -> None:
    page = desk.go(f"/waiting?run={waiting_run}")
    expect(page.get_by_role("button", name="Approve postgres-2")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("r")
    drawer = page.get_by_role("dialog", name="Reject 1 pod")
    expect(drawer.get_by_role("textbox", name=re.compile("^Reason"))).to_be_focused()
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    page.keyboard.press("?")
    keys = page.get_by_role("dialog")
    expect(keys).to_contain_text("Reject")
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    assert site.get(f"/api/v1/waiting/?run={waiting_run}")["person"] == 2


def test_on_a_phone_pods_are_marked_and_decided_together(waiting_run: str, site: Site, open_page: Opener) -> None:
    visit = open_page(site.origin, site.cookies(), viewport=PHONE, has_touch=True)
    page = visit.go(f"/waiting?run={waiting_run}")
    for name in ("postgres-2", "postgres-3"):
        page.get_by_role("checkbox", name=f"Mark data/{name}").tap()
    bar = page.get_by_role("toolbar", name="Marked pods")
    expect(bar).to_contain_text("2 marked")
    bar.get_by_role("button", name="Approve 2").tap()
    expect(page.get_by_text("Approving 2 pods")).to_be_visible()
    decided = page.get_by_role("region", name="Decided")
    expect(decided.get_by_role("listitem").filter(has_text="bound")).to_have_count(2)
    site.run_until(waiting_run, "nobody waits any longer", lambda seen: seen["counts"]["waiting"] == 0)


def test_a_reason_that_was_typed_outlives_escape_in_every_window(shop_run: str, desk: Visit) -> None:
    page = desk.page
    for turn in in_turn(desk, f"/runs/{shop_run}/pods/data/postgres-3"):
        expect(page.get_by_role("button", name=turn.named("pod", "reject")).first).to_be_visible()
        drawer = page.get_by_role("dialog")
        reason = drawer.get_by_role("textbox")
        page.keyboard.press("r")
        expect(reason).to_be_focused()
        reason.fill(f"{REASON}: {turn.window}")
        page.keyboard.press("Escape")
        expect(drawer).to_have_count(0)
        page.keyboard.press("r")
        expect(reason).to_have_value(f"{REASON}: {turn.window}")


def test_a_filter_that_nobody_matches_is_no_advice_in_any_window(shop_run: str, desk: Visit) -> None:
    for turn in in_turn(desk, f"/waiting?run={shop_run}&q=nobody"):
        inbox = desk.page.get_by_role("region", name=turn.named("waiting", "podsThatWaitOnPermit"))
        expect(inbox).to_contain_text(turn.says("waiting", "noWaitingPodMatchesText", q="nobody"))
        expect(inbox.get_by_role("link")).to_have_count(0)
        inbox.get_by_role("button", name=turn.named("waiting", "clearTheFilter")).click()
        expect(inbox).to_contain_text("postgres")

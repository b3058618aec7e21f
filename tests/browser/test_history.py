"""The history of a run: attempts as rows, what changed between two of a pod, where the time went."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit
from tests.schedweb.engine.worlds import node, pod


@pytest.fixture(scope="session")
def retried_run(site: Site) -> str:
    """`large` finds no node on two, then a third comes."""
    run = stages.play_objects(
        site, "retried", [node("a", "2"), node("b", "2"), pod("large", "3"), pod("small", "100m")]
    )
    site.command(run, {"type": "node_add", "manifest": json.dumps(node("c", "8"))})
    stages.play(site, run)
    site.run_until(run, "large was tried again", lambda seen: seen["attempts"] >= 3)
    return run


def test_from_a_row_to_what_changed_between_two_attempts(retried_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{retried_run}/attempts")
    rows = page.get_by_role("region", name="Rows of attempts").locator("tbody tr")
    expect(rows).to_have_count(3)
    page.get_by_label("Filter attempts by pod").fill("shop/lar")
    expect(rows).to_have_count(2)
    page.get_by_label("Result").select_option("unschedulable")
    expect(rows).to_have_count(1)
    assert "q=shop%2Flar" in page.url
    assert "result=unschedulable" in page.url
    expect(rows).to_contain_text("0/2 nodes are available: 2 Insufficient cpu.")
    rows.get_by_role("link", name="shop/large").click()
    expect(page.get_by_role("heading", level=1, name="large")).to_be_visible()
    page.get_by_label("What changed since another attempt").select_option(label="against attempt 2: bound")
    changed = page.get_by_role("region", name=re.compile("^Attempt 1 found no node, attempt 2 went to c"))
    expect(changed.get_by_role("heading")).to_contain_text("1 node changed its verdict, 1 more fits.")
    expect(changed.get_by_role("region", name="Nodes with another verdict").locator("tbody tr")).to_have_text(
        "not therefits1c"
    )
    assert "against=2" in page.url
    changed.get_by_role("link", name="c").click()
    expect(page).to_have_url(re.compile(r"node=c"))


def test_an_attempt_that_never_was_is_said_and_the_others_are_offered(retried_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{retried_run}/pods/shop/large?attempt=99")
    attempt = page.get_by_role("region", name="Attempt", exact=True)
    expect(attempt).to_contain_text("Attempt 99 is not stored: there was none. Attempts 1 and 2 are.")
    attempt.get_by_role("radio", name="1", exact=True).check()
    expect(page).to_have_url(re.compile(r"attempt=1$"))
    expect(attempt).to_contain_text("Insufficient cpu")


def test_attempts_on_one_node(retried_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{retried_run}/attempts?q=large")
    page.get_by_role("link", name="c", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="1 attempt on c")).to_be_visible()
    page.get_by_role("button", name="On every node").click()
    expect(page.get_by_role("status").filter(has_text="2 attempts")).to_be_visible()
    page.get_by_label("Filter attempts by pod").fill("nobody")
    expect(page.get_by_text("No attempt matches.")).to_be_visible()
    page.get_by_role("button", name="Clear the filter").click()
    expect(page.get_by_role("region", name="Rows of attempts").locator("tbody tr")).to_have_count(3)


def test_where_the_time_goes(retried_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{retried_run}/attempts")
    page.get_by_role("radio", name="Where the time goes").check()
    times = page.get_by_role("region", name="Where the time goes")
    expect(times).to_contain_text(re.compile(r"Half of the cycles take at most [\d.]+ ms"))
    expect(times.get_by_role("row").filter(has_text="NodeResourcesFit").first).to_be_visible()
    expect(times.get_by_role("rowheader", name="PreFilter")).to_be_visible()
    expect(times.get_by_role("rowheader", name="the framework itself").first).to_be_visible()
    assert "view=timing" in page.url

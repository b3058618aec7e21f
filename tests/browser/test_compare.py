"""Two runs side by side: the first sentence, what differs and why, kinds in the address, the exports."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import ViewportSize, expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.turns import in_turn
from tests.browser.visits import DESKTOP, PHONE, Visit


@pytest.fixture(scope="session")
def two_runs(site: Site) -> tuple[str, str]:
    """The three-zone sample with two configurations, as far as both go without a person. For looking only."""
    sample = stages.sample(site, "Three-zone shop")
    names = ("Default", "Bin-pack")
    runs = [stages.play(site, stages.start(site, sample, stages.configuration(site, name))) for name in names]
    return runs[0], runs[1]


def zones(site: Site, run: str, side: str) -> Any:
    return site.get(f"/api/v1/runs/{run}/comparison/{run}/")[side]["zones"]


def test_two_runs_beside_each_other(two_runs: tuple[str, str], site: Site, desk: Visit) -> None:
    a, b = two_runs
    found = site.get(f"/api/v1/runs/{a}/comparison/{b}/")
    one, two = found["a"]["run"]["number"], found["b"]["run"]["number"]
    elsewhere = found["counts"]["elsewhere"]
    page = desk.go(f"/compare?a={a}&b={b}")
    answer = page.get_by_role("region", name="The difference")
    expect(answer.get_by_role("heading")).to_contain_text(re.compile(rf"^{elsewhere} pods are on another node"))
    placed = page.get_by_role("row", name=re.compile("^Pods placed"))
    expect(placed).to_contain_text(f"{found['a']['placed']}{found['b']['placed']}")

    differing = page.get_by_role("region", name="Pods that differ")
    differing.get_by_role("link", name=re.compile("^On another node")).click()
    expect(page).to_have_url(re.compile("kind=elsewhere"))
    rows = differing.locator("tbody > tr").filter(has=page.get_by_role("link"))
    expect(rows).to_have_count(min(50, elsewhere))
    explained = rows.filter(has_text="made the difference").first
    explained.locator("summary").click()
    expect(explained.get_by_role("columnheader", name="moved by")).to_be_visible()

    page.get_by_role("radio", name="Table").click()
    expect(page.get_by_role("columnheader", name="Std. deviation")).to_be_visible()
    expect(page).to_have_url(re.compile("view=table"))

    with page.expect_download() as download:
        differing.get_by_role("link", name="JSON").click()
    assert download.value.suggested_filename == f"{one}-and-{two}.json"
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert len(saved["pods"]) == elsewhere

    page.get_by_role("button", name="Swap").click()
    expect(page).to_have_url(re.compile(f"a={b}"))
    expect(answer).to_contain_text(f"A {two}")


def test_columns_are_named_by_what_is_compared_and_say_what_differs(two_runs: tuple[str, str], desk: Visit) -> None:
    a, b = two_runs
    page = desk.go(f"/compare?a={a}&b={b}")
    figures = page.get_by_role("region", name="Numbers of both runs")
    expect(figures.get_by_role("columnheader", name="Bin-pack")).to_be_visible()
    configurations = page.get_by_role("region", name="Configurations")
    expect(configurations.get_by_role("listitem").filter(has_text="NodeResourcesFit")).to_contain_text("MostAllocated")
    configurations.get_by_text("Line by line").click()
    expect(configurations.get_by_role("region", name="Lines in which the configurations differ")).to_be_visible()
    # A run beside itself: nothing tells the sides apart but their numbers.
    page = desk.go(f"/compare?a={a}&b={a}")
    expect(page.get_by_role("region", name="Configurations")).to_contain_text("Both runs use Default.")


def test_the_way_there_from_a_run(two_runs: tuple[str, str], desk: Visit) -> None:
    page = desk.go(f"/runs/{two_runs[0]}")
    page.get_by_role("button", name=re.compile("^More")).click()
    page.get_by_role("menuitem", name="Compare with another run…").click()
    expect(page.get_by_text("Choose two runs.")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Run B:")).click()
    picker = page.get_by_role("dialog", name="Choose run B")
    # The other side's cluster is chosen already.
    expect(picker.get_by_label("Cluster").locator("option:checked")).to_have_text("Three-zone shop")
    picker.get_by_label("Configuration").select_option(label="Bin-pack")
    picker.get_by_role("listitem").filter(has_text="Bin-pack").first.click()
    expect(page.get_by_role("region", name="The difference")).to_be_visible()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("language", ["en", "uk"])
def test_tables_need_no_scrolling(
    cluster_shop_run: str, site: Site, desk: Visit, size: ViewportSize, language: str
) -> None:
    """Three zones with cpu, memory and GPUs of two runs, and what still fits beside them."""
    desk.page.set_viewport_size(size)
    page = desk.go(f"/compare?a={cluster_shop_run}&b={cluster_shop_run}&lang={language}")
    table = page.get_by_role("region", name="Use of zones" if language == "en" else "Використання зон")
    shares = [share for side in "ab" for zone in zones(site, cluster_shop_run, side) for share in zone["shares"]]
    shown = [share for share in shares if share["name"] in ("cpu", "memory", "nvidia.com/gpu")]
    point = "." if language == "en" else ","
    expect(table.get_by_text(re.compile(rf"^\d+\{point}\d %$"))).to_have_count(len(shown))
    fits = page.get_by_role("region", name="What still fits" if language == "en" else "Що ще поміститься", exact=True)
    for each in (table, fits.last):
        assert each.evaluate("(element) => element.scrollWidth - element.clientWidth") == 0


def test_back_leads_to_the_kind_before_and_a_run_that_is_gone_is_named(two_runs: tuple[str, str], desk: Visit) -> None:
    a, b = two_runs
    page = desk.go(f"/compare?a={a}&b={b}")
    kinds = page.get_by_role("navigation", name="Kinds of difference")
    kinds.get_by_role("link", name=re.compile("^Same")).click()
    expect(page).to_have_url(re.compile("kind=same"))
    page.go_back()
    expect(page).to_have_url(re.compile(rf"/compare\?a={a}&b={b}$"))

    page = desk.go(f"/compare?a={a}&b=00000000-0000-4000-8000-000000000000")
    expect(page.get_by_text("Run B does not exist, or no longer.")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    expect(page.get_by_role("button", name="Choose another B")).to_be_visible()
    desk.expect_complaint("404")


def test_a_run_is_chosen_and_named_by_its_configuration_in_every_window(
    two_runs: tuple[str, str], site: Site, desk: Visit
) -> None:
    a, b = two_runs
    number = site.get(f"/api/v1/runs/{b}/")["number"]
    page = desk.page
    for turn in in_turn(desk, f"/compare?a={a}"):
        page.get_by_role("button", name=turn.says("compare", "runOfSide", side="B")).click()
        picker = page.get_by_role("dialog")
        expect(picker.get_by_label(turn.named("components", "cluster")).locator("option:checked")).to_have_text(
            "Three-zone shop"
        )
        picker.get_by_label(turn.named("components", "configuration")).select_option(label="Bin-pack")
        row = picker.get_by_role("listitem").filter(has_text=number)
        expect(row.locator("time")).to_be_visible()
        row.get_by_role("button").click()
        figures = page.get_by_role("region", name=turn.named("compare", "numbersOfBothRuns"))
        expect(figures.get_by_role("columnheader", name="Bin-pack")).to_be_visible()
        differ = page.get_by_role("region", name=turn.named("compare", "configurations"))
        expect(differ.get_by_role("listitem").filter(has_text="NodeResourcesFit")).to_contain_text("MostAllocated")

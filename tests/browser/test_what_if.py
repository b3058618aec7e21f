"""Weights tried on a stored attempt, over the run, and exactly; the cycle half done."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.turns import in_turn
from tests.browser.visits import Visit
from tests.schedweb.engine.worlds import Manifest, node, pod


def with_memory(made: Manifest, memory: str) -> Manifest:
    made["status"]["allocatable"] = made["status"]["capacity"] = {**made["status"]["capacity"], "memory": memory}
    return made


@pytest.fixture(scope="module")
def weighed_run(site: Site) -> str:
    """LeastAllocated wants the large node, BalancedAllocation another."""
    nodes = [
        with_memory(node("even", "4"), "8Gi"),
        with_memory(node("odd", "16"), "9Gi"),
        with_memory(node("tiny", "2"), "12Gi"),
    ]
    pods = [pod(f"web-{index}", "250m") for index in range(6)]
    for each in pods:
        each["spec"]["containers"][0]["resources"]["requests"]["memory"] = "512Mi"
    return stages.play_objects(site, "weighed", [*nodes, *pods])


def trying(desk: Visit, run: str, name: str = "web-0", more: str = "") -> Page:
    page = desk.go(f"/runs/{run}/pods/shop/{name}?point=Score&trying=true{more}")
    expect(page.get_by_role("slider", name="Weight of NodeResourcesFit")).to_be_visible()
    return page


def test_a_slider_ranks_the_attempt_again_and_the_address_keeps_it(weighed_run: str, desk: Visit, site: Site) -> None:
    scores = site.get(f"/api/v1/runs/{weighed_run}/attempts/1/scores/")
    page = desk.go(f"/runs/{weighed_run}/pods/shop/web-0?point=Score")
    page.get_by_role("button", name="Try weights").click()
    slider = page.get_by_role("slider", name="Weight of NodeResourcesFit")
    expect(slider).to_have_value("1")
    slider.focus()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(slider).to_have_value("3")
    expect(page.get_by_role("spinbutton", name="Weight of NodeResourcesFit")).to_have_value("3")
    expect(page).to_have_url(re.compile("weights=NodeResourcesFit(%3A|:)3"))
    fit = next(place for place, each in enumerate(scores["plugins"]) if each["name"] == "NodeResourcesFit")
    for row in scores["rows"]:
        total = row["total"] + 2 * row["cells"][fit]["normalized"]
        expect(page.get_by_role("row").filter(has_text=row["node"])).to_contain_text(f"{total:,}")
    page.reload()
    expect(page.get_by_role("slider", name="Weight of NodeResourcesFit")).to_have_value("3")
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_role("slider", name="Weight of NodeResourcesFit")).to_have_value("1")
    expect(page).not_to_have_url(re.compile("weights="))


def test_a_plugin_that_is_off_and_what_it_means_for_the_run(weighed_run: str, desk: Visit, site: Site) -> None:
    page = trying(desk, weighed_run)
    page.get_by_role("checkbox", name="NodeResourcesFit scores").uncheck()
    page.get_by_role("spinbutton", name="Weight of NodeResourcesBalancedAllocation").fill("9")
    attempt = site.get(f"/api/v1/runs/{weighed_run}/attempts/1/")
    expect(page.get_by_role("status").filter(has_text="It would")).to_contain_text(
        f"It would have gone to even instead of {attempt['node']}."
    )
    page.get_by_role("button", name="Which pods would move?").click()
    expect(page.get_by_text("of 6 attempts would have chosen another node.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text=f"{attempt['node']} → even").first).to_be_visible()
    page.get_by_role("button", name="Run it exactly").click()
    compare = page.get_by_role("link", name=re.compile("^Compare r-"))
    expect(compare).to_be_visible()
    expect(page.get_by_text("ended on another node")).to_be_visible()
    page.reload()
    expect(page.get_by_text("ended on another node")).to_be_visible()
    exact = re.search(r"exact=([^&]+)", page.url)
    assert exact is not None
    made = site.get(f"/api/v1/runs/{exact[1]}/")["configuration"]["name"]
    compare.click()
    expect(page.get_by_role("heading", name="Compare", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(f"a={weighed_run}"))
    for _ in in_turn(desk, "/configurations"):
        expect(page.get_by_role("main").get_by_role("link", name="Bin-pack")).to_be_visible()
        assert made not in (page.get_by_role("main").inner_text())


def test_with_a_filter_plugin_off_there_is_no_estimate(weighed_run: str, desk: Visit) -> None:
    page = trying(desk, weighed_run)
    page.get_by_text("Filter plugins: all on").click()
    page.get_by_role("checkbox", name="NodeResourcesFit", exact=True).uncheck()
    expect(page.get_by_text("an estimate is impossible")).to_be_visible()
    expect(page.get_by_role("button", name="Which pods would move?")).to_have_count(0)
    expect(page.get_by_role("button", name="Run it exactly")).to_be_visible()


def test_who_would_have_won_at_100_percent(desk: Visit, site: Site) -> None:
    nodes = [node(f"n{index:03}", "2" if index < 100 else "64") for index in range(120)]
    snapshot = site.import_snapshot(stages.listed([*nodes, pod("web-0")]), "sampled")["id"]
    made = site.post("/api/v1/configurations/", {"name": "one percent", "text": ONE_PERCENT})
    run = stages.play(site, stages.start(site, snapshot, made))
    page = desk.go(f"/runs/{run}/pods/shop/web-0?point=Score")
    expect(page.get_by_text("Checked 100 of 120 nodes.")).to_be_visible()
    page.get_by_role("button", name="Who would have won at 100 %?").click()
    expect(page.get_by_text(re.compile(r"The winner at 100 % would have been n1\d\d"))).to_be_visible()
    expect(page.get_by_text("Found by playing the run again")).to_be_visible()


ONE_PERCENT = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 1
"""


def test_stepping_shows_the_cycle_half_done(desk: Visit, site: Site) -> None:
    configured = stages.configuration(site, "Default, every node")
    objects = [node("a"), node("b"), node("small", "100m"), pod("web-0")]
    snapshot = site.import_snapshot(stages.listed(objects), "half done")["id"]
    run = stages.start(site, snapshot, configured)
    page = desk.go(f"/runs/{run}")
    point = page.get_by_role("button", name=re.compile("^Point"))
    so_far = page.get_by_role("region", name="The cycle so far")
    point.click()
    expect(page.get_by_role("list", name="Extension points of this cycle")).to_contain_text("PreFilter, now")
    expect(so_far).to_contain_text("Stands at PreFilter")
    point.click()
    expect(so_far).to_contain_text("2 of 3 nodes left")
    refused = so_far.get_by_role("listitem")
    expect(refused).to_contain_text(re.compile("1NodeResourcesFitInsufficient cpu.*2 left"))
    expect(refused.get_by_role("link", name="small")).to_be_visible()
    expect(so_far.get_by_role("region", name="Scores so far")).to_have_count(0)
    point.click()
    expect(page.get_by_role("list", name="Extension points of this cycle")).to_contain_text("PreScore, now")
    point.click()
    expect(so_far.get_by_role("columnheader", name=re.compile("NodeResourcesFit × 1"))).to_be_visible()
    so_far.get_by_role("radio", name="Raw").click()
    expect(so_far.get_by_role("columnheader", name="NodeResourcesFit", exact=True)).to_be_visible()

    desk.go(f"/runs/{run}/pods/shop/web-0")
    answer = page.get_by_role("region", name="What happens to this pod")
    expect(answer).to_contain_text("Attempt 1 is under way and stands at Score")
    answer.get_by_role("link", name="Follow it on the run").click()
    expect(page).to_have_url(re.compile(rf"/runs/{run}\?pod="))
    expect(page.get_by_role("list", name="Extension points of this cycle")).to_contain_text("Score, now")

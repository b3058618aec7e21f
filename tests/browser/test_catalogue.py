"""Refusals of scheduler-plugins' plugins: a quota that is seen, understood and raised, a NUMA zone that is too full."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit

LONG = 60_000
"""Milliseconds that an answer may take which plays a run on."""


@pytest.fixture(scope="session")
def shared_run(site: Site) -> str:
    """The sample, played to its end with its own configuration. For looking only."""
    configured = stages.configuration(site, "Quotas, zones, network and load")
    return stages.play(site, stages.start(site, stages.sample(site, "Shared cluster"), configured))


def pod_of(site: Site, run: str, workload: str) -> str:
    """Its page."""
    found = site.get(f"/api/v1/runs/{run}/pods/?column=unschedulable&limit=50")["results"]
    (one,) = (each for each in found if each["name"].startswith(workload))
    return f"/runs/{run}/pods/{one['namespace']}/{one['name']}"


def test_a_quota_that_refuses_a_pod_is_raised_on_a_fork(site: Site, shared_run: str, desk: Visit) -> None:
    page = desk.go(pod_of(site, shared_run, "analysis"))
    answer = page.get_by_role("region", name="Why is this pod pending")
    expect(answer.get_by_role("heading")).to_have_text("lab may use 8 cpu at most; it uses 6, and this pod asks for 4.")
    panel = page.get_by_role("region", name="ElasticQuotas", exact=True).first
    expect(panel.get_by_role("row", name=re.compile("^lab"))).to_contain_text(re.compile("lab.*6.*8.*8.*2 unused"))
    expect(panel.get_by_role("row", name=re.compile("^ml"))).to_contain_text("borrows 14")
    panel.get_by_role("radio", name="memory", exact=True).check(force=True)
    expect(panel.get_by_role("row", name=re.compile("^lab"))).to_contain_text("64 Gi")
    text = "Raise cpu max from 8 to 10 in ElasticQuota lab/lab"
    page.get_by_role("button", name=f"Try on a fork: {text}", exact=True).click(timeout=LONG)
    page.wait_for_url(re.compile(r"/runs/(?!" + shared_run + ")"), timeout=LONG)
    expect(page.get_by_role("region", name=re.compile("^Selected pod lab.analysis"))).to_contain_text(
        re.compile("Bound"), timeout=LONG
    )


def test_a_quota_is_raised_in_the_run_itself(site: Site, desk: Visit) -> None:
    """By keyboard: an error at its line first, then a change that lets the pod in."""
    configured = stages.configuration(site, "Quotas, zones, network and load")
    run = stages.play(site, stages.start(site, stages.sample(site, "Shared cluster"), configured))
    page = desk.go(f"/runs/{run}/objects?kind=ElasticQuota&object=ElasticQuota/lab/lab")
    drawer = page.get_by_role("dialog", name="lab")
    drawer.get_by_role("button", name="Edit").press("Enter")
    editor = drawer.get_by_role("textbox", name="YAML of ElasticQuota lab/lab")
    expect(editor).to_be_focused()
    known = site.get(f"/api/v1/runs/{run}/objects/yaml/?kind=ElasticQuota&namespace=lab&name=lab")["yaml"]

    lines = known.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("  max:")) + 1
    before, _, value = lines[at].partition(": ")
    assert before.strip() == "cpu"

    def write(wanted: str, instead_of: str) -> None:
        editor.press("ControlOrMeta+Home")
        for key in (*["ArrowDown"] * at, "End", *["Backspace"] * len(instead_of)):
            page.keyboard.press(key)
        page.keyboard.type(wanted)
        drawer.get_by_role("button", name="Apply").press("Enter")

    desk.expect_complaint("422")  # what the next one is answered
    write("many", value)
    expect(drawer.get_by_role("alert")).to_contain_text("It was not changed, your text is kept.")
    expect(editor.locator(".cm-line").nth(at)).to_contain_text("quantities must match")
    expect(editor).to_contain_text("cpu: many")
    write("10", "many")
    expect(page.get_by_text("ElasticQuota lab/lab was changed.")).to_be_visible(timeout=LONG)
    expect(drawer.get_by_role("button", name="Edit")).to_be_visible()
    expect(drawer).to_contain_text("cpu: 10")
    page.keyboard.press("Escape")
    bars = page.get_by_role("region", name="What is used of quotas")
    expect(bars.get_by_role("row", name=re.compile("^lab"))).to_contain_text(re.compile("lab.*(6|10).*8.*10"))
    stages.play(site, run)
    found = site.get(f"/api/v1/runs/{run}/pods/?q=analysis")["results"]
    assert [each["node"] != "" for each in found] == [True] * len(found)


def test_objects_are_added_from_their_templates_and_deleted(site: Site, desk: Visit) -> None:
    """Every template is taken as it is; a quota that is added by hand, and what rests on it before it goes."""
    configured = stages.configuration(site, "Quotas, zones, network and load")
    run = stages.start(site, stages.sample(site, "Shared cluster"), configured)
    page = desk.go(f"/runs/{run}/objects?kind=Reservation")
    kinds = ["Reservation"]
    while kinds:
        kind = kinds.pop(0)
        page.get_by_role("button", name="Add an object").click()
        drawer = page.get_by_role("dialog", name="Add an object")
        chosen = drawer.get_by_role("combobox", name="Kind")
        if kind == "Reservation":
            expect(chosen).to_have_value(kind)  # as the list shows them
            kinds += [each for each in chosen.locator("option").all_inner_texts() if each != kind]
            assert len(kinds) == 8
        chosen.select_option(kind)
        editor = drawer.get_by_role("textbox", name="YAML of the new object")
        expect(editor).to_contain_text(f"kind: {kind.split('.')[0]}")
        # The sample has load, of which there is one, and the zones of its first node.
        taken = kind in ("LoadMetrics", "NodeResourceTopology")
        drawer.get_by_role("button", name="Add", exact=True).press("Enter")
        if taken:
            expect(drawer.get_by_role("alert")).to_contain_text("already exists", timeout=LONG)
            page.keyboard.press("Escape")
        else:
            expect(drawer).to_be_hidden(timeout=LONG)
            notice = page.get_by_text(f"{kind.split('.')[0]} was added.").last
            expect(notice).to_be_visible()
    page.goto(f"{site.origin}/runs/{run}/objects?kind=ElasticQuota&object=ElasticQuota/lab/lab")
    drawer = page.get_by_role("dialog", name="lab")
    drawer.get_by_role("button", name="Delete", exact=True).press("Enter")
    question = drawer.get_by_role("region", name="Delete ElasticQuota lab/lab?")
    expect(question).to_contain_text(re.compile(r"\d+ pods? (is|are) held to it"))
    expect(question.get_by_role("button", name="Delete it")).to_be_focused()
    question.get_by_role("button", name="Keep it").click()
    expect(question).to_be_hidden()
    drawer.get_by_role("button", name="Delete", exact=True).click()
    question.get_by_role("button", name="Delete it").click()
    expect(drawer).to_be_hidden(timeout=LONG)
    rows = page.get_by_role("region", name="ElasticQuota", exact=True)
    expect(rows.get_by_role("row", name=re.compile("^default"))).to_contain_text("used cpu")
    expect(rows.get_by_role("row", name=re.compile("^lab"))).to_have_count(0)


def test_a_numa_refusal_is_seen_zone_by_zone(site: Site, shared_run: str, desk: Visit) -> None:
    page = desk.go(pod_of(site, shared_run, "mesh-sim"))
    answer = page.get_by_role("region", name="Why is this pod pending")
    expect(answer.get_by_role("heading")).to_have_text(
        "On no node that it may use one NUMA zone has all that it asks for."
    )
    expect(answer).to_contain_text("node-1 of numa-5 is nearest, short of 1 cpu.")
    zones = page.get_by_role("region", name="NUMA zones of numa-5", exact=True).get_by_role("listitem")
    expect(zones).to_have_count(2)
    expect(zones.nth(0)).to_contain_text(re.compile("node-0.*cpu7 of 24 free.*short of 9.*asks 16"))
    expect(zones.nth(1)).to_contain_text(re.compile("node-1.*cpu15 of 24 free.*short of 1.*asks 16"))
    expect(page.get_by_role("button", name=re.compile("^Try on a fork: Free 1 cpu in NUMA zone"))).to_be_visible(
        timeout=LONG
    )

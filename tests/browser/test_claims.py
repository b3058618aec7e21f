"""Volumes and devices of a pod: their states, what was decided, first sentences, and the YAML behind each name."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit
from tests.schedweb.engine.crowded import ATTACHED, CLAIMS


@pytest.fixture(scope="session")
def claims_run(site: Site) -> str:
    return stages.play_objects(site, "claims", CLAIMS)


def test_a_bound_volume_and_the_yaml_of_its_claim(claims_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{claims_run}/pods/shop/bound-0")
    panel = page.get_by_role("region", name="Volumes")
    expect(panel.get_by_role("listitem")).to_contain_text(
        re.compile("placed.*bound.*pv-1.*10Gi.*late WaitForFirstConsumer.*east")
    )
    panel.get_by_role("link", name="placed").click()
    drawer = page.get_by_role("dialog", name="placed")
    expect(drawer).to_contain_text("kind: PersistentVolumeClaim")
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    expect(panel).to_be_visible()


def test_devices_that_were_allocated(claims_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{claims_run}/pods/shop/trainer-0?point=Reserve")
    panel = page.get_by_role("region", name="Devices", exact=True)
    expect(panel).to_contain_text("2 of gpu.example.com")
    rows = panel.get_by_role("region", name="Devices of two-gpus").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(re.compile(r"gpu-\d.*gpu\.example\.com.*west-1.*gpu"))
    decided = page.get_by_role("tabpanel", name=re.compile("^Reserve"))
    expect(decided).to_contain_text(
        re.compile(r"two-gpus gets gpu-\d of pool west-1 \(gpu\.example\.com\) for request gpu")
    )


def test_devices_that_there_are_not(claims_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{claims_run}/pods/shop/greedy-0")
    answer = page.get_by_role("region", name="Why is this pod pending")
    expect(answer.get_by_role("heading")).to_have_text("No node has 9 free devices of class gpu.example.com.")
    expect(answer).to_contain_text("2 of 4 published devices are allocated.")
    expect(page.get_by_role("region", name="Devices", exact=True)).to_contain_text("pending")


def test_a_missing_claim_is_made_on_a_fork(claims_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{claims_run}/pods/shop/missing-0")
    text = "Create the missing PersistentVolumeClaim nowhere"
    page.get_by_role("button", name=f"Try on a fork: {text}", exact=True).click()
    page.wait_for_url(re.compile(r"/runs/(?!" + claims_run + ")"))
    expect(page.get_by_role("region", name="Selected pod shop/missing-0")).to_contain_text(
        re.compile("Bound.*Node(west|east)-")
    )
    fork = page.url.split("/runs/")[1].split("?")[0]
    for path in (f"/runs/{fork}", "/runs", "/", f"/compare?a={claims_run}&b={fork}"):
        desk.go(path)
        expect(page.get_by_text("added PersistentVolumeClaim nowhere").first).to_be_visible()


def test_every_object_of_a_run_can_be_found(claims_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{claims_run}")
    page.get_by_role("button", name=re.compile("^More")).click()
    page.get_by_role("menuitem", name="Claims, volumes, classes…").click()
    expect(page.get_by_role("heading", name="Objects")).to_be_visible()
    page.get_by_label("Kind").select_option("ResourceSlice")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("gpu.example.com, 4 devices on west-1")
    page.get_by_label("Filter objects").fill("nothing like it")
    expect(page.get_by_text("No object matches “nothing like it”.")).to_be_visible()
    page.get_by_label("Filter objects").fill("")
    page.get_by_role("link", name="west-1-gpus").click()
    expect(page.get_by_role("dialog", name="west-1-gpus")).to_contain_text("kind: ResourceSlice")


def test_two_nodes_side_by_side(shop_run: str, desk: Visit) -> None:
    page = desk.go(f"/runs/{shop_run}/pods/data/postgres-2?point=Score")
    aside = page.get_by_role("complementary", name="Step by step")
    chosen = aside.get_by_role("heading").inner_text().removesuffix(", step by step")
    other = page.get_by_role("tabpanel").locator("tbody tr").nth(1).get_by_role("button").inner_text()
    aside.get_by_label("Beside").fill(other)
    aside.get_by_role("button", name="Compare").click()
    expect(aside.get_by_role("heading")).to_have_text(f"{chosen} beside {other}")
    expect(aside).to_contain_text(re.compile(rf"{chosen} is \d+ points ahead of {other}"))
    assert f"beside={other}" in page.url
    aside.get_by_label("Beside").fill("nowhere")
    aside.get_by_role("button", name="Compare").click()
    expect(aside).to_contain_text("No feasible node of this attempt is called nowhere.")
    aside.get_by_role("button", name="Stop comparing").click()
    expect(aside.get_by_role("heading")).to_have_text(f"{chosen}, step by step")


def test_a_device_is_made_ready_by_hand_and_its_pod_is_bound(site: Site, desk: Visit) -> None:
    snapshot = site.import_snapshot(stages.listed(ATTACHED), "attached")["id"]
    run = stages.start(site, snapshot, stages.configuration(site, "Default"))
    stages.play(site, run)
    page = desk.go(f"/runs/{run}/pods/shop/trainer-0")
    expect(page.get_by_role("heading", name="Waits for its devices to be ready.")).to_be_visible()
    expect(page.get_by_text("Not met yet: attached of gpu-0. kube-scheduler looks every five seconds.")).to_be_visible()
    conditions = page.get_by_role("list", name="Binding conditions of gpu-0")
    expect(conditions).to_contain_text(re.compile("attached.*not met yet.*broken.*would fail binding"))
    conditions.get_by_role("button", name="Set attached of gpu-0 to True").click()
    expect(page.get_by_role("heading", name=re.compile("^Bound to west-1"))).to_be_visible()
    expect(conditions).to_contain_text(re.compile("attached.*met"))

"""Importing by hand: a large paste, workloads, objects that cannot be taken, and what earlier mistakes leave behind."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from playwright.sync_api import Locator, expect

from scripts.site import Site
from tests.browser.turns import in_turn
from tests.browser.visits import Visit

EXPORT = Path(__file__).parent.parent / "data" / "cluster-shop" / "kubectl-export.json.gz"
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
}
CONTAINERS = {"containers": [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "500m"}}}]}
DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": CONTAINERS},
    },
}
BAD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "Odd_1"}, "spec": CONTAINERS}
PASTE = """(area, text) => {
  const carried = new DataTransfer();
  carried.setData("text/plain", text);
  area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: carried, bubbles: true, cancelable: true }));
}"""


def text_area(desk: Visit) -> Locator:
    page = desk.go("/")
    page.get_by_role("button", name="Paste", exact=True).click()
    return page.get_by_label("YAML or JSON of a cluster")


def test_a_large_paste_is_taken_as_a_file(desk: Visit) -> None:
    area = text_area(desk)
    area.evaluate(PASTE, gzip.decompress(EXPORT.read_bytes()).decode())
    panel = desk.page.get_by_role("region", name="Import a cluster")
    expect(panel.get_by_text("the pasted text.yaml")).to_be_visible()
    expect(panel.get_by_text("36 nodes, 231 pods")).to_be_visible()
    expect(area).to_be_hidden()
    panel.get_by_role("button", name="Discard").click()


def test_a_bad_object_is_left_out_and_a_deployment_has_its_pods(desk: Visit, site: Site) -> None:
    area = text_area(desk)
    area.fill(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, DEPLOYMENT, BAD]}))
    desk.page.get_by_role("button", name="Read it").click()
    panel = desk.page.get_by_role("region", name="Import a cluster")
    expect(panel.get_by_text("3 pods were made from 1 Deployment")).to_be_visible()
    problems = panel.get_by_role("region", name="1 object cannot be taken")
    expect(problems).to_contain_text("Pod default/Odd_1: metadata.name: Invalid value")
    run = panel.get_by_role("button", name="Import and run")
    expect(run).to_be_disabled()
    problems.get_by_label("Leave it out and import the rest").check()
    expect(run).to_be_enabled()
    panel.get_by_role("button", name="Import", exact=True).click()
    expect(panel.get_by_text("cannot be taken")).to_be_hidden()
    expect(desk.page.get_by_role("button", name="Run pasted text")).to_be_visible()
    [made] = [each for each in site.get("/api/v1/snapshots/")["results"] if each["name"] == "pasted text"]
    assert (made["counts"]["pods"], made["counts"]["made_from"]) == (3, {"Deployment": 1})
    assert site.ask("DELETE", f"/api/v1/snapshots/{made['id']}/").status == 204


def test_an_old_mistake_goes_when_something_new_begins(desk: Visit) -> None:
    area = text_area(desk)
    area.fill("NAME   READY   STATUS\nweb    1/1     Running\n")
    desk.page.get_by_role("button", name="Read it").click()
    alert = desk.page.get_by_role("alert").filter(has_text="Nothing was imported.")
    expect(alert).to_contain_text("This is a table that kubectl get prints.")
    alert.get_by_role("button", name="Change the text").click()
    expect(alert).to_be_hidden()
    expect(area).to_have_value("NAME   READY   STATUS\nweb    1/1     Running\n")
    expect(area).to_be_focused()
    desk.page.get_by_role("button", name="Read it").click()
    expect(alert).to_be_visible()
    alert.get_by_role("button", name="Dismiss").click()
    expect(alert).to_be_hidden()


def test_mistakes_go_and_large_pastes_are_files_in_every_window(desk: Visit) -> None:
    page = desk.page
    export = gzip.decompress(EXPORT.read_bytes()).decode()
    for turn in in_turn(desk, "/"):
        page.get_by_role("button", name=turn.named("home", "paste")).click()
        area = page.get_by_label(turn.named("home", "yAMLOrJSONOfA"))
        area.fill("NAME   READY   STATUS\nweb    1/1     Running\n")
        page.get_by_role("button", name=turn.named("home", "readIt")).click()
        alert = page.get_by_role("alert").filter(has_text=turn.says("home", "nothingWasImported"))
        alert.get_by_role("button", name=turn.named("home", "changeTheText")).click()
        expect(alert).to_be_hidden()
        expect(area).to_be_focused()
        area.evaluate(PASTE, export)
        panel = page.get_by_role("region", name=turn.named("home", "importACluster"))
        expect(panel.get_by_text(turn.says("home", "thePastedText"))).to_be_visible()
        expect(area).to_be_hidden()
        expect(panel.get_by_role("status").filter(has_text="231")).to_be_visible()
        panel.get_by_role("button", name=turn.named("home", "discard")).click()
        expect(page.get_by_role("button", name=turn.named("home", "paste"))).to_be_visible()

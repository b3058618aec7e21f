"""A weight changed in the form, seen in the YAML, saved and run: the totals of the same pod differ by it."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.turns import TURNS, in_turn
from tests.browser.visits import Visit

PLUGIN, WEIGHT = "NodeResourcesFit", 5
POD = "data/postgres-2"


def scores_of(site: Site, run: str) -> Any:
    attempt = site.get(f"/api/v1/runs/{run}/pods/{POD}/")["attempt_list"][-1]["number"]
    return site.get(f"/api/v1/runs/{run}/attempts/{attempt}/scores/?limit=50&offset=0")


def total_on_screen(desk: Visit, node: str) -> int:
    row = desk.page.get_by_role("tabpanel", name=re.compile("^Score")).locator("tr", has_text=node).first
    expect(row).to_be_visible()
    return int(row.locator("td").nth(3).inner_text().replace(",", ""))


def test_a_weight_changed_in_the_form_changes_the_totals(shop_run: str, site: Site, desk: Visit) -> None:
    before = scores_of(site, shop_run)
    page = desk.go("/configurations")
    page.get_by_role("link", name="Default + approvals").click()
    page.get_by_role("button", name="Copy to edit").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Default + approvals copy")
    save = page.get_by_role("button", name="Save…")
    expect(save).to_be_disabled()

    page.get_by_role("rowheader", name=PLUGIN).get_by_role("button").click()
    weight = page.get_by_label("Weight at Score")
    expect(weight).to_have_value("1")
    weight.fill(str(WEIGHT))
    expect(page.get_by_text("Draft, 1 change")).to_be_visible()
    page.get_by_role("radio", name="YAML").click()
    expect(page.locator(".cm-content")).to_contain_text(re.compile(rf"name: {PLUGIN}\s+weight: {WEIGHT}"))
    page.get_by_role("radio", name="Form").click()
    expect(page.get_by_role("gridcell", name=re.compile(f"weight {WEIGHT}"))).to_be_visible()

    save.click()
    drawer = page.get_by_role("dialog", name="Save as version 2")
    expect(drawer).to_contain_text(f"{PLUGIN} weight 1 → {WEIGHT}")
    drawer.get_by_role("button", name="Save and run").click()
    dialog = page.get_by_role("dialog", name=re.compile("^Run "))
    dialog.get_by_role("radio", name=re.compile("^Three-zone shop")).check()
    dialog.get_by_role("button", name="Start the run").click()
    page.wait_for_url(re.compile(r"/runs/[0-9a-f-]+"))
    run = page.url.partition("/runs/")[2].partition("?")[0]
    desk.play()
    expect(page.get_by_role("link", name="Decide in the inbox")).to_be_visible()

    after = scores_of(site, run)
    fit = next(index for index, plugin in enumerate(after["plugins"]) if plugin["name"] == PLUGIN)
    assert after["plugins"][fit]["weight"] == WEIGHT
    for row in after["rows"]:
        earlier = next(one for one in before["rows"] if one["node"] == row["node"])
        assert row["total"] - earlier["total"] == (WEIGHT - 1) * row["cells"][fit]["normalized"]
    chosen = after["chosen"]["node"]
    desk.go(f"/runs/{run}/pods/{POD}?point=Score")
    new = total_on_screen(desk, chosen)
    desk.go(f"/runs/{shop_run}/pods/{POD}?point=Score")
    old = total_on_screen(desk, chosen)
    assert (old, new) == (
        next(row["total"] for row in before["rows"] if row["node"] == chosen),
        after["chosen"]["total"],
    )
    assert new > old


def test_a_draft_survives_a_reload_and_cannot_be_saved_with_an_error(site: Site, desk: Visit) -> None:
    made = site.post("/api/v1/configurations/", {"name": "with a typing error", "preset": "default"})
    page = desk.go(f"/configurations/{made['id']}?view=yaml")
    text = page.locator(".cm-content")
    expect(text).to_contain_text("KubeSchedulerConfiguration")
    text.click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text("\npercentageOfNodesToScore: 101\n")
    wrong = page.get_by_role("button", name="1 error")
    expect(wrong).to_be_visible()
    expect(page.get_by_role("button", name="Save…")).to_be_disabled()
    expect(page.get_by_text("not in valid range").first).to_be_visible()
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("percentageOfNodesToScore: 101")
    expect(wrong).to_be_visible()
    assert site.get(f"/api/v1/configurations/{made['id']}/")["latest"]["number"] == 1


def test_a_feature_gate_is_switched_saved_and_shown_as_a_change(site: Site, desk: Visit) -> None:
    made = site.post("/api/v1/configurations/", {"name": "another queue", "preset": "default"})
    page = desk.go(f"/configurations/{made['id']}")
    gate = page.get_by_role("checkbox", name="SchedulerPopFromBackoffQ")
    expect(gate).to_be_checked()
    gate.click()  # the server answers what follows from it
    expect(gate).not_to_be_checked()
    expect(page.get_by_text("Draft, 1 change")).to_be_visible()
    page.get_by_role("radio", name="YAML").click()
    flag = "# kube-scheduler --feature-gates=SchedulerPopFromBackoffQ=false"
    expect(page.locator(".cm-content")).to_contain_text(flag)
    page.get_by_role("radio", name="Form").click()
    page.get_by_role("button", name="Save…").click()
    drawer = page.get_by_role("dialog", name="Save as version 2")
    expect(drawer).to_contain_text("SchedulerPopFromBackoffQ off")
    drawer.get_by_role("button", name="Save", exact=True).click()
    expect(drawer).to_be_hidden()
    assert site.get(f"/api/v1/configurations/{made['id']}/versions/2/")["text"].startswith(flag)
    # Back to the default, nothing is left of it.
    gate.click()
    expect(gate).to_be_checked()
    expect(page.get_by_text("Draft, 1 change")).to_be_visible()
    page.get_by_role("radio", name="YAML").click()
    expect(page.locator(".cm-content")).not_to_contain_text("feature-gates")


def test_a_weight_of_a_default_strategy_can_be_changed_and_a_run_begun_with_every_choice(
    site: Site, desk: Visit
) -> None:
    page = desk.go(f"/configurations/{stages.configuration(site, 'Default')['id']}")
    page.get_by_role("button", name="Run with this").click()
    dialog = page.get_by_role("dialog", name=re.compile("^Run "))
    for choice in ("Clock", "Approvals"):
        expect(dialog.get_by_role("group", name=choice)).to_be_visible()
    expect(dialog.get_by_role("textbox", name="Seed")).to_have_value("7")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)

    page.get_by_role("button", name="Copy to edit").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("copy")
    page.get_by_role("rowheader", name=PLUGIN).get_by_role("button").click()
    strategy = page.get_by_role("radio", name="LeastAllocated")
    expect(strategy).to_be_checked()
    page.get_by_role("textbox", name="scoringStrategy.resources 1, weight").fill("3")
    expect(page.get_by_text(re.compile("^Draft, "))).to_be_visible()
    expect(strategy).to_be_checked()
    expect(page.get_by_role("button", name="Save…")).to_be_enabled()


def test_a_resources_weight_keeps_the_strategy_in_every_window(site: Site, desk: Visit) -> None:
    made = site.post("/api/v1/configurations/", {"name": "weighed in every window", "preset": "default"})
    page = desk.page
    for number, turn in enumerate(in_turn(desk, f"/configurations/{made['id']}?plugin={PLUGIN}"), start=2):
        weight = page.get_by_role("textbox", name=re.compile(r"^scoringStrategy\.resources 1, weight$"))
        weight.fill(str(number))
        expect(page.get_by_text(turn.says("configuration", "draftChanges"))).to_be_visible()
        expect(page.get_by_role("radio", name="LeastAllocated")).to_be_checked()
        expect(page.get_by_role("button", name=turn.named("configuration", "save"))).to_be_enabled()


def test_home_and_a_configuration_offer_the_same_choices_in_every_window(site: Site, desk: Visit) -> None:
    configured = stages.configuration(site, "Default")["id"]
    pages = (("/", "home", "run"), (f"/configurations/{configured}", "configuration", "runWithThis"))
    for turn in TURNS:
        offered = []
        for path, area, key in pages:
            for _ in in_turn(desk, path, [turn]):
                name = turn.named("home", "runName", name="Three-zone shop") if path == "/" else turn.named(area, key)
                desk.page.get_by_role("button", name=name).click()
                dialog = desk.page.get_by_role("dialog")
                choices = [
                    dialog.get_by_role("group", name=turn.named("components", choice)).inner_text()
                    for choice in ("clock", "approvals")
                ]
                seed = dialog.get_by_role("textbox", name=turn.named("components", "seed")).input_value()
                offered.append([*choices, seed])
        assert offered[0] == offered[1], turn

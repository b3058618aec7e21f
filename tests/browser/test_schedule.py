"""Scheduling a real cluster from its page: begun by mouse and by keyboard, approved, rejected and stopped. What became
of it is looked at where it is written: in the cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from schedweb.clusters.reading.rights import roles_yaml
from schedweb.clusters.writing.permission import VARIABLE
from scripts.processes import Playground
from scripts.site import Site, eventually
from tests.apiserver import ApiServer
from tests.apiserver.access import READER
from tests.apiserver.manifests import node
from tests.browser.conftest import Opener
from tests.browser.fits import unfit_in
from tests.browser.visits import Visit
from tests.first_start import FirstStart
from tests.schedweb.clusters.conftest import WITH_APPROVALS
from tests.schedweb.clusters.scheduled import asks
from tests.schedweb.clusters.scheduling.conftest import condition, node_of, ours

PATIENCE = 60_000
CONTEXT = "prod"


@pytest.fixture
def begun(
    api_server: ApiServer, tmp_path: Path, first_start: FirstStart, chromium: Path, built_ui: None, open_page: Opener
) -> Iterator[tuple[Visit, Site]]:
    """A desk of an installation of its own; which contexts it may schedule is the test's."""
    api_server.add(node("n1"), node("n2"))
    token = api_server.user("scheduler", READER)
    for role in yaml.safe_load_all(roles_yaml("schedule")):
        api_server.grant("scheduler", role["rules"])
    path = api_server.write_kubeconfig(tmp_path / "config", token=token, context=CONTEXT)
    data = tmp_path / "data"
    data.mkdir()
    playground = Playground(first_start.into(data), KUBECONFIG=str(path), **{VARIABLE: CONTEXT})
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        site.post("/api/v1/configurations/", {"name": "ours", "text": WITH_APPROVALS})
        seen = open_page(site.origin, site.cookies())
        seen.go(f"/clusters/{CONTEXT}").get_by_role("button", name="Connect").click()
        yield seen, site
        seen.page.close()  # before its server goes
    finally:
        playground.process.stop()


def band(page: Page) -> Locator:
    return page.get_by_role("region", name="This run writes to a cluster")


def schedule_button(page: Page) -> Locator:
    panel = page.get_by_role("region", name="Schedule this cluster")
    found = panel.get_by_role("button", name="Schedule…")
    expect(found).to_be_enabled(timeout=PATIENCE)
    return found


def run_of(page: Page) -> str:
    expect(page).to_have_url(re.compile("/runs/"), timeout=PATIENCE)
    return page.url.partition("/runs/")[2].partition("?")[0]


def until(what: str, is_so: Callable[[], Any]) -> None:
    eventually(what, lambda: is_so() or None)


def test_a_person_schedules_approves_rejects_and_stops(begun: tuple[Visit, Site], api_server: ApiServer) -> None:
    seen, site = begun
    page = seen.page
    schedule_button(page).click()
    dialog = page.get_by_role("dialog", name=f"Start scheduling in {CONTEXT}?")
    expect(dialog.get_by_role("combobox", name="Configuration")).to_have_value(re.compile("."))
    expect(dialog.get_by_text("Whose schedulerName is ours")).to_be_visible()
    dry_run = dialog.get_by_role("checkbox", name="Dry run first")
    expect(dry_run).to_be_checked()
    dry_run.uncheck()

    # Another name is refused where it stands, and nothing is begun.
    typed = dialog.get_by_role("textbox", name=re.compile("^Type the cluster’s name"))
    typed.fill("prd")
    start = dialog.get_by_role("button", name="Start scheduling")
    expect(start).to_have_attribute("aria-disabled", "true")
    typed.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text(f"That is not {CONTEXT}.")
    expect(typed).to_be_focused()
    assert site.get("/api/v1/runs/")["count"] == 0

    # What the server refuses stands at its field.
    seen.expect_complaint("400")
    typed.fill(CONTEXT)
    namespaces = dialog.get_by_role("textbox", name="Namespaces")
    namespaces.fill("default, Not_one")
    start.click()
    expect(dialog.get_by_role("alert")).to_have_text("Not_one is not the name of a namespace.")
    expect(namespaces).to_have_attribute("aria-invalid", "true")
    namespaces.fill("default")
    start.click()
    run = run_of(page)
    expect(band(page)).to_contain_text(f"Binds real pods in {CONTEXT}", timeout=PATIENCE)
    expect(band(page)).to_contain_text("namespace default")
    expect(page.get_by_text(f"Schedules {CONTEXT}")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_have_count(0)

    api_server.add(ours("plain"), asks("good"), asks("bad"))
    until("plain is bound without anybody", lambda: node_of(api_server, "plain"))
    page.get_by_role("link", name=re.compile("^Waiting")).click()
    expect(band(page)).to_contain_text(f"Binds real pods in {CONTEXT}", timeout=PATIENCE)
    row = page.get_by_role("row", name=re.compile("good"))
    expect(row).to_contain_text(f"Approving binds this pod in the real cluster {CONTEXT}", timeout=PATIENCE)
    assert node_of(api_server, "good") == ""
    page.get_by_role("button", name="Approve good").click()
    expect(page.get_by_text(f"Binds for real in {CONTEXT}")).to_be_visible()
    until("good is bound", lambda: node_of(api_server, "good"))

    page.get_by_role("button", name="Reject bad").click()
    drawer = page.get_by_role("dialog", name="Reject 1 pod")
    expect(drawer.get_by_text(f"The condition of a real pod is written, in {CONTEXT}")).to_be_visible()
    drawer.get_by_role("textbox").fill("not today")
    drawer.get_by_role("button", name="Reject 1 pod").click()
    until("bad has the condition", lambda: "not today" in condition(api_server, "bad").get("message", ""))
    assert node_of(api_server, "bad") == ""

    page.get_by_role("link", name=re.compile("written")).click()
    expect(page.get_by_role("heading", name=f"Writes to {CONTEXT}")).to_be_visible(timeout=PATIENCE)
    bound = f"Bind to {node_of(api_server, 'good')}"
    written = page.get_by_role("row", name=re.compile(f"good.*{bound}"))
    for words in ("done", "201"):
        expect(written).to_contain_text(words)
    expect(page.get_by_role("row", name=re.compile("bad")).first).to_contain_text("Condition")
    assert unfit_in(page, ("390 px", "768 px", "1024 px", "1440 px")) == []
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(f"/runs/{run}$"), timeout=PATIENCE)
    assert unfit_in(page, ("390 px", "768 px", "1024 px", "1440 px")) == []

    band(page).get_by_role("button", name="Stop scheduling").click()
    expect(band(page)).to_contain_text(f"Not writing to {CONTEXT}")
    expect(band(page)).to_contain_text("Stopped by you at")
    expect(page.get_by_role("button", name="Stop scheduling")).to_have_count(0)
    api_server.add(ours("late"))
    site.run_until(run, "it is stopped", lambda found: found["state"] == "stopped")
    assert node_of(api_server, "late") == ""


def test_with_the_keyboard_a_dry_run_binds_nothing(begun: tuple[Visit, Site], api_server: ApiServer) -> None:
    seen, site = begun
    page = seen.page
    api_server.change("nodes", "n2", by=lambda it: it["metadata"]["labels"].update(pool="ours"))
    button = schedule_button(page)
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=f"Start scheduling in {CONTEXT}?")
    expect(dialog.get_by_role("combobox", name="Configuration")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()

    page.keyboard.press("Enter")
    expect(dialog.get_by_text("Whose schedulerName is ours")).to_be_visible()
    for field, text in (("Namespaces", ""), ("Bindings a minute", "60"), ("Nodes", "pool")):
        page.keyboard.press("Tab")
        expect(dialog.get_by_role("textbox", name=field)).to_be_focused()
        page.keyboard.type(text)
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert").first).to_have_text("Labels as key=value, please, with commas between.")
    nodes = dialog.get_by_role("textbox", name="Nodes")
    expect(nodes).to_be_focused()
    nodes.press("End")
    page.keyboard.type("=ours")
    page.keyboard.press("Tab")
    expect(dialog.get_by_label("Megabytes kept")).to_have_value("500")
    page.keyboard.press("Tab")
    expect(dialog.get_by_role("checkbox")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.type(CONTEXT)
    page.keyboard.press("Enter")
    run = run_of(page)
    expect(band(page)).to_contain_text(f"Dry run in {CONTEXT}, nothing is bound", timeout=PATIENCE)
    expect(band(page)).to_contain_text("at most 60 bindings a minute")
    expect(band(page)).to_contain_text("on nodes with pool=ours")
    api_server.add(ours("p1"))
    expect(band(page).get_by_role("link", name=re.compile("1 written"))).to_be_visible(timeout=PATIENCE)
    assert node_of(api_server, "p1") == ""
    writes = site.get(f"/api/v1/runs/{run}/schedule/writes/?purpose=bind")["results"]
    assert [each["node"] for each in writes] == ["n2"]

    expect(band(page)).to_contain_text(re.compile(r"\d of 60 a minute"))

    # The dry run is ended into the real thing, on its terms.
    ask = band(page).get_by_role("button", name="Schedule for real…")
    ask.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=f"Schedule for real in {CONTEXT}, with these terms?")
    for words in ("ours, version 1", "at most 60 bindings a minute", "on nodes with pool=ours"):
        expect(dialog).to_contain_text(words)
    typed = dialog.get_by_role("textbox", name=re.compile("^Type the cluster’s name"))
    expect(typed).to_be_focused()
    page.keyboard.type("prd")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_have_text(f"That is not {CONTEXT}.")
    assert site.get("/api/v1/runs/")["count"] == 1
    assert unfit_in(page, ("390 px", "768 px", "1440 px")) == []
    typed.fill(CONTEXT)
    page.keyboard.press("Enter")
    expect(page).not_to_have_url(re.compile(run), timeout=PATIENCE)
    real = run_of(page)
    expect(band(page)).to_contain_text(f"Binds real pods in {CONTEXT}", timeout=PATIENCE)
    site.run_until(run, "the dry run is stopped", lambda found: found["state"] == "stopped")
    until("p1 is bound for real", lambda: node_of(api_server, "p1") == "n2")
    sent = api_server.requests.select(resource="pods/binding")
    assert [each.name for each in sent if not each.dry_run] == ["p1"]
    assert unfit_in(page, ("390 px", "768 px", "1024 px", "1440 px")) == []

    band(page).get_by_role("link", name=re.compile("written")).click()
    facts = page.get_by_role("region", name="How it stands")
    expect(facts.get_by_role("region", name="Lease")).to_contain_text("Held by this run", timeout=PATIENCE)
    expect(facts.get_by_role("region", name="Bindings a minute")).to_contain_text(re.compile(r"\d of 60"))
    assert unfit_in(page, ("390 px", "768 px", "1024 px", "1440 px")) == []
    page.goto(f"{seen.origin}/")
    card = page.get_by_role("listitem").filter(has_text="Schedules")
    expect(card.get_by_role("link", name=CONTEXT)).to_be_visible(timeout=PATIENCE)
    assert unfit_in(page, ("390 px", "768 px", "1024 px", "1440 px")) == []
    card.get_by_role("link", name=re.compile("^r-")).first.click()
    expect(page).to_have_url(re.compile(f"/runs/{real}"), timeout=PATIENCE)
    expect(band(page)).to_contain_text(f"Binds real pods in {CONTEXT}", timeout=PATIENCE)

    page.keyboard.press("Shift+S")
    expect(band(page)).to_contain_text("Stopped by you at", timeout=PATIENCE)
    site.run_until(real, "it is stopped", lambda found: found["state"] == "stopped")
    expect(band(page).get_by_role("link", name="Schedule again…")).to_be_visible()


def test_what_is_missing_is_said_instead_of_the_button(
    api_server: ApiServer, tmp_path: Path, first_start: FirstStart, chromium: Path, built_ui: None, open_page: Opener
) -> None:
    api_server.add(node("n1"))
    token = api_server.user("reader", READER)
    path = api_server.write_kubeconfig(tmp_path / "config", token=token, context=CONTEXT)
    data = tmp_path / "data"
    data.mkdir()
    playground = Playground(first_start.into(data), KUBECONFIG=str(path))
    try:
        site = Site(playground.origin)
        site.open_link(playground.link)
        seen = open_page(site.origin, site.cookies())
        page = seen.go(f"/clusters/{CONTEXT}")
        page.get_by_role("button", name="Connect").click()
        panel = page.get_by_role("region", name="Schedule this cluster")
        expect(panel).to_contain_text(f"{VARIABLE} naming {CONTEXT}", timeout=PATIENCE)
        expect(panel).to_contain_text(re.compile("The credentials lack .*pods/binding"), timeout=PATIENCE)
        expect(panel.get_by_role("button")).to_have_count(0)
        page.close()
    finally:
        playground.process.stop()

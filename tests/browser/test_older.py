"""An older file is imported, pasted or typed, converted to v1, looked at, and used."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from scripts.site import Site
from tests.browser.visits import Visit

POLICY = """\
kind: Policy
apiVersion: v1
predicates:
- name: GeneralPredicates
- name: CheckServiceAffinity
priorities:
- name: MostRequestedPriority
  weight: 7
"""
OLD = "apiVersion: kubescheduler.config.k8s.io/v1beta3\nkind: KubeSchedulerConfiguration\n"


def convert_and_use(page: Page) -> None:
    page.get_by_role("button", name="Convert to v1", exact=True).click()
    drawer = page.get_by_role("dialog", name="Convert an older file to v1")
    dropped = drawer.get_by_role("region", name="Dropped", exact=True)
    expect(dropped).to_contain_text("Line 5")
    expect(dropped).to_contain_text("ServiceAffinity is gone")
    expect(drawer.get_by_role("region", name="Changed", exact=True)).to_contain_text(
        "MostAllocated of NodeResourcesFit"
    )
    expect(drawer.get_by_role("region", name="Carried over", exact=True)).to_contain_text("GeneralPredicates")
    expect(drawer).to_contain_text("added: ")
    drawer.get_by_role("button", name="Use this", exact=True).click()
    expect(drawer).to_have_count(0)


def test_an_imported_policy_is_converted_and_created(site: Site, desk: Visit) -> None:
    page = desk.go("/configurations")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Import", exact=True).click()
    chooser.value.set_files({"name": "our-policy.yaml", "mimeType": "application/yaml", "buffer": POLICY.encode()})
    convert_and_use(page)
    expect(page.get_by_role("button", name="Convert to v1", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="our-policy", exact=True)).to_be_visible()
    made = page.url.partition("/configurations/")[2].partition("?")[0]
    text = site.get(f"/api/v1/configurations/{made}/versions/1/")["text"]
    assert "type: MostAllocated" in text
    assert "weight: 7" in text


@pytest.fixture
def draft(site: Site) -> Any:
    return site.post("/api/v1/configurations/", {"name": "with an older text", "preset": "default"})


def test_an_older_text_in_the_editor_is_converted_with_flags_by_keys_alone(
    site: Site, desk: Visit, draft: dict[str, Any]
) -> None:
    page = desk.go(f"/configurations/{draft['id']}?view=yaml")
    page.set_viewport_size({"width": 390, "height": 844})
    text = page.locator(".cm-content")
    expect(text).to_contain_text("KubeSchedulerConfiguration")
    text.click()
    page.keyboard.press("Control+a")
    # Chromium itself would style what it inserts in place of a selection, which the page does not allow.
    page.keyboard.press("Delete")
    page.keyboard.insert_text(OLD)
    offer = page.get_by_role("button", name="Convert to v1", exact=True)
    expect(offer).to_be_visible()
    offer.focus()
    page.keyboard.press("Enter")
    drawer = page.get_by_role("dialog", name="Convert an older file to v1")
    expect(drawer).to_contain_text("v1beta3 is written as")
    flags = drawer.get_by_role("textbox", name="Flags of kube-scheduler")
    flags.focus()
    page.keyboard.insert_text("--leader-elect=false --v=2")
    page.keyboard.press("Enter")
    expect(drawer.get_by_role("region", name="Dropped", exact=True)).to_contain_text("--v is no configuration")
    assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    use = drawer.get_by_role("button", name="Use this", exact=True)
    use.focus()
    page.keyboard.press("Enter")
    expect(drawer).to_have_count(0)
    expect(text).to_contain_text("leaderElect: false")
    expect(page.get_by_role("button", name="Save…")).to_be_enabled()


def test_flags_are_pasted_and_what_cannot_be_read_is_said(desk: Visit) -> None:
    page = desk.go("/configurations")
    page.get_by_role("button", name="Paste an older file…", exact=True).click()
    drawer = page.get_by_role("dialog", name="Convert an older file to v1")
    given = drawer.get_by_role("textbox", name="Older file or command line")
    given.fill("kind: Pod")
    desk.expect_complaint("422")
    drawer.get_by_role("button", name="Convert", exact=True).click()
    expect(drawer).to_contain_text("Nothing was converted.")
    given.fill("kube-scheduler --scheduler-name=mine --policy-config-file=/etc/policy.json")
    drawer.get_by_role("button", name="Convert", exact=True).click()
    expect(drawer.get_by_role("region", name="Dropped", exact=True)).to_contain_text("/etc/policy.json")
    drawer.get_by_role("button", name="Use this", exact=True).click()
    expect(page.get_by_text("converted.yaml", exact=True)).to_be_visible()

"""Extenders: written by form, and one that is down is explained where somebody looks for a node."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit
from tests.schedweb.engine.worlds import DEFAULT, node, pod
from tests.schedweb.worker.webhook import webhook

#: Nobody listens there.
DOWN = "http://127.0.0.1:1"


def test_an_extender_is_written_by_form_and_what_is_wrong_is_said(site: Site, desk: Visit) -> None:
    made = site.post("/api/v1/configurations/", {"name": "asks a webhook", "preset": "default"})
    page = desk.go(f"/configurations/{made['id']}")
    page.get_by_role("button", name="extenders: 0, change").click()
    drawer = page.get_by_role("dialog", name="Extenders")
    drawer.get_by_role("button", name="Add an extender").click()
    prefix = drawer.get_by_label("urlPrefix")
    expect(prefix).to_have_value("http://127.0.0.1:9876")
    prefix.fill(DOWN)
    drawer.get_by_label("prioritizeVerb").fill("prioritize")
    drawer.get_by_label("weight").focus()
    expect(drawer.get_by_role("status")).to_contain_text("must have a positive weight")
    drawer.get_by_label("weight").fill("5")
    drawer.get_by_label("ignorable").click()
    expect(drawer.get_by_label("ignorable")).to_be_checked()
    expect(drawer.get_by_role("status")).to_have_count(0)
    drawer.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="extenders: 1, change")).to_be_visible()
    page.get_by_role("radio", name="YAML").click()
    written = page.locator(".cm-content")
    expect(written).to_contain_text(re.compile(rf"extenders:\s*- urlPrefix: {DOWN}"))
    for line in ("prioritizeVerb: prioritize", "weight: 5", "ignorable: true"):
        expect(written).to_contain_text(line)


def asked_once(site: Site, name: str, extender: dict[str, Any]) -> str:
    """A run of two nodes in which one pod was tried, with this extender."""
    text = f"{DEFAULT}extenders: {json.dumps([extender])}\n"
    site.post("/api/v1/configurations/", {"name": name, "text": text})
    objects = [node("a"), node("b"), pod("web")]
    snapshot = site.import_snapshot(stages.listed(objects), f"two nodes, {name}")["id"]
    run = stages.start(site, snapshot, stages.configuration(site, name))
    site.command(run, {"type": "step", "what": "cycle"})
    site.run_until(run, "the webhook was asked", lambda seen: seen["attempts"] > 0 and seen["state"] == "paused")
    return run


def test_an_extender_that_is_down_is_explained(site: Site, desk: Visit) -> None:
    extender = {"urlPrefix": DOWN, "filterVerb": "filter", "nodeCacheCapable": True}
    run = asked_once(site, "its webhook is down", extender)
    page = desk.go(f"/runs/{run}/pods/shop/web")
    said = f'Post "{DOWN}/filter": dial tcp 127.0.0.1:1: connect: connection refused'
    expect(page.get_by_role("heading", name=f"The extender at {DOWN} failed: {said}")).to_be_visible()
    expect(page.get_by_text("The pod is tried again after its backoff.")).to_be_visible()
    asked = page.get_by_role("region", name="Extenders", exact=True)
    expect(asked.get_by_role("row").nth(1)).to_contain_text(re.compile(f"{DOWN}filter2.*No reply.*connection refused"))
    expect(asked.get_by_role("region", name=f"Request to {DOWN}, filter", exact=True)).to_contain_text('"name": "web"')
    expect(asked).to_contain_text("There was none.")


def test_an_extender_that_is_slow_is_given_up_and_the_run_goes_on(site: Site, desk: Visit) -> None:
    with webhook() as slow:
        slow.late("/filter")
        extender = {"urlPrefix": slow.url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "1s"}
        run = asked_once(site, "its webhook is slow", extender)
        page = desk.go(f"/runs/{run}/pods/shop/web")
        said = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        expect(
            page.get_by_role("heading", name=f'The extender at {slow.url} failed: Post "{slow.url}/filter": {said}')
        ).to_be_visible()
        expect(page.get_by_text("The pod is tried again after its backoff.")).to_be_visible()
        row = page.get_by_role("region", name="Extenders", exact=True).get_by_role("row").nth(1)
        expect(row).to_contain_text(re.compile(r"No reply.*Client\.Timeout exceeded"))
        # Once it answers, the same run places the pod.
        slow.says("/filter", {"NodeNames": ["a"]})
        page = desk.go(f"/runs/{run}")
        page.get_by_role("button", name="Play", exact=True).click()
        site.run_until(run, "the pod was placed", lambda seen: seen["counts"]["bound"] == 1)
        page = desk.go(f"/runs/{run}/pods/shop/web")
        row = page.get_by_role("region", name="Extenders", exact=True).get_by_role("row").nth(1)
        expect(row).to_contain_text("filter2 → 1")


def test_an_extender_that_names_a_node_that_is_not_there_is_explained(site: Site, desk: Visit) -> None:
    with webhook() as lies:
        lies.says("/filter", {"NodeNames": ["a", "ghost"]})
        extender = {"urlPrefix": lies.url, "filterVerb": "filter", "nodeCacheCapable": True}
        run = asked_once(site, "its webhook lies", extender)
        page = desk.go(f"/runs/{run}/pods/shop/web")
        said = f'extender "{lies.url}" claims a filtered node "ghost" which is not found in the input node list'
        expect(page.get_by_role("heading", name=f"The extender at {lies.url} failed: {said}")).to_be_visible()
        expect(page.get_by_text("The pod is tried again after its backoff.")).to_be_visible()
        asked = page.get_by_role("region", name="Extenders", exact=True)
        expect(asked.get_by_role("region", name=f"Reply of {lies.url}, filter", exact=True)).to_contain_text('"ghost"')

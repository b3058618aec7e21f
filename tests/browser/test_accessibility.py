"""Every page, light and dark, on a desktop and a phone: axe finds nothing serious, nothing scrolls sideways."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from scripts.processes import ROOT
from scripts.site import Site
from tests.browser import stages
from tests.browser.conftest import Opener
from tests.browser.visits import DESKTOP, PHONE, Visit
from tests.schedweb.engine.crowded import CLAIMS, VICTIMS

AXE = ROOT / "frontend/node_modules/axe-core/axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
SIZES: dict[str, ViewportSize] = {"desktop": DESKTOP, "phone": PHONE}
# The theme changes colours and nothing else.
EVERYTHING = {"type": "tag", "values": TAGS}
COLOURS = {"type": "rule", "values": ["color-contrast"]}
RUN_AXE = """async (runOnly) => {
  const found = await axe.run(document, {runOnly, resultTypes: ['violations']});
  const told = (node) => `${node.target.join(' ')}: ${node.failureSummary}`;
  return found.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => ({rule: one.id, help: one.help, nodes: one.nodes.slice(0, 5).map(told)}));
}"""
SIDEWAYS = """() => {
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (over <= 0) return [];
  const isWide = (one) => one.getBoundingClientRect().right > innerWidth + 1;
  const wide = [...document.querySelectorAll('body *')].filter(isWide);
  return [`${over} px`, ...wide.slice(0, 5).map((one) => `${one.tagName}.${one.className}`)];
}"""

Look = Callable[[Page], None]


def shows(text: str) -> Look:
    return lambda page: expect(page.get_by_text(text).first).to_be_visible()


def shows_role(role: Any, name: str) -> Look:
    return lambda page: expect(page.get_by_role(role, name=re.compile(name)).first).to_be_visible()


@pytest.fixture(scope="session")
def addresses(site: Site, cluster_shop_run: str, shop_run: str) -> dict[str, str]:
    made = site.post("/api/v1/configurations/", {"name": "looked at", "preset": "default"})
    runs = {
        name: stages.play_objects(site, name, objects) for name, objects in (("victims", VICTIMS), ("claims", CLAIMS))
    }
    packed = stages.play(
        site, stages.start(site, stages.sample(site, "Three-zone shop"), stages.configuration(site, "Bin-pack"))
    )
    beside = stages.beside_its_cluster(site)
    named = {"packed": packed, "export": cluster_shop_run, "shop": shop_run, "beside": beside}
    return {**named, "own": made["id"], **runs}


PAGES: dict[str, tuple[str, Look]] = {
    "home": ("/", shows_role("button", "^Run Three-zone shop")),
    "runs": ("/runs", shows_role("link", "^Three-zone shop")),
    "run": ("/runs/{shop}", shows("Decide in the inbox")),
    "run with a pod selected": ("/runs/{shop}?pod=data%2Fpostgres-2", shows_role("button", "^Approve")),
    "run, its nodes as a table": ("/runs/{export}?table=true", shows_role("table", "")),
    "run as it was": ("/runs/{export}@30", shows("You look at step")),
    "pods": ("/runs/{export}/pods?column=unschedulable", shows_role("link", "trainer")),
    "pending pod": (
        "/runs/{export}/pods/ml/trainer-9d9cf4ccc-8zklc",
        shows_role("heading", "Insufficient nvidia"),
    ),
    "weights tried": (
        "/runs/{shop}/pods/data/postgres-2?point=Score&trying=true&weights=NodeResourcesFit%3A5",
        shows_role("slider", "^Weight of NodeResourcesFit"),
    ),
    "what would help": (
        "/runs/{export}/pods/staging/ci-runner-7b8b755487-2b4rn",
        shows_role("button", "^Try on a fork"),
    ),
    "capacity": (
        "/runs/{export}/capacity?pod=staging%2Fci-runner-7b8b755487-2b4rn&shape=ip-10-0-1-10",
        shows("pending pods a place"),
    ),
    "pending pod, as a table": (
        "/runs/{export}/pods/ml/trainer-9d9cf4ccc-8zklc?view=table",
        shows_role("link", "ip-10-0-3-11"),
    ),
    "placed pod": ("/runs/{shop}/pods/data/postgres-2?point=Score", shows("chosen")),
    "placed pod, as a table": (
        "/runs/{shop}/pods/data/postgres-2?point=Score&view=table",
        shows_role("columnheader", "raw"),
    ),
    "placed pod, two nodes side by side": (
        "/runs/{shop}/pods/data/postgres-2?point=Score&beside=data-a-1",
        shows_role("heading", "step by step|beside"),
    ),
    "preemption": ("/runs/{victims}/pods/shop/vip?attempt=1&point=PostFilter", shows("budget violated")),
    "victim": ("/runs/{victims}/pods/shop/cheap", shows("why this pod")),
    "preemptions of a run": ("/runs/{victims}?side=preemptions", shows("1 victim")),
    "devices": ("/runs/{claims}/pods/shop/trainer-0?point=Reserve", shows("Decided for its claims")),
    "volumes": ("/runs/{claims}/pods/shop/bound-0", shows("WaitForFirstConsumer")),
    "objects": ("/runs/{claims}/objects", shows("west-1-gpus")),
    "attempts": ("/runs/{victims}/attempts", shows_role("link", "vip$")),
    "where the time goes": ("/runs/{victims}/attempts?view=timing", shows("Half of the cycles")),
    "two attempts": ("/runs/{victims}/pods/shop/vip?against=1", shows_role("heading", "^Attempt 1 ")),
    "real against simulated": ("/runs/{beside}/real", shows("it is not in the snapshot")),
    "nothing known of the real cluster": ("/runs/{export}/real", shows("Nothing is known")),
    "waiting": ("/waiting", shows_role("button", "^Approve postgres-2")),
    "two runs side by side": ("/compare?a={shop}&b={packed}", shows("made the difference")),
    "two runs side by side, as a table": (
        "/compare?a={shop}&b={packed}&view=table",
        shows_role("columnheader", "^Std. deviation"),
    ),
    "configurations": ("/configurations", shows_role("radio", "^Bin-pack")),
    "configuration": ("/configurations/{own}?plugin=NodeResourcesFit", shows("ignoredResourceGroups")),
    "configuration, its feature gates": ("/configurations/{own}", shows("SchedulerPopFromBackoffQ")),
    "configuration, the order at a point": ("/configurations/{own}?point=Score", shows("ImageLocality")),
    "configuration as YAML": ("/configurations/{own}?view=yaml", shows("KubeSchedulerConfiguration")),
    "nothing there": ("/nowhere", shows_role("heading", ".")),
}


def what_is_wrong(page: Page) -> list[str]:
    """With the page as it stands, in every theme and size."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    wrong = []
    for size, viewport in SIZES.items():
        page.set_viewport_size(viewport)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(250)  # colours change within 120 ms
            found = page.evaluate(RUN_AXE, EVERYTHING if theme == "light" else COLOURS)
            wrong += [f"{size}, {theme}: {each}" for each in found]
        wrong += [f"{size} scrolls sideways: {found}" for found in page.evaluate(SIDEWAYS)]
    return wrong


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_in_every_theme_and_size(name: str, addresses: dict[str, str], desk: Visit) -> None:
    path, ready = PAGES[name]
    page = desk.go(path.format(**addresses))
    ready(page)
    assert what_is_wrong(page) == []


def test_the_sign_in_page_is_accessible(site: Site, open_page: Opener) -> None:
    visit = open_page(site.origin)
    page = visit.go("/login")
    expect(page.get_by_role("textbox").first).to_be_visible()
    assert what_is_wrong(page) == []


def test_a_stranger_is_told_how_to_get_in(site: Site, open_page: Opener) -> None:
    visit = open_page(site.origin)
    page = visit.go("/runs")
    expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()
    visit.complaints[:] = [
        complaint for complaint in visit.complaints if "401" not in complaint and "403" not in complaint
    ]


def test_axe_is_installed_and_does_find_things(site: Site, desk: Visit) -> None:
    page = desk.go("/configurations")
    expect(page.get_by_role("heading", name="Configurations")).to_be_visible()
    page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=\"/favicon.svg\">')")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert [found["rule"] for found in page.evaluate(RUN_AXE, EVERYTHING)] == ["image-alt"]

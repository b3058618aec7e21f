"""Every page in every language, light and dark, on a desktop and a phone: axe finds nothing, no words are cut.

In every window between the two it fits, and begins where all others do.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.conftest import Opener
from tests.browser.fits import EDGES, Edges, unfit
from tests.browser.looks import (
    AXE,
    DESK,
    EVERYTHING,
    HAND,
    RUN_AXE,
    WINDOWS,
    in_every_language,
    resize,
    what_is_wrong,
    what_is_wrong_in_any_language,
)
from tests.browser.routes import unvisited
from tests.browser.visits import Visit, visit
from tests.schedweb.engine.crowded import CLAIMS, VICTIMS

Look = Callable[[Page], None]
# As what-if names what it keeps.
LONG_NAME = "What if: NodeResourcesFit off, NodeResourcesBalancedAllocation × 12, PodTopologySpread off"


def shows(text: str) -> Look:
    return lambda page: expect(page.get_by_text(text).first).to_be_visible()


def shows_role(role: Any, name: str) -> Look:
    return lambda page: expect(page.get_by_role(role, name=re.compile(name)).first).to_be_visible()


@pytest.fixture(scope="session")
def addresses(site: Site, cluster_shop_run: str, shop_run: str) -> dict[str, str]:
    made = site.post("/api/v1/configurations/", {"name": LONG_NAME, "preset": "bin-pack"})
    runs = {
        name: stages.play_objects(site, name, objects) for name, objects in (("victims", VICTIMS), ("claims", CLAIMS))
    }
    packed = stages.play(
        site, stages.start(site, stages.sample(site, "Three-zone shop"), stages.configuration(site, LONG_NAME))
    )
    beside = stages.beside_its_cluster(site)
    named = {"packed": packed, "export": cluster_shop_run, "shop": shop_run, "beside": beside}
    return {**named, "own": made["id"], **runs}


PAGES: dict[str, tuple[str, Look]] = {
    "home": ("/", shows_role("button", "^Run Three-zone shop")),
    "runs": ("/runs", shows_role("link", "^Three-zone shop")),
    "run": ("/runs/{shop}", shows("Decide in the inbox")),
    "run, played to its end": ("/runs/{export}", shows_role("heading", "^Nodes")),
    "run with a pod selected": ("/runs/{shop}?pod=data%2Fpostgres-2", shows_role("button", "^Approve")),
    "run, its nodes as a table": ("/runs/{export}?table=true", shows_role("table", "")),
    "run as it was": ("/runs/{export}@30", shows_role("heading", "^Nodes")),
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
    "events, metrics, dump": (
        "/runs/{export}/operators?dump=true",
        shows("The cache has what the cluster has"),
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
    "no shadow": ("/runs/{export}/shadow", shows("This run has no shadow")),
    "no writes": ("/runs/{export}/writes", shows("This run schedules no cluster")),
    "nothing known of the real cluster": ("/runs/{export}/real", shows("Nothing is known")),
    "waiting": ("/waiting", shows_role("button", "^Approve postgres-2")),
    "two runs side by side": ("/compare?a={shop}&b={packed}", shows("made the difference")),
    "two runs side by side, as a table": (
        "/compare?a={shop}&b={packed}&view=table",
        shows_role("columnheader", "^Std. deviation"),
    ),
    "deleted": ("/deleted", shows_role("heading", "^Recently deleted")),
    "storage": ("/storage", shows_role("heading", "^The database has")),
    "clusters": ("/clusters", shows_role("heading", "^Live clusters")),
    "cluster": ("/clusters/lab", shows_role("heading", "^lab")),
    "tokens": ("/tokens", shows("curl -H")),
    "sessions": ("/sessions", shows("this one")),
    "accounts": ("/accounts", shows_role("combobox", "^Role of owner")),
    "audit": ("/audit", shows_role("columnheader", "^To what")),
    "configurations": ("/configurations", shows_role("radio", "^Bin-pack")),
    "configuration": ("/configurations/{own}?plugin=NodeResourcesFit", shows("ignoredResourceGroups")),
    "configuration, its feature gates": ("/configurations/{own}", shows("SchedulerPopFromBackoffQ")),
    "configuration, the order at a point": ("/configurations/{own}?point=Score", shows("ImageLocality")),
    "configuration as YAML": ("/configurations/{own}?view=yaml", shows("KubeSchedulerConfiguration")),
    "nothing there": ("/nowhere", shows_role("heading", ".")),
}


SHORTEST = "zh-CN"
"""What has room for English has room for these words: on a desktop and a phone is enough."""
# One of each page: what it is at other addresses differs in what it shows, not in how it is laid out.
IN_EVERY_WINDOW = {
    "home",
    "runs",
    "run, played to its end",
    "run as it was",
    "run with a pod selected",
    "run, its nodes as a table",
    "pods",
    "pending pod",
    "placed pod",
    "attempts",
    "where the time goes",
    "objects",
    "nothing known of the real cluster",
    "no shadow",
    "no writes",
    "capacity",
    "events, metrics, dump",
    "waiting",
    "two runs side by side",
    "configurations",
    "configuration, its feature gates",
    "configuration as YAML",
    "deleted",
    "storage",
    "clusters",
    "cluster",
    "tokens",
    "sessions",
    "accounts",
    "audit",
}


@pytest.fixture(scope="module")
def edges(browser: Browser, site: Site, cluster_shop_run: str) -> Edges:
    """Of two pages that stand for all: where they begin, and the way to a pod."""
    seen = visit(browser, site.origin, site.cookies())
    page = seen.go("/runs")
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_visible()
    found = Edges()
    for window in WINDOWS:
        resize(page, window)
        found.places[window] = page.evaluate(EDGES)["edge"]
    resize(page, DESK)
    seen.go(f"/runs/{cluster_shop_run}/pods/ml/trainer-9d9cf4ccc-8zklc")
    shows_role("heading", "Insufficient nvidia")(page)
    found.trail = page.evaluate(EDGES)["trail"]
    page.context.close()
    return found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_in_every_language_theme_and_size(
    name: str, addresses: dict[str, str], desk: Visit, edges: Edges
) -> None:
    path, ready = PAGES[name]
    page = desk.go(path.format(**addresses))
    ready(page)

    def fits(page: Page, window: str) -> list[str]:
        return unfit(page, window, edges)

    def look(language: str) -> list[str]:
        if name in IN_EVERY_WINDOW and language != SHORTEST:
            return what_is_wrong(page, colours=language == "en", windows=WINDOWS, also=fits)
        return what_is_wrong(page, colours=language == "en")

    assert in_every_language(page, look) == []


def test_every_route_is_among_these_pages() -> None:
    assert unvisited(path for path, _ in PAGES.values()) == []
    assert unvisited(PAGES[name][0] for name in IN_EVERY_WINDOW) == []


NOBODY = "00000000-0000-0000-0000-000000000000"
MISSING: dict[str, tuple[str, str]] = {
    "run": (f"/runs/{NOBODY}", "This run does not exist"),
    "pod of no run": (f"/runs/{NOBODY}/pods/shop/web", "This run does not exist"),
    "pod": ("/runs/{export}/pods/shop/nobody", "There is no pod shop/nobody"),
    "configuration": (f"/configurations/{NOBODY}", "This configuration does not exist"),
    "no configuration's number": ("/configurations/default", "This configuration does not exist"),
    "version": ("/configurations/{own}?version=99", "Version 99 could not be read"),
    "attempts": ("/runs/{export}/attempts?q=nobody", "No attempt matches"),
    "pods to count": ("/runs/{export}/capacity?pod=shop%2Fnobody", "It could not be counted"),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_not_there_is_said_and_as_accessible(name: str, addresses: dict[str, str], desk: Visit) -> None:
    path, said = MISSING[name]
    page = desk.go(path.format(**addresses))
    expect(page.get_by_text(said).first).to_be_visible()
    expect(page.get_by_text("step 0 now")).to_have_count(0)
    assert what_is_wrong_in_any_language(page) == []
    # What the browser says of the answer.
    desk.expect_complaint("404")


def test_the_sign_in_page_is_accessible(site: Site, open_page: Opener) -> None:
    seen = open_page(site.origin)
    page = seen.go("/login")
    expect(page.get_by_role("textbox").first).to_be_visible()
    assert what_is_wrong(page) == []


def test_a_stranger_is_told_how_to_get_in(site: Site, open_page: Opener) -> None:
    seen = open_page(site.origin)
    page = seen.go("/runs")
    expect(page.get_by_role("heading", name="You are not signed in")).to_be_visible()
    seen.expect_complaint("401|403")


def test_axe_is_installed_and_does_find_things(site: Site, desk: Visit) -> None:
    page = desk.go("/configurations")
    expect(page.get_by_role("heading", name="Configurations")).to_be_visible()
    page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=\"/favicon.svg\">')")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert [found["rule"] for found in page.evaluate(RUN_AXE, EVERYTHING)] == ["image-alt"]


def test_what_does_not_fit_is_found(desk: Visit, edges: Edges) -> None:
    page = desk.go("/configurations")
    expect(page.get_by_role("heading", name="Configurations")).to_be_visible()
    resize(page, HAND)
    page.locator("main").evaluate("""(main) => {
      const button = document.createElement('button');
      button.style.height = '20px';
      button.style.width = '20px';
      main.append(button);
      main.style.marginLeft = '9px';
    }""")
    found = unfit(page, HAND, edges)
    assert [each.partition(" ")[0] for each in found] == ["has", "is", "begins"], found

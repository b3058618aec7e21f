"""A share link: made in the menu of a run, opened by somebody without an account, revoked."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.conftest import Opener
from tests.browser.turns import in_turn
from tests.browser.visits import Visit


def test_a_link_opens_one_run_to_read(site: Site, desk: Visit, open_page: Opener) -> None:
    # A run of its own: nobody has a link to it yet.
    snapshot = stages.import_cluster_shop(site, "cluster-shop to share")
    run = stages.play(site, stages.start(site, snapshot, stages.configuration(site, "Default")))
    page = desk.go(f"/runs/{run}")
    page.get_by_role("button", name=re.compile("^More")).click()
    page.get_by_role("menuitem", name="Share…").click()
    drawer = page.get_by_role("dialog", name="Share this run")
    expect(drawer.get_by_text("Nobody has a link to this run.")).to_be_visible()
    drawer.get_by_label("Name").fill("review")
    drawer.get_by_role("button", name="Create the link").click()
    address = drawer.get_by_label("The link").input_value()
    assert address.startswith(f"{site.origin}/share/")

    guest = open_page(site.origin)
    theirs = guest.go(address.removeprefix(site.origin))
    expect(theirs).to_have_url(re.compile(f"/runs/{run}$"))
    expect(guest.column("Unschedulable")).to_be_visible()
    expect(theirs.get_by_role("navigation", name="Main").get_by_role("link")).to_have_text([re.compile(r"^r-\d{4}$")])
    expect(theirs.locator("body")).not_to_contain_text("review")
    expect(theirs.get_by_role("note")).to_have_text("You are looking at a shared run (read only).")
    expect(theirs.get_by_role("link", name="Scheduling Playground")).to_have_attribute("href", f"/runs/{run}")
    expect(theirs.get_by_role("button", name="Play", exact=True)).to_be_disabled()
    expect(theirs.get_by_text("Live", exact=True)).to_be_visible()
    pod = site.get(f"/api/v1/runs/{run}/pods/?column=unschedulable&limit=1")["results"][0]
    theirs.goto(f"{site.origin}/runs/{run}/pods/{pod['namespace']}/{pod['name']}")
    expect(theirs.get_by_role("region", name="Why is this pod pending")).to_be_visible()
    expect(theirs.get_by_role("heading", name="What would help")).to_have_count(0)

    drawer.get_by_role("button", name="Revoke review").click()
    expect(drawer.get_by_text(re.compile("^revoked"))).to_be_visible()
    # Revoked, the guest's open page is refused whatever it reads next, which the browser complains of.
    theirs.close()
    guest.expect_complaint("403")
    late = open_page(site.origin)
    gone = late.go(address.removeprefix(site.origin))
    expect(gone.get_by_role("alert")).to_contain_text("This share link was revoked on")
    # What the browser says of the page's own status.
    late.expect_complaint("410")


def test_a_visitor_is_offered_nothing_that_is_refused(shop_run: str, site: Site, open_page: Opener) -> None:
    """Every link and every item of the menu is of the run, and what is asked for by hand says where to go instead."""
    made = site.post(f"/api/v1/runs/{shop_run}/share-links/", {"name": "to read", "expires_at": None})
    guest = open_page(site.origin)
    page = guest.go(made["path"])
    expect(guest.column("Waiting on Permit")).to_be_visible()
    expect(page.get_by_text("The clock waits for a person")).to_be_visible()
    here = f"/runs/{shop_run}"
    for address in (here, f"{here}/pods/data/postgres-2?point=Score&trying=true", f"{here}/attempts", f"{here}/real"):
        guest.go(address)
        expect(page.locator("main").get_by_role("heading").first).to_be_visible()
        expect(page.locator("[aria-busy=true]")).to_have_count(0)
        links = page.locator("a[href^='/']").evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
        assert [link for link in links if not link.startswith((here, "/api/v1/runs/"))] == []
        expect(page.locator("main").get_by_role("link", name=re.compile("Inbox|inbox|fork"))).to_have_count(0)
    guest.go(here)
    expect(guest.column("Waiting on Permit")).to_be_visible()
    # The note above the page takes nothing of it away.
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys.get_by_text("Hold the order of lists")).to_be_visible()
    for refused in ("Play", "Pause", "One scheduling cycle", "One extension point", "Search", "Runs"):
        expect(keys.get_by_text(refused, exact=True)).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_role("button", name=re.compile("^More")).click()
    expect(page.get_by_role("menuitem")).to_have_text(
        [
            "Attempts and their time…",
            "Claims, volumes, classes…",
            "Real against simulated…",
            re.compile("YAML$"),
            re.compile("JSON$"),
        ]
    )
    for refused in (
        "/",
        "/runs",
        "/waiting",
        "/configurations",
        f"{here}/capacity",
        f"{here}/operators",
        f"/compare?a={shop_run}",
    ):
        guest.go(refused)
        expect(page.get_by_role("heading", name="A share link shows one run")).to_be_visible()
    page.get_by_role("link", name=re.compile(r"^Open r-\d{4}$")).click()
    expect(page).to_have_url(re.compile(f"{here}$"))


def test_no_visitor_reads_the_name_of_a_link_in_any_window(shop_run: str, site: Site, open_page: Opener) -> None:
    made = site.post(f"/api/v1/runs/{shop_run}/share-links/", {"name": "for the auditors", "expires_at": None})
    guest = open_page(site.origin)
    page = guest.go(made["path"])
    for turn in in_turn(guest, f"/runs/{shop_run}"):
        expect(page.get_by_role("note")).to_have_text(turn.named("exchange", "youLookAtASharedRun"))
        expect(guest.page.locator("[data-column=waiting]")).to_contain_text("postgres")
        assert "auditors" not in page.content()

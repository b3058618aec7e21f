"""A share link: made in the menu of a run, opened by somebody without an account, revoked."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from scripts.site import Site
from tests.browser.conftest import Opener
from tests.browser.visits import Visit


def test_a_link_opens_one_run_to_read(cluster_shop_run: str, site: Site, desk: Visit, open_page: Opener) -> None:
    page = desk.go(f"/runs/{cluster_shop_run}")
    page.get_by_role("button", name=re.compile("^More")).click()
    page.get_by_role("menuitem", name="Share…").click()
    drawer = page.get_by_role("dialog", name="Share this run")
    expect(drawer.get_by_text("Nobody has a link to this run.")).to_be_visible()
    drawer.get_by_label("Name").fill("review")
    drawer.get_by_role("button", name="Make the link").click()
    address = drawer.get_by_label("The link").input_value()
    assert address.startswith(f"{site.origin}/share/")

    guest = open_page(site.origin)
    theirs = guest.go(address.removeprefix(site.origin))
    expect(theirs).to_have_url(re.compile(f"/runs/{cluster_shop_run}$"))
    expect(guest.column("Unschedulable")).to_be_visible()
    expect(theirs.get_by_role("navigation", name="Main").get_by_role("link")).to_have_text(["review"])
    expect(theirs.get_by_role("button", name="Play", exact=True)).to_be_disabled()
    expect(theirs.get_by_text("Live", exact=True)).to_be_visible()
    pod = site.get(f"/api/v1/runs/{cluster_shop_run}/pods/?column=unschedulable&limit=1")["results"][0]
    theirs.goto(f"{site.origin}/runs/{cluster_shop_run}/pods/{pod['namespace']}/{pod['name']}")
    expect(theirs.get_by_role("region", name="Why is this pod pending")).to_be_visible()
    expect(theirs.get_by_role("heading", name="What would help")).to_have_count(0)

    drawer.get_by_role("button", name="Revoke review").click()
    expect(drawer.get_by_text(re.compile("^revoked"))).to_be_visible()
    # Revoked, the guest's open page is refused whatever it reads next, which the browser complains of.
    theirs.close()
    guest.complaints[:] = [each for each in guest.complaints if "403" not in each]
    late = open_page(site.origin)
    gone = late.go(address.removeprefix(site.origin))
    expect(gone.get_by_role("alert")).to_contain_text("The share link “review” was revoked on")
    # What the browser says of the page's own status.
    late.complaints[:] = [each for each in late.complaints if "410" not in each]

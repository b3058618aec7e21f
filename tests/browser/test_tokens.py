"""Access tokens on their page: made, copied once, used, revoked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser.visits import Visit


def told(site: Site, token: str) -> str:
    """The role that a script with this token has, or why it is refused."""
    request = Request(f"{site.origin}/api/v1/me/", headers={"Authorization": f"Bearer {token}"})
    try:
        with urlopen(request, timeout=60) as response:
            return str(json.loads(response.read())["role"])
    except HTTPError as error:
        return str(json.loads(error.read())["error"]["message"])


def test_a_token_is_made_used_and_revoked(site: Site, desk: Visit) -> None:
    page = desk.go("/")
    page.get_by_role("link", name="Signed in as owner, admin. Your account").click()
    page.get_by_role("navigation", name="Your account").get_by_role("link", name="Access tokens").click()
    expect(page.get_by_text("You have no tokens.")).to_be_visible()
    page.get_by_role("textbox", name="Name", exact=True).fill("nightly")
    page.get_by_label("Role").select_option("viewer")
    page.keyboard.press("Enter")
    token = page.get_by_label("The token nightly").input_value()
    row = page.get_by_role("listitem").filter(has_text="nightly")
    expect(row).to_contain_text("never used")
    assert told(site, token) == "viewer"

    page.reload()
    expect(row).to_contain_text("last used")
    assert token not in page.content()
    row.get_by_role("button", name="Revoke nightly").click()
    expect(page.get_by_text("You have no tokens.")).to_be_visible()
    assert told(site, token) == "This bearer token is not valid."


@pytest.fixture
def taken(site: Site) -> Iterator[None]:
    made = site.post("/api/v1/tokens/", {"name": "taken"})
    yield
    site.ask("DELETE", f"/api/v1/tokens/{made['id']}/")


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize("width", [390, 1440])
def test_a_name_that_is_taken_is_said_and_nothing_is_lost(desk: Visit, width: int) -> None:
    # What the browser says of the refusal.
    desk.expect_complaint("400")
    desk.page.set_viewport_size({"width": width, "height": 800})
    page = desk.go("/tokens")
    page.get_by_role("textbox", name="Name", exact=True).fill("taken")
    page.get_by_role("button", name="Create the token").click()
    expect(page.get_by_role("alert")).to_contain_text("owner has a token named taken already.")
    expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("taken")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

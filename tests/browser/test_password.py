"""People give themselves a password, and another one: where else they were logged in, they are not any more."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from scripts.site import Site
from tests.browser.conftest import Opener
from tests.browser.visits import Visit

FIRST, SECOND = "correct horse battery", "staple under the moon"


@pytest.fixture
def link(site: Site) -> str:
    made = site.post("/api/v1/accounts/", {"username": "pola", "role": "viewer"})
    return str(made["link"]["path"])


def log_in(page: Page, password: str) -> None:
    page.get_by_label("Name", exact=True).fill("pola")
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Log in", exact=True).click()


def changes(desk: Visit, old: str | None, new: str) -> None:
    page = desk.page
    if old is not None:
        page.get_by_label("Password now").fill(old)
    page.get_by_label("New password").fill(new)
    page.get_by_role("button", name="Change the password" if old else "Set the password").click()


def test_a_first_password_is_set_and_changed(site: Site, link: str, open_page: Opener) -> None:
    desk, phone = open_page(site.origin), open_page(site.origin)
    for each in (desk, phone):
        # What the browser says of a refusal.
        each.expect_complaint("400|401|403|4401")
    desk.go(link)
    page = desk.go("/sessions")
    changes(desk, None, FIRST)
    status = page.get_by_role("status").filter(has_text="Your password was changed.")
    expect(status).to_contain_text("no other session")

    log_in(phone.go("/login"), FIRST)
    expect(phone.page.get_by_role("link", name="Signed in as pola, viewer.")).to_be_visible()
    changes(desk, "a guess", SECOND)
    expect(page.get_by_role("alert")).to_contain_text("This is not your password now.")
    expect(page.get_by_label("New password")).to_have_value(SECOND)
    page.get_by_label("Show what I type").check()
    expect(page.get_by_label("New password")).to_have_attribute("type", "text")
    changes(desk, FIRST, SECOND)
    expect(status).to_contain_text("1 other session has ended.")
    expect(page.get_by_label("New password")).to_have_value("")
    expect(page.get_by_label("New password")).to_have_attribute("type", "password")

    phone.go("/sessions")
    expect(phone.page.get_by_role("heading", name="You are not signed in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Where you are logged in")).to_be_visible()

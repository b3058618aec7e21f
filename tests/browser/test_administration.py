"""An admin gives somebody an account, changes and takes what it may, and reads who did what; they look after their
sessions themselves."""

from __future__ import annotations

import csv
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from scripts.site import Site
from tests.browser.conftest import Opener
from tests.browser.visits import Visit

NAME = "gilda"


def nav(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Your account").get_by_role("link", name=name, exact=True)


def is_shut_out(visit: Visit) -> None:
    visit.go("/sessions")
    expect(visit.page.get_by_role("heading", name="You are not signed in")).to_be_visible()


def test_an_account_from_its_first_link_to_its_end(site: Site, desk: Visit, open_page: Opener) -> None:
    laptop, phone = open_page(site.origin), open_page(site.origin)
    for each in (laptop, phone):
        # What the browser says of a session that has ended.
        each.expect_complaint("401|403|4401")
    page = desk.go("/")
    page.get_by_role("link", name="Signed in as owner, admin. Your account").click()
    nav(page, "Accounts").click()
    page.get_by_role("textbox", name="Name", exact=True).fill(NAME)
    page.get_by_role("combobox", name="Role", exact=True).select_option("operator")
    page.get_by_role("button", name="Create the account").click()
    link = page.get_by_label(f"The login link of {NAME}").input_value()
    row = page.get_by_role("listitem").filter(has_text=NAME)
    expect(row).to_contain_text("never logged in")

    laptop.page.goto(link)
    expect(laptop.page.get_by_role("link", name=f"Signed in as {NAME}, operator.")).to_be_visible()
    with page.expect_response(lambda answer: answer.request.method == "PATCH") as changed:
        page.get_by_label(f"Role of {NAME}").select_option("viewer")
    assert changed.value.status == 200
    laptop.page.reload()
    expect(laptop.page.get_by_role("link", name=f"Signed in as {NAME}, viewer.")).to_be_visible()

    they_end_a_session_of_theirs(row, laptop, phone)

    page.reload()
    expect(row).to_contain_text("1 session,")
    row.get_by_role("button", name=f"Disable {NAME}").click()
    question = row.get_by_role("group", name=f"Disable {NAME}")
    expect(question).to_contain_text(f"This ends the sessions of {NAME}")
    question.get_by_role("button", name="Disable", exact=True).click()
    expect(row.get_by_text("disabled", exact=True)).to_be_visible()
    expect(row).to_contain_text("0 sessions")
    is_shut_out(laptop)

    nav(page, "Audit log").click()
    the_audit_log_tells_all_of_it(page)


def they_end_a_session_of_theirs(row: Locator, laptop: Visit, phone: Visit) -> None:
    row.get_by_role("button", name=f"Another login link for {NAME}").click()
    phone.page.goto(row.get_by_label(f"The login link of {NAME}").input_value())
    expect(phone.page.get_by_role("link", name=f"Signed in as {NAME}, viewer.")).to_be_visible()
    page = laptop.page
    page.get_by_role("link", name=f"Signed in as {NAME}, viewer.").click()
    sessions = page.get_by_role("region", name="Where you are logged in").get_by_role("listitem")
    expect(sessions).to_have_count(2)
    expect(sessions.filter(has_text="this one")).to_have_count(1)
    sessions.get_by_role("button", name="End ").click()
    expect(sessions).to_have_count(1)
    is_shut_out(phone)
    page.reload()
    expect(sessions).to_have_count(1)


def the_audit_log_tells_all_of_it(page: Page) -> None:
    rows = page.get_by_role("row").filter(has=page.get_by_role("cell"))
    page.get_by_label("What", exact=True).select_option("account")
    page.get_by_label("To what, or where from").fill(NAME)
    # Newest first.
    expect(rows).to_contain_text(
        ["Disable an account", "Make a login link", "Change a role", "Make a login link", "Create an account"],
    )
    expect(rows).to_have_count(5)
    expect(rows.filter(has_text="Change a role")).to_contain_text("role: viewer")
    for each in rows.all():
        expect(each).to_contain_text("owner")
        expect(each).to_contain_text(NAME)
    with page.expect_download() as taken:
        page.get_by_role("link", name="CSV").click()
    kept = list(csv.DictReader(Path(taken.value.path()).read_text(encoding="utf-8-sig").splitlines()))
    assert [each["action"].removeprefix("account.") for each in kept] == ["disable", "link", "role", "link", "create"]

    page.get_by_label("What", exact=True).select_option("Everything")
    page.get_by_label("To what, or where from").fill("")
    page.get_by_label("Who", exact=True).fill(NAME)
    expect(rows).to_contain_text(["End a session", "Log in", "Log in"])
    page.get_by_label("Result").select_option("refused")
    expect(page.get_by_text("Nothing of the kind was done or tried.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Who", exact=True)).to_have_value(NAME)
    expect(page.get_by_label("Result")).to_have_value("refused")

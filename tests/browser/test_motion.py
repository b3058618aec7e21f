"""What moves on the board: a card that changes its queue, unless somebody asked for less motion."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from scripts.site import Site
from tests.browser import stages
from tests.browser.visits import Visit
from tests.schedweb.engine.worlds import node, pod

#: Copies of cards on their way, as they are added.
WATCH = """() => {
  window.__travelled = [];
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const one of addedNodes) {
      if (one.ariaHidden === "true" && one.style.position === "fixed") window.__travelled.push(one.textContent);
    }
  }).observe(document.body, { childList: true });
}"""


def stepped(page: Page, desk: Visit) -> list[str]:
    """What has travelled since the page was opened, after one cycle more."""
    active = desk.column("Active").get_by_role("link").first
    left = int(active.inner_text())
    page.keyboard.press("s")
    expect(active).to_have_text(str(left - 1))
    travelled: list[str] = page.evaluate("window.__travelled")
    return travelled


def test_a_card_slides_to_its_new_queue(desk: Visit, site: Site) -> None:
    pods = [pod(name, "100m") for name in ("web", "cart", "stock", "mail")]
    snapshot = site.import_snapshot(stages.listed([node("a", "4"), *pods]), "four pods that move")["id"]
    run = stages.start(site, snapshot, stages.configuration(site, "Default, every node"))
    page = desk.go(f"/runs/{run}")
    expect(desk.column("Active")).to_be_visible()
    page.evaluate(WATCH)
    assert stepped(page, desk) == []
    page.emulate_media(reduced_motion="no-preference")
    # Places are remembered from now on at the latest, so what is seen to move for certain is the card after this one.
    stepped(page, desk)
    page.evaluate("window.__travelled.length = 0")
    first = desk.column("Active").locator("[data-card]").first.get_attribute("title")
    assert first is not None
    stepped(page, desk)
    # The copy comes with a picture after the one that has the new count.
    page.wait_for_function("() => window.__travelled.length > 0")
    [travelled] = page.evaluate("window.__travelled")
    assert first in travelled

"""What a page promises in every window: controls have names, a finger finds them, all pages begin at one place.

And the way to them is drawn in one style.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from playwright.sync_api import Page

from tests.browser.looks import HAND, SIDEWAYS, lasting, resize

TOUCH: Final = 44
# Controls that are seen and can be used, without those inside running text; a link in a list or a table is its row's.
NAMELESS: Final = """() => {
  const CONTROLS = 'button, a[href], input:not([type=hidden]), select, textarea, [role=slider], [role=tab]';
  const named = (one) => (one.getAttribute('aria-label') ?? '').trim() !== '' || one.hasAttribute('aria-labelledby')
    || (one.labels?.length ?? 0) > 0 || one.textContent.trim() !== '' || (one.title ?? '') !== '';
  const isSeen = (one) => one.checkVisibility({visibilityProperty: true});
  const seen = [...document.querySelectorAll(CONTROLS)].filter(isSeen);
  return seen.filter((one) => !named(one)).map((one) => one.outerHTML.slice(0, 160));
}"""
SMALL: Final = """(least) => {
  const CONTROLS = 'button, input:not([type=hidden]):not([type=range]), select, textarea, [role=slider], [role=tab]';
  const box = (one) => {
    return (one.closest('label') ?? one).getBoundingClientRect();
  };
  const found = new Set();
  for (const one of document.querySelectorAll(CONTROLS)) {
    if (!one.checkVisibility({visibilityProperty: true}) || one.closest('[class*=srOnly]') !== null) continue;
    const {width, height} = box(one);
    const isTicked = one.type === 'checkbox';
    if (width === 0 || (height >= least - 0.5 && (!isTicked || width >= least - 0.5))) continue;
    found.add(`${Math.round(width)} × ${Math.round(height)} px: ${one.outerHTML.slice(0, 140)}`);
  }
  return [...found].slice(0, 12);
}"""
# Where a page begins, below the bar at the top, and how the way to it is drawn: one place and one style for all.
EDGES: Final = """() => {
  const left = (one) => Math.round(one.getBoundingClientRect().left);
  const main = document.querySelector('main');
  const heads = [...main.querySelectorAll('h1, nav')].filter((one) => one.checkVisibility());
  const crumbs = main.querySelector('nav[class*=crumbs]');
  const isTrail = crumbs !== null && crumbs.compareDocumentPosition(main.querySelector('h1')) & 4;
  const {fontSize, lineHeight, color} = isTrail ? getComputedStyle(crumbs) : {};
  const separators = isTrail ? crumbs.querySelectorAll('svg').length > 0 : true;
  return {edge: Math.min(...heads.map(left)), trail: isTrail ? [fontSize, lineHeight, color, separators].join() : ''};
}"""


@dataclass
class Edges:
    """Of pages that begin at one place and draw the way to them in one style."""

    places: dict[str, int] = field(default_factory=dict)
    """By window: where they begin, in points from its left."""
    trail: str = ""

    def differ(self, page: Page, window: str) -> list[str]:
        seen = page.evaluate(EDGES)
        found = []
        if seen["edge"] != self.places[window]:
            found.append(f"begins at {seen['edge']}, not {self.places[window]}")
        if seen["trail"] not in ("", self.trail):
            found.append(f"draws its way as {seen['trail']}, not {self.trail}")
        return found


def unfit(page: Page, window: str, edges: Edges | None = None) -> list[str]:
    """What is wrong with the page as it stands, in this window.

    What scripts draw follows the width of the window some frames later; what is wrong for good stays wrong.
    """
    for _ in range(20):
        found = [f"has no name: {each}" for each in page.evaluate(NAMELESS)]
        if window == HAND:
            found += [f"is hard to touch: {each}" for each in page.evaluate(SMALL, TOUCH)]
        if edges is not None:
            found += edges.differ(page, window)
        if not found:
            break
        page.wait_for_timeout(100)
    return found


def unfit_in(page: Page, windows: Iterable[str]) -> list[str]:
    """In these windows, and where it scrolls sideways."""
    found = []
    for window in windows:
        resize(page, window)
        found += [f"{window} scrolls sideways: {each}" for each in lasting(page, SIDEWAYS)]
        found += [f"{window}: {each}" for each in unfit(page, window)]
    return found

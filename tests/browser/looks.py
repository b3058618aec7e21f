"""What a page is held against as it stands: axe, nothing wider than the window, no words cut off.

Sizes and themes are changed in place. The language is changed by the picker: the address keeps the view, and what was
read in English has to come back in the other language before it is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final

from playwright.sync_api import Page, ViewportSize, expect

from scripts.processes import ROOT
from tests.browser.visits import DESKTOP, PHONE

Look = Callable[[Page, str], list[str]]
LANGUAGES: Final = ("en", "uk", "zh-CN")
AXE: Final = ROOT / "frontend/node_modules/axe-core/axe.min.js"
TAGS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
DESK: Final = "1440 px"
HAND: Final = "390 px"
ZOOMED: Final = "200 %"
#: A window at 200 % is one of half as many points, each of two pixels of the device.
WINDOWS: Final[dict[str, ViewportSize]] = {
    HAND: PHONE,
    "768 px": {"width": 768, "height": 1024},
    "1024 px": {"width": 1024, "height": 768},
    DESK: DESKTOP,
    ZOOMED: {"width": 720, "height": 450},
    "680 px": {"width": 680, "height": 844},
}
READ: Final = (DESK, HAND)
"""Where axe reads, and words may not be cut."""
# The theme changes colours and nothing else, the language everything but colours.
EVERYTHING: Final = {"runOnly": {"type": "tag", "values": TAGS}, "colours": True}
COLOURS: Final = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, "colours": True}
WORDS: Final = EVERYTHING | {"colours": False}
WORDS_IN: Final = {"uk": HAND, "zh-CN": DESK}
"""Where axe reads a language other than English, which it reads everywhere: structure is the same in all. The longest
words are read where there is least room; the shortest, which make the smallest targets, where nobody touches them: for
fingers fits.py measures.
"""
# Of every impact. Rules of good practice about landmarks, which are not WCAG's, take what floats over a page for a part
# of it: the header of a drawer for a second banner, a menu for text outside of landmarks.
RUN_AXE: Final = """async ({runOnly, colours, within}) => {
  const enabled = document.querySelector('[role=dialog], [role=menu]') === null;
  const rules = {'landmark-no-duplicate-banner': {enabled}, 'landmark-unique': {enabled}, region: {enabled}};
  if (!colours) rules['color-contrast'] = {enabled: false};
  // Style sheets, which no rule that is enabled asks for, are not parsed once more.
  const preload = {assets: ['media']};
  const found = await axe.run(within ?? document, {runOnly, rules, preload, resultTypes: ['violations']});
  const told = (node) => `${node.target.join(' ')}: ${node.failureSummary}`;
  return found.violations.map((one) => ({rule: one.id, help: one.help, nodes: one.nodes.slice(0, 5).map(told)}));
}"""
SIDEWAYS: Final = """() => {
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (over <= 0) return [];
  const clips = (box) => box !== document.body && getComputedStyle(box).overflowX !== 'visible';
  const isClipped = (one) => {
    let box = one.parentElement;
    while (box !== document.documentElement && !clips(box)) box = box.parentElement;
    return box !== document.documentElement;
  };
  const isWide = (one) => one.getBoundingClientRect().right > document.documentElement.clientWidth && !isClipped(one);
  const wide = [...document.querySelectorAll('body *')].filter(isWide);
  return [`${over} px`, ...wide.slice(0, 5).map((one) => `${one.tagName}.${one.className}`)];
}"""
# Words are cut when a box around them hides what does not fit and neither it nor a box around it has them as a title.
CUT: Final = """() => {
  const found = new Set();
  const SKIPPED = '.srOnly, [class*=VisuallyHidden], svg, script, style, option, .cm-editor';
  const told = (box) => `${box.tagName.toLowerCase()}.${String(box.className).split(' ').slice(0, 2).join('.')}`;
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const text = words.currentNode.data.trim();
    const parent = words.currentNode.parentElement;
    if (text === '' || parent.closest(SKIPPED) || !parent.checkVisibility({visibilityProperty: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(words.currentNode);
    const {left, right, top, bottom, width} = range.getBoundingClientRect();
    if (width <= 1) continue;
    for (let box = parent; box !== null && box !== document.body; box = box.parentElement) {
      const {overflowX, overflowY, position, display, clipPath} = getComputedStyle(box);
      if (display === 'inline' || display === 'contents') continue;
      if (position === 'fixed' || clipPath !== 'none') break;
      if ([overflowX, overflowY].some((one) => one === 'auto' || one === 'scroll')) break;
      const edge = box.getBoundingClientRect();
      const aside = Math.max(right - edge.right, edge.left - left);
      const below = Math.max(bottom - edge.bottom, edge.top - top);
      const hides = overflowX !== 'visible' && aside > 1.5 || overflowY !== 'visible' && below > 3;
      const spills = box === parent && overflowX === 'visible' && aside > 2;
      if (spills || hides && box.closest('[title]') === null) {
        const by = `${Math.round(aside)}, ${Math.round(below)} px`;
        found.add(`${told(box)} ${hides ? 'cuts' : 'is left by'} "${text.slice(0, 60)}" (${by})`);
      }
      if (hides || spills) break;
    }
  }
  return [...found].slice(0, 8);
}"""
# What follows from a new size comes within a few pictures: the parts of the page, what they measure, what that draws.
DRAWN: Final = """(shape) => new Promise((done) => {
  let pictures = 0, before = null;
  const look = () => {
    const now = shape();
    pictures = now === before && document.querySelector('[aria-busy=true]') === null ? pictures + 1 : 0;
    before = now;
    if (pictures >= 4) done(now); else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""
# Lists make as many rows as their room shows, which depends on the length of words.
SHAPE: Final = """() => ['h1', 'h2', 'h3', 'th', 'button', 'section'].map((tag) =>
  [...document.querySelectorAll(`main ${tag}`)].filter((one) => one.checkVisibility() && one.closest('li') === null)
    .length).join()"""


@cache
def texts(language: str, area: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((ROOT / f"frontend/src/languages/{language}/{area}.json").read_text("utf-8"))
    return found


def settled(page: Page) -> None:
    page.wait_for_function("() => document.querySelector('[aria-busy=true]') === null")


def drawn(page: Page) -> Any:
    """The page's shape once several pictures in a row had the same."""
    return page.evaluate(f"({DRAWN})({SHAPE})")


def change_language(page: Page, language: str) -> None:
    """By the picker, until the page has as many headings, cells and buttons as before."""
    shape = drawn(page)
    page.locator("main").evaluate("(frame) => { frame.dataset.before = ''; }")
    page.get_by_role("banner").locator("select").filter(visible=True).select_option(language)
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator("main:not([data-before])")).to_be_visible()
    page.wait_for_function(f"(shape) => ({SHAPE})() === shape", arg=shape)
    drawn(page)
    # The picker keeps the focus, and with it every single key.
    page.locator("main").evaluate("(main) => main.focus({preventScroll: true})")


def lasting(page: Page, measure: str) -> list[str]:
    """What is found again and again: of another size a page learns by an event, and draws itself anew some pictures
    later where the machine is busy."""
    found: list[str] = page.evaluate(measure)
    for _ in range(4):
        if not found:
            break
        page.wait_for_timeout(250)
        again = page.evaluate(measure)
        found = [each for each in found if each in again]
    return found


def resize(page: Page, window: str) -> None:
    size = WINDOWS[window]
    page.set_viewport_size(size)
    if window == ZOOMED:
        chromium = page.context.new_cdp_session(page)
        chromium.send("Emulation.setDeviceMetricsOverride", {**size, "deviceScaleFactor": 2, "mobile": False})
    drawn(page)


def read_by_axe(page: Page, window: str, *, colours: bool, opened: str | None) -> list[str]:
    """In light, and in dark where ``colours`` are looked at."""
    language = page.evaluate("document.documentElement.lang")
    if not colours and WORDS_IN.get(language, window) != window:
        return []
    rules = EVERYTHING if colours else WORDS | {"within": opened}
    wrong = [f"{window}, light: {each}" for each in page.evaluate(RUN_AXE, rules)]
    if colours:
        page.emulate_media(color_scheme="dark")
        drawn(page)
        wrong += [f"{window}, dark: {each}" for each in page.evaluate(RUN_AXE, COLOURS | {"within": opened})]
        page.emulate_media(color_scheme="light")
    return wrong


def what_is_wrong(
    page: Page,
    *,
    colours: bool = True,
    opened: str | None = None,
    windows: Iterable[str] = READ,
    also: Look = lambda page, window: [],
) -> list[str]:
    """With the page, light and on a desktop, as it stands in these windows: as axe reads it on a desktop and a phone,
    in both themes; without ``colours`` in one theme and as WORDS_IN says.

    ``opened``: a selector of what lies over a page that other tests look at by itself. Axe reads both in English and
    light, and else what lies over it. ``also``: what is wrong with it besides.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    wrong = []
    for window in windows:
        resize(page, window)
        if window in READ:
            wrong += read_by_axe(page, window, colours=colours, opened=opened)
            wrong += [f"{window}: {found}" for found in lasting(page, CUT)]
        wrong += [f"{window} scrolls sideways: {found}" for found in lasting(page, SIDEWAYS)]
        wrong += [f"{window}: {found}" for found in also(page, window)]
    resize(page, DESK)
    return wrong


def in_every_language(page: Page, look: Callable[[str], list[str]]) -> list[str]:
    """What ``look`` finds, given the language; English, in which the page stands, first."""
    wrong = []
    for language in LANGUAGES:
        if page.locator("html").get_attribute("lang") != language:
            change_language(page, language)
        wrong += [f"{language}, {each}" for each in look(language)]
    return wrong


def what_is_wrong_in_any_language(page: Page) -> list[str]:
    """English in full. The colours of a page are the same in all languages, its words and their room are not."""
    return in_every_language(page, lambda language: what_is_wrong(page, colours=language == "en"))

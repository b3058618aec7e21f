"""Languages and sizes of the window in turn: what a point promises is looked at in all of either, at the price of five.

A window at 200 % is one of half as many points, each of two pixels of the device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from playwright.sync_api import Page, ViewportSize

from tests.browser.looks import LANGUAGES, drawn, texts
from tests.browser.visits import Visit

ZOOMED: Final = "200 %"
WINDOWS: Final[dict[str, ViewportSize]] = {
    "390 px": {"width": 390, "height": 844},
    "768 px": {"width": 768, "height": 1024},
    "1024 px": {"width": 1024, "height": 768},
    "1440 px": {"width": 1440, "height": 900},
    ZOOMED: {"width": 720, "height": 450},
}
HOLE: Final = re.compile(r"\{\{(\w+)[^}]*\}\}|</?\w+>")


def reads(language: str, area: str, key: str, given: dict[str, str]) -> str:
    """A regular expression of this text, in all its plural forms; what is not given for its places may be anything."""
    known = texts(language, area)
    forms = [text for name, text in known.items() if name == key or re.fullmatch(f"{re.escape(key)}_[a-z]+", name)]
    assert forms, f"no text {key} in {area}"
    return f"(?:{'|'.join(filled(form, given) for form in forms)})"


def filled(form: str, given: dict[str, str]) -> str:
    pattern, end = "", 0
    for hole in HOLE.finditer(form):
        put = given.get(hole[1] or "")
        pattern += re.escape(form[end : hole.start()]) + (".*" if put is None else re.escape(put))
        end = hole.end()
    return pattern + re.escape(form[end:])


@dataclass(frozen=True)
class Turn:
    language: str
    window: str

    @property
    def is_phone(self) -> bool:
        return self.window == "390 px"

    def says(self, area: str, key: str, **given: str) -> re.Pattern[str]:
        """Somewhere in what is looked at."""
        return re.compile(reads(self.language, area, key, given))

    def named(self, area: str, key: str, **given: str) -> re.Pattern[str]:
        """All of it."""
        return re.compile(f"^{reads(self.language, area, key, given)}$")


EVERY: Final = [Turn(language, window) for language, window in product(LANGUAGES, WINDOWS)]
#: Every language and every window once.
TURNS: Final = [Turn(LANGUAGES[(place + 1) % len(LANGUAGES)], window) for place, window in enumerate(WINDOWS)]


def resize(page: Page, window: str) -> None:
    size = WINDOWS[window]
    page.set_viewport_size(size)
    if window == ZOOMED:
        chromium = page.context.new_cdp_session(page)
        chromium.send("Emulation.setDeviceMetricsOverride", {**size, "deviceScaleFactor": 2, "mobile": False})
    drawn(page)


def in_turn(visit: Visit, path: str, turns: Sequence[Turn] = TURNS) -> Iterator[Turn]:
    """The page of this path, opened anew in each turn."""
    for turn in turns:
        separator = "&" if "?" in path else "?"
        visit.page.set_viewport_size(WINDOWS[turn.window])
        visit.go(f"{path}{separator}lang={turn.language}")
        visit.page.locator(f"html[lang={turn.language}] main h1").first.wait_for()
        resize(visit.page, turn.window)
        yield turn

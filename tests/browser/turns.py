"""Languages and windows in turn: what a point promises is looked at in all of either, at the price of five."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from tests.browser.looks import DESK, HAND, LANGUAGES, WINDOWS, ZOOMED, resize, texts
from tests.browser.visits import Visit

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
        return self.window == HAND

    def says(self, area: str, key: str, **given: str) -> re.Pattern[str]:
        """Somewhere in what is looked at."""
        return re.compile(reads(self.language, area, key, given))

    def named(self, area: str, key: str, **given: str) -> re.Pattern[str]:
        """All of it."""
        return re.compile(f"^{reads(self.language, area, key, given)}$")


TAKEN: Final = (HAND, "768 px", "1024 px", DESK, ZOOMED)
EVERY: Final = [Turn(language, window) for language, window in product(LANGUAGES, TAKEN)]
#: Every language and every window once.
TURNS: Final = [Turn(LANGUAGES[(place + 1) % len(LANGUAGES)], window) for place, window in enumerate(TAKEN)]


def in_turn(visit: Visit, path: str, turns: Sequence[Turn] = TURNS) -> Iterator[Turn]:
    """The page of this path, opened anew in each turn."""
    for turn in turns:
        separator = "&" if "?" in path else "?"
        visit.page.set_viewport_size(WINDOWS[turn.window])
        visit.go(f"{path}{separator}lang={turn.language}")
        visit.page.locator(f"html[lang={turn.language}] main h1").first.wait_for()
        resize(visit.page, turn.window)
        yield turn

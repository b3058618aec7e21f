"""One person's page: what the browser complains of while it is open, and the words the tests look for on it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Response, ViewportSize, expect

PATIENCE_MILLISECONDS = 90_000
"""What comes is seen at once; only what never comes takes that long. On a machine with more to do than two processors
can, a page has taken longer than half a minute to be drawn in another language."""
DESKTOP: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}

expect.set_options(timeout=PATIENCE_MILLISECONDS)


@dataclass
class Visit:
    page: Page
    origin: str
    heard: list[str] = field(default_factory=list)
    expected: list[re.Pattern[str]] = field(default_factory=list)

    @property
    def complaints(self) -> list[str]:
        """What the browser complained of until now, but for what the test expects."""
        return [each for each in self.heard if not any(pattern.search(each) for pattern in self.expected)]

    def expect_complaint(self, pattern: str) -> None:
        """Complaints that match are no failure, whenever they come: a page may ask again until it is closed."""
        self.expected.append(re.compile(pattern))

    def go(self, path: str) -> Page:
        self.page.goto(self.origin + path, wait_until="load")
        return self.page

    def column(self, title: str, count: int | None = None) -> Locator:
        """A column of the queue board, with that many pods if a number is given."""
        wanted = r"\d[\d,]*" if count is None else f"{count:,}"
        return self.page.get_by_role("region", name=re.compile(rf"^{title}, {wanted} pods?$"))

    def count_in(self, title: str) -> int:
        label = self.column(title).get_attribute("aria-label") or ""
        return int(re.sub(r"\D", "", label.removeprefix(title)))

    def play(self, speed: str = "Max") -> None:
        chosen = self.page.get_by_role("radio", name=speed, exact=True)
        chosen.click()
        expect(chosen).to_be_checked()
        self.page.get_by_role("button", name="Play", exact=True).click()


def profile(browser: Browser, **options: Any) -> BrowserContext:
    """An empty one; ``options`` are those of a context."""
    context = browser.new_context(**({"viewport": DESKTOP, "reduced_motion": "reduce"} | options))
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    return context


def visit(browser: Browser, origin: str, cookies: dict[str, str], **options: Any) -> Visit:
    context = profile(browser, **options)
    sign_in(context, origin, cookies)
    return watched(context.new_page(), origin)


def sign_in(context: BrowserContext, origin: str, cookies: dict[str, str]) -> None:
    """With exactly these cookies."""
    context.clear_cookies()
    if cookies:
        context.add_cookies([{"name": name, "value": value, "url": origin} for name, value in cookies.items()])


def remember_nothing(seen: Visit) -> None:
    """What pages of its profile kept in the browser's storage is gone; its cookies stay."""
    chromium = seen.page.context.new_cdp_session(seen.page)
    chromium.send("Storage.clearDataForOrigin", {"origin": seen.origin, "storageTypes": "local_storage"})
    chromium.detach()


def another(seen: Visit) -> Visit:
    """A further page of the same profile, which has fetched already what both need."""
    return watched(seen.page.context.new_page(), seen.origin)


def watched(page: Page, origin: str) -> Visit:
    seen = Visit(page, origin)

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            seen.heard.append(f"{message.text} ({message.location.get('url', '')})")

    def on_response(response: Response) -> None:
        if response.status >= 500:
            seen.heard.append(f"{response.status} {response.request.method} {response.url}")

    seen.page.on("console", on_console)
    seen.page.on("pageerror", lambda error: seen.heard.append(str(error)))
    seen.page.on("response", on_response)
    return seen

"""A playground per worker for browser tests, a Chromium per module, and pages on which any complaint fails the test.

Chromium lives no longer than a module: Playwright's loop runs in this thread meanwhile, which asynchronous tests and
Django's database of other modules would not bear.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from scripts.processes import ROOT, Playground
from scripts.site import Site
from tests.browser import stages
from tests.browser.stages import playground_in
from tests.browser.visits import Visit, profile, remember_nothing, sign_in, visit, watched
from tests.first_start import FirstStart

BUILT = ROOT / "frontend" / "dist" / "index.html"
# Pages of tests are closed before what V8 optimises has paid for itself; without it, they take a seventh less time.
QUICKLY_USED = "--js-flags=--no-turbofan --no-maglev"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", QUICKLY_USED]
PICTURES = ROOT / "test-results"
HERE = Path(__file__).parent
LOOKS = {"test_accessibility", "test_connection", "test_dialogs", "test_layout"}
"""Modules that go through many pages: about as long as all others together."""

Opener = Callable[..., Visit]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Two workers play them, each with a playground of its own; all in one would be what is left at the end."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("looks" if item.path.stem in LOOKS else "flows"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and report.failed and isinstance(item, pytest.Function):
        found: dict[str, Any] = item.funcargs
        for number, seen in enumerate(found.get("opened", ())):
            PICTURES.mkdir(exist_ok=True)
            picture = PICTURES / f"{item.name}-{number}.png"
            seen.page.screenshot(path=picture)
            report.sections.append(("what was on screen", f"{seen.page.url}\n{picture}"))
    return report


@pytest.fixture(scope="session")
def built_ui() -> None:
    if not BUILT.exists():
        pytest.skip("frontend/dist is missing, `make setup` builds it: the browser tests did not run")


@pytest.fixture(scope="session")
def playground(
    chromium: Path, built_ui: None, tmp_path_factory: pytest.TempPathFactory, first_start: FirstStart
) -> Iterator[Playground]:
    started = playground_in(first_start.into(tmp_path_factory.mktemp("playground")))
    try:
        yield started
    finally:
        started.process.stop()


@pytest.fixture(scope="session")
def site(playground: Playground) -> Site:
    """The same person over HTTP, to set the stage for what is looked at in the browser."""
    visitor = Site(playground.origin)
    visitor.open_link(playground.link)
    return visitor


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def signed_in(browser: Browser) -> Iterator[BrowserContext]:
    """One profile for all desks of a module: what it has fetched and compiled of the UI serves the next test, too."""
    context = profile(browser)
    yield context
    context.close()


@pytest.fixture
def opened() -> Iterator[list[Visit]]:
    """Every page of a test; what the browser complained of on any of them fails it."""
    visits: list[Visit] = []
    yield visits
    complaints = [complaint for seen in visits for complaint in seen.complaints]
    assert complaints == []


@pytest.fixture
def open_page(browser: Browser, opened: list[Visit]) -> Iterator[Opener]:
    """``open_page(origin, cookies, **of the context)``: a page of a new, empty profile."""
    contexts: list[BrowserContext] = []

    def opener(origin: str, cookies: dict[str, str] | None = None, **options: Any) -> Visit:
        seen = visit(browser, origin, cookies or {}, **options)
        opened.append(seen)
        contexts.append(seen.page.context)
        return seen

    yield opener
    for context in contexts:
        context.close()


@pytest.fixture
def desk(signed_in: BrowserContext, opened: list[Visit], site: Site) -> Iterator[Visit]:
    """A signed-in page on a desktop that remembers nothing of the test before."""
    seen = watched(signed_in.new_page(), site.origin)
    opened.append(seen)
    remember_nothing(seen)
    sign_in(signed_in, site.origin, site.cookies())
    yield seen
    signed_in.clear_permissions()
    for page in signed_in.pages:
        page.close()


@pytest.fixture(scope="session")
def cluster_shop_run(site: Site) -> str:
    """The export, played to its end with the default configuration. For looking only."""
    snapshot = stages.import_cluster_shop(site, "cluster-shop")
    return stages.play(site, stages.start(site, snapshot, stages.configuration(site, "Default")))


@pytest.fixture(scope="session")
def shop_run(site: Site) -> str:
    """The three-zone sample, stopped where two pods wait for a person. For looking only."""
    configured = stages.configuration(site, "Default + approvals")
    return stages.play(site, stages.start(site, stages.sample(site, "Three-zone shop"), configured))

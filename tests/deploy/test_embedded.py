"""The embedded mode as `make run` starts it: one command, no service, a link that works once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.main_flow import link_in, play_the_main_flow
from tests.deploy.processes import INHERITED, Process, free_port
from tests.deploy.site import Site, eventually


class Playground:
    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        own = {name: os.environ[name] for name in INHERITED if name in os.environ}
        own |= {"HOST": "127.0.0.1", "PORT": str(self.port), "PLAYGROUND_DATA": str(folder), "PYTHONUNBUFFERED": "1"}
        self.process = Process("playground", [sys.executable, "manage.py", "playground"], own, folder / "log")

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def printed(self) -> str:
        def look() -> str | None:
            assert self.process.is_running(), self.process.output()
            text = self.process.output()
            return text if "token" in text else None

        return eventually("the link is printed", look)


@pytest.fixture
def playground(tmp_path: Path) -> Iterator[Playground]:
    started = Playground(tmp_path)
    try:
        yield started
    finally:
        started.process.stop()


def test_the_main_flow_without_any_service(playground: Playground) -> None:
    printed = playground.printed()
    assert link_in(printed).startswith(f"{playground.origin}/")
    play_the_main_flow(Site(playground.origin), printed, mode="embedded")


def test_the_link_works_once_and_nothing_is_open_without_it(playground: Playground) -> None:
    link = link_in(playground.printed())
    assert Site(playground.origin).ask("GET", "/api/v1/runs/").status in (401, 403)
    Site(playground.origin).open_link(link)
    late = Site(playground.origin)
    late.ask("GET", link.removeprefix(playground.origin))
    assert late.ask("GET", "/api/v1/runs/").status in (401, 403)


@pytest.mark.parametrize("only", [{"REDIS_URL": "redis://127.0.0.1:6379/0"}, {"DATABASE_URL": "postgresql://x@y/z"}])
def test_only_one_of_the_two_addresses_is_refused_with_a_sentence(tmp_path: Path, only: dict[str, str]) -> None:
    own = {name: os.environ[name] for name in INHERITED if name in os.environ}
    own |= {"PLAYGROUND_DATA": str(tmp_path), "PORT": str(free_port()), **only}
    process = Process("playground", [sys.executable, "manage.py", "playground"], own, tmp_path / "log")
    try:
        assert process.child.wait(60) != 0
    finally:
        process.stop()
    assert "REDIS_URL" in process.output()
    assert "DATABASE_URL" in process.output()
    assert "Traceback" not in process.output()

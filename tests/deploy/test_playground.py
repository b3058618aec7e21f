"""The product as `make run` starts it: one command, a link that works once; embedded, or with both addresses set."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.processes import Playground, Process, bare_environment, free_port, link_in
from scripts.site import Site
from tests.conftest import Services
from tests.deploy.main_flow import play_the_main_flow


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


@pytest.mark.services
def test_with_both_addresses_it_starts_web_and_worker(services: Services, tmp_path: Path) -> None:
    started = Playground(tmp_path, REDIS_URL=services.redis_url, DATABASE_URL=services.database_url)
    try:
        play_the_main_flow(Site(started.origin), started.printed(), mode="distributed")
    finally:
        started.process.stop()


def test_the_link_works_once_and_nothing_is_open_without_it(playground: Playground) -> None:
    link = link_in(playground.printed())
    assert Site(playground.origin).ask("GET", "/api/v1/runs/").status in (401, 403)
    Site(playground.origin).open_link(link)
    late = Site(playground.origin)
    late.ask("GET", link.removeprefix(playground.origin))
    assert late.ask("GET", "/api/v1/runs/").status in (401, 403)


@pytest.mark.parametrize("only", [{"REDIS_URL": "redis://127.0.0.1:6379/0"}, {"DATABASE_URL": "postgresql://x@y/z"}])
def test_only_one_of_the_two_addresses_is_refused_with_a_sentence(tmp_path: Path, only: dict[str, str]) -> None:
    own = bare_environment()
    own |= {"PLAYGROUND_DATA": str(tmp_path), "PORT": str(free_port()), **only}
    process = Process("playground", [sys.executable, "manage.py", "playground"], own, tmp_path / "log")
    try:
        assert process.child.wait(60) != 0
    finally:
        process.stop()
    assert "REDIS_URL" in process.output()
    assert "DATABASE_URL" in process.output()
    assert "Traceback" not in process.output()

"""The product as `make run` starts it: one command, a link that works once; embedded, or with both addresses set."""

from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.processes import ROOT, Playground, Process, bare_environment, free_port, link_in
from scripts.services import Services
from scripts.site import Site, eventually
from tests.deploy.crowd import listen_through_a_silence, listen_while_redis_is_emptied
from tests.deploy.main_flow import play_the_main_flow
from tests.first_start import FirstStart


@pytest.fixture
def playground(tmp_path: Path, first_start: FirstStart) -> Iterator[Playground]:
    started = Playground(first_start.into(tmp_path))
    try:
        yield started
    finally:
        started.process.stop()


def test_the_main_flow_without_any_service(tmp_path: Path) -> None:
    """From a folder in which nothing is, as at the very first start."""
    assert list(tmp_path.iterdir()) == []
    playground = Playground(tmp_path)
    try:
        printed = playground.printed()
        assert link_in(printed).startswith(f"{playground.origin}/")
        play_the_main_flow(Site(playground.origin), printed, mode="embedded")
    finally:
        playground.process.stop()


@pytest.mark.services
def test_with_both_addresses_it_starts_web_and_worker(services: Services, tmp_path: Path) -> None:
    """And its browsers hear what happens after a silence, and after Redis forgot them."""
    started = Playground(tmp_path, REDIS_URL=services.redis_url, DATABASE_URL=services.database_url)
    try:
        site = Site(started.origin)
        play_the_main_flow(site, started.printed(), mode="distributed")
        listen_through_a_silence(site)
        listen_while_redis_is_emptied(site, services.redis_url)
    finally:
        started.process.stop()


def test_the_link_works_once_and_nothing_is_open_without_it(playground: Playground) -> None:
    link = link_in(playground.printed())
    assert Site(playground.origin).ask("GET", "/api/v1/runs/").status in (401, 403)
    Site(playground.origin).open_link(link)
    late = Site(playground.origin)
    late.ask("GET", link.removeprefix(playground.origin))
    assert late.ask("GET", "/api/v1/runs/").status in (401, 403)


def test_another_link_is_for_the_port_on_which_the_server_listens(tmp_path: Path, first_start: FirstStart) -> None:
    """Given on the command line, so that no variable of the other command says it."""
    port = free_port()
    here = {name: value for name, value in bare_environment().items() if name not in ("HOST", "PORT")}
    here |= {"PLAYGROUND_DATA": str(first_start.into(tmp_path)), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "manage.py", "playground", "--host", "0.0.0.0", "--port", str(port)]

    def another() -> subprocess.CompletedProcess[str]:
        ask = [sys.executable, "manage.py", "login_link"]
        return subprocess.run(ask, cwd=ROOT, env=here, capture_output=True, text=True, timeout=120, check=True)

    process = Process("playground", command, here, tmp_path / "log")
    try:
        eventually("the link is printed", lambda: "token" in process.output() or None)
        asked = another()
        assert asked.stdout.startswith(f"http://127.0.0.1:{port}/login?token=")
        assert asked.stderr == ""
        Site(f"http://127.0.0.1:{port}").open_link(asked.stdout.strip())
        process.child.kill()
        process.child.wait(60)
    finally:
        process.stop()
    # Its note is still there; nobody answers.
    asked = another()
    assert asked.stdout.startswith("http://127.0.0.1:8000/login?token=")
    assert f"No server of {tmp_path} runs here now" in asked.stderr


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
    assert not list(tmp_path.glob("*.sqlite3*")), "it was refused before a database was made"


def start_another(folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = bare_environment() | {"PLAYGROUND_DATA": str(folder), "PORT": str(free_port()), **more}
    command = [sys.executable, "manage.py", "playground"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_second_one_on_the_same_folder_is_sent_to_the_first(playground: Playground, tmp_path: Path) -> None:
    playground.printed()
    second = start_another(tmp_path)
    assert second.returncode == 1
    assert "is running already" in second.stderr
    link = link_in(second.stderr)
    assert link.startswith(f"{playground.origin}/")
    assert Site(playground.origin).open_link(link)["role"] == "admin"


def test_a_second_one_names_no_address_that_nobody_serves_yet(tmp_path: Path) -> None:
    with (tmp_path / "playground.lock").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second = start_another(tmp_path)
    assert second.returncode == 1
    said = second.stderr.strip().removeprefix("CommandError: ")
    assert said == f"Another playground of {tmp_path} is starting or ending; it prints its own link."


def test_after_it_was_killed_another_one_starts(tmp_path: Path, first_start: FirstStart) -> None:
    killed = Playground(first_start.into(tmp_path))
    killed.printed()
    killed.process.signal(signal.SIGKILL)
    killed.process.child.wait()
    again = Playground(tmp_path)
    try:
        assert Site(again.origin).open_link(again.link)["role"] == "admin"
    finally:
        again.process.stop()


def test_a_folder_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    refused = start_another(taken)
    assert refused.returncode == 1
    assert refused.stderr.strip() == (
        f"The data folder {taken} cannot be used: it is no folder. PLAYGROUND_DATA names another one."
    )


def test_a_broken_database_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "playground.sqlite3").mkdir()
    refused = start_another(tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.startswith(
        f"CommandError: The data folder {tmp_path} cannot be used: unable to open database"
    )


def test_a_port_that_is_no_number_is_a_sentence(tmp_path: Path) -> None:
    refused = start_another(tmp_path, PORT="eighty")
    assert (refused.returncode, refused.stderr.strip()) == (1, "PORT must be a number, not 'eighty'.")

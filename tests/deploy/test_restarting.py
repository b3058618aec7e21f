"""Everything is restarted, one process after the other, under a run that plays: nobody who asks is refused, runs are
handed over, sockets are told to come back."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import websockets

from schedweb.serving import answers
from scripts.compose import read_compose
from scripts.debian import NGINX
from scripts.deployment import Deployment
from scripts.processes import Process, free_port
from scripts.services import Services
from scripts.site import Answer, Site, eventually
from tests.deploy.test_proxy import Proxied, make_certificate, start_proxy
from tests.schedweb.worker.test_takeover import VARIABLES, Table

pytestmark = [pytest.mark.services, pytest.mark.skipif(NGINX.find() is None, reason=NGINX.skipped)]
log = logging.getLogger(__name__)
SERVICE_RESTART: Final = 1012
"""The close code that makes browsers come back (frontend/src/live/socket.ts)."""
GONE_SECONDS: Final = 15
"""Patience with a process that was told to end: what stops containers has ten seconds."""


@dataclass
class Caller:
    """Somebody who reads the run and sends commands, one after the other, without a second try."""

    site: Site
    run: str
    refused: list[tuple[str, Answer]] = field(default_factory=list)
    accepted: list[str] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    """Seconds between two moves of the run, as it is read."""
    ended: threading.Event = field(default_factory=threading.Event)

    def call(self) -> None:
        position, moved = -1, time.monotonic()
        for verb in itertools.cycle(["node_cordon", "node_uncordon"]):
            if self.ended.wait(0.05):
                return
            seen = self.ask("GET", f"/api/v1/runs/{self.run}/")
            if seen is not None and seen["position"] != position:
                self.gaps.append(time.monotonic() - moved)
                position, moved = seen["position"], time.monotonic()
            receipt = self.ask("POST", f"/api/v1/runs/{self.run}/commands/", {"type": verb, "name": "node-5"})
            if receipt is not None:
                self.accepted.append(receipt["id"])

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        try:
            answer = self.site.ask(method, path, body)
        except OSError as error:
            answer = Answer(0, str(error))
        if answer.status in (200, 202):
            return answer.body
        self.refused.append((path, answer))
        return None


class Behind:
    """Two web processes behind a proxy, and two workers."""

    def __init__(self, deployed: Deployment, folder: Path, login: str) -> None:
        """``login``: the path of its owner's link."""
        self.deployed, self.folder, self.login = deployed, folder, login
        self.proxy: Process | None = None

    def begin(self) -> None:
        deployed, folder = self.deployed, self.folder
        port = free_port()
        self.origin = f"https://localhost:{port}"
        self.ports = {1: deployed.port, 2: free_port()}
        certificate = make_certificate(folder)
        self.proxy = start_proxy(folder, port, list(self.ports.values()), certificate)
        for copy in (1, 2):
            self.start("worker", copy)
            self.start("web", copy)
        proxied = Proxied(self.origin, None, folder, certificate)  # type: ignore[arg-type]
        self.tls = proxied.tls
        self.site = proxied.site()
        self.site.open_link(self.origin + self.login)

    def start(self, name: str, copy: int) -> Process:
        port = self.ports[copy] if name == "web" else None
        process = self.deployed.start(
            name, copy=copy, port=port, more={"PUBLIC_URL": self.origin, "TRUSTED_PROXIES": "127.0.0.1"}
        )

        def is_there() -> bool | None:
            return (answers(f"http://127.0.0.1:{port}") if port else " ready." in process.output()) or None

        eventually(f"{name} is there", is_there)
        return process

    def restart(self, name: str, copy: int) -> int:
        """What the old process ended with."""
        old = self.deployed.running[name if copy == 1 else f"{name}-{copy}"]
        # As a container's process hears it: alone.
        old.child.send_signal(signal.SIGTERM)
        status = old.child.wait(GONE_SECONDS)
        self.start(name, copy)
        return status

    def stop(self) -> None:
        if self.proxy is not None:
            self.proxy.stop()
        self.deployed.stop()


@pytest.fixture
def services(migrated_services: Services) -> Services:
    return migrated_services


@pytest.fixture
def behind(services: Services, tmp_path: Path) -> Iterator[Behind]:
    found = Behind(Deployment(read_compose(VARIABLES), services, tmp_path), tmp_path, services.login)
    try:
        found.begin()
        yield found
    finally:
        found.stop()


async def closed_with(behind: Behind, run: str, told: threading.Event) -> int | None:
    """The code that a browser's socket is closed with."""
    cookies = "; ".join(f"{name}={value}" for name, value in behind.site.cookies().items())
    address = f"{behind.origin.replace('https', 'wss')}/ws/"
    headers = {"Cookie": cookies, "Origin": behind.origin}
    async with websockets.connect(address, ssl=behind.tls, additional_headers=headers, proxy=None) as socket:
        await socket.send(json.dumps({"type": "subscribe", "run": run, "language": "en"}))
        told.set()
        with contextlib.suppress(websockets.ConnectionClosed):
            while True:
                await socket.recv()
        return socket.close_code


def test_a_rolling_restart_of_everything(behind: Behind) -> None:
    table = Table(behind.site)
    run = table.start(10)
    table.until_attempts(run, 5)
    caller = Caller(behind.site, run)
    asking = threading.Thread(target=caller.call)
    codes: list[int | None] = []
    connected = threading.Event()
    browser = threading.Thread(target=lambda: codes.append(asyncio.run(closed_with(behind, run, connected))))
    waits: list[Answer] = []
    waiting = threading.Thread(
        target=lambda: waits.append(behind.site.ask("GET", f"/api/v1/runs/{run}/wait/?seconds=50"))
    )
    asking.start()
    browser.start()
    try:
        assert connected.wait(30)
        waiting.start()
        ended = [behind.restart("web", 1), behind.restart("web", 2)]
        waiting.join(30)
        ended += [behind.restart("worker", 1), behind.restart("worker", 2)]
    finally:
        caller.ended.set()
        asking.join(60)
    browser.join(30)
    log.warning("longest without a move: %.2f s, %d commands", max(caller.gaps), len(caller.accepted))
    assert not caller.refused
    assert [answer.status for answer in waits] == [200]
    assert codes == [SERVICE_RESTART]
    assert [status for status in ended if status not in (0, -signal.SIGTERM)] == []
    assert not any("took over" in line for line in table.notices(run)), "it was handed over each time"
    for command in caller.accepted:
        eventually("it is done", applied(behind.site, f"/api/v1/runs/{run}/journal/{command}/"))


def applied(site: Site, path: str) -> Callable[[], bool | None]:
    return lambda: site.get(path)["status"] == "applied" or None

"""Whoever asks whether the broker is there is not kept waiting by one that stands still."""

from __future__ import annotations

import socket

import pytest

from schedweb.operation import readiness
from schedweb.operation.readiness import UNREACHABLE, Broker


def test_a_broker_that_stands_still_is_given_up_and_not_asked_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a frozen Redis: the kernel takes the connection, and nobody answers. The product's own connections wait
    20 s for it."""
    monkeypatch.setattr(readiness, "SECONDS", 0.2)
    monkeypatch.setattr(readiness, "KEPT_SECONDS", 60.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        url = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        broker = Broker()
        with pytest.raises(UNREACHABLE), broker.reached(url):
            pass
        assert waiting(silent) >= 1
        with pytest.raises(UNREACHABLE), broker.reached(url):
            pass
        assert waiting(silent) == 0
    monkeypatch.setattr(readiness, "KEPT_SECONDS", 0.0)
    with broker.reached() as connection:
        assert connection.connected


def waiting(server: socket.socket) -> int:
    """Takes the connections that came."""
    found = 0
    while True:
        try:
            server.accept()[0].close()
        except BlockingIOError:
            return found
        found += 1

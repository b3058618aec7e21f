"""Addresses that tell what reached them, and runs in which pods wait for a person."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import pytest
from pytest_django import Settings

from schedweb.notices.targets import targets
from tests.schedweb.runs.conftest import Game, _short_waits, game, operator, snapshot, version

__all__ = ["_short_waits", "game", "operator", "snapshot", "version"]
KEY: Final = b"0123456789abcdef0123456789abcdef"
SECRET: Final = f"whsec_{base64.b64encode(KEY).decode()}"
PATH: Final = "/hook/T0KEN-of-the-address"


@dataclass
class Received:
    url: str
    statuses: list[int] = field(default_factory=list)
    """Of the next answers; then 200."""
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def bodies(self) -> list[Any]:
        return [json.loads(body) for _, body in self.requests]


def is_signed(headers: dict[str, str], body: bytes, key: bytes = KEY) -> bool:
    """As https://www.standardwebhooks.com has receivers do it."""
    content = b".".join([headers["webhook-id"].encode(), headers["webhook-timestamp"].encode(), body])
    version, _, code = headers["webhook-signature"].partition(",")
    expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return version == "v1" and hmac.compare_digest(code, expected)


@pytest.fixture
def receiver() -> Iterator[Received]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.requests.append(({key.lower(): each for key, each in self.headers.items()}, body))
            self.send_response(made.statuses.pop(0) if made.statuses else 200)
            self.send_header("Location", made.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Received(f"http://127.0.0.1:{server.server_address[1]}{PATH}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield made
        server.shutdown()


@contextmanager
def mail_server() -> Iterator[tuple[int, list[str]]]:
    """(port, what was delivered). It takes every mail."""
    delivered: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 stand-in\r\n")
            for line in self.rfile:
                word = line[:4].upper()
                if word == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    delivered.append(b"".join(iter(self.rfile.readline, b".\r\n")).decode())
                self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 fine\r\n")
                if word == b"QUIT":
                    return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], delivered
        server.shutdown()


@pytest.fixture
def telling(settings: Settings) -> Iterator[Callable[..., None]]:
    """Sets the environment's fields, as whoever starts the server does."""

    def tell(**fields: Any) -> None:
        settings.ENVIRONMENT = replace(settings.ENVIRONMENT, public_url="https://playground.example.com", **fields)
        targets.cache_clear()

    yield tell
    targets.cache_clear()


@pytest.fixture
def waiting(game: Game) -> Game:
    """asks-1 and asks-2 wait."""
    game.command("play", speed="max")
    game.play()
    return game

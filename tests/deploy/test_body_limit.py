"""Bodies that are too large are cut while they arrive, by the real server."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from scripts.processes import Playground
from scripts.site import Site
from tests.first_start import FirstStart

CHUNK: Final = b"x" * 65_536
MEGA: Final = 1024 * 1024


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory, first_start: FirstStart) -> Iterator[Playground]:
    folder = first_start.into(tmp_path_factory.mktemp("playground"))
    (folder / "tmp").mkdir()
    started = Playground(folder, TMPDIR=str(folder / "tmp"))
    try:
        started.printed()
        yield started
    finally:
        started.process.stop()


class Sender:
    """Sends a body of which the server is not told the size, until it is refused or has sent all."""

    def __init__(self, playground: Playground, path: str, **headers: str) -> None:
        self.playground = playground
        self.sent = 0
        self.socket = socket.create_connection(("127.0.0.1", playground.port), timeout=30)
        lines = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{playground.port}", "Transfer-Encoding: chunked"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())

    def send(self, size: int) -> str:
        """The answer, from its status on."""
        # A server that has answered closes the connection, whatever is still on its way.
        with contextlib.suppress(ConnectionError):
            while self.sent < size:
                self.socket.sendall(b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK))
                self.sent += len(CHUNK)
            self.socket.sendall(b"0\r\n\r\n")
        answer = b""
        with contextlib.suppress(ConnectionError):
            while part := self.socket.recv(65_536):
                answer += part
        self.socket.close()
        return answer.decode()


def held(playground: Playground) -> int:
    """Bytes in files that the process has open and nobody else can see, as Django keeps bodies."""
    links = Path(f"/proc/{playground.process.child.pid}/fd").iterdir()
    sizes = []
    for link in links:
        with contextlib.suppress(OSError):
            if "(deleted)" in str(link.readlink()):
                sizes.append(os.stat(link).st_size)
    return sum(sizes)


@pytest.mark.parametrize("path", ["/login", "/api/v1/imports/", "/api/v1/runs/", "/nowhere", "/static/x"])
def test_who_is_not_signed_in_fills_no_disk(playground: Playground, path: str) -> None:
    sender = Sender(playground, path, Content_Type="multipart/form-data; boundary=x")
    answer = sender.send(300 * MEGA)
    # What is on its way in the sockets' buffers, and little more.
    assert sender.sent < 16 * MEGA
    assert held(playground) < MEGA
    # The refusal itself may be lost: the connection ends while the rest arrives.
    assert answer == "" or answer.startswith("HTTP/1.1 413 ")
    assert Site(playground.origin).ask("GET", "/healthz").status == 200


@pytest.mark.parametrize("path", ["/login", "/api/v1/imports/"])
@pytest.mark.parametrize("forged", [{}, {"Cookie": "playground_session=forged"}, {"Authorization": "Bearer forged"}])
def test_an_announced_size_is_refused_with_a_sentence(
    playground: Playground, path: str, forged: dict[str, str]
) -> None:
    with socket.create_connection(("127.0.0.1", playground.port), timeout=30) as connection:
        head = [f"POST {path} HTTP/1.1", f"Host: 127.0.0.1:{playground.port}", "Content-Length: 300000000"]
        head += [f"{name}: {value}" for name, value in forged.items()]
        connection.sendall(("\r\n".join(head) + "\r\n\r\n").encode())
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    head_text, _, body = answer.decode().partition("\r\n\r\n")
    assert head_text.startswith("HTTP/1.1 413 ")
    text = json.loads(body)["error"]["message"] if path.startswith("/api/") else body
    assert text == "A request of somebody who is not signed in has at most 64 KiB."


def test_who_is_signed_in_sends_what_the_product_takes(playground: Playground) -> None:
    site = Site(playground.origin)
    site.open_link(playground.link)
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [], "more": "x" * (20 * MEGA)})
    assert site.ask("POST", "/api/v1/imports/", {"text": text}).status == 201
    late = site.ask("POST", "/api/v1/configurations/", {"name": "x", "text": "x" * (65 * MEGA)})
    assert (late.status, late.body["error"]["code"]) == (413, "too_large")
    assert late.body["error"]["message"] == "This request has more than 64 MB, which is the most here."

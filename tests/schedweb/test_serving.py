"""The web process: where it cannot say where it listens, and what is on its way when it ends."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from django.core.management.base import CommandError

from schedweb import web_server
from schedweb.web_server import Server, serve
from scripts.processes import free_port
from scripts.site import eventually


@pytest.mark.django_db(transaction=True)
def test_a_folder_that_takes_no_note_is_a_sentence(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "serving.json").mkdir()
    with pytest.raises(CommandError, match=f"The data folder {tmp_path} cannot be used: Is a directory."):
        serve("127.0.0.1", 0, lambda: None)


async def says_well(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"well"})


def is_closed(port: int) -> bool | None:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return None


def test_a_request_that_is_on_its_way_when_the_server_ends_is_answered(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(web_server, "UNDER_WAY_SECONDS", 60.0)
    monkeypatch.setattr(web_server, "STOPPING", threading.Event())
    port, ready = free_port(), threading.Event()
    server = Server(uvicorn.Config(says_well, port=port, lifespan="off", log_level="warning"), ready.set)
    thread = threading.Thread(target=server.run)
    thread.start()
    assert ready.wait(60)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n")
        server.should_exit = True
        eventually("nobody else is taken", lambda: is_closed(port))
        connection.sendall(b"Connection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(1000), b""))
    assert answer.startswith(b"HTTP/1.1 200"), answer
    assert b"well" in answer
    thread.join(60)
    assert not thread.is_alive()

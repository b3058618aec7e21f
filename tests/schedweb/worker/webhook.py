"""An extender that a test scripts: a small HTTP server on this machine."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[dict[str, Any]], tuple[int, bytes]]


class Webhook:
    """Answers per path; ``calls`` has every request in order."""

    def __init__(self, server: ThreadingHTTPServer) -> None:
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        self.replies: dict[str, Reply] = {}
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[Message] = []
        """Of the requests, in the same order."""
        self.release = threading.Event()
        """What ``late`` waits for."""

    def says(self, path: str, reply: Any) -> None:
        self.replies[path] = lambda body: (200, json.dumps(reply).encode())

    def late(self, path: str) -> None:
        """Never in time."""

        def reply(body: dict[str, Any]) -> tuple[int, bytes]:
            self.release.wait(60)
            return 200, b"{}"

        self.replies[path] = reply

    def pods(self, path: str) -> list[str]:
        """Whom it was asked about there."""
        return [body["Pod"]["metadata"]["name"] for asked, body in self.calls if asked == path]


@contextmanager
def webhook(tls: ssl.SSLContext | None = None) -> Iterator[Webhook]:
    """``tls``: it speaks HTTPS."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.headers.append(self.headers)
            made.calls.append((self.path, body))
            reply = made.replies.get(self.path)
            if reply is None:  # as a process that dies in the middle
                self.close_connection = True
                return
            status, content = reply(body)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{made.url}/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on the test's output."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made = Webhook(server)
        if tls is not None:
            # The handshake is the handler's, so that one who breaks it off ends nobody else's.
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            made.url = made.url.replace("http://", "https://")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            made.release.set()
            server.shutdown()
            thread.join()

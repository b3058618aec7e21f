"""A connection in the middle that can be cut, or go silent, as networks do."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from typing import Final, Literal

Mode = Literal["open", "silent", "cut"]
LOOK_SECONDS: Final = 0.02


class TcpProxy:
    """Passes bytes on between whoever connects to ``port`` and the target.

    silent: connections stay, and are taken, but nothing is passed on: as when a host is gone without a word. What was
    sent meanwhile arrives when it is open again. cut: all are closed, and no new one is served.
    """

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.mode: Mode = "open"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self._pairs: dict[socket.socket, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="tcp-proxy", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _serve(self) -> None:
        while not self._ended.is_set():
            if self.mode == "silent":
                self._ended.wait(LOOK_SECONDS)
                continue
            if self.mode == "cut":
                for each in list(self._pairs):
                    self._drop(each)
            for key, _ in self._selector.select(LOOK_SECONDS):
                if key.fileobj is self._listener:
                    self._take()
                elif isinstance(key.fileobj, socket.socket) and key.fileobj in self._pairs:
                    self._pass_on(key.fileobj)
        for each in list(self._pairs):
            self._drop(each)
        self._listener.close()

    def _take(self) -> None:
        client, _ = self._listener.accept()
        if self.mode == "cut":
            client.close()
            return
        try:
            server = socket.create_connection(self.target)
        except OSError:
            client.close()  # nobody listens there, and so it is for whoever came
            return
        for one, other in ((client, server), (server, client)):
            self._pairs[one] = other
            self._selector.register(one, selectors.EVENT_READ)

    def _pass_on(self, one: socket.socket) -> None:
        try:
            data = one.recv(65536)
            if data:
                self._pairs[one].sendall(data)
                return
        except OSError:
            pass  # it is gone, and so is its other end
        self._drop(one)

    def _drop(self, one: socket.socket) -> None:
        other = self._pairs.pop(one, None)
        for each in (one, other):
            if each is not None:
                self._pairs.pop(each, None)
                with contextlib.suppress(KeyError, ValueError):
                    self._selector.unregister(each)
                each.close()

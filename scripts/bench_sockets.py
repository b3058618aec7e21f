"""Many browsers that follow one run of one web process: who is closed, and how late they hear what was stored.

A playground of its own in the distributed mode (TEST_REDIS_URL and TEST_DATABASE_URL, or the services of this machine).
All sockets are opened at once, as browsers do after a web process came back. The readers are one process on the same
machine and take processor time, too; so do web, worker and engine.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from scripts.bench_cluster import configured, created, imported, write_cluster
from scripts.processes import Playground
from scripts.services import scratch_database, scratch_redis
from scripts.site import Site

PINGS: Final = 10.0
"""Seconds between a browser's pings."""
SILENT_SECONDS: Final = 6.5
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Heard(msgspec.Struct):
    """What is looked at in a message."""

    type: str
    seq: int = 0
    previous: int = 0
    at: str = ""


class Reader(asyncio.Protocol):
    """One browser: RFC 6455 as far as our server uses it. A library spends four times as long on a message in Python as
    the server does, and would be what is measured."""

    def __init__(self, request: bytes, run: str) -> None:
        self.request = request
        self.run = run
        self.began = time.monotonic()
        self.subscribed_after: float | None = None
        self.closed: str | None = None
        self.gaps = 0
        self.seq = -1
        self.lags: list[float] = []
        self.received = 0
        self._buffer = bytearray()
        self._is_open = False
        self._has_left = False
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self.request)

    def connection_lost(self, error: Exception | None) -> None:
        if not self._has_left:
            self.closed = self.closed or f"lost: {error}"

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        self._buffer += data
        if not self._is_open:
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self.closed = head.split(b"\r\n")[0].decode()
                return
            self._is_open, self._buffer = True, rest
            self.say({"type": "subscribe", "run": self.run})
        while (frame := self._next_frame()) is not None:
            opcode, payload = frame
            if opcode == TEXT:
                self.hear_text(bytes(payload))
            elif opcode == PING:
                self._send(PONG, bytes(payload))
            elif opcode == CLOSE:
                self.closed = f"closed with {int.from_bytes(payload[:2])}"

    def _next_frame(self) -> tuple[int, bytearray] | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        start, size = 2, buffer[1]
        if size >= 126:
            start = 4 if size == 126 else 10
            if len(buffer) < start:
                return None
            size = int.from_bytes(buffer[2:start])
        if len(buffer) < start + size:
            return None
        opcode, payload = buffer[0] & 15, buffer[start : start + size]
        del buffer[: start + size]
        return opcode, payload

    def say(self, message: dict[str, Any]) -> None:
        self._send(TEXT, json.dumps(message).encode())

    def _send(self, opcode: int, payload: bytes) -> None:
        """Short ones only. The mask is zero: it protects proxies from pages, and there are none."""
        assert self._transport is not None
        assert len(payload) < 126
        self._transport.write(bytes([0x80 | opcode, 0x80 | len(payload)]) + bytes(4) + payload)

    def hear_text(self, payload: bytes) -> None:
        self.hear(HEARD.decode(payload))

    def hear(self, message: Heard) -> None:
        if message.type == "subscribed":
            self.subscribed_after, self.seq = time.monotonic() - self.began, message.seq
        elif message.type == "run.resync":
            self.gaps += 1
        elif message.type == "run.delta" and message.seq > self.seq:
            self.gaps += message.previous != self.seq
            self.seq = message.seq
            self.lags.append(time.time() - datetime.fromisoformat(message.at).timestamp())

    def leave(self) -> None:
        self._has_left = True
        if self._transport is not None:
            self._transport.abort()


HEARD: Final = msgspec.json.Decoder(Heard)


def handshake(site: Site) -> bytes:
    cookies = "; ".join(f"{name}={value}" for name, value in site.cookies().items())
    host = site.origin.removeprefix("http://")
    lines = [
        "GET /ws/ HTTP/1.1", f"Host: {host}", f"Origin: {site.origin}", f"Cookie: {cookies}", "Upgrade: websocket",
        "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
    ]  # fmt: skip
    return "\r\n".join(lines).encode()


async def opened(site: Site, run: str, sockets: int) -> list[Reader]:
    """All at once; back when every one of them follows the run or was closed."""
    request, where = handshake(site), urlsplit(site.origin)
    loop = asyncio.get_running_loop()
    connecting = (
        loop.create_connection(lambda: Reader(request, run), where.hostname or "", where.port or 80)
        for _ in range(sockets)
    )
    readers = [reader for _, reader in await asyncio.gather(*connecting)]
    while any(reader.subscribed_after is None and reader.closed is None for reader in readers):
        await asyncio.sleep(0.02)
    return readers


async def ping(readers: list[Reader]) -> None:
    number = 0
    while True:
        await asyncio.sleep(PINGS)
        number += 1
        for reader in readers:
            reader.say({"type": "ping", "id": number})


async def follow(site: Site, run: str, sockets: int, seconds: float) -> list[Reader]:
    readers = await opened(site, run, sockets)
    pinging = asyncio.create_task(ping(readers))
    try:
        # Silent for longer than any reader of Redis may wait, then ten cycles a second.
        await asyncio.sleep(SILENT_SECONDS)
        await asyncio.to_thread(site.command, run, {"type": "play", "speed": 10})
        await asyncio.sleep(seconds)
        await asyncio.to_thread(site.command, run, {"type": "pause"})
        await asyncio.sleep(1)
    finally:
        pinging.cancel()
        for reader in readers:
            reader.leave()
    return readers


def lines(readers: list[Reader]) -> Iterator[str]:
    opened = sorted(reader.subscribed_after for reader in readers if reader.subscribed_after is not None)
    lags = sorted(lag for reader in readers for lag in reader.lags)
    closed = [reader.closed for reader in readers if reader.closed is not None]
    yield f"sockets {len(readers)}, following {len(opened)}, closed {len(closed)} {sorted(set(closed))[:3]}"
    if opened:
        yield f"following after: median {median(opened):.2f} s, last {opened[-1]:.2f} s"
    if lags:
        yield f"received {sum(reader.received for reader in readers) / len(lags) / 1024:.1f} KiB per delta"
        at = lags[int(len(lags) * 0.99)]
        yield f"deltas {len(lags):,}, gaps {sum(reader.gaps for reader in readers)}"
        yield f"lag: median {median(lags) * 1000:.0f} ms, p99 {at * 1000:.0f} ms, worst {lags[-1] * 1000:.0f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sockets", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, scratch_database() as database, scratch_redis() as redis:
        folder = Path(temporary)
        write_cluster(folder / "cluster.json", 100, 0, 10, 2000)
        playground = Playground(folder, DATABASE_URL=database, REDIS_URL=redis)
        try:
            site = Site(playground.origin)
            site.open_link(playground.link)
            snapshot = imported(site, folder / "cluster.json", "sockets")
            run = created(site, snapshot, configured(site, "Default, every node"), pending=2000)
            readers = asyncio.run(follow(site, run, chosen.sockets, chosen.seconds))
        finally:
            playground.process.stop()
            print("\n".join(playground.process.output().splitlines()[-5:]), file=sys.stderr)
    print("\n".join(lines(readers)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

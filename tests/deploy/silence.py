"""Browsers whose run is silent for longer than any reader of Redis may wait, and then speaks."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from typing import Any, Final

from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from scripts.site import Site
from tests.deploy.main_flow import CLUSTER

BROWSERS: Final = 12
#: channels_redis waits five seconds in one command.
SILENT_SECONDS: Final = 6.5
HEARD_WITHIN: Final = 30


def listen_through_a_silence(site: Site) -> None:
    """Nothing closes, and every browser hears every message that comes after it: each stands on the one before."""
    snapshot = site.import_snapshot(json.dumps(CLUSTER), "silent")
    version = next(
        entry for entry in site.get("/api/v1/configurations/?limit=50")["results"] if entry["name"] == "Default"
    )
    body = {"snapshot": snapshot["id"], "configuration_version": version["latest"]["id"], "seed": 7, "paused": True}
    run: str = site.post("/api/v1/runs/", body)["id"]
    with ExitStack() as stack:
        browsers = [stack.enter_context(open_socket(site)) for _ in range(BROWSERS)]
        known = [subscribed(browser, run) for browser in browsers]
        time.sleep(SILENT_SECONDS)
        site.command(run, {"type": "play", "speed": "max"})
        last = site.run_until(run, "the run is finished", lambda seen: seen["state"] == "finished")["seq"]
        assert [hear_until(browser, seq, last) for browser, seq in zip(browsers, known, strict=True)] == [
            last
        ] * BROWSERS


def open_socket(site: Site) -> ClientConnection:
    cookies = "; ".join(f"{name}={value}" for name, value in site.cookies().items())
    address = site.origin.replace("http", "ws", 1) + "/ws/"
    return connect(address, origin=Origin(site.origin), additional_headers={"Cookie": cookies}, proxy=None)


def heard(browser: ClientConnection, *types: str) -> dict[str, Any]:
    while True:
        message: dict[str, Any] = json.loads(browser.recv(HEARD_WITHIN))
        if message["type"] in types:
            return message


def subscribed(browser: ClientConnection, run: str) -> int:
    browser.send(json.dumps({"type": "subscribe", "run": run}))
    seq: int = heard(browser, "subscribed")["seq"]
    return seq


def hear_until(browser: ClientConnection, seq: int, last: int) -> int:
    """The seq that is reached; raises ConnectionClosed where the server let go, AssertionError at a gap."""
    while seq < last:
        delta = heard(browser, "run.delta", "run.resync")
        assert delta["type"] == "run.delta"
        if delta["seq"] <= seq:
            continue
        assert delta["previous"] == seq, (seq, delta["previous"], delta["seq"])
        seq = delta["seq"]
    return seq

"""Where the site is reached: what commands that tell people an address go by.

PUBLIC_URL, where somebody set it (a proxy or a container publishes the site elsewhere than it listens). Else where the
server of this data folder listens, which it notes there while it runs. Else HOST and PORT, as the next server will.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

from django.conf import settings

EVERYWHERE: Final = ("0.0.0.0", "::")
SECONDS: Final = 2.0


def origin_of(host: str, port: int) -> str:
    """As a browser on this machine asks for it."""
    shown = "127.0.0.1" if host in EVERYWHERE else host
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


def note() -> Path:
    return Path(settings.DATA_DIR) / "serving.json"


@contextlib.contextmanager
def noted(host: str, port: int) -> Iterator[None]:
    """While the server runs."""
    path = note()
    # Whole or not at all: another process may read it at this moment.
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({"origin": origin_of(host, port)}), encoding="utf-8")
    fresh.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


class AlreadyRunning(Exception):
    """Another process serves this data folder."""


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Two embedded playgrounds on one folder would both play its runs. Ends with the process, however that ends. Raises
    AlreadyRunning, or OSError where the folder cannot be written."""
    with (Path(settings.DATA_DIR) / "playground.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning from None
        yield


def running_origin() -> str | None:
    """Of the server of this data folder, if it answers: one that was killed leaves its note behind."""
    try:
        origin = json.loads(note().read_text(encoding="utf-8"))["origin"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return origin if isinstance(origin, str) and answers(origin) else None


def answers(origin: str) -> bool:
    try:
        # What goes to this machine goes through no proxy.
        with build_opener(ProxyHandler({})).open(f"{origin}/healthz", timeout=SECONDS) as response:
            return bool(json.loads(response.read(1000)) == {"status": "ok"})
    except (URLError, OSError, ValueError):
        return False


def origin_known() -> tuple[str, bool]:
    """The address for people, and whether it is more than what the next server will take."""
    environment = settings.ENVIRONMENT
    if environment.public_url:
        return environment.public_url, True
    if (running := running_origin()) is not None:
        return running, True
    return origin_of(environment.host, environment.port), False

"""A playground or a service of it as a process of this machine, with nothing of the caller's environment in it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from scripts.site import eventually

ROOT = Path(__file__).resolve().parent.parent
# What any process of this machine needs and no container inherits from it.
INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


def bare_environment() -> dict[str, str]:
    return {name: os.environ[name] for name in INHERITED if name in os.environ}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Process:
    """A started service; its output goes to a file that a failing assertion shows."""

    def __init__(
        self, name: str, command: list[str], environment: dict[str, str], log: Path, tree: Path = ROOT
    ) -> None:
        """``tree``: the checkout whose code it runs."""
        self.name = name
        self.log = log
        with log.open("wb") as output:
            self.child = subprocess.Popen(
                command, cwd=tree, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )

    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def is_running(self) -> bool:
        return self.child.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """To the process and its children, as stopping a container does."""
        if self.is_running():
            os.killpg(self.child.pid, number)

    def stop(self, seconds: float = 30) -> None:
        self.signal(signal.SIGTERM)
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.child.wait(seconds)


def link_in(printed: str) -> str:
    found = re.search(r"https?://\S*token\S*", printed)
    assert found is not None, printed
    return found[0]


class Playground:
    """The product as `make run` starts it, on a free port and with a data folder of its own."""

    def __init__(self, folder: Path, **more: str) -> None:
        """``more`` goes to the environment: REDIS_URL and DATABASE_URL make it the distributed mode."""
        self.port = free_port()
        self.folder = folder
        self.environment = bare_environment() | {
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "PLAYGROUND_DATA": str(folder),
            "PYTHONUNBUFFERED": "1",
            **more,
        }
        self.process = self.start()

    def start(self) -> Process:
        """Also again, after it was stopped: on the same port, with what is in the folder."""
        command = [sys.executable, "manage.py", "playground"]
        self.process = Process("playground", command, self.environment, self.folder / "log")
        return self.process

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def printed(self) -> str:
        def look() -> str | None:
            assert self.process.is_running(), self.process.output()
            text = self.process.output()
            return text if "token" in text else None

        return eventually("the link is printed", look)

    @property
    def link(self) -> str:
        return link_in(self.printed())

    def another_link(self) -> str:
        self.printed()  # before that nobody listens
        command = [sys.executable, "manage.py", "login_link"]
        return link_in(subprocess.check_output(command, cwd=ROOT, env=self.environment, text=True, timeout=120))

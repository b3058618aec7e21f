"""Starts the services of docker-compose.yml as processes of this machine: their very commands and environment.

Only what a container's own network gives is translated: the names `postgres` and `redis` become the scratch database
and the scratch Redis of the test, port 8000 becomes a free one, and 0.0.0.0 becomes the loopback address. Where a
process may have mounts of its own (as root, on Linux), `read_only` services can be started with all of the disk
read-only but their volume.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from scripts.compose import ROOT, Service
from scripts.processes import Process, bare_environment, free_port
from scripts.services import Services
from scripts.site import eventually

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
READ_ONLY: Final = """set -e
mount --bind "$1" "$1"
mount --bind "$PWD" "$PWD"
mount --options remount,bind,ro "$PWD"
mount --options remount,bind,ro /
shift
exec "$@"
"""
"""A shell's: the folder that may be written, and the command."""


def may_mount() -> bool:
    """Whether processes can be started with a read-only disk."""
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(
        ["unshare", "--mount", "mount", "--options", "remount,bind,ro", "/"], capture_output=True, check=False
    )
    return tried.returncode == 0


class Deployment:
    def __init__(self, services: dict[str, Service], real: Services, folder: Path, *, read_only: bool = False) -> None:
        """``read_only``: as services say so (may_mount)."""
        self.services = services
        self.read_only = read_only
        self.folder = folder
        self.port = free_port()
        volume = folder / "var"
        volume.mkdir()
        self.replaced = {
            services["web"].environment["DATABASE_URL"]: real.database_url,
            services["web"].environment["REDIS_URL"]: real.redis_url,
            "8000": str(self.port),
            services["web"].environment["PUBLIC_URL"]: f"http://127.0.0.1:{self.port}",
            "0.0.0.0": "127.0.0.1",
            "/app/var": str(volume),
        }
        self.running: dict[str, Process] = {}

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def translated(self, words: Iterable[str], **own: str) -> list[str]:
        return [own.get(word, self.replaced.get(word, word)) for word in words]

    def environment(self, service: Service) -> dict[str, str]:
        own = bare_environment()
        own["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{own.get('PATH', '')}"
        values = self.translated(service.environment.values())
        return own | dict(zip(service.environment, values, strict=True))

    def mounted(self, service: Service, command: list[str]) -> list[str]:
        if not (self.read_only and service.settings.get("read_only")):
            return command
        return ["unshare", "--mount", "sh", "-c", READ_ONLY, "sh", self.replaced["/app/var"], *command]

    def run(self, name: str, command: list[str]) -> subprocess.CompletedProcess[str]:
        """A command inside a service's environment, as `docker compose exec` would run it."""
        service = self.services[name]
        return subprocess.run(
            self.mounted(service, self.translated(command)),
            cwd=ROOT,
            env=self.environment(service),
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def run_once(self, name: str) -> subprocess.CompletedProcess[str]:
        return self.run(name, self.services[name].command)

    def start(self, name: str, *, copy: int = 1, port: int | None = None, more: Mapping[str, str] = NOTHING) -> Process:
        """``port``: where another copy of web listens. ``more`` goes to the environment."""
        service = self.services[name]
        label = name if copy == 1 else f"{name}-{copy}"
        own = {} if port is None else {"8000": str(port)}
        command = self.mounted(service, self.translated(service.command, **own))
        environment = self.environment(service) | dict(more)
        self.running[label] = Process(label, command, environment, self.folder / f"{label}.log")
        return self.running[label]

    def is_healthy(self, name: str) -> bool:
        health = self.services[name].health
        assert health is not None, f"{name} has no health check"
        return self.run(name, health.command).returncode == 0

    def has_begun(self, name: str) -> bool:
        """Whether its check may find it healthy: each is a whole start of Python, which one that begins needs more."""
        if name == "worker":
            return " ready." in self.running[name].output()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def wait_until_begun(self, name: str) -> None:
        def look() -> bool | None:
            process = self.running[name]
            assert process.is_running(), f"{name} ended:\n{process.output()}"
            return True if self.has_begun(name) else None

        eventually(f"{name} has begun", look)

    def wait_until_healthy(self, name: str) -> None:
        self.wait_until_begun(name)
        eventually(f"{name} is healthy", lambda: True if self.is_healthy(name) else None)

    def stop(self) -> None:
        for process in self.running.values():
            process.stop()

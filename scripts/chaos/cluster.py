"""The cluster that is broken: one web process and some workers, each with connections to PostgreSQL and Redis of its
own, one small disk, and, if asked for, a clock of each host (libfaketime, Debian's package of that name).
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import psycopg

from schedweb.processes.plain import KINDS
from scripts.compose import ROOT, read_compose
from scripts.deployment import Deployment
from scripts.kinds import FORK_SERVER, kind_of, parent_of, processes
from scripts.processes import Process
from scripts.services import Services
from scripts.site import Site, eventually
from scripts.tcp_proxy import Mode, TcpProxy

VARIABLES: Final = {"POSTGRES_PASSWORD": "correct-horse", "SECRET_KEY": "battery-staple-" * 4}
DISK_MIB: Final = 64
TOO_LONG: Final = 60.0
FAKETIME: Final = "libfaketimeMT.so.1"
CLOCKS: Final = Path(__file__).with_name("clock")


def faketime() -> Path | None:
    return next(Path("/usr/lib").glob(f"*/faketime/{FAKETIME}"), None)


def through(proxy: TcpProxy, url: str) -> str:
    parts = urlsplit(url)
    user = parts.netloc.rpartition("@")[0]
    return urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{proxy.port}" if user else f"127.0.0.1:{proxy.port}"))


def proxy_to(url: str) -> TcpProxy:
    parts = urlsplit(url)
    return TcpProxy(parts.hostname or "127.0.0.1", parts.port or (6379 if parts.scheme == "redis" else 5432))


@dataclass
class Host:
    """A machine with one service on it: what is done to it is done to that service and to all that it started."""

    name: str
    """Of the service."""
    copy: int
    database: TcpProxy
    redis: TcpProxy
    environment: dict[str, str]
    process: Process | None = None
    frozen: set[int] = field(default_factory=set)
    clock: Path | None = None
    """Says how many seconds its clock is off; None where clocks cannot be changed."""

    @property
    def pid(self) -> int:
        return -1 if self.process is None else self.process.child.pid

    @property
    def label(self) -> str:
        return f"{self.name}-{self.copy}"

    def set_clock(self, seconds: int) -> None:
        """By so much it is wrong from now on. Only what the wall shows: no host's monotonic clock jumps."""
        assert self.clock is not None
        new = self.clock.with_suffix(".new")
        new.write_text(f"{seconds:+d}s\n")
        new.rename(self.clock)

    def children(self, *kinds: str) -> list[int]:
        """Its processes of these kinds, oldest first; also those whose parent is gone, but no copies that they made of
        themselves. Only its own connections are in their environment."""
        own = f"DATABASE_URL={self.environment['DATABASE_URL']}".encode()
        found = []
        for pid in processes():
            with suppress(OSError, IndexError):
                if own not in (Path(f"/proc/{pid}/environ")).read_bytes().split(b"\0") or kind_of(pid) not in kinds:
                    continue
                if kind_of(parent_of(pid)) in (None, FORK_SERVER):
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    found.append((int(fields[19]), pid))
        return [pid for _, pid in sorted(found)]

    def signal_all(self, number: signal.Signals) -> None:
        """To its processes, as what happens to a whole machine."""
        kinds = (*KINDS.values(), FORK_SERVER)
        for pid in [self.pid, *(self.children(*kinds) if number != signal.SIGCONT else self.frozen)]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
                if number == signal.SIGSTOP:
                    self.frozen.add(pid)
        if number == signal.SIGCONT:
            self.frozen.clear()


class Cluster:
    def __init__(self, real: Services, folder: Path, *, workers: int, clocks: bool = False) -> None:
        """`clocks`: they can be changed. All threads of a process then share a lock for each look at a clock, which
        makes workers so slow that a stop of 7.5 s becomes one of 8 to 13."""
        self.real = real
        self.clocks = clocks
        self.deployed = Deployment(read_compose(VARIABLES), real, folder)
        self.folder = folder
        self.disk = folder / "var"
        self.has_small_disk = self._mount()
        self.web = self.host("web", 1)
        self.workers = [self.host("worker", copy) for copy in range(1, workers + 1)]
        self.starting = threading.Lock()
        self._asking = threading.Lock()
        self._asked: psycopg.Connection | None = None
        """Kept: the runs are looked at ten times a second."""
        self.ended: list[str] = []
        """What ended although nobody had asked it to, and what was not told."""

    def _mount(self) -> bool:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", str(self.disk)],
            capture_output=True,
            check=False,
        )
        return mounted.returncode == 0

    def host(self, name: str, copy: int) -> Host:
        database, redis = proxy_to(self.real.database_url), proxy_to(self.real.redis_url)
        environment = {
            "DATABASE_URL": through(database, self.real.database_url),
            "REDIS_URL": through(redis, self.real.redis_url),
        }
        host = Host(name, copy, database, redis, environment)
        if self.clocks and (library := faketime()) is not None:
            host.clock = self.folder / f"clock-{host.label}"
            host.set_clock(0)
            environment |= {
                "LD_PRELOAD": str(library),
                "FAKETIME_TIMESTAMP_FILE": str(host.clock),
                "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "PYTHONPATH": os.pathsep.join((str(CLOCKS), str(ROOT))),
            }
        return host

    @property
    def hosts(self) -> list[Host]:
        return [self.web, *self.workers]

    def start(self) -> None:
        migrated = self.deployed.run_once("migrate")
        assert migrated.returncode == 0, migrated.stdout + migrated.stderr
        for host in self.hosts:
            self.boot(host)
        for host in self.hosts:
            self.wait_until_up(host)

    def boot(self, host: Host) -> None:
        with self.starting:
            if host.process is not None:
                keep = host.process.log
                keep.rename(keep.with_name(f"{keep.stem}.{time.monotonic_ns()}.log"))
            host.process = self.deployed.start(host.name, copy=host.copy, more=host.environment)

    def is_up(self, host: Host) -> bool:
        assert host.process is not None
        if not host.process.is_running():
            return False
        if host.name == "worker":
            return " ready." in host.process.output()
        # As a load balancer asks. The service's own health check is another Python: on a busy machine it takes seconds.
        with suppress(OSError), urllib.request.urlopen(f"{self.deployed.origin}/livez", timeout=5) as answer:
            return bool(answer.status == 200)
        return False

    def wait_until_up(self, host: Host) -> None:
        eventually(f"{host.label} is up", lambda: True if self.is_up(host) else None, seconds=TOO_LONG)

    def tells_of_its_disk(self) -> bool:
        """Whether web's /readyz says within a few seconds that there is no room for imports."""
        address = f"{self.deployed.origin}/readyz?exclude=workers&exclude=redis"
        for _ in range(30):
            try:
                urllib.request.urlopen(address, timeout=5).close()
            except urllib.error.HTTPError as error:
                with error, suppress(ValueError, KeyError, TypeError):
                    if "is full" in json.load(error)["checks"]["storage"]:
                        return True
            except OSError:
                pass
            time.sleep(0.2)
        return False

    def person(self) -> Site:
        printed = self.deployed.run("web", ["python", "manage.py", "login_link"])
        assert printed.returncode == 0, printed.stderr
        site = Site(self.deployed.origin)
        site.open_link(printed.stdout.strip())
        return site

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Of the database, past every proxy. Connections are cut on purpose, so it tries again."""
        with self._asking:
            for _ in range(50):
                try:
                    if self._asked is None:
                        self._asked = psycopg.connect(self.real.database_url, autocommit=True)
                    return self._asked.execute(query.encode(), values).fetchall()
                except psycopg.OperationalError:
                    self._asked = None
                    time.sleep(0.1)
        raise AssertionError("PostgreSQL itself does not answer")

    def holder_of(self, owner: str) -> Host | None:
        """Of a lease: host:pid:number."""
        parts = owner.split(":")
        pid = int(parts[1]) if len(parts) == 3 else -1
        return next((host for host in self.workers if host.pid == pid), None)

    def open_all(self) -> None:
        for host in self.hosts:
            set_modes(host, "open", "open")
            host.signal_all(signal.SIGCONT)

    def stop(self) -> None:
        self.open_all()
        self.deployed.stop()
        if self._asked is not None:
            self._asked.close()
        for host in self.hosts:
            host.database.close()
            host.redis.close()
        if self.has_small_disk:
            subprocess.run(["umount", "-l", str(self.disk)], capture_output=True, check=False)


def set_modes(host: Host, database: Mode, redis: Mode) -> None:
    host.database.mode, host.redis.mode = database, redis

"""What is broken, and how it is mended again. A fault says whom it hit, so that what follows can be told from it."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import psycopg
import redis

from scripts.chaos.cluster import DISK_MIB, Cluster, Host
from scripts.kinds import FORK_SERVER
from scripts.tcp_proxy import Mode

ENDS_WITHIN: Final = 30.0
Mend = Callable[[], object]
NOTHING: Final[Mend] = lambda: None  # noqa: E731 - a value


@dataclass
class Done:
    text: str
    mend: Mend = NOTHING
    after: float = 0.0
    """Seconds for which it stays broken."""


class Faults:
    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.cluster = cluster
        self.random = chance
        self.kinds: dict[str, tuple[int, Callable[[Host], Done]]] = {
            "engine killed": (24, self.kill_engine),
            "engine frozen": (3, self.freeze_engine),
            "fork server killed": (4, self.kill_fork_server),
            "fork server frozen": (2, self.freeze_fork_server),
            "worker killed": (12, self.kill_worker),
            "worker's host frozen": (8, self.freeze_worker),
            "web killed": (6, self.kill_web),
            "web's host frozen": (3, self.freeze_web),
            "PostgreSQL cut off": (10, lambda host: self.cut(host, "cut", "open")),
            "Redis cut off": (8, lambda host: self.cut(host, "open", "cut")),
            "PostgreSQL silent": (5, lambda host: self.cut(host, "silent", "open")),
            "Redis silent": (4, lambda host: self.cut(host, "open", "silent")),
            "PostgreSQL ends all connections": (4, self.end_connections),
            "Redis emptied": (4, self.empty_redis),
            "rolling restart": (3, self.rolling_restart),
        }
        if cluster.web.clock is not None:
            self.kinds["clock jumps"] = (6, self.jump_clock)
        if cluster.has_small_disk:
            self.kinds["disk full"] = (3, self.fill_disk)

    def choose(self) -> str:
        names = list(self.kinds)
        return self.random.choices(names, [self.kinds[name][0] for name in names])[0]

    # --- processes --------------------------------------------------------------------------------------------------

    def kill_engine(self, host: Host) -> Done:
        engines = host.children("engine")
        if not engines:
            return Done("no engine was there")
        kill(self.random.choice(engines))
        return Done(f"an engine of {host.label}")

    def freeze_engine(self, host: Host) -> Done:
        """Nobody has it go on: its worker has to end it."""
        engines = host.children("engine")
        if not engines:
            return Done("no engine was there")
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.random.choice(engines), signal.SIGSTOP)
        return Done(f"an engine of {host.label}")

    def kill_fork_server(self, host: Host) -> Done:
        for pid in host.children(FORK_SERVER):
            kill(pid)
        return Done(f"of {host.label}")

    def freeze_fork_server(self, host: Host) -> Done:
        """Nobody has it go on: its worker has to do without it."""
        for pid in host.children(FORK_SERVER):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                host.frozen.add(pid)
        return Done(f"of {host.label}")

    def kill_worker(self, host: Host) -> Done:
        return self.kill_service(host)

    def kill_web(self, host: Host) -> Done:
        return self.kill_service(self.cluster.web)

    def kill_service(self, host: Host) -> Done:
        assert host.process is not None
        host.signal_all(signal.SIGKILL)
        host.process.child.wait()
        return Done(host.label, lambda: self.cluster.boot(host), self.random.choice((0.2, 1.0, 3.0)))

    def freeze_worker(self, host: Host) -> Done:
        host.signal_all(signal.SIGSTOP)
        return Done(host.label, lambda: host.signal_all(signal.SIGCONT), self.random.choice((1.0, 4.0, 10.0, 14.0)))

    def freeze_web(self, host: Host) -> Done:
        web = self.cluster.web
        web.signal_all(signal.SIGSTOP)
        return Done(web.label, lambda: web.signal_all(signal.SIGCONT), self.random.choice((1.0, 4.0)))

    def rolling_restart(self, host: Host) -> Done:
        """Everything in order, one after the other, each up before the next goes."""
        slowest = 0.0
        for each in self.cluster.hosts:
            process = each.process
            assert process is not None
            began = time.monotonic()
            process.child.send_signal(signal.SIGTERM)
            try:
                process.child.wait(ENDS_WITHIN)
            except Exception:  # noqa: BLE001 - subprocess.TimeoutExpired; it is noted and killed
                self.cluster.ended.append(f"{each.label} did not end within {ENDS_WITHIN:.0f} s of SIGTERM")
                each.signal_all(signal.SIGKILL)
                process.child.wait()
            slowest = max(slowest, time.monotonic() - began)
            self.cluster.boot(each)
            self.cluster.wait_until_up(each)
        return Done(f"all; the slowest ended {slowest:.1f} s after SIGTERM")

    def jump_clock(self, host: Host) -> Done:
        """Of a worker, or of web: to the future or the past, and back again after a while."""
        if self.random.random() < 0.2:
            host = self.cluster.web
        seconds = self.random.choice((-3600, -60, -8, -3, 3, 8, 60, 3600))
        host.set_clock(seconds)
        return Done(f"{host.label} by {seconds:+d} s", lambda: host.set_clock(0), self.random.choice((2.0, 5.0, 9.0)))

    # --- connections ------------------------------------------------------------------------------------------------

    def cut(self, host: Host, database: Mode, to_redis: Mode) -> Done:
        if self.random.random() < 0.2:
            host = self.cluster.web
        if database != "open":
            host.database.mode = database
        if to_redis != "open":
            host.redis.mode = to_redis

        def mend() -> None:
            host.database.mode = host.redis.mode = "open"

        return Done(host.label, mend, self.random.choice((0.3, 1.0, 2.5, 4.5, 7.0)))

    def end_connections(self, host: Host) -> Done:
        """As by a restart of PostgreSQL, or a failover."""
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(self.cluster.real.database_url) as own:
            own.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        return Done("all of them")

    def empty_redis(self, host: Host) -> Done:
        """As by a restart: nothing of it is on a disk."""
        with redis.Redis.from_url(self.cluster.real.redis_url) as database:
            number = str(database.get_connection_kwargs()["db"])
            database.flushdb()
            for client in database.client_list():
                if client["db"] == number and client["cmd"] != "client|list":
                    database.client_kill_filter(_id=client["id"])
        return Done("and its connections cut")

    # --- disk -------------------------------------------------------------------------------------------------------

    def fill_disk(self, host: Host) -> Done:
        ballast = self.cluster.disk / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb") as file:
            for _ in range(DISK_MIB * 16):
                file.write(bytes(64 * 1024))
                file.flush()
        if not self.cluster.tells_of_its_disk():
            self.cluster.ended.append("a full disk that /readyz does not tell")
        return Done("of web and workers", ballast.unlink, 4.0)


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def mend_later(done: Done) -> threading.Timer:
    timer = threading.Timer(done.after, done.mend)
    timer.start()
    return timer

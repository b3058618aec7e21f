"""A playground that is used without a pause: does anything grow that should not?

`python -m scripts.soak --minutes 30`: runs are played to their end and removed, files are imported and thrown away,
browsers come and go. Meanwhile memory, threads and open files of every kind of process are looked at, and what is left
in the database's list of connections and in the folder for temporary files. One of each works at a time, so that what
is measured is not how busy the machine is. Distributed where PostgreSQL and Redis are there (TEST_DATABASE_URL,
TEST_REDIS_URL), or `--embedded`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final

import psycopg
from websockets.sync.client import connect
from websockets.typing import Origin

from scripts.kinds import kind_of
from scripts.processes import Playground
from scripts.services import missing_services, scratch_database, scratch_redis
from scripts.site import Site

SAMPLE_SECONDS: Final = 10.0
PAUSE_SECONDS: Final = 1.0
"""Between two things that a person does."""
SOCKET_SECONDS: Final = (2.0, 15.0)
RUN_SECONDS: Final = 180
SHARE_COMPARED: Final = 5
"""The first fifth after warming up is held against the last fifth."""
WARM_UP: Final = 0.2
PODS: Final = 300
MEBIBYTE: Final = 1024 * 1024


def cluster() -> str:
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number:02}"},
         "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}}
        for number in range(20)
    ]  # fmt: skip
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"web-{number:03}", "namespace": "shop"},
         "spec": {"containers": [{"name": "c", "image": "web:1",
                                  "resources": {"requests": {"cpu": f"{100 + number}m", "memory": "256Mi"}}}]}}
        for number in range(PODS)
    ]  # fmt: skip
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes + pods})


@dataclass
class Sample:
    """One kind of process, at one moment."""

    processes: int = 0
    memory: int = 0
    """Bytes that are resident."""
    threads: int = 0
    files: int = 0
    """Open files, sockets and pipes."""


@dataclass
class Seen:
    at: float
    by_kind: dict[str, Sample] = field(default_factory=dict)
    connections: int = 0
    """Of the product to PostgreSQL."""
    temporary: int = 0
    """Files in the folder for temporary files and among the uploads."""
    done: dict[str, int] = field(default_factory=dict)


def family(root: int) -> Iterator[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                children[int(fields[1])].append(int(entry.name))
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting += children[pid]


def sampled(root: int) -> dict[str, Sample]:
    found: dict[str, Sample] = defaultdict(Sample)
    for pid in family(root):
        with contextlib.suppress(OSError):
            folder = Path(f"/proc/{pid}")
            words = (folder / "cmdline").read_bytes().decode(errors="replace")
            status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
            files = len(list((folder / "fd").iterdir()))
            sample = found[kind_of(pid) or ("worker" if "celery" in words else "web")]
            sample.processes += 1
            sample.memory += int(status.get("VmRSS", "0").split()[0]) * 1024
            sample.threads += int(status["Threads"])
            sample.files += files
    return dict(found)


class Soak:
    def __init__(self, playground: Playground, temporary: Path, database: str | None, seed: int) -> None:
        self.playground = playground
        self.temporary = temporary
        self.database = database
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.failures: list[str] = []
        self.over = threading.Event()
        self.site = Site(playground.origin)
        self.site.open_link(playground.link)
        self.snapshot = self.site.import_snapshot(cluster(), "soak")["id"]
        self.version = self.site.get("/api/v1/configurations/")["results"][0]["latest"]["id"]
        self.run: str | None = None
        """The one that is played now."""

    def play(self) -> None:
        wanted = {"snapshot": self.snapshot, "configuration_version": self.version, "seed": self.done["runs"]}
        self.run = run = self.site.post("/api/v1/runs/", wanted)["id"]
        self.site.command(run, {"type": "play", "speed": "max"})
        over = ("finished", "paused")
        self.site.run_until(run, "it is over", lambda seen: seen["state"] in over, seconds=RUN_SECONDS)
        self.run = None
        named = {"items": [{"kind": "run", "id": run}]}
        for path in (f"/api/v1/runs/{run}/", None):
            answer = (
                self.site.ask("POST", "/api/v1/deleted/remove/", named)
                if path is None
                else self.site.ask("DELETE", path)
            )
            assert answer.status < 300, answer

    def import_one(self) -> None:
        snapshot = self.site.import_snapshot(cluster(), "thrown away")["id"]
        named = {"items": [{"kind": "snapshot", "id": snapshot}]}
        assert self.site.ask("DELETE", f"/api/v1/snapshots/{snapshot}/").status == 204
        assert self.site.ask("POST", "/api/v1/deleted/remove/", named).status < 300

    def follow(self) -> None:
        """A browser that comes, follows what is played, and goes."""
        cookie = "; ".join(f"{name}={value}" for name, value in self.site.cookies().items())
        address = f"{self.playground.origin.replace('http', 'ws', 1)}/ws/"
        headers = {"Cookie": cookie}
        until = time.monotonic() + self.random.uniform(*SOCKET_SECONDS)
        with connect(address, additional_headers=headers, origin=Origin(self.playground.origin)) as socket:
            while time.monotonic() < until and not self.over.is_set():
                if (run := self.run) is not None:
                    socket.send(json.dumps({"type": "subscribe", "run": run, "language": "en"}))
                with contextlib.suppress(TimeoutError):
                    socket.recv(timeout=1.0)

    def again_and_again(self, name: str, work: Callable[[], None]) -> None:
        while not self.over.wait(PAUSE_SECONDS):
            try:
                work()
                self.done[name] += 1
            except Exception as error:  # noqa: BLE001 - whatever fails is told, and the others go on
                if not self.over.is_set():
                    self.failures.append(f"{name}: {type(error).__name__}: {str(error)[:300]}")
                    print(self.failures[-1], file=sys.stderr, flush=True)

    def seen(self, began: float) -> Seen:
        folders = (self.temporary, self.playground.folder / "uploads")
        found = Seen(
            at=time.monotonic() - began,
            by_kind=sampled(self.playground.process.child.pid),
            temporary=sum(1 for folder in folders if folder.is_dir() for each in folder.rglob("*") if each.is_file()),
            done=dict(self.done),
        )
        if self.database is not None:
            with psycopg.connect(self.database) as connection:
                asked = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                row = connection.execute(asked).fetchone()
                found.connections = 0 if row is None else row[0] - 1
        return found

    def soak(self, minutes: float) -> list[Seen]:
        began, found = time.monotonic(), []
        work: dict[str, Callable[[], None]] = {"runs": self.play, "imports": self.import_one}
        names = [*work.items(), *((f"sockets {number}", self.follow) for number in range(3))]
        threads = [threading.Thread(target=self.again_and_again, args=each, daemon=True) for each in names]
        for thread in threads:
            thread.start()
        while time.monotonic() - began < minutes * 60:
            assert self.playground.process.is_running(), self.playground.process.output()[-3000:]
            found.append(self.seen(began))
            print(line_of(found[-1]), flush=True)
            self.over.wait(SAMPLE_SECONDS)
        self.over.set()
        for thread in threads:
            thread.join(RUN_SECONDS)
        return found


def line_of(seen: Seen) -> str:
    kinds = "; ".join(
        f"{kind} ×{each.processes}: {each.memory / MEBIBYTE:.0f} MiB, {each.threads} threads, {each.files} files"
        for kind, each in sorted(seen.by_kind.items())
    )
    done = ", ".join(f"{count} {name}" for name, count in sorted(seen.done.items()))
    return f"{seen.at:6.0f} s  {kinds}; {seen.connections} connections, {seen.temporary} temporary files; {done}"


def series(found: list[Seen]) -> dict[str, list[float]]:
    """What is measured → its values over time. Of engines and readers what one of them takes: how many there are
    depends on what is done at the moment."""
    rows: dict[str, list[float]] = defaultdict(list)
    for seen in found:
        for kind, each in seen.by_kind.items():
            rows[f"{kind}: memory, MiB"].append(each.memory / each.processes / MEBIBYTE)
            rows[f"{kind}: threads"].append(each.threads / each.processes)
            rows[f"{kind}: open files"].append(each.files / each.processes)
        rows["connections to PostgreSQL"].append(seen.connections)
        rows["temporary files"].append(seen.temporary)
    return rows


def table(found: list[Seen]) -> str:
    lines = ["| per process | first fifth | last fifth | most |", "|---|---|---|---|"]
    for name, values in sorted(series(found).items()):
        begin, end = compared(values)
        lines.append(f"| {name} | {begin:.1f} | {end:.1f} | {max(values):.1f} |")
    return "\n".join(lines)


def compared(values: list[float]) -> tuple[float, float]:
    """Medians of the first fifth after warming up, and of the last."""
    warm = values[int(len(values) * WARM_UP) :]
    part = max(1, len(warm) // SHARE_COMPARED)
    return median(warm[:part]), median(warm[-part:])


@contextlib.contextmanager
def started(embedded: bool) -> Iterator[tuple[Playground, Path, str | None]]:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="playground-soak-")))
        temporary = folder / "temporary"
        temporary.mkdir()
        more: dict[str, Any] = {"TMPDIR": str(temporary)}
        database = None
        if not embedded:
            if why := missing_services():
                sys.exit(f"{why}. Use --embedded without them.")
            database = stack.enter_context(scratch_database())
            more |= {"DATABASE_URL": database, "REDIS_URL": stack.enter_context(scratch_redis())}
        playground = Playground(folder, **more)
        stack.callback(playground.process.stop)
        yield playground, temporary, database


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--embedded", action="store_true", help="one process, SQLite")
    given = parser.parse_args()
    with started(given.embedded) as (playground, temporary, database):
        soak = Soak(playground, temporary, database, given.seed)
        found = soak.soak(given.minutes)
    print(f"\n{table(found)}\n\n{json.dumps(found[-1].done, sort_keys=True)}; {len(soak.failures)} failures")
    return 1 if soak.failures else 0


if __name__ == "__main__":
    sys.exit(main())

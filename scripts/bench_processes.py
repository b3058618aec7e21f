"""CPU time and memory of a process and all below it, from /proc (Linux)."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Final

PROC: Final = Path("/proc")
TICK: Final = os.sysconf("SC_CLK_TCK")
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
LOOK_SECONDS: Final = 0.05
MIB: Final = 1024 * 1024


class Watched:
    """Looks while it is entered; what a process below used that has ended counts with its parent."""

    def __init__(self, root: int) -> None:
        self.root = root
        self.peak_mib = 0.0
        """The most that all of them held at one moment; pages that they share are counted for each."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            pages = sum(int(fields[21]) for fields in tree(self.root).values())
            self.peak_mib = max(self.peak_mib, pages * PAGE / MIB)

    def cpu_seconds(self) -> float:
        return sum(map(seconds_of, tree(self.root).values()))

    def cpu_by_name(self) -> dict[int, float]:
        """Per process that is there now, by its id."""
        return {pid: seconds_of(fields) for pid, fields in tree(self.root).items()}


def proportional_mib(root: int) -> float:
    """What it and all below it hold now; of pages that several share each counts its part (PSS)."""
    kib = 0
    for pid in tree(root):
        try:
            rollup = (PROC / str(pid) / "smaps_rollup").read_text()
        except OSError:
            continue  # it ended meanwhile
        kib += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return kib * 1024 / MIB


def seconds_of(fields: list[str]) -> float:
    """Its own and that of its children that have ended."""
    return sum(map(int, fields[11:15])) / TICK


def tree(root: int) -> dict[int, list[str]]:
    """Process id → the fields of its ``stat`` after the name: state is 0, parent 1, utime 11, rss 21."""
    every: dict[int, list[str]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                every[int(entry.name)] = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended meanwhile
    below, found = [root], {}
    while below:
        pid = below.pop()
        if pid in every:
            found[pid] = every[pid]
            below += [child for child, fields in every.items() if int(fields[1]) == pid]
    return found

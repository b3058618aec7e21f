"""What a process of the product is, as Linux tells it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

from schedweb.processes.forks import SERVER
from schedweb.processes.plain import KINDS

FORK_SERVER: Final = "fork-server"


def processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def parent_of(pid: int) -> int:
    """0: it is gone."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def kind_of(pid: int) -> str | None:
    """One of KINDS' values, or FORK_SERVER; None: another one, or it is gone."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
        called = Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return None
    if SERVER in words:
        return called if called in KINDS.values() else FORK_SERVER
    return next((KINDS[word] for word in words if word in KINDS), None)


def of_worker(worker: int, *kinds: str) -> list[int]:
    """Its processes of these kinds, without copies that engines make of themselves."""
    own = {worker, *(pid for pid in processes() if parent_of(pid) == worker and kind_of(pid) == FORK_SERVER)}
    return [pid for pid in processes() if parent_of(pid) in own and kind_of(pid) in kinds]

"""What the sockets of this process share."""

from __future__ import annotations

import asyncio
from typing import Final
from uuid import UUID
from weakref import WeakKeyDictionary

from schedweb.accounts.sessions import Admission, admissions
from schedweb.runs.live.batched import Batched
from schedweb.runs.live.hub import Hub
from schedweb.runs.models import Run


class Process:
    """Belongs to one event loop; a web process has one."""

    def __init__(self) -> None:
        self.hub = Hub()
        self.admissions: Batched[str, Admission] = Batched(admissions)
        """By session key."""
        self.seqs: Batched[UUID, int] = Batched(seqs)
        """By run."""


def seqs(runs: list[UUID]) -> dict[UUID, int]:
    return dict(Run.objects.filter(pk__in=runs).values_list("pk", "seq"))


PROCESSES: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, Process]] = WeakKeyDictionary()


def process_here() -> Process:
    loop = asyncio.get_running_loop()
    if loop not in PROCESSES:
        PROCESSES[loop] = Process()
    return PROCESSES[loop]

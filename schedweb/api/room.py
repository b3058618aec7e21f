"""Whether what is done now can be stored: asked of the folder's disk and of PostgreSQL, never tried by writing.

What neither of them says beforehand (a full disk of PostgreSQL, a quota) is known from what they refused, for a while.
"""

from __future__ import annotations

import datetime
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import connection
from django.utils import timezone

from schedweb.observing.metrics import WRITES_REFUSED
from schedweb.sentences import noted, say

LEAST_MIB: Final = 16
"""Free on the folder's disk. Below that nothing new is taken, so that what was taken has room to be played and stored:
SQLite writes a batch to its log first, and to its file when the log has 4 MiB."""
KEPT_SECONDS: Final = 2.0
"""Probes come from several places at once, and every page asks."""
REFUSED_SECONDS: Final = 30.0
"""For so long a refusal is believed; what plays tries again all the time."""
MIB: Final = 1024 * 1024
SENTENCES: Final = {
    "folder_full": noted(
        "The disk on which this server keeps its data is full: {least} have to be free. What was accepted is safe."
    ),
    "folder_read_only": noted(
        "The folder in which this server keeps its data cannot be written. What was accepted is safe."
    ),
    "uploads_full": noted(
        "The disk for files that are imported is full: {least} have to be free. What was accepted is safe."
    ),
    "uploads_read_only": noted("The folder for files that are imported cannot be written. What was accepted is safe."),
    "database_full": noted("The disk of the database is full. What was accepted is safe."),
    "database_read_only": noted("The database is read-only. What was accepted is safe."),
}
KINDS: Final = tuple(SENTENCES)
for _kind in KINDS:
    if not _kind.startswith("uploads"):
        WRITES_REFUSED.labels(_kind)  # from 0 on: what appears as 1 has not increased for Prometheus


@dataclass(frozen=True)
class Trouble:
    kind: str
    """One of KINDS."""
    since: datetime.datetime
    """When this process saw it first."""

    def sentence(self) -> str:
        return sentence_of(self.kind)


def sentence_of(kind: str) -> str:
    return say(SENTENCES[kind], least=f"{LEAST_MIB} MiB")


def folder_trouble(folder: Path) -> str:
    """A kind, or "". With PostgreSQL the folder holds uploads alone."""
    what = "uploads" if settings.MODE == "distributed" else "folder"
    file = folder / "playground.sqlite3"
    if not os.access(folder, os.W_OK) or (file.exists() and not os.access(file, os.W_OK)):
        return f"{what}_read_only"
    disk = os.statvfs(folder)
    return f"{what}_full" if disk.f_bavail * disk.f_frsize < LEAST_MIB * MIB else ""


def database_trouble() -> str:
    """A kind, or "". PostgreSQL is read-only as a standby, and where its operator or host made it so when it was full.
    Raises DatabaseError when it does not answer."""
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('transaction_read_only')")
        return "database_read_only" if cursor.fetchone()[0] == "on" else ""


def looked() -> str:
    """What stops most comes first."""
    return database_trouble() or folder_trouble(settings.DATA_DIR)


@dataclass
class Watch:
    """Remembers what was seen last, and since when."""

    look: Callable[[], str]
    now: Callable[[], float] = time.monotonic
    lock: threading.Lock = field(default_factory=threading.Lock)
    seen: Trouble | None = None
    looked_at: float = float("-inf")
    refused: str = ""
    refused_until: float = float("-inf")

    def trouble(self) -> Trouble | None:
        """Raises DatabaseError when it asked PostgreSQL and that does not answer."""
        with self.lock:
            now = self.now()
            if now - self.looked_at < KEPT_SECONDS:
                return self.seen
            self.looked_at = now  # others need not wait for the answer
        try:
            found = self.look()
        except BaseException:
            self.looked_at = float("-inf")
            raise
        with self.lock:
            found = found or (self.refused if now < self.refused_until else "")
            if not found:
                self.seen = None
            elif self.seen is None or self.seen.kind != found:
                self.seen = Trouble(found, timezone.now())
            return self.seen

    def note_refusal(self, code: str) -> None:
        """The store refused a write. ``code``: as schedweb/api/failures.py tells it."""
        kind = {"storage_full": "full", "storage_read_only": "read_only"}.get(code)
        if kind is None:
            return
        where = "database" if connection.vendor == "postgresql" else "folder"
        WRITES_REFUSED.labels(f"{where}_{kind}").inc()
        with self.lock:
            self.refused, self.refused_until = f"{where}_{kind}", self.now() + REFUSED_SECONDS
            self.looked_at = float("-inf")

    def note_written(self) -> None:
        """What it refused before it takes again."""
        if self.refused:
            with self.lock:
                self.refused, self.looked_at = "", float("-inf")


WATCH: Final = Watch(looked)


def stores_nothing() -> Trouble | None:
    """Why what is sent now is refused at once. What was known only from a refusal is tried."""
    found = WATCH.trouble()
    if found is None or found.kind == WATCH.refused:
        return None
    # An upload says itself that there is no room for it.
    return None if found.kind.startswith("uploads") else found

"""SQLite's own online backup: consistent beside writers, which wait for nothing."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

import zstandard
from django.conf import settings
from django.db import connection

from schedweb.operation.backups.archive import CHUNK, BackupError
from schedweb.operation.backups.fence import fence
from schedweb.serving import AlreadyRunning, alone

LEVEL: Final = 3


def dump(into: Path) -> None:
    """Raises BackupError."""
    plain = into.with_name("plain")
    with contextlib.closing(sqlite3.connect(plain)) as copy:
        connection.ensure_connection()
        connection.connection.backup(copy)
        # The copy is one file, whatever the database it was made of keeps beside itself.
        copy.execute("PRAGMA journal_mode = DELETE")
        if (found := copy.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise BackupError(f"The database is damaged: {found}.")
    with plain.open("rb") as source, into.open("wb") as target:
        zstandard.ZstdCompressor(level=LEVEL).copy_stream(source, target, read_size=CHUNK, write_size=CHUNK)


def load(dumped: Path) -> None:
    """In one transaction. Raises BackupError."""
    plain = dumped.with_name("plain")
    with dumped.open("rb") as source, plain.open("wb") as target:
        zstandard.ZstdDecompressor().copy_stream(source, target, read_size=CHUNK, write_size=CHUNK)
    path = Path(settings.DATABASES["default"]["NAME"])
    connection.close()
    try:
        with (
            alone(),
            contextlib.closing(sqlite3.connect(plain)) as copy,
            contextlib.closing(sqlite3.connect(path, timeout=30)) as database,
        ):
            copy.execute(fence())
            copy.commit()
            copy.backup(database)
    except AlreadyRunning:
        raise BackupError(f"The playground of {settings.DATA_DIR} is running; stop it first.") from None
    except (sqlite3.Error, OSError) as error:
        raise BackupError(f"It could not be written to {path}: {error}. Nothing was changed.") from None

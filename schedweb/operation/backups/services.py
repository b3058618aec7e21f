"""Backing up and restoring, the same for both modes but for the tool that reads and writes the database."""

from __future__ import annotations

import datetime
from pathlib import Path
from types import ModuleType

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from schedweb.database_version import applied, unknown
from schedweb.operation.backups import archive, postgresql, sqlite
from schedweb.operation.backups.archive import BackupError, Manifest
from schedweb.runs.models import Run
from schedweb.snapshots.models import Snapshot


def tool() -> ModuleType:
    return postgresql if settings.MODE == "distributed" else sqlite


def backup(target: Path) -> Manifest:
    """Raises BackupError. Runs may be playing."""
    if target.exists():
        raise BackupError(f"{target} is there already.")
    if not target.parent.is_dir():
        raise BackupError(f"There is no folder {target.parent}.")
    migrations = applied()
    if not migrations:
        raise BackupError("The database is empty: there is nothing to back up.")
    # What was stored when the copy is made is in it; so this is at least what it holds.
    runs, snapshots = Run.every.count(), Snapshot.every.count()
    try:
        with archive.scratch(target.parent) as folder:
            dumped = folder / archive.DATABASE
            tool().dump(dumped)
            with dumped.open("rb") as file:
                digest = archive.digest_of(file)
            manifest = Manifest(
                format=archive.FORMAT,
                version=settings.VERSION,
                mode=settings.MODE,
                made_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                migrations=migrations,
                sha256=digest,
                runs=runs,
                snapshots=snapshots,
            )
            archive.write(target, manifest, dumped)
    except OSError as error:
        raise BackupError(f"{target} could not be written: {error.strerror or error}.") from None
    return manifest


def restore(source: Path, *, replace: bool) -> Manifest:
    """Brings the database to the state of the backup, and then up to date with this version. Raises BackupError."""
    folder = Path(settings.DATA_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    with archive.scratch(folder) as inside:
        dumped = inside / archive.DATABASE
        manifest = archive.read(source, dumped)
        check(manifest, source)
        if not replace and connection.introspection.table_names():
            raise BackupError(
                "The database is not empty. With --replace, all that is in it goes, and what the backup holds takes "
                "its place."
            )
        tool().load(dumped)
    call_command("migrate", interactive=False, verbosity=0)
    return manifest


def check(manifest: Manifest, source: Path) -> None:
    """Raises BackupError."""
    if newer := unknown(manifest.migrations):
        raise BackupError(
            f"{source} was made by version {manifest.version}, which is newer than this one ({settings.VERSION}): "
            f"there is no migration {newer[-1]} here. Restore it with that version."
        )
    if manifest.mode != settings.MODE:
        raise BackupError(
            f"{source} was made in the {manifest.mode} mode, and this is the {settings.MODE} mode: the one is SQLite, "
            "the other PostgreSQL."
        )

"""The file of a backup: a tar with `manifest.json`, which says what it is, and `database`, as the mode's tool wrote it.

It holds everything that is stored, passwords' hashes and tokens' hashes too: only its owner may read it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Literal

import msgspec

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
DATABASE: Final = "database"
CHUNK: Final = 1 << 20
LARGEST_MANIFEST: Final = 1 << 20


class BackupError(Exception):
    """Says why there is no backup, or why one is not restored; nothing has changed then."""


class Manifest(msgspec.Struct, frozen=True):
    format: int
    version: str
    """Of the product."""
    mode: Literal["embedded", "distributed"]
    made_at: str
    migrations: list[str]
    """app.name of all that the database had."""
    sha256: str
    """Of ``database``."""
    runs: int
    snapshots: int


def digest_of(file: BinaryIO) -> str:
    hashed = hashlib.sha256()
    while block := file.read(CHUNK):
        hashed.update(block)
    return hashed.hexdigest()


@contextlib.contextmanager
def scratch(beside: Path) -> Iterator[Path]:
    """A folder for what is as large as the database, on the disk where that goes."""
    with tempfile.TemporaryDirectory(dir=beside, prefix=".playground-backup-") as folder:
        yield Path(folder)


def write(target: Path, manifest: Manifest, database: Path) -> None:
    """Whole or not at all."""
    unfinished = database.with_name("archive")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        with tarfile.open(fileobj=file, mode="w") as tar:
            described = msgspec.json.encode(manifest)
            info = tarfile.TarInfo(MANIFEST)
            info.size, info.mode = len(described), 0o600
            tar.addfile(info, io.BytesIO(described))
            tar.add(database, DATABASE, recursive=False)
        file.flush()
        os.fsync(file.fileno())
    unfinished.rename(target)


def read(source: Path, into: Path) -> Manifest:
    """Unpacks ``database`` to ``into``. Raises BackupError."""
    try:
        with tarfile.open(source, mode="r:") as tar:
            manifest = manifest_in(tar, source)
            content = tar.extractfile(DATABASE)
            if content is None:
                raise BackupError(f"{source} is no backup of a playground.")
            with content, into.open("wb") as file:
                shutil.copyfileobj(content, file, CHUNK)
    except (tarfile.TarError, KeyError, msgspec.MsgspecError, EOFError) as error:
        raise BackupError(f"{source} is no backup of a playground, or not all of it: {error}.") from None
    except OSError as error:
        raise BackupError(f"{source} cannot be read: {error.strerror or error}.") from None
    with into.open("rb") as file:
        if digest_of(file) != manifest.sha256:
            raise BackupError(f"{source} is damaged: its content is not what was written.")
    return manifest


def manifest_in(tar: tarfile.TarFile, source: Path) -> Manifest:
    member = tar.next()
    content = None if member is None or member.name != MANIFEST else tar.extractfile(member)
    if content is None:
        raise BackupError(f"{source} is no backup of a playground.")
    described = content.read(LARGEST_MANIFEST)
    found = msgspec.json.decode(described, type=dict[str, msgspec.Raw])
    if (written := msgspec.json.decode(found.get("format", b"0"))) != FORMAT:
        raise BackupError(
            f"{source} was written by another version, in format {written}; this version reads format {FORMAT}."
        )
    return msgspec.json.decode(described, type=Manifest)

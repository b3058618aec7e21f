"""Manifests of a file on disk: what ``framework.reading`` makes of its bytes."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from framework.reading import documents
from framework.reading.documents import Fields, Manifest


def read_manifests(path: Path) -> Iterator[Manifest]:
    """Every object of the file, lists unfolded. Raises FileRefused."""
    items = read_items(path)
    if items is None:
        yield from read_documents(path)
    else:
        for item in items:
            yield from documents.manifests_in(item)


def read_items(path: Path) -> list[Fields] | None:
    return documents.read_items(_mapped(path))


def read_documents(path: Path) -> Iterator[Manifest]:
    return documents.read_documents(_mapped(path))


def check_density(path: Path) -> None:
    """Raises FileRefused."""
    documents.check_density(_mapped(path))


def is_json(path: Path) -> bool:
    with path.open("rb") as file:
        return documents.is_json(file.read(4096))


def _mapped(path: Path) -> memoryview:
    """Texts that are kept are views of the file, so it takes no memory of its own."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

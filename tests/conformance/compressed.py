"""Reading JSON Lines, plain or compressed."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    if path.suffix == ".xz":
        return cast("IO[bytes]", lzma.open(path, "rb"))
    return path.open("rb")


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines that are not empty."""
    with _open(path) as file:
        for line in file:
            if line.strip():
                yield line

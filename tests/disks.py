"""Disks of a test's own, which it may fill or make read-only: for root no file's mode does that."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

MIB = 1024 * 1024


def mounted(*words: str) -> bool:
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0


def unmount(folder: Path) -> None:
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """64 MiB large. Skips the test where nothing can be mounted."""
    folder.mkdir()
    if not mounted("-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)):
        pytest.skip("no tmpfs can be mounted here, so no disk is filled or made read-only")
    try:
        yield folder
    finally:
        unmount(folder)


def fill(disk: Path, *, free: int = 0) -> Path:
    """Leaves so many MiB. The file to delete when there is to be room again."""
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(disk).free - free * MIB))
    return ballast


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """For whoever opens something in it from now on, as by a host that mounts its disk anew."""
    # Made read-only beside it and laid over it: what somebody writes in cannot be made read-only.
    beside = folder.with_name(f"{folder.name}-read-only")
    beside.mkdir(exist_ok=True)
    assert mounted("--bind", str(folder), str(beside))
    try:
        assert mounted("-o", "remount,bind,ro", str(beside))
        assert mounted("--bind", str(beside), str(folder))
        yield
    finally:
        unmount(folder)
        unmount(beside)

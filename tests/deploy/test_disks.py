"""Embedded, started on a disk that is full or read-only: a sentence, and nothing is left that a later start minds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.processes import Playground
from scripts.site import Site, eventually
from tests.deploy.test_playground import start_another
from tests.disks import fill, read_only, small_disk
from tests.first_start import FirstStart

LEAST = "The disk on which this server keeps its data is full: 16 MiB have to be free. What was accepted is safe."


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk") as found:
        yield found


def refusal(folder: Path, why: str) -> str:
    return f"The data folder {folder} cannot be used: {why}. PLAYGROUND_DATA names another one."


def said(folder: Path) -> str:
    """By a start that is refused."""
    refused = start_another(folder)
    assert (refused.returncode, refused.stdout) == (1, "")
    return refused.stderr.strip().removeprefix("CommandError: ")


def test_a_full_disk_is_a_sentence_and_the_start_after_it_is_well(disk: Path) -> None:
    folder = disk / "data"
    ballast = fill(disk)
    assert said(folder) == refusal(folder, "No space left on device")
    ballast.unlink()
    folder.mkdir(exist_ok=True)
    started = Playground(folder)
    try:
        assert Site(started.origin).open_link(started.link)["role"] == "admin"
    finally:
        started.process.stop()
    fill(disk)
    assert said(folder) == refusal(folder, "No space left on device"), "with everything in it, too"


def test_a_disk_with_little_room_is_said_beside_the_link(disk: Path, first_start: FirstStart) -> None:
    first_start.into(disk)
    fill(disk, free=8)
    started = Playground(disk)
    try:
        assert Site(started.origin).open_link(started.link)["role"] == "admin"
        assert LEAST in eventually("it is said", lambda: output if "MiB" in (output := started.printed()) else None)
    finally:
        started.process.stop()


@pytest.mark.parametrize("before", ["nothing", "a first start"])
def test_a_read_only_folder_is_a_sentence(disk: Path, first_start: FirstStart, before: str) -> None:
    folder = disk / "data"
    folder.mkdir()
    if before == "a first start":
        first_start.into(folder)
    there = sorted(each.name for each in folder.iterdir())
    with read_only(folder):
        assert said(folder) == refusal(folder, "Read-only file system")
    assert sorted(each.name for each in folder.iterdir()) == there

"""What is known of the store: looked at seldom, remembered since when, and what it refused believed for a while."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from django.db import connection
from prometheus_client import REGISTRY

from schedweb.api.room import KEPT_SECONDS, REFUSED_SECONDS, Trouble, Watch, folder_trouble


class Store:
    """A store and a clock that the test sets."""

    def __init__(self) -> None:
        self.trouble = ""
        self.looks = 0
        self.time = 0.0
        self.watch = Watch(self.look, lambda: self.time)

    def look(self) -> str:
        self.looks += 1
        if self.trouble == "away":
            raise ConnectionError
        return self.trouble

    def seen(self, seconds: float = KEPT_SECONDS) -> Trouble | None:
        self.time += seconds
        return self.watch.trouble()


def test_it_lasts_as_long_as_it_lasts_and_is_looked_at_seldom() -> None:
    store = Store()
    assert store.seen() is None
    store.trouble = "folder_full"
    assert [store.seen(0.1) for _ in range(5)] == [None] * 5
    assert store.looks == 1
    first = store.seen()
    assert first is not None
    assert (first.kind, store.seen()) == ("folder_full", first), "since when it is does not move"
    store.trouble = "folder_read_only"
    changed = store.seen()
    assert changed is not None
    assert (changed.kind, changed.since >= first.since) == ("folder_read_only", True)
    store.trouble = ""
    assert store.seen() is None


def test_a_database_that_does_not_answer_is_asked_again_at_once() -> None:
    store = Store()
    store.trouble = "away"
    with pytest.raises(ConnectionError):
        store.seen()
    store.trouble = ""
    assert store.seen(0.0) is None


@pytest.mark.django_db
def test_a_refusal_is_believed_until_something_is_written_or_for_a_while() -> None:
    store = Store()

    def later() -> None:
        store.seen(REFUSED_SECONDS)

    for ends in (store.watch.note_written, later):
        assert store.seen() is None
        store.watch.note_refusal("unavailable")
        assert store.seen(0.1) is None
        counted = refused_as_full()
        store.watch.note_refusal("storage_full")
        assert refused_as_full() == counted + 1
        found = store.seen(0.0)
        assert found is not None
        assert found.kind.endswith("_full")
        ends()
        assert store.seen(0.0) is None


def refused_as_full() -> float:
    kind = "database_full" if connection.vendor == "postgresql" else "folder_full"
    return REGISTRY.get_sample_value("playground_writes_refused_total", {"kind": kind}) or 0.0


def test_a_folder_that_cannot_be_written_and_a_disk_without_room(tmp_path: Path) -> None:
    assert folder_trouble(tmp_path) == ""
    (tmp_path / "playground.sqlite3").touch(0o444)
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        assert (
            folder_trouble(tmp_path) == "folder_read_only"
        )  # nobody mounts who is not root, to whom 0444 says nothing
        return
    try:
        assert folder_trouble(tmp_path) == "folder_full"
        subprocess.run([*mount[:1], "-o", "remount,ro", str(tmp_path)], check=True)
        assert folder_trouble(tmp_path) == "folder_read_only"
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)

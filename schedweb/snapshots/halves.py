"""A large file is read by two processes, each one half: reading is Python at work, and machines have several cores.

The file is cut in its middle, between two items of its list, before anybody has parsed it. Where the cut seems to be is
told by the text; that it is there is told by the halves, which are JSON only then: what stands before it, closed by
``]}``; the items behind it as a list; what stands behind the last item as the end of an object without other lists.
Where a key stands twice the file is read as a whole, which says where.
"""

from __future__ import annotations

import codecs
import mmap
import multiprocessing
import os
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import msgspec

from framework.reading.documents import Fields, FileRefused, has_repeated_key, is_utf8
from framework.reading.gathering import Twice
from framework.sentences import Sentence, words_of
from schedweb.snapshots.reading import Reading

LARGE: Final = 16 * 1024 * 1024
"""Bytes from which on a second process is worth its beginning."""
LONGEST_SECONDS: Final = 180
_BEGINNING: Final = 64 * 1024
_FIRST_ITEM: Final = re.compile(rb'"items"\s*:\s*\[\s*\{(\s*)"')
_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class SecondEnded(Exception):
    """The process that read the second half ended before it was done."""


class _Half(msgspec.Struct):
    part: bytes = b""
    refused: Sentence | str = ""
    out_of_memory: bool = False


class _Around(msgspec.Struct, forbid_unknown_fields=True):
    """A list of objects, or what is left of it. That nothing else is known makes ``items`` its only list."""

    apiVersion: str | msgspec.UnsetType | None = msgspec.UNSET
    kind: str | msgspec.UnsetType = msgspec.UNSET
    metadata: dict[str, msgspec.Raw] | msgspec.UnsetType = msgspec.UNSET
    items: list[Fields] = []


@dataclass(frozen=True, slots=True)
class Cut:
    """``comma``: where the one between two items in the middle seems to be; ``end``: the list's bracket."""

    path: Path
    comma: int
    end: int

    def first(self) -> list[Fields] | None:
        """The items before the cut, in views of the file. None: this is no cut, or no List."""
        data = self._own()
        data[self.comma : self.comma + 2] = b"]}"
        before = memoryview(data)[: self.comma + 2]
        around = b'{"items":[' + self._behind()
        try:
            head = msgspec.json.decode(_unmarked(before), type=_Around)
            rest = msgspec.json.decode(around, type=_Around)
        except _UNREADABLE:
            return None
        if "List" not in (head.kind, rest.kind) or not is_utf8(before):
            return None
        if set(_given(head)) & set(_given(rest)) or has_repeated_key(around) or has_repeated_key(_unmarked(before)):
            return None
        return head.items

    def second(self) -> list[Fields] | None:
        """Those behind it."""
        data = self._own()
        data[self.comma : self.comma + 1] = b"["
        behind = memoryview(data)[self.comma :]
        try:
            items = msgspec.json.decode(behind[: self.end + 1 - self.comma], type=list[Fields])
        except _UNREADABLE:
            return None
        # Behind the bracket the document ends for who looks for keys.
        return items if is_utf8(behind) and not has_repeated_key(behind) else None

    def _own(self) -> mmap.mmap:
        """What is written there stays in this process."""
        with self.path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)

    def _behind(self) -> bytes:
        with self.path.open("rb") as file:
            file.seek(self.end)
            return file.read()


def cut_of(path: Path) -> Cut | None:
    """None: the file is too small, or does not look like a list of objects with their kind in front."""
    if path.stat().st_size < LARGE:
        return None
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        first = _FIRST_ITEM.search(data, 0, _BEGINNING)
        if first is None:
            return None
        # Of lists within objects the same does not hold: their brackets are indented more, or have no metadata.
        between = re.compile(
            rb"\}\s*(,)\s*\{" + first[1] + rb'"apiVersion"\s*:\s*"[^"\\]*"\s*,\s*"kind"\s*:\s*"\w+"\s*,\s*"metadata"'
        )
        middle = between.search(data, len(data) // 2)
        return None if middle is None else Cut(path, middle.start(1), data.rfind(b"]"))


def read_in_halves(path: Path) -> Reading | None:
    """Of a JSON file. None: it has to be read as a whole. Raises FileRefused, MemoryError, SecondEnded."""
    cut = cut_of(path) if can_fork() else None
    if cut is None:
        return None
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    second = context.Process(target=_read_second, args=(cut, receiver, sender), daemon=True)
    second.start()
    sender.close()
    reading = Reading()
    try:
        items = cut.first()
        if items is None or not receiver.recv_bytes():
            return None
        reading.add_items(items)
        half = msgspec.msgpack.decode(receiver.recv_bytes(), type=_Half)
    except EOFError:
        second.join()
        raise SecondEnded(f"The second half was not read: its process ended with {second.exitcode}.") from None
    finally:
        receiver.close()
        second.kill()
    if half.out_of_memory:
        raise MemoryError
    if half.refused:
        raise FileRefused(half.refused)
    try:
        reading.add_part(half.part)
    except Twice:
        return None
    return reading


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods() and (os.cpu_count() or 1) > 1


def _given(around: _Around) -> Iterator[str]:
    """Its fields but for the items."""
    for name in ("apiVersion", "kind", "metadata"):
        if getattr(around, name) is not msgspec.UNSET:
            yield name


def _unmarked(data: memoryview) -> memoryview:
    return data[3:] if bytes(data[:3]) == codecs.BOM_UTF8 else data


def _read_second(cut: Cut, receiver: Connection, sender: Connection) -> None:
    """Says first whether its half can be read at all."""
    # Nobody else ends it when the first one is killed.
    receiver.close()
    signal.alarm(LONGEST_SECONDS)
    reading = Reading()
    items: list[Fields] | None = []
    try:
        try:
            items = cut.second()
        finally:
            sender.send_bytes(b"" if items is None else b"1")
        reading.add_items(items or ())
        half = _Half(part=reading.part())
    except FileRefused as error:
        half = _Half(refused=words_of(error))
    except MemoryError:
        half = _Half(out_of_memory=True)
    sender.send_bytes(msgspec.msgpack.encode(half))
    sender.close()

"""What a driver writes, told to whoever started it: bindings and evictions as lines for people, all of it as JSON."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import BinaryIO, Final

import msgspec

from schedweb.writes.writes import Outcome, Write

TOLD: Final = {"bind": "bound to {node}", "evict": "evicted"}


class Recorded:
    """Lines ``{"number", "write"}`` before a write is sent and ``{"number", "outcome"}`` afterwards; a line is
    in the file when the call returns. Without a file only people are told."""

    def __init__(self, path: str | None, say: Callable[[str], object]) -> None:
        self._path, self._say = path, say
        self._file: BinaryIO | None = None
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._sending: dict[int, Write] = {}

    def __enter__(self) -> Recorded:
        if self._path:
            self._file = self._stack.enter_context(open(self._path, "ab", buffering=0))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def __call__(self, number: int, what: Write | Outcome) -> None:
        with self._lock:
            if self._file is not None:
                name = "write" if isinstance(what, Write) else "outcome"
                self._file.write(msgspec.json.encode({"number": number, name: what}) + b"\n")
            if isinstance(what, Write):
                self._sending[number] = what
            else:
                self._tell(self._sending.pop(number), what)

    def _tell(self, write: Write, outcome: Outcome) -> None:
        words = TOLD.get(write.purpose)
        if words is None and outcome.is_done:
            return
        pod = f"{write.about.namespace}/{write.about.name}"
        done = (words or write.purpose).format(node=outcome.node_name)
        said = done if outcome.is_done else f"{write.purpose}: {outcome.result}: {outcome.message}"
        self._say(f"{pod} {said}{' (dry run)' if outcome.dry_run else ''}")

"""What a driver writes and what extenders told it, for whoever started it: bindings, evictions and extenders that could
not be heard as lines for people, all of it as JSON."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import BinaryIO, Final

import msgspec

from framework.extenders import Answer, Request
from schedweb.writes.writes import Outcome, Write

SHOWN: Final = 4096
"""Bytes of an answer."""
OK: Final = 200
TOLD: Final = {"bind": "bound to {node}", "evict": "evicted"}


class Recorded:
    """Lines ``{"number", "write"}`` before a write is sent and ``{"number", "outcome"}`` afterwards; a line is
    in the file when the call returns. ``{"asked"}`` is a request to an extender with its answer. Without a file only
    people are told."""

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

    def heard(self, asked: Request, answer: Answer, microseconds: int) -> None:
        """Of the answer the beginning is kept, of the request nothing but whom it was about."""
        said = {"error": answer.error} if answer.error else {"status": answer.status, "answer": _beginning(answer.body)}
        about = {"extender": asked.name, "verb": asked.verb, "pod": asked.pod, "microseconds": microseconds}
        with self._lock:
            if self._file is not None:
                self._file.write(msgspec.json.encode({"asked": {**about, **said}}) + b"\n")
            if answer.error or answer.status != OK:
                self._say(f"{asked.pod} {asked.verb}: {asked.name}: {answer.error or f'status {answer.status}'}")

    def _tell(self, write: Write, outcome: Outcome) -> None:
        words = TOLD.get(write.purpose)
        if words is None and outcome.is_done:
            return
        pod = f"{write.about.namespace}/{write.about.name}"
        done = (words or write.purpose).format(node=outcome.node_name)
        said = done if outcome.is_done else f"{write.purpose}: {outcome.result}: {outcome.message}"
        self._say(f"{pod} {said}{' (dry run)' if outcome.dry_run else ''}")


def _beginning(body: bytes) -> str:
    return body[:SHOWN].decode(errors="replace")

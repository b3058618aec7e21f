"""The engine in a thread of the test instead of a process of its own, with the same messages through the same pipes."""

from __future__ import annotations

import io
import itertools
import os
import threading
from typing import Any

from schedweb.engine.child import serve

_NUMBERS = itertools.count(1)


class EngineThread:
    """What EngineProcess asks of a Popen. It spares a test the start of Python: most of a second per run."""

    def __init__(self, module: str) -> None:
        self.pid = next(_NUMBERS)
        inward, stdin = os.pipe()
        stdout, outward = os.pipe()
        self.stdin = os.fdopen(stdin, "wb", buffering=0)
        self.stdout = os.fdopen(stdout, "rb")
        self.stderr = io.BytesIO()
        self._ends: tuple[Any, Any] = (os.fdopen(inward, "rb", buffering=0), os.fdopen(outward, "wb"))
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        inward, outward = self._ends
        try:
            serve(inward, outward)
        finally:
            inward.close()
            outward.close()

    def poll(self) -> int | None:
        return None if self._thread.is_alive() else 0

    def wait(self, timeout: float | None = None) -> int:
        self._thread.join(timeout)
        assert not self._thread.is_alive(), "the engine did not end"
        return 0

    def kill(self) -> None:
        self.stdin.close()

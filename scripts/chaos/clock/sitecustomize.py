"""Read by every Python of a host whose clock jumps. Under libfaketime 0.9.10 time.sleep of Python 3.11 fails with
EINVAL (it sleeps until an instant of the monotonic clock), which happens on no host; waiting for a lock does not."""

from __future__ import annotations

import threading
import time


def sleep(seconds: float) -> None:
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    lock = threading.Lock()
    lock.acquire()
    # Also for longer than a lock may be waited for at once.
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        lock.acquire(timeout=min(left, 3600.0))


time.sleep = sleep  # type: ignore[assignment]

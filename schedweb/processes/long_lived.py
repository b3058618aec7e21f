"""What processes do that live long and whose threads wait for each other."""

from __future__ import annotations

import gc
import sys
from typing import Final

SWITCH_SECONDS: Final = 0.0005
"""A thread that has waited for the database, or for an API server, may have to wait as long as this for each other one
that computes. Of a run that scheduled a cluster bindings took 59 to 73 ms so, and 77 to 130 with Python's own 5 ms."""


def settle_down() -> None:
    """What is loaded stays: without this the garbage collector goes through all of it now and then, while somebody
    waits."""
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_SECONDS)

"""What processes do that live long and whose threads wait for each other."""

from __future__ import annotations

import sys
from typing import Final

from schedweb.processes.collecting import end_loading

SWITCH_SECONDS: Final = 0.0005
"""A thread that has waited for the database, or for an API server, may have to wait as long as this for each other one
that computes. Of a run that scheduled a cluster bindings took 59 to 73 ms so, and 77 to 130 with Python's own 5 ms."""


def settle_down() -> None:
    """To be called when everything is loaded."""
    end_loading()
    sys.setswitchinterval(SWITCH_SECONDS)

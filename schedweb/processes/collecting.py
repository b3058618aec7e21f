"""When Python looks for garbage: seldom while a process begins, and then never at what that loaded."""

from __future__ import annotations

import gc
from typing import Final

LOADING: Final = (100_000, 10, 10)
"""Objects made and not yet freed between two looks at the young ones, and so on. A module that is imported makes many
and drops next to none: with Python's own thresholds looking at them was a fifth of what a command computes."""
LOADED: Final = (700, 10, 10)
"""Python's own."""


def begin_loading() -> None:
    """To be called before the first large import. A command that ends soon may leave it at that."""
    gc.set_threshold(*LOADING)


def end_loading() -> None:
    """What is loaded stays: without this it is all looked at now and then, while somebody waits."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*LOADED)

"""How often Python looks for garbage while a machine runs."""

from __future__ import annotations

import gc
from typing import Final

THRESHOLDS: Final = (20_000, 100, 20)
"""Objects made and not yet freed between two looks at the young ones, and so on; Python's own are (700, 10, 10).
A look at 100,000 young ones stops everything for up to 0.2 s, which a command would wait for."""


def settle() -> None:
    """To be called when everything is loaded: what is there stays, so the collector need not look at it ever again.

    From then on it comes less often. The machine makes hundreds of objects per attempt, which are freed when nobody
    refers to them any more, and next to none that only the collector could free.
    """
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)

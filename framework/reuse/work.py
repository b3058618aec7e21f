"""How much was worked out: counters that tests hold against bounds, since no test may look at the time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Work:
    rows: int = 0
    """Rows that kernels were given."""
    whole: int = 0
    """Passes over a whole array: a column worked out anew or spread, a renormalisation, a search for the best."""
    plans: int = 0
    """Plans that plugins were asked for."""
    node_calls: int = 0
    """Calls of plugins that answer node by node."""
    dry_runs: int = 0
    """Nodes on which preemption was tried out."""

"""What checks of objects remember of one another, so that replicas are looked at once; never of what is unusually long.

A memory of so many entries has no bound in bytes where strangers choose how long an entry is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

R = TypeVar("R")

LARGEST_SPEC: Final = 16 * 1024
"""Bytes of a pod's spec, encoded; those of real workloads have a few thousand."""
MOST_LABELS: Final = 64
LONGEST_TEXT: Final = 512
"""Characters; names, keys and values of Kubernetes have less."""


def remembered(entries: int) -> Callable[[Callable[[str], R]], Callable[[str], R]]:
    """Of a function of one text: what it returned for the last ``entries`` different ones of usual length."""

    def of(function: Callable[[str], R]) -> Callable[[str], R]:
        known = lru_cache(maxsize=entries)(function)

        @wraps(function)
        def asked(text: str) -> R:
            return known(text) if len(text) <= LONGEST_TEXT else function(text)

        return asked

    return of

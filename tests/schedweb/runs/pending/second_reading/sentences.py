"""What sentences may claim: a pattern and what has to be so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tests.schedweb.runs.pending.second_reading.cluster import Cluster, Manifest

Check = Callable[[Cluster, Manifest, re.Match[str]], bool]
CLAIMS: list[tuple[re.Pattern[str], Check]] = []
"""Tried in this order."""


def says(pattern: str) -> Callable[[Check], Check]:
    def note(check: Check) -> Check:
        CLAIMS.append((re.compile(pattern + r"(?: |$)"), check))
        return check

    return note


def untrue(cluster: Cluster, pod: Manifest, said: str) -> Iterator[str]:
    """Every sentence of ``said`` that is not so, and every one that nobody here understands."""
    rest = said
    while rest:
        for pattern, check in CLAIMS:
            if found := pattern.match(rest):
                if not check(cluster, pod, found):
                    yield found[0]
                rest = rest[found.end() :]
                break
        else:
            yield f"not understood: {rest}"
            return

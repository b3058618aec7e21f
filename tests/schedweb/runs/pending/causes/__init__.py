"""Why pods stay pending: a cluster per cause and the first sentence it must give. `test_causes.py` plays them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.schedweb.runs.pending.causes import claims, labels, nodes, pods
from tests.schedweb.runs.pending.causes.cause import Cause as Cause


def causes() -> Iterator[Cause]:
    yield from labels.causes()
    yield from nodes.causes()
    yield from pods.causes()
    yield from claims.causes()

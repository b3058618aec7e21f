"""How many nodes each verdict of an attempt is of."""

from __future__ import annotations

import numpy as np
import pytest

from tests.builders import make_node, make_pod
from tests.cycle.small import SmallCluster


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_counts_are_those_of_the_verdicts(kinds: int) -> None:
    """Whether they are worked out from every node's verdict or follow from what is known without."""
    nodes = [make_node(f"n{i}", cpu="4" if i % kinds == 0 else "1", unschedulable=i % kinds == 2) for i in range(12)]
    attempt = SmallCluster(nodes).schedule(make_pod("p", requests={"cpu": "2"}))
    searched = attempt.filter
    assert searched is not None
    assert searched.recorded is not None
    assert len(searched.verdicts) == kinds
    assert searched.counts() == np.bincount(searched.verdict, minlength=kinds).tolist()

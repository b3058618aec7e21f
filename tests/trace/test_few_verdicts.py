"""Verdicts of few nodes: what is read, hashed and written of them is the same, byte for byte, as of whole arrays."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from framework.interface import SUCCESS
from framework.trace.attempt import NOT_EVALUATED, AttemptTrace, FilterTrace
from framework.trace.digest import START, digest
from framework.trace.encoding import decode_attempts, encode_attempts
from tests.trace.attempts import FIT, TAINT, Attempts
from tests.trace.test_encoding import assert_equal

NODES = 40


def attempts_of(seed: int, *, as_arrays: bool) -> list[AttemptTrace]:
    """Attempts that looked at one or two nodes, and some that looked at all, of two workloads."""
    makes, rng = Attempts(seed, NODES), random.Random(seed)
    made = []
    for _ in range(300):
        if rng.random() < 0.1:
            made.append(makes.bound())
            continue
        trace = makes.plain("bound")
        trace.filter = FilterTrace(makes.nodes, None, [SUCCESS, FIT, TAINT])
        for _ in range(rng.choice((1, 1, 1, 2, 15))):
            trace.filter.set(rng.randrange(NODES), rng.choice((0, 0, 0, 1, 2)))
        if as_arrays:
            assert trace.filter.verdict.dtype == "int32"
        made.append(trace)
    return made


def digest_of(traces: Sequence[AttemptTrace]) -> str:
    found = START
    for trace in traces:
        found = digest(trace, found)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_chunks_and_digests_are_the_same_as_of_arrays(seed: int) -> None:
    few, arrays = attempts_of(seed, as_arrays=False), attempts_of(seed, as_arrays=True)
    assert any(each.filter is not None and each.filter.few for each in few)
    chunk = encode_attempts(few)
    assert chunk == encode_attempts(arrays)
    # Some are asked for their arrays in between: of every 128th cycle.
    assert digest_of(few) == digest_of(arrays)
    assert encode_attempts(few) == chunk
    for one, other in zip(decode_attempts(chunk), arrays, strict=True):
        assert_equal(one, other)


def test_a_node_that_is_looked_at_again_counts_once() -> None:
    trace = FilterTrace(("a", "b", "c"), None, [SUCCESS, FIT])
    assert (trace.at(1), trace.explicit) == (NOT_EVALUATED, 0)
    trace.set(1, 1)
    trace.set(1, 1)
    trace.set(2, 0)
    assert (trace.at(1), trace.at(2), trace.explicit, trace.counts()) == (1, 0, 1, [1, 1])
    assert [trace.status(position) for position in range(3)] == [None, FIT, SUCCESS]
    trace.set(1, 0)
    assert trace.explicit == 0
    trace.set(1, 1)
    assert trace.verdict.tolist() == [NOT_EVALUATED, 1, 0]
    trace.set(0, 1)
    assert (trace.at(0), trace.explicit, trace.counts()) == (1, 2, [1, 2])

"""A run's digest: a hash chained over its attempts, equal exactly when every decision and reason was equal.

Of the arrays of most attempts it takes what they come to (how many nodes were feasible, the best total, how many had
it); of every WHOLE_EVERYth cycle every node's verdict and every score. Hashing 5,000 nodes times twenty columns would
cost more than the rest of an attempt. Durations are not part of a trace, so two runs with one seed and one journal have
one digest.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from framework.trace.attempt import AttemptTrace
from framework.trace.content import SIZE, content_of, own_numbers, update_with_arrays

START: Final = "0" * (2 * SIZE)
"""The digest of a run without attempts."""
WHOLE_EVERY: Final = 128
"""Cycles 1, 129, 257, …: counted in cycles, so that a replayed run takes the same ones."""
_encode: Final = msgspec.msgpack.Encoder().encode


def digest(trace: AttemptTrace, previous: str = START) -> str:
    """The digest after ``trace``, given the one before it."""
    said = bytes.fromhex(previous) + _encode(own_numbers(trace)) + content_of(trace).digest
    hashed = hashlib.blake2b(said, digest_size=SIZE)
    if trace.cycle % WHOLE_EVERY == 1:
        update_with_arrays(hashed, trace)
    return hashed.hexdigest()

"""A run's digest: a hash chained over its attempts, equal exactly when every decision and reason was equal.

Durations are not part of a trace, so two runs with one seed and one journal have one digest.
"""

from __future__ import annotations

import hashlib
from typing import Final

import msgspec

from framework.trace.attempt import AttemptTrace
from framework.trace.content import SIZE, content_digest, own_numbers

START: Final = "0" * (2 * SIZE)
"""The digest of a run without attempts."""
_encode: Final = msgspec.msgpack.Encoder().encode


def digest(trace: AttemptTrace, previous: str = START) -> str:
    """The digest after ``trace``, given the one before it."""
    hashed = hashlib.blake2b(bytes.fromhex(previous), digest_size=SIZE)
    hashed.update(_encode(own_numbers(trace)))
    hashed.update(content_digest(trace))
    return hashed.hexdigest()

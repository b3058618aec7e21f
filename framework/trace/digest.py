"""A run's digest: a hash chained over its attempts, equal exactly when every decision and reason was equal.

Durations are not part of a trace, so two runs with one seed and one journal have one digest.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from framework.trace.arrays import pack
from framework.trace.attempt import AttemptTrace
from framework.trace.encoding import plain_of

SIZE: Final = 16
START: Final = "0" * (2 * SIZE)
"""The digest of a run without attempts."""


def digest(trace: AttemptTrace, previous: str = START) -> str:
    """The digest after ``trace``, given the one before it."""
    hashed = hashlib.blake2b(bytes.fromhex(previous), digest_size=SIZE)
    hashed.update(msgspec.msgpack.encode(plain_of(trace)))
    if trace.filter is not None:
        _update(hashed, trace.filter.verdict)
        hashed.update(msgspec.msgpack.encode(trace.filter.verdicts))
    if trace.scores is not None:
        _update(hashed, trace.scores.positions)
        for plugin in trace.scores.plugins:
            hashed.update(f"{plugin.plugin}\0{plugin.weight}\0".encode())
            _update(hashed, plugin.raw)
            _update(hashed, plugin.normalized)
        _update(hashed, trace.scores.total)
        _update(hashed, trace.scores.candidates)
    return hashed.hexdigest()


def _update(hashed: Any, values: NDArray[Any]) -> None:
    packed = pack(np.asarray(values))
    hashed.update(msgspec.msgpack.encode(packed))

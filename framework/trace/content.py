"""What an attempt says apart from its place in the run, in a form to encode and as a digest.

A pod that nothing helps is tried again and again with the same answer; then only ``OWN`` differs.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from framework.trace.arrays import pack
from framework.trace.attempt import AttemptTrace

SIZE: Final = 16
OWN: Final = ("attempt", "cycle", "at", "finished_at")
"""What an attempt that repeats another does not share with it."""
_APART: Final = ("filter", "scores", "content")
_HINTS: Final = get_type_hints(AttemptTrace)
PLAIN: Final = tuple(f.name for f in fields(AttemptTrace) if f.name not in _APART)
Plain: Final[Any] = msgspec.defstruct(
    "Plain",
    [(name, _HINTS[name], msgspec.field(default=None)) for name in PLAIN],
    module=__name__,
    omit_defaults=True,
)
"""Everything of an attempt but its arrays. Old chunks lack fields that came later; they then keep their defaults."""

_plain_values: Final = attrgetter(*PLAIN)
_content_values: Final = attrgetter(*(name for name in PLAIN if name not in OWN))
own_numbers: Final = attrgetter(*OWN)
_encode: Final = msgspec.msgpack.Encoder().encode


def plain_of(trace: AttemptTrace) -> Any:
    """Everything of an attempt but its arrays, as a Struct to encode."""
    return Plain(*_plain_values(trace))


def encoded_content(trace: AttemptTrace) -> bytes:
    """Everything of an attempt but ``OWN`` and its arrays."""
    return _encode(_content_values(trace))


def content_digest(trace: AttemptTrace) -> bytes:
    """Of an attempt that has ended: its decision and every reason, but of its arrays only what they come to."""
    content = trace.content
    if content is None:
        return _hash(trace)
    if not content.digest:
        content.digest = _hash(trace)
    return content.digest


def _hash(trace: AttemptTrace) -> bytes:
    hashed = hashlib.blake2b(encoded_content(trace), digest_size=SIZE)
    if trace.filter is not None:
        hashed.update(_encode((trace.filter.explicit, trace.filter.verdicts)))
    if trace.scores is not None:
        hashed.update(_encode((trace.scores.places, trace.scores.best, trace.scores.ties)))
    return hashed.digest()


def update_with_arrays(hashed: Any, trace: AttemptTrace) -> None:
    """Every node's verdict, scores and total."""
    if trace.filter is not None:
        _update(hashed, trace.filter.verdict)
    if trace.scores is not None:
        _update(hashed, trace.scores.positions)
        for plugin in trace.scores.plugins:
            hashed.update(f"{plugin.plugin}\0{plugin.weight}\0".encode())
            _update(hashed, plugin.raw)
            _update(hashed, plugin.normalized)
        _update(hashed, trace.scores.total)
        _update(hashed, trace.scores.candidates)


def _update(hashed: Any, values: NDArray[Any]) -> None:
    hashed.update(_encode(pack(np.asarray(values))))

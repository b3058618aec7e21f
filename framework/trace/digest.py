"""A run's digest: a hash chained over its attempts, equal exactly when every decision and reason was equal.

Of the arrays of most attempts it takes what they come to (how many nodes were feasible, the best total, how many had
it); of every WHOLE_EVERYth cycle every node's verdict and every score. Hashing 5,000 nodes times twenty columns would
cost more than the rest of an attempt. Durations are not part of a trace, so two runs with one seed and one journal have
one digest.

A pod that nothing helps is tried again and again with the same answer; then only ``OWN`` differs, and what an attempt
says apart from it is encoded and hashed once.
"""

from __future__ import annotations

import hashlib
from operator import attrgetter
from typing import Any, Final, get_type_hints

import msgspec
import numpy as np
from msgspec.structs import FieldInfo, fields
from numpy.typing import NDArray

from framework.interface.status import SUCCESS
from framework.trace.arrays import pack
from framework.trace.attempt import AttemptTrace, PostFilterOutcome, SharedContent
from framework.trace.deferred import encode_deferred

SIZE: Final = 16
OWN: Final = ("attempt", "cycle", "at", "finished_at")
"""What an attempt that repeats another does not share with it."""
_APART: Final = ("filter", "scores", "content", *OWN)
_HINTS: Final = get_type_hints(AttemptTrace)
_FIELDS: Final = tuple(each for each in fields(AttemptTrace) if each.name not in _APART)
SHARED: Final = tuple(each.name for each in _FIELDS)


def _default(each: FieldInfo) -> Any:
    if each.default_factory is not msgspec.NODEFAULT:
        return msgspec.field(default_factory=each.default_factory)
    return msgspec.field(default="" if each.default is msgspec.NODEFAULT else each.default)


Content: Final[Any] = msgspec.defstruct(
    "Content",
    [(each.name, _HINTS[each.name], _default(each)) for each in _FIELDS],
    module=__name__,
    omit_defaults=True,
)
"""Everything of an attempt but ``OWN`` and its arrays. What is as in any attempt is not written, and chunks from before
a field was there are read with its default."""

_shared_values: Final = attrgetter(*SHARED)
own_numbers: Final = attrgetter(*OWN)
_encode: Final = msgspec.msgpack.Encoder(enc_hook=encode_deferred).encode
_blake2b: Final = hashlib.blake2b
_ALL_FIT: Final = msgspec.Raw(_encode((0, [SUCCESS])))
"""Of all attempts in which no node that was looked at had a status of its own."""
_ALL_FIT_UNSCORED: Final = _encode((_ALL_FIT, None))
_OUTCOMES: Final = tuple(
    SHARED.index(name) for name in ("pre_filter", "pre_score", "reserve", "pre_bind_pre_flight", "bind")
)
"""Replicas share these: what plugins said of all of them."""
_MORE_PASSES, _POST_FILTER = SHARED.index("more_passes"), SHARED.index("post_filter")
_OF_POST_FILTER: Final = PostFilterOutcome._fields.index("dry_runs")
"""So many of its fields are hashed."""
_MOST_OUTCOMES: Final = 512
_encoded_outcomes: Final[dict[int, tuple[tuple[Any, ...], msgspec.Raw]]] = {}
"""Id → the tuple, which is thereby kept, and its encoding."""


def _encode_outcomes(outcomes: tuple[Any, ...]) -> msgspec.Raw:
    encoded = msgspec.Raw(_encode(outcomes))
    if len(_encoded_outcomes) >= _MOST_OUTCOMES:
        del _encoded_outcomes[next(iter(_encoded_outcomes))]
    _encoded_outcomes[id(outcomes)] = (outcomes, encoded)
    return encoded


def _values_of(trace: AttemptTrace) -> list[Any]:
    """Of a ``Content``, with what plugins said encoded."""
    values = list(_shared_values(trace))
    for index in _OUTCOMES:
        if outcomes := values[index]:
            known = _encoded_outcomes.get(id(outcomes))
            values[index] = _encode_outcomes(outcomes) if known is None else known[1]
    return values


def _without_what_came_later(values: list[Any], trace: AttemptTrace) -> bytes:
    """A ``Content`` as traces had it when digests of runs were stored that have to come out again. Takes ``values``."""
    values[_MORE_PASSES] = ()
    # A list is written even if it is empty, which the tuple of a trace is not.
    values[_POST_FILTER] = [tuple(outcome)[:_OF_POST_FILTER] for outcome in trace.post_filter]
    return _encode(Content(*values))


def encoded_content(trace: AttemptTrace) -> bytes:
    """A ``Content``. Of an attempt that has ended, or waits on Permit and is written as it is now."""
    return _encode(Content(*_values_of(trace)))


def content_of(trace: AttemptTrace) -> SharedContent:
    """Of an attempt that has ended: its digest and its encoding, worked out once.

    The digest takes its decision and every reason, but of its arrays only what they come to.
    """
    content = trace.content
    if content is None:
        content = trace.content = SharedContent()
    if not content.encoded:
        values = _values_of(trace)
        content.encoded = _encode(Content(*values))
        is_as_ever = not trace.more_passes and not trace.post_filter
        content.digest = _hash(trace, content.encoded if is_as_ever else _without_what_came_later(values, trace))
    return content


def _hash(trace: AttemptTrace, encoded: bytes) -> bytes:
    filter_, scores = trace.filter, trace.scores
    if filter_ is None:
        found: Any = None
    elif len(filter_.verdicts) == 1:
        found = _ALL_FIT
    else:
        found = (filter_.explicit, filter_.verdicts)
    if scores is not None:
        arrays = _encode((found, (scores.places, scores.best, scores.ties)))
    else:
        arrays = _ALL_FIT_UNSCORED if found is _ALL_FIT else _encode((found, None))
    return _blake2b(encoded + arrays, digest_size=SIZE).digest()


def update_with_arrays(hashed: Any, trace: AttemptTrace) -> None:
    """Every node's verdict, scores and total."""
    if trace.filter is not None:
        _update(hashed, trace.filter.verdict)
    if trace.scores is not None:
        scores = trace.scores.whole()
        _update(hashed, scores.positions)
        for plugin in scores.plugins:
            hashed.update(f"{plugin.plugin}\0{plugin.weight}\0".encode())
            _update(hashed, plugin.raw)
            _update(hashed, plugin.normalized)
        _update(hashed, scores.total)
        _update(hashed, scores.candidates)


def _update(hashed: Any, values: NDArray[Any]) -> None:
    hashed.update(_encode(pack(np.asarray(values))))


START: Final = "0" * (2 * SIZE)
"""The digest of a run without attempts."""
WHOLE_EVERY: Final = 128
"""Cycles 1, 129, 257, …: counted in cycles, so that a replayed run takes the same ones."""


def digest(trace: AttemptTrace, previous: str = START) -> str:
    """The digest after ``trace``, given the one before it."""
    content = bytes.fromhex(previous) + _encode(own_numbers(trace)) + content_of(trace).digest
    hashed = _blake2b(content, digest_size=SIZE)
    if trace.cycle % WHOLE_EVERY == 1:
        update_with_arrays(hashed, trace)
    return hashed.hexdigest()

"""What a PostFilter plugin answered, as the trace keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from framework.interface.plugin import Candidate, PostFilterResult
from framework.interface.status import Status
from framework.trace.attempt import CandidateNode, PostFilterOutcome
from framework.trace.deferred import Deferred, array_header

KEPT: Final = 1 << 16

_encode: Final = msgspec.msgpack.Encoder().encode


class _Encodings:
    """Of hundreds of candidates few are others from one attempt to the next."""

    def __init__(self) -> None:
        self._known: dict[tuple[Candidate, str], bytes] = {}

    def of(self, candidates: Sequence[Candidate], lost_by: Sequence[str]) -> list[bytes]:
        known = self._known
        pairs = list(zip(candidates, lost_by, strict=True))
        try:
            return [known[pair] for pair in pairs]
        except KeyError:
            if len(known) > KEPT:
                known.clear()
            for pair in pairs:
                if pair not in known:
                    known[pair] = _encode(_candidate_node(*pair))
            return [known[pair] for pair in pairs]


class _CandidateNodes(Deferred[CandidateNode]):
    __slots__ = ("_candidates", "_encodings", "_lost_by")

    def __init__(self, candidates: Sequence[Candidate], lost_by: Sequence[str], encodings: _Encodings) -> None:
        super().__init__()
        self._candidates = candidates
        self._lost_by = lost_by or ("",) * len(candidates)
        self._encodings = encodings

    def _make(self) -> tuple[CandidateNode, ...]:
        return tuple(map(_candidate_node, self._candidates, self._lost_by))

    def __len__(self) -> int:
        return len(self._candidates)

    def encoded(self) -> bytes:
        return b"".join((array_header(len(self)), *self._encodings.of(self._candidates, self._lost_by)))


def _candidate_node(candidate: Candidate, lost_by: str) -> CandidateNode:
    victims = candidate.victims
    keys, priorities = tuple(pod.key for pod in victims), tuple(pod.spec.priority or 0 for pod in victims)
    return CandidateNode(candidate.node, keys, candidate.pdb_violations, lost_by, priorities)


class PostFilterOutcomes:
    def __init__(self) -> None:
        self._encodings = _Encodings()

    def of(self, plugin: str, status: Status, result: PostFilterResult | None) -> PostFilterOutcome:
        if result is None:
            return PostFilterOutcome(plugin, status, None, (), (), ())
        return PostFilterOutcome(
            plugin,
            status,
            result.nominated_node,
            tuple(victim.key for victim in result.victims),
            _CandidateNodes(result.candidates, result.lost_by, self._encodings),
            result.nominated_any,
            tuple(result.refused.items()),
            result.not_tried,
        )

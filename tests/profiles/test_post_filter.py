"""Candidates of preemption on record: read late, encoded once, and the same as if written down at once."""

from __future__ import annotations

import msgspec

from framework.interface import Candidate, PostFilterResult, Status
from framework.profiles.post_filter import PostFilter
from framework.trace.attempt import CandidateNode, PostFilterOutcome
from framework.trace.deferred import encode_deferred
from tests.builders import make_pod

HIGH, LOW = make_pod("high", priority=7), make_pod("low")
FIRST, SECOND = Candidate("a", (HIGH, LOW)), Candidate("b", (LOW,), 1)


def test_candidates_are_written_with_what_they_lost_by_this_time() -> None:
    point = PostFilter(())
    encode = msgspec.msgpack.Encoder(enc_hook=encode_deferred).encode
    for lost_by in (("", "fewest victims"), ("fewest victims", ""), ()):
        result = PostFilterResult("a", (HIGH, LOW), [FIRST, SECOND], lost_by, ("a",), {"no room": ["c"]}, ["d"])
        made = point.outcome("Preempts", Status(), result)
        one, other = lost_by or ("", "")
        candidates = (
            CandidateNode("a", ("default/high", "default/low"), 0, one, (7, 0)),
            CandidateNode("b", ("default/low",), 1, other, (0,)),
        )
        assert made.candidates == candidates
        victims = ("default/high", "default/low")
        written = PostFilterOutcome(
            "Preempts", Status(), "a", victims, candidates, ("a",), (("no room", ["c"]),), ["d"]
        )
        assert encode(made) == encode(written)
        assert msgspec.msgpack.decode(encode(made), type=PostFilterOutcome).candidates == candidates

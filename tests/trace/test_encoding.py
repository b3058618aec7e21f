"""Chunks of attempts: what goes in comes out, in few bytes, and the same attempts are the same bytes."""

from __future__ import annotations

import copy

import msgspec
import numpy as np
import pytest
import zstandard
from msgspec.structs import fields

from framework.trace.attempt import AttemptTrace, ScoreTrace
from framework.trace.encoding import (
    AttemptChunk,
    AttemptWriter,
    UnreadableChunk,
    decode_attempt,
    decode_attempts,
    encode_attempts,
)
from tests.trace.attempts import Attempts
from tests.trace.histories import Histories


def assert_equal(one: AttemptTrace, other: AttemptTrace) -> None:
    for each in fields(AttemptTrace):
        if each.name not in ("filter", "scores", "content"):
            assert getattr(one, each.name) == getattr(other, each.name), each.name
    assert (one.filter is None) == (other.filter is None)
    if one.filter is not None and other.filter is not None:
        assert one.filter.nodes == other.filter.nodes
        positions = range(len(one.filter.nodes))
        assert [one.filter.status(p) for p in positions] == [other.filter.status(p) for p in positions]
        assert one.filter.explicit == other.filter.explicit
    assert (one.scores is None) == (other.scores is None)
    if one.scores is not None and other.scores is not None:
        assert one.scores.positions.tolist() == other.scores.positions.tolist()
        assert one.scores.total.tolist() == other.scores.total.tolist()
        assert one.scores.candidates.tolist() == other.scores.candidates.tolist()
        assert len(one.scores.plugins) == len(other.scores.plugins)
        for mine, its in zip(one.scores.plugins, other.scores.plugins, strict=True):
            assert (mine.plugin, mine.weight) == (its.plugin, its.weight)
            assert mine.raw.tolist() == its.raw.tolist()
            assert mine.normalized.tolist() == its.normalized.tolist()


@pytest.mark.parametrize("seed", range(8))
def test_attempts_come_back_as_they_were(seed: int) -> None:
    attempts = Attempts(seed).mixed(60)
    blob = encode_attempts(attempts)
    assert len(AttemptChunk(blob)) == 60
    for i, (attempt, decoded) in enumerate(zip(attempts, decode_attempts(blob), strict=True)):
        assert_equal(attempt, decoded)
        assert_equal(attempt, decode_attempt(blob, i))


@pytest.mark.parametrize("seed", range(8))
def test_who_waited_when_it_was_added_comes_back_as_it_ended(seed: int) -> None:
    attempts = Attempts(seed).mixed(60)
    waiting = [attempt for attempt in attempts if attempt.result == "waiting"]
    assert len(waiting) > 2
    writer = AttemptWriter()
    for attempt in attempts:
        writer.add(attempt)
    for attempt in waiting[::2]:
        attempt.result, attempt.waiting_for = "bound", {}
    assert len(writer) == 60
    for attempt, decoded in zip(attempts, decode_attempts(writer.written()), strict=True):
        assert_equal(attempt, decoded)


def test_two_runs_of_the_same_make_the_same_bytes() -> None:
    assert encode_attempts(Attempts(1).mixed(40)) == encode_attempts(Attempts(1).mixed(40))
    assert encode_attempts(Attempts(1).mixed(40)) != encode_attempts(Attempts(2).mixed(40))


def test_a_decoded_chunk_encodes_to_an_equal_one() -> None:
    blob = encode_attempts(Attempts(3).mixed(40))
    for one, other in zip(decode_attempts(blob), decode_attempts(encode_attempts(decode_attempts(blob))), strict=True):
        assert_equal(one, other)


def test_reading_one_attempt_decodes_what_it_reads() -> None:
    maker = Attempts(2)
    attempts = [maker.bound() for _ in range(50)]
    chunk = AttemptChunk(encode_attempts(attempts))
    assert_equal(attempts[17], chunk[17])
    assert list(chunk.frames.decoded) == [17]
    # Of two groups of names, web and db, each with its columns.
    assert 0 < len(chunk.columns.decoded) <= len(chunk.columns) / 2


def test_the_node_list_may_change_within_a_chunk() -> None:
    small, large = Attempts(4, nodes=10), Attempts(5, nodes=30)
    attempts = [small.bound(), large.bound(), small.bound(), large.failed()]
    for attempt, decoded in zip(attempts, decode_attempts(encode_attempts(attempts)), strict=True):
        assert_equal(attempt, decoded)


def test_extreme_scores_survive() -> None:
    attempts = Attempts(6, nodes=4)
    trace = attempts.bound()
    assert trace.scores is not None
    plugin = trace.scores.plugins[0]
    plugin.raw[:2] = [2**63 - 1, -(2**63)]
    plugin.normalized = np.array([0, 100, *plugin.normalized[2:]], dtype=np.int64)
    again = decode_attempt(encode_attempts([attempts.bound(), trace]), 1)
    assert again.scores is not None
    assert again.scores.plugins[0].raw.tolist() == plugin.raw.tolist()
    assert again.scores.total.tolist() == trace.scores.total.tolist()  # no longer the sum: written as it is


def test_placing_equal_pods_costs_few_bytes_per_attempt() -> None:
    maker = Attempts(7, nodes=2000)
    attempts = [maker.bound() for _ in range(100)]
    for attempt in attempts:
        assert attempt.scores is not None
        positions, plugins = attempt.scores.positions, attempt.scores.plugins[:2]
        # Without the one whose normalised scores do not follow from its raw ones.
        total = plugins[0].raw + 3 * plugins[1].normalized
        attempt.scores = ScoreTrace(positions, plugins, total, positions[total == total.max()])
    assert len(encode_attempts(attempts)) / len(attempts) < 400


def test_arrays_that_change_little_are_one_column() -> None:
    maker = Attempts(8, nodes=200)
    attempts = [maker.bound() for _ in range(50)]
    chunk = AttemptChunk(encode_attempts(attempts))
    # Two groups of names (web, db), a verdict and three plugins each.
    assert len(chunk.columns) <= 8
    for index in (0, 17, 49):
        assert_equal(attempts[index], chunk[index])


@pytest.mark.parametrize("seed", range(6))
def test_attempts_recorded_by_marks_come_back_as_their_arrays(seed: int) -> None:
    histories = Histories(seed)
    attempts = [histories.bound() for _ in range(60)]
    whole = copy.deepcopy(attempts)
    for attempt, decoded in zip(whole, decode_attempts(encode_attempts(attempts)), strict=True):
        assert_equal(attempt, decoded)
    # Half of a run, as a second chunk begins in the middle of a history.
    for attempt, decoded in zip(whole[30:], decode_attempts(encode_attempts(attempts[30:])), strict=True):
        assert_equal(attempt, decoded)
    mixed = [whole[i] if i % 3 else attempts[i] for i in range(60)]
    for attempt, decoded in zip(whole, decode_attempts(encode_attempts(mixed)), strict=True):
        assert_equal(attempt, decoded)


def test_marks_of_one_history_may_come_in_any_order() -> None:
    histories = Histories(1)
    attempts = [histories.bound() for _ in range(20)][::-1]
    whole = copy.deepcopy(attempts)
    for attempt, decoded in zip(whole, decode_attempts(encode_attempts(attempts)), strict=True):
        assert_equal(attempt, decoded)


def test_recorded_attempts_cost_what_changed() -> None:
    histories = Histories(2, nodes=5000, renew=0.0)
    attempts = [histories.bound() for _ in range(200)]
    first, rest = len(encode_attempts(attempts[:1])), len(encode_attempts(attempts))
    assert (rest - first) / 199 < 100


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"nonsense",
        zstandard.compress(b"nonsense"),
        zstandard.compress(msgspec.msgpack.encode([99, [], [], [], [], []])),
    ],
)
def test_other_bytes_are_refused(blob: bytes) -> None:
    with pytest.raises(UnreadableChunk):
        AttemptChunk(blob)


def test_there_is_no_attempt_beyond_the_last() -> None:
    blob = encode_attempts(Attempts(9).mixed(3))
    for index in (3, -1):
        with pytest.raises(IndexError):
            decode_attempt(blob, index)

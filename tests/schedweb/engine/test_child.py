"""The engine's process over its pipe: batches, commands with a place, death and another beginning."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from framework.objects.decode import decode_manifest
from framework.sentences import ENGLISH, in_words, sentence
from schedweb.engine import frames
from schedweb.engine.payload import encode_payload
from schedweb.engine.shapes import UntranslatedOutcome, UntranslatedResult
from schedweb.processes.forked import Forked
from schedweb.worker.process import Died, EngineProcess, Heard
from tests.schedweb.engine.worlds import ASKING, SECOND, START, Manifest, arrival, node, pod

PATIENCE = 60
T = TypeVar("T")
MANIFESTS: list[Manifest] = [node("a", "64"), node("b", "64"), *(pod(f"web-{index}", "100m") for index in range(60))]
TIMELINE = [arrival(2 + index / 10, pod(f"late-{index}", "100m")) for index in range(400)]


@dataclass
class Ledger:
    """What a supervisor would have stored."""

    position: int = 0
    digest: str = ""
    is_stored: bool = False
    state: str = ""
    journal: list[frames.Entry] = field(default_factory=list)
    checkpoint: bytes | None = None
    checkpoint_position: int = 0
    attempts: dict[int, frames.AttemptRow] = field(default_factory=dict)
    chunks: dict[int, int] = field(default_factory=dict)
    pods: dict[str, frames.PodRow] = field(default_factory=dict)
    outcomes: dict[str, UntranslatedOutcome] = field(default_factory=dict)
    last: frames.Batch | None = None

    def store(self, batch: frames.Batch) -> None:
        assert batch.position >= self.position
        self.position, self.digest, self.state, self.is_stored = batch.position, batch.digest, batch.state, True
        self.last = batch
        for row in batch.attempt_rows:
            known = self.attempts.get(row.number)
            assert known is None or known.result == "waiting", f"attempt {row.number} is told twice"
            self.attempts[row.number] = row
        if batch.chunk is not None:
            assert batch.chunk.first == sum(self.chunks.values()) + 1, "no attempt is missing and none comes twice"
            self.chunks[batch.chunk.first] = batch.chunk.count
        self.pods.update((row.uid, row) for row in batch.pods)
        for position, to in batch.clock_moves:
            self.journal.append(frames.Entry("", position, to, "", {"type": "clock", "to": to}))
        self.outcomes.update((outcome.id, outcome) for outcome in batch.outcomes)
        if batch.checkpoint is not None:
            self.checkpoint, self.checkpoint_position = batch.checkpoint, batch.position

    def keep(self, kept: frames.Kept) -> None:
        assert self.checkpoint_position <= kept.position <= self.position
        self.checkpoint, self.checkpoint_position = kept.data, kept.position


class Desk:
    """A supervisor without a database."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        checkpoint_seconds: float = 0.2,
        ready: bool = True,
        clock: str = "virtual",
        fresh: bool = False,
    ) -> None:
        self.ledger = ledger
        self.heard: queue.Queue[Heard] = queue.Queue()
        since = ledger.checkpoint_position
        begin = frames.Begin(
            payload=encode_payload(MANIFESTS, TIMELINE),
            configuration=ASKING,
            seed=7,
            ties="seeded",
            approvals="hold",
            clock=clock,
            start=START,
            speed="100",
            journal=[entry for entry in ledger.journal if entry.position >= since],
            position=ledger.position,
            digest=ledger.digest,
            is_stored=ledger.is_stored,
            checkpoint=ledger.checkpoint,
            checkpoint_seconds=checkpoint_seconds,
        )
        self.process = EngineProcess(begin, self.heard.put, fresh=fresh)
        if ready:
            self.until(lambda message: True if isinstance(message, frames.Ready) else None)

    def until_batch(self, fits: Callable[[frames.Batch], bool]) -> frames.Batch:
        """The newest batch as soon as it fits; it may have come already."""
        while self.ledger.last is None or not fits(self.ledger.last):
            self.until(lambda message: True if isinstance(message, frames.Batch) else None)
        return self.ledger.last

    def until(self, look: Callable[[Heard], T | None]) -> T:
        """Stores what comes, until there is what is looked for."""
        while True:
            message = self.heard.get(timeout=PATIENCE)
            if isinstance(message, frames.Batch):
                self.ledger.store(message)
                self.acknowledge(message)
            elif isinstance(message, frames.Kept):
                self.ledger.keep(message)
            found = look(message)
            if found is not None:
                return found
            assert not isinstance(message, Died), self.process.last_words()

    def acknowledge(self, batch: frames.Batch) -> None:
        try:
            self.process.send(frames.Ack(batch.number))
        except frames.Gone:
            return

    def until_outcome(self, id_: str) -> UntranslatedOutcome:
        self.until_batch(lambda _: id_ in self.ledger.outcomes)
        return self.ledger.outcomes[id_]

    def until_state(self, *states: str) -> frames.Batch:
        return self.until_batch(lambda batch: batch.state in states)

    def order(self, id_: str, command: dict[str, Any], *, commit: bool = True) -> UntranslatedOutcome | None:
        self.process.send(frames.Offer(id_, "mira", command))
        placed = self.until(lambda m: m if isinstance(m, frames.Batch) and m.place is not None else None)
        place = placed.place
        assert place is not None
        assert place.position == placed.position == self.ledger.position
        self.ledger.journal.append(frames.Entry(id_, place.position, place.clock, "mira", command))
        if not commit:
            return None
        self.process.send(frames.Commit(id_))
        return self.until_outcome(id_)

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.until(lambda message: True if isinstance(message, Died) else None)
        self.process.close()


@pytest.fixture
def desks() -> Iterator[list[Desk]]:
    opened: list[Desk] = []
    yield opened
    for desk in opened:
        desk.process.close()


def undisturbed(desks: list[Desk], *, fresh: bool = False) -> Ledger:
    desk = Desk(Ledger(), fresh=fresh)
    desks.append(desk)
    desk.order("play", {"type": "play", "speed": "max"})
    desk.until_state("finished")
    return desk.ledger


def end_of(ledger: Ledger) -> Any:
    bound = {row.uid: (row.column, row.node) for row in ledger.pods.values()}
    attempts = {number: (row.pod_uid, row.result, row.node, row.at) for number, row in ledger.attempts.items()}
    return ledger.digest, ledger.position, bound, attempts


def test_a_copy_of_a_process_plays_as_one_with_a_python_of_its_own(desks: list[Desk]) -> None:
    forked, fresh = undisturbed(desks), undisturbed(desks, fresh=True)
    kinds = [type(desk.process.child) for desk in desks]
    assert kinds == [Forked, subprocess.Popen]
    assert end_of(forked) == end_of(fresh)


@pytest.mark.parametrize("checkpoint_seconds", [0.1, 1000.0])
def test_killed_again_and_again_it_ends_as_if_nothing_had_happened(
    desks: list[Desk], checkpoint_seconds: float
) -> None:
    want = undisturbed(desks)
    ledger = Ledger()
    for round_ in range(3):
        desk = Desk(ledger, checkpoint_seconds=checkpoint_seconds)
        desks.append(desk)
        if round_ == 0:
            desk.order("play", {"type": "play", "speed": "100"})
        goal = ledger.position + 200
        desk.until_batch(lambda batch, goal=goal: batch.position > goal)  # type: ignore[misc]
        desk.kill()
        assert 0 < len(ledger.attempts) < len(want.attempts)
    assert (ledger.checkpoint is not None) == (checkpoint_seconds < 1)
    last = Desk(ledger)
    desks.append(last)
    last.order("faster", {"type": "set_speed", "speed": "max"})
    last.until_state("finished")
    assert end_of(ledger) == end_of(want)


@pytest.mark.parametrize("checkpoint_seconds", [0.1, 1000.0])
def test_a_run_on_a_real_clock_goes_on_where_its_journal_says(desks: list[Desk], checkpoint_seconds: float) -> None:
    ledger = Ledger()
    first = Desk(ledger, checkpoint_seconds=checkpoint_seconds, clock="real")
    desks.append(first)
    first.order("play", {"type": "play", "speed": "100"})
    first.until_batch(lambda batch: batch.arrivals_left < len(TIMELINE) - 3)
    first.kill()
    assert any(entry.command["type"] == "clock" for entry in ledger.journal)
    second = Desk(ledger, clock="real")
    desks.append(second)
    left = len(TIMELINE) - 8
    batch = second.until_batch(lambda batch: batch.arrivals_left < left)
    assert batch.clock >= START + 2 * SECOND
    told = [each.at for each in ledger.attempts.values()]
    assert told == sorted(told)


def test_a_command_that_was_placed_and_not_done_is_done_by_the_next_engine(desks: list[Desk]) -> None:
    ledger = Ledger()
    first = Desk(ledger)
    desks.append(first)
    new = pod("new", "100m")
    first.order("add", {"type": "pod_add", "manifest": new}, commit=False)
    first.kill()
    assert "uid-new" not in ledger.pods
    second = Desk(ledger)
    desks.append(second)
    assert second.until_outcome("add").result == UntranslatedResult(text=sentence("added pod {pod}", pod="shop/new"))
    assert ledger.pods["uid-new"].column == "active"


def test_nothing_is_done_before_it_is_committed(desks: list[Desk]) -> None:
    desk = Desk(Ledger())
    desks.append(desk)
    before = desk.ledger.position
    desk.order("add", {"type": "pod_add", "manifest": pod("new")}, commit=False)
    assert desk.ledger.position == before
    assert "uid-new" not in desk.ledger.pods
    desk.process.send(frames.Commit("add"))
    desk.until_outcome("add")
    assert "uid-new" in desk.ledger.pods


def test_steps_go_as_far_as_they_say(desks: list[Desk]) -> None:
    desk = Desk(Ledger())
    desks.append(desk)
    desk.order("point", {"type": "step", "what": "point"})
    batch = desk.until_batch(lambda batch: batch.points == 1)
    assert (batch.state, batch.attempts, batch.counts["in_flight"]) == ("paused", 0, 1)
    assert '"point":"PreFilter","state":"current"' in batch.cycle_json
    desk.order("cycle", {"type": "step", "what": "cycle"})
    batch = desk.until_batch(lambda batch: batch.attempts == 1)
    assert (batch.state, batch.counts["in_flight"], batch.counts["bound"]) == ("paused", 0, 1)
    assert batch.cycle_json == "null"


def test_a_command_that_would_be_refused_gets_no_place(desks: list[Desk]) -> None:
    desk = Desk(Ledger())
    desks.append(desk)
    desk.process.send(frames.Offer("gone", "mira", {"type": "pod_delete", "namespace": "shop", "name": "nobody"}))
    refusal = desk.until(lambda m: m if isinstance(m, frames.Refusal) else None)
    assert refusal.text == 'pods "nobody" not found in namespace "shop"'


def test_ended_in_order_it_leaves_a_checkpoint_to_go_on_from(desks: list[Desk]) -> None:
    want = undisturbed(desks)
    ledger = Ledger()
    first = Desk(ledger, checkpoint_seconds=1000)
    desks.append(first)
    first.order("play", {"type": "play", "speed": "100"})
    first.until_batch(lambda batch: batch.position > 150)
    first.order("pause", {"type": "pause"})
    first.process.send(frames.End())
    first.until(lambda m: True if isinstance(m, frames.Ended) else None)
    assert ledger.checkpoint is not None
    second = Desk(ledger)
    desks.append(second)
    second.order("play on", {"type": "play", "speed": "max"})
    second.until_state("finished")
    assert end_of(ledger) == end_of(want)


def test_another_digest_than_the_stored_one_stops_the_run(desks: list[Desk]) -> None:
    ledger = Ledger()
    desk = Desk(ledger, checkpoint_seconds=1000)
    desks.append(desk)
    desk.order("play", {"type": "play", "speed": "max"})
    desk.until_state("finished")
    desk.process.close()
    ledger.digest = "0" * 31 + "1"
    desks.append(Desk(ledger, ready=False))
    failure = desks[-1].until(lambda m: m if isinstance(m, frames.Failure) else None)
    assert in_words(failure.text, ENGLISH).startswith("Replay gave the digest ")


def test_it_ends_when_its_supervisor_is_gone(desks: list[Desk]) -> None:
    desk = Desk(Ledger())
    desk.process.close()
    assert desk.process.child.returncode == 0


def test_the_test_s_cluster_is_one_the_framework_reads() -> None:
    assert all(decode_manifest(manifest).metadata.name for manifest in MANIFESTS)

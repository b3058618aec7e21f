"""Batches: what is written once, what is left for later, and how much of it goes to browsers at most."""

from __future__ import annotations

import json
import pickle

import pytest

from schedweb.engine import batch
from schedweb.engine.batch import Gatherer
from schedweb.engine.batch_size import (
    BACKLOG,
    FRAME_SECONDS,
    LATEST_FRAME_SECONDS,
    LATEST_STORED_SECONDS,
    LEAST_GATHERED,
    STORED_SECONDS,
    frame_after,
    room_after,
)
from schedweb.engine.board import CARDS
from schedweb.engine.player import Player
from tests.schedweb.engine.worlds import Manifest, node, play, player, pod


def placed(name: str, on: str) -> Manifest:
    made = pod(name)
    made["spec"]["nodeName"] = on
    made["status"] = {"phase": "Running"}
    return made


@pytest.fixture
def crowd(monkeypatch: pytest.MonkeyPatch) -> Player:
    """Five pods that had their node from the start, of which two are written at a time, and one that has none."""
    monkeypatch.setattr(batch, "PLACED_PER_BATCH", 2)
    return player([node("a", "32"), *(placed(f"old-{number}", "a") for number in range(5)), pod("new")])


def test_sums_beyond_64_bits_wrap_as_the_scheduler_s_do() -> None:
    def huge(name: str, node_name: str = "") -> Manifest:
        made = pod(name, node_name=node_name)
        made["spec"]["containers"][0]["resources"]["requests"]["memory"] = "8191Pi"
        return made

    game = player([node("a"), *(huge(f"placed-{index}", "a") for index in range(4)), pod("pending")])
    play(game)
    gatherer = Gatherer(game)
    [row] = gatherer.nodes()[0]
    # 8191Pi is 2^63 less a Pi.
    assert json.loads(row.requested)[1] == -4 * 2**50
    assert gatherer.attempts()[0] is not None


def test_pods_with_a_node_from_the_start_are_written_little_by_little_and_once(crowd: Player) -> None:
    gatherer = Gatherer(crowd)
    assert crowd.projection.board.counts()["bound"] == 5
    names: list[list[str]] = []
    while not gatherer.is_empty:
        names.append([row.name for row in gatherer.pods()])
        gatherer.nodes()
        gatherer.objects()
        crowd.projection.feed.clear()
    assert [name for each in names for name in each if name != "new"] == [f"old-{number}" for number in range(5)]
    assert [sum(name != "new" for name in each) for each in names] == [2, 2, 1]


def test_the_last_batch_leaves_nothing_for_later(crowd: Player) -> None:
    assert {row.name for row in Gatherer(crowd).pods(last=True)} == {*(f"old-{number}" for number in range(5)), "new"}
    assert not crowd.projection.unwritten


def test_what_changes_before_it_has_its_row_is_written_with_the_change(crowd: Player) -> None:
    gatherer = Gatherer(crowd)
    gatherer.pods()
    left = [crowd.projection.views[uid].name for uid in crowd.projection.unwritten]
    crowd.world.delete(crowd.world.pod("shop", left[0]))
    rows = {row.name: row for row in gatherer.pods(last=True)}
    assert rows[left[0]].column == "deleted"
    assert set(left) <= set(rows)
    assert all(rows[name].manifest for name in left[1:]), "a small cluster's manifests are all written"


def test_an_engine_that_takes_over_writes_what_is_not_written_yet(crowd: Player) -> None:
    """What replay did is stored; of the pods of the beginning nobody knows, so all of them are written again."""
    Gatherer(crowd).pods()
    revived = pickle.loads(pickle.dumps(crowd.projection.unwritten))
    assert list(revived) == list(crowd.projection.unwritten)
    Gatherer(crowd).discard()
    assert len(crowd.projection.unwritten) == 3


def test_a_message_to_browsers_has_a_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "NODES_IN_DELTA", 10)
    game = player([*(node(f"n{number}") for number in range(30)), *(pod(f"p{number}", "1") for number in range(120))])
    gatherer = Gatherer(game)
    gatherer.nodes()
    gatherer.columns(whole=True)
    play(game)
    columns = {name: json.loads(text) for name, text in gatherer.columns(whole=False).items()}
    assert columns["bound"]["count"] == 120
    assert all(len(column["cards"]) <= CARDS for column in columns.values())
    rows, delta, topology = gatherer.nodes()
    assert (len(rows), delta, topology) == (30, "[]", True)


def test_batches_that_are_much_work_come_less_often_but_still_come() -> None:
    assert frame_after(0.0, 0.0) == FRAME_SECONDS
    assert FRAME_SECONDS < frame_after(0.02, 0.0) < LATEST_FRAME_SECONDS
    assert frame_after(10.0, 0.0) == LATEST_FRAME_SECONDS
    assert FRAME_SECONDS < frame_after(0.0, 0.1) < LATEST_STORED_SECONDS
    assert frame_after(10.0, 10.0) == LATEST_STORED_SECONDS


def test_a_batch_has_as_much_room_as_can_be_stored_soon() -> None:
    """A command waits for it."""
    room = float(BACKLOG)
    for _ in range(20):
        room = room_after(room, int(room), room * 1e-4)
    assert room * 1e-4 <= 1.25 * STORED_SECONDS
    assert room_after(LEAST_GATHERED, LEAST_GATHERED, 10.0) == LEAST_GATHERED
    assert room_after(1000, 1000, 0.01) > 1000
    assert room_after(1000, 10, 0.01) == 1000, "of a batch with next to nothing in it nothing is learnt"
    assert room_after(BACKLOG, BACKLOG, 0.01) == BACKLOG

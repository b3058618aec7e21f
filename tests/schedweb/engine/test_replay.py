"""The journal leads to the same run: from the beginning, from a checkpoint, in pieces of any size."""

from __future__ import annotations

from typing import Any

import pytest

from schedweb.engine import commands
from schedweb.engine.batch import Gatherer
from schedweb.engine.checkpoint import load_checkpoint, save_checkpoint
from schedweb.engine.commands import DecidedPod
from schedweb.engine.frames import Entry
from schedweb.engine.pace import Pace
from schedweb.engine.player import Happened, Player
from schedweb.engine.replay import Diverged, do, play_to, replay
from tests.schedweb.engine.worlds import (
    ASKING,
    START,
    Table,
    arrival,
    departure,
    node,
    play,
    player,
    pod,
)

MANIFESTS = [
    node("a"),
    node("b"),
    node("c", cpu="2"),
    *(pod(f"web-{index}", "700m", owner="web") for index in range(8)),
    pod("asks-1", ask="person"),
    pod("asks-2", ask="person"),
    pod("large", "9"),
]
TIMELINE = [
    *(arrival(5 + index, pod(f"late-{index}", "900m")) for index in range(5)),
    departure(20, pod("web-3")),
    arrival(40, pod("last", "1200m")),
]
ORDERS: list[tuple[int, commands.AnyCommand]] = [
    (3, commands.Step("point")),
    (9, commands.PodAdd({**pod("added"), "metadata": {"generateName": "added-", "namespace": "shop"}})),
    (60, commands.NodeCordon("b")),
    (11, commands.Decide(decision="approve", pods=(DecidedPod("shop", "asks-1"),))),
    (10, commands.NodeDrain("a")),
    (30, commands.Decide(decision="reject", pods=(DecidedPod("shop", "asks-2"),), reason="no")),
    (0, commands.PodDelete("shop", "nobody")),
    (1, commands.NodeAdd(node("d"))),
]


def game() -> Player:
    return player(MANIFESTS, TIMELINE, configuration=ASKING)


def played() -> tuple[Player, list[Entry]]:
    table = Table(game())
    for operations, command in ORDERS:
        table.operate(operations)
        table.order(command)
    play(table.game)
    return table.game, table.journal


def seen(player_: Player) -> Any:
    """Everything that is stored of pods and nodes."""
    projection = player_.projection
    return (
        player_.position,
        player_.now,
        player_.digest,
        [(view.uid, view.column, view.node, view.journey, view.card()) for view in projection.views.values()],
        {name: (view.requested, view.reserved, view.pods) for name, view in projection.nodes.views.items()},
        projection.board.counts(),
    )


def test_the_journal_replayed_from_the_beginning_gives_the_same_run() -> None:
    live, journal = played()
    again = game()
    assert replay(again, Pace(), journal, until=live.position) == []
    assert seen(again) == seen(live)


@pytest.mark.parametrize("share", [0.1, 0.35, 0.5, 0.8, 1.0])
def test_the_journal_replayed_from_a_checkpoint_gives_the_same_run(share: float) -> None:
    live, journal = played()
    half = game()
    stop = int(live.position * share)
    left = replay(half, Pace(), journal, until=stop)
    while half.scheduler.mid_cycle:
        # A checkpoint is taken between two cycles only.
        half.operate()
        assert not any(entry.position < half.position for entry in left), "the cut must not pass a command"
    Gatherer(half).discard()
    restored, pace = load_checkpoint(save_checkpoint(half, Pace()))
    restored.restored(half.timeline, half.registry)
    rest = [entry for entry in journal if entry.position >= restored.position]
    replay(restored, pace, rest, until=live.position)
    assert seen(restored) == seen(live)


def test_an_entry_at_the_stored_position_was_placed_and_not_done() -> None:
    live, journal = played()
    cut = journal[3]
    again = game()
    left = replay(again, Pace(), journal, until=cut.position)
    assert left[0].id == cut.id
    assert again.position == cut.position
    for entry in left:
        play_to(again, Pace(), entry.position)
        do(again, Pace(), entry)
    play_to(again, Pace(), live.position)
    assert seen(again) == seen(live)


def test_replay_of_another_cluster_is_noticed() -> None:
    live, journal = played()
    other = player([*MANIFESTS, pod("one-more")], TIMELINE, configuration=ASKING)
    try:
        replay(other, Pace(), journal, until=live.position)
    except Diverged:
        return
    assert other.digest != live.digest


def test_a_journal_that_asks_for_more_than_there_is_is_noticed() -> None:
    live, journal = played()
    again = game()
    with pytest.raises(Diverged, match="there is nothing to do"):
        replay(again, Pace(), journal, until=live.position + 5)


def test_moves_of_a_real_clock_are_replayed_where_they_were() -> None:
    live = player(MANIFESTS[:8], TIMELINE[:2], clock="real")
    journal = []
    for step, to in enumerate((START + 7, START + 20_000_000_000, START + 400_000_000_000)):
        while live.operate() is not Happened.IDLE and step < 2:
            if live.position % 7 == 0:
                break
        journal.append(Entry("", live.position, to, "", {"type": "clock", "to": to}))
        live.advance(to)
    play(live)
    again = player(MANIFESTS[:8], TIMELINE[:2], clock="real")
    replay(again, Pace(), journal, until=live.position)
    assert seen(again) == seen(live)


def test_a_step_that_was_promised_and_not_done_is_done_after_replay() -> None:
    table = Table(game())
    table.operate(5)
    table.order(commands.Step("cycle"))
    again, pace = game(), Pace()
    left = replay(again, pace, table.journal, until=table.game.position)
    assert [entry.command["type"] for entry in left] == ["step"]
    do(again, pace, left[0])
    done = 0
    while pace.wants_operations:
        pace.happened(again.operate())
        done += 1
    assert done > 0
    assert pace.mode == "paused"
    assert not again.scheduler.mid_cycle

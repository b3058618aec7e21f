"""Breakpoints pause a run where they say, after a takeover too, and never change what it decides."""

from __future__ import annotations

import pytest

from schedweb.engine import commands
from schedweb.engine.pace import Pace
from schedweb.engine.player import Happened
from schedweb.engine.replay import play_to, replay
from tests.schedweb.engine.worlds import Table, node, player, pod

MANIFESTS = [
    node("a"),
    node("b", "1"),
    *(pod(f"web-{index}", "900m", app="web") for index in range(4)),
    pod("big", "9"),
]
IDLE = (Happened.WAITS, Happened.FINISHED, Happened.IDLE)


def table_with(*asked: commands.BreakpointSet) -> Table:
    table = Table(player(MANIFESTS))
    for each in asked:
        table.order(each)
    table.order(commands.Play("max"))
    return table


def until_paused(table: Table) -> str:
    """What it says where it pauses; empty when it never does."""
    while table.pace.wants_operations:
        happened = table.game.operate()
        table.pace.happened(happened)
        table.pace.look(table.game, happened)
        if happened in IDLE:
            return ""
    hit = table.pace.breakpoints.hit
    return "" if hit is None else f"{hit.id}: {hit.text}"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (commands.BreakpointSet("x", "point", "Filter", "web-2"), "x: shop/web-2 reached Filter"),
        (commands.BreakpointSet("x", "point", "Score", "-l app=web !web-0"), "x: shop/web-1 reached Score"),
        (commands.BreakpointSet("x", "status", "unschedulable"), "x: shop/big is unschedulable"),
        (commands.BreakpointSet("x", "status", "bound", "web-3"), "x: shop/web-3 is bound"),
        (
            commands.BreakpointSet("x", "rejection", "NodeResourcesFit", "big", "b"),
            "x: shop/big was rejected by NodeResourcesFit on b",
        ),
        (commands.BreakpointSet("x", "rejection", "TaintToleration"), ""),
    ],
    ids=["point", "labels", "status", "bound", "rejection", "never"],
)
def test_the_run_pauses_there_and_says_why(asked: commands.BreakpointSet, text: str) -> None:
    table = table_with(asked)
    assert until_paused(table) == text
    free = table_with()
    play_to(free.game, Pace(), table.game.position)
    assert free.game.digest == table.game.digest


def test_it_goes_on_with_play_and_stops_at_the_next_pod_until_it_is_removed() -> None:
    table = table_with(commands.BreakpointSet("x", "point", "Filter", "web"))
    first = until_paused(table)
    table.order(commands.Play())
    second = until_paused(table)
    assert (first, second) == ("x: shop/web-0 reached Filter", "x: shop/web-1 reached Filter")
    table.order(commands.BreakpointRemove("x"))
    assert table.pace.breakpoints.hit is not None
    table.order(commands.Play())
    assert until_paused(table) == ""


def test_what_a_command_does_to_a_pod_is_seen_too() -> None:
    table = table_with(commands.BreakpointSet("x", "status", "deleted"))
    table.order(commands.PodDelete("shop", "web-1"))
    assert table.pace.breakpoints.hit is not None
    assert str(table.pace.breakpoints.hit.text) == "shop/web-1 is deleted"
    assert not table.pace.wants_operations


def test_who_takes_over_knows_that_the_run_stands_at_a_breakpoint() -> None:
    table = table_with(commands.BreakpointSet("x", "status", "unschedulable", "big"))
    until_paused(table)
    pace = Pace()
    again = player(MANIFESTS)
    assert replay(again, pace, table.journal, until=table.game.position) == []
    assert (pace.mode, pace.breakpoints.hit) == ("paused", table.pace.breakpoints.hit)
    assert again.digest == table.game.digest

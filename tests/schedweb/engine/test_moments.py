"""A moment equals what the live run was at that position, and a machine made from it leads nowhere back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schedweb.engine import commands, frames
from schedweb.engine.batch import Gatherer
from schedweb.engine.checkpoint import save_checkpoint
from schedweb.engine.commands import DecidedPod
from schedweb.engine.moments import moment
from schedweb.engine.pace import Pace
from schedweb.engine.payload import encode_payload
from schedweb.engine.player import Happened, Player
from schedweb.engine.replay import Diverged
from schedweb.engine.shapes import QUEUES
from tests.schedweb.engine.worlds import ASKING, START, Table, arrival, departure, node, player, pod

MANIFESTS = [
    node("a"),
    node("b", "2"),
    *(pod(f"web-{index}", "700m", owner="web") for index in range(6)),
    pod("asks-1", ask="person"),
    pod("asks-2", ask="person"),
    pod("large", "9"),
]
TIMELINE = [*(arrival(5 + index, pod(f"late-{index}", "600m")) for index in range(4)), departure(20, pod("web-3"))]
ORDERS: list[commands.AnyCommand] = [
    commands.Step("point"),
    commands.PodAdd({**pod("added"), "metadata": {"generateName": "added-", "namespace": "shop"}}),
    commands.NodeCordon("b"),
    commands.NodeUncordon("b"),
    commands.NodeDrain("a"),
    commands.NodeAdd(node("c")),
    commands.PodDelete("shop", "web-1"),
    commands.PodDelete("shop", "nobody"),
    commands.Decide(decision="approve", pods=(DecidedPod("shop", "asks-1"),)),
    commands.Decide(decision="reject", pods=(DecidedPod("shop", "asks-2"),), reason="no"),
]
IDLE = (Happened.WAITS, Happened.FINISHED, Happened.IDLE)


def shown(game: Player) -> dict[str, Any]:
    """Everything that the pages show of the machine: board, cycle, node rows, pod rows."""
    projection = game.projection
    projection.dirty = dict(projection.views)
    projection.nodes.dirty = {view.row: view for view in projection.nodes.views.values()}
    gatherer = Gatherer(game)
    board = gatherer.columns(whole=True)
    cycle = gatherer.cycle()
    pods = {row.uid: without_manifest(row) for row in gatherer.pods()}
    nodes = {row.name: without_manifest(row) for row in gatherer.nodes()[0]}
    assert set(board) == set(QUEUES)
    return {
        "position": game.position,
        "now": game.now,
        "digest": game.digest,
        "board": board,
        "cycle": cycle,
        "pods": pods,
        "nodes": nodes,
    }


def without_manifest(row: Any) -> Any:
    """Manifests are written when they change only."""
    return msgspec.structs.replace(row, manifest=None)


def begin(
    journal: list[frames.Entry], position: int, digest: str, checkpoint: tuple[int, bytes] | None
) -> frames.Begin:
    since = 0 if checkpoint is None else checkpoint[0]
    return frames.Begin(
        payload=encode_payload(MANIFESTS, TIMELINE),
        configuration=ASKING,
        seed=7,
        ties="seeded",
        approvals="hold",
        clock="virtual",
        start=START,
        speed="max",
        journal=[entry for entry in journal if entry.position >= since],
        position=position,
        digest=digest,
        is_stored=True,
        checkpoint=None if checkpoint is None else checkpoint[1],
        checkpoint_seconds=10.0,
    )


plans = st.lists(st.tuples(st.integers(0, 25), st.sampled_from(ORDERS)), min_size=1, max_size=8)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plan=plans, data=st.data())
def test_scrubbing_to_any_step_equals_the_live_run_there(
    plan: list[tuple[int, commands.AnyCommand]], data: st.DataObject
) -> None:
    table = Table(player(MANIFESTS, TIMELINE, configuration=ASKING))
    seen = {0: shown(table.game)}
    checkpoints: list[tuple[int, bytes]] = []

    def look() -> None:
        seen[table.game.position] = shown(table.game)

    for operations, command in [*plan, (60, commands.Pause())]:
        for _ in range(operations):
            if table.game.operate() in IDLE:
                break
            look()
        if not table.game.scheduler.mid_cycle:
            checkpoints.append((table.game.position, save_checkpoint(table.game, Pace())))
            table.game.restored(table.game.timeline, table.game.registry)
        table.order(command)
        look()
    for _ in range(3):
        position = data.draw(st.integers(0, table.game.position))
        stored = max((each for each in checkpoints if each[0] <= position), default=None, key=lambda each: each[0])
        from_checkpoint = stored if data.draw(st.booleans()) else None
        there = min(each for each in seen if each >= position)
        digest = seen[there]["digest"] if there == position else ""
        found = shown(moment(begin(table.journal, position, digest, from_checkpoint)))
        assert found == seen[there]


def test_what_is_done_to_a_moment_stays_there() -> None:
    table = Table(player(MANIFESTS, TIMELINE, configuration=ASKING))
    table.operate(30)
    before = shown(table.game)
    stored = begin(table.journal, table.game.position, table.game.digest, None)
    copy = moment(stored)
    copy.world.delete(copy.world.node("a"))
    copy.settle()
    for _ in range(20):
        copy.operate()
    assert shown(table.game) == before
    assert shown(moment(stored)) == before


def test_another_digest_than_the_stored_one_is_said() -> None:
    with pytest.raises(Diverged, match=r"Replay to position 12 gave the digest .* and feed is stored"):
        moment(begin([], 12, "feed", None))


def test_a_position_beyond_the_run_is_said() -> None:
    with pytest.raises(Diverged, match="there is nothing to do, and 100,000 is stored"):
        moment(begin([], 100_000, "", None))

"""What a list takes back of what a run of a real cluster wrote, and what it does not: an older list, a watch."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from framework.objects.decode import decode_manifest
from framework.plugins.registry import built_in_registry
from schedweb.engine.checkpoint import load_checkpoint, save_checkpoint
from schedweb.engine.commands import ClusterChanges, ObservedChange, WriteOutcome, WriteOutcomes
from schedweb.engine.frames import Seen
from schedweb.engine.live import LiveCluster, Scheduling, WriteRow
from schedweb.engine.observed import Differences
from schedweb.engine.pace import Pace
from schedweb.engine.player import Player, RunOptions, effective_configuration
from schedweb.engine.replay import replay
from schedweb.engine.sums import Sums
from schedweb.writes.writes import Outcome, Result
from tests.schedweb.engine.worlds import DEFAULT, SECOND, START, Manifest, Table, node, places, play, pod

TERMS = Scheduling("us", ("default-scheduler",))
ANSWERED = START + 10 * SECOND


def scheduling(*manifests: Manifest, terms: Scheduling = TERMS) -> Player:
    registry = built_in_registry()
    for number, each in enumerate(manifests):
        each["metadata"] |= {"uid": f"uid-{each['metadata']['name']}", "resourceVersion": str(number + 1)}
    return Player(
        [decode_manifest(manifest) for manifest in manifests],
        [],
        effective_configuration(DEFAULT, registry, terms),
        registry,
        RunOptions(7, "seeded", "hold", "real", START, observing=True, scheduling=terms),
    )


class Desk:
    """A run that schedules, with the journal that was stored of it."""

    def __init__(self, *manifests: Manifest, terms: Scheduling = TERMS) -> None:
        self._manifests, self._terms = manifests, terms
        self.game = self.begin()
        self.table = Table(self.game)
        self.differences = Differences(self.game)
        self.awaited: list[WriteRow] = []
        """Whose answer is to come; kept by whoever asks what was written."""

    def begin(self) -> Player:
        return scheduling(*self._manifests, terms=self._terms)

    @property
    def live(self) -> LiveCluster:
        assert self.game.live is not None
        return self.game.live

    def written(self, *purposes: str) -> list[WriteRow]:
        """Since this was asked last."""
        play(self.game)
        rows, self.live.outbox = self.live.outbox, []
        return [each for each in rows if each.write.purpose in purposes]

    def answer(self, row: WriteRow, result: Result = "done") -> None:
        assert row.is_awaited
        self.table.order(WriteOutcomes((WriteOutcome(row.number, Outcome(result), ANSWERED),)))

    def told(self, *seen: Seen) -> list[dict[str, Any]]:
        """What of it became changes, applied."""
        found = self.differences.of(seen)
        self.tell(*found)
        return [msgspec.to_builtins(each) for each in found]

    def tell(self, *changes: ObservedChange) -> None:
        if changes:
            self.table.order(ClusterChanges(max(self.game.now, ANSWERED), changes))

    def lists(self, asked_at: int, *manifests: Manifest) -> list[dict[str, Any]]:
        kind = {"apiVersion": "v1", "kind": "Pod"}
        listed = [Seen("listed", msgspec.json.encode(each)) for each in manifests]
        encoded = msgspec.json.encode(kind)
        return self.told(Seen("list", encoded, asked_at), *listed, Seen("whole", encoded))

    def is_replayed(self) -> None:
        again = self.begin()
        replay(again, Pace(), self.table.journal, until=self.game.position)
        assert (again.digest, places(again)) == (self.game.digest, places(self.game))


def bound_desk() -> tuple[Desk, Manifest]:
    """One whose binding was answered, and that no watch has told of."""
    new = pod("new")
    desk = Desk(node("a"), new)
    (row,) = desk.written("bind")
    desk.answer(row)
    assert places(desk.game) == {"new": "bound"}
    return desk, new


def test_a_list_from_after_the_answer_is_the_truth() -> None:
    desk, new = bound_desk()
    (change,) = desk.lists(ANSWERED + 1, new)
    assert change["undone"]
    Sums(desk.game)._compare_projection(*Sums(desk.game)._of_cluster())
    Sums(desk.game)._compare_cache(*Sums(desk.game)._of_cluster())
    (again,) = desk.written("bind")
    assert again.write.about.name == "new"
    lines = [str(each.item) for each in desk.game.projection.feed.take(desk.game.now)]
    assert any("went back to an earlier state" in each for each in lines)
    desk.answer(again)
    assert places(desk.game) == {"new": "bound"}
    desk.is_replayed()


def test_an_older_list_and_a_watch_take_nothing_back() -> None:
    desk, new = bound_desk()
    labelled = {**new, "metadata": {**new["metadata"], "labels": {"a": "b"}}}
    assert desk.lists(ANSWERED, new) == []
    assert desk.lists(0, new) == [], "nobody knows when it was asked for"
    assert desk.told(Seen("modified", msgspec.json.encode(labelled))) == []
    assert places(desk.game) == {"new": "bound"}
    assert desk.written("bind") == []


def test_what_a_watch_tells_after_that_list_is_heard() -> None:
    desk, new = bound_desk()
    kind = msgspec.json.encode({"apiVersion": "v1", "kind": "Pod"})
    labelled = {**new, "metadata": {**new["metadata"], "labels": {"a": "b"}}}
    first, second = desk.told(
        Seen("list", kind, ANSWERED + 1),
        Seen("listed", msgspec.json.encode(new)),
        Seen("whole", kind),
        Seen("modified", msgspec.json.encode(labelled)),
    )
    assert (first["undone"], second.get("undone")) == (True, None)
    found = desk.game.world.pod("shop", "new")
    assert (found.metadata.labels, found.spec.node_name) == ({"a": "b"}, "")


def test_an_engine_that_begins_again_believes_the_first_list() -> None:
    desk, new = bound_desk()
    restored, _ = load_checkpoint(save_checkpoint(desk.game, Pace()))
    restored.restored([], built_in_registry())
    desk.game, desk.table.game = restored, restored
    desk.differences = Differences(restored)
    (change,) = desk.lists(START + 1, new)
    assert change["undone"], "whatever was answered before it began was answered before the list"


@pytest.mark.parametrize("asked_at", [ANSWERED, ANSWERED + 1])
def test_a_victim_that_is_back_is_evicted_anew(asked_at: int) -> None:
    low, high = pod("low", "900m", node_name="a"), pod("high", "900m")
    high["spec"]["priority"] = 1000
    desk = Desk(node("a", "1"), low, high)
    (disrupt,) = desk.written("disrupt")
    desk.answer(disrupt)
    (evict,) = desk.written("evict")
    desk.answer(evict)
    assert desk.written("disrupt", "evict") == []
    found = desk.lists(asked_at, low, {**high, "status": {"nominatedNodeName": "a"}})
    undone = [each["manifest"]["metadata"]["name"] for each in found if each.get("undone")]
    if asked_at == ANSWERED:
        assert undone == [], "its deletion may be on its way"
        return
    assert undone == ["low"]
    (again,) = desk.written("disrupt")
    assert again.write.about.name == "low"
    desk.is_replayed()


def test_a_pod_that_is_not_looked_at_without_a_node_leaves() -> None:
    theirs = pod("theirs", node_name="a")
    desk = Desk(node("a"), theirs, terms=Scheduling("us", ("default-scheduler",), ("default",)))
    assert places(desk.game) == {"theirs": "bound"}
    back = pod("theirs")
    back["metadata"] |= {"resourceVersion": "1"}
    (change,) = desk.lists(ANSWERED, back)
    assert change["verb"] == "deleted"
    assert places(desk.game) == {}

"""Evictions that people are asked about, in a run: what is told of them, what commands do, and that replay agrees."""

from __future__ import annotations

import json
from typing import Any

import pytest

from framework.configuration.presets import preset
from schedweb.engine import commands
from schedweb.engine.batch import Gatherer
from schedweb.engine.checkpoint import load_checkpoint, save_checkpoint
from schedweb.engine.commands import DecidedEviction
from schedweb.engine.outcomes import victims_words
from schedweb.engine.pace import Pace
from schedweb.engine.player import Happened, Player
from schedweb.engine.replay import replay
from tests.schedweb.engine.worlds import START, Manifest, Table, arrival, node, places, play, player, pod

CHOSEN = preset("evictions")
assert CHOSEN is not None
EVICTIONS = CHOSEN.text
BUDGET: Manifest = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "etl", "namespace": "shop"},
    "spec": {"selector": {"matchLabels": {"app": "etl"}}},
    "status": {"disruptionsAllowed": 1},
}


def vip(name: str = "vip", cpu: str = "3", priority: int = 1000) -> Manifest:
    made = pod(name, cpu)
    made["spec"] |= {"priority": priority, "priorityClassName": f"p{priority}"}
    return made


def priority_class(value: int) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": f"p{value}"},
        "value": value,
    }


def crowded() -> list[Manifest]:
    """Two nodes full of pods of priority 0, and one pod above them."""
    low = [pod(f"etl-{number}", "2", node_name="a", owner="etl", app="etl") for number in range(2)]
    classes = [priority_class(value) for value in (1000, 2000, 3000)]
    return [*classes, node("a"), node("b", cpu="2"), *low, pod("web", "2", node_name="b"), BUDGET, vip()]


def table(approvals: Any = "hold", manifests: list[Manifest] | None = None, **more: Any) -> Table:
    game = player(manifests or crowded(), configuration=EVICTIONS, approvals=approvals, **more)
    return Table(game)


def open_rows(game: Player) -> list[dict[str, Any]]:
    gatherer = Gatherer(game)
    game.projection.evictions.budgets_changed()
    return [json.loads(row.body) for row in gatherer.evictions() if row.is_open]


def decide(game: Player, decision: str, reason: str = "") -> commands.DecideEviction:
    named = tuple(DecidedEviction(p.number, *p.preemptor.key.split("/")) for p in game.scheduler.proposals())
    return commands.DecideEviction(decision, named, reason)  # type: ignore[arg-type]


def test_a_run_waits_for_the_person_and_says_who_loses_what() -> None:
    at = table()
    assert play(at.game) is Happened.WAITS
    assert places(at.game)["vip"] == "unschedulable"
    [row] = open_rows(at.game)
    assert (row["name"], row["node"], row["priority"], row["plugin"]) == ("vip", "a", 1000, "DefaultPreemption")
    assert row["message"] == "Ask the owners of what is evicted first."
    assert sorted((each["name"], each["workload"], each["kind"]) for each in row["victims"]) == [
        ("etl-0", "etl", "ReplicaSet"),
        ("etl-1", "etl", "ReplicaSet"),
    ]
    assert [each["budgets"][0] for each in row["victims"]] == [
        {"name": "etl", "allowed": 1, "is_violated": False},
        {"name": "etl", "allowed": 1, "is_violated": True},
    ]
    assert row["violations"] == 1
    assert row["victims"][0]["since"] is not None
    view = at.game.projection.views["uid-vip"]
    evicts = Gatherer(at.game).evicts(view)
    assert evicts is not None
    assert evicts["number"] == row["number"]


def test_the_attempt_says_that_it_asks() -> None:
    at = table()
    play(at.game)
    [asking] = [trace for trace in at.game.traces if trace.post_filter]
    assert str(victims_words(asking)) == "asks a person"
    at.order(decide(at.game, "approve"))
    play(at.game)
    evicting = next(trace for trace in at.game.traces if trace.cycle > asking.cycle)
    assert str(victims_words(evicting)) == "2 victims on a"


def test_approval_evicts_with_the_next_attempt() -> None:
    at = table()
    play(at.game)
    answer = at.order(decide(at.game, "approve", "agreed"))
    assert [str(each.outcome) for each in answer.result.pods] == ["approved"]
    assert not open_rows(at.game)
    assert places(at.game)["etl-0"] == "bound", "nothing is gone before the attempt"
    play(at.game)
    assert places(at.game)["vip"] == "bound"
    assert sorted(each.victim.name for each in at.game.projection.preemptions.made) == ["etl-0", "etl-1"]
    [made] = at.game.projection.decisions.values()
    assert (made.decision, made.by, made.reason, made.node) == ("evict", "mira", "agreed", "a")
    assert str(made.outcome) == "2 pods evicted"


def test_rejection_leaves_everybody_and_is_not_asked_again() -> None:
    at = table()
    play(at.game)
    at.order(decide(at.game, "reject", "not now"))
    assert not open_rows(at.game)
    assert play(at.game) is Happened.FINISHED
    at.order(commands.PodActivate("shop", "vip"))
    play(at.game)
    assert open_rows(at.game), "a person who activates the pod is asked again"
    assert {name for name, column in places(at.game).items() if column == "bound"} == {"etl-0", "etl-1", "web"}


def test_a_second_decision_and_one_about_what_stands_no_longer() -> None:
    at = table()
    play(at.game)
    asked = decide(at.game, "approve")
    at.order(asked)
    again = at.order(asked, author="noor")
    assert str(again.result.pods[0].outcome).startswith("already decided by mira at ")
    play(at.game)
    late = at.order(asked, author="noor")
    assert str(late.result.pods[0].outcome) == "not proposed any more"


def test_a_run_that_approves_by_itself() -> None:
    at = table("auto")
    assert play(at.game) is Happened.FINISHED
    assert places(at.game)["vip"] == "bound"
    [made] = at.game.projection.decisions.values()
    assert str(made.by) == "this run's rule"


def test_without_a_person_the_run_ends() -> None:
    at = table("timeout")
    assert play(at.game) is Happened.FINISHED
    assert places(at.game)["vip"] == "unschedulable"


def seen(game: Player) -> Any:
    projection = game.projection
    return (
        game.position,
        game.now,
        game.digest,
        [(view.uid, view.column, view.node, view.journey) for view in projection.views.values()],
        [(each.number, each.node, each.approved_by) for each in game.scheduler.proposals()],
    )


def played() -> Table:
    late = [arrival(5, vip("vip-2", "2", 2000)), arrival(9, node("c", cpu="1")), arrival(30, vip("vip-3", "4", 3000))]
    at = Table(player(crowded(), late, configuration=EVICTIONS))
    answers = iter(("reject", "approve", "approve", "reject"))
    for _ in range(60):
        at.operate(1)
        open_ = [each for each in at.game.scheduler.proposals() if not each.approved_by]
        if open_ and not at.game.scheduler.mid_cycle and (decision := next(answers, "")):
            at.order(decide(at.game, decision, "because"))
    play(at.game)
    return at


def test_replay_of_the_journal_comes_to_the_same() -> None:
    live = played()
    assert len(live.journal) >= 3
    late = live.game.timeline
    again = player(crowded(), late, configuration=EVICTIONS)
    assert replay(again, Pace(), live.journal, until=live.game.position) == []
    assert seen(again) == seen(live.game)
    assert live.game.now > START


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_checkpoint_holds_what_is_proposed(share: float) -> None:
    live = played()
    half = player(crowded(), live.game.timeline, configuration=EVICTIONS)
    left = replay(half, Pace(), live.journal, until=int(live.game.position * share))
    while half.scheduler.mid_cycle:
        half.operate()
        assert not any(entry.position < half.position for entry in left), "the cut must not pass a command"
    Gatherer(half).discard()
    restored, pace = load_checkpoint(save_checkpoint(half, Pace()))
    restored.restored(half.timeline, half.registry)
    rest = [entry for entry in live.journal if entry.position >= restored.position]
    replay(restored, pace, rest, until=live.game.position)
    assert seen(restored) == seen(live.game)

"""What a rejected pod waits for, in words, and the events that its plugins ignored."""

from __future__ import annotations

import json

import pytest

from framework.interface.events import ActionType, ClusterEvent, EventResource
from framework.sentences import ENGLISH, in_words
from schedweb.engine.awaited import KEPT, awaited, ignored_body
from schedweb.engine.batch import IGNORED_PER_BATCH, Gatherer
from tests.schedweb.engine.worlds import SECOND, arrival, departure, node, places, play, player, pod

NODE, POD = EventResource.NODE, EventResource.POD


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ((), "nothing but the five-minute flush"),
        (((NODE, ActionType.ADD),), "a node is added"),
        (((NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),), "a node is added or changes its labels"),
        (((NODE, ActionType.UPDATE),), "a node changes"),
        (
            ((POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN), (NODE, ActionType.ADD)),
            "a pod is deleted or lowers its requests, a node is added",
        ),
        (((EventResource.CSI_NODE, ActionType.ADD),), "a CSINode is added"),
        (
            (("widgets.v1.example", ActionType.ALL),),
            "one of widgets is added, is deleted or changes",
        ),
    ],
    ids=["none", "added", "labels", "any-change", "two-kinds", "group", "custom"],
)
def test_registered_events_in_words(events: tuple[tuple[str, ActionType], ...], words: str) -> None:
    registered = [ClusterEvent(resource, action) for resource, action in events]
    assert in_words(awaited("Any", registered), ENGLISH) == words


def test_every_built_in_plugin_tells_what_it_waits_for() -> None:
    game = player([node("a")])
    profile = game.scheduler.profiles["default-scheduler"]
    told = {name: in_words(events, ENGLISH) for name, events in game.projection.awaited["default-scheduler"].items()}
    assert set(told) == set(profile.plugins)
    for plugin in profile.plugins:
        for event in profile.hints.events_of(plugin):
            if event.resource == NODE and event.action & ActionType.ADD:
                assert "a node is added" in told[plugin], plugin
    assert told["NodeResourcesFit"].startswith("a pod is deleted or lowers its requests, a node is added")


def test_an_event_that_does_not_help_is_remembered_with_the_reason() -> None:
    game = player([node("a", "1"), pod("large", "8")], [arrival(1, node("small", "2"))])
    play(game)
    (view,) = game.projection.views.values()
    assert (view.column, view.attempts) == ("unschedulable", 1)
    (told,) = ignored_body(view)
    assert (str(told["event"]), told["object"]) == ("Node added", "small")
    assert [{**why, "text": str(why["text"])} for why in told["why"]] == [
        {
            "plugin": "NodeResourcesFit",
            "text": "this node is too small still, or has no more of what the pod lacks",
        }
    ]


def test_only_events_that_reached_a_hint_are_remembered_and_a_new_attempt_forgets_them() -> None:
    timeline = [arrival(1, pod("little", "100m")), arrival(2, node("small", "2")), arrival(3, node("big", "16"))]
    game = player([node("a", "1"), pod("large", "8")], timeline)
    while game.now < game.options.start + 2 * SECOND + 1:
        game.operate()
    large = next(view for view in game.projection.views.values() if view.name == "large")
    assert [told["object"] for told in ignored_body(large)] == ["small"], "a pod that is bound frees nothing"
    play(game)
    assert places(game)["large"] == "bound"
    assert large.ignored == []


def test_the_newest_are_kept_and_all_pods_are_written_batch_by_batch() -> None:
    many = IGNORED_PER_BATCH + 20
    nodes = [arrival(1 + number, node(f"small-{number}", "1")) for number in range(KEPT + 2)]
    game = player([node("a", "1"), *(pod(f"large-{number:03}", "8") for number in range(many))], nodes)
    play(game)
    gatherer = Gatherer(game)
    rows = {row.name: json.loads(row.detail) for row in gatherer.pods()}
    assert len(rows) == many  # all are new
    game.projection.unsaid = dict(game.projection.views)
    assert len(gatherer.pods()) == IGNORED_PER_BATCH
    assert not gatherer.is_empty
    rest = gatherer.pods()
    assert len(rest) == many - IGNORED_PER_BATCH
    told = json.loads(rest[0].detail)["ignored"]
    assert [each["object"] for each in told] == [f"small-{number}" for number in reversed(range(2, KEPT + 2))]


def test_a_pod_that_went_is_not_written_again() -> None:
    large = pod("large", "8")
    game = player([node("a", "1"), large], [arrival(1, node("small", "2")), departure(2, large)])
    play(game)
    rows = Gatherer(game).pods()
    assert [(row.name, row.column) for row in rows] == [("large", "deleted")]

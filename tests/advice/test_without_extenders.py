"""What is tried out asks no extender: also where the run has asked one, and waits in the middle of an attempt."""

from __future__ import annotations

import json
from typing import Any

import pytest

from framework.advice import Help, Operation, Played, states, what_would_help, with_all_nodes
from framework.extenders import Answer
from framework.objects import Pod
from framework.scheduler import PointReached
from schedweb.engine.analysis import tried_out
from schedweb.engine.played_on import PlayedOn
from schedweb.engine.player import Happened, Player
from tests.advice.asking import of_kind, places_of, pod_of
from tests.extenders.test_cycles import add_pod, by_verb, says, scheduler
from tests.schedweb.engine.worlds import DEFAULT, Manifest, node, player, pod

URL = "http://extender.test"


def extended(manifests: list[Manifest], *extenders: dict[str, Any]) -> Player:
    listed = [{"urlPrefix": URL, "nodeCacheCapable": True, **each} for each in extenders]
    return player(manifests, configuration=f"{DEFAULT}extenders: {json.dumps(listed)}\n")


def play_until_asked(game: Player, *, verb: str) -> None:
    """Requests of other verbs are answered: nobody is left out, nobody has points."""
    while True:
        happened = game.operate()
        if happened is not Happened.ASKED:
            assert happened not in (Happened.FINISHED, Happened.WAITS)
            continue
        request = game.scheduler.asks[0]
        if request.verb == verb:
            return
        names = json.loads(request.body)["NodeNames"]
        game.answer([says({"NodeNames": names} if request.verb == "filter" else []) for _ in game.scheduler.asks])


def answered(game: Player, answer: Answer) -> Happened:
    """To its end, every request with this answer."""
    while True:
        happened = game.operate()
        if happened is Happened.ASKED:
            game.answer([answer] * len(game.scheduler.asks))
        elif happened in (Happened.FINISHED, Happened.ERRORS):
            return happened


def played_on(game: Player, *operations: Operation) -> Played:
    """Raises AssertionError where the time for it was over."""
    before = (game.position, game.digest, game.scheduler.asks)
    played = PlayedOn(game, seconds=20, seconds_each=5)(operations)
    assert played is not None
    assert played.finished
    assert (game.position, game.digest, game.scheduler.asks) == before
    return played


def helped(game: Player, name: str) -> Help:
    return what_would_help(game.scheduler, pod_of(game, name), PlayedOn(game, seconds=120, seconds_each=5))


@pytest.mark.parametrize(
    ("verb", "extender"),
    [
        ("filter", {"filterVerb": "f"}),
        ("filter", {"filterVerb": "f", "nodeCacheCapable": False}),
        ("prioritize", {"filterVerb": "f", "prioritizeVerb": "p", "weight": 1}),
        ("bind", {"bindVerb": "b"}),
    ],
)
def test_a_moment_that_waits_for_an_extender_is_played_on(verb: str, extender: dict[str, Any]) -> None:
    game = extended([node("a"), node("b"), pod("web"), pod("late")], extender, {"filterVerb": "g", "ignorable": True})
    play_until_asked(game, verb=verb)
    played = played_on(game)
    # A pod that is being bound counts as having its node already.
    ends = states(game.scheduler) | played.pods
    assert [ends[f"shop/{name}"].node for name in ("web", "late")] in (["a", "b"], ["b", "a"])


def test_a_moment_that_waits_for_an_extender_of_victims_is_played_on() -> None:
    """Who waits at PostFilter goes on with the candidates that the extender was sent."""
    low, high = pod("low", "3", node_name="a"), pod("high", "3")
    high["spec"]["priority"] = 1000
    game = extended([node("a"), low, high], {"preemptVerb": "p"})
    play_until_asked(game, verb="preempt")
    played = played_on(game)
    assert (played.pods["shop/high"].node, played.gone) == ("a", ("shop/low",))


def test_whom_an_extender_refused_is_tried_without_it() -> None:
    """Else the first change of anything would wake it, and pass for a remedy."""
    game = extended([node("a"), pod("web"), pod("large", "16")], {"filterVerb": "f"})
    refused = says({"NodeNames": [], "FailedNodes": {"a": "no license"}})
    assert answered(game, refused) is Happened.FINISHED
    assert places_of(game) == {"shop/web": "", "shop/large": ""}
    played = played_on(game)
    assert {key: state.node for key, state in played.pods.items()} == {"shop/web": "a"}

    found = helped(game, "large")
    assert (found.complete, found.fits_on) == (True, "")
    assert of_kind(found, "node").finished
    assert helped(game, "web").fits_on == "a"
    assert tried_out(game, {})["without_extenders"] is True


def test_whom_an_extender_refuses_in_the_attempt_under_way_is_tried_again() -> None:
    game = extended([node("a"), pod("web")], {"filterVerb": "f"}, {"filterVerb": "g"})
    for _ in range(2):  # by the condition that the first attempt leaves the pod is woken
        play_until_asked(game, verb="filter")
        game.answer([says({"NodeNames": [], "FailedNodes": {"a": "no license"}})])
    assert game.scheduler.mid_cycle
    assert played_on(game).pods["shop/web"].node == "a"


def test_errors_of_an_extender_are_over_without_it() -> None:
    """Also where the run is about to be paused by them."""
    game = extended([node("a"), pod("web")], {"filterVerb": "f"})
    down = Answer(error="connection refused")
    while game.endless is None:
        if game.operate() is Happened.ASKED:
            game.answer([down])
    assert played_on(game).pods["shop/web"].node == "a"


def test_without_extenders_an_answer_says_nothing_of_them() -> None:
    assert tried_out(player([node("a")]), {"fits": 1}) == {"fits": 1, "without_extenders": False}


def test_who_would_have_won_asks_no_extender() -> None:
    """It is asked in the middle of an attempt: the cycle stands before Filter."""
    made = scheduler({"filterVerb": "f", "prioritizeVerb": "p", "weight": 1})
    add_pod(made, "a")
    assert isinstance(made.step_point(), PointReached)
    found = made.cluster.get(Pod, "default", "a")
    assert found is not None
    made.core.answerer = by_verb()  # raises KeyError when anybody is asked
    tried = with_all_nodes(made, found)
    assert (tried.feasible_nodes, tried.evaluated_nodes, tried.extender_calls) == (3, 3, ())
    assert tried.selected == "node-0"

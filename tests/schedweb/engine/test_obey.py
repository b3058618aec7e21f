"""Commands of people: what each does to the cluster, and what it answers."""

from __future__ import annotations

from typing import Any

import pytest

from framework.objects import Node, Pod, ResourceClaim
from framework.objects.decode import to_manifest
from framework.objects.timestamps import SECOND
from framework.sentences import sentence
from schedweb.engine import commands
from schedweb.engine.commands import AnyCommand, DecidedPod
from schedweb.engine.obey import validate
from schedweb.engine.pace import Pace
from schedweb.engine.player import MILLISECOND, Happened
from schedweb.engine.replay import replay
from tests.schedweb.engine.crowded import ATTACHED
from tests.schedweb.engine.worlds import ASKING, DEFAULT, GANGS, START, Manifest, Table, node, places, play, player, pod


def table(*manifests: Manifest, configuration: str = ASKING) -> Table:
    game = player(list(manifests), configuration=configuration)
    play(game)
    return Table(game)


def decide(decision: str, name: str, **more: Any) -> commands.Decide:
    return commands.Decide(decision=decision, pods=(DecidedPod("shop", name),), **more)  # type: ignore[arg-type]


def outcome(answer: Any) -> str:
    text = str(answer.result.pods[0].outcome)
    return text


def test_approve_binds_the_pod_and_is_kept_with_who_and_when() -> None:
    at = table(node("a"), pod("asks", ask="person"))
    assert outcome(at.order(decide("approve", "asks"))) == "approved"
    play(at.game)
    assert places(at.game) == {"asks": "bound"}
    made = at.game.projection.decisions[1]
    assert (made.decision, made.by, made.plugin, made.node) == ("approved", "mira", "ManualApproval", "a")
    assert str(made.outcome) == "bound at once"


def test_reject_gives_back_what_was_held_and_puts_the_reason_into_the_message() -> None:
    at = table(node("a"), pod("asks", ask="person"))
    assert outcome(at.order(decide("reject", "asks", reason="not before Monday"))) == "rejected"
    play(at.game)
    view = at.game.projection.views["uid-asks"]
    assert view.column == "unschedulable"
    assert view.message == "0/1 nodes are available: 1 not before Monday."
    assert at.game.projection.nodes.views["a"].reserved[0] == 0


def test_a_second_decision_says_who_was_first() -> None:
    at = table(node("a"), pod("asks", ask="person"))
    at.order(decide("approve", "asks"), author="mira")
    answer = outcome(at.order(decide("reject", "asks", reason="too late"), author="noor"))
    assert answer == f"already decided by mira at {'22:13:20'}"
    assert places(at.game) == {"asks": "bound"}


def test_a_pod_that_does_not_wait_is_not_decided() -> None:
    at = table(node("a"), pod("plain"))
    assert outcome(at.order(decide("approve", "plain"))) == "not waiting"
    assert outcome(at.order(decide("approve", "nobody"))) == "not waiting"


def test_a_decision_about_several_pods_answers_for_each() -> None:
    at = table(node("a"), pod("one", ask="person"), pod("two", ask="person"), pod("plain"))
    named = tuple(DecidedPod("shop", name) for name in ("one", "plain", "two"))
    answer = at.order(commands.Decide(decision="approve", pods=named))
    assert [str(each.outcome) for each in answer.result.pods] == ["approved", "not waiting", "approved"]
    assert places(at.game) == {"one": "bound", "two": "bound", "plain": "bound"}


def test_another_pod_of_the_same_name_is_not_the_one_that_was_decided() -> None:
    at = table(node("a"), pod("asks", ask="person"))
    stale = commands.Decide(decision="approve", pods=(DecidedPod("shop", "asks", "uid-of-the-one-before"),))
    assert outcome(at.order(stale)) == "not waiting"
    assert places(at.game) == {"asks": "waiting"}


def test_a_pod_that_is_asked_again_says_who_rejected_it() -> None:
    at = table(node("a"), pod("asks", ask="person"))
    at.order(decide("reject", "asks", reason="no"))
    at.order(commands.PodActivate("shop", "asks"))
    assert play(at.game) is Happened.WAITS
    assert str(at.game.projection.views["uid-asks"].asked_again) == "rejected by mira 22:13"


def test_time_passes_where_somebody_waits() -> None:
    """Else the flush of leftovers keeps no run alive."""
    at = table(node("a"), pod("large", "64"), configuration=DEFAULT)
    assert (at.game.now - START, at.game.scheduler.attempts) == (MILLISECOND, 1)
    assert str(at.order(commands.Wait(360)).result.text) == "let 360 seconds pass"
    assert play(at.game) is Happened.FINISHED
    assert (at.game.now - START, at.game.scheduler.attempts) == (360 * SECOND + MILLISECOND, 2)
    at.order(commands.Wait(1))
    assert play(at.game) is Happened.FINISHED
    assert (at.game.now - START, at.game.scheduler.attempts) == (361 * SECOND + MILLISECOND, 2)

    again = player([node("a"), pod("large", "64")], configuration=DEFAULT)
    replay(again, Pace(), at.journal, until=at.game.position)
    assert (again.digest, again.now, again.until) == (at.game.digest, at.game.now, None)


def test_who_waits_for_a_person_waits_whatever_time_is_to_pass() -> None:
    at = table(node("a"), pod("asks", ask="person"))
    at.order(commands.Wait(86_400))
    assert play(at.game) is Happened.WAITS
    at.order(decide("approve", "asks"))
    assert play(at.game) is Happened.FINISHED
    assert at.game.now - START >= 86_400 * SECOND


def test_add_and_delete_pods() -> None:
    at = table(node("a"))
    new = pod("new")
    del new["metadata"]["uid"]
    assert at.order(commands.PodAdd(new)).result.text == sentence("added pod {pod}", pod="shop/new")
    play(at.game)
    assert places(at.game) == {"new": "bound"}
    at.order(commands.PodDelete("shop", "new"))
    assert places(at.game) == {}
    assert at.game.projection.nodes.views["a"].requested[0] == 0


def test_a_generated_name_comes_from_the_run_and_not_from_chance() -> None:
    names = []
    for _ in range(2):
        at = table(node("a"))
        new = pod("x")
        new["metadata"] = {"generateName": "web-", "namespace": "shop"}
        at.order(commands.PodAdd(new))
        names.append(next(iter(places(at.game))))
    assert names[0] == names[1]
    assert names[0].startswith("web-")
    assert len(names[0]) == len("web-") + 5


def test_a_deleted_pod_that_waited_is_gone_and_holds_nothing() -> None:
    at = table(node("a"), pod("asks", ask="person"))
    at.order(commands.PodDelete("shop", "asks"))
    assert play(at.game) is Happened.FINISHED
    assert places(at.game) == {}
    assert at.game.projection.nodes.views["a"].reserved[0] == 0


def test_a_new_node_wakes_who_waited_for_room() -> None:
    at = table(node("a", cpu="1"), pod("large", "3"))
    at.order(commands.NodeAdd(node("b")))
    play(at.game)
    assert at.game.projection.views["uid-large"].node == "b"


def test_cordon_keeps_new_pods_away_and_uncordon_lets_them_come() -> None:
    at = table(node("a"))
    at.order(commands.NodeCordon("a"))
    cordoned = at.game.world.node("a")
    assert cordoned.spec.unschedulable
    assert [taint.key for taint in cordoned.spec.taints] == ["node.kubernetes.io/unschedulable"]
    at.order(commands.PodAdd(pod("new")))
    play(at.game)
    assert places(at.game) == {"new": "unschedulable"}
    at.order(commands.NodeUncordon("a"))
    play(at.game)
    assert places(at.game) == {"new": "bound"}
    assert at.game.world.node("a").spec.taints == ()


def budget(allowed: int) -> Manifest:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": allowed},
    }


def test_drain_moves_what_controllers_make_anew_and_keeps_budgets() -> None:
    at = table(
        node("a"),
        node("b"),
        budget(1),
        *(pod(f"web-{tail}", node_name="a", owner="web", app="web") for tail in ("x", "y")),
        pod("alone", node_name="a"),
    )
    text = str(at.order(commands.NodeDrain("a")).result.text)
    assert text == (
        "drained node a: 1 pod evicted, 1 kept by PodDisruptionBudget keep, "
        "1 kept without a controller or of a DaemonSet"
    )
    play(at.game)
    on = {view.name: view.node for view in at.game.projection.views.values()}
    assert on.pop("alone") == "a"
    assert on.pop("web-y") == "a"
    [(name, where)] = on.items()
    assert name.startswith("web-")
    assert where == "b"


def test_a_deleted_node_takes_its_pods_with_it_and_controllers_make_new_ones() -> None:
    at = table(node("a"), node("b"), pod("web-x", node_name="a", owner="web"), pod("alone", node_name="a"))
    at.order(commands.NodeDelete("a"))
    play(at.game)
    assert at.game.world.cluster.get(Node, "", "a") is None
    left = at.game.world.cluster.list(Pod)
    assert [each.spec.node_name for each in left] == ["b"]
    assert set(at.game.projection.nodes.views) == {"b"}


def test_the_configuration_is_switched_between_cycles_and_pods_keep_their_places() -> None:
    at = table(node("a"), configuration=ASKING)
    silent = ASKING.replace("ask: person", "ask: nobody")
    at.order(commands.SetConfiguration("version", silent))
    at.order(commands.PodAdd(pod("asks", ask="person")))
    play(at.game)
    assert places(at.game) == {"asks": "bound"}


def test_a_configuration_without_a_waiting_pods_profile_is_refused_and_nothing_changes() -> None:
    at = table(node("a"), pod("asks", ask="person"))
    other = ASKING.replace("schedulerName: default-scheduler", "schedulerName: other")
    answer = at.order(commands.SetConfiguration("version", other))
    assert "waits on Permit under profile default-scheduler" in str(answer.text)
    assert outcome(at.order(decide("approve", "asks"))) == "approved"


def test_a_configuration_cannot_be_switched_within_a_cycle() -> None:
    game = player([node("a"), pod("one")])
    at = Table(game)
    while not game.scheduler.mid_cycle:
        game.operate()
    refused = at.order(commands.SetConfiguration("version", ASKING))
    assert str(refused.text).startswith("The configuration can only be switched between two cycles")


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (commands.PodDelete("shop", "nobody"), 'pods "nobody" not found in namespace "shop"'),
        (commands.PodActivate("shop", "plain"), "pod shop/plain is bound to a already"),
        (commands.NodeCordon("nowhere"), 'nodes "nowhere" not found'),
        (commands.NodeDrain("nowhere"), 'nodes "nowhere" not found'),
        (commands.NodeAdd(node("a")), 'nodes "a" already exists'),
        (commands.SetSeed(3), "The seed can be set only before the first step."),
        (commands.PodAdd(pod("fine")), None),
    ],
)
def test_what_would_be_refused_is_known_before_it_has_a_place(command: AnyCommand, text: str | None) -> None:
    at = table(node("a"), pod("plain"))
    before = (at.game.position, at.game.digest)
    refusal = validate(at.game, command)
    assert (None if refusal is None else str(refusal)) == text
    assert (at.game.position, at.game.digest) == before


def test_an_invalid_pod_is_refused_in_the_api_servers_words_and_changes_nothing() -> None:
    at = table(node("a"))
    empty = pod("empty")
    empty["spec"]["containers"] = []
    answer = at.order(commands.PodAdd(empty))
    assert answer.result is None
    assert 'Pod "empty" is invalid: spec.containers: Required value' in str(answer.text)
    assert places(at.game) == {}


# --- devices ----------------------------------------------------------------------------------------------------------


def attaching() -> Table:
    return table(*ATTACHED)


def told(condition: str = "attached", **more: Any) -> commands.DeviceCondition:
    named = {"namespace": "shop", "name": "one-gpu", "driver": "gpu.example.com", "pool": "west-1", "device": "gpu-0"}
    return commands.DeviceCondition(**{**named, "condition": condition, **more})


def test_the_clock_is_held_until_somebody_says_that_the_device_is_ready() -> None:
    at = attaching()
    assert play(at.game) is Happened.WAITS
    assert places(at.game) == {"trainer-0": "in_flight"}
    began = at.game.now
    assert str(at.order(told()).result.text) == (
        "set condition attached of device west-1/gpu-0 to True in claim shop/one-gpu"
    )
    assert play(at.game) is Happened.FINISHED
    assert places(at.game) == {"trainer-0": "bound"}
    assert round((at.game.now - began) / 1e9) == 5


def test_a_device_that_cannot_be_attached_is_given_back_and_asked_about_anew() -> None:
    at = attaching()
    at.order(told("broken", reason="NoPower"))
    assert conditions(at)["broken"]["status"] == "True"
    assert play(at.game) is Happened.WAITS
    assert "deallocation of ResourceClaim completed" in at.game.projection.views["uid-trainer-0"].message
    assert places(at.game) == {"trainer-0": "in_flight"}
    claim = at.game.world.cluster.get(ResourceClaim, "shop", "one-gpu")
    assert claim is not None
    assert claim.status.allocation is not None
    assert claim.status.devices == ()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (told(name="other"), 'resourceclaims "other" not found in namespace "shop"'),
        (told(device="gpu-9"), "device gpu.example.com/west-1/gpu-9 is not allocated to claim shop/one-gpu"),
    ],
)
def test_conditions_are_told_of_devices_that_a_claim_has(command: commands.DeviceCondition, says: str) -> None:
    at = attaching()
    assert str(validate(at.game, command)) == says
    assert str(at.order(command).text) == says


def test_a_device_has_at_most_eight_conditions_and_keeps_the_time_of_the_last_change() -> None:
    at = attaching()
    for number in range(8):
        at.order(told(f"c-{number}"))
    assert "has 8 conditions already" in str(validate(at.game, told("one-more")))
    before = conditions(at)["c-0"]
    at.order(told("c-0", message="still"))
    assert conditions(at)["c-0"] == {**before, "message": "still"}


def conditions(at: Table) -> dict[str, Manifest]:
    claim = at.game.world.cluster.get(ResourceClaim, "shop", "one-gpu")
    assert claim is not None
    (device,) = to_manifest(claim)["status"]["devices"]
    return {each["type"]: each for each in device["conditions"]}


def test_whom_a_plugin_lets_go_waits_for_the_others_alone() -> None:
    """The gang is complete when its last member comes: Coscheduling lets all go, a person has yet to."""
    configuration = (
        GANGS.rstrip().removesuffix("[{name: Coscheduling}]") + "[{name: Coscheduling}, {name: ManualApproval}]\n"
    )
    configuration += (
        "  pluginConfig:\n  - name: ManualApproval\n    args: {podSelector: {matchLabels: {ask: person}}}\n"
    )
    members = [pod(name, "1", ask="person", **{"scheduling.x-k8s.io/pod-group": "ring"}) for name in "abc"]
    group: Manifest = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": "ring", "namespace": "shop"},
        "spec": {"minMember": 3},
    }
    at = table(node("a"), group, *members, configuration=configuration)
    waits = {view.name: [wait.plugin for wait in view.waits] for view in at.game.projection.views.values()}
    assert waits == {name: ["ManualApproval"] for name in "abc"}
    assert not at.game.projection.several

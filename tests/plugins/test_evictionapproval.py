"""EvictionApproval: nothing is evicted before a person says so, and nothing else than what was proposed afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.configuration.load import load
from framework.objects import KubeObject, Pod
from framework.objects.decode import decode_manifest
from framework.plugins.registry import built_in_registry
from framework.preemption.proposals import How, Proposal
from framework.sentences import Words
from tests.builders import make_node, make_pod
from tests.plugins.playing import Play, Remembering


class Told(Remembering):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[tuple[str, str]] = []

    def proposed(self, proposal: Proposal) -> None:
        self.said.append(("proposed", text(proposal)))

    def proposal_ended(self, proposal: Proposal, how: How, why: Words) -> None:
        self.said.append((how, str(why)))


def text(proposal: Proposal) -> str:
    victims = ", ".join(victim.metadata.name for victim in proposal.victims)
    return f"{proposal.preemptor.metadata.name}: {victims} on {proposal.node}"


def configuration(args: str = "{}", evicts: str = "DefaultPreemption", *, asks: bool = True) -> str:
    others = "" if evicts == "DefaultPreemption" else f"{{name: {evicts}}}, "
    off = "" if evicts == "DefaultPreemption" else "disabled: [{name: DefaultPreemption}]"
    ours = "{name: EvictionApproval}" if asks else ""
    return f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled: [{others}{ours}]
        {off}
    pluginConfig:
      - name: EvictionApproval
        args: {args}
"""


def low(name: str, node: str = "n1", **more: Any) -> Pod:
    return make_pod(name, requests={"cpu": "2"}, priority=0, node_name=node, **more)


def high(name: str = "high", cpu: str = "2", priority: int = 100) -> Pod:
    return make_pod(name, requests={"cpu": cpu}, priority=priority)


def start(*objects: Any, args: str = "{}", evicts: str = "DefaultPreemption", asks: bool = True) -> Play:
    play = Play(configuration(args, evicts, asks=asks), objects)
    told = Told()
    play.scheduler.observer = told
    play.seen = told
    play.cycles()
    return play


def said(play: Play) -> list[tuple[str, str]]:
    assert isinstance(play.seen, Told)
    return play.seen.said


def proposed(play: Play) -> list[str]:
    return [text(each) for each in play.scheduler.proposals()]


def names(play: Play) -> set[str]:
    return {pod.metadata.name for pod in play.scheduler.cluster.list(Pod)}


def approve(play: Play, name: str = "high") -> None:
    [chosen] = [each for each in play.scheduler.proposals() if each.preemptor.metadata.name == name]
    play.scheduler.approve_eviction(chosen, "mira")
    play.cycles()


def reject(play: Play, name: str = "high", reason: str = "not today") -> None:
    [chosen] = [each for each in play.scheduler.proposals() if each.preemptor.metadata.name == name]
    play.scheduler.reject_eviction(chosen, "mira", reason)
    play.cycles()


PLUGINS = ["DefaultPreemption", "PreemptionToleration", "CapacityScheduling", "CrossNodePreemption"]


@pytest.mark.parametrize("evicts", PLUGINS)
def test_nothing_is_evicted_until_a_person_approves(evicts: str) -> None:
    play = start(make_node("n1", cpu="4"), low("a"), low("b"), high(), evicts=evicts)
    assert len(proposed(play)) == 1
    assert names(play) == {"a", "b", "high"}
    pod = play.scheduler.cluster.get(Pod, "default", "high")
    assert pod is not None
    assert pod.status.nominated_node_name == ""
    assert "waits for a person: would evict 1 pod on node n1" in play.message("high")
    assert [each.plugin for each in play.seen.attempts[-1].post_filter] == ["DynamicResources", evicts]
    assert play.seen.attempts[-1].nomination == ""
    assert not [each for each in play.seen.events if each.reason == "Preempted"]
    victim = play.scheduler.proposals()[0].victims[0].metadata.name
    approve(play)
    play.seconds(2)
    assert names(play) == {"a", "b", "high"} - {victim}
    assert play.bound["high"] == "n1"
    assert [each.pod for each in play.seen.events if each.reason == "Preempted"] == [f"default/{victim}"]
    assert [each for each, _ in said(play)] == ["proposed", "evicted"]


@pytest.mark.parametrize("evicts", PLUGINS)
def test_without_it_the_attempt_evicts(evicts: str) -> None:
    play = start(make_node("n1", cpu="4"), low("a"), low("b"), high(), evicts=evicts, asks=False)
    assert len(names(play)) == 2
    assert not said(play)


def both(play_of: Sequence[KubeObject]) -> Play:
    """DefaultPreemption, and CrossNodePreemption behind it."""
    text = configuration(evicts="CrossNodePreemption").replace("disabled: [{name: DefaultPreemption}]", "")
    play = Play(text, play_of)
    told = Told()
    play.scheduler.observer = told
    play.seen = told
    play.cycles()
    return play


def test_what_one_plugin_proposed_is_left_to_it_by_another_one() -> None:
    """Nobody's leaving from one node makes room; DefaultPreemption says so before and after the approval."""
    zone = {"zone": "a"}
    web = {"app": "web"}
    away = {"topologyKey": "zone", "labelSelector": {"matchLabels": web}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [away]}}
    nodes = [make_node(name, cpu="4", labels=zone) for name in ("n1", "n2")]
    pods = [low("a", labels=web), low("b", "n2", labels=web)]
    preemptor = make_pod("high", requests={"cpu": "2"}, priority=100, affinity=affinity)
    play = both([*nodes, *pods, preemptor])
    assert proposed(play) == ["high: a, b on n1"]
    approve(play)
    play.seconds(2)
    assert play.bound == {"high": "n1"}
    assert [each for each, _ in said(play)] == ["proposed", "evicted"]


def test_of_two_plugins_in_one_attempt_the_first_one_asks() -> None:
    play = both([make_node("n1", cpu="4"), low("a"), low("b"), high()])
    assert [each for each, _ in said(play)] == ["proposed"]
    [chosen] = play.scheduler.proposals()
    assert chosen.plugin == "DefaultPreemption"
    assert play.message("high").count("waits for a person") == 1
    approve(play)
    play.seconds(2)
    assert play.bound["high"] == "n1"
    assert [each for each, _ in said(play)] == ["proposed", "evicted"]


def test_attempts_that_come_to_the_same_ask_once() -> None:
    play = start(make_node("n1", cpu="4"), low("a"), low("b"), high())
    first = play.scheduler.proposals()[0]
    play.seconds(400)
    assert len(play.seen.attempts) > 1
    assert play.scheduler.proposals() == [first]
    assert said(play) == [("proposed", text(first))]


def test_a_rejection_carries_the_reason_and_other_victims_are_asked_about_next() -> None:
    play = start(make_node("n1", cpu="2"), make_node("n2", cpu="2"), low("a"), low("b", "n2"), high())
    assert proposed(play) == ["high: a on n1"]
    reject(play)
    assert proposed(play) == []
    assert play.message("high").endswith("was rejected by mira: not today")
    play.create(make_pod("other", requests={"cpu": "1"}, priority=-5))
    play.seconds(400)
    assert proposed(play) == ["high: b on n2"]
    reject(play)
    play.seconds(400)
    assert proposed(play) == []
    assert "the eviction that would make room was rejected by mira: not today" in play.message("high")
    assert {"a", "b"} <= names(play)


def test_a_person_who_activates_the_pod_is_asked_again() -> None:
    pod = high()
    play = start(make_node("n1", cpu="2"), low("a"), pod)
    reject(play)
    play.scheduler.activate([pod])
    play.cycles()
    assert proposed(play) == []
    play.scheduler.activate([pod], by_person=True)
    play.cycles()
    assert proposed(play) == ["high: a on n1"]


def test_a_pod_that_finds_a_node_needs_nobody_s_room() -> None:
    play = start(make_node("n1", cpu="2"), low("a"), high())
    play.create(make_node("n2", cpu="2"))
    play.seconds(20)
    assert play.bound["high"] == "n2"
    assert said(play)[-1] == ("withdrawn", "the pod has a node")


def test_an_approval_evicts_nobody_where_there_is_room_meanwhile() -> None:
    play = start(make_node("n1", cpu="2"), low("a"), high())
    [proposal] = play.scheduler.proposals()
    play.scheduler.approve_eviction(proposal, "mira")
    play.create(make_node("n2", cpu="2"))
    play.cycles()
    assert play.bound == {"a": "n1", "high": "n2"}


def test_a_deleted_pod_leaves_no_proposal() -> None:
    pod = high()
    play = start(make_node("n1", cpu="2"), low("a"), pod)
    play.scheduler.cluster.delete(play.scheduler.cluster.get(Pod, "default", "high"))  # type: ignore[arg-type]
    assert said(play)[-1] == ("withdrawn", "the pod is gone")
    assert not proposed(play)


def test_a_victim_that_goes_by_itself_withdraws_it_and_the_pod_is_tried_again() -> None:
    play = start(make_node("n1", cpu="4"), low("a"), low("b"), high(cpu="4"))
    [proposal] = play.scheduler.proposals()
    assert text(proposal) == "high: a, b on n1"
    play.scheduler.approve_eviction(proposal, "mira")
    play.scheduler.cluster.delete(play.scheduler.cluster.get(Pod, "default", "b"))  # type: ignore[arg-type]
    assert said(play)[-1] == ("withdrawn", "default/b goes by itself")
    play.cycles()
    assert proposed(play) == ["high: a on n1"], "what was approved is not what is left"
    assert "a" in names(play)


def test_never_more_than_was_approved() -> None:
    """Another pod took the free half of the node: now two would have to go."""
    play = start(make_node("n1", cpu="4"), low("a"), high(cpu="4"))
    [proposal] = play.scheduler.proposals()
    assert text(proposal) == "high: a on n1"
    play.create(make_pod("late", requests={"cpu": "2"}, priority=0, node_name="n1"))
    play.scheduler.approve_eviction(proposal, "mira")
    play.cycles()
    assert said(play)[1][0] == "withdrawn"
    assert proposed(play) == ["high: a, late on n1"]
    assert {"a", "late"} <= names(play)


def test_less_than_was_approved_is_enough() -> None:
    """Half of the node became free by a pod that was no victim."""
    spared = make_pod("spared", requests={"cpu": "2"}, priority=500, node_name="n1")
    play = start(make_node("n1", cpu="6"), low("a"), low("b"), spared, high(cpu="4"))
    [proposal] = play.scheduler.proposals()
    assert text(proposal) == "high: a, b on n1"
    play.scheduler.approve_eviction(proposal, "mira")
    play.scheduler.cluster.delete(spared)
    play.cycles()
    play.seconds(2)
    assert play.bound["high"] == "n1"
    assert len(names(play) & {"a", "b"}) == 1


def test_two_pods_ask_for_different_victims_where_they_can() -> None:
    nodes = [make_node(f"n{number}", cpu="2") for number in (1, 2)]
    play = start(*nodes, low("a", "n1"), low("b", "n2"), high("h1"), high("h2"))
    assert sorted(proposed(play)) == ["h1: a on n1", "h2: b on n2"]


def test_one_victim_for_two_pods_goes_for_the_first_that_is_approved() -> None:
    play = start(make_node("n1", cpu="2"), low("a"), high("h1"), high("h2"))
    assert proposed(play) == ["h1: a on n1", "h2: a on n1"]
    approve(play, "h2")
    play.seconds(2)
    assert play.bound == {"h2": "n1"}
    assert proposed(play) == []


def test_another_configuration_asks_about_nothing_of_the_one_before() -> None:
    play = start(make_node("n1", cpu="2"), low("a"), high())
    loaded = load(configuration(asks=False), built_in_registry())
    assert loaded.effective is not None
    play.scheduler.replace_configuration(loaded.effective)
    assert said(play)[-1] == ("withdrawn", "the configuration was switched")
    play.cycles()
    play.seconds(2)
    assert play.bound == {"high": "n1"}


BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "keep", "namespace": "default"},
    "spec": {"selector": {"matchLabels": {"app": "a"}}},
    "status": {"disruptionsAllowed": 0},
}


@pytest.mark.parametrize(
    ("args", "labels", "asked"),
    [
        ("{}", {}, True),
        ("{victimNamespaces: [ml]}", {}, False),
        ("{victimNamespaces: [default]}", {}, True),
        ("{victimSelector: {matchLabels: {app: a}}}", {"app": "a"}, True),
        ("{victimSelector: {matchLabels: {app: a}}}", {"app": "b"}, False),
        ("{onlyViolations: true}", {"app": "a"}, True),
        ("{onlyViolations: true}", {"app": "b"}, False),
    ],
)
def test_whom_it_asks_about(args: str, labels: dict[str, str], asked: bool) -> None:
    play = start(make_node("n1", cpu="2"), low("a", labels=labels), decode_manifest(BUDGET), high(), args=args)
    assert bool(proposed(play)) is asked
    assert ("a" in names(play)) is asked


def test_bad_arguments_are_named() -> None:
    loaded = load(
        configuration("{victimSelector: {matchExpressions: [{key: a, operator: Near}]}}"), built_in_registry()
    )
    assert loaded.effective is None
    assert any("victimSelector" in str(error) for error in loaded.errors), loaded.errors


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 7)), max_size=14), st.integers(0, 3))
def test_whatever_happens_only_approved_pods_are_evicted(moves: list[tuple[int, int]], seed: int) -> None:
    """And what is proposed at any time could be done: its victims are there, and its pod has no node."""
    nodes = [make_node(f"n{number}", cpu="4") for number in range(3)]
    placed = [low(f"low-{number}", f"n{number % 3}") for number in range(6)]
    play = Play(configuration(), [*nodes, *placed], seed=seed)
    approved: set[str] = set()
    by_hand: set[str] = set()
    made = 0
    for what, which in moves:
        open_ = play.scheduler.proposals()
        if what == 0:
            made += 1
            play.create(high(f"high-{made}", cpu=str(2 + which % 3), priority=100 + which))
        elif what == 1 and open_:
            chosen = open_[which % len(open_)]
            approved |= {victim.metadata.name for victim in chosen.victims}
            play.scheduler.approve_eviction(chosen, "mira")
        elif what == 2 and open_:
            play.scheduler.reject_eviction(open_[which % len(open_)], "mira", "no")
        elif what == 3:
            pods = play.scheduler.cluster.list(Pod)
            if pods:
                gone = pods[which % len(pods)]
                by_hand.add(gone.metadata.name)
                play.scheduler.cluster.delete(gone)
        else:
            play.seconds(which)
        play.cycles()
        there = names(play)
        for proposal in play.scheduler.proposals():
            assert {victim.metadata.name for victim in proposal.victims} <= there
            assert proposal.preemptor.metadata.name not in play.bound
        gone_now = ({f"low-{number}" for number in range(6)} | {f"high-{n + 1}" for n in range(made)}) - there
        assert gone_now <= approved | by_hand

"""ManualApproval: whom it asks about, what a person's answer does, and what wakes a rejected pod."""

from __future__ import annotations

import pytest

from framework.configuration.load import load
from framework.objects import Pod
from framework.plugins.registry import built_in_registry
from tests.builders import make_node, make_pod
from tests.plugins.playing import Play


def configuration(args: str, point: str = "multiPoint") -> str:
    return f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      {point}:
        enabled: [{{name: ManualApproval}}]
    pluginConfig:
      - name: ManualApproval
        args: {args}
"""


def play(*pods: Pod, args: str = "{timeoutSeconds: 60}", point: str = "multiPoint") -> Play:
    started = Play(configuration(args, point), [make_node("n1", cpu="64", memory="256Gi"), *pods])
    started.cycles()
    return started


def uid(name: str) -> str:
    return f"pods.default.{name}"


@pytest.mark.parametrize(
    ("args", "pod", "asked"),
    [
        ("{}", make_pod("p"), True),
        ("{namespaces: [ml]}", make_pod("p"), False),
        ("{namespaces: [default]}", make_pod("p"), True),
        ("{podSelector: {matchLabels: {tier: gpu}}}", make_pod("p", labels={"tier": "gpu"}), True),
        ("{podSelector: {matchLabels: {tier: gpu}}}", make_pod("p"), False),
        ("{minimumRequests: {cpu: '4', memory: 16Gi}}", make_pod("p", requests={"memory": "16Gi"}), True),
        ("{minimumRequests: {cpu: '4', memory: 16Gi}}", make_pod("p", requests={"cpu": "3999m"}), False),
        ("{namespaces: [default], minimumRequests: {cpu: '4'}}", make_pod("p"), False),
    ],
)
def test_whom_it_asks_about(args: str, pod: Pod, asked: bool) -> None:
    assert ("p" in play(pod, args=args).waiting) is asked


@pytest.mark.parametrize(("flag", "told"), [("true", "n1"), ("false", "")])
def test_a_waiting_pod_says_where_it_is_about_to_go(flag: str, told: str) -> None:
    gates = f"# kube-scheduler --feature-gates=NominatedNodeNameForExpectation={flag}"
    started = Play(gates + configuration("{timeoutSeconds: 60}"), [make_node("n1"), make_pod("p")])
    started.cycles()
    pod = started.scheduler.cluster.get(Pod, "default", "p")
    assert pod is not None
    assert (started.waiting, pod.status.nominated_node_name) == ({"p": ("ManualApproval",)}, told)
    assert started.scheduler.allow(uid("p"), "ManualApproval")
    assert started.bound == {"p": "n1"}


def test_approval_binds_the_pod() -> None:
    played = play(make_pod("p"))
    assert (played.waiting, played.bound) == ({"p": ("ManualApproval",)}, {})
    assert played.scheduler.allow(uid("p"), "ManualApproval")
    assert (played.waiting, played.bound) == ({}, {"p": "n1"})
    assert not played.scheduler.allow(uid("p"), "ManualApproval")


def test_a_rejection_carries_the_reason_and_does_not_wake_the_pod() -> None:
    played = play(make_pod("p"))
    assert played.scheduler.reject(uid("p"), "ManualApproval", "Hold H100s until the eval run ends", by_person=True)
    assert played.message("p") == "0/1 nodes are available: 1 Hold H100s until the eval run ends."
    played.cycles()
    played.create(make_node("n2"))
    played.seconds(120)
    assert (played.unschedulable, played.waiting) == ({"p"}, {})


def test_the_five_minute_flush_asks_again() -> None:
    played = play(make_pod("p"))
    played.scheduler.reject(uid("p"), "ManualApproval", "no", by_person=True)
    played.seconds(331)
    assert played.waiting == {"p": ("ManualApproval",)}


@pytest.mark.parametrize("point", ["multiPoint", "permit"])
def test_on_reject_hold_keeps_the_pod_out_until_a_person_activates_it(point: str) -> None:
    pod = make_pod("p")
    played = play(pod, args="{timeoutSeconds: 60, onReject: hold}", point=point)
    played.scheduler.reject(uid("p"), "ManualApproval", "no", by_person=True)
    played.seconds(1000)
    assert not played.waiting
    played.scheduler.activate([pod], by_person=True)
    played.cycles()
    assert played.waiting == {"p": ("ManualApproval",)}


def test_nobody_answers() -> None:
    played = play(make_pod("p"))
    played.seconds(59)
    assert played.waiting
    played.seconds(1)
    assert not played.waiting
    assert "rejected due to timeout after waiting 1m0s at plugin ManualApproval" in played.message("p")


def test_the_reasons_say_why_a_person_is_asked() -> None:
    played = play(
        make_pod("p", requests={"memory": "20Gi"}),
        args="{minimumRequests: {cpu: '4', memory: 16Gi}, message: Ask the platform team}",
    )
    permit = next(each for each in played.seen.attempts[0].permit if each.plugin == "ManualApproval")
    assert permit.status.reasons == ("Ask the platform team", "memory ≥ 16Gi")


@pytest.mark.parametrize(
    ("args", "path"),
    [
        ("{timeoutSeconds: 0}", "timeoutSeconds"),
        ("{timeoutSeconds: 901}", "timeoutSeconds"),
        ("{onReject: never}", "onReject"),
        ("{minimumRequests: {cpu: '-1'}}", "minimumRequests[cpu]"),
        ("{minimumRequests: {cpu: many}}", "minimumRequests[cpu]"),
        ("{podSelector: {matchExpressions: [{key: a, operator: Near}]}}", "podSelector"),
    ],
)
def test_bad_arguments_are_named(args: str, path: str) -> None:
    loaded = load(configuration(args), built_in_registry())
    assert loaded.effective is None
    assert any(path in str(error) for error in loaded.errors), loaded.errors

"""Cycles that ask extenders: standing still until the answer is there, and answers that crash kube-scheduler."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from framework.configuration import load_value
from framework.extenders import Answer, Request
from framework.objects import Pod
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from framework.plugins.registry import built_in_registry
from framework.profiles import TieRule
from framework.scheduler import Observer, Scheduler
from framework.trace.attempt import AttemptTrace
from framework.trace.encoding import decode_attempts, encode_attempts

URL = "http://extender.test"


class Attempts(Observer):
    def __init__(self) -> None:
        self.seen: list[AttemptTrace] = []

    def attempt(self, trace: AttemptTrace) -> None:
        self.seen.append(trace)


def scheduler(*extenders: dict[str, Any], ties: TieRule = "smallest", nodes: int = 3, **more: Any) -> Scheduler:
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    listed = [{"urlPrefix": URL, "nodeCacheCapable": True, **each} for each in extenders]
    effective = load_value({**head, "extenders": listed, **more}, built_in_registry()).effective
    assert effective is not None
    made = Scheduler(effective, built_in_registry(), start=0, seed=7, ties=ties, observer=Attempts())
    for number in range(nodes):
        status = {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}}
        made.cluster.create_admitted(_decoded("Node", {"metadata": {"name": f"node-{number}"}, "status": status}))
    return made


def _decoded(kind: str, fields: dict[str, Any]) -> Any:
    return with_defaults(decode_manifest({"apiVersion": "v1", "kind": kind, **fields}))


def add_pod(made: Scheduler, name: str, cpu: str = "1", priority: int = 0, node: str = "") -> Pod:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    spec = {"containers": [container], "priority": priority, "schedulerName": "default-scheduler", "nodeName": node}
    metadata = {"name": name, "namespace": "default", "uid": name, "creationTimestamp": "1970-01-01T00:00:00Z"}
    pod = made.cluster.create_admitted(_decoded("Pod", {"metadata": metadata, "spec": spec}))
    assert isinstance(pod, Pod)
    return pod


def attempts(made: Scheduler) -> list[AttemptTrace]:
    observer = made.observer
    assert isinstance(observer, Attempts)
    return observer.seen


def says(reply: Any, *, status: int = 200) -> Answer:
    return Answer(status, json.dumps(reply).encode())


def by_verb(**replies: Any) -> Callable[[Sequence[Request]], list[Answer]]:
    return lambda requests: [says(replies[each.verb]) for each in requests]


def test_a_cycle_stands_still_until_all_its_requests_are_answered() -> None:
    made = scheduler({"filterVerb": "f", "prioritizeVerb": "p", "weight": 1, "bindVerb": "b"})
    add_pod(made, "a")
    assert made.step() is None
    (asked,) = made.asks
    assert (asked.verb, asked.url, asked.pod) == ("filter", f"{URL}/f", "default/a")
    before = made.points
    assert made.step() is None
    assert (made.points, made.asks) == (before, (asked,))

    made.answer([says({"NodeNames": ["node-2", "node-1"]})])
    assert made.step() is None
    assert [each.verb for each in made.asks] == ["prioritize"]
    made.answer([says([{"Host": "node-2", "Score": 10}])])
    made.step()
    assert [each.verb for each in made.asks] == ["bind"]
    made.answer([says({})])
    (trace,) = attempts(made)
    assert (trace.result, trace.selected, trace.bound_by) == ("bound", "node-2", URL)
    assert [(call.verb, call.sent, call.kept) for call in trace.extender_calls] == [
        ("filter", 3, 2),
        ("prioritize", 2, 1),
        ("bind", 1, 1),
    ]
    bound = made.cluster.get(Pod, "default", "a")
    assert bound is not None
    assert bound.spec.node_name == "node-2"


def test_a_binding_that_waits_for_its_extender_survives_a_checkpoint() -> None:
    made = scheduler({"bindVerb": "b"})
    add_pod(made, "a")
    made.step()
    again: Scheduler = pickle.loads(pickle.dumps(made))
    again.answer([says({"Error": "no"})])
    failed = attempts(again)[-1]
    assert (failed.result, failed.reason, failed.message) == ("failed", "SchedulerError", "no")
    assert again.asks == ()


def test_wrong_numbers_of_answers_are_refused() -> None:
    made = scheduler({"filterVerb": "f"})
    add_pod(made, "a")
    made.step()
    with pytest.raises(ValueError, match="2 answers to 1 requests"):
        made.answer([says({}), says({})])


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"node-0": None}, f"extender: {URL} answers null for node node-0: kube-scheduler would crash here"),
        (
            {"node-0": {"Pods": [None]}},
            f"extender: {URL} names null as a victim on node node-0: kube-scheduler would crash here",
        ),
        (
            {"node-1": {"Pods": [None]}},
            f"extender: {URL} claims to preempt pod (UID: <nil>) on node: node-1, "
            "but the pod is not found on that node",
        ),
        (
            {"node-0": {"Pods": [{}]}},
            f"extender: {URL} claims to preempt pod (UID: &{{}}) on node: node-0, "
            "but the pod is not found on that node",
        ),
        ({"node-0": {}}, 'expected at least one victim pod on node "node-0"'),
    ],
)
def test_what_crashes_kube_scheduler_is_an_error_that_names_the_extender(reply: Any, error: str) -> None:
    made = scheduler({"preemptVerb": "x"}, nodes=2)
    add_pod(made, "low", cpu="2", priority=1, node="node-0")
    made.cluster.replace(_decoded("Node", {"metadata": {"name": "node-1"}, "status": {"allocatable": {"cpu": "2"}}}))
    made.core.answerer = by_verb(preempt={"NodeNameToMetaVictims": reply})
    add_pod(made, "high", cpu="2", priority=9)
    made.step()
    trace = attempts(made)[-1]
    assert trace.message.endswith(f" preemption: {error}")
    assert [(call.verb, call.error) for call in trace.extender_calls] == [("preempt", error)]


def test_an_ignorable_extender_that_would_crash_kube_scheduler_is_passed_over() -> None:
    made = scheduler({"preemptVerb": "x", "ignorable": True}, nodes=1)
    add_pod(made, "low", cpu="2", priority=1, node="node-0")
    made.core.answerer = by_verb(preempt={"NodeNameToMetaVictims": {"node-0": None}})
    add_pod(made, "high", cpu="2", priority=9)
    made.step()
    assert attempts(made)[-1].nomination == "node-0"


def test_a_name_that_no_node_has_can_win_and_leaves_no_trace_in_the_snapshot() -> None:
    made = scheduler({"filterVerb": "f", "nodeCacheCapable": False})
    nodes = [
        {"metadata": {"name": "ghost"}, "status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "9"}}},
        {"metadata": {"name": "node-0"}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "9"}}},
    ]
    made.core.answerer = by_verb(filter={"Nodes": {"items": nodes}})
    for name in ("a", "b"):
        add_pod(made, name)
        made.step()
    assert [trace.selected for trace in attempts(made)] == ["ghost", "ghost"]
    assert made.core.snapshot.order_names == ("node-0", "node-1", "node-2")
    assert made.core.snapshot.get("ghost") is None
    (read, _) = decode_attempts(encode_attempts(attempts(made)))
    assert read.filter is not None
    assert read.extender_left is not None
    assert [read.filter.nodes[position] for position in read.extender_left] == ["ghost", "node-0"]
    # The true nodes are as they were.
    made.core.answerer = by_verb(filter={"Nodes": None, "FailedNodes": {"node-1": "full"}})
    add_pod(made, "c")
    made.step()
    last = attempts(made)[-1]
    assert last.message.startswith("0/3 nodes are available: 1 full.")
    assert last.unschedulable_plugins == ("Extender",)


def test_ties_are_drawn_among_nodes_that_an_extender_spoke_of() -> None:
    """Whatever the rule: upstream's random number outranks the order of the heap."""
    chosen = set()
    for number in range(30):
        made = scheduler({"prioritizeVerb": "p", "weight": 1}, ties="upstream")
        made.core.services.generator._state = number
        made.core.answerer = by_verb(prioritize=[{"Host": "node-1", "Score": 0}, {"Host": "node-2", "Score": 0}])
        add_pod(made, "a")
        made.step()
        chosen.add(attempts(made)[-1].selected)
    assert chosen == {"node-1", "node-2"}


def test_points_wrap_as_gos_do() -> None:
    made = scheduler({"prioritizeVerb": "p", "weight": 1})
    made.core.answerer = by_verb(prioritize=[{"Host": "node-0", "Score": 9223372036854775807}])
    add_pod(made, "a")
    made.step()
    (points,) = attempts(made)[-1].extender_points
    assert points.points == (-10, None, None)


def test_an_extender_that_is_not_asked_changes_nothing_of_the_way_there() -> None:
    plain, extended = scheduler(), scheduler({"filterVerb": "f", "managedResources": [{"name": "example.com/gpu"}]})
    for made in (plain, extended):
        for number in range(4):
            add_pod(made, f"pod-{number}")
            made.step()
    assert encode_attempts(attempts(plain)) == encode_attempts(attempts(extended))


def test_a_node_that_comes_after_guests_left_is_scheduled_to() -> None:
    made = scheduler({"filterVerb": "f", "nodeCacheCapable": False}, nodes=1)

    def same(requests: Sequence[Request]) -> list[Answer]:
        return [says({"Nodes": json.loads(each.body)["Nodes"]}) for each in requests]

    made.core.answerer = same
    add_pod(made, "a", cpu="2")
    made.step()
    status = {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}}
    made.cluster.create_admitted(_decoded("Node", {"metadata": {"name": "late"}, "status": status}))
    add_pod(made, "b", cpu="2")
    made.step()
    assert [trace.selected for trace in attempts(made)] == ["node-0", "late"]


def test_texts_of_a_reply_are_kept_shortened() -> None:
    """An attempt in vain is stored a hundred times before a run pauses."""
    long = "x" * 60_000
    made = scheduler({"filterVerb": "f"})
    add_pod(made, "a")
    made.step()
    made.answer([says({"Error": long})])
    made.step()
    add_pod(made, "b")
    while not made.asks:
        made.advance(made.now + 1_000_000_000)
        made.step()
    made.answer(
        [says({"NodeNames": [], "FailedNodes": {"node-0": long}, "FailedAndUnresolvableNodes": {"node-1": long}})]
    )
    made.step()
    kept = f"{'x' * 4096}… (60,000 characters)"
    failed, refused = attempts(made)
    assert failed.message.endswith(kept)
    assert refused.message.count(kept) == 1, "two nodes for one reason"
    assert len(encode_attempts([failed, refused])) < 40_000

"""The stand-in answers as a real kube-apiserver 1.36.2 did: every recorded request of kube-scheduler, sent again.

39 of the 40 scenarios are held; NOTHING_SENT and UNREADABLE say what cannot be, and why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.apiserver import ApiServer
from tests.apiserver.manifests import node
from tests.apiserver.recordings import SCHEDULER, Replay, load, rules_of_scheduler, scenarios

NOTHING_SENT = ("no_profile",)
"""kube-scheduler says nothing there, so nothing can be compared."""
UNREADABLE = {"startup_default_protobuf": 10}
"""Requests whose bodies are protobuf, which neither the recorder nor the stand-in reads; the watches are compared."""
NODES = ("n1", "n2", "n3")
BINDING = {"kind": "Binding", "apiVersion": "v1", "target": {"kind": "Node", "name": "n2"}}
CLAIM = "/api/v1/namespaces/default/persistentvolumeclaims/c1"
POD = "/api/v1/namespaces/default/pods"

Act = Callable[[Replay], Any]


def create_again(replay: Replay) -> None:
    replay.server.remove("pods", "p1")
    replay.server.add(replay.pod("p1", replay.next_uid("p1")))


def bind_elsewhere(replay: Replay) -> None:
    body = {**BINDING, "metadata": {"name": "p1"}}
    assert replay.admin.send("POST", f"{POD}/p1/binding", body).status == 201


def delete(replay: Replay, name: str, **options: int) -> None:
    assert (
        replay.admin.send("DELETE", f"{POD}/{name}", {"kind": "DeleteOptions", "apiVersion": "v1", **options}).status
        == 200
    )


def take_node_away(replay: Replay) -> None:
    """The provisioner refuses, after the volume controller had named it."""
    provisioner = {
        "volume.beta.kubernetes.io/storage-provisioner": "example.com/prov",
        "volume.kubernetes.io/storage-provisioner": "example.com/prov",
        "volume.kubernetes.io/selected-node": None,
    }
    patch = {"metadata": {"annotations": provisioner}}
    assert replay.admin.send("PATCH", CLAIM, patch, content_type="application/merge-patch+json").status == 200


def forbid_bindings(replay: Replay) -> None:
    replay.server.revoke(SCHEDULER)
    for namespace, rules in rules_of_scheduler():
        left = [rule for rule in rules if "pods/binding" not in rule["resources"]]
        replay.server.grant(SCHEDULER, left, namespace=namespace)


def allow_all(replay: Replay) -> None:
    for namespace, rules in rules_of_scheduler():
        replay.server.grant(SCHEDULER, rules, namespace=namespace)


def restart_after_changes(replay: Replay) -> None:
    """Versions of before are too old then: 400 objects changed, and the watch cache began anew."""
    then = replay.server.version
    for recorded in ("1089", "1110"):
        replay.versions.ours[recorded] = str(then)
    replay.server.load(node(f"changed{number}") for number in range(400))
    replay.server.forget_history()
    replay.versions.ours["1265"] = str(replay.server.version)


def gated_binding_is_refused(replay: Replay) -> None:
    """The only answer of scenario bind_gated; the person's request is not a request of the scheduler's."""
    [action] = replay.recording["actions"]
    gated = replay.pod("p1", "b0c5a7f4-0000-4000-8000-000000000000")
    gated["spec"]["schedulingGates"] = [{"name": "example.com/wait"}]
    replay.server.add(gated)
    answer = replay.client.send("POST", f"{POD}/p1/binding", {**BINDING, "metadata": {"name": "p1"}})
    assert {"status": answer.status, "answer": answer.body} == action["what"]
    replay.compared += 1


WORLD: dict[str, Act] = {
    "stop API server": lambda replay: replay.break_off(),
    "API server restarted": restart_after_changes,
    "delete p1": lambda replay: delete(replay, "p1"),
    "delete p1 (finalizer keeps it)": lambda replay: delete(replay, "p1"),
    "delete pending c": lambda replay: delete(replay, "c"),
    "delete a gracefully": lambda replay: delete(replay, "a"),
    "delete victim by force": lambda replay: delete(replay, "low0", gracePeriodSeconds=0),
    "create p1 again": create_again,
    "rig binds p1 to n2": bind_elsewhere,
    "rig binds": bind_elsewhere,
    "delete n1": lambda replay: replay.server.remove("nodes", "n1"),
    "delete node n1 with pods on it": lambda replay: replay.server.remove("nodes", "n1"),
    "provisioner removes selected-node": take_node_away,
    "rule back": allow_all,
}
"""What the outside world did, where a later answer depends on it."""
NO_MATTER = (
    # The pods that are named are there from the beginning.
    "create a", "create b (pending)", "create claim c1", "create gated pod", "create high", "create mid", "create p1",
    "create p1 (fits), p2 (does not)", "create p1 (nodeSelector x=y)", "create p1; binding held", "created p1",
    "create p2 (same claim)", "create p3 (no device left)", "create pod", "create pod high (1 CPU)", "create pod p1",
    "create pod high; hold the patch of the victim", "create pod p1 (2 CPUs)",
    # Only the scheduler looks at these.
    "cordoned", "create node n3 (4 CPUs)", "create node x0 (1 CPU)", "create node x1 (1 CPU)", "label n1 x=y",
    "provisioner creates PV", "raise n1 allocatable cpu a little", "remove gate a", "remove gate b", "uncordon",
    # Notes on what is recorded as requests.
    "API server ready", "SIGTERM to leader", "b bound", "bound", "flow schema removed", "flow schema that rejects",
    "high bound", "leader killed", "let go", "network back", "nominated", "other holds the lease", "p1 bound",
    "p2 bound", "scheduler continued", "scheduler stopped", "second runs", "selected-node seen",
)  # fmt: skip
BEFORE: dict[str, Act] = {
    "event_series": forbid_bindings,
    "forbidden_403": forbid_bindings,
    "bind_gated": gated_binding_is_refused,
}
"""What was so when the recording began."""


def in_order(replay: Replay) -> list[tuple[float, Any]]:
    """Requests by when they were carried out (those held back when they were let go), actions by when they happened."""
    answered = [(each.get("at", 0) + each.get("ms", 0) / 1000 * each.get("held", 0), each) for each in replay.requests]
    acted = [(each["at"], each["what"]) for each in replay.recording["actions"]]
    return sorted([*answered, *acted], key=lambda pair: pair[0])


@pytest.mark.parametrize("scenario", [name for name in scenarios() if name not in NOTHING_SENT])
def test_answers_are_the_recorded_ones(scenario: str) -> None:
    with ApiServer(tls=False) as server:
        replay = Replay(server, scenario)
        server.add(*(node(name) for name in NODES))
        replay.seed()
        if scenario in BEFORE:
            BEFORE[scenario](replay)
        for _, step in in_order(replay):
            if isinstance(step, dict) and "path" in step:
                replay.send(step)
            elif isinstance(step, str) and step not in NO_MATTER:
                WORLD[step](replay)
            server.settle()
    closed = sum(1 for request in replay.requests if request.get("event") == "watch-close")
    assert replay.unreadable == UNREADABLE.get(scenario, 0)
    assert replay.compared + replay.unreadable + closed == len(replay.requests) + (scenario == "bind_gated")


def test_all_forty_scenarios_are_there() -> None:
    assert len(scenarios()) == 40
    assert not any(load(scenario)["requests"] for scenario in NOTHING_SENT)

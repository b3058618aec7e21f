"""NodeDeclaredFeatures: what pods ask of kubelets (docs/semantics/plugins.md#nodedeclaredfeatures)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from framework.configuration import FeatureGates
from framework.interface import Code, CycleState, Handle, PodInfo, QueueingHint
from framework.objects import Node, Pod
from framework.objects.decode import decode_manifest
from framework.objects.defaults import with_defaults
from framework.plugins.nodedeclaredfeatures import NodeDeclaredFeatures, required_features
from tests.builders import make_pod
from tests.plugins.evaluation import cluster, run_filter

RESTART = "RestartAllContainersOnContainerExits"
USERS = "UserNamespacesHostNetworkSupport"
LACKS = ("UnschedulableAndUnresolvable", "node(s) didn't match Pod's required features")


def plugin(*, enabled: bool = True) -> NodeDeclaredFeatures:
    gates = FeatureGates({} if enabled else {"NodeDeclaredFeatures": False})
    return NodeDeclaredFeatures(None, cast(Handle, SimpleNamespace(feature_gates=gates)))


def node(name: str, *features: str) -> Node:
    manifest = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": f"nodes..{name}"},
        "status": {"allocatable": {"cpu": "4", "pods": "110"}, "declaredFeatures": list(features)},
    }
    decoded = with_defaults(decode_manifest(manifest))
    assert isinstance(decoded, Node)
    return decoded


def restarting(where: str, action: str = "RestartAllContainers") -> Pod:
    container = {"name": "c", "image": "app:1"}
    rule = {"action": action, "exitCodes": {"operator": "In", "values": [88]}}
    spec: dict[str, Any] = {"containers": [container], "initContainers": [{**container, "name": "i"}]}
    spec[where] = [{**spec[where][0], "restartPolicyRules": [rule]}]
    return make_pod("p", **spec)


@pytest.mark.parametrize(
    ("pod", "features"),
    [
        (make_pod("p"), ()),
        (restarting("containers"), (RESTART,)),
        (restarting("initContainers"), (RESTART,)),
        (restarting("containers", "Restart"), ()),
        (make_pod("p", hostNetwork=True, hostUsers=False), (USERS,)),
        (make_pod("p", hostNetwork=True), ()),
        (make_pod("p", hostNetwork=True, hostUsers=True), ()),
        (make_pod("p", hostUsers=False), ()),
    ],
    ids=["plain", "container rule", "init rule", "own restart", "users", "no hostUsers", "host users", "no network"],
)
def test_what_a_pod_asks_for(pod: Pod, features: tuple[str, ...]) -> None:
    assert required_features(pod) == features
    _, status = plugin().pre_filter(CycleState(), PodInfo(pod), cluster([]))
    assert (status is not None and status.code is Code.SKIP) == (not features)


def test_every_feature_must_be_declared() -> None:
    nodes = [node("all", RESTART, USERS), node("more", "Aaa", RESTART, USERS, "Zzz"), node("one", RESTART), node("no")]
    users = make_pod("p", hostNetwork=True, hostUsers=False)
    both = replace(users, spec=replace(users.spec, containers=restarting("containers").spec.containers))
    assert run_filter(plugin(), both, cluster(nodes)) == {"one": LACKS, "no": LACKS}
    assert run_filter(plugin(), restarting("containers"), cluster(nodes)) == {"no": LACKS}
    assert run_filter(plugin(), users, cluster(nodes)) == {"one": LACKS, "no": LACKS}
    assert run_filter(plugin(), make_pod("p"), cluster(nodes)) == {}


def test_a_node_that_starts_to_declare_is_seen() -> None:
    snapshot = cluster([node("a"), node("b", RESTART)])
    assert run_filter(plugin(), restarting("containers"), snapshot) == {"a": LACKS}
    snapshot.set_node(node("a", RESTART))
    snapshot.set_node(node("b"))
    assert run_filter(plugin(), restarting("containers"), snapshot) == {"b": LACKS}


def test_without_the_gate_it_does_nothing() -> None:
    off = plugin(enabled=False)
    assert off.events_to_register() == ()
    _, status = off.pre_filter(CycleState(), PodInfo(restarting("containers")), cluster([]))
    assert status is not None
    assert status.code is Code.SKIP
    assert run_filter(off, restarting("containers"), cluster([node("no")]), pre_filter=False) == {}


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        (None, node("n"), QueueingHint.QUEUE),
        (node("n"), node("n"), QueueingHint.SKIP),
        (node("n"), node("n", RESTART), QueueingHint.QUEUE),
        # Whatever changed in the list: upstream compares the lists and does not look at what the pod needs.
        (node("n", RESTART), node("n", "Other"), QueueingHint.QUEUE),
    ],
    ids=["new", "same", "declared", "other"],
)
def test_node_hint(old: Node | None, new: Node, hint: QueueingHint) -> None:
    event = plugin().events_to_register()[0]
    assert event.hint is not None
    assert event.hint(restarting("containers"), old, new) is hint


def test_pod_hint_looks_at_the_own_needs() -> None:
    event = plugin().events_to_register()[1]
    assert event.hint is not None
    needy, plain, other = restarting("containers"), make_pod("p"), make_pod("other")
    assert event.hint(needy, needy, plain) is QueueingHint.QUEUE
    assert event.hint(needy, needy, needy) is QueueingHint.SKIP
    assert event.hint(other, needy, plain) is QueueingHint.SKIP

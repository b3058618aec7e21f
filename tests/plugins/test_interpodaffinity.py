"""InterPodAffinity: messages, upstream's oddities, errors, and which events wake a pod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
from msgspec.structs import replace

from framework.interface import SKIP, ActionType, CycleState, Handle, PodInfo, QueueingHint, Status
from framework.objects import KubeObject, Pod
from framework.plugins.interpodaffinity.args import InterPodAffinityArgs
from framework.plugins.interpodaffinity.plugin import InterPodAffinity
from tests.builders import make_node, make_pod
from tests.plugins.domain_worlds import StoredObjects, namespace
from tests.plugins.evaluation import cluster, run_filter, run_score

ZONE = "topology.kubernetes.io/zone"
NOT_NEAR = ("UnschedulableAndUnresolvable", "node(s) didn't match pod affinity rules")
NOT_APART = ("Unschedulable", "node(s) didn't match pod anti-affinity rules")
UNWANTED = ("Unschedulable", "node(s) didn't satisfy existing pods anti-affinity rules")
WEB = {"app": "web"}


def term(app: str = "web", **fields: Any) -> dict[str, Any]:
    return {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": app}}, **fields}


def near(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def apart(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def prefers(weight: int, kind: str = "podAffinity", **fields: Any) -> dict[str, Any]:
    weighted = [{"weight": weight, "podAffinityTerm": term(**fields)}]
    return {kind: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


def plugin(*objects: Any, **args: Any) -> InterPodAffinity:
    return InterPodAffinity(InterPodAffinityArgs(**args), cast(Handle, StoredObjects(*objects)))


NODES = [make_node("a", labels={ZONE: "a"}), make_node("b", labels={ZONE: "b"}), make_node("c")]


@pytest.mark.parametrize(
    ("incoming", "placed", "want"),
    [
        pytest.param(
            make_pod("i", affinity=near(term())),
            [make_pod("p", labels=WEB, node_name="a")],
            {"b": NOT_NEAR, "c": NOT_NEAR},
            id="near a pod",
        ),
        pytest.param(
            make_pod("i", affinity=apart(term())),
            [make_pod("p", labels=WEB, node_name="a")],
            {"a": NOT_APART},
            id="away from a pod",
        ),
        pytest.param(
            make_pod("i", labels=WEB),
            [make_pod("p", affinity=apart(term()), node_name="a")],
            {"a": UNWANTED},
            id="a placed pod wants it away",
        ),
        pytest.param(
            make_pod("i", labels=WEB, affinity=near(term())),
            [],
            {"c": NOT_NEAR},
            id="the first of pods that want to be together may go where the key is",
        ),
        pytest.param(
            make_pod("i", affinity=near(term())),
            [],
            {"a": NOT_NEAR, "b": NOT_NEAR, "c": NOT_NEAR},
            id="nobody to be near",
        ),
        pytest.param(
            make_pod("i", affinity=near(term(), term("db"))),
            [make_pod("p", labels=WEB, node_name="a"), make_pod("q", labels={"app": "db"}, node_name="a")],
            {"a": NOT_NEAR, "b": NOT_NEAR, "c": NOT_NEAR},
            id="one pod has to match all terms",
        ),
    ],
)
def test_verdicts(incoming: Pod, placed: list[Pod], want: dict[str, tuple[str, ...]]) -> None:
    assert run_filter(plugin(), incoming, cluster(NODES, placed)) == want


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        pytest.param({"matchLabels": {"env": "dev"}}, {"a"}, id="names the namespaces that match"),
        pytest.param({}, {"a", "b"}, id="an empty one means all"),
        pytest.param(
            {"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["dev"]}]},
            {"a", "b"},
            id="one that only excludes means all, too: upstream forgets to forget it",
        ),
    ],
)
def test_namespace_selectors_of_the_incoming_pod(selector: Any, want: set[str]) -> None:
    placed = [
        make_pod("p", namespace="dev", labels=WEB, node_name="a"),
        make_pod("q", namespace="prod", labels=WEB, node_name="b"),
    ]
    incoming = make_pod("i", affinity=apart(term(namespaceSelector=selector)))
    store = (namespace("default"), namespace("dev", env="dev"), namespace("prod", env="prod"))
    assert set(run_filter(plugin(*store), incoming, cluster(NODES, placed))) == want


def test_namespace_selectors_of_placed_pods_see_the_labels_of_the_incoming_pods_namespace() -> None:
    placed = [make_pod("p", affinity=apart(term(namespaceSelector={"matchLabels": {"env": "dev"}})), node_name="a")]
    store = (namespace("dev", env="dev"), namespace("prod", env="prod"))
    for name, want in (("dev", {"a"}), ("prod", set())):
        incoming = make_pod("i", namespace=name, labels=WEB)
        assert set(run_filter(plugin(*store), incoming, cluster(NODES, placed))) == want


def test_weights_that_cancel_out_are_scored_all_the_same() -> None:
    placed = [
        make_pod("p", affinity=prefers(10), node_name="a"),
        make_pod("q", affinity=prefers(10, "podAntiAffinity"), node_name="a"),
    ]
    snapshot = cluster(NODES, placed)
    assert run_score(plugin(), make_pod("i", labels=WEB), snapshot) == {"a": 0, "b": 0, "c": 0}
    assert run_score(plugin(), make_pod("i"), snapshot) is SKIP


def test_what_existing_pods_prefer_may_be_ignored() -> None:
    snapshot = cluster(NODES, [make_pod("p", affinity=prefers(10), node_name="a")])
    ignoring = plugin(ignore_preferred_terms_of_existing_pods=True)
    assert run_score(ignoring, make_pod("i", labels=WEB), snapshot) is SKIP
    assert run_score(plugin(), make_pod("i", labels=WEB), snapshot) == {"a": 10, "b": 0, "c": 0}
    # Only when the pod prefers nothing itself, says upstream's code.
    own = make_pod("i", labels=WEB, affinity=prefers(1, app="db"))
    assert run_score(ignoring, own, snapshot) == {"a": 10, "b": 0, "c": 0}


def test_required_terms_of_existing_pods_have_the_configured_weight() -> None:
    snapshot = cluster(NODES, [make_pod("p", affinity=near(term()), node_name="a")])
    incoming = make_pod("i", labels=WEB)
    assert run_score(plugin(hard_pod_affinity_weight=7), incoming, snapshot) == {"a": 7, "b": 0, "c": 0}
    assert run_score(plugin(hard_pod_affinity_weight=0), incoming, snapshot) is SKIP


def test_normalising_divides_before_it_multiplies() -> None:
    scores = np.array([0, 29, 50], dtype=np.int64)
    got, status = plugin().normalize_score(CycleState(), Pod(), scores, np.arange(3))
    assert status is None
    # 100 * (29/50) is 57.99…, while 100*29/50 is 58.
    assert got.tolist() == [0, 57, 100]


def test_terms_that_cannot_be_parsed() -> None:
    bad = {"matchExpressions": [{"key": "app", "operator": "Near", "values": []}]}
    affinity = {**near(term(labelSelector=bad)), **apart(term(labelSelector=bad))}
    pod, snapshot = PodInfo(make_pod("i", affinity=affinity)), cluster(NODES)
    text = '"Near" is not a valid label selector operator'
    both = f"[requiredAffinityTerms: {text}, requiredAntiAffinityTerms: {text}]"
    assert plugin().pre_filter(CycleState(), pod, snapshot) == (None, Status.unresolvable(f"parsing pod: {both}"))
    assert plugin().pre_score(CycleState(), pod, snapshot, snapshot.order) == Status.as_error(
        f"failed to parse pod: {both}"
    )
    assert plugin().fragment(pod) is None
    # On a placed pod they count as no terms.
    placed = make_pod("p", affinity=affinity, node_name="a")
    assert run_filter(plugin(), make_pod("i", labels=WEB), cluster(NODES, [placed])) == {}


def test_without_pre_filter_or_pre_score_the_attempt_fails_as_upstream_does() -> None:
    snapshot, pod = cluster(NODES), PodInfo(make_pod("i"))
    with pytest.raises(RuntimeError, match=r'^error reading "PreFilterInterPodAffinity" from cycleState: not found$'):
        plugin().filter_plan(CycleState(), pod, snapshot)
    with pytest.raises(RuntimeError, match=r'^failed to read "PreScoreInterPodAffinity" from cycleState: not found$'):
        plugin().score_plan(CycleState(), pod, snapshot)


@dataclass(frozen=True)
class Event:
    old: KubeObject | None = None
    new: KubeObject | None = None


QUEUE, SKIPS = QueueingHint.QUEUE, QueueingHint.SKIP
PLACED = make_pod("p", labels=WEB, node_name="a")
OTHER = make_pod("p", labels={"app": "db"}, node_name="a")
WANTS = make_pod("i", affinity=near(term()))
AVOIDS = make_pod("i", affinity=apart(term()))


@pytest.mark.parametrize(
    ("pod", "event", "want"),
    [
        pytest.param(WANTS, Event(new=PLACED), QUEUE, id="a wanted pod came"),
        pytest.param(WANTS, Event(new=OTHER), SKIPS, id="another pod came"),
        pytest.param(AVOIDS, Event(new=PLACED), SKIPS, id="an avoided pod came"),
        pytest.param(WANTS, Event(new=make_pod("p", labels=WEB)), SKIPS, id="a wanted pod came, but has no place"),
        pytest.param(WANTS, Event(OTHER, PLACED), QUEUE, id="became wanted"),
        pytest.param(WANTS, Event(PLACED, OTHER), SKIPS, id="is no longer wanted"),
        pytest.param(AVOIDS, Event(PLACED, OTHER), QUEUE, id="is no longer avoided"),
        pytest.param(AVOIDS, Event(old=PLACED), QUEUE, id="an avoided pod went"),
        pytest.param(AVOIDS, Event(old=OTHER), SKIPS, id="another pod went"),
        pytest.param(
            make_pod("i", labels=WEB),
            Event(old=make_pod("p", affinity=apart(term()), node_name="a")),
            QUEUE,
            id="a pod that avoided it went",
        ),
        pytest.param(
            make_pod("i"),
            Event(make_pod("i"), make_pod("i", labels=WEB)),
            QUEUE,
            id="its own labels changed",
        ),
        pytest.param(
            make_pod("i", affinity=near(term(namespaceSelector={"matchLabels": {"env": "dev"}}))),
            Event(new=PLACED),
            SKIPS,
            id="hints do not look namespaces up",
        ),
    ],
)
def test_pod_events(pod: Pod, event: Event, want: QueueingHint) -> None:
    registered, _ = plugin().events_to_register()
    assert registered.event.action == ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL
    assert registered.hint is not None
    assert registered.hint(pod, event.old, event.new) is want


BARE, IN_A, IN_B = make_node("n"), make_node("n", labels={ZONE: "a"}), make_node("n", labels={ZONE: "b"})


@pytest.mark.parametrize(
    ("pod", "event", "want"),
    [
        pytest.param(WANTS, Event(new=IN_A), QUEUE, id="wants: a node with the key came"),
        pytest.param(WANTS, Event(new=BARE), SKIPS, id="wants: a node without it came"),
        pytest.param(WANTS, Event(BARE, IN_A), QUEUE, id="wants: got the key"),
        pytest.param(WANTS, Event(IN_A, BARE), SKIPS, id="wants: lost the key"),
        pytest.param(WANTS, Event(IN_A, IN_B), QUEUE, id="wants: changed the value"),
        pytest.param(WANTS, Event(IN_A, IN_A), SKIPS, id="wants: the same value"),
        pytest.param(AVOIDS, Event(new=BARE), QUEUE, id="avoids: any new node"),
        pytest.param(AVOIDS, Event(BARE, IN_A), SKIPS, id="avoids: got the key"),
        pytest.param(AVOIDS, Event(IN_A, BARE), QUEUE, id="avoids: lost the key"),
        pytest.param(AVOIDS, Event(IN_A, IN_B), QUEUE, id="avoids: changed the value"),
        pytest.param(AVOIDS, Event(IN_A, IN_A), SKIPS, id="avoids: the same value"),
        pytest.param(make_pod("i"), Event(new=IN_A), SKIPS, id="no terms at all"),
    ],
)
def test_node_events(pod: Pod, event: Event, want: QueueingHint) -> None:
    _, registered = plugin().events_to_register()
    assert registered.event.action == ActionType.ADD | ActionType.UPDATE_NODE_LABEL
    assert registered.hint is not None
    assert registered.hint(pod, event.old, event.new) is want


def test_equal_pods_share_fragments_and_others_do_not() -> None:
    one = make_pod("i", labels=WEB, affinity=near(term()))
    twin = replace(one, metadata=replace(one.metadata, name="twin", uid="twin"))
    fragment = plugin().fragment
    assert fragment(PodInfo(one)) == fragment(PodInfo(twin))
    assert hash(fragment(PodInfo(one))) == hash(fragment(PodInfo(twin)))
    assert fragment(PodInfo(one)) != fragment(PodInfo(make_pod("i", affinity=near(term()))))

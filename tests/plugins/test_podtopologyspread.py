"""PodTopologySpread: constraints, default selectors, errors, and which events wake a pod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from framework.interface import SKIP, ActionType, CycleState, Handle, PodInfo, QueueingHint, Status
from framework.interface.columns import FEW_ROWS, DomainCounts
from framework.kernels.domains import Credit, scores_of, scores_of_few
from framework.objects import KubeObject, Node, OwnerReference, Pod
from framework.objects.decode import decode_manifest
from framework.objects.selectors import LabelMatcher, matcher_from_labels
from framework.plugins.podtopologyspread.args import PodTopologySpreadArgs
from framework.plugins.podtopologyspread.constraints import default_selector
from framework.plugins.podtopologyspread.plugin import PodTopologySpread
from tests.builders import make_node, make_pod
from tests.plugins.domain_worlds import StoredObjects
from tests.plugins.evaluation import cluster, run_filter

ZONE = "topology.kubernetes.io/zone"
MISMATCH = "node(s) didn't match pod topology spread constraints"


def constraint(**fields: Any) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        **fields,
    }


def spreading(*constraints: dict[str, Any], **fields: Any) -> Pod:
    fields.setdefault("labels", {"app": "web"})
    return make_pod("incoming", topologySpreadConstraints=list(constraints or [constraint()]), **fields)


def plugin(*objects: Any, args: PodTopologySpreadArgs | None = None) -> PodTopologySpread:
    return PodTopologySpread(args or PodTopologySpreadArgs(), cast(Handle, StoredObjects(*objects)))


def web(name: str, node: str) -> Pod:
    return make_pod(name, labels={"app": "web"}, node_name=node)


def test_the_fuller_zone_is_refused_and_a_node_without_a_zone_cannot_help() -> None:
    nodes = [make_node("a", labels={ZONE: "a"}), make_node("b", labels={ZONE: "b"}), make_node("c")]
    got = run_filter(plugin(), spreading(), cluster(nodes, [web("one", "a")]))
    assert got == {
        "a": ("Unschedulable", MISMATCH),
        "c": ("UnschedulableAndUnresolvable", f"{MISMATCH} (missing required label)"),
    }


def test_too_few_domains_count_as_an_empty_one() -> None:
    nodes = [make_node("a", labels={ZONE: "a"}), make_node("b", labels={ZONE: "b"})]
    snapshot = cluster(nodes, [web("one", "a"), web("two", "b")])
    assert run_filter(plugin(), spreading(constraint(minDomains=2)), snapshot) == {}
    assert set(run_filter(plugin(), spreading(constraint(minDomains=3)), snapshot)) == {"a", "b"}


def test_a_selector_that_cannot_be_parsed_is_an_error() -> None:
    bad = {"matchExpressions": [{"key": "app", "operator": "Near", "values": []}]}
    pod = PodInfo(
        spreading(constraint(labelSelector=bad), constraint(labelSelector=bad, whenUnsatisfiable="ScheduleAnyway"))
    )
    snapshot = cluster([make_node("a", labels={ZONE: "a"})])
    text = '"Near" is not a valid label selector operator'
    _, status = plugin().pre_filter(CycleState(), pod, snapshot)
    want = f"get constraints from pod: obtaining pod's hard topology spread constraints: {text}"
    assert status == Status.as_error(want)
    got = plugin().pre_score(CycleState(), pod, snapshot, np.array([0]))
    want = f"calculating preScoreState: obtaining pod's soft topology spread constraints: {text}"
    assert got == Status.as_error(want)
    assert plugin().fragment(pod) is None


def test_without_pre_filter_or_pre_score_the_attempt_fails_as_upstream_does() -> None:
    snapshot, pod = cluster([make_node("a")]), PodInfo(spreading())
    with pytest.raises(RuntimeError, match=r'^reading "PreFilterPodTopologySpread" from cycleState: not found$'):
        plugin().filter_plan(CycleState(), pod, snapshot)
    with pytest.raises(RuntimeError, match=r'^error reading "PreScorePodTopologySpread" from cycleState: not found$'):
        plugin().score_plan(CycleState(), pod, snapshot)


def test_equal_pods_share_a_fragment_and_others_do_not() -> None:
    one, two = PodInfo(spreading()), PodInfo(replace_name(spreading(), "twin"))
    assert plugin().fragment(one) == plugin().fragment(two)
    assert hash(plugin().fragment(one)) == hash(plugin().fragment(two))
    for other in (spreading(constraint(maxSkew=2)), spreading(labels={"app": "db"}), spreading(namespace="other")):
        assert plugin().fragment(PodInfo(other)) != plugin().fragment(one)


def replace_name(pod: Pod, name: str) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=name))


def stored(
    kind: str, selector: Any, *, api_version: str = "v1", namespace: str = "default", name: str = "it"
) -> KubeObject:
    manifest = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"selector": selector},
    }
    return decode_manifest(manifest)


def owned_by(api_version: str, kind: str, *, controller: bool = True) -> Pod:
    owner = OwnerReference(api_version=api_version, kind=kind, name="it", uid="u", controller=controller)
    pod = make_pod("owned", labels={"app": "web", "tier": "front"})
    return replace(pod, metadata=replace(pod.metadata, owner_references=(owner,)))


WEB = {"app": "web"}
WORKLOAD = {"matchLabels": {"tier": "front"}}


@pytest.mark.parametrize(
    ("objects", "pod", "want"),
    [
        pytest.param([], owned_by("v1", "Node"), {}, id="nothing selects it"),
        pytest.param([stored("Service", WEB)], owned_by("v1", "Node"), WEB, id="a Service that matches"),
        pytest.param([stored("Service", {"app": "db"})], owned_by("v1", "Node"), {}, id="a Service that does not"),
        pytest.param([stored("Service", None)], owned_by("v1", "Node"), {}, id="a Service without selector"),
        pytest.param([stored("Service", WEB, namespace="x")], owned_by("v1", "Node"), {}, id="a Service elsewhere"),
        pytest.param(
            [stored("ReplicationController", {"tier": "front"}), stored("Service", WEB)],
            owned_by("v1", "ReplicationController"),
            {**WEB, "tier": "front"},
            id="a Service and the controller together",
        ),
        pytest.param(
            [stored("ReplicaSet", WORKLOAD, api_version="apps/v1")],
            owned_by("apps/v1", "ReplicaSet"),
            {"tier": "front"},
            id="its ReplicaSet",
        ),
        pytest.param(
            [stored("StatefulSet", WORKLOAD, api_version="apps/v1")],
            owned_by("apps/v1", "StatefulSet"),
            {"tier": "front"},
            id="its StatefulSet",
        ),
        pytest.param(
            [stored("ReplicaSet", WORKLOAD, api_version="apps/v1")],
            owned_by("apps/v1beta2", "ReplicaSet"),
            {},
            id="an owner of another version",
        ),
        pytest.param(
            [stored("ReplicaSet", WORKLOAD, api_version="apps/v1")],
            owned_by("apps/v1", "ReplicaSet", controller=False),
            {},
            id="an owner that is not its controller",
        ),
        pytest.param([], owned_by("apps/v1", "ReplicaSet"), {}, id="a ReplicaSet that is gone"),
        pytest.param(
            [
                stored("Service", WEB),
                stored(
                    "ReplicaSet",
                    {"matchExpressions": [{"key": "tier", "operator": "Near"}]},
                    api_version="apps/v1",
                ),
            ],
            owned_by("apps/v1", "ReplicaSet"),
            WEB,
            id="a ReplicaSet whose selector cannot be parsed",
        ),
    ],
)
def test_the_default_selector(objects: list[Any], pod: Pod, want: dict[str, str]) -> None:
    got = default_selector(pod, cast(Handle, StoredObjects(*objects)))
    assert got == (matcher_from_labels(want) if want else LabelMatcher())


def test_defaults_without_a_selector_are_skipped() -> None:
    snapshot = cluster([make_node("a", labels={ZONE: "a"}), make_node("b", labels={ZONE: "b"})])
    pod = PodInfo(make_pod("incoming", labels={"app": "web"}))
    rows = snapshot.order
    assert plugin().pre_score(CycleState(), pod, snapshot, rows) is SKIP
    assert plugin(stored("Service", WEB)).pre_score(CycleState(), pod, snapshot, rows) is None


@dataclass(frozen=True)
class Event:
    old: KubeObject | None = None
    new: KubeObject | None = None


QUEUE, SKIPS = QueueingHint.QUEUE, QueueingHint.SKIP
PLACED = web("other", "a")
TOLERANT = [{"key": "k", "operator": "Exists"}]


def moved(pod: Pod, **changes: Any) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, **changes))


@pytest.mark.parametrize(
    ("pod", "event", "want"),
    [
        pytest.param(spreading(), Event(new=PLACED), QUEUE, id="a pod that counts came"),
        pytest.param(spreading(), Event(old=PLACED), QUEUE, id="a pod that counts went"),
        pytest.param(
            spreading(),
            Event(new=make_pod("o", labels={"app": "db"}, node_name="a")),
            SKIPS,
            id="came, but not counted",
        ),
        pytest.param(spreading(), Event(new=make_pod("o", labels=WEB)), SKIPS, id="came, but has no place"),
        pytest.param(spreading(), Event(new=moved(PLACED, namespace="x")), SKIPS, id="came to another namespace"),
        pytest.param(spreading(), Event(PLACED, moved(PLACED, labels={"app": "db"})), QUEUE, id="no longer counts"),
        pytest.param(spreading(), Event(PLACED, moved(PLACED, labels={**WEB, "x": "y"})), SKIPS, id="still counts"),
        pytest.param(spreading(), Event(PLACED, PLACED), SKIPS, id="update that changes no label"),
        pytest.param(
            spreading(constraint(nodeTaintsPolicy="Honor")),
            Event(spreading(), spreading(tolerations=TOLERANT)),
            QUEUE,
            id="own new toleration where taints are honoured",
        ),
        pytest.param(
            spreading(), Event(spreading(), spreading(tolerations=TOLERANT)), SKIPS, id="own new toleration elsewhere"
        ),
    ],
)
def test_pod_events(pod: Pod, event: Event, want: QueueingHint) -> None:
    registered, _ = plugin().events_to_register()
    assert registered.event.action == (
        ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_POD_LABEL | ActionType.UPDATE_POD_TOLERATION
    )
    assert registered.hint is not None
    assert registered.hint(pod, event.old, event.new) is want


TAINTS = [{"key": "k", "value": "", "effect": "NoSchedule"}]


@pytest.mark.parametrize(
    ("event", "want"),
    [
        pytest.param(Event(new=make_node("n", labels={ZONE: "a"})), QUEUE, id="a node with the key came"),
        pytest.param(Event(new=make_node("n")), SKIPS, id="a node without it came"),
        pytest.param(Event(old=make_node("n", labels={ZONE: "a"})), QUEUE, id="a node with the key went"),
        pytest.param(Event(old=make_node("n")), SKIPS, id="a node without it went"),
        pytest.param(Event(make_node("n"), make_node("n", labels={ZONE: "a"})), QUEUE, id="got the key"),
        pytest.param(Event(make_node("n", labels={ZONE: "a"}), make_node("n")), QUEUE, id="lost the key"),
        pytest.param(
            Event(make_node("n", labels={ZONE: "a"}), make_node("n", labels={ZONE: "b"})), QUEUE, id="changed the value"
        ),
        pytest.param(
            Event(make_node("n", labels={ZONE: "a"}), make_node("n", labels={ZONE: "a", "x": "y"})),
            SKIPS,
            id="changed another label",
        ),
        pytest.param(
            Event(make_node("n", labels={ZONE: "a"}), make_node("n", labels={ZONE: "a"}, taints=TAINTS)),
            QUEUE,
            id="changed its taints",
        ),
        pytest.param(
            Event(make_node("n"), make_node("n", taints=TAINTS)), SKIPS, id="changed taints, but lacks the key"
        ),
    ],
)
def test_node_events(event: Event, want: QueueingHint) -> None:
    _, registered = plugin().events_to_register()
    assert registered.event.action == (
        ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT
    )
    assert registered.hint is not None
    assert all(isinstance(node, Node | None) for node in (event.old, event.new))
    assert registered.hint(spreading(), event.old, event.new) is want


ROWS = st.lists(st.tuples(st.booleans(), st.integers(0, 200), st.integers(-1, 3)), min_size=1, max_size=FEW_ROWS)
CREDITS = st.lists(
    st.tuples(st.booleans(), st.floats(0.7, 9, allow_nan=False), st.integers(0, 6)), min_size=1, max_size=3
)


@settings(max_examples=200, deadline=None)
@given(ROWS, CREDITS, st.lists(st.integers(0, 500), min_size=5, max_size=5), st.booleans())
def test_few_rows_have_the_scores_they_have_among_many(
    rows: list[tuple[bool, int, int]], credits: list[tuple[bool, float, int]], table: list[int], require_all: bool
) -> None:
    here, numbers, codes = (np.array([row[i] for row in rows]) for i in range(3))
    inputs: list[Any] = []
    for per_node, _, _ in credits:
        domains = DomainCounts(codes.astype(np.int32), np.array(table, dtype=np.int64))
        inputs += (here, numbers) if per_node else (domains,)
    given = tuple(Credit(*credit) for credit in credits)
    assert scores_of_few(given, require_all, *inputs).tolist() == scores_of(given, require_all, *inputs).tolist()

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.objects import Container, Pod, PodStatus
from framework.objects.node import Node, NodeStatus
from framework.objects.pod import ContainerStatus, ContainerStatusResources, PodCondition, ResourceRequirements
from framework.objects.resources import (
    NON_MISSING_DEFAULTS,
    Resources,
    is_extended_resource_name,
    is_scalar_resource_name,
    node_allocatable,
    non_zero_requests,
    placed_requests,
    pod_requests,
)
from tests.objects.builders import container, pod

MI = 1 << 20

TABLE: dict[str, tuple[dict[str, Any], Resources]] = {
    "containers add up": (
        {"containers": (container({"cpu": "100m", "memory": "1Mi"}), container({"cpu": "0.2"}))},
        {"cpu": 300, "memory": MI},
    ),
    "nothing requested, nothing counted": ({"containers": (container(),)}, {}),
    "limits play no part": ({"containers": (container(limits={"cpu": "1"}),)}, {}),
    "rounding happens once, after adding": (
        {"containers": (container({"memory": "300m"}), container({"memory": "300m"}))},
        {"memory": 1},
    ),
    "millicores round up": ({"containers": (container({"cpu": "100u"}),)}, {"cpu": 1}),
    "an init container counts when it needs more than all containers together": (
        {"containers": (container({"cpu": "1"}),), "init_containers": (container({"cpu": "2", "memory": "1Mi"}),)},
        {"cpu": 2000, "memory": MI},
    ),
    "init containers run one after the other": (
        {
            "containers": (container({"cpu": "1"}),),
            "init_containers": (container({"cpu": "800m"}), container({"cpu": "900m"})),
        },
        {"cpu": 1000},
    ),
    "a sidecar runs beside the containers": (
        {"containers": (container({"cpu": "1"}),), "init_containers": (container({"cpu": "500m"}, sidecar=True),)},
        {"cpu": 1500},
    ),
    "an init container runs beside the sidecars started before it": (
        {
            "containers": (container({"cpu": "100m"}),),
            "init_containers": (
                container({"cpu": "300m"}, sidecar=True),
                container({"cpu": "2"}),
                container({"cpu": "400m"}, sidecar=True),
            ),
        },
        {"cpu": 2300},
    ),
    "sidecars that start later do not count for an earlier init container": (
        {
            "containers": (container({"cpu": "100m"}),),
            "init_containers": (container({"cpu": "1"}), container({"cpu": "300m"}, sidecar=True)),
        },
        {"cpu": 1000},
    ),
    "pod-level requests replace what the containers name, only for their names": (
        {
            "containers": (container({"cpu": "1", "memory": "1Mi", "example.com/gpu": 2}),),
            "resources": ResourceRequirements(requests={"cpu": "3", "example.com/gpu": 9}),
        },
        {"cpu": 3000, "memory": MI, "example.com/gpu": 2},
    ),
    "overhead comes on top, also of pod-level requests": (
        {
            "containers": (container({"cpu": "1"}),),
            "resources": ResourceRequirements(requests={"cpu": "2"}),
            "overhead": {"cpu": "100m", "memory": "2Mi"},
        },
        {"cpu": 2100, "memory": 2 * MI},
    ),
    "kinds that scheduling keeps": (
        {
            "containers": (
                container(
                    {
                        "hugepages-2Mi": "4Mi",
                        "ephemeral-storage": "1",
                        "attachable-volumes-x": 1,
                        "a.kubernetes.io/b": 1,
                        "example.com/zero": 0,
                        "storage": "1",
                        "foo": 1,
                        "pods": 1,
                    }
                ),
            )
        },
        {
            "hugepages-2Mi": 4 * MI,
            "ephemeral-storage": 1,
            "attachable-volumes-x": 1,
            "a.kubernetes.io/b": 1,
            "example.com/zero": 0,
        },
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_pod_requests(case: str) -> None:
    spec, want = TABLE[case]
    assert pod_requests(pod(**spec)) == want


def test_what_is_remembered_of_requests_is_nobodys_to_change() -> None:
    given = pod(containers=(container({"cpu": "1"}), container({"cpu": "2", "example.com/x": "3"})))
    for missing, want in (
        (None, {"cpu": 3000, "example.com/x": 3}),
        (NON_MISSING_DEFAULTS, {"cpu": 3000, "memory": 400 * MI, "example.com/x": 3}),
    ):
        pod_requests(given, non_missing=missing).clear()
        assert pod_requests(given, non_missing=missing) == want


def test_pod_level_requests_can_be_left_out() -> None:
    given = pod(containers=(container({"cpu": "1"}),), resources=ResourceRequirements(requests={"cpu": "3"}))
    assert pod_requests(given, pod_level=False) == {"cpu": 1000}


def test_defaults_stand_in_per_container_for_what_is_not_named() -> None:
    given = pod(
        containers=(container({"cpu": "0"}), container()),
        init_containers=(container({"memory": "500Mi"}),),
    )
    # cpu: an explicit 0 stays 0, the second container and the init container get 100m each; memory: 2 × 200Mi.
    assert pod_requests(given, non_missing=NON_MISSING_DEFAULTS) == {"cpu": 100, "memory": 500 * MI}


def resized(
    spec: str, *, actual: str | None, allocated: str | None = None, reason: str = "", sidecar: bool = False
) -> Pod:
    resources = ContainerStatusResources(requests={"cpu": actual} if actual else None)
    status = ContainerStatus(
        name="c", resources=resources, allocated_resources={"cpu": allocated} if allocated else None
    )
    conditions = (PodCondition(type="PodResizePending", status="True", reason=reason),) if reason else ()
    own = container({"cpu": spec}, name="c", sidecar=sidecar)
    made = pod(containers=(own,)) if not sidecar else pod(containers=(Container(name="x"),), init_containers=(own,))
    statuses = PodStatus(
        conditions=conditions,
        container_statuses=() if sidecar else (status,),
        init_container_statuses=(status,) if sidecar else (),
    )
    return Pod(metadata=made.metadata, spec=made.spec, status=statuses)


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (resized("1", actual="2"), 2000),
        (resized("3", actual="2"), 3000),
        (resized("1", actual="2", allocated="4"), 4000),
        (resized("3", actual="2", reason="Infeasible"), 2000),
        (resized("3", actual="2", reason="Deferred"), 3000),
        (resized("1", actual="2", sidecar=True), 2000),
    ],
)
def test_resize_in_place_counts_on_the_node(given: Pod, want: int) -> None:
    assert placed_requests(given) == {"cpu": want}


def test_status_is_left_alone_unless_asked_for() -> None:
    assert pod_requests(resized("1", actual="2")) == {"cpu": 1000}


def test_ordinary_init_containers_are_not_resized() -> None:
    status = PodStatus(
        init_container_statuses=(ContainerStatus(name="i", resources=ContainerStatusResources(requests={"cpu": "9"})),)
    )
    made = pod(init_containers=(container({"cpu": "1"}, name="i"),))
    assert placed_requests(Pod(metadata=made.metadata, spec=made.spec, status=status)) == {"cpu": 1000}


@pytest.mark.parametrize(("reason", "want"), [("", 5000), ("Infeasible", 4000)])
def test_pod_level_resize(reason: str, want: int) -> None:
    made = pod(resources=ResourceRequirements(requests={"cpu": "5"}))
    status = PodStatus(
        resources=ContainerStatusResources(requests={"cpu": "3"}),
        allocated_resources={"cpu": "4"},
        conditions=(PodCondition(type="PodResizePending", reason=reason),) if reason else (),
    )
    assert placed_requests(Pod(metadata=made.metadata, spec=made.spec, status=status)) == {"cpu": want}


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        ({"containers": (container(), container({"cpu": "1"}))}, (1100, 400 * MI)),
        ({"containers": (container({"cpu": "0", "memory": "0"}),)}, (0, 0)),
        # Pod-level requests: the default stands in only for what nobody names.
        (
            {"containers": (container(), container()), "resources": ResourceRequirements(requests={"cpu": "1"})},
            (1000, 400 * MI),
        ),
        (
            {
                "containers": (container({"memory": "1Mi"}), container()),
                "resources": ResourceRequirements(requests={"cpu": "1"}),
            },
            (1000, MI),
        ),
    ],
)
def test_non_zero_requests(spec: dict[str, Any], want: tuple[int, int]) -> None:
    assert non_zero_requests(pod(**spec)) == want


def test_node_allocatable_keeps_pods_and_drops_unknown_names() -> None:
    offered = {"cpu": "4", "memory": "8Gi", "pods": "110", "example.com/gpu": "2", "foo": "1"}
    want = {"cpu": 4000, "memory": 8 << 30, "pods": 110, "example.com/gpu": 2}
    assert node_allocatable(Node(status=NodeStatus(allocatable=dict(offered)))) == want
    assert node_allocatable(Node()) == {}


@pytest.mark.parametrize(
    ("name", "extended", "scalar"),
    [
        ("example.com/gpu", True, True),
        ("requests.example.com/gpu", False, False),
        ("kubernetes.io/x", False, True),
        ("sub.kubernetes.io/x", False, True),
        ("hugepages-1Gi", False, True),
        ("attachable-volumes-aws-ebs", False, True),
        ("gpu", False, False),
        ("cpu", False, False),
        ("example.com/" + "a" * 64, False, False),
        ("a/b/c", False, False),
        ("Example.com/x", False, False),
    ],
)
def test_resource_names(name: str, extended: bool, scalar: bool) -> None:
    assert is_extended_resource_name(name) is extended
    assert is_scalar_resource_name(name) is scalar


amounts = st.integers(0, 5000)


@given(st.lists(amounts, max_size=4), st.lists(st.tuples(amounts, st.booleans()), max_size=5))
def test_requests_are_the_peak_over_the_pods_life(running: list[int], inits: list[tuple[int, bool]]) -> None:
    """Simulates the start of the pod step by step; the request is the most that runs at any time."""
    peak = beside = 0
    for milli, sidecar in inits:
        peak = max(peak, beside + milli)
        beside += milli if sidecar else 0
    peak = max(peak, beside + sum(running))
    given = pod(
        containers=tuple(container({"cpu": f"{milli}m"}) for milli in running),
        init_containers=tuple(container({"cpu": f"{milli}m"}, sidecar=sidecar) for milli, sidecar in inits),
    )
    assert pod_requests(given).get("cpu", 0) == peak

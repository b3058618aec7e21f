"""NodePorts, NodeResourcesFit, NodeResourcesBalancedAllocation and ImageLocality: what is left on a node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from framework.configuration.shapes import UtilizationShapePoint
from framework.interface import Code, QueueingHint, Status
from framework.interface.scores import quotient
from framework.kernels.amounts import broken_linear, round_half_away
from framework.objects import DeviceClass, Pod
from framework.objects.devices import DeviceClassSpec
from framework.objects.metadata import ObjectMeta
from framework.plugins.imagelocality import ImageLocality, normalized_image_name
from framework.plugins.nodeports import NodePorts
from framework.plugins.noderesources import NodeResourcesBalancedAllocation, NodeResourcesFit
from framework.plugins.noderesources.args import (
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
)
from framework.plugins.noderesources.hints import AfterNodeChange, after_device_class_event, after_pod_event
from tests.builders import make_node, make_pod
from tests.plugins.evaluation import NO_HANDLE, cluster, run_filter, run_score

UNRESOLVABLE = "UnschedulableAndUnresolvable"
GPU = "nvidia.com/gpu"


def fit(**args: Any) -> NodeResourcesFit:
    return NodeResourcesFit(NodeResourcesFitArgs(**args).defaulted(), NO_HANDLE)


def strategy(type_: str, *resources: tuple[str, int], shape: tuple[tuple[int, int], ...] = ()) -> NodeResourcesFit:
    points = tuple(UtilizationShapePoint(utilization=u, score=s) for u, s in shape)
    return fit(
        scoring_strategy=ScoringStrategy(
            type=type_,
            resources=tuple(ResourceSpec(name=name, weight=weight) for name, weight in resources),
            requested_to_capacity_ratio=RequestedToCapacityRatioParam(shape=points) if points else None,
        )
    )


def port(number: int, *, ip: str = "", protocol: str = "TCP") -> dict[str, Any]:
    return {"containerPort": number, "hostPort": number, "hostIP": ip, "protocol": protocol}


class TestNodePorts:
    plugin = NodePorts(None, NO_HANDLE)
    refused = ("Unschedulable", "node(s) didn't have free ports for the requested pod ports")

    @pytest.mark.parametrize(
        ("held", "wanted", "free"),
        [
            (port(80), port(80), False),
            (port(80), port(81), True),
            (port(80), port(80, protocol="UDP"), True),
            (port(80, ip="10.0.0.1"), port(80, ip="10.0.0.2"), True),
            (port(80, ip="10.0.0.1"), port(80), False),
            (port(80), port(80, ip="10.0.0.1"), False),
        ],
    )
    def test_conflicts(self, held: Any, wanted: Any, free: bool) -> None:
        snapshot = cluster([make_node("a"), make_node("b")], [make_pod("holder", ports=[held], node_name="a")])
        answers = run_filter(self.plugin, make_pod("p", ports=[wanted]), snapshot)
        assert answers == ({} if free else {"a": self.refused})

    def test_pre_filter_that_did_not_run_is_an_error(self) -> None:
        answers = run_filter(self.plugin, make_pod("p"), cluster([make_node("a")]), pre_filter=False)
        assert answers == {"a": ("Error", 'reading "PreFilterNodePorts" from cycleState: not found')}

    def test_only_a_placed_pod_with_a_shared_port_wakes_others(self) -> None:
        event = self.plugin.events_to_register()[0]
        assert event.hint is not None
        pod = make_pod("p", ports=[port(80)])
        gone = make_pod("gone", ports=[port(80)], node_name="a")
        assert event.hint(pod, gone, None) is QueueingHint.QUEUE
        assert event.hint(pod, make_pod("gone", ports=[port(80)]), None) is QueueingHint.SKIP
        assert event.hint(pod, make_pod("gone", ports=[port(81)], node_name="a"), None) is QueueingHint.SKIP


class TestFitFilter:
    def test_every_shortage_is_named_in_upstreams_order(self) -> None:
        node = make_node(
            "a", cpu="1", memory="1Gi", pods="1", ephemeral_storage="1Gi", scalars={GPU: "1", "a.com/x": "1"}
        )
        held = make_pod("held", requests={"cpu": "500m"}, node_name="a")
        wanted = {"cpu": "600m", "memory": "2Gi", "ephemeral-storage": "2Gi", GPU: "2", "a.com/x": "1"}
        assert run_filter(fit(), make_pod("p", requests=wanted), cluster([node], [held])) == {
            "a": (
                UNRESOLVABLE,
                "Too many pods",
                "Insufficient cpu",
                "Insufficient memory",
                "Insufficient ephemeral-storage",
                f"Insufficient {GPU}",
            )
        }

    def test_more_than_the_node_has_is_unresolvable_more_than_is_left_is_not(self) -> None:
        held = make_pod("held", requests={"cpu": "3"}, node_name="a")
        snapshot = cluster([make_node("a", cpu="4")], [held])
        assert run_filter(fit(), make_pod("p", requests={"cpu": "2"}), snapshot)["a"][0] == "Unschedulable"
        assert run_filter(fit(), make_pod("p", requests={"cpu": "5"}), snapshot)["a"][0] == UNRESOLVABLE
        assert run_filter(fit(), make_pod("p", requests={"cpu": "1"}), snapshot) == {}

    def test_a_full_node_can_become_free(self) -> None:
        snapshot = cluster([make_node("a", pods="1")], [make_pod("held", node_name="a")])
        assert run_filter(fit(), make_pod("p"), snapshot) == {"a": ("Unschedulable", "Too many pods")}

    def test_ignored_resources_are_not_checked(self) -> None:
        snapshot = cluster([make_node("a")])
        pod = make_pod("p", requests={"a.com/x": "1", "b.com/y": "1", GPU: "1"})
        plugin = fit(ignored_resources=("a.com/x",), ignored_resource_groups=("b.com",))
        assert run_filter(plugin, pod, snapshot) == {"a": (UNRESOLVABLE, f"Insufficient {GPU}")}

    def test_a_scalar_requested_with_0_is_not_checked(self) -> None:
        assert run_filter(fit(), make_pod("p", requests={GPU: "0"}), cluster([make_node("a")])) == {}

    def test_pre_filter_that_did_not_run_is_an_error(self) -> None:
        answers = run_filter(fit(), make_pod("p"), cluster([make_node("a")]), pre_filter=False)
        assert answers == {"a": ("Error", 'error reading "PreFilterNodeResourcesFit" from cycleState: not found')}


class TestFitScore:
    nodes = (make_node("a", cpu="4", memory="8Gi"), make_node("b", cpu="2", memory="8Gi"))
    pod = make_pod("p", requests={"cpu": "1", "memory": "2Gi"})

    def test_least_allocated(self) -> None:
        assert run_score(fit(), self.pod, cluster(self.nodes)) == {"a": 75, "b": 62}

    def test_most_allocated(self) -> None:
        plugin = strategy("MostAllocated", ("cpu", 3), ("memory", 1))
        assert run_score(plugin, self.pod, cluster(self.nodes)) == {"a": 25, "b": 43}

    def test_requested_to_capacity_ratio_leaves_out_what_scores_0_and_rounds(self) -> None:
        plugin = strategy("RequestedToCapacityRatio", ("cpu", 1), ("memory", 1), shape=((30, 0), (100, 10)))
        # cpu of b is half used: (50 - 30) * 100 / 70 = 28; memory at 25 % scores 0 and does not count.
        assert run_score(plugin, self.pod, cluster(self.nodes)) == {"a": 0, "b": 28}

    def test_containers_without_requests_count_with_defaults_on_both_sides(self) -> None:
        snapshot = cluster([make_node("a", cpu="1", memory="1000Mi")], [make_pod("held", node_name="a")])
        # 200m of 1000m and 400Mi of 1000Mi
        assert run_score(fit(), make_pod("p"), snapshot) == {"a": 70}

    def test_scalars_that_the_pod_does_not_ask_for_are_left_out(self) -> None:
        plugin = strategy("LeastAllocated", ("cpu", 1), (GPU, 10))
        snapshot = cluster([make_node("a", cpu="4", scalars={GPU: "4"})])
        assert run_score(plugin, make_pod("p", requests={"cpu": "1"}), snapshot) == {"a": 75}
        assert run_score(plugin, make_pod("p", requests={"cpu": "1", GPU: "2"}), snapshot) == {"a": (75 + 500) // 11}

    def test_memory_beyond_92_petabytes_overflows_as_in_go(self) -> None:
        plugin = strategy("LeastAllocated", ("memory", 1))
        bytes_ = 2**60
        wrapped = (bytes_ * 100 + 2**63) % 2**64 - 2**63
        expected = -(-wrapped // bytes_) if wrapped < 0 else wrapped // bytes_
        pod = make_pod("p", requests={"memory": "0"})
        assert run_score(plugin, pod, cluster([make_node("a", memory=str(bytes_))])) == {"a": expected}

    def test_nothing_to_score_is_0(self) -> None:
        plugin = strategy("LeastAllocated", (GPU, 1))
        assert run_score(plugin, self.pod, cluster(self.nodes)) == {"a": 0, "b": 0}


def test_broken_lines_truncate_toward_zero_also_when_they_fall() -> None:
    points = [(0, 100), (30, 0), (60, 50)]
    utilization = np.array([-5, 0, 1, 29, 30, 31, 60, 99], dtype=np.int64)
    assert broken_linear(points, utilization).tolist() == [100, 100, 97, 4, 0, 1, 50, 50]


def test_quotients_truncate_toward_zero() -> None:
    assert quotient(np.array([7, -7, 7, -7, 6, -6, 0]), np.array([2, 2, -2, -2, 3, 3, 5])).tolist() == [
        3,
        -3,
        -3,
        3,
        2,
        -2,
        0,
    ]


def test_halves_round_away_from_zero() -> None:
    values = np.array([0.5, 1.5, -0.5, 2.4, 0.49999999999999994])
    assert round_half_away(values).tolist() == [1, 2, -1, 2, 0]


class TestBalancedAllocation:
    def plugin(self, *resources: str) -> NodeResourcesBalancedAllocation:
        specs = tuple(ResourceSpec(name=name) for name in resources or ("cpu", "memory"))
        return NodeResourcesBalancedAllocation(NodeResourcesBalancedAllocationArgs(resources=specs), NO_HANDLE)

    def test_a_pod_that_requests_nothing_skips(self) -> None:
        assert run_score(self.plugin(), make_pod("p"), cluster([make_node("a")])) == Status(Code.SKIP)

    def test_evening_out_scores_more_than_75_and_the_reverse_less(self) -> None:
        lopsided = make_pod("held", requests={"cpu": "2"}, node_name="a")
        snapshot = cluster([make_node("a", cpu="4", memory="8Gi"), make_node("b", cpu="4", memory="8Gi")], [lopsided])
        pod = make_pod("p", requests={"memory": "4Gi"})
        # a: from |0.5 - 0| / 2 to 0, b: from 0 to |0 - 0.5| / 2
        assert run_score(self.plugin(), pod, snapshot) == {"a": 50 + (50 + 25) // 2, "b": 50 + (50 - 25) // 2}

    def test_three_resources_use_the_population_deviation(self) -> None:
        node = make_node("a", cpu="4", memory="8Gi", scalars={GPU: "4"})
        pod = make_pod("p", requests={"cpu": "1", "memory": "4Gi", GPU: "4"})
        deviation = float(np.std([0.25, 0.5, 1.0]))
        expected = 50 + (50 + int((1 - deviation) * 100) - 100) // 2
        assert run_score(self.plugin("cpu", "memory", GPU), pod, cluster([node])) == {"a": expected}

    def test_one_resource_is_always_balanced(self) -> None:
        pod = make_pod("p", requests={"cpu": "1"})
        assert run_score(self.plugin("cpu"), pod, cluster([make_node("a")])) == {"a": 75}


class TestImageLocality:
    plugin = ImageLocality(None, NO_HANDLE)
    MIB = 1024 * 1024

    def test_names_without_a_tag_mean_latest(self) -> None:
        assert normalized_image_name("app") == "app:latest"
        assert normalized_image_name("registry:5000/app") == "registry:5000/app:latest"
        assert normalized_image_name("registry:5000/app:2") == "registry:5000/app:2"

    def test_images_on_few_nodes_count_less(self) -> None:
        held = [{"names": ["app:1"], "sizeBytes": 523 * self.MIB}]
        snapshot = cluster([make_node("a", images=held), make_node("b")])
        # 523 MiB × 1/2 nodes = 261.5 MiB: (261.5 - 23) / 977 of 100
        assert run_score(self.plugin, make_pod("p", image="app:1"), snapshot) == {"a": 24, "b": 0}

    def test_the_ceiling_grows_with_the_containers(self) -> None:
        held = [{"names": ["app:1"], "sizeBytes": 4000 * self.MIB}]
        snapshot = cluster([make_node("a", images=held)])
        two = make_pod("p", image="app:1", initContainers=[{"name": "init", "image": "other"}])
        assert run_score(self.plugin, make_pod("p", image="app:1"), snapshot) == {"a": 100}
        assert run_score(self.plugin, two, snapshot) == {"a": 100}


class TestFitHints:
    pod = make_pod("p", requests={"cpu": "2"})

    def test_a_deleted_pod_counts_only_when_it_held_something(self) -> None:
        assert after_pod_event(self.pod, make_pod("gone", node_name="a"), None) is QueueingHint.QUEUE
        assert after_pod_event(self.pod, make_pod("gone"), None) is QueueingHint.SKIP

    @pytest.mark.parametrize(
        ("before", "after", "hint"),
        [
            ({"cpu": "2"}, {"cpu": "1"}, QueueingHint.QUEUE),
            ({"memory": "2Gi"}, {"memory": "1Gi"}, QueueingHint.SKIP),
            ({"cpu": "1"}, {"cpu": "2"}, QueueingHint.SKIP),
        ],
    )
    def test_a_scale_down_counts_for_what_the_pod_requests(
        self, before: dict[str, str], after: dict[str, str], hint: QueueingHint
    ) -> None:
        old = make_pod("other", requests=before, node_name="a")
        new = make_pod("other", requests=after, node_name="a")
        assert after_pod_event(self.pod, old, new) is hint

    def test_the_pods_own_scale_down_always_counts(self) -> None:
        assert after_pod_event(self.pod, self.pod, make_pod("p", requests={"cpu": "1"})) is QueueingHint.QUEUE

    def test_a_node_counts_when_the_pod_fits_it_empty_and_something_grew(self) -> None:
        small, large = make_node("n", cpu="1"), make_node("n", cpu="2")
        assert AfterNodeChange()(self.pod, None, small) is QueueingHint.SKIP
        assert AfterNodeChange()(self.pod, None, large) is QueueingHint.QUEUE
        assert AfterNodeChange()(self.pod, small, large) is QueueingHint.QUEUE
        assert AfterNodeChange()(self.pod, large, large) is QueueingHint.SKIP
        assert AfterNodeChange()(self.pod, large, make_node("n", cpu="2", pods="200")) is QueueingHint.QUEUE
        assert AfterNodeChange()(self.pod, large, make_node("n", cpu="2", memory="90Gi")) is QueueingHint.SKIP

    def test_a_device_class_counts_when_it_stands_for_a_requested_resource(self) -> None:
        pod: Pod = make_pod("p", requests={"example.com/gpu": "1"})
        assert after_device_class_event(pod, None, device_class("example.com/gpu")) is QueueingHint.QUEUE
        assert after_device_class_event(pod, None, device_class("example.com/other")) is QueueingHint.SKIP
        same = device_class("example.com/gpu")
        assert after_device_class_event(pod, same, same) is QueueingHint.SKIP
        implicit = make_pod("p", requests={"deviceclass.resource.kubernetes.io/gpus": "1"})
        assert after_device_class_event(implicit, None, device_class(None)) is QueueingHint.QUEUE


def device_class(resource: str | None) -> DeviceClass:
    return DeviceClass(metadata=ObjectMeta(name="gpus"), spec=DeviceClassSpec(extended_resource_name=resource))

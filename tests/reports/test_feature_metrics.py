"""Metrics of groups, devices and volumes, and how often Filter plugins are run: rules of upstream's code, counted."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from framework.objects.decode import decode_manifest
from framework.objects.devices import AllocatedDeviceStatus, DeviceCondition
from framework.reports.metrics import SchedulerMetrics
from framework.scheduler import Observers
from tests.builders import make_node, make_pod
from tests.cycle.test_pod_groups import CONFIGURATION as WITH_GROUPS
from tests.cycle.test_pod_groups import group, member, nodes
from tests.plugins.playing import Play
from tests.plugins.test_dynamicresources import (
    CONFIGURATION,
    DRIVER,
    claim,
    gpu_class,
    node_slice,
    stored,
    user,
)

PLAIN = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def counting(game: Play) -> SchedulerMetrics:
    metrics = SchedulerMetrics()
    game.scheduler.observer = Observers((game.seen, metrics))
    metrics.start(game.scheduler)
    return metrics


def value(metrics: SchedulerMetrics, series: str) -> float | None:
    found = [line.rpartition(" ")[2] for line in metrics.lines() if line.rpartition(" ")[0] == f"scheduler_{series}"]
    return float(found[0]) if found else None


# --- groups -----------------------------------------------------------------------------------------------------------


def test_a_group_is_counted_once_whatever_its_pods_are() -> None:
    game = Play(WITH_GROUPS, [*nodes(2, 2), group()])
    metrics = counting(game)
    game.create(member("a"), member("b"), member("c"))
    game.scheduler.step()
    assert len(game.bound) == 3
    profile = 'profile="default-scheduler"'
    assert value(metrics, f'podgroup_schedule_attempts_total{{{profile},result="scheduled"}}') == 1
    attempts = f'podgroup_scheduling_attempt_duration_seconds_count{{{profile},result="scheduled"}}'
    assert value(metrics, attempts) == 1
    assert value(metrics, "podgroup_scheduling_algorithm_duration_seconds_count") == 1


def test_a_group_that_fits_nowhere_is_unschedulable() -> None:
    game = Play(WITH_GROUPS, [*nodes(2), group()])
    metrics = counting(game)
    game.create(member("a"), member("b"), member("c"))
    game.scheduler.step()
    assert value(metrics, 'podgroup_schedule_attempts_total{profile="default-scheduler",result="unschedulable"}') == 1
    game.scheduler.step()
    assert value(metrics, 'podgroup_schedule_attempts_total{profile="default-scheduler",result="unschedulable"}') == 2


def test_without_the_gate_there_are_no_groups() -> None:
    metrics = counting(Play(PLAIN, [make_node("n1")]))
    assert not any("podgroup_" in line for line in metrics.lines())


# --- devices ----------------------------------------------------------------------------------------------------------


def test_claims_for_extended_resources_are_counted_when_they_are_made() -> None:
    backed = gpu_class(extendedResourceName="example.com/gpu")
    game = Play(CONFIGURATION, [make_node("n1"), backed, node_slice("n1", "gpu-0", "gpu-1"), claim("of somebody")])
    metrics = counting(game)
    assert value(metrics, 'resourceclaim_creates_total{status="success"}') is None
    game.create(make_pod("p", requests={"example.com/gpu": "1"}))
    game.create(claim("by somebody"))
    game.cycles()
    assert game.bound == {"p": "n1"}
    assert value(metrics, 'resourceclaim_creates_total{status="success"}') == 1
    again = counting(game)
    assert value(again, 'resourceclaim_creates_total{status="success"}') is None, "it was there before"


@pytest.mark.parametrize(("says", "status"), [("attached", "success"), ("broken", "failure"), ("", "timeout")])
def test_waits_for_binding_conditions_end_in_three_ways(says: str, status: str) -> None:
    conditional = node_slice("n1", "gpu-0", bindingConditions=["attached"], bindingFailureConditions=["broken"])
    game = Play(CONFIGURATION, [make_node("n1"), gpu_class(), conditional, claim()])
    metrics = counting(game)
    game.create(user("p"))
    game.cycles()
    if says:
        found = stored(game, "c")
        told = DeviceCondition(type=says, status="True", reason="Because", message="it is so")
        device = AllocatedDeviceStatus(driver=DRIVER, pool="n1", device="gpu-0", conditions=(told,))
        game.scheduler.cluster.replace(replace(found, status=replace(found.status, devices=(device,))))
    game.seconds(5 if says else 600)
    labels = f'driver="{DRIVER}",profile="default-scheduler",status="{status}"'
    assert value(metrics, f"dra_bindingconditions_allocations_total{{{labels}}}") == 1
    assert value(metrics, f"dra_bindingconditions_wait_duration_seconds_count{{{labels}}}") == 1
    assert value(metrics, f"dra_bindingconditions_wait_duration_seconds_sum{{{labels}}}") == (5 if says else 600)


# --- volumes ----------------------------------------------------------------------------------------------------------


def test_a_claim_that_cannot_be_written_is_an_error_of_the_stage_bind(monkeypatch: pytest.MonkeyPatch) -> None:
    storage_class: dict[str, Any] = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "slow", "uid": "class-1"},
        "provisioner": "disks.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    wanted: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default", "uid": "claim-1"},
        "spec": {
            "storageClassName": "slow",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Pending"},
    }
    game = Play(PLAIN, [make_node("n1"), *(decode_manifest(each) for each in (storage_class, wanted))])
    metrics = counting(game)
    game.create(make_pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]))
    assert value(metrics, 'volume_scheduling_stage_error_total{operation="bind"}') is None
    monkeypatch.setattr(game.scheduler.cluster, "update", lambda _: "etcdserver: request timed out")
    game.scheduler.step()
    assert "etcdserver: request timed out" in game.seen.attempts[0].message
    assert value(metrics, 'volume_scheduling_stage_error_total{operation="bind"}') == 1


# --- how often Filter plugins are run ---------------------------------------------------------------------------------


def runs(metrics: SchedulerMetrics, plugin: str = "NodeResourcesFit") -> float | None:
    series = f'plugin_evaluation_total{{extension_point="Filter",plugin="{plugin}",profile="default-scheduler"}}'
    return value(metrics, series)


def test_each_pod_of_lower_priority_is_a_run_and_the_node_without_them_one_more() -> None:
    """Two nodes, each with two small pods and a larger one: 2 looks of the search and 2 x (1 + 3) of dry runs."""
    placed = [
        make_pod(f"low-{node}-{number}", node_name=f"n{node}", requests={"cpu": cpu})
        for node in (1, 2)
        for number, cpu in enumerate(("1", "1", "2"))
    ]
    game = Play(PLAIN, [make_node("n1", cpu="4"), make_node("n2", cpu="4"), *placed])
    metrics = counting(game)
    game.create(make_pod("high", priority=10, requests={"cpu": "2"}))
    game.scheduler.step()
    assert [each.nominated_node for each in game.seen.attempts[0].post_filter if each.victims]
    assert runs(metrics) == 2 + 2 * (1 + 3)
    assert runs(metrics, "NodeName") == 2 + 2 * (1 + 3)


def test_a_pod_that_fits_nowhere_is_tried_once_on_each_node_with_pods_to_evict() -> None:
    placed = [make_pod("low", node_name="n1", requests={"cpu": "1"})]
    placed += [
        make_pod(f"kept-{number}", node_name=f"n{number}", priority=10, requests={"cpu": "2"}) for number in (1, 2)
    ]
    game = Play(PLAIN, [make_node("n1", cpu="4"), make_node("n2", cpu="4"), *placed])
    metrics = counting(game)
    game.create(make_pod("big", priority=10, requests={"cpu": "3"}))
    game.scheduler.step()
    assert runs(metrics) == 2 + 1


def test_a_node_where_a_pod_is_nominated_is_looked_at_twice_where_it_passes_with_it() -> None:
    """``high`` evicts from n1 and is nominated there; ``next`` fits beside it: n1 is looked at with and without it."""
    placed = [make_pod("low", node_name="n1", requests={"cpu": "4"})]
    game = Play(PLAIN, [make_node("n1", cpu="4"), *placed])
    metrics = counting(game)
    game.create(make_pod("high", priority=10, requests={"cpu": "2"}))
    game.scheduler.step()
    before = runs(metrics) or 0
    game.create(make_pod("next", priority=10, requests={"cpu": "1"}))
    game.scheduler.step()
    assert game.bound.get("next") == "n1"
    assert runs(metrics) == before + 2

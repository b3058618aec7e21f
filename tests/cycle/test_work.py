"""How much is worked out per pod once a class of pods is known, on the benchmark's workloads: counted, not timed."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Hashable
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

import framework
from framework.cli.bench.measure import Options, World
from framework.cli.bench.workloads import BY_NAME, Workload, in_turn
from framework.interface import PodInfo
from tests.options import by_default


class PerPod(NamedTuple):
    """See ``framework.reuse.columns``."""

    rows: float
    whole: float
    plans: float
    node_calls: float
    dry_runs: float


NODES, WARM, PODS = 240, 60, 60
INIT = {
    "Preemption": 4 * NODES,
    "Unschedulable": 20,
    "OnePodPerNode": 40,
    "OnePodPerNodeList": 40,
    "SchedulingPodAntiAffinity": 40,
}


ROOT = str(Path(framework.__file__).parent)


def world_of(workload: Workload, monkeypatch: pytest.MonkeyPatch, *, record: bool) -> World:
    # Asking plugins anew is work, too.
    by_default(monkeypatch, verify_reuse=0)
    return World(workload.resized(NODES, INIT.get(workload.name, 200), WARM + PODS), Options(record=record))


def run(world: World, first: int, end: int) -> None:
    for pod in world.pods[first:end]:
        world.create([pod])
        while world.scheduler.step() is not None and world.workload.one_by_one:
            pass


def work_per_pod(workload: Workload, monkeypatch: pytest.MonkeyPatch, warm: int = WARM) -> PerPod:
    world = world_of(workload, monkeypatch, record=False)
    counted = world.scheduler.profiles["default-scheduler"].columns.work
    run(world, 0, warm)
    before = copy(counted)
    run(world, warm, warm + PODS)
    return PerPod(*((getattr(counted, name) - getattr(before, name)) / PODS for name in PerPod._fields))


@pytest.mark.parametrize(
    ("name", "most"),
    [
        # rows given to kernels, passes over whole arrays, plans asked for, calls per node, dry runs
        ("SchedulingBasic", PerPod(1, 1, 0, 0, 0)),
        ("SchedulingNodeAffinity", PerPod(1, 1.5, 0, 0, 0)),
        ("MixedSchedulingBasePod", PerPod(2, 2, 0, 0, 0)),
        ("OnePodPerNode", PerPod(1, 2, 0, 0, 0)),
        # Batched: the columns say of the last node and of the next one what was worked out for others.
        ("OnePodPerNodeList", PerPod(0.1, 0, 0, 0, 0)),
        ("TopologySpreading", PerPod(4, 2, 0, 0, 0)),
        ("PreferredTopologySpreading", PerPod(4, 2, 0, 0, 0)),
        ("SchedulingPodAntiAffinity", PerPod(2, 2, 0, 0, 0)),
        ("SchedulingPodAffinity", PerPod(3, 2, 0, 0, 0)),
        ("SchedulingPreferredPodAffinity", PerPod(5, 2, 0, 0, 0)),
        ("SchedulingPreferredPodAntiAffinity", PerPod(3, 2, 0, 0, 0)),
        # Hosts and zones: a pod in one of three zones, on a node with none or one of its kind.
        ("Deployments1", PerPod(7, 2, 0, 0, 0)),
        ("Unschedulable", PerPod(0, 0.1, 0, 0, 0)),
        ("Preemption", PerPod(4, 2, 0, 0, 0.2)),
        ("ThirdPartyScore", PerPod(2, 1.5, 0, 1, 0)),
        ("ThirdPartyFilter", PerPod(2, 1.5, 0, 1, 0)),
        # Zones change with their objects, not with pods.
        ("WithNodeResourceTopologyMatch", PerPod(1, 1, 0, 0, 0)),
        # The node of the pod, for the resources and for the load, which is another when the pod is reserved.
        ("WithLoadAwareScheduling", PerPod(3, 2, 0, 0, 0)),
        # No two pods alike: three resource kernels see every node, what is counted per label does not.
        ("AllDistinct", PerPod(3.1 * NODES, 7, 11, 0, 0)),
    ],
)
def test_no_more_is_worked_out_than_has_changed(name: str, most: PerPod, monkeypatch: pytest.MonkeyPatch) -> None:
    found = work_per_pod(BY_NAME[name], monkeypatch)
    for counted, bound, what in zip(found, most, PerPod._fields, strict=True):
        assert counted <= bound, f"{what} of {found}"


def test_zones_are_columns_for_the_first_pod_too(monkeypatch: pytest.MonkeyPatch) -> None:
    found = work_per_pod(BY_NAME["WithNodeResourceTopologyMatch"], monkeypatch, warm=0)
    assert found.node_calls == 0


@pytest.mark.parametrize(
    ("name", "most"),
    [("SchedulingBasic", 256), ("OnePodPerNodeList", 166), ("Unschedulable", 276), ("AllDistinct", 907)],
)
def test_few_functions_of_ours_are_called_per_pod(name: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs a third of a microsecond. From Pop to the chunk, a generator that goes on counts as a call."""
    world = world_of(BY_NAME[name], monkeypatch, record=True)
    world.create(world.pods)
    for _ in range(WARM):
        world.scheduler.step()
    world.recorder.write()
    called = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal called
        called += event == "call" and frame.f_code.co_filename.startswith(ROOT)

    sys.setprofile(count)
    try:
        for _ in range(PODS):
            world.scheduler.step()
        world.recorder.write()
    finally:
        sys.setprofile(None)
    assert called / PODS <= most


@pytest.mark.parametrize("name", ["AllDistinct", "Deployments1000", "SchedulingPodAffinity", "TopologySpreading"])
def test_what_an_attempt_made_is_freed_without_the_garbage_collector(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_of(BY_NAME[name], monkeypatch, record=True)
    world.create(world.pods)
    for _ in range(WARM):
        world.scheduler.step()
    gc.collect()
    gc.disable()
    try:
        for _ in range(PODS):
            world.scheduler.step()
        world.recorder.write()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_work_per_pod_does_not_grow_with_pods_of_other_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workloads in turn: what others have placed meanwhile is worked out once for all, and from the second pod of a
    workload on nothing is asked any more."""
    workloads = 20
    in_between = replace(BY_NAME["Deployments100"], measured=in_turn(workloads), init=in_turn(workloads))
    # The very first pod met no column that is kept.
    found = work_per_pod(in_between, monkeypatch, warm=workloads + 1)
    assert found.rows <= 7
    assert found.whole <= 2
    assert found.plans == 0


def test_pods_never_met_before_are_told_apart_by_one_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(BY_NAME["AllDistinct"].resized(40, 20, WARM + PODS), Options(record=False))
    scheduler = world.scheduler
    asked = 0

    def counting(original: Callable[[PodInfo], Hashable]) -> Callable[[PodInfo], Hashable]:
        def count(pod: PodInfo) -> Hashable:
            nonlocal asked
            asked += 1
            return original(pod)

        return count

    for plugin in scheduler.profiles["default-scheduler"].plugins.values():
        monkeypatch.setattr(plugin, "fragment", counting(plugin.fragment))
    world.create(world.pods)
    for _ in range(WARM):
        scheduler.step()
    asked = 0
    for _ in range(PODS):
        scheduler.step()
    assert asked <= 1.5 * PODS

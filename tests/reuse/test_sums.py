"""Totals: two bytes where weights allow it, eight where they do not, and the same decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from framework.cli.bench import measure
from framework.cli.bench.measure import Options, World
from framework.cli.bench.workloads import BY_NAME, Workload
from framework.configuration import load_value
from framework.configuration.effective import EffectiveConfiguration
from framework.plugins.registry import Registry, built_in_registry
from framework.reuse.sums import totals_type
from framework.scheduler import Observer
from framework.trace.attempt import AttemptTrace

WEIGHTS = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}


class Outcomes(Observer):
    def __init__(self) -> None:
        self.seen: list[tuple[str, str, int, int, int]] = []

    def attempt(self, trace: AttemptTrace) -> None:
        assert trace.scores is not None
        assert trace.scores.margin == trace.scores.whole().margin
        assert trace.scores.best == trace.scores.whole().best
        self.seen.append((trace.pod, trace.selected, trace.scores.ties, trace.scores.best, trace.scores.margin))


def outcomes_of(workload: Workload, times: int, monkeypatch: pytest.MonkeyPatch, **others: int) -> tuple[Any, Outcomes]:
    """With all weights ``times`` as large, and some ``others``."""
    weights = {**WEIGHTS, **others}

    def weighted(workload: Workload, percentage: int) -> tuple[Registry, EffectiveConfiguration]:
        score = {"disabled": [{"name": "*"}], "enabled": [{"name": n, "weight": w * times} for n, w in weights.items()]}
        document = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "percentageOfNodesToScore": percentage,
            "profiles": [{"schedulerName": "default-scheduler", "plugins": {"score": score}}],
        }
        loaded = load_value(document, built_in_registry())
        assert loaded.effective is not None
        return built_in_registry(), loaded.effective

    monkeypatch.setattr(measure, "profile", weighted)
    world = World(workload, Options(record=False))
    outcomes = Outcomes()
    monkeypatch.setattr(world.recorder, "attempt", outcomes.attempt)
    world.create(world.pods)
    for _ in world.pods:
        world.scheduler.step()
    return world.scheduler.profiles["default-scheduler"].scoring.totals_type, outcomes


def test_two_bytes_hold_a_hundred_times_327() -> None:
    assert totals_type(327) is np.int16
    assert totals_type(328) is np.int64


@pytest.mark.parametrize("name", ["AllDistinct", "Deployments100", "OnePodPerNode", "SchedulingPodAffinity"])
def test_larger_weights_make_larger_totals_and_the_same_decisions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of OnePodPerNode ever fewer nodes are feasible; a last one would not be scored.
    workload = BY_NAME[name].resized(40, 20, 50 if name != "OnePodPerNode" else 18)
    narrow, few = outcomes_of(workload, 1, monkeypatch)
    wide, many = outcomes_of(workload, 100, monkeypatch)
    assert (narrow, wide) == (np.int16, np.int64)
    assert len(few.seen) == workload.pods
    assert many.seen == [(pod, node, ties, 100 * best, 100 * margin) for pod, node, ties, best, margin in few.seen]


@pytest.mark.parametrize(("fit", "dtype"), [(-3, np.int16), (-150, np.int16), (-400, np.int64)])
@pytest.mark.parametrize("name", ["AllDistinct", "OnePodPerNode"])
def test_weights_may_be_negative(name: str, fit: int, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As kube-scheduler takes them, while their sum is not below 0. Totals fall below it, since NodeAffinity says
    nothing of these pods. The best one and its margin are checked on every attempt."""
    workload = BY_NAME[name].resized(40, 20, 18)
    found, outcomes = outcomes_of(workload, 1, monkeypatch, NodeAffinity=-fit, NodeResourcesFit=fit)
    assert found is dtype
    assert len(outcomes.seen) == workload.pods
    assert (min(best for *_, best, _ in outcomes.seen) < 0) == (fit < -3)

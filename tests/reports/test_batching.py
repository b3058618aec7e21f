"""What batching did, in ``/metrics`` and in the log: every result of a hint, and every reason that it had none."""

from __future__ import annotations

from collections import Counter
from typing import Any

from framework.configuration import load_value
from framework.configuration.feature_gates import DEFAULT_GATES, FeatureGates, feature_gates
from framework.objects import Node
from framework.plugins.registry import built_in_registry
from framework.profiles.batch import MOST_AGE
from framework.reports.log import SchedulerLog
from framework.reports.metrics import SchedulerMetrics
from framework.scheduler import Observers, Scheduler
from tests.builders import make_node, make_pod

FULL: dict[str, Any] = {"requests": {"cpu": "3"}}
"""One of them leaves no room for another on a node with 4 cpu."""
SMALL: dict[str, Any] = {"requests": {"cpu": "1"}}


class Batching:
    def __init__(self, *cpus: int, defaulting: str = "List", gates: FeatureGates = DEFAULT_GATES) -> None:
        registry = built_in_registry()
        args = {"name": "PodTopologySpread", "args": {"defaultingType": defaulting}}
        head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
        loaded = load_value({**head, "profiles": [{"pluginConfig": [args]}]}, registry, gates)
        assert loaded.effective is not None
        self.lines: list[str] = []
        self.metrics = SchedulerMetrics()
        log = SchedulerLog(self.lines.append, 4)
        self.scheduler = Scheduler(
            loaded.effective, registry, start=0, seed=1, ties="smallest", observer=Observers([self.metrics, log])
        )
        self.metrics.start(self.scheduler)
        log.start(self.scheduler)
        for i, cpu in enumerate(cpus):
            self.scheduler.cluster.create_admitted(make_node(f"n{i}", cpu=str(cpu)))

    def schedule(self, name: str, **about: Any) -> str:
        """The node, "" for none; and what the log says of batching since the pod before."""
        self.lines.clear()
        self.scheduler.cluster.create_admitted(make_pod(name, **about))
        attempt = self.scheduler.step()
        assert attempt is not None
        self.said: list[str] = [
            line.partition('"OpportunisticBatch ')[2] for line in self.lines if "OpportunisticBatch" in line
        ]
        return attempt.selected

    def counted(self, family: str) -> dict[str, int]:
        """By result or reason."""
        found: Counter[str] = Counter()
        for line in self.metrics.lines():
            if line.startswith(f"scheduler_{family}{{"):
                labels, _, number = line.partition("} ")
                found[labels.rpartition('="')[2].rstrip('"')] += int(number)
        return {name: number for name, number in found.items() if number}

    @property
    def results(self) -> dict[str, int]:
        return self.counted("batch_attempts_total")

    @property
    def flushed(self) -> dict[str, int]:
        return self.counted("batch_cache_flushed_total")


def test_a_hint_that_is_taken() -> None:
    batching = Batching(4, 4, 4)
    assert [batching.schedule(name, **FULL) for name in ("a", "b")] == ["n0", "n1"]
    assert (batching.results, batching.flushed) == ({"no_hint": 1, "hint_used": 1}, {})
    assert batching.said == [
        'provided node hint" profile="default-scheduler" pod="default/b" cycleCount=2 hint="n1" remainingNodes=1',
        'set cycle state" profile="default-scheduler" cycleCount=2 hintedNode="n1" chosenNode="n1"',
        'skipping set state because hint was provided" profile="default-scheduler" cycleCount=2 chosenNode="n1"',
    ]
    assert 'scheduler_get_node_hint_duration_seconds_count{hinted="hint",profile="default-scheduler"} 1' in list(
        batching.metrics.lines()
    )


def test_why_there_is_no_hint() -> None:
    batching = Batching(9, 4, 4)
    batching.schedule("a", **FULL)
    assert batching.said[-1] == 'set batch information" profile="default-scheduler" nodes=2 cycleCount=1'
    batching.schedule("b", **FULL)
    assert batching.flushed == {"node_not_full": 1}
    batching.schedule("c", **SMALL)
    assert batching.flushed == {"node_not_full": 1, "pod_incompatible": 1}
    assert batching.said[:2] == [
        'found unusable state" profile="default-scheduler" cycleCount=3 reason="pod_incompatible"',
        'no node hint available for pod" profile="default-scheduler" pod="default/c" cycleCount=3',
    ]
    assert batching.results == {"no_hint": 3}


def test_what_is_too_old_or_interrupted_or_whose_node_is_gone() -> None:
    batching = Batching(4, 4, 4, 4, 4, 4, 4)
    batching.schedule("a", **FULL)
    batching.scheduler.advance(MOST_AGE + 1)
    batching.schedule("b", **FULL)
    assert batching.flushed == {"expired": 1}
    assert batching.schedule("huge", requests={"cpu": "9"}) == ""
    chosen = batching.schedule("c", **FULL)
    assert batching.flushed == {"expired": 1, "pod_incompatible": 1, "pod_skipped": 1}
    node = batching.scheduler.cluster.get(Node, "", chosen)
    assert node is not None
    batching.scheduler.cluster.delete(node)
    batching.schedule("d", **FULL)
    assert batching.flushed["node_missing"] == 1


def test_a_hint_that_does_not_fit() -> None:
    batching = Batching(6, 5, 4)
    batching.schedule("a", requests={"cpu": "4"})
    batching.scheduler.cluster.create_admitted(make_pod("elsewhere", requests={"cpu": "5"}, node_name="n1"))
    assert batching.schedule("b", requests={"cpu": "4"}) == "n2"
    assert batching.results == {"no_hint": 1, "hint_not_used": 1}
    assert batching.said[2] == 'hint not used" profile="default-scheduler" cycleCount=2 hint="n1" chosen="n2"'


def test_nothing_is_kept_of_one_node_and_of_pods_that_are_like_no_other() -> None:
    alone = Batching(4)
    alone.schedule("a", **FULL)
    assert alone.flushed == {"empty_list": 1}
    unsigned = Batching(4, 4, defaulting="System")
    unsigned.schedule("a", **FULL)
    assert (unsigned.results, unsigned.flushed) == ({"no_hint": 1}, {"pod_not_batchable": 1})


def test_with_the_gate_off_nothing_is_counted() -> None:
    batching = Batching(4, 4, defaulting="System", gates=feature_gates({"OpportunisticBatching": False}))
    batching.schedule("a", **FULL)
    assert (batching.results, batching.flushed) == ({}, {})

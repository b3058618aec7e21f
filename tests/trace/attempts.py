"""Attempts of every kind, made up but shaped as the cycle makes them."""

from __future__ import annotations

import random

import numpy as np

from framework.interface import SKIP, SUCCESS, Code, DeviceDecision, Status, VolumeDecision
from framework.trace.attempt import (
    FEASIBLE,
    NOT_EVALUATED,
    AttemptTrace,
    FilterTrace,
    PermitOutcome,
    PluginOutcome,
    PluginScores,
    PreFilterOutcome,
    ScoreTrace,
)

FIT = Status(Code.UNSCHEDULABLE, ("Insufficient cpu",), "NodeResourcesFit")
TAINT = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) had untolerated taint(s)",), "TaintToleration")
WEIGHTS = {"NodeResourcesFit": 1, "TaintToleration": 3, "Odd": 2}


class Attempts:
    """A run's attempts: scores move a little from one to the next, as placements make them."""

    def __init__(self, seed: int, nodes: int = 40) -> None:
        self.rng = random.Random(seed)
        self.nodes = tuple(f"node-{i:04}" for i in range(nodes))
        self.raw = {name: np.array([self.rng.randrange(100) for _ in self.nodes]) for name in WEIGHTS}
        self.verdict = np.zeros(nodes, dtype=np.int32)
        self.start = 0
        self.cycle = 0

    def bound(self, *, sampled: bool = False) -> AttemptTrace:
        rng, count = self.rng, len(self.nodes)
        for plugin in self.raw:
            self.raw[plugin] = self.raw[plugin].copy()
            self.raw[plugin][rng.randrange(count)] = rng.randrange(100)
        self.verdict = self.verdict.copy()
        self.verdict[rng.randrange(count)] = rng.choice([0, 1, 2])
        verdict = self.verdict.copy()
        order = [(self.start + i) % count for i in range(count)]
        found = [p for p in order if verdict[p] == FEASIBLE]
        if sampled:
            last = order.index(found[len(found) // 2])
            verdict[order[last + 1 :]] = NOT_EVALUATED
            found = found[: len(found) // 2 + 1]
        self.start = (self.start + 7) % count
        positions = np.array(found, dtype=np.intp)
        plugins = []
        for plugin, weight in WEIGHTS.items():
            raw = self.raw[plugin][positions].astype(np.int64)
            normalized = {
                "NodeResourcesFit": raw,
                "TaintToleration": 100 - 100 * raw // max(int(raw.max()), 1),
                "Odd": np.arange(len(raw), dtype=np.int64) % 101,  # does not follow from the raw score
            }[plugin]
            plugins.append(PluginScores(plugin, weight, raw, normalized))
        total = np.zeros(len(positions), dtype=np.int64)
        for plugin_scores in plugins:
            total += plugin_scores.normalized * plugin_scores.weight
        best = positions[total == total.max()]
        trace = self.plain("bound")
        trace.filter = FilterTrace(self.nodes, verdict, [SUCCESS, FIT, TAINT])
        trace.scores = ScoreTrace(positions, plugins, total, best)
        trace.selected = self.nodes[int(best[0])]
        trace.bind = (PluginOutcome("DefaultBinder", SUCCESS),)
        if rng.random() < 0.3:
            trace.decisions = (
                VolumeDecision(f"shop/data-{rng.randrange(3)}", "data", "match", "pv-1", "local"),
                DeviceDecision("shop/gpus", "gpu", "gpu.example.com", "node-0001", "gpu-0", False),
            )
        return trace

    def plain(self, result: str) -> AttemptTrace:
        self.cycle += 1
        trace = AttemptTrace(
            pod=f"shop/{self.rng.choice(['web', 'db'])}-{self.cycle}",
            uid=f"uid-{self.cycle}",
            profile="default-scheduler",
            attempt=self.rng.randrange(1, 4),
            cycle=self.cycle,
            at=self.cycle * 10**6,
            nodes_total=len(self.nodes),
            result=result,
        )
        trace.pre_filter = (
            PreFilterOutcome("NodeAffinity", SUCCESS, ("node-0001",)),
            PreFilterOutcome("NodePorts", SKIP, None),
        )
        return trace

    def failed(self) -> AttemptTrace:
        trace = self.plain("failed")
        verdict = np.array([self.rng.choice([1, 2]) for _ in self.nodes], dtype=np.int32)
        trace.filter = FilterTrace(self.nodes, verdict, [SUCCESS, FIT, TAINT])
        trace.message = f"0/{len(self.nodes)} nodes are available: …"
        trace.reason = "Unschedulable"
        trace.unschedulable_plugins = ("NodeResourcesFit", "TaintToleration")
        return trace

    def rejected_in_pre_filter(self) -> AttemptTrace:
        trace = self.plain("failed")
        trace.pre_filter_status = Status.unresolvable("pod affinity terms conflict").with_plugin("NodeAffinity")
        return trace

    def waiting(self) -> AttemptTrace:
        trace = self.bound()
        trace.result = "waiting"
        trace.permit = (PermitOutcome("Coscheduling", Status(Code.WAIT, ("waiting for the gang",)), 30.5),)
        trace.waiting_for = {"Coscheduling": 30.5}
        return trace

    def mixed(self, count: int) -> list[AttemptTrace]:
        kinds = [self.bound, self.bound, self.failed, self.rejected_in_pre_filter, self.waiting, self.one_left]
        made = [self.rng.choice(kinds)() for _ in range(count)]
        return [self.bound(sampled=True) if i % 7 == 3 else trace for i, trace in enumerate(made)]

    def one_left(self) -> AttemptTrace:
        """One feasible node: nothing was scored."""
        trace = self.failed()
        assert trace.filter is not None
        trace.filter.verdict[5] = FEASIBLE
        trace.result, trace.message, trace.selected = "bound", "", self.nodes[5]
        return trace

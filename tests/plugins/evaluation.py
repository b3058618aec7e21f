"""Runs one plugin over a small cluster: what it says per node, without queue, cache or cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np

from framework.columns import Snapshot
from framework.configuration import FeatureGates
from framework.interface import (
    Code,
    ColumnFilterPlugin,
    ColumnScorePlugin,
    CycleState,
    Handle,
    NormalizeScore,
    Plan,
    PodInfo,
    PreFilterPlugin,
    PreScorePlugin,
    Status,
)
from framework.interface.plugin import Plugin
from framework.objects import Node, Pod
from framework.scheduler.store import Store


class _Nothing:
    """The default gates and a cluster without objects; the plugins tested with it ask for nothing else."""

    feature_gates = FeatureGates()
    objects = Store()

    @staticmethod
    def shared(name: str, make: Callable[[], Any]) -> Any:
        return make()


NO_HANDLE = cast(Handle, _Nothing())


def cluster(nodes: Iterable[Node], pods: Iterable[Pod] = ()) -> Snapshot:
    snapshot = Snapshot()
    names = []
    for node in nodes:
        snapshot.set_node(node)
        names.append(node.metadata.name)
    for pod in pods:
        snapshot.add_pod(pod.spec.node_name, PodInfo(pod))
    snapshot.set_order(names)
    snapshot.finish_refresh()
    return snapshot


def _column(plan: Plan) -> Any:
    return plan.kernel(*(each.gather(None) for each in plan.inputs))


def run_filter(plugin: Plugin, pod: Pod, snapshot: Snapshot, *, pre_filter: bool = True) -> dict[str, tuple[str, ...]]:
    """Node → (code, reasons...) of the nodes that do not pass. PreFilter's Skip lets all pass."""
    assert isinstance(plugin, ColumnFilterPlugin)
    state, info = CycleState(), PodInfo(pod)
    if pre_filter and isinstance(plugin, PreFilterPlugin):
        _, status = plugin.pre_filter(state, info, snapshot)
        if status is not None and status.code is Code.SKIP:
            return {}
    plan = plugin.filter_plan(state, info, snapshot)
    if plan is None:
        return {}
    codes = _column(plan)
    answers = {}
    for node in snapshot.list():
        code = int(codes[snapshot.row(node.name)])
        if code:
            reason = plan.reasons(code) if callable(plan.reasons) else plan.reasons[code]
            answers[node.name] = (reason.code.name_, *reason.texts)
    return answers


def run_score(plugin: Plugin, pod: Pod, snapshot: Snapshot, *, pre_score: bool = True) -> dict[str, int] | Status:
    """Node → raw score, or PreScore's status when it is not Success."""
    assert isinstance(plugin, ColumnScorePlugin)
    state, info = CycleState(), PodInfo(pod)
    if pre_score and isinstance(plugin, PreScorePlugin):
        status = plugin.pre_score(state, info, snapshot, snapshot.order)
        if status is not None and not status.is_success:
            return status
    scores = _column(plugin.score_plan(state, info, snapshot))
    return {node.name: int(scores[snapshot.row(node.name)]) for node in snapshot.list()}


def normalized(plugin: Plugin, raw: dict[str, int]) -> dict[str, int]:
    assert isinstance(plugin, NormalizeScore)
    values, status = plugin.normalize_score(
        CycleState(), Pod(), np.array(list(raw.values()), dtype=np.int64), np.arange(len(raw))
    )
    assert status is None
    return dict(zip(raw, values.tolist(), strict=True))

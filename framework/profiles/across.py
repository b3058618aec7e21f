"""AcrossNodes: what-ifs in which pods of several nodes leave together (``Handle.dry_run_across``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from framework.interface.node_info import NodeInfo, PodInfo
from framework.profiles.filter_run import FilterRun, NodeCase
from framework.profiles.verdicts import FilterEntry


class AcrossNodes:
    def __init__(self, run: FilterRun) -> None:
        self._run = run
        self._counts: list[Callable[[PodInfo], bool]] = []
        alone: list[FilterEntry] = []
        stateful = {name for name, _ in run.extensions}
        for entry in run.entries:
            inputs = () if entry.plan is None else entry.plan.inputs
            counts = [is_counted for each in inputs if (is_counted := getattr(each, "is_counted", None)) is not None]
            self._counts += counts
            if not counts and entry.plugin not in stateful:
                alone.append(entry)
        self._alone = tuple(alone)
        """Plugins that look at one node at a time, and at no state that pods which leave have changed."""

    def is_counted(self, pod: PodInfo) -> bool:
        # What a plugin makes of RemovePod is its own affair.
        return bool(self._run.extensions) or any(is_counted(pod) for is_counted in self._counts)

    def passes_alone(self, node: NodeInfo, leaving: PodInfo) -> bool:
        self._run.work.dry_runs += 1
        case = NodeCase(self._run, self._row(node), node)
        if self._run.stateful:
            case.own_state()
        case.remove_pod(leaving)
        return case.run_filters(self._alone).is_success

    def passes(self, leaving: Sequence[tuple[NodeInfo, PodInfo]], place: int) -> bool:
        run = self._run
        run.work.dry_runs += 1
        node, pod = leaving[place]
        others = [*leaving[:place], *leaving[place + 1 :]]
        elsewhere = [(self._row(each), other) for each, other in others]
        if not run.stateful:
            case = NodeCase(run, self._row(node), node)
            case.remove_pod(pod)
        else:
            state = run.state.clone()
            cases = [NodeCase(run, self._row(each), each, state) for each, _ in leaving]
            for each, (_, other) in zip(cases, leaving, strict=True):
                # As upstream: what RemovePod answers is not looked at.
                each.remove_pod(other)
            case = cases[place]
        case.elsewhere = elsewhere
        return case.run_filters().is_success

    def _row(self, node: NodeInfo) -> int:
        return self._run.snapshot.row(node.name)

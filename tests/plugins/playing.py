"""A scheduler over a few objects, for tests of plugins that only show what they do over several cycles."""

from __future__ import annotations

from collections.abc import Iterable

from framework.configuration.load import load
from framework.objects import KubeObject, Pod
from framework.objects.timestamps import SECOND
from framework.plugins.registry import OPTIONAL, built_in_registry
from framework.scheduler import Cluster, Observer, Scheduler
from framework.scheduler.observer import ClusterEventRecord
from framework.trace.attempt import AttemptTrace

REGISTRY = built_in_registry().with_plugins(OPTIONAL)
START = 1_800_000_000 * SECOND


class Remembering(Observer):
    """Keeps attempts and Events."""

    def __init__(self) -> None:
        self.attempts: list[AttemptTrace] = []
        self.events: list[ClusterEventRecord] = []

    def attempt(self, trace: AttemptTrace) -> None:
        self.attempts.append(trace)

    def event(self, record: ClusterEventRecord) -> None:
        self.events.append(record)


class Play:
    def __init__(self, configuration: str, objects: Iterable[KubeObject], *, seed: int = 1) -> None:
        loaded = load(configuration, REGISTRY)
        assert loaded.effective is not None, loaded.errors
        cluster = Cluster()
        for each in objects:
            cluster.create(each, stored=True)
        self.seen = Remembering()
        self.scheduler = Scheduler(
            loaded.effective,
            REGISTRY,
            start=START,
            seed=seed,
            ties="smallest",
            observer=self.seen,
            cluster=cluster,
        )

    def create(self, *objects: KubeObject) -> None:
        for each in objects:
            self.scheduler.cluster.create(each, stored=True)

    def cycles(self) -> None:
        """As many cycles as there are at this instant. A pod may be popped from backoff at once, so this could be
        endless; no test here needs many."""
        for _ in range(500):
            if self.scheduler.step() is None:
                return
        raise AssertionError("500 cycles and no end")

    def seconds(self, seconds: float) -> None:
        self.scheduler.advance(self.scheduler.now + round(seconds * SECOND))
        self.cycles()

    @property
    def bound(self) -> dict[str, str]:
        pods = self.scheduler.cluster.list(Pod)
        return {pod.metadata.name: pod.spec.node_name for pod in pods if pod.spec.node_name}

    @property
    def waiting(self) -> dict[str, tuple[str, ...]]:
        return {state.key.split("/")[1]: tuple(state.deadlines) for state in self.scheduler.waiting_pods()}

    @property
    def unschedulable(self) -> set[str]:
        return {state.key.split("/")[1] for state in self.scheduler.queue_state().unschedulable}

    @property
    def gated(self) -> set[str]:
        return {state.key.split("/")[1] for state in self.scheduler.queue_state().gated}

    def message(self, name: str) -> str:
        """The PodScheduled condition's text."""
        pod = self.scheduler.cluster.get(Pod, "default", name)
        assert pod is not None
        return next((c.message for c in pod.status.conditions if c.type == "PodScheduled"), "")

"""A busy little run: spreading, affinity, priorities, preemption, approvals, nodes that come, change and go.

``python -m tests.trace.scenario SEED`` prints its digest.
"""

from __future__ import annotations

import pickle
import random
import sys

from framework.configuration import load
from framework.objects import Node, Pod
from framework.objects.timestamps import SECOND
from framework.plugins.registry import built_in_registry
from framework.scheduler import Attempt, Observer, Scheduler
from framework.trace.digest import START, digest
from tests.builders import make_node, make_pod

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    percentageOfNodesToScore: 60
    plugins: {multiPoint: {enabled: [{name: ManualApproval}]}}
    pluginConfig:
      - name: ManualApproval
        args: {podSelector: {matchLabels: {approval: needed}}, timeoutSeconds: 40}
"""


class Traces(Observer):
    """Everything that was decided, in order; a waiting attempt is there twice."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.digest = START
        self.results: list[str] = []

    def attempt(self, trace: Attempt) -> None:
        self.digest = digest(trace, self.digest)
        self.results.append(trace.result)
        self.attempts.append(trace)


def node(rng: random.Random, number: int) -> Node:
    labels = {"topology.kubernetes.io/zone": rng.choice("abc"), "kubernetes.io/hostname": f"n-{number}"}
    taints = [{"key": "spot", "effect": rng.choice(["NoSchedule", "PreferNoSchedule"])}] if rng.random() < 0.2 else []
    images = [{"names": [f"app:{rng.randrange(3)}"], "sizeBytes": rng.randrange(10**9)}]
    return make_node(f"n-{number}", labels=labels, taints=taints, images=images, cpu=rng.choice("248"), pods="12")


def pod(rng: random.Random, number: int) -> Pod:
    app = rng.choice(["web", "db", "batch"])
    labels = {"app": app} | ({"approval": "needed"} if rng.random() < 0.08 else {})
    spec: dict[str, object] = {"priority": rng.choice([0, 0, 0, 100]), "schedulerName": "default-scheduler"}
    selector = {"labelSelector": {"matchLabels": {"app": app}}}
    if rng.random() < 0.4:
        when = rng.choice(["DoNotSchedule", "ScheduleAnyway"])
        zone = {"topologyKey": "topology.kubernetes.io/zone", "maxSkew": 2, "whenUnsatisfiable": when}
        spec["topologySpreadConstraints"] = [zone | selector]
    if rng.random() < 0.2:
        term = {"topologyKey": "kubernetes.io/hostname", **selector}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if rng.random() < 0.3:
        spec["tolerations"] = [{"key": "spot", "operator": "Exists"}]
    requests = {"cpu": f"{rng.randrange(1, 12) * 100}m", "memory": f"{rng.randrange(1, 8) * 128}Mi"}
    image = f"app:{rng.randrange(3)}"
    return make_pod(f"{app}-{number}", labels=labels, requests=requests, image=image, **spec)  # type: ignore[arg-type]


def play(seed: int, *, saved_every: int = 0) -> Traces:
    """``saved_every``: pickle the scheduler and go on with the copy, after that many steps."""
    rng = random.Random(4)
    loaded = load(CONFIG, built_in_registry())
    assert loaded.effective is not None
    traces = Traces()
    scheduler = Scheduler(
        loaded.effective, built_in_registry(), start=SECOND, seed=seed, ties="seeded", observer=traces
    )
    for i in range(120):
        scheduler.cluster.create_admitted(node(rng, i))
    for i in range(150):
        scheduler.cluster.create_admitted(pod(rng, i))
        if i % 12 == 7:
            gone = node(rng, rng.randrange(120))
            if scheduler.cluster.find(gone) is not None:
                scheduler.cluster.delete(gone)
            else:
                scheduler.cluster.create_admitted(gone)
        if i % 9 == 4:
            changed = node(rng, rng.randrange(120))
            if scheduler.cluster.find(changed) is not None:
                scheduler.cluster.replace(changed)
        if i % 4 == 0:
            bound = [each for each in scheduler.cluster.list(Pod) if each.spec.node_name]
            if bound and i % 8 == 0:
                scheduler.cluster.delete(bound[rng.randrange(len(bound))])
            scheduler.advance(scheduler.now + SECOND * rng.randrange(1, 8))
        for _ in range(2):
            scheduler.step()
        if saved_every and i % saved_every == 0:
            scheduler = pickle.loads(pickle.dumps(scheduler))
    scheduler.run_until_idle()
    observer = scheduler.observer
    assert isinstance(observer, Traces)
    return observer


if __name__ == "__main__":
    sys.stdout.write(play(int(sys.argv[1])).digest + "\n")

"""The winner among all nodes is the one that the engine picks at the same moment with percentageOfNodesToScore 100."""

from __future__ import annotations

import pickle
import random

from framework.advice import with_all_nodes
from framework.configuration import EffectiveConfiguration, load_value
from framework.objects import Namespace, ObjectMeta, Pod
from framework.plugins.registry import built_in_registry
from framework.scheduler import Cluster, Observer, PointReached, Scheduler
from tests.builders import make_node, make_pod

NODES = 130
PODS = 25


def configured(percentage: int) -> EffectiveConfiguration:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": percentage,
    }
    effective = load_value(document, built_in_registry()).effective
    assert effective is not None
    return effective


def sampling_scheduler(seed: int) -> Scheduler:
    rng = random.Random(seed)
    cluster = Cluster()
    cluster.put(Namespace(metadata=ObjectMeta(name="default")))
    for i in range(NODES):
        cluster.put(make_node(f"n{i:03}", cpu=rng.choice(["1", "2", "4", "8"]), memory=rng.choice(["4Gi", "8Gi"])))
    for i in range(PODS):
        cluster.put(make_pod(f"p{i:02}", requests={"cpu": rng.choice(["100m", "500m"]), "memory": "512Mi"}))
    return Scheduler(
        configured(1), built_in_registry(), start=0, seed=seed, ties="seeded", observer=Observer(), cluster=cluster
    )


def copied(scheduler: Scheduler) -> Scheduler:
    found: Scheduler = pickle.loads(pickle.dumps(scheduler))
    return found


def test_the_engine_with_every_node_scored_picks_the_same() -> None:
    met = set()
    for seed in range(4):
        scheduler = sampling_scheduler(seed)
        for _ in range(PODS):
            other = copied(scheduler)
            other.replace_configuration(configured(100))
            want = other.step()
            half = copied(scheduler)
            reached = half.step_point()
            assert isinstance(reached, PointReached)
            namespace, name = reached.pod.split("/")
            pod = half.cluster.get(Pod, namespace, name)
            assert pod is not None
            got = with_all_nodes(half, pod)
            real = scheduler.step()
            assert want is not None
            assert real is not None
            assert (got.pod, got.selected) == (want.pod, want.selected)
            assert (got.feasible_nodes, got.evaluated_nodes) == (want.feasible_nodes, want.evaluated_nodes)
            assert got.scores is not None
            assert want.scores is not None
            assert got.scores.total.tolist() == want.scores.total.tolist()
            assert real.feasible_nodes < got.feasible_nodes
            met.add(real.selected == got.selected)
    assert met == {True, False}

"""Plays one workload and says what it took. Every workload gets a process of its own, so that memory is its own."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from framework.cli.bench.beside import BESIDE, profile_with
from framework.cli.bench.objects import node, pod
from framework.cli.bench.plugins import AtMostAHundred, FewPodsFirst
from framework.cli.bench.recording import Recorder
from framework.cli.bench.workloads import Workload
from framework.cli.errors import InputError
from framework.configuration import EffectiveConfiguration, load_value
from framework.objects import KubernetesObject, Namespace, ObjectMeta, Pod
from framework.objects.decode import decode_manifest
from framework.plugins.registry import OPTIONAL, Registry, built_in_registry
from framework.scheduler import Cluster, Scheduler
from framework.scheduler.collector import settle

if sys.platform != "win32":
    import resource

START: Final = 1_767_225_600_000_000_000
SEED: Final = 1
ALL_NODES: Final = 100
_KIB_PER_MIB: Final = 1024


@dataclass(frozen=True, slots=True)
class Options:
    percentage: int = ALL_NODES
    record: bool = True


@dataclass(frozen=True, slots=True)
class Measured:
    """``pods_per_second``: for Unschedulable, failed tries per second."""

    workload: str
    nodes: int
    init_pods: int
    pods: int
    percentage: int
    recorded: bool
    bound: int
    attempts: int
    seconds: float
    """Wall time from the first Pop to the last chunk."""
    cpu_seconds: float
    pods_per_second: float
    pods_per_cpu_second: float
    p50_us: float
    """Per pod, its attempts and its binding cycle; chunks are written between pods."""
    p99_us: float
    create_us: float
    """Per pod, from the decoded object into the queue; not part of the figures above."""
    load_seconds: float
    peak_mib: float | None
    """Of the whole process; None where the system does not say."""
    trace_bytes: int
    digest: str


class World:
    """A workload about to begin: nodes and init pods are there, the measured pods are made."""

    def __init__(self, workload: Workload, options: Options) -> None:
        began = time.perf_counter()
        self.workload = workload
        self.recorder = Recorder(record=options.record)
        cluster = Cluster()
        for name in dict.fromkeys(workload.namespaces):
            cluster.create(Namespace(metadata=ObjectMeta(name=name, uid=f"uid-{name}")), stored=True)
        for number in range(workload.nodes):
            cluster.create(node(number, workload.zones), stored=True)
        for manifest in BESIDE[workload.beside].objects(workload.nodes) if workload.beside else []:
            made = decode_manifest(manifest)
            assert isinstance(made, KubernetesObject)
            cluster.create(made, stored=True)
        first, second = workload.namespaces
        for number, template in enumerate(workload.init(0, workload.init_pods)):
            placed = pod(f"init-{number}", template, first, f"node-{number % workload.nodes}")
            cluster.create(placed, stored=True)
        registry, configuration = profile(workload, options.percentage)
        self.scheduler = Scheduler(
            configuration,
            registry,
            start=START,
            seed=SEED,
            ties="seeded",
            observer=self.recorder,
            cluster=cluster,
        )
        # Loading is over when the columns have what was placed, too.
        self.scheduler.preload()
        self.scheduler.core.cache.update_snapshot(self.scheduler.core.snapshot)
        templates = workload.measured(workload.init_pods, workload.pods)
        self.pods = [pod(f"measured-{number}", template, second) for number, template in enumerate(templates)]
        self.load_seconds = time.perf_counter() - began

    def create(self, pods: Sequence[Pod]) -> None:
        for each in pods:
            self.scheduler.cluster.create(each, stored=True)


def profile(workload: Workload, percentage: int) -> tuple[Registry, EffectiveConfiguration]:
    """The default profile, with what the workload adds to it."""
    registry = built_in_registry().with_plugins(OPTIONAL)
    wanted: dict[str, Any] = {"schedulerName": "default-scheduler"}
    if workload.plugin:
        plugin = FewPodsFirst if workload.plugin == "score" else AtMostAHundred
        registry = registry.with_plugins([plugin])
        wanted["plugins"] = {workload.plugin: {"enabled": [{"name": plugin.name}]}}
    if workload.beside:
        wanted |= profile_with(workload.beside)
    if workload.defaulting_type:
        args = {"defaultingType": workload.defaulting_type}
        wanted["pluginConfig"] = [{"name": "PodTopologySpread", "args": args}]
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": percentage,
        "profiles": [wanted],
    }
    loaded = load_value(document, registry)
    if loaded.effective is None:
        raise InputError("bench", loaded.config_error)
    return registry, loaded.effective


def measure(workload: Workload, options: Options) -> Measured:
    world = World(workload, options)
    # As the engine does before a run.
    gc.collect()
    settle()
    began = time.perf_counter()
    if not workload.one_by_one:
        world.create(world.pods)
    created = time.perf_counter() - began
    durations: list[float] = []
    cpu = time.process_time()
    began = time.perf_counter()
    if workload.one_by_one:
        created = _one_by_one(world, durations)
    else:
        _all_queued(world, durations)
    world.recorder.write()
    seconds = time.perf_counter() - began - (created if workload.one_by_one else 0)
    cpu_seconds = time.process_time() - cpu
    recorder = world.recorder
    durations.sort()
    return Measured(
        workload=workload.name,
        nodes=workload.nodes,
        init_pods=workload.init_pods,
        pods=workload.pods,
        percentage=options.percentage,
        recorded=options.record,
        bound=recorder.bound,
        attempts=world.scheduler.attempts,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        pods_per_second=workload.pods / seconds,
        pods_per_cpu_second=workload.pods / cpu_seconds,
        p50_us=_percentile(durations, 50) * 1e6,
        p99_us=_percentile(durations, 99) * 1e6,
        create_us=created / max(1, workload.pods) * 1e6,
        load_seconds=world.load_seconds,
        peak_mib=_peak_mib(),
        trace_bytes=recorder.bytes,
        digest=recorder.digest,
    )


def _all_queued(world: World, durations: list[float]) -> None:
    step, recorder, clock = world.scheduler.step, world.recorder, time.perf_counter
    # Each pod is popped once: a failed one backs off, and Pop would take it out of backoff when nothing is active.
    for _ in world.pods:
        before = clock()
        step()
        durations.append(clock() - before)
        if recorder.has_chunk:
            recorder.write()


def _one_by_one(world: World, durations: list[float]) -> float:
    """Each pod with all its attempts. Returns the seconds that creating them took."""
    step, recorder, clock = world.scheduler.step, world.recorder, time.perf_counter
    created = 0.0
    for each in world.pods:
        started = clock()
        world.create([each])
        before = clock()
        created += before - started
        while step() is not None:
            pass
        durations.append(clock() - before)
        if recorder.has_chunk:
            recorder.write()
    return created


def _percentile(ordered: Sequence[float], percent: int) -> float:
    return ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] if ordered else 0.0


def _peak_mib() -> float | None:
    if sys.platform == "win32":
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / _KIB_PER_MIB / (_KIB_PER_MIB if sys.platform == "darwin" else 1)


def measured_apart(workload: Workload, options: Options) -> Measured:
    """``measure`` in a new process. Raises InputError with what it said when it failed."""
    command = [sys.executable, "-m", "framework", "bench", "--inside", "--json", "--workload", workload.name]
    command += ["--percentage", str(options.percentage)]
    numbers = {"--nodes": workload.nodes, "--init-pods": workload.init_pods, "--pods": workload.pods}
    for flag, number in numbers.items():
        command += [flag, str(number)]
    if not options.record:
        command.append("--no-trace")
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise InputError(workload.name, ended.stderr or f"ended with status {ended.returncode}")
    return Measured(**json.loads(ended.stdout))


def as_json(measured: Measured) -> str:
    return json.dumps(asdict(measured))

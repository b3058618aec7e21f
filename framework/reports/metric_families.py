"""The metrics of kube-scheduler by name: what Prometheus is told of each, and the text format they are told in.

Upstream: pkg/scheduler/metrics (1.36.2), printed as client_golang prints a registry.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Final, Literal, NamedTuple

from framework.configuration.errors import go_quote
from framework.reports.pod_resources import go_float

PREFIX: Final = "scheduler_"
Labels = tuple[str, ...]
"""Values in the order of ``Family.labels``."""


class Buckets(NamedTuple):
    """Upper bounds: ``start``, then each ``factor`` times the one before, ``number`` of them."""

    start: float
    factor: float
    number: int

    def bounds(self) -> tuple[float, ...]:
        found, bound = [], self.start
        for _ in range(self.number):
            found.append(bound)
            bound *= self.factor
        return tuple(found)


class Family(NamedTuple):
    type: Literal["counter", "gauge", "histogram"]
    stability: Literal["STABLE", "BETA", "ALPHA"]
    help: str
    labels: tuple[str, ...] = ()
    """In the order of their names."""
    buckets: Buckets | None = None
    gate: str = ""
    """The feature gate without which it is not registered; "" for none, or one that is always on."""


_ATTEMPT: Final = Buckets(0.001, 2, 15)
_POINT: Final = Buckets(0.0001, 2, 12)
_PLUGIN: Final = Buckets(0.00001, 1.5, 20)
_HINT: Final = Buckets(0.00001, 2, 12)
_LONG: Final = Buckets(0.01, 2, 20)
_GROUPS: Final = "GenericWorkload"
_CONDITIONS: Final = "DRADeviceBindingConditions"

FAMILIES: Final[dict[str, Family]] = {
    "batch_attempts_total": Family(
        "counter", "ALPHA", "Counts of results when we attempt to use batching.", ("profile", "result")
    ),
    "batch_cache_flushed_total": Family(
        "counter", "ALPHA", "Counts of cache flushes by reason.", ("profile", "reason")
    ),
    "cache_size": Family(
        "gauge", "ALPHA", "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.", ("type",)
    ),
    "dra_bindingconditions_allocations_total": Family(
        "counter",
        "ALPHA",
        "Number of allocations using devices with BindingConditions, counted per driver per scheduling attempt",
        ("driver", "profile", "status"),
        gate=_CONDITIONS,
    ),
    "dra_bindingconditions_wait_duration_seconds": Family(
        "histogram",
        "ALPHA",
        "Time in seconds spent waiting for BindingConditions to be satisfied during PreBind.",
        ("driver", "profile", "status"),
        Buckets(0.1, 2, 14),
        _CONDITIONS,
    ),
    "event_handling_duration_seconds": Family(
        "histogram", "ALPHA", "Event handling latency in seconds.", ("event",), _POINT
    ),
    "framework_extension_point_duration_seconds": Family(
        "histogram",
        "STABLE",
        "Latency for running all plugins of a specific extension point.",
        ("extension_point", "profile", "status"),
        _POINT,
    ),
    "get_node_hint_duration_seconds": Family(
        "histogram", "ALPHA", "Latency for getting a node hint.", ("hinted", "profile"), _HINT
    ),
    "goroutines": Family(
        "gauge", "BETA", "Number of running goroutines split by the work they do such as binding.", ("operation",)
    ),
    "inflight_events": Family(
        "gauge", "ALPHA", "Number of events currently tracked in the scheduling queue.", ("event",)
    ),
    "pending_pods": Family(
        "gauge",
        "STABLE",
        "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' means number "
        "of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods that the scheduler attempted "
        "to schedule and failed; 'gated' is the number of unschedulable pods that the scheduler never attempted to "
        "schedule because they are gated.",
        ("queue",),
    ),
    "permit_wait_duration_seconds": Family(
        "histogram", "BETA", "Duration of waiting on permit.", ("result",), _ATTEMPT
    ),
    "plugin_evaluation_total": Family(
        "counter",
        "BETA",
        "Number of attempts to schedule pods by each plugin and the extension point (available only in PreFilter, "
        "Filter, PreScore, and Score).",
        ("extension_point", "plugin", "profile"),
    ),
    "plugin_execution_duration_seconds": Family(
        "histogram",
        "ALPHA",
        "Duration for running a plugin at a specific extension point.",
        ("extension_point", "plugin", "status"),
        _PLUGIN,
    ),
    "pod_scheduled_after_flush_total": Family(
        "counter",
        "ALPHA",
        "Number of pods that were successfully scheduled after being flushed from unschedulablePods due to timeout. "
        "This metric helps detect potential queueing hint misconfigurations or event handling issues.",
    ),
    "pod_scheduling_attempts": Family(
        "histogram", "STABLE", "Number of attempts to successfully schedule a pod.", (), Buckets(1, 2, 5)
    ),
    "pod_scheduling_sli_duration_seconds": Family(
        "histogram",
        "BETA",
        "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue and might involve "
        "multiple scheduling attempts.",
        ("attempts",),
        _LONG,
    ),
    "podgroup_schedule_attempts_total": Family(
        "counter",
        "ALPHA",
        "Number of attempts to schedule pod group, by the result. 'unschedulable' means a pod group could not be "
        "scheduled, while 'error' means an internal scheduler problem.",
        ("profile", "result"),
        gate=_GROUPS,
    ),
    "podgroup_scheduling_algorithm_duration_seconds": Family(
        "histogram", "ALPHA", "Pod group scheduling algorithm latency in seconds", (), _ATTEMPT, _GROUPS
    ),
    "podgroup_scheduling_attempt_duration_seconds": Family(
        "histogram",
        "ALPHA",
        "Pod group scheduling attempt latency in seconds (scheduling algorithm + binding)",
        ("profile", "result"),
        _ATTEMPT,
        _GROUPS,
    ),
    "preemption_attempts_total": Family("counter", "STABLE", "Total preemption attempts in the cluster till now"),
    "preemption_goroutines_duration_seconds": Family(
        "histogram", "ALPHA", "Duration in seconds for running goroutines for the preemption.", ("result",), _LONG
    ),
    "preemption_goroutines_execution_total": Family(
        "counter", "ALPHA", "Number of preemption goroutines executed.", ("result",)
    ),
    "preemption_victims": Family("histogram", "STABLE", "Number of selected preemption victims", (), Buckets(1, 2, 7)),
    "queue_incoming_pods_total": Family(
        "counter", "STABLE", "Number of pods added to scheduling queues by event and queue type.", ("event", "queue")
    ),
    "queueing_hint_execution_duration_seconds": Family(
        "histogram",
        "ALPHA",
        "Duration for running a queueing hint function of a plugin.",
        ("event", "hint", "plugin"),
        _PLUGIN,
    ),
    "resourceclaim_creates_total": Family(
        "counter",
        "ALPHA",
        "Number of ResourceClaims creation requests within scheduler",
        ("status",),
        gate="DRAExtendedResource",
    ),
    "schedule_attempts_total": Family(
        "counter",
        "STABLE",
        "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not be scheduled, while "
        "'error' means an internal scheduler problem.",
        ("profile", "result"),
    ),
    "scheduling_algorithm_duration_seconds": Family(
        "histogram", "ALPHA", "Scheduling algorithm latency in seconds", (), _ATTEMPT
    ),
    "scheduling_attempt_duration_seconds": Family(
        "histogram",
        "STABLE",
        "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
        ("profile", "result"),
        _ATTEMPT,
    ),
    "store_schedule_results_duration_seconds": Family(
        "histogram", "ALPHA", "Latency for getting a no.", ("profile",), _HINT
    ),
    "unschedulable_pods": Family(
        "gauge",
        "BETA",
        "The number of unschedulable pods broken down by plugin name. A pod will increment the gauge for all plugins "
        "that caused it to not schedule and so this metric have meaning only when broken down by plugin.",
        ("plugin", "profile"),
    ),
    "volume_binder_cache_requests_total": Family(
        "counter", "ALPHA", "Total number for request volume binding cache", ("operation",)
    ),
    "volume_scheduling_stage_error_total": Family(
        "counter", "ALPHA", "Volume scheduling stage error count", ("operation",)
    ),
}
"""In the order of their names. Of volumes: pkg/scheduler/framework/plugins/volumebinding/metrics."""

BOUNDS: Final = {name: family.buckets.bounds() for name, family in FAMILIES.items() if family.buckets is not None}
_LE: Final = {name: [f'le="{bound}"' for bound in (*map(go_float, bounds), "+Inf")] for name, bounds in BOUNDS.items()}
"""The label of each bucket."""


class Histogram:
    """``counts`` per bucket, not added up; the last is what is above all bounds."""

    __slots__ = ("bounds", "counts", "sum")

    def __init__(self, name: str) -> None:
        self.bounds = BOUNDS[name]
        self.counts = [0] * (len(self.bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float, times: int = 1) -> None:
        self.counts[bisect_left(self.bounds, value)] += times
        self.sum += value * times


class Registry:
    """What was counted. Everything in it is plain, so it can be pickled."""

    def __init__(self) -> None:
        self.values: dict[str, dict[Labels, float]] = {}
        """Counters and gauges."""
        self.histograms: dict[str, dict[Labels, Histogram]] = {}
        self.begin(lambda gate: False)

    def begin(self, is_on: Callable[[str], bool]) -> None:
        """What has no labels is there from the start, of what is registered with the feature gates that are on."""
        for name, family in FAMILIES.items():
            if family.labels or (family.gate and not is_on(family.gate)):
                continue
            if family.buckets is None:
                self.values.setdefault(name, {(): 0})
            else:
                self.histograms.setdefault(name, {(): Histogram(name)})

    def add(self, name: str, labels: Labels = (), amount: int = 1) -> None:
        found = self.values.setdefault(name, {})
        found[labels] = found.get(labels, 0) + amount

    def set(self, name: str, labels: Labels, value: int) -> None:
        self.values.setdefault(name, {})[labels] = value

    def observe(self, name: str, labels: Labels = (), value: float = 0.0, times: int = 1) -> None:
        found = self.histograms.setdefault(name, {})
        histogram = found.get(labels)
        if histogram is None:
            histogram = found[labels] = Histogram(name)
        histogram.observe(value, times)

    def lines(self) -> Iterator[str]:
        """Prometheus' text format, families and series in the order of their names and labels."""
        for name, family in sorted(FAMILIES.items()):
            series: dict[Labels, float | Histogram] = {**self.values.get(name, {}), **self.histograms.get(name, {})}
            if not series:
                continue
            yield f"# HELP {PREFIX}{name} [{family.stability}] {family.help}"
            yield f"# TYPE {PREFIX}{name} {family.type}"
            for labels, value in sorted(series.items(), key=lambda each: each[0]):
                pairs = [f"{label}={go_quote(text)}" for label, text in zip(family.labels, labels, strict=True)]
                if isinstance(value, Histogram):
                    yield from _histogram_lines(name, pairs, value)
                else:
                    yield f"{_series(name, pairs)} {go_float(float(value))}"


def _series(name: str, pairs: list[str]) -> str:
    return f"{PREFIX}{name}{{{','.join(pairs)}}}" if pairs else f"{PREFIX}{name}"


def _histogram_lines(name: str, pairs: list[str], histogram: Histogram) -> Iterator[str]:
    total = 0
    start = f"{PREFIX}{name}_bucket{{{''.join(f'{pair},' for pair in pairs)}"
    for bound, count in zip(_LE[name], histogram.counts, strict=True):
        total += count
        yield f"{start}{bound}}} {total}"
    yield f"{_series(f'{name}_sum', pairs)} {go_float(histogram.sum)}"
    yield f"{_series(f'{name}_count', pairs)} {total}"

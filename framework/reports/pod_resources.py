"""What pods ask for, as ``/metrics/resources`` of kube-scheduler tells Prometheus.

Upstream: pkg/scheduler/metrics/resources/resources.go `CollectWithStability` (1.36.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np

from framework.configuration.errors import go_quote
from framework.objects import Pod
from framework.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, exact_limits, exact_requests

_SHOWS: Final = (
    "This shows the resource usage the scheduler and kubelet expect per pod for resources along with the unit for the "
    "resource if any."
)
FAMILIES: Final = {
    "kube_pod_resource_limit": "Resources limit for workloads on the cluster, broken down by pod.",
    "kube_pod_resource_request": "Resources requested by workloads on the cluster, broken down by pod.",
}


class _Sample(NamedTuple):
    """Labels in the order of their names."""

    namespace: str
    node: str
    pod: str
    priority: str
    resource: str
    scheduler: str
    unit: str


def resource_metrics(pods: Iterable[Pod]) -> Iterator[str]:
    """Lines of Prometheus' text format. Pods that have ended on a node are left out, and so are amounts of 0."""
    found: dict[str, dict[_Sample, str]] = {name: {} for name in FAMILIES}
    for pod in pods:
        if pod.spec.node_name and pod.status.phase in ("Succeeded", "Failed"):
            continue
        for name, amounts in zip(FAMILIES, (exact_limits(pod), exact_requests(pod)), strict=True):
            found[name] |= {_sample(pod, resource): _value(amount) for resource, amount in amounts.items() if amount}
    for name, about in FAMILIES.items():
        if not found[name]:
            continue
        yield f"# HELP {name} [STABLE] {about} {_SHOWS}"
        yield f"# TYPE {name} gauge"
        for sample, value in sorted(found[name].items()):
            labels = ",".join(f"{label}={go_quote(text)}" for label, text in sample._asdict().items())
            yield f"{name}{{{labels}}} {value}"


def _sample(pod: Pod, resource: str) -> _Sample:
    spec = pod.spec
    priority = "" if spec.priority is None else str(spec.priority)
    namespace, name = pod.metadata.namespace, pod.metadata.name
    return _Sample(namespace, spec.node_name, name, priority, resource, spec.scheduler_name, _unit(resource))


def _unit(resource: str) -> str:
    if resource == CPU:
        return "cores"
    if resource in (MEMORY, EPHEMERAL_STORAGE, "storage") or resource.startswith("hugepages-"):
        return "bytes"
    return "integer" if resource.startswith("attachable-volumes-") else ""


def _value(nanos: int) -> str:
    """As Go's ``Quantity.AsApproximateFloat64`` has it: the whole number times a power of ten, with its error."""
    digits = next(each for each in (0, 3, 6, 9) if nanos % 10 ** (9 - each) == 0)
    return go_float((nanos // 10 ** (9 - digits)) * float(f"1e-{digits}"))


def go_float(value: float) -> str:
    """As client_golang writes numbers: the shortest digits, with an exponent from 1e+06 on."""
    if value and not 1e-4 <= abs(value) < 1e6:
        return np.format_float_scientific(value, trim="-", exp_digits=2)
    return np.format_float_positional(value, trim="-")

"""What a pod is taken to use before anybody measured it (docs/koordinator.md#estimates)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from framework.objects import Pod
from framework.objects.quantity import NANOS, NANOS_PER_MILLI
from framework.objects.resources import CPU, MEMORY, aggregate_container_nanos, pod_requests, resource_value

UNNAMED_CPU: Final = 250
UNNAMED_MEMORY: Final = 200 * 1024 * 1024
"""Of a pod that names neither request nor limit."""


class Estimate(NamedTuple):
    cpu: int
    """Millicores."""
    memory: int
    """Bytes."""


def estimate_of(pod: Pod, factors: Mapping[str, int]) -> Estimate:
    """``factors``: percent of the larger of request and limit, per resource."""
    requests, limits = pod_requests(pod), _limits(pod)
    found = []
    for name, unnamed in ((CPU, UNNAMED_CPU), (MEMORY, UNNAMED_MEMORY)):
        limit = limits.get(name, 0)
        most = max(limit, requests.get(name, 0))
        if most == 0:
            found.append(unnamed)
            continue
        # Rounded half away from zero.
        amount = (2 * most * factors[name] + 100) // 200
        found.append(min(amount, limit) if limit else amount)
    return Estimate(*found)


def _limits(pod: Pod) -> dict[str, int]:
    """Of cpu and memory, those of the pod before those of its containers; the overhead is added to what has a limit."""
    nanos = aggregate_container_nanos(pod, limits=True)
    own = (pod.spec.resources.limits if pod.spec.resources is not None else None) or {}
    found: dict[str, int] = {}
    for name, unit in ((CPU, NANOS_PER_MILLI), (MEMORY, NANOS)):
        limit = resource_value(name, own[name]) if name in own else -(-nanos.get(name, 0) // unit)
        if limit:
            overhead = (pod.spec.overhead or {}).get(name)
            found[name] = limit + (0 if overhead is None else resource_value(name, overhead))
    return found

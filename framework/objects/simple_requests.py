"""What scheduler-plugins takes a pod to request: less than Kubernetes' own sum (docs/semantics/catalogue.md#requests).

Per resource the sum over containers or the largest init container, whatever is more, with the overhead added.
Restartable init containers are init containers like others; pod-level resources and resizes do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal

from framework.objects.metadata import ResourceList
from framework.objects.pod import Container, Pod
from framework.objects.quantity import NANOS, NANOS_PER_MILLI, parse_quantity, rounded
from framework.objects.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    Nanos,
    Resources,
    is_scalar_resource_name,
)

Field = Literal["requests", "limits"]


def listed(container: Container, of: Field = "requests") -> ResourceList:
    found = container.resources.requests if of == "requests" else container.resources.limits
    return found or {}


def effective_request(pod: Pod) -> Nanos:
    """Every resource that is named, exactly, in billionths of a unit (upstream ``GetPodEffectiveRequest``)."""
    total: Nanos = {}
    for container in pod.spec.containers:
        _add(total, listed(container))
    peak: Nanos = {}
    for container in pod.spec.init_containers:
        _raise_to(peak, listed(container))
    for name, amount in peak.items():
        if name not in total or amount > total[name]:
            total[name] = amount
    _add(total, pod.spec.overhead or {})
    return total


def simple_requests(pod: Pod, of: Field = "requests", init: Iterable[str] | None = None) -> Resources:
    """Added up container by container as the scheduler's ``Resource`` does: cpu in millicores, the rest in units.

    ``init``: the resources for which init containers count; None for all.
    """
    total: Resources = {}
    for container in pod.spec.containers:
        _add_amounts(total, listed(container, of))
    for container in pod.spec.init_containers:
        for name, amount in amounts(listed(container, of)).items():
            if (init is None or name in init) and amount > total.get(name, 0):
                total[name] = amount
    _add_amounts(total, pod.spec.overhead or {})
    return total


def amounts(resources: ResourceList) -> Resources:
    """The kinds that scheduling keeps (upstream ``Resource.Add``); ``pods`` counts there, too."""
    return _amounts(tuple(resources.items())).copy()


@lru_cache(maxsize=1 << 13)
def _amounts(resources: tuple[tuple[str, str | int | float], ...]) -> Resources:
    found: Resources = {}
    for name, raw in resources:
        if name == CPU:
            found[name] = parse_quantity(raw).milli_value()
        elif name in (MEMORY, EPHEMERAL_STORAGE, "pods") or is_scalar_resource_name(name):
            found[name] = parse_quantity(raw).value()
    return found


def nanos_value(nanos: int) -> int:
    """In whole units, rounded up: Go's ``Quantity.Value``."""
    return rounded(nanos, NANOS)


def nanos_milli_value(nanos: int) -> int:
    return rounded(nanos, NANOS_PER_MILLI)


def _add(total: Nanos, more: ResourceList) -> None:
    for name, raw in more.items():
        total[name] = total.get(name, 0) + parse_quantity(raw).nanos


def _raise_to(total: Nanos, other: ResourceList) -> None:
    for name, raw in other.items():
        amount = parse_quantity(raw).nanos
        if name not in total or amount > total[name]:
            total[name] = amount


def _add_amounts(total: Resources, more: Mapping[str, str | int | float]) -> None:
    for name, amount in _amounts(tuple(more.items())).items():
        total[name] = total.get(name, 0) + amount

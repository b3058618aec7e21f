"""A pod's quality of service class (upstream pkg/apis/core/v1/helper/qos: GetPodQOS, ComputePodQOS)."""

from __future__ import annotations

from typing import Final

from framework.objects.metadata import ResourceList
from framework.objects.pod import Pod
from framework.objects.quantity import parse_quantity
from framework.objects.resources import CPU, MEMORY, Nanos

GUARANTEED: Final = "Guaranteed"
BURSTABLE: Final = "Burstable"
BEST_EFFORT: Final = "BestEffort"
_COUNTED: Final = (CPU, MEMORY)


def pod_qos(pod: Pod) -> str:
    """What the status says; else what follows from requests and limits of cpu and memory."""
    return pod.status.qos_class or _computed(pod)


def _computed(pod: Pod) -> str:
    requests: Nanos = {}
    limits: Nanos = {}
    guaranteed = True
    resources = pod.spec.resources
    if resources is not None:
        _add(requests, resources.requests)
        if resources.limits:
            guaranteed = len(_add(limits, resources.limits)) == len(_COUNTED)
    else:
        for container in (*pod.spec.containers, *pod.spec.init_containers):
            _add(requests, container.resources.requests)
            guaranteed = len(_add(limits, container.resources.limits)) == len(_COUNTED) and guaranteed
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if guaranteed and requests == limits else BURSTABLE


def _add(total: Nanos, resources: ResourceList | None) -> set[str]:
    """Adds what is above zero; returns the names of it."""
    found = set()
    for name in _COUNTED:
        raw = (resources or {}).get(name)
        amount = 0 if raw is None else parse_quantity(raw).nanos
        if amount > 0:
            found.add(name)
            total[name] = total.get(name, 0) + amount
    return found

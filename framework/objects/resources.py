"""What pods request and nodes offer, as whole numbers (docs/semantics/resources.md#pod-requests).

Requests are added up exactly and rounded once at the end: cpu to millicores, everything else to whole units. Keys of a
``Resources`` are Kubernetes' resource names; a scalar resource requested with 0 keeps its key, as upstream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from framework.objects.metadata import RawQuantity, ResourceList
from framework.objects.names import qualified_name_errors
from framework.objects.node import Node
from framework.objects.pod import Container, ContainerStatus, Pod
from framework.objects.quantity import NANOS, NANOS_PER_MILLI, parse_quantity, rounded

Resources = dict[str, int]

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"

DEFAULT_MILLI_CPU_REQUEST: Final = 100
DEFAULT_MEMORY_REQUEST: Final = 200 * 1024 * 1024
NON_MISSING_DEFAULTS: Final[Mapping[str, int]] = {
    CPU: DEFAULT_MILLI_CPU_REQUEST,
    MEMORY: DEFAULT_MEMORY_REQUEST,
}
"""What scoring assumes for a container that names no request: cpu in millicores, memory in bytes.

As nothing, any number of them would go to one node; a tenth of a core and 200Mi are a small service.
"""

# Exact sums, in billionths of a unit.
Nanos = dict[str, int]
_NONE: Final[Nanos] = {}
_NOTHING: Final[ResourceList] = {}


def pod_requests(
    pod: Pod,
    *,
    use_status: bool = False,
    pod_level: bool = True,
    non_missing: Mapping[str, int] | None = None,
) -> Resources:
    """What the pod asks for (upstream PodRequests, then Resource.SetMaxResource).

    ``use_status`` takes resources reported by the kubelet into account (in-place resize), ``pod_level`` those in
    spec.resources; ``non_missing`` (cpu in millicores, the rest in units) stands in for what a container does not name.
    """
    spec, status = pod.spec, pod.status
    if (
        (non_missing is None or non_missing is NON_MISSING_DEFAULTS)
        and spec.resources is None
        and not spec.init_containers
        and not spec.overhead
        and not (use_status and (status.container_statuses or status.init_container_statuses))
    ):
        return _plain_requests(_asked(spec.containers))[non_missing is not None].copy()
    missing = None
    if non_missing:
        missing = _DEFAULT_NANOS if non_missing is NON_MISSING_DEFAULTS else _as_nanos(non_missing)
    return _as_resources(_pod_nanos(pod, use_status, pod_level, missing))


def placed_requests(pod: Pod) -> Resources:
    """What the pod counts on its node (NodeInfo.Requested)."""
    return pod_requests(pod, use_status=True)


def non_zero_requests(pod: Pod) -> tuple[int, int]:
    """What the pod counts in NodeInfo.NonZeroRequested: (cpu in millicores, memory in bytes).

    With pod-level requests a default stands in only for what neither pod nor containers name.
    """
    missing: Mapping[str, int] = NON_MISSING_DEFAULTS
    if has_pod_level_requests(pod):
        named = _pod_nanos(pod, True, True, None)
        missing = {name: amount for name, amount in NON_MISSING_DEFAULTS.items() if name not in named}
    requests = pod_requests(pod, use_status=True, non_missing=missing)
    return requests.get(CPU, 0), requests.get(MEMORY, 0)


Figures = tuple[Resources, tuple[int, int]]
_MOST_FIGURES: Final = 1 << 12
_figures_of: Final[dict[int, tuple[tuple[Container, ...], Figures]]] = {}
"""By the identity of containers, which are kept so that no others get it."""


def placed_figures(pod: Pod) -> Figures:
    """(``placed_requests``, ``non_zero_requests``), which pods that ask for the same share: not to be written to."""
    spec, status = pod.spec, pod.status
    if (
        spec.init_containers
        or spec.resources is not None
        or spec.overhead
        or status.init_container_statuses
        or not _report_what_was_asked(spec.containers, status.container_statuses)
    ):
        return placed_requests(pod), non_zero_requests(pod)
    # Replicas that were decoded together have their containers in common.
    known = _figures_of.get(id(spec.containers))
    if known is not None and known[0] is spec.containers:
        return known[1]
    requests, counted = _plain_requests(_asked(spec.containers))
    figures = requests, (counted.get(CPU, 0), counted.get(MEMORY, 0))
    if len(_figures_of) >= _MOST_FIGURES:
        _figures_of.clear()
    _figures_of[id(spec.containers)] = spec.containers, figures
    return figures


def _report_what_was_asked(containers: Sequence[Container], statuses: Sequence[ContainerStatus]) -> bool:
    """Kubelets report the resources of every container: mostly those of the spec, in whose order they come."""
    for index, status in enumerate(statuses):
        if status.resources is None:
            continue
        if index >= len(containers) or status.name != containers[index].name:
            return False
        asked = containers[index].resources.requests
        if status.resources.requests != asked or status.allocated_resources not in (None, asked):
            return False
    return True


_Asked = tuple[tuple[tuple[str, RawQuantity], ...], ...]


def _asked(containers: Sequence[Container]) -> _Asked:
    return tuple([tuple((each.resources.requests or _NOTHING).items()) for each in containers])


@lru_cache(maxsize=1 << 14)
def _plain_requests(asked: _Asked) -> tuple[Resources, Resources]:
    """Of containers that ask for this: (as it is, with NON_MISSING_DEFAULTS). Not to be written to."""
    if len(asked) == 1:
        alone = _as_resources(_parsed(dict(asked[0])))
        return alone, {**NON_MISSING_DEFAULTS, **alone}
    named: Nanos = {}
    counted: Nanos = {}
    for each in asked:
        nanos = _parsed(dict(each))
        _add(named, nanos)
        _add(counted, {**_DEFAULT_NANOS, **nanos})
    return _as_resources(named), _as_resources(counted)


def node_allocatable(node: Node) -> Resources:
    """status.allocatable with the kinds scheduling keeps, ``pods`` among them."""
    offered: Resources = {}
    for name, raw in (node.status.allocatable or {}).items():
        if name in (CPU, MEMORY, EPHEMERAL_STORAGE, PODS) or is_scalar_resource_name(name):
            offered[name] = resource_value(name, raw)
    return offered


def resource_value(name: str, raw: RawQuantity) -> int:
    """cpu in millicores, everything else in whole units."""
    quantity = parse_quantity(raw)
    return quantity.milli_value() if name == CPU else quantity.value()


def has_pod_level_requests(pod: Pod) -> bool:
    resources = pod.spec.resources
    return resources is not None and any(is_pod_level_resource_name(name) for name in resources.requests or ())


def is_pod_level_resource_name(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


@lru_cache(maxsize=4096)
def is_scalar_resource_name(name: str) -> bool:
    return (
        is_extended_resource_name(name)
        or name.startswith("hugepages-")
        or "kubernetes.io/" in name
        or name.startswith("attachable-volumes-")
    )


@lru_cache(maxsize=4096)
def is_extended_resource_name(name: str) -> bool:
    """Outside of Kubernetes' own domain and still a qualified name with quota's ``requests.`` before it."""
    if is_native_resource_name(name) or name.startswith("requests."):
        return False
    return not qualified_name_errors(f"requests.{name}")


def is_native_resource_name(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def aggregate_container_nanos(pod: Pod, *, limits: bool = False) -> Nanos:
    """What all containers ask for together (or may use at most), exactly; no pod-level resources, no overhead."""
    if limits:
        return _aggregate(pod, lambda container: _parsed(container.resources.limits))
    return _aggregate(pod, _spec_requests)


def _pod_nanos(pod: Pod, use_status: bool, pod_level: bool, non_missing: Nanos | None) -> Nanos:
    reported = use_status and (pod.status.container_statuses or pod.status.init_container_statuses)
    effective = _effective_requests(pod) if reported else _spec_requests
    containers = pod.spec.containers
    if len(containers) == 1 and not pod.spec.init_containers:
        own = effective(containers[0])
        requests = {**non_missing, **own} if non_missing else dict(own)
    elif non_missing:
        requests = _aggregate(pod, lambda container: {**non_missing, **effective(container)})
    else:
        requests = _aggregate(pod, effective)
    resources = pod.spec.resources
    if pod_level and resources is not None and resources.requests:
        named = _parsed(resources.requests)
        if use_status and pod.status.resources is not None:
            actual, allocated = pod.status.resources.requests, pod.status.allocated_resources
            named = _after_resize(pod, named, _parsed(actual), _parsed(allocated))
        for name in resources.requests:
            # Replaced, not added. Where a resize is infeasible, what spec alone names counts as 0, as upstream.
            if is_pod_level_resource_name(name):
                requests[name] = named.get(name, 0)
    if pod.spec.overhead:
        _add(requests, _parsed(pod.spec.overhead))
    return requests


def _aggregate(pod: Pod, amount_of: Callable[[Container], Nanos]) -> Nanos:
    """Containers run side by side; init containers one after the other, each beside the sidecars started before it."""
    total: Nanos = {}
    for container in pod.spec.containers:
        _add(total, amount_of(container))
    if pod.spec.init_containers:
        sidecars: Nanos = {}
        peak: Nanos = {}
        for container in pod.spec.init_containers:
            own = amount_of(container)
            if container.restart_policy == "Always":
                _add(total, own)
                _add(sidecars, own)
                _raise_to(peak, sidecars)
            else:
                together = dict(own)
                _add(together, sidecars)
                _raise_to(peak, together)
        _raise_to(total, peak)
    return total


def _effective_requests(pod: Pod) -> Callable[[Container], Nanos]:
    """Requests while a container is resized in place: the most of what was asked, allocated and actuated."""
    status = pod.status
    reported = {
        s.name: s for s in (*status.container_statuses, *status.init_container_statuses) if s.resources is not None
    }
    if not reported:
        return _spec_requests
    # Only sidecars among the init containers live long enough to be resized.
    ordinary_inits = {c.name for c in pod.spec.init_containers if c.restart_policy != "Always"}

    def effective(container: Container) -> Nanos:
        wanted = _spec_requests(container)
        found = reported.get(container.name)
        if found is None or found.resources is None or container.name in ordinary_inits:
            return wanted
        return _after_resize(pod, wanted, _parsed(found.resources.requests), _parsed(found.allocated_resources))

    return effective


def _after_resize(pod: Pod, wanted: Nanos, actuated: Nanos, allocated: Nanos) -> Nanos:
    result = {} if _resize_is_infeasible(pod) else dict(wanted)
    _raise_to(result, actuated)
    _raise_to(result, allocated)
    return result


def _resize_is_infeasible(pod: Pod) -> bool:
    for condition in pod.status.conditions:
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _spec_requests(container: Container) -> Nanos:
    return _parsed(container.resources.requests)


def _parsed(resources: ResourceList | None) -> Nanos:
    if not resources:
        return _NONE
    return {name: parse_quantity(raw).nanos for name, raw in resources.items()}


def _add(total: Nanos, more: Nanos) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def _raise_to(total: Nanos, other: Nanos) -> None:
    for name, amount in other.items():
        if name not in total or amount > total[name]:
            total[name] = amount


def _as_nanos(amounts: Mapping[str, int]) -> Nanos:
    return {name: amount * (NANOS_PER_MILLI if name == CPU else NANOS) for name, amount in amounts.items()}


_DEFAULT_NANOS: Final = _as_nanos(NON_MISSING_DEFAULTS)


def _as_resources(nanos: Nanos) -> Resources:
    kept: Resources = {}
    for name, amount in nanos.items():
        if name == CPU:
            kept[name] = max(0, rounded(amount, NANOS_PER_MILLI))
        elif name in (MEMORY, EPHEMERAL_STORAGE) or is_scalar_resource_name(name):
            kept[name] = max(0, rounded(amount, NANOS))
    return kept


def exact_requests(pod: Pod) -> Nanos:
    """What ``pod_requests`` rounds, in billionths of a unit."""
    return _pod_nanos(pod, False, True, None)


def exact_limits(pod: Pod) -> Nanos:
    """What the pod may use at most, in billionths of a unit (upstream PodLimits)."""
    limits = aggregate_container_nanos(pod, limits=True)
    resources = pod.spec.resources
    if resources is not None and resources.limits:
        named = _parsed(resources.limits)
        limits |= {name: amount for name, amount in named.items() if is_pod_level_resource_name(name)}
    for name, amount in _parsed(pod.spec.overhead).items():
        # What is not limited stays so.
        if limits.get(name):
            limits[name] += amount
    return limits

"""What an API server with the catalogue's definitions refuses, as far as decisions rest on it: amounts that are none.

A negative amount passes there, so it does here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from framework.objects.catalogue import AppGroup, ElasticQuota, NetworkTopology, NodeResourceTopology
from framework.objects.field_errors import FieldError, invalid
from framework.objects.metadata import KubernetesObject, RawQuantity
from framework.objects.quantity import QuantityError, parse_quantity


def catalogue_errors(obj: KubernetesObject) -> Iterable[FieldError]:
    """None of other kinds."""
    match obj:
        case ElasticQuota(spec=spec, status=status):
            yield from _listed(spec.min, "spec.min")
            yield from _listed(spec.max, "spec.max")
            yield from _listed(status.used, "status.used")
        case NodeResourceTopology(zones=zones):
            for i, zone in enumerate(zones):
                for j, resource in enumerate(zone.resources):
                    at = f"zones[{i}].resources[{j}]"
                    yield from _amount(resource.capacity, f"{at}.capacity")
                    yield from _amount(resource.allocatable, f"{at}.allocatable")
                    yield from _amount(resource.available, f"{at}.available")
        case AppGroup(spec=group):
            for i, member in enumerate(group.workloads):
                for j, dependency in enumerate(member.dependencies):
                    yield from _amount(dependency.min_bandwidth, f"spec.workloads[{i}].dependencies[{j}].minBandwidth")
        case NetworkTopology():
            yield from _network_errors(obj)


def _network_errors(network: NetworkTopology) -> Iterable[FieldError]:
    for i, weights in enumerate(network.spec.weights):
        for j, info in enumerate(weights.topology_list):
            for k, origin in enumerate(info.origin_list):
                for n, cost in enumerate(origin.cost_list):
                    at = f"spec.weights[{i}].topologyList[{j}].originList[{k}].costList[{n}]"
                    yield from _amount(cost.bandwidth_capacity, f"{at}.bandwidthCapacity")
                    yield from _amount(cost.bandwidth_allocated, f"{at}.bandwidthAllocated")


def _listed(amounts: Mapping[str, RawQuantity] | None, path: str) -> Iterable[FieldError]:
    for name, raw in (amounts or {}).items():
        yield from _amount(raw, f"{path}[{name}]")


def _amount(raw: RawQuantity, path: str) -> Iterable[FieldError]:
    try:
        parse_quantity(raw)
    except QuantityError as error:
        yield invalid(path, raw, str(error))

"""What it costs to talk from one place to another by a NetworkTopology, as tables; who talks to whom in an AppGroup."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from framework.objects.catalogue import AppGroup, AppGroupWorkload, NetworkTopology, NetworkTopologyInfo
from framework.objects.decode import decode_manifest
from framework.objects.metadata import KubeObject

MOST_PLACES: Final = 40
"""Rows and columns of one table."""
MOST_DEPENDENCIES: Final = 500


class CostRowSerializer(serializers.Serializer[Any]):
    origin = serializers.CharField()
    costs = serializers.ListField(
        child=serializers.IntegerField(allow_null=True), help_text="to each of `destinations`; null: none is named"
    )


class CostTableSerializer(serializers.Serializer[Any]):
    weights = serializers.CharField(help_text="name of the weights, of which a configuration chooses one")
    topology_key = serializers.CharField(help_text="the label of nodes that says in which place they are")
    destinations = serializers.ListField(child=serializers.CharField())
    rows = CostRowSerializer(many=True)
    more = serializers.IntegerField(help_text="places that are left out, where there are very many")


class DependencySerializer(serializers.Serializer[Any]):
    workload = serializers.CharField()
    on = serializers.CharField(help_text="the workload that it talks to")
    max_cost = serializers.IntegerField(help_text="that is near enough")
    min_bandwidth = serializers.CharField(help_text="as the manifest has it; 0: none")


def costs_of(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """None of other kinds."""
    network = _typed(manifest)
    if not isinstance(network, NetworkTopology):
        return []
    return [
        _table(weights.name, info)
        for weights in network.spec.weights
        for info in weights.topology_list
        if info.origin_list
    ]


def _table(weights: str, info: NetworkTopologyInfo) -> dict[str, Any]:
    """Of costs that are named twice the last one counts, as for NetworkOverhead."""
    known: dict[str, dict[str, int]] = {}
    for origin in info.origin_list:
        known.setdefault(origin.origin, {}).update({each.destination: each.network_cost for each in origin.cost_list})
    places = sorted(known.keys() | {name for costs in known.values() for name in costs})
    shown = places[:MOST_PLACES]
    return {
        "weights": weights,
        "topology_key": info.topology_key,
        "destinations": shown,
        "rows": [{"origin": name, "costs": [known.get(name, {}).get(to) for to in shown]} for name in shown],
        "more": len(places) - len(shown),
    }


def dependencies_of(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """In the manifest's order; none of other kinds."""
    group = _typed(manifest)
    if not isinstance(group, AppGroup):
        return []
    found = [
        {
            "workload": called(member.workload),
            "on": called(each.workload),
            "max_cost": each.max_network_cost,
            "min_bandwidth": str(each.min_bandwidth),
        }
        for member in group.spec.workloads
        for each in member.dependencies
    ]
    return found[:MOST_DEPENDENCIES]


def called(workload: AppGroupWorkload) -> str:
    """As pods are labelled."""
    return workload.selector or workload.name


def _typed(manifest: dict[str, Any]) -> KubeObject:
    return decode_manifest(manifest)

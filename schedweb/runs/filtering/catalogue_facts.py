"""What a pod's page shows beside a refusal by scheduler-plugins' plugins: the quotas, and the NUMA zones of nodes."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from schedweb.runs.filtering import elastic_quotas, numa_zones
from schedweb.runs.filtering.elastic_quotas import quotas_body, quotas_of
from schedweb.runs.filtering.filters import FilterView
from schedweb.runs.filtering.numa_zones import share_missing, topologies, zones_body, zones_for
from schedweb.runs.filtering.standing import Standing, read_pod
from schedweb.runs.objects.claims import Manifest, Objects

NODES_SHOWN: Final = 3


class AmountSerializer(serializers.Serializer[Any]):
    amount = serializers.IntegerField(help_text="millicores of cpu, units of all else")
    text = serializers.CharField(help_text="the same as a quantity")


class QuotaRowSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField()
    name = serializers.CharField()
    used = AmountSerializer()
    min = AmountSerializer()
    max = AmountSerializer(allow_null=True, help_text="null: as much as there is")


class QuotaResourceSerializer(serializers.Serializer[Any]):
    """`used` and `min` are those of all namespaces together."""

    name = serializers.CharField()
    asked = AmountSerializer(help_text="by the pod")
    used = AmountSerializer()
    min = AmountSerializer()
    quotas = QuotaRowSerializer(many=True)


class PodQuotasSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField(help_text="of the pod")
    resources = QuotaResourceSerializer(many=True)


class NumaResourceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    free = AmountSerializer()
    allocatable = AmountSerializer()
    asked = AmountSerializer(allow_null=True, help_text="null: not asked of one zone")
    short = AmountSerializer(allow_null=True, help_text="null: there is enough")


class NumaCostSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    value = serializers.IntegerField()


class NumaZoneSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    fits = serializers.BooleanField()
    costs = NumaCostSerializer(many=True, help_text="to the other zones")
    resources = NumaResourceSerializer(many=True)


class NumaNodeSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    policy = serializers.CharField(help_text="of the kubelet's topology manager")
    scope = serializers.CharField()
    container = serializers.CharField(allow_blank=True, help_text="the one that asks; empty: the whole pod")
    zones = NumaZoneSerializer(many=True)


def refusing_quotas(plugins: set[str], pod: Manifest, objects: Objects, standing: Standing) -> dict[str, Any] | None:
    """None of a pod that CapacityScheduling did not refuse, or without ElasticQuotas."""
    if elastic_quotas.PLUGIN not in plugins:
        return None
    quotas = quotas_of(objects, standing.pods)
    return quotas_body(quotas, read_pod(pod)) if quotas else None


def refusing_zones(view: FilterView, manifest: Manifest, objects: Objects) -> list[dict[str, Any]]:
    """Of the nodes that NodeResourceTopologyMatch refused those that lack the least, nearest first."""
    refused = [name for (plugin, *_), names in view.members.items() if plugin == numa_zones.PLUGIN for name in names]
    if not refused:
        return []
    pod, known = read_pod(manifest), topologies(objects)
    ranked = sorted(
        (min((share_missing(pod, known[name], each) for each in zones_for(pod, known[name])), default=0.0), name)
        for name in refused
        if name in known
    )
    return [zones_body(known[name], pod) for _, name in ranked[:NODES_SHOWN]]

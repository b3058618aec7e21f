"""What a pod's page shows beside a refusal by scheduler-plugins' plugins: quotas, NUMA zones, costs of the network."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from framework.plugins.networkaware.args import NetworkOverheadArgs
from schedweb.runs.filtering import elastic_quotas, networks
from schedweb.runs.filtering.elastic_quotas import quotas_body, quotas_of
from schedweb.runs.filtering.filters import FilterView
from schedweb.runs.filtering.networks import network_body
from schedweb.runs.filtering.standing import Standing, read_pod
from schedweb.runs.objects import numa_zones
from schedweb.runs.objects.claims import Manifest, Objects
from schedweb.runs.objects.numa_zones import share_missing, topologies, zones_body, zones_for
from schedweb.runs.objects.serializers import AmountSerializer

NODES_SHOWN: Final = 3


class QuotaRowSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField()
    name = serializers.CharField()
    used = AmountSerializer()
    min = AmountSerializer()
    max = AmountSerializer(allow_null=True, help_text="null: as much as there is")
    depth = serializers.IntegerField(help_text="in a tree of quotas: how many are above it")
    share = AmountSerializer(
        allow_null=True, help_text="in a tree of quotas: what it may use at the moment; null where there is no tree"
    )


class QuotaResourceSerializer(serializers.Serializer[Any]):
    """`used` and `min` are those of all namespaces together; of a tree those of the quotas at its top."""

    name = serializers.CharField()
    used = AmountSerializer()
    min = AmountSerializer()
    quotas = QuotaRowSerializer(many=True)


class RunQuotasSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField(
        allow_blank=True,
        help_text="that the run's configuration enables and that counts so: CapacityScheduling or ElasticQuotaTree; "
        "empty: none, and nobody is held to them",
    )
    resources = QuotaResourceSerializer(many=True)


class AskedQuotaResourceSerializer(QuotaResourceSerializer):
    asked = AmountSerializer(help_text="by the pod")


class PodQuotasSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField(help_text="of the pod")
    resources = AskedQuotaResourceSerializer(many=True)


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


def refusing_network(
    view: FilterView, manifest: Manifest, objects: Objects, standing: Standing, args: NetworkOverheadArgs
) -> dict[str, Any] | None:
    """None of a pod that NetworkOverhead refused nowhere."""
    refused = [name for (plugin, *_), names in view.members.items() if plugin == networks.PLUGIN for name in names]
    return network_body(read_pod(manifest), refused, objects, standing, args) if refused else None

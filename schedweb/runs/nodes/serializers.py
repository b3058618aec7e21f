"""The picture of all nodes, and a node's own page."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.objects.measured_load import NodeLoadSerializer
from schedweb.runs.objects.reservations import HeldPlaceSerializer
from schedweb.runs.objects.serializers import NumaNodeSerializer
from schedweb.runs.records.fields import CardSerializer, integers, strings


class ZoneSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(allow_blank=True)
    nodes = serializers.IntegerField()


class NodesTableSerializer(serializers.Serializer[Any]):
    """Columns over the nodes: entry i of every list is node i. `row` is what live updates name a node by."""

    seq = serializers.IntegerField()
    count = serializers.IntegerField()
    resources = strings()
    zones = ZoneSerializer(many=True)
    row = integers()
    names = strings()
    zone = integers()
    pools = strings()
    pool = integers()
    types = strings()
    type = integers()
    cordoned = serializers.ListField(child=serializers.IntegerField(), help_text="0 or 1 per node")
    tainted = serializers.ListField(child=serializers.IntegerField(), help_text="0 or 1 per node")
    allocatable = serializers.ListField(child=integers())
    requested = serializers.ListField(child=integers(), help_text="bound pods")
    reserved = serializers.ListField(child=integers(), help_text="assumed and waiting pods")
    pods = serializers.ListField(child=integers(), help_text="[bound, waiting, in flight] per node")


class TaintSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    value = serializers.CharField(required=False, allow_blank=True)
    effect = serializers.CharField()


class NodeResourceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    allocatable = serializers.CharField()
    requested = serializers.CharField()
    reserved = serializers.CharField()
    free = serializers.CharField()


class NodeConditionSerializer(serializers.Serializer[Any]):
    type = serializers.CharField()
    status = serializers.CharField()
    reason = serializers.CharField(required=False, allow_blank=True)


class CardWindowSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    offset = serializers.IntegerField()
    limit = serializers.IntegerField()
    results = CardSerializer(many=True)


class NodeDetailSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    row = serializers.IntegerField()
    labels = serializers.DictField(child=serializers.CharField(allow_blank=True))
    taints = TaintSerializer(many=True)
    cordoned = serializers.BooleanField()
    present = serializers.BooleanField(help_text="false once it was deleted")
    zone = serializers.CharField(allow_blank=True)
    type = serializers.CharField(allow_blank=True)
    resources = NodeResourceSerializer(many=True)
    pods = CardWindowSerializer()
    conditions = NodeConditionSerializer(many=True)
    numa = NumaNodeSerializer(allow_null=True, help_text="its NodeResourceTopology; null: it has none")
    load = NodeLoadSerializer(allow_null=True, help_text="null: nothing was measured")
    held = HeldPlaceSerializer(many=True, help_text="by Reservations that are available here")

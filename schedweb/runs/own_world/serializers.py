"""Our world beside the real cluster, as the API has it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.comparing.serializers import ComparedFiguresSerializer
from schedweb.runs.own_world.selectors import KINDS
from schedweb.runs.real_cluster.serializers import (
    REAL_CAUSES,
    NodesBesideSerializer,
    RealPointsSerializer,
    ReasonBesideSerializer,
    RunPodSerializer,
)
from schedweb.runs.records.fields import PodRefSerializer, strings


class OwnWorldCountsSerializer(serializers.Serializer[Any]):
    elsewhere = serializers.IntegerField(help_text="placed in both, on different nodes")
    pending_here = serializers.IntegerField(help_text="placed by the real scheduler, not by ours")
    pending_there = serializers.IntegerField(help_text="placed by ours, not by the real scheduler")
    evicted_here = serializers.IntegerField(help_text="ours preempted it, and it goes on there")
    evicted_there = serializers.IntegerField(help_text="the real scheduler preempted it, and it goes on here")
    neither = serializers.IntegerField(help_text="placed by none")
    gated = serializers.IntegerField(help_text="placed by none, and a gate holds it")
    same = serializers.IntegerField(help_text="on the same node, or gone in both")


class OwnWorldSerializer(serializers.Serializer[Any]):
    since = serializers.DateTimeField(help_text="when the two were alike")
    until = serializers.DateTimeField()
    decided = serializers.IntegerField(help_text="pods about which the real scheduler decided since")
    a = ComparedFiguresSerializer(help_text="the real cluster")
    b = ComparedFiguresSerializer(help_text="our world")
    counts = OwnWorldCountsSerializer(help_text="of the pods that were asked for")
    differ = serializers.IntegerField(help_text="the first five of these together")
    namespaces = strings()
    profiles = strings()
    workloads = strings()


class PlaceThereSerializer(serializers.Serializer[Any]):
    node = serializers.CharField(allow_null=True)
    present = serializers.BooleanField(help_text="it is there still")
    preempted = serializers.BooleanField(help_text="the real scheduler evicted it, or does so")
    message = serializers.CharField(allow_blank=True, help_text="why the real scheduler found no node")
    since = serializers.DateTimeField()


class OwnWorldCauseSerializer(serializers.Serializer[Any]):
    """not_tried: ours has not tried it yet; not_tried_there: nothing is known of an attempt there."""

    why = serializers.ChoiceField(choices=[*REAL_CAUSES, "not_tried", "not_tried_there"])
    plugin = serializers.CharField(allow_blank=True)
    reasons = strings()
    rank = serializers.IntegerField(allow_null=True, help_text="of the real node by our scores")
    margin = serializers.IntegerField(allow_null=True, help_text="points by which it lost")


class OwnWorldPodSerializer(serializers.Serializer[Any]):
    pod = PodRefSerializer()
    kind = serializers.ChoiceField(choices=KINDS)
    workload = serializers.CharField(allow_blank=True)
    profile = serializers.CharField()
    there = PlaceThereSerializer()
    here = RunPodSerializer(allow_null=True)
    evicted_for = serializers.CharField(allow_blank=True, help_text="namespace/name: for whom ours evicted it")
    causes = OwnWorldCauseSerializer(many=True)
    points = RealPointsSerializer(many=True)
    reasons = ReasonBesideSerializer(many=True)
    nodes = NodesBesideSerializer()

"""Pods and nodes: their tables, their own pages, and the selection of a pod over all nodes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.attempts.serializers import PreemptionRowSerializer
from schedweb.runs.filtering.catalogue_facts import PodQuotasSerializer
from schedweb.runs.filtering.networks import PodNetworkSerializer
from schedweb.runs.objects.serializers import ClaimsSerializer, NumaNodeSerializer
from schedweb.runs.records.evictions import EvictionSerializer
from schedweb.runs.records.fields import (
    POD_COLUMNS,
    CardSerializer,
    PodRefSerializer,
    ReasonSerializer,
    integers,
    strings,
)


class SelectionSerializer(serializers.Serializer[Any]):
    """Lists are in the order of the node table; -1 in `verdict` is feasible, -2 not looked at, else a reason."""

    attempt = serializers.IntegerField(allow_null=True)
    verdict = integers()
    reasons = ReasonSerializer(many=True)
    total = serializers.ListField(child=serializers.IntegerField(allow_null=True))
    rank = serializers.ListField(child=serializers.IntegerField(allow_null=True))
    chosen = serializers.IntegerField(allow_null=True, help_text="place of the chosen node in the lists")
    nominated = serializers.CharField(
        allow_null=True, help_text="the node to which the pod was nominated: it took it, so no other was looked at"
    )
    batched_with = serializers.CharField(
        allow_null=True, help_text="the equal pod in whose attempt the node was the next best: no other was looked at"
    )


class PodAttemptSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    attempt = serializers.IntegerField()
    at = serializers.DateTimeField()
    result = serializers.CharField()
    node = serializers.CharField(allow_null=True)
    duration_ms = serializers.FloatField(allow_null=True)


ANSWERS = ("pending", "bound", "gated", "waiting", "backoff", "active", "in_flight", "completed", "deleted")


class AnswerSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(ANSWERS)
    headline = serializers.CharField()
    detail = serializers.CharField(allow_blank=True)
    message = serializers.CharField(allow_blank=True, help_text="kube-scheduler's, verbatim")


class NextTrySerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    at = serializers.DateTimeField(allow_null=True)


class SpanSerializer(serializers.Serializer[Any]):
    start = serializers.DateTimeField()
    end = serializers.DateTimeField(allow_null=True)


class LaneSerializer(serializers.Serializer[Any]):
    queue = serializers.ChoiceField(POD_COLUMNS)
    spans = SpanSerializer(many=True)


class JourneyEventSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    text = serializers.CharField()
    strong = serializers.BooleanField(required=False)


class JourneySerializer(serializers.Serializer[Any]):
    start = serializers.DateTimeField()
    end = serializers.DateTimeField()
    lanes = LaneSerializer(many=True)
    events = JourneyEventSerializer(many=True)


class OwnerSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    name = serializers.CharField()


class IgnoredEventSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField(help_text="on the run's clock")
    event = serializers.CharField()
    kind = serializers.CharField()
    object = serializers.CharField(help_text="namespace/name, or the name of what has no namespace")
    why = ReasonSerializer(many=True, help_text="per plugin that was asked about it")


class PodDetailSerializer(CardSerializer):
    column = serializers.ChoiceField(POD_COLUMNS)
    profile = serializers.CharField()
    images = strings()
    labels = serializers.DictField(child=serializers.CharField(allow_blank=True))
    owner = OwnerSerializer(allow_null=True)
    attempt_list = PodAttemptSerializer(many=True, help_text="the newest 50, newest first")
    answer = AnswerSerializer()
    next_try = NextTrySerializer(allow_null=True)
    journey = JourneySerializer()
    waits_for = ReasonSerializer(many=True)
    ignored = IgnoredEventSerializer(many=True, help_text="that its plugins were asked about, newest first")
    claims = ClaimsSerializer()
    quotas = PodQuotasSerializer(allow_null=True, help_text="of a pod that CapacityScheduling refused")
    zones = NumaNodeSerializer(many=True, help_text="the nearest nodes that NodeResourceTopologyMatch refused")
    network = PodNetworkSerializer(allow_null=True, help_text="of a pod that NetworkOverhead refused on nodes")
    preempted_by = PreemptionRowSerializer(allow_null=True)
    evicts = EvictionSerializer(allow_null=True, help_text="the eviction that a person is asked about for it")
    previous = PodRefSerializer(allow_null=True)
    next = PodRefSerializer(allow_null=True)

"""Pods and nodes: their tables, their own pages, and the selection of a pod over all nodes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.serializers.claims import ClaimsSerializer, PreemptionRowSerializer
from schedweb.runs.serializers.fields import POD_COLUMNS, CardSerializer, PodRefSerializer


class ZoneSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(allow_blank=True)
    nodes = serializers.IntegerField()


def integers(help_text: str | None = None) -> serializers.ListField:
    return serializers.ListField(child=serializers.IntegerField(), help_text=help_text)


def strings(help_text: str | None = None) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(allow_blank=True), help_text=help_text)


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


class ReasonSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    text = serializers.CharField()


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
    preempted_by = PreemptionRowSerializer(allow_null=True)
    previous = PodRefSerializer(allow_null=True)
    next = PodRefSerializer(allow_null=True)


class YamlSerializer(serializers.Serializer[Any]):
    yaml = serializers.CharField()

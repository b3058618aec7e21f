"""Fields and small shapes that several answers share."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

STATE_KEYS = ("gated", "active", "backoff", "unschedulable", "in_flight", "waiting", "bound")
#: A pod whose containers have ended holds nothing; it is there still, but in no queue.
POD_COLUMNS = (*STATE_KEYS, "completed", "deleted")
SPEED_SCHEMA = {"oneOf": [{"type": "string", "enum": ["one", "max"]}, {"type": "integer", "enum": [10, 100]}]}


@extend_schema_field(SPEED_SCHEMA)
class SpeedField(serializers.Field[Any, Any, Any, Any]):
    """Cycles per second of wall time: "one", 10, 100 or "max"."""

    def to_internal_value(self, data: Any) -> str:
        if data in ("one", "max") or (data in (10, 100, "10", "100") and not isinstance(data, bool)):
            return str(data)
        raise serializers.ValidationError('must be "one", 10, 100 or "max"')

    def to_representation(self, value: Any) -> Any:
        return value


class PodRefSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField()
    name = serializers.CharField()
    workload = serializers.CharField(help_text="the owner's name without the template hash")
    tail = serializers.CharField(allow_blank=True, help_text="what tells this pod from its siblings")


class RejectorSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    count = serializers.IntegerField(help_text="nodes of which this plugin was the first to refuse")
    short = serializers.CharField()


class PermitWaitSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    deadline = serializers.DateTimeField()
    total_seconds = serializers.FloatField()
    asks_person = serializers.BooleanField()
    note = serializers.CharField(required=False)


class GangMissingSerializer(serializers.Serializer[Any]):
    column = serializers.ChoiceField([*STATE_KEYS, "completed"])
    count = serializers.IntegerField()
    names = serializers.ListField(child=serializers.CharField(), help_text="empty when they are many")


class GangSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    have = serializers.IntegerField()
    need = serializers.IntegerField()
    missing = GangMissingSerializer(many=True, required=False, help_text="members without a node, by their column")


class QueueCountsSerializer(serializers.Serializer[Any]):
    gated = serializers.IntegerField()
    active = serializers.IntegerField()
    backoff = serializers.IntegerField()
    unschedulable = serializers.IntegerField()
    in_flight = serializers.IntegerField()
    waiting = serializers.IntegerField()
    bound = serializers.IntegerField()


class CardSerializer(PodRefSerializer):
    kind = serializers.ChoiceField(["pod", "group"])
    key = serializers.CharField()
    count = serializers.IntegerField()
    column = serializers.ChoiceField(POD_COLUMNS, required=False)
    uid = serializers.CharField(required=False)
    priority = serializers.IntegerField()
    priority_class = serializers.CharField(allow_null=True, required=False)
    attempts = serializers.IntegerField()
    since = serializers.DateTimeField(allow_null=True, help_text="run time")
    position = serializers.IntegerField(allow_null=True, required=False, help_text="place in Active")
    until = serializers.DateTimeField(allow_null=True, required=False, help_text="end of the backoff")
    gate = serializers.CharField(allow_null=True, required=False)
    rejectors = RejectorSerializer(many=True, required=False)
    point = serializers.CharField(allow_null=True, required=False)
    plugin = serializers.CharField(allow_null=True, required=False)
    node = serializers.CharField(allow_null=True, required=False)
    score = serializers.IntegerField(allow_null=True, required=False)
    margin = serializers.IntegerField(allow_null=True, required=False)
    ties = serializers.IntegerField(allow_null=True, required=False)
    waiting = PermitWaitSerializer(many=True, required=False)
    gang = GangSerializer(allow_null=True, required=False)
    requests = serializers.DictField(child=serializers.CharField(), required=False)
    group_key = serializers.CharField(allow_null=True, required=False)
    pods = serializers.ListField(child=serializers.CharField(), required=False, help_text="tails of a group's pods")


class ColumnSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    cards = CardSerializer(many=True)
    more = serializers.IntegerField(help_text="pods not shown")
    latest = serializers.DateTimeField(required=False, help_text="when the last of a long Backoff is free")
    next_flush_at = serializers.DateTimeField(allow_null=True, required=False)


class ColumnsSerializer(serializers.Serializer[Any]):
    gated = ColumnSerializer()
    active = ColumnSerializer()
    backoff = ColumnSerializer()
    unschedulable = ColumnSerializer()
    in_flight = ColumnSerializer()
    waiting = ColumnSerializer()
    bound = ColumnSerializer()


class CyclePointSerializer(serializers.Serializer[Any]):
    point = serializers.CharField()
    state = serializers.ChoiceField(["done", "skipped", "current", "next"])


class CycleGroupSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    reasons = serializers.ListField(child=serializers.CharField())
    nodes = serializers.IntegerField()
    named = serializers.ListField(child=serializers.CharField(), help_text="some of them")


class CycleFilteredSerializer(serializers.Serializer[Any]):
    of = serializers.IntegerField()
    left = serializers.IntegerField()
    named = serializers.ListField(child=serializers.CharField(), help_text="some of those left")
    unseen = serializers.IntegerField(help_text="not looked at: enough were found")
    nominated = serializers.CharField(
        allow_null=True, required=False, help_text="the node to which the pod was nominated: no other was looked at"
    )
    groups = CycleGroupSerializer(many=True)


class CycleScorerSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    weight = serializers.IntegerField()


class CycleScoreRowSerializer(serializers.Serializer[Any]):
    """`raw` and `normalized`: in the order of the plugins."""

    node = serializers.CharField()
    raw = serializers.ListField(child=serializers.IntegerField())
    normalized = serializers.ListField(child=serializers.IntegerField())
    total = serializers.IntegerField()


class CycleScoredSerializer(serializers.Serializer[Any]):
    nodes = serializers.IntegerField()
    tied = serializers.IntegerField()
    plugins = CycleScorerSerializer(many=True)
    rows = CycleScoreRowSerializer(many=True, help_text="the best")


class CycleSerializer(serializers.Serializer[Any]):
    pod = PodRefSerializer()
    attempt = serializers.IntegerField()
    points = CyclePointSerializer(many=True)
    note = serializers.CharField(allow_blank=True)
    filtered = CycleFilteredSerializer(allow_null=True, required=False, help_text="from Filter on")
    scored = CycleScoredSerializer(allow_null=True, required=False, help_text="from Score on")


class FeedPartSerializer(serializers.Serializer[Any]):
    t = serializers.ChoiceField(["pod", "node", "workload", "text", "num"])
    v = serializers.CharField()


FEED_KINDS = (
    "bound", "attempt", "waiting", "unschedulable", "queue", "backoff", "decision", "command", "node", "engine",
    "preemption",
)  # fmt: skip


class FeedItemSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(FEED_KINDS)
    state = serializers.ChoiceField(STATE_KEYS, allow_null=True, required=False)
    pods = PodRefSerializer(many=True)
    count = serializers.IntegerField()
    parts = FeedPartSerializer(many=True)
    highlight = serializers.BooleanField(required=False)


def integers(help_text: str | None = None) -> serializers.ListField:
    return serializers.ListField(child=serializers.IntegerField(), help_text=help_text)


def strings(help_text: str | None = None) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(allow_blank=True), help_text=help_text)


class ReasonSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    text = serializers.CharField()


class YamlSerializer(serializers.Serializer[Any]):
    yaml = serializers.CharField()

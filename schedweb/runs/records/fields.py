"""Fields and small shapes that several answers share."""

from __future__ import annotations

from typing import Any, get_args

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from schedweb.api.structs import StructSerializer
from schedweb.engine import shapes
from schedweb.engine.shapes import QUEUES, FeedKind, PodColumn

STATE_KEYS = QUEUES
POD_COLUMNS = get_args(PodColumn)
FEED_KINDS = get_args(FeedKind)
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


class PodRefSerializer(StructSerializer):
    struct = shapes.PodRef


class PermitWaitSerializer(StructSerializer):
    struct = shapes.PermitWait


class GangSerializer(StructSerializer):
    struct = shapes.Gang


class CardSerializer(StructSerializer):
    struct = shapes.Card


class ColumnsSerializer(StructSerializer):
    struct = shapes.Columns


class QueueCountsSerializer(StructSerializer):
    struct = shapes.QueueCounts


class CycleSerializer(StructSerializer):
    struct = shapes.Cycle


class FeedItemSerializer(StructSerializer):
    struct = shapes.FeedItem


def integers(help_text: str | None = None) -> serializers.ListField:
    return serializers.ListField(child=serializers.IntegerField(), help_text=help_text)


def strings(help_text: str | None = None) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(allow_blank=True), help_text=help_text)


class ReasonSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    text = serializers.CharField()


class YamlSerializer(serializers.Serializer[Any]):
    yaml = serializers.CharField()

"""The history of a run: two attempts beside each other, where the time went."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.serializers.attempt import AttemptRowSerializer
from schedweb.runs.serializers.pod import integers, strings


class NodeVerdictSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(["fits", "rejected", "not checked", "not there"])
    plugin = serializers.CharField(allow_blank=True)
    reasons = strings()


class VerdictChangeSerializer(serializers.Serializer[Any]):
    before = NodeVerdictSerializer()
    after = NodeVerdictSerializer()
    count = serializers.IntegerField()
    nodes = strings("the first 20 by name")


class ChangedPluginSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    changed = serializers.IntegerField(help_text="nodes scored in both to which it gives other points")


class PointsChangeSerializer(serializers.Serializer[Any]):
    before = serializers.IntegerField(allow_null=True)
    after = serializers.IntegerField(allow_null=True)


class ScoreChangeSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    before = serializers.IntegerField(help_text="total")
    after = serializers.IntegerField(help_text="total")
    cells = PointsChangeSerializer(many=True, help_text="normalized × weight, in the order of `plugins`")


class AttemptDifferenceSerializer(serializers.Serializer[Any]):
    """A window of `rows` without `group`, of `nodes` with it."""

    before = AttemptRowSerializer()
    after = AttemptRowSerializer()
    feasible = integers("nodes that fitted, before and after")
    nodes_changed = serializers.IntegerField()
    groups = VerdictChangeSerializer(many=True, help_text="the largest first")
    nodes = strings()
    scored_in_both = serializers.BooleanField()
    plugins = ChangedPluginSerializer(many=True)
    count = serializers.IntegerField()
    offset = serializers.IntegerField()
    limit = serializers.IntegerField()
    rows = ScoreChangeSerializer(many=True, help_text="nodes scored in both, the largest change first")


class TimeSummarySerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField(help_text="cycles")
    mean_us = serializers.FloatField()
    p50_us = serializers.FloatField()
    p99_us = serializers.FloatField()
    share = serializers.FloatField(help_text="of the time of all timed cycles, 0 to 1")


class PluginSummarySerializer(TimeSummarySerializer):
    plugin = serializers.CharField()


class PointSummarySerializer(TimeSummarySerializer):
    point = serializers.CharField()
    plugins = PluginSummarySerializer(many=True)


class RunTimingSerializer(serializers.Serializer[Any]):
    timed = serializers.IntegerField(help_text="cycles in which plugins were timed, the newest 2,000 at most")
    attempts = serializers.IntegerField()
    cycle = TimeSummarySerializer(allow_null=True)
    points = PointSummarySerializer(many=True)

"""Attempts: what every plugin said, the filter's groups of nodes, the score table."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.serializers.claims import DeviceSerializer
from schedweb.runs.serializers.fields import PodRefSerializer
from schedweb.runs.serializers.pod import integers, strings


class PluginVerdictSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    code = serializers.CharField()
    reasons = strings()
    note = serializers.CharField(required=False)


class PointSerializer(serializers.Serializer[Any]):
    point = serializers.CharField()
    state = serializers.ChoiceField(["ok", "rejects", "skipped", "not_reached", "waits", "error"])
    note = serializers.CharField(allow_blank=True)
    plugins = PluginVerdictSerializer(many=True)


class VictimSerializer(PodRefSerializer):
    node = serializers.CharField()


class VolumeDecisionSerializer(serializers.Serializer[Any]):
    namespace = serializers.CharField()
    claim = serializers.CharField()
    volume = serializers.CharField(help_text="spec.volumes[].name")
    action = serializers.ChoiceField(["bound", "match", "provision"])
    persistent_volume = serializers.CharField(allow_blank=True)
    storage_class = serializers.CharField(allow_blank=True)


class DeviceDecisionSerializer(DeviceSerializer):
    namespace = serializers.CharField()
    claim = serializers.CharField()


class DecisionsSerializer(serializers.Serializer[Any]):
    """What Reserve decided for the pod's claims."""

    volumes = VolumeDecisionSerializer(many=True)
    devices = DeviceDecisionSerializer(many=True)


class SamplingSerializer(serializers.Serializer[Any]):
    checked = serializers.IntegerField()
    feasible = serializers.IntegerField()
    of = serializers.IntegerField()
    sampled = serializers.BooleanField(help_text="percentageOfNodesToScore left nodes out; no PreFilter plugin did")
    nominated = serializers.CharField(
        allow_null=True, help_text="the node to which the pod was nominated: tried first, it took it, so no other was"
    )


class PluginTimeSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    us = serializers.IntegerField()


class PointTimeSerializer(serializers.Serializer[Any]):
    point = serializers.CharField()
    us = serializers.IntegerField(allow_null=True, help_text="from the end of the point before")
    plugins = PluginTimeSerializer(many=True)


class AttemptTimingSerializer(serializers.Serializer[Any]):
    total_us = serializers.IntegerField(allow_null=True)
    points = PointTimeSerializer(many=True)


class AttemptSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    pod = PodRefSerializer()
    attempt = serializers.IntegerField()
    at = serializers.DateTimeField()
    cycle = serializers.IntegerField()
    profile = serializers.CharField()
    result = serializers.CharField()
    node = serializers.CharField(allow_null=True)
    points = PointSerializer(many=True)
    message = serializers.CharField(allow_blank=True)
    nominated = serializers.CharField(allow_null=True)
    victims = VictimSerializer(many=True)
    decisions = DecisionsSerializer()
    sampling = SamplingSerializer()
    timing = AttemptTimingSerializer(allow_null=True, help_text="null: plugins were not timed in this cycle")


class AttemptRowSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    pod = PodRefSerializer()
    attempt = serializers.IntegerField()
    at = serializers.DateTimeField()
    result = serializers.CharField()
    node = serializers.CharField(allow_null=True)
    message = serializers.CharField(allow_blank=True)
    score = serializers.IntegerField(allow_null=True)
    duration_us = serializers.IntegerField(allow_null=True, help_text="wall clock; null: made again from the journal")


class NodeAmountSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    allocatable = serializers.IntegerField()
    requested = serializers.IntegerField()
    free = serializers.IntegerField()
    wanted = serializers.IntegerField()
    short = serializers.IntegerField(help_text="how much is missing; 0 when it would fit")


class FilterNodeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    zone = serializers.CharField(allow_blank=True)
    type = serializers.CharField(allow_blank=True)
    resources = NodeAmountSerializer(many=True, help_text="with what was kept for nominated pods")
    note = serializers.CharField(required=False)
    remark = serializers.CharField(required=False, help_text="what of the node was refused: its taints, its labels")


class FilterGroupSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    code = serializers.CharField()
    reasons = strings()
    text = serializers.CharField()
    count = serializers.IntegerField()
    can_become_free = serializers.BooleanField(help_text="Unschedulable, not UnschedulableAndUnresolvable")
    nearest_note = serializers.CharField(allow_blank=True)
    nodes = FilterNodeSerializer(many=True, help_text="the 20 nearest to fitting")


class FilterRowSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    plugin = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    reasons = strings()


class FilterSerializer(serializers.Serializer[Any]):
    """`groups` without `group` and `table`; a window of `nodes` with `group`; a window of `rows` with `table=1`."""

    feasible = serializers.IntegerField()
    not_checked = serializers.IntegerField()
    groups = FilterGroupSerializer(many=True)
    count = serializers.IntegerField()
    offset = serializers.IntegerField()
    limit = serializers.IntegerField()
    nodes = FilterNodeSerializer(many=True)
    rows = FilterRowSerializer(many=True)


class ScorePluginSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    weight = serializers.IntegerField()
    equal_for_all = serializers.BooleanField()


class ScoreCellSerializer(serializers.Serializer[Any]):
    raw = serializers.IntegerField()
    normalized = serializers.IntegerField()
    points = serializers.IntegerField(help_text="normalized × weight")


class ScoreRowSerializer(serializers.Serializer[Any]):
    rank = serializers.IntegerField()
    tied = serializers.BooleanField()
    node = serializers.CharField()
    chosen = serializers.BooleanField()
    total = serializers.IntegerField()
    to_best = serializers.IntegerField()
    cells = ScoreCellSerializer(many=True)


class HistogramBarSerializer(serializers.Serializer[Any]):
    low = serializers.IntegerField()
    high = serializers.IntegerField()
    count = serializers.IntegerField()


class TieSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    chosen_by = serializers.CharField()
    seeded = serializers.BooleanField(help_text="another seed could have chosen another one")


class RunnerUpSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    total = serializers.IntegerField()


class ScoresSerializer(serializers.Serializer[Any]):
    scored = serializers.BooleanField(help_text="false with fewer than two feasible nodes")
    plugins = ScorePluginSerializer(many=True)
    feasible = serializers.IntegerField()
    best = serializers.IntegerField(allow_null=True)
    chosen = ScoreRowSerializer(allow_null=True)
    histogram = HistogramBarSerializer(many=True)
    tie = TieSerializer()
    decided_by = serializers.CharField(allow_null=True)
    runner_up = RunnerUpSerializer(allow_null=True)
    count = serializers.IntegerField()
    offset = serializers.IntegerField()
    limit = serializers.IntegerField()
    rows = ScoreRowSerializer(many=True)


class MatrixPluginSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    weight = serializers.IntegerField()
    normalized = serializers.CharField(
        allow_null=True, help_text="a byte (0 to 100) per node, base64; null: it skipped this pod"
    )


class ScoreMatrixSerializer(serializers.Serializer[Any]):
    """Places are places among `nodes`, which are the feasible ones in the order in which they were found."""

    profile = serializers.CharField()
    ties = serializers.ChoiceField(["seeded", "upstream", "smallest"])
    seed = serializers.IntegerField()
    plugins = MatrixPluginSerializer(many=True, help_text="every Score plugin of the profile")
    filters = strings()
    nodes = strings()
    chosen = serializers.IntegerField(allow_null=True)
    tied = serializers.ListField(child=serializers.IntegerField(), help_text="with the best total, ascending")


__all__ = ["AttemptRowSerializer", "AttemptSerializer", "FilterSerializer", "ScoresSerializer", "integers"]

"""Attempts: what every plugin said, the filter's groups of nodes, the score table."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.objects.serializers import DeviceSerializer
from schedweb.runs.records.fields import PodRefSerializer, integers, strings


class PluginVerdictSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    code = serializers.CharField()
    reasons = strings()
    note = serializers.CharField(required=False)


class AttemptLogSerializer(serializers.Serializer[Any]):
    lines = strings()
    count = serializers.IntegerField(help_text="of all lines; `lines` are the first of them")


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
    batched_with = serializers.CharField(
        allow_null=True,
        help_text="the equal pod in whose attempt the node was the next best: tried first, it took the pod",
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
    asked_extenders = serializers.BooleanField(help_text="whether there is something to read at extenders/")
    sampling = SamplingSerializer()
    timing = AttemptTimingSerializer(allow_null=True, help_text="null: plugins were not timed in this cycle")


class ExtenderBodySerializer(serializers.Serializer[Any]):
    text = serializers.CharField(allow_blank=True, help_text="the beginning, at most 4096 bytes")
    bytes = serializers.IntegerField(help_text="of the whole")


class ExtenderCallSerializer(serializers.Serializer[Any]):
    extender = serializers.CharField(help_text="its urlPrefix without credentials")
    verb = serializers.CharField(help_text="filter, prioritize, preempt or bind")
    sent = serializers.IntegerField(help_text="nodes that it was asked about")
    kept = serializers.IntegerField(allow_null=True, help_text="nodes that it left or gave points; null: none of that")
    status = serializers.IntegerField(allow_null=True, help_text="of HTTP; null: there was no reply")
    error = serializers.CharField(allow_blank=True)
    ignored = serializers.BooleanField(help_text="the attempt went on in spite of the error")
    us = serializers.IntegerField(allow_null=True, help_text="wall clock, of the call")
    request = ExtenderBodySerializer(allow_null=True, help_text="null: an older version did not keep it")
    reply = ExtenderBodySerializer(allow_null=True)


class AttemptExtendersSerializer(serializers.Serializer[Any]):
    calls = ExtenderCallSerializer(many=True, help_text="in the order in which they were asked")
    waited_us = serializers.IntegerField(help_text="wall clock; those that are asked at once are waited for once")


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


class ScorePluginSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    weight = serializers.IntegerField()
    equal_for_all = serializers.BooleanField()
    about = serializers.CharField(help_text="what its points stand for; empty for extenders and installed plugins")


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


class PriorityRefSerializer(PodRefSerializer):
    priority = serializers.IntegerField(allow_null=True)


class PreemptionRowSerializer(serializers.Serializer[Any]):
    """One victim."""

    number = serializers.IntegerField(help_text="the attempt that evicted it")
    attempt = serializers.IntegerField(help_text="the same as the preemptor counts its own")
    at = serializers.DateTimeField()
    node = serializers.CharField()
    pod = PriorityRefSerializer()
    victim = PriorityRefSerializer()


class VictimRefSerializer(PriorityRefSerializer):
    node = serializers.CharField(allow_blank=True, help_text="its own, if that is another than the candidate")


class CandidateSerializer(serializers.Serializer[Any]):
    node = serializers.CharField()
    chosen = serializers.BooleanField()
    equal = serializers.BooleanField(help_text="as good as the chosen one")
    victims = VictimRefSerializer(many=True, help_text="most important first, from one node")
    pdb_violations = serializers.IntegerField()
    lost_by = serializers.CharField(allow_blank=True)
    lost_text = serializers.CharField(allow_blank=True, help_text="the criterion with both numbers")


class NoCandidatesSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(["refused", "no_victims", "no_set", "not_helpful", "not_tried", "gave_up"])
    reason = serializers.CharField()
    count = serializers.IntegerField()
    nodes = serializers.ListField(child=serializers.CharField(), help_text="the first 20")


class SparedSerializer(PriorityRefSerializer):
    node = serializers.CharField()
    text = serializers.CharField(help_text="by what, and for how long")


class PreemptionSerializer(serializers.Serializer[Any]):
    """A window of `candidates`, the chosen one first; `groups`: the other nodes by reason."""

    plugin = serializers.CharField(allow_blank=True)
    message = serializers.CharField(allow_blank=True)
    nominated = serializers.CharField(allow_null=True)
    headline = serializers.CharField()
    groups = NoCandidatesSerializer(many=True)
    spared = SparedSerializer(
        many=True, help_text="the first 20 pods of lower priority that PreemptionToleration left alone"
    )
    spared_count = serializers.IntegerField()
    count = serializers.IntegerField()
    offset = serializers.IntegerField()
    limit = serializers.IntegerField()
    candidates = CandidateSerializer(many=True)


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

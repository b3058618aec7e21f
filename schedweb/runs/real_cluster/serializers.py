"""A run beside the real cluster."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.real_cluster.selectors import KINDS
from schedweb.runs.records.fields import POD_COLUMNS, PodRefSerializer, strings

REAL_OUTCOMES = ["placed", "pending", "preempted"]
#: no_node: the run has no such node; filter: a plugin rejected it there; score: others scored higher; tie: as good;
#: later: what came after failed; refused: the real scheduler refused it everywhere; reasons, rest: the messages differ
#: there.
REAL_CAUSES = [
    "no_node", "filter", "score", "tie", "unscored", "nominated", "batched", "not_checked", "absent", "later",
    "not_stored", "refused", "reasons", "rest",
]  # fmt: skip


class RealCountsSerializer(serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {kind: serializers.IntegerField() for kind in KINDS}


class MissingPodsSerializer(serializers.Serializer[Any]):
    pods = serializers.IntegerField(help_text="with events, but not in this run")
    later = serializers.IntegerField(help_text="of these, first heard of after the snapshot was taken")
    recreated = serializers.IntegerField(help_text="of these, another pod of that name is in this run")


class RealSummarySerializer(serializers.Serializer[Any]):
    counts = RealCountsSerializer()
    decided = serializers.IntegerField(help_text="pods that both schedulers said something of")
    alike = serializers.IntegerField(help_text="of these, with the same outcome")
    events = serializers.IntegerField()
    first = serializers.DateTimeField(allow_null=True, help_text="null: nothing is known of the real cluster")
    last = serializers.DateTimeField(allow_null=True)
    taken_at = serializers.DateTimeField(help_text="where the run's clock began")
    settled = serializers.BooleanField()
    without_events = serializers.IntegerField(help_text="pods of this run that no event is about")
    missing = MissingPodsSerializer()


class RealPodSerializer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=REAL_OUTCOMES)
    node = serializers.CharField(allow_null=True)
    message = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()
    failures = serializers.IntegerField(help_text="how often it said FailedScheduling")


class RunPodSerializer(serializers.Serializer[Any]):
    column = serializers.ChoiceField(POD_COLUMNS)
    node = serializers.CharField(allow_null=True)
    attempts = serializers.IntegerField()
    attempt = serializers.IntegerField(allow_null=True, help_text="number of the last one in the run")
    message = serializers.CharField(allow_blank=True)


class RealCauseSerializer(serializers.Serializer[Any]):
    why = serializers.ChoiceField(choices=REAL_CAUSES)
    plugin = serializers.CharField(allow_blank=True)
    reasons = strings()
    rank = serializers.IntegerField(allow_null=True, help_text="of the real node by this run's scores")
    margin = serializers.IntegerField(allow_null=True, help_text="points by which it lost")


class RealPointsSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    own = serializers.IntegerField(help_text="weighted points of this run's node")
    real = serializers.IntegerField(help_text="of the real scheduler's node")


class ReasonBesideSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField()
    real = serializers.IntegerField()
    run = serializers.IntegerField()


class NodesBesideSerializer(serializers.Serializer[Any]):
    real = serializers.IntegerField(allow_null=True)
    run = serializers.IntegerField(allow_null=True)


class RealRowSerializer(serializers.Serializer[Any]):
    pod = PodRefSerializer()
    kind = serializers.ChoiceField(choices=KINDS)
    real = RealPodSerializer()
    run = RunPodSerializer()
    causes = RealCauseSerializer(many=True)
    points = RealPointsSerializer(many=True)
    reasons = ReasonBesideSerializer(many=True)
    nodes = NodesBesideSerializer()

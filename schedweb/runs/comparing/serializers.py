"""Two runs side by side."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.playing.serializers import RunSerializer
from schedweb.runs.records.fields import POD_COLUMNS, PodRefSerializer, strings


class ComparedResourceSerializer(serializers.Serializer[Any]):
    """Amounts are the scheduler's integers: cpu in thousandths, memory in bytes. Shares are of allocatable."""

    name = serializers.CharField()
    nodes = serializers.IntegerField(help_text="that have any of it")
    allocatable = serializers.IntegerField()
    used = serializers.IntegerField(help_text="requests of bound pods and of reservations")
    share = serializers.FloatField(allow_null=True, help_text="of the whole cluster")
    mean = serializers.FloatField(allow_null=True, help_text="of the nodes' shares")
    deviation = serializers.FloatField(allow_null=True)
    highest = serializers.FloatField(allow_null=True)
    free = serializers.IntegerField(help_text="on nodes that are not cordoned")
    largest = serializers.IntegerField(help_text="the largest request that still fits on one node")
    largest_node = serializers.CharField(allow_blank=True)
    zones_apart = serializers.FloatField(allow_null=True, help_text="the fullest zone's share less the emptiest's")


class IslandSerializer(serializers.Serializer[Any]):
    free = serializers.IntegerField(help_text="GPUs free on each of these nodes")
    nodes = serializers.IntegerField()


class GpuFitSerializer(serializers.Serializer[Any]):
    gpus = serializers.IntegerField(help_text="asked for by one pod")
    pods = serializers.IntegerField(help_text="so many of them still fit, one size at a time")


class ComparedGpusSerializer(serializers.Serializer[Any]):
    resource = serializers.CharField()
    nodes = IslandSerializer(many=True)
    fits = GpuFitSerializer(many=True)


class ShareSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    share = serializers.FloatField()


class ComparedZoneSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(allow_blank=True)
    nodes = serializers.IntegerField()
    shares = ShareSerializer(many=True)


class ResultCountSerializer(serializers.Serializer[Any]):
    result = serializers.CharField()
    count = serializers.IntegerField()


class ComparedAttemptsSerializer(serializers.Serializer[Any]):
    """Of a real cluster nobody counts attempts: all but `victims` are null there."""

    total = serializers.IntegerField(allow_null=True)
    results = ResultCountSerializer(many=True)
    pods = serializers.IntegerField(allow_null=True, help_text="tried at least once")
    mean = serializers.FloatField(allow_null=True, help_text="attempts per pod that was tried")
    most = serializers.IntegerField(allow_null=True)
    victims = serializers.IntegerField(help_text="pods that were preempted")


class WaitingTimesSerializer(serializers.Serializer[Any]):
    """Seconds of run time from a pod's coming to its being bound, of pods that the run has bound."""

    count = serializers.IntegerField()
    p50 = serializers.FloatField(allow_null=True)
    p95 = serializers.FloatField(allow_null=True)
    longest = serializers.FloatField(allow_null=True)


class ComparedFiguresSerializer(serializers.Serializer[Any]):
    pods = serializers.IntegerField()
    placed = serializers.IntegerField()
    unscheduled = serializers.IntegerField(help_text="without a node, gated ones left out")
    gated = serializers.IntegerField(help_text="held by a scheduling gate, so nobody tries them")
    resources = ComparedResourceSerializer(many=True)
    gpus = ComparedGpusSerializer(many=True)
    zones = ComparedZoneSerializer(many=True)
    nodes = serializers.IntegerField()
    nodes_in_use = serializers.IntegerField(help_text="with a pod that is no DaemonSet's")
    attempts = ComparedAttemptsSerializer()
    waiting = WaitingTimesSerializer()


class ComparedSideSerializer(ComparedFiguresSerializer):
    run = RunSerializer()
    settled = serializers.BooleanField(help_text="false while more may happen")


class ComparisonCountsSerializer(serializers.Serializer[Any]):
    elsewhere = serializers.IntegerField(help_text="placed by both, on different nodes")
    only_a = serializers.IntegerField(help_text="placed by a, not by b")
    only_b = serializers.IntegerField()
    neither = serializers.IntegerField(help_text="placed by none, gated by none")
    gated = serializers.IntegerField(help_text="placed by none, and a gate holds it in at least one")
    missing_a = serializers.IntegerField(help_text="a has no such pod, or no longer")
    missing_b = serializers.IntegerField()
    same = serializers.IntegerField()


class RunComparisonSerializer(serializers.Serializer[Any]):
    same_cluster = serializers.BooleanField()
    a = ComparedSideSerializer()
    b = ComparedSideSerializer()
    counts = ComparisonCountsSerializer()


class ComparedPlaceSerializer(serializers.Serializer[Any]):
    column = serializers.ChoiceField(POD_COLUMNS)
    node = serializers.CharField(allow_null=True)
    attempts = serializers.IntegerField()
    attempt = serializers.IntegerField(allow_null=True, help_text="number of its last attempt in this run")


class CauseSerializer(serializers.Serializer[Any]):
    """`side`: in which run it was so. not_checked: enough nodes had been found before; nominated: it took the node
    where it had preempted; batched: it took the next best node of an equal pod's attempt; absent: no such node then;
    gated: a gate holds it; preempted: for the pod that `plugin` names, namespace/name."""

    why = serializers.ChoiceField(
        [
            "score",
            "tie",
            "filter",
            "nominated",
            "batched",
            "not_checked",
            "absent",
            "preempted",
            "gated",
            "later",
            "not_tried",
            "not_stored",
        ]
    )
    side = serializers.ChoiceField(["a", "b"], allow_blank=True)
    plugin = serializers.CharField(allow_blank=True)
    reasons = strings()


class SwingSerializer(serializers.Serializer[Any]):
    """Weighted points of the node chosen in that run (`own`) and of the other run's (`other`)."""

    plugin = serializers.CharField()
    a_own = serializers.IntegerField(allow_null=True)
    a_other = serializers.IntegerField(allow_null=True)
    b_own = serializers.IntegerField(allow_null=True)
    b_other = serializers.IntegerField(allow_null=True)
    swing = serializers.IntegerField(help_text="how far it moved the choice from a's node to b's")


class PodDifferenceSerializer(serializers.Serializer[Any]):
    pod = PodRefSerializer()
    kind = serializers.ChoiceField(
        ["elsewhere", "only_a", "only_b", "neither", "gated", "missing_a", "missing_b", "same"]
    )
    a = ComparedPlaceSerializer(allow_null=True)
    b = ComparedPlaceSerializer(allow_null=True)
    causes = CauseSerializer(many=True)
    points = SwingSerializer(many=True)

"""The shadow of a followed run as the API has it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.engine.judged import NOT_JUDGED

ROW_KINDS = (
    "same",
    "tie",
    "other_node",
    "stays_pending",
    "preempts",
    "pending",
    "same_preemption",
    "placed_here",
    NOT_JUDGED,
)


class ShadowHourSerializer(serializers.Serializer[Any]):
    decisions = serializers.IntegerField()
    agreed = serializers.IntegerField()


class ShadowBucketSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField(help_text="when it begins")
    same = serializers.IntegerField()
    tie = serializers.IntegerField()
    different = serializers.IntegerField()


class ShadowPluginSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField(allow_blank=True, help_text="empty: no plugin made it")
    count = serializers.IntegerField()


class ShadowSummarySerializer(serializers.Serializer[Any]):
    decisions = serializers.IntegerField(help_text="bindings of the real scheduler that were judged")
    same = serializers.IntegerField(help_text="its node is our only best one")
    tie = serializers.IntegerField(help_text="its node is one of several best ones, which is agreement")
    different = serializers.IntegerField(help_text="bindings that ours would not have made")
    other_node = serializers.IntegerField()
    stays_pending = serializers.IntegerField(help_text="bound there; ours finds no node")
    preempts = serializers.IntegerField(help_text="bound there; ours would evict others for it")
    left_pending = serializers.IntegerField(
        help_text="decisions without a node about which ours decides otherwise; none of `decisions`"
    )
    placed_here_pods = serializers.IntegerField(help_text="pods without a node there for which ours has one")
    not_judged = serializers.IntegerField(help_text="decisions on a state that is not known, or without a profile")
    kept_since = serializers.DateTimeField(allow_null=True)
    left_out = serializers.IntegerField(help_text="older decisions that made room for these")
    alert_below = serializers.IntegerField(allow_null=True, help_text="percent; null: no alert")
    hour = ShadowHourSerializer(help_text="the hour up to the newest binding, unfiltered")
    is_below = serializers.BooleanField(help_text="agreement of that hour is below `alert_below`")
    bucket_seconds = serializers.IntegerField()
    buckets = ShadowBucketSerializer(many=True, help_text="bindings over time; stretches without any are left out")
    plugins = ShadowPluginSerializer(many=True, help_text="that made the differences")
    namespaces = serializers.ListField(child=serializers.CharField())
    profiles = serializers.ListField(child=serializers.CharField())
    workloads = serializers.ListField(child=serializers.CharField())


class ShadowAlertSerializer(serializers.Serializer[Any]):
    alert_below = serializers.IntegerField(min_value=1, max_value=100, allow_null=True)


class ShadowPointsSerializer(serializers.Serializer[Any]):
    plugin = serializers.CharField()
    own = serializers.IntegerField(help_text="of our node, times weight")
    real = serializers.IntegerField(help_text="of the real node")


class ShadowExtenderSerializer(serializers.Serializer[Any]):
    extender = serializers.CharField(help_text="its urlPrefix without credentials")
    verb = serializers.ChoiceField(choices=("filter", "prioritize", "preempt"))
    sent = serializers.IntegerField(help_text="nodes that it was asked about")
    kept = serializers.IntegerField(help_text="nodes that it left, or gave points")
    error = serializers.CharField(allow_blank=True)
    microseconds = serializers.IntegerField()


class ShadowDecisionSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    at = serializers.DateTimeField()
    uid = serializers.CharField()
    namespace = serializers.CharField()
    name = serializers.CharField()
    workload = serializers.CharField(allow_blank=True)
    profile = serializers.CharField()
    kind = serializers.ChoiceField(ROW_KINDS)
    bound = serializers.BooleanField(help_text="it was bound there; else it was found unschedulable")
    real_node = serializers.CharField(allow_blank=True)
    own_node = serializers.CharField(allow_blank=True)
    plugin = serializers.CharField(allow_blank=True, help_text="that made the difference")
    margin = serializers.IntegerField(help_text="points by which our node is ahead")
    tied = serializers.IntegerField(help_text="how many nodes are best")
    rank = serializers.IntegerField(help_text="of the real node among ours; 0: it is none of them")
    reasons = serializers.ListField(child=serializers.CharField(), help_text="why the plugin refuses the real node")
    points = ShadowPointsSerializer(many=True)
    victims = serializers.ListField(child=serializers.CharField())
    message = serializers.CharField(allow_blank=True, help_text="ours, where we find no node")
    real_message = serializers.CharField(allow_blank=True)
    why_not = serializers.CharField(allow_blank=True, help_text="why it was not judged")
    sampled = serializers.IntegerField(
        help_text="after how many feasible nodes this configuration ends a search; 0: it looks at all"
    )
    extenders = ShadowExtenderSerializer(
        many=True, help_text="what they were asked, in order: about the time of the judgement"
    )

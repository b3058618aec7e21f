"""An eviction that a person is asked about, as the inbox and the page of the pod that needs room show it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.records.fields import PodRefSerializer


class EvictionBudgetSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="a PodDisruptionBudget of the pod's namespace")
    allowed = serializers.IntegerField(help_text="disruptions that it allows now")
    is_violated = serializers.BooleanField(help_text="it does not allow this one besides those before it")


class EvictionVictimSerializer(PodRefSerializer):
    uid = serializers.CharField()
    kind = serializers.CharField(allow_blank=True, help_text="of its owner")
    priority = serializers.IntegerField()
    node = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True, help_text="since when it runs")
    requests = serializers.DictField(child=serializers.CharField())
    grace_seconds = serializers.IntegerField(allow_null=True)
    budgets = EvictionBudgetSerializer(many=True)


class EvictionSerializer(PodRefSerializer):
    """The pod that needs room, and who would go for it."""

    number = serializers.IntegerField(help_text="counts the run's; `decide_eviction` names it")
    uid = serializers.CharField()
    priority = serializers.IntegerField()
    profile = serializers.CharField()
    requests = serializers.DictField(child=serializers.CharField())
    node = serializers.CharField()
    plugin = serializers.CharField(help_text="which would evict")
    asked_by = serializers.CharField()
    message = serializers.CharField(allow_blank=True)
    since = serializers.DateTimeField(help_text="run time")
    approved_by = serializers.CharField(allow_null=True, help_text="its pod was not tried since")
    violations = serializers.IntegerField(help_text="victims whose eviction violates a PodDisruptionBudget")
    victims = EvictionVictimSerializer(many=True)

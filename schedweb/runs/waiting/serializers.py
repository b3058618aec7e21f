"""Pods that wait on Permit, and the decisions about them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.models import Decision
from schedweb.runs.records.evictions import EvictionSerializer
from schedweb.runs.records.fields import GangSerializer, PermitWaitSerializer, PodRefSerializer


class WaitingRowSerializer(PodRefSerializer):
    run = serializers.UUIDField()
    run_number = serializers.CharField()
    run_name = serializers.CharField(help_text="the snapshot's name")
    fork_of = serializers.CharField(allow_null=True, help_text="the number of the run that this one is a fork of")
    uid = serializers.CharField()
    node = serializers.CharField()
    score = serializers.IntegerField(allow_null=True)
    margin = serializers.IntegerField(allow_null=True)
    ties = serializers.IntegerField(allow_null=True)
    requests = serializers.DictField(child=serializers.CharField())
    why = serializers.CharField(allow_blank=True)
    since = serializers.DateTimeField()
    waiting_on = PermitWaitSerializer(many=True)
    at_zero = serializers.CharField()
    gang = GangSerializer(allow_null=True)
    asked_again = serializers.CharField(allow_null=True)
    decidable = serializers.BooleanField(help_text="a plugin among them asks a person")
    held = serializers.BooleanField(help_text="the clock stands before the deadline")
    run_state = serializers.CharField()
    binds_in = serializers.CharField(
        allow_blank=True, help_text="the real cluster in which an approval binds the pod; empty in a simulated one"
    )
    dry_run = serializers.BooleanField(help_text="of such a run: it is only tried, and nothing changes there")
    now = serializers.DateTimeField(help_text="the run's clock")


class WaitingGroupSerializer(serializers.Serializer[Any]):
    gang = GangSerializer()
    run = serializers.UUIDField()
    count = serializers.IntegerField()


class WaitingWindowSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    person = serializers.IntegerField(help_text="those that ask a person")
    gang = serializers.IntegerField(help_text="those that wait for their gang")
    offset = serializers.IntegerField()
    limit = serializers.IntegerField()
    groups = WaitingGroupSerializer(many=True)
    rows = WaitingRowSerializer(many=True)


class WaitingCountSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    person = serializers.IntegerField()
    evictions = serializers.IntegerField(help_text="proposals that a person is asked about")


class EvictionRowSerializer(EvictionSerializer):
    run = serializers.UUIDField()
    run_number = serializers.CharField()
    run_name = serializers.CharField(help_text="the snapshot's name")
    fork_of = serializers.CharField(allow_null=True, help_text="the number of the run that this one is a fork of")
    run_state = serializers.CharField()
    now = serializers.DateTimeField(help_text="the run's clock")
    follows = serializers.CharField(allow_null=True, help_text="the real cluster whose pods these are")
    dry_run = serializers.BooleanField(help_text="whether nothing is deleted there: the run only tries its writes")


class DecisionSerializer(PodRefSerializer):
    run = serializers.UUIDField()
    run_number = serializers.CharField()
    number = serializers.IntegerField()
    decision = serializers.ChoiceField(Decision.Kind.values)
    uid = serializers.CharField()
    node = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    by = serializers.CharField()
    at = serializers.DateTimeField(help_text="run time")
    decided_at = serializers.DateTimeField(help_text="wall clock")
    plugin = serializers.CharField(allow_blank=True)
    outcome = serializers.CharField(allow_blank=True)

"""The timeline of a run."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.runs.serializers.fields import QueueCountsSerializer

MARKS = ("preemption", "failure", "decision", "command")


class MarkSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(MARKS)
    position = serializers.IntegerField(help_text="of the first one")
    text = serializers.CharField(help_text="namespace/name of the pod, who decided, or the command")
    count = serializers.IntegerField(help_text="how many there are hereabouts")


class TimelineSerializer(serializers.Serializer[Any]):
    last = serializers.IntegerField(help_text="where the run is now")
    attempts = serializers.IntegerField()
    marks = MarkSerializer(many=True)


class NotedStepSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField(help_text="at or before the one asked for")
    clock = serializers.DateTimeField(help_text="run time there")
    counts = QueueCountsSerializer()


class StepSerializer(serializers.Serializer[Any]):
    step = NotedStepSerializer(allow_null=True, help_text="null where nothing was noted: an older version played it")

"""Shapes of what operators read."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class EventSerializer(serializers.Serializer[Any]):
    """An Event of the run, or a series of them."""

    namespace = serializers.CharField()
    name = serializers.CharField(help_text="of the pod")
    type = serializers.ChoiceField(("Normal", "Warning"))
    reason = serializers.CharField()
    message = serializers.CharField()
    count = serializers.IntegerField(help_text="above 1: a series")
    ago = serializers.CharField(help_text="since it came last, on the run's clock, as kubectl says it")
    first = serializers.DateTimeField(help_text="run time")
    last = serializers.DateTimeField(help_text="run time")


class EventWindowSerializer(serializers.Serializer[Any]):
    count = serializers.IntegerField()
    offset = serializers.IntegerField()
    limit = serializers.IntegerField()
    results = EventSerializer(many=True)
    left_out = serializers.IntegerField(help_text="older attempts whose Events are not told any more")

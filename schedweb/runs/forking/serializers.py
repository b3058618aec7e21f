"""Asking for a fork, and for an exact run."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.engine.questions import MAX_WEIGHT
from schedweb.runs.playing.serializers import RunSerializer
from schedweb.sentences import say


class ForkSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField(
        min_value=0, required=False, allow_null=True, default=None, help_text="else where the run is now"
    )
    at = serializers.DateTimeField(
        required=False,
        help_text="run time, in place of `position`: the last step at or before it, which the answer's `parent` names",
    )
    changes = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        default=list,
        help_text="made first, in this order: operations of a remedy {verb, manifest}, or commands {type, …}",
    )
    configuration_version = serializers.UUIDField(required=False, allow_null=True, default=None)
    play = serializers.BooleanField(
        required=False,
        default=False,
        source="played",
        help_text="goes on by itself, as fast as it can; else it is paused",
    )
    arrivals = serializers.BooleanField(
        required=False,
        default=False,
        help_text="of a run beside a real cluster: what came to the cluster after the position comes to the fork, "
        "without what its scheduler decided",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "at" in attrs and attrs["position"] is not None:
            raise serializers.ValidationError({"at": say("Name a position or a time, not both.")})
        return attrs


class ExactAskSerializer(serializers.Serializer[Any]):
    profile = serializers.CharField()
    weights = serializers.DictField(
        child=serializers.IntegerField(min_value=0, max_value=MAX_WEIGHT),
        required=False,
        default=dict,
        help_text="Score plugin: weight, 0 for off",
    )
    filters_off = serializers.ListField(child=serializers.CharField(), required=False, default=list)


class ExactRunSerializer(serializers.Serializer[Any]):
    run = RunSerializer()
    not_repeated = serializers.IntegerField(help_text="commands of people in the first run; this one goes without them")

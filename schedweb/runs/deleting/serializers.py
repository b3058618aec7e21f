"""Which runs are to be deleted, and what became of that."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.api.windows import MAX_LIMIT


class RunsDeleteSerializer(serializers.Serializer[Any]):
    runs = serializers.ListField(child=serializers.UUIDField(), min_length=1, max_length=MAX_LIMIT)


class RunKeptSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    why = serializers.CharField()


class RunsDeletedSerializer(serializers.Serializer[Any]):
    deleted = serializers.ListField(child=serializers.UUIDField())
    kept = RunKeptSerializer(many=True)

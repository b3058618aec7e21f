"""What was deleted, as the API shows it."""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers

from schedweb.api.windows import MAX_LIMIT

KINDS: Final = ("run", "snapshot", "configuration")


class NamedSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(KINDS)
    id = serializers.UUIDField()


class DeletedSerializer(NamedSerializer):
    name = serializers.CharField(help_text="r-0042 of a run")
    of = serializers.CharField(help_text="the snapshot's name, of a run", allow_blank=True)
    started_by = serializers.CharField(help_text="of a run", allow_blank=True)
    deleted_at = serializers.DateTimeField()
    deleted_by = serializers.CharField(allow_blank=True)
    goes_at = serializers.DateTimeField(help_text="until then it can be brought back")
    size_bytes = serializers.IntegerField()


class SeveralNamedSerializer(serializers.Serializer[Any]):
    items = serializers.ListField(child=NamedSerializer(), min_length=1, max_length=MAX_LIMIT)


class DoneSerializer(NamedSerializer):
    name = serializers.CharField(help_text="that it has now; a configuration's may have been taken meanwhile")


class RefusedSerializer(NamedSerializer):
    why = serializers.CharField()


class SeveralDoneSerializer(serializers.Serializer[Any]):
    done = DoneSerializer(many=True)
    refused = RefusedSerializer(many=True)

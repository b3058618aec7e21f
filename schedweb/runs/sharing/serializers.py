"""Share links as the API shows them."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class ShareLinkCreateSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100, help_text="Who or what it is for")
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class ShareLinkSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True)
    open = serializers.BooleanField()


class ShareLinkCreatedSerializer(ShareLinkSerializer):
    path = serializers.CharField(help_text="The address to give away")

"""What the API says about the account that asks."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from schedweb.accounts.roles import BY_GROUP
from schedweb.accounts.visitor import VISITOR


class SharedRunSerializer(serializers.Serializer[Any]):
    run = serializers.UUIDField()
    name = serializers.CharField(help_text="of the share link")


class MeSerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    initials = serializers.CharField()
    role = serializers.ChoiceField(choices=[*BY_GROUP, VISITOR])
    shared = SharedRunSerializer(many=True, help_text="What a visitor may read; everybody else reads everything")
    csrf_token = serializers.CharField()
    mode = serializers.ChoiceField(choices=["embedded", "distributed"])
    version = serializers.CharField()
